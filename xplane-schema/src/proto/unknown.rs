//! Fields that this crate does not know, kept as they are encoded.

use prost::DecodeError;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{self, DecodeContext, WireType, encode_key, encode_varint};

/// How deep groups may nest, as for messages in prost and in other implementations.
const MAX_GROUP_DEPTH: u32 = 100;

/// The encoded fields of one message that this crate does not know, in the order they came in.
///
/// One word where there are none, so that an event stays small.
#[derive(Clone, Default, PartialEq, Eq)]
// A boxed vector, since a boxed slice would be two words.
#[allow(clippy::box_collection)]
pub struct UnknownFields(Option<Box<Vec<u8>>>);

impl UnknownFields {
    /// The fields with their keys, as encoded.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Adds the fields of `other` after these: what protobuf does when messages merge.
    pub fn append(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (Some(mine), Some(theirs)) => mine.extend_from_slice(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }

    /// Reads the field whose key was just read.
    #[cold]
    pub(super) fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut field = Vec::new();
        copy_field(tag, wire_type, buf, ctx, &mut field, 0)?;
        self.0.get_or_insert_default().extend_from_slice(&field);
        Ok(())
    }
}

impl std::fmt::Debug for UnknownFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UnknownFields({} bytes)", self.as_bytes().len())
    }
}

fn copy_field(
    tag: u32,
    wire_type: WireType,
    buf: &mut impl Buf,
    ctx: DecodeContext,
    to: &mut Vec<u8>,
    depth: u32,
) -> Result<(), DecodeError> {
    encode_key(tag, wire_type, to);
    match wire_type {
        WireType::Varint => encode_varint(encoding::decode_varint(buf)?, to),
        WireType::SixtyFourBit => {
            let mut value = 0u64;
            encoding::fixed64::merge(wire_type, &mut value, buf, ctx)?;
            to.put_u64_le(value);
        }
        WireType::ThirtyTwoBit => {
            let mut value = 0u32;
            encoding::fixed32::merge(wire_type, &mut value, buf, ctx)?;
            to.put_u32_le(value);
        }
        WireType::LengthDelimited => {
            let mut value = Vec::new();
            encoding::bytes::merge(wire_type, &mut value, buf, ctx)?;
            encode_varint(value.len() as u64, to);
            to.extend_from_slice(&value);
        }
        WireType::StartGroup => loop {
            let (inner_tag, inner_wire_type) = encoding::decode_key(buf)?;
            if inner_wire_type == WireType::EndGroup && inner_tag == tag {
                encode_key(tag, WireType::EndGroup, to);
                break;
            }
            if depth == MAX_GROUP_DEPTH {
                return Err(too_deep());
            }
            copy_field(inner_tag, inner_wire_type, buf, ctx.clone(), to, depth + 1)?;
        },
        // An end without its start: prost words the error.
        WireType::EndGroup => encoding::skip_field(wire_type, tag, buf, ctx)?,
    }
    Ok(())
}

#[allow(deprecated)] // prost offers implementors of `Message` no other constructor
fn too_deep() -> DecodeError {
    DecodeError::new(format!("groups nested deeper than {MAX_GROUP_DEPTH}"))
}
