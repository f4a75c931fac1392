//! Ranges for callers in other languages: the range functions of TSL's `nvtx_utils.h`, on bare
//! pointers.
//!
//! They are those of [`nvtx_utils`] for a program in which objects of
//! [`TraceMeWrapper`](crate::TraceMeWrapper) own ranges on the same threads: a pop never ends such
//! an object's range, and ranges of objects that other threads have stopped end first. Where ranges
//! are off ([`nvtx_utils::default_profiler_domain`]) they do nothing.

use crate::{StringHandle, nvtx_utils, owned_range, scoped_annotation};
use std::ffi::c_char;

/// Opens a range on this thread; the annotation stack gets the same bytes. Null is empty.
///
/// # Safety
/// The title is null or NUL-terminated, and stays unchanged during the call.
#[inline]
pub unsafe fn range_push(title: *const c_char) {
    if let Some(domain) = nvtx_utils::default_profiler_domain() {
        owned_range::settle();
        // SAFETY: this function's contract.
        unsafe { nvtx_utils::range_push_ptr(domain, title) };
    }
}

/// Opens a range with a registered title and a payload; a null title opens one without a name.
#[inline]
pub fn range_push_registered(title: StringHandle, schema_id: u64, payload: &[u8]) {
    if let Some(domain) = nvtx_utils::default_profiler_domain() {
        owned_range::settle();
        nvtx_utils::range_push_registered(domain, title, schema_id, payload);
    }
}

/// Closes this thread's innermost range, of those that no object owns.
#[inline]
pub fn range_pop() {
    if nvtx_utils::default_profiler_domain().is_some() {
        scoped_annotation::pop_annotation();
    }
}
