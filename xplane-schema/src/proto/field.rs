//! How the fields of a message are encoded, by their type, and the macro that makes a message of
//! them.

use crate::text::into_lossy_string;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{
    self, DecodeContext, WireType, encode_key, encode_varint, encoded_len_varint, key_len,
};
use prost::{DecodeError, Message};
use std::collections::BTreeMap;

/// A field of a message, or a oneof: then each of its tags comes here.
pub(super) trait Field {
    /// Whether the field can be read from this wire type.
    fn accepts(tag: u32, wire_type: WireType) -> bool;
    /// Writes the field, or nothing where it has proto3's default.
    fn write(&self, tag: u32, buf: &mut impl BufMut);
    /// The bytes that [`write`](Self::write) writes.
    fn size(&self, tag: u32) -> usize;
    /// Reads the field whose key was just read.
    fn read(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError>;
}

/// A message of this crate.
pub(super) trait Submessage: Message + Default {}

/// The bytes of a length-delimited field whose content has `len` bytes.
#[inline]
pub(super) fn delimited_size(tag: u32, len: usize) -> usize {
    key_len(tag) + encoded_len_varint(len as u64) + len
}

impl Field for i64 {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::Varint
    }

    #[inline]
    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        if *self != 0 {
            encoding::int64::encode(tag, self, buf);
        }
    }

    #[inline]
    fn size(&self, tag: u32) -> usize {
        if *self == 0 {
            return 0;
        }
        encoding::int64::encoded_len(tag, self)
    }

    fn read(
        &mut self,
        _: u32,
        _: WireType,
        buf: &mut impl Buf,
        _: DecodeContext,
    ) -> Result<(), DecodeError> {
        *self = encoding::decode_varint(buf)? as i64;
        Ok(())
    }
}

impl Field for String {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::LengthDelimited
    }

    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        if !self.is_empty() {
            encoding::string::encode(tag, self, buf);
        }
    }

    fn size(&self, tag: u32) -> usize {
        if self.is_empty() {
            return 0;
        }
        delimited_size(tag, self.len())
    }

    fn read(
        &mut self,
        _: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut bytes = Vec::new();
        encoding::bytes::merge(wire_type, &mut bytes, buf, ctx)?;
        *self = into_lossy_string(bytes);
        Ok(())
    }
}

impl Field for Vec<u8> {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::LengthDelimited
    }

    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        if !self.is_empty() {
            encoding::bytes::encode(tag, self, buf);
        }
    }

    fn size(&self, tag: u32) -> usize {
        if self.is_empty() {
            return 0;
        }
        delimited_size(tag, self.len())
    }

    fn read(
        &mut self,
        _: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        encoding::bytes::merge(wire_type, self, buf, ctx)
    }
}

impl Field for Vec<String> {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::LengthDelimited
    }

    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        encoding::string::encode_repeated(tag, self, buf);
    }

    fn size(&self, tag: u32) -> usize {
        self.iter()
            .map(|text| delimited_size(tag, text.len()))
            .sum()
    }

    fn read(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut text = String::new();
        text.read(tag, wire_type, buf, ctx)?;
        self.push(text);
        Ok(())
    }
}

impl Field for Vec<i64> {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        // proto3 packs numbers, but readers take both forms.
        matches!(wire_type, WireType::LengthDelimited | WireType::Varint)
    }

    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        encoding::int64::encode_packed(tag, self, buf);
    }

    fn size(&self, tag: u32) -> usize {
        encoding::int64::encoded_len_packed(tag, self)
    }

    fn read(
        &mut self,
        _: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        encoding::int64::merge_repeated(wire_type, self, buf, ctx)
    }
}

impl<M: Submessage> Field for Vec<M> {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::LengthDelimited
    }

    #[inline]
    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        for message in self {
            encoding::message::encode(tag, message, buf);
        }
    }

    #[inline]
    fn size(&self, tag: u32) -> usize {
        self.iter()
            .map(|message| delimited_size(tag, message.encoded_len()))
            .sum()
    }

    fn read(
        &mut self,
        _: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut message = M::default();
        encoding::message::merge(wire_type, &mut message, buf, ctx)?;
        self.push(message);
        Ok(())
    }
}

