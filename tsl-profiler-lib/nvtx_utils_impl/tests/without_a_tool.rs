//! A process in which nothing listens to NVTX.

#![allow(missing_docs)]

use nvtx_utils_impl as nvtx_utils;
use nvtx_utils_interface::{ProfilerDomainHandle, StreamHandle};
use std::ptr::NonNull;

#[test]
fn there_is_no_domain_and_every_call_does_nothing() {
    assert_eq!(nvtx_utils::default_profiler_domain(), None);
    nvtx_utils::name_current_thread(b"thread");
    nvtx_utils::name_device(0, b"device");
    nvtx_utils::name_stream(StreamHandle::from_raw(std::ptr::null()), b"stream");
    // SAFETY: without a tool NVTX looks at no domain.
    let domain = unsafe { ProfilerDomainHandle::from_raw(NonNull::dangling()) };
    assert!(nvtx_utils::register_string(domain, b"title").is_null());
    nvtx_utils::range_push(domain, b"range");
    assert_eq!(nvtx_utils::range_depth(domain), 1);
    nvtx_utils::range_pop(domain);
    assert_eq!(nvtx_utils::range_depth(domain), 0);
    assert_eq!(nvtx_utils::range_start(domain, b"range"), 0);
}
