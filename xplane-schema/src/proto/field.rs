//! How the fields of a message are encoded, by their type, and the macro that makes a message of
//! them.

use crate::text::into_lossy_string;
use prost::bytes::Buf;
use prost::encoding::{self, DecodeContext, WireType, encoded_len_varint, key_len};
use prost::{DecodeError, Message};
use std::collections::BTreeMap;

/// A field of a message, or a oneof: then each of its tags comes here.
pub(super) trait Field {
    /// Whether the field can be read from this wire type.
    fn accepts(tag: u32, wire_type: WireType) -> bool;
    /// Writes the field, or nothing where it has proto3's default.
    fn write(&self, tag: u32, out: &mut Vec<u8>);
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
pub(super) trait Submessage: Message + Default {
    /// Writes the fields, without the message's own key and length.
    fn write_fields(&self, out: &mut Vec<u8>);
}

/// Room for a key and a varint: 5 and 10 bytes at most, and a size that is one store.
const FIELD_BYTES: usize = 16;

/// Writes `value` as a varint from `start` of `bytes` and returns its end.
#[inline]
fn put_varint(bytes: &mut [u8; FIELD_BYTES], start: usize, mut value: u64) -> usize {
    let mut end = start;
    while value >= 0x80 {
        bytes[end] = value as u8 | 0x80;
        value >>= 7;
        end += 1;
    }
    bytes[end] = value as u8;
    end + 1
}

#[inline]
fn key(tag: u32, wire_type: WireType) -> u64 {
    u64::from(tag << 3 | wire_type as u32)
}

/// Writes the first `len` bytes: all of them and back, which is faster than a copy of any length.
#[inline]
fn put(bytes: &[u8; FIELD_BYTES], len: usize, out: &mut Vec<u8>) {
    let end = out.len() + len;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

/// Writes a field of a number, also where it is 0.
#[inline]
pub(super) fn write_varint(tag: u32, value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; FIELD_BYTES];
    let end = put_varint(&mut bytes, 0, key(tag, WireType::Varint));
    let end = put_varint(&mut bytes, end, value);
    put(&bytes, end, out);
}

/// Writes a field of text or bytes, also where it is empty.
pub(super) fn write_bytes(tag: u32, value: &[u8], out: &mut Vec<u8>) {
    let mut bytes = [0; FIELD_BYTES];
    let end = put_varint(&mut bytes, 0, key(tag, WireType::LengthDelimited));
    let end = put_varint(&mut bytes, end, value.len() as u64);
    put(&bytes, end, out);
    out.extend_from_slice(value);
}

/// Writes a field whose content `write` writes.
///
/// The content is written before its length is known: that spares a walk over all events for each
/// message that they are nested in. A length of one byte, as nearly all are, is put in its place
/// afterwards; for a longer one the content moves.
#[inline]
fn write_nested(tag: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = [0; FIELD_BYTES];
    let end = put_varint(&mut bytes, 0, key(tag, WireType::LengthDelimited));
    put(&bytes, end + 1, out);
    let start = out.len();
    write(out);
    let len = out.len() - start;
    match out.get_mut(start - 1) {
        Some(byte) if len < 0x80 => *byte = len as u8,
        _ => insert_length(start, out),
    }
}

/// Puts a length of more than one byte before the content that starts at `start`.
#[cold]
fn insert_length(start: usize, out: &mut Vec<u8>) {
    let end = out.len();
    let mut bytes = [0; FIELD_BYTES];
    let length_bytes = put_varint(&mut bytes, 0, (end - start) as u64);
    out.extend_from_slice(&bytes[..length_bytes - 1]);
    out.copy_within(start..end, start + length_bytes - 1);
    out[start - 1..start - 1 + length_bytes].copy_from_slice(&bytes[..length_bytes]);
}

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
    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        if *self != 0 {
            write_varint(tag, *self as u64, out);
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

    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        if !self.is_empty() {
            write_bytes(tag, self.as_bytes(), out);
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

    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        if !self.is_empty() {
            write_bytes(tag, self, out);
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

    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        for text in self {
            write_bytes(tag, text.as_bytes(), out);
        }
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

    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        encoding::int64::encode_packed(tag, self, out);
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
    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        for message in self {
            write_nested(tag, out, |out| message.write_fields(out));
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

    fn write(&self, tag: u32, out: &mut Vec<u8>) {
        for (key, value) in self {
            write_nested(tag, out, |out| {
                write_varint(1, *key as u64, out);
                write_nested(2, out, |out| value.write_fields(out));
            });
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
        _: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut entry = (0, M::default());
        encoding::merge_loop(&mut entry, buf, ctx, |(key, value), buf, ctx| {
            let (tag, wire_type) = encoding::decode_key(buf)?;
            match (tag, wire_type) {
                (1, WireType::Varint) => key.read(tag, wire_type, buf, ctx),
                (2, WireType::LengthDelimited) => {
                    encoding::message::merge(wire_type, value, buf, ctx)
                }
                _ => encoding::skip_field(wire_type, tag, buf, ctx),
            }
        })?;
        self.insert(entry.0, entry.1);
        Ok(())
    }
}

/// Implements `Message` for a struct of this crate: `message!(Name { field = tag, oneof = tag |
/// tag })`. Fields are written in the order given, unknown ones last.
macro_rules! message {
    ($name:ident { $($field:ident = $first:literal $(| $tag:literal)*),* $(,)? }) => {
        impl Submessage for $name {
            #[inline]
            fn write_fields(&self, out: &mut Vec<u8>) {
                $(field::Field::write(&self.$field, $first, out);)*
                out.extend_from_slice(self.unknown_fields.as_bytes());
            }
        }

        impl prost::Message for $name {
            fn encode_raw(&self, buf: &mut impl prost::bytes::BufMut) {
                buf.put_slice(&self.encode_to_vec());
            }

            fn encode_to_vec(&self) -> Vec<u8> {
                let mut out = Vec::new();
                self.write_fields(&mut out);
                out
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
