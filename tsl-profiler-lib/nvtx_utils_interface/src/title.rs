//! What a range is called.

use crate::StringHandle;
use std::ffi::CStr;

/// The title of a range.
#[derive(Clone, Copy, Debug)]
pub enum RangeTitle<'a> {
    /// Bytes of any kind. Where the profiler takes C strings they are copied for it, and each NUL
    /// among them becomes U+FFFD there.
    Bytes(&'a [u8]),
    /// A C string, passed on without a copy.
    CStr(&'a CStr),
    /// A registered string, with what TSL's annotations carry beside it.
    Registered {
        /// From `register_string`, or null for a range without a name.
        title: StringHandle,
        /// From `register_schema`: how the payload is laid out; 0 if nobody said.
        schema_id: u64,
        /// The annotation's fields as they lie in memory; read during the call only.
        payload: &'a [u8],
    },
}