/// A map is a repeated message of key (1) and value (2), both always written, as protobuf's C++
/// does.
impl<M: Submessage> Field for BTreeMap<i64, M> {
    fn accepts(_: u32, wire_type: WireType) -> bool {
        wire_type == WireType::LengthDelimited
    }

    fn write(&self, tag: u32, buf: &mut impl BufMut) {
        for (key, value) in self {
            let value_len = value.encoded_len();
            let entry_len = encoding::int64::encoded_len(1, key) + delimited_size(2, value_len);
            encode_key(tag, WireType::LengthDelimited, buf);
            encode_varint(entry_len as u64, buf);
            encoding::int64::encode(1, key, buf);
            encode_key(2, WireType::LengthDelimited, buf);
            encode_varint(value_len as u64, buf);
            value.encode_raw(buf);
        }
    }

    fn size(&self, tag: u32) -> usize {
        self.iter()
            .map(|(key, value)| {
                let value_len = delimited_size(2, value.encoded_len());
                delimited_size(tag, encoding::int64::encoded_len(1, key) + value_len)
            })
            .sum()
    }

    fn read(
        &mut self,
        _: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut entry = MapEntry::default();
        encoding::message::merge(wire_type, &mut entry, buf, ctx)?;
        self.insert(entry.key, entry.value);
        Ok(())
    }
}

/// An entry of a map while it is read.
#[derive(Clone, Debug, Default)]
struct MapEntry<M> {
    key: i64,
    value: M,
}

impl<M: Submessage> Message for MapEntry<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        encoding::int64::encode(1, &self.key, buf);
        encoding::message::encode(2, &self.value, buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match (tag, wire_type) {
            (1, WireType::Varint) => self.key.read(tag, wire_type, buf, ctx),
            (2, WireType::LengthDelimited) => {
                encoding::message::merge(wire_type, &mut self.value, buf, ctx)
            }
            _ => encoding::skip_field(wire_type, tag, buf, ctx),
        }
    }

    fn encoded_len(&self) -> usize {
        encoding::int64::encoded_len(1, &self.key) + delimited_size(2, self.value.encoded_len())
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Implements `Message` for a struct of this crate: `message!(Name { field = tag, oneof = tag |
/// tag })`. Fields are written in the order given, unknown ones last.
macro_rules! message {
    ($name:ident { $($field:ident = $first:literal $(| $tag:literal)*),* $(,)? }) => {
        impl Submessage for $name {}

        impl prost::Message for $name {
            #[inline]
            fn encode_raw(&self, buf: &mut impl prost::bytes::BufMut) {
                $(field::Field::write(&self.$field, $first, buf);)*
                buf.put_slice(self.unknown_fields.as_bytes());
            }

            fn merge_field(
                &mut self,
                tag: u32,
                wire_type: prost::encoding::WireType,
                buf: &mut impl prost::bytes::Buf,
                ctx: prost::encoding::DecodeContext,
            ) -> Result<(), DecodeError> {
                // Tags of a oneof are listed as xplane.proto lists them.
                #[allow(clippy::manual_range_patterns)]
                match tag {
                    $($first $(| $tag)* if field::accepts(&self.$field, tag, wire_type) => {
                        field::Field::read(&mut self.$field, tag, wire_type, buf, ctx)
                            .map_err(|mut error| {
                                error.push(stringify!($name), stringify!($field));
                                error
                            })
                    })*
                    _ => self.unknown_fields.merge_field(tag, wire_type, buf, ctx),
                }
            }

            #[inline]
            fn encoded_len(&self) -> usize {
                self.unknown_fields.as_bytes().len()
                    $(+ field::Field::size(&self.$field, $first))*
            }

            fn clear(&mut self) {
                *self = Self::default();
            }
        }
    };
}

pub(super) use message;

/// [`Field::accepts`] of a field's type.
pub(super) fn accepts<F: Field>(_: &F, tag: u32, wire_type: WireType) -> bool {
    F::accepts(tag, wire_type)
}
