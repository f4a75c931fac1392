//! Metadata in names: `name#key=value,key=value#`, TSL's `traceme_encode.h`.
//!
//! Exporters split a name that ends in `#` at its first `#`, and the metadata at commas that are
//! not inside quotes or brackets. Nothing is escaped: a key or value with such characters reads
//! back as those rules say.

use crate::label::Label;
use std::fmt::Display;
use std::io::Write;

/// Encodes a name and its metadata. Without metadata it is the name.
///
/// ```
/// use tsl_profiler_lib::traceme::encode;
///
/// let name = encode("step", &[("step_num", &3), ("_r", &1)]);
/// assert_eq!(name, b"step#step_num=3,_r=1#");
/// ```
pub fn encode(name: impl Label, metadata: &[(&str, &dyn Display)]) -> Vec<u8> {
    let mut encoded = name.bytes().to_vec();
    for (nth, (key, value)) in metadata.iter().enumerate() {
        encoded.push(if nth == 0 { b'#' } else { b',' });
        encoded.extend_from_slice(key.as_bytes());
        encoded.push(b'=');
        // Writing to a Vec fails only if the value's own Display does; what it wrote stays.
        let _ = write!(encoded, "{value}");
    }
    if !metadata.is_empty() {
        encoded.push(b'#');
    }
    encoded
}

/// Appends encoded metadata (`#key=value#`) to a name, joining it to metadata that is there.
pub fn append_metadata(name: &mut Vec<u8>, metadata: &[u8]) {
    if metadata.is_empty() {
        return;
    }
    let mut metadata = metadata;
    if let Some(last @ b'#') = name.last_mut() {
        *last = b',';
        metadata = metadata.strip_prefix(b"#").unwrap_or(metadata);
    }
    name.extend_from_slice(metadata);
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: TSL's traceme_encode_test, without the source location.
    #[test]
    fn encodes_as_tsl() {
        assert_eq!(encode("Hello!", &[]), b"Hello!");
        let world: &dyn Display = &"World";
        assert_eq!(
            encode("Hello", &[("context", world)]),
            b"Hello#context=World#"
        );
        assert_eq!(
            encode(
                "Hello",
                &[
                    ("context", world),
                    ("request_id", &42),
                    ("addr", &format_args!("{:x}", 0xdead_beefu32))
                ]
            ),
            b"Hello#context=World,request_id=42,addr=deadbeef#"
        );
        assert_eq!(encode("", &[("k", &2.5)]), b"#k=2.5#");
        assert_eq!(encode(&b"\xff"[..], &[("k", &true)]), b"\xff#k=true#");
    }

    #[test]
    fn appended_metadata_joins_what_is_there() {
        let mut name = b"step".to_vec();
        append_metadata(&mut name, b"");
        assert_eq!(name, b"step");
        append_metadata(&mut name, b"#a=1#");
        assert_eq!(name, b"step#a=1#");
        append_metadata(&mut name, b"#b=2#");
        assert_eq!(name, b"step#a=1,b=2#");
        append_metadata(&mut name, b"c=3#");
        assert_eq!(name, b"step#a=1,b=2,c=3#");
    }
}
