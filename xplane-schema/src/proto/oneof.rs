//! The two oneofs.

use super::field::{Field, delimited_size, write_bytes, write_varint};
use prost::DecodeError;
use prost::bytes::Buf;
use prost::encoding::{self, DecodeContext, WireType};

/// The oneof of [`XEvent`](super::XEvent).
pub mod x_event {
    /// When an event started, or how often it happened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Data {
        /// Start in ps after [`XLine::timestamp_ns`](crate::proto::XLine::timestamp_ns).
        OffsetPs(i64),
        /// How often it happened, where the line aggregates.
        NumOccurrences(i64),
    }
}

/// The oneof of [`XStat`](super::XStat).
pub mod x_stat {
    /// The value of a stat.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Value {
        /// A number.
        DoubleValue(f64),
        /// A number.
        Uint64Value(u64),
        /// A number.
        Int64Value(i64),
        /// Text.
        StrValue(String),
        /// Bytes, such as a serialized message.
        BytesValue(Vec<u8>),
        /// Text that is the name of the stat metadata with this key.
        RefValue(u64),
    }

    impl From<f64> for Value {
        fn from(value: f64) -> Self {
            Self::DoubleValue(value)
        }
    }

    impl From<u64> for Value {
        fn from(value: u64) -> Self {
            Self::Uint64Value(value)
        }
    }

    impl From<i64> for Value {
        fn from(value: i64) -> Self {
            Self::Int64Value(value)
        }
    }

    impl From<String> for Value {
        fn from(value: String) -> Self {
            Self::StrValue(value)
        }
    }

    impl From<&str> for Value {
        fn from(value: &str) -> Self {
            Self::StrValue(value.to_owned())
        }
    }
}

use x_event::Data;
use x_stat::Value;

impl Field for Option<Data> {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::Varint
    }

    #[inline]
    fn write(&self, _: u32, out: &mut Vec<u8>) {
        match self {
            Some(Data::OffsetPs(value)) => write_varint(2, *value as u64, out),
            Some(Data::NumOccurrences(value)) => write_varint(5, *value as u64, out),
            None => {}
        }
    }

    #[inline]
    fn size(&self, _: u32) -> usize {
        match self {
            Some(Data::OffsetPs(value)) => encoding::int64::encoded_len(2, value),
            Some(Data::NumOccurrences(value)) => encoding::int64::encoded_len(5, value),
            None => 0,
        }
    }

    fn read(
        &mut self,
        tag: u32,
        _: WireType,
        buf: &mut impl Buf,
        _: DecodeContext,
    ) -> Result<(), DecodeError> {
        let value = encoding::decode_varint(buf)? as i64;
        *self = Some(match tag {
            2 => Data::OffsetPs(value),
            _ => Data::NumOccurrences(value),
        });
        Ok(())
    }
}

impl Field for Option<Value> {
    fn accepts(tag: u32, wire_type: WireType) -> bool {
        wire_type
            == match tag {
                2 => WireType::SixtyFourBit,
                5 | 6 => WireType::LengthDelimited,
                _ => WireType::Varint,
            }
    }

    #[inline]
    fn write(&self, _: u32, out: &mut Vec<u8>) {
        match self {
            Some(Value::DoubleValue(value)) => encoding::double::encode(2, value, out),
            Some(Value::Uint64Value(value)) => write_varint(3, *value, out),
            Some(Value::Int64Value(value)) => write_varint(4, *value as u64, out),
            Some(Value::StrValue(value)) => write_bytes(5, value.as_bytes(), out),
            Some(Value::BytesValue(value)) => write_bytes(6, value, out),
            Some(Value::RefValue(value)) => write_varint(7, *value, out),
            None => {}
        }
    }

    #[inline]
    fn size(&self, _: u32) -> usize {
        match self {
            Some(Value::DoubleValue(value)) => encoding::double::encoded_len(2, value),
            Some(Value::Uint64Value(value)) => encoding::uint64::encoded_len(3, value),
            Some(Value::Int64Value(value)) => encoding::int64::encoded_len(4, value),
            Some(Value::StrValue(value)) => delimited_size(5, value.len()),
            Some(Value::BytesValue(value)) => delimited_size(6, value.len()),
            Some(Value::RefValue(value)) => encoding::uint64::encoded_len(7, value),
            None => 0,
        }
    }

    fn read(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        *self = Some(match tag {
            2 => {
                let mut value = 0.0;
                encoding::double::merge(wire_type, &mut value, buf, ctx)?;
                Value::DoubleValue(value)
            }
            3 => Value::Uint64Value(encoding::decode_varint(buf)?),
            4 => Value::Int64Value(encoding::decode_varint(buf)? as i64),
            5 => {
                let mut value = String::new();
                value.read(tag, wire_type, buf, ctx)?;
                Value::StrValue(value)
            }
            6 => {
                let mut value = Vec::new();
                encoding::bytes::merge(wire_type, &mut value, buf, ctx)?;
                Value::BytesValue(value)
            }
            _ => Value::RefValue(encoding::decode_varint(buf)?),
        });
        Ok(())
    }
}
