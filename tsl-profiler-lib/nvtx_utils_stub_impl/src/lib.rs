//! `nvtx_utils` for builds without a GPU profiler.
//!
//! In: the calls of the interface. Out: nothing. There is no domain, so `ScopedAnnotation` uses the
//! annotation stack alone; whoever calls the rest all the same gets calls that do nothing and
//! handles that are null. Promises of each function: see [`nvtx_utils_interface`].

use nvtx_utils_interface::{ProfilerDomainHandle, RangeTitle, StreamHandle, StringHandle};
use std::ffi::{CStr, c_char, c_void};

nvtx_utils_interface::check_nvtx_utils!(crate);

/// There is none.
#[inline]
pub fn default_profiler_domain() -> Option<ProfilerDomainHandle> {
    None
}

/// Does nothing.
#[inline]
pub fn range_push(_domain: ProfilerDomainHandle, _title: &[u8]) {}

/// Does nothing.
#[inline]
pub fn range_push_cstr(_domain: ProfilerDomainHandle, _title: &CStr) {}

/// Does nothing.
///
/// # Safety
/// None to keep here; other implementations read the title.
#[inline]
pub unsafe fn range_push_ptr(_domain: ProfilerDomainHandle, _title: *const c_char) {}

/// Does nothing.
#[inline]
pub fn range_push_annotated(
    _domain: ProfilerDomainHandle,
    _annotation: Option<&[u8]>,
    _title: RangeTitle<'_>,
) {
}

/// Does nothing.
#[inline]
pub fn range_push_registered(
    _domain: ProfilerDomainHandle,
    _title: StringHandle,
    _schema_id: u64,
    _payload: &[u8],
) {
}

/// Does nothing.
#[inline]
pub fn range_pop(_domain: ProfilerDomainHandle) {}

/// No range is ever open.
#[inline]
pub fn range_depth(_domain: ProfilerDomainHandle) -> usize {
    0
}

/// Does nothing.
#[inline]
pub fn mark(_domain: ProfilerDomainHandle, _text: &[u8]) {}

/// Does nothing; the id is that of no range.
#[inline]
pub fn range_start(_domain: ProfilerDomainHandle, _title: &[u8]) -> u64 {
    0
}

/// Does nothing.
#[inline]
pub fn range_stop(_domain: ProfilerDomainHandle, _id: u64) {}

/// Does nothing.
#[inline]
pub fn name_current_thread(_name: &[u8]) {}

/// Does nothing.
#[inline]
pub fn name_device(_device: i32, _name: &[u8]) {}

/// Does nothing.
#[inline]
pub fn name_stream(_stream: StreamHandle, _name: &[u8]) {}

/// Registers nothing and returns null.
#[inline]
pub fn register_string(_domain: ProfilerDomainHandle, _text: &[u8]) -> StringHandle {
    StringHandle::NULL
}

/// Registers nothing and returns 0.
///
/// # Safety
/// None to keep here; other implementations read the schema.
#[inline]
pub unsafe fn register_schema(_domain: ProfilerDomainHandle, _schema: *const c_void) -> u64 {
    0
}

/// Does nothing.
#[inline]
pub fn mark_memory_initialized(_address: *const c_void, _size: usize, _stream: StreamHandle) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::NonNull;

    #[test]
    fn has_no_domain_and_its_handles_are_null() {
        assert_eq!(default_profiler_domain(), None);
        // SAFETY: this implementation accepts any address, since it looks at none.
        let domain = unsafe { ProfilerDomainHandle::from_raw(NonNull::dangling()) };
        let title = register_string(domain, b"title");
        assert!(title.is_null());
        range_push_registered(domain, title, 0, b"");
        assert_eq!(range_depth(domain), 0);
        assert_eq!(range_start(domain, b"title"), 0);
        // SAFETY: nothing is read.
        assert_eq!(unsafe { register_schema(domain, std::ptr::null()) }, 0);
    }
}
