//! Bytes that become protobuf strings.

use std::borrow::Cow;

/// `bytes` as text for a protobuf string field, without a copy where they are UTF-8 already.
///
/// Each ill-formed sequence becomes one U+FFFD: a single string that is not UTF-8 makes the whole
/// file unreadable to other protobuf implementations.
pub fn lossy_utf8(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// As [`lossy_utf8`], for bytes that are owned.
pub(crate) fn into_lossy_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
