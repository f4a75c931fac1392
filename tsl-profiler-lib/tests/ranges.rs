//! Ranges of callers in other languages, beside those that objects own.

mod support;

use std::ptr;
use std::sync::Arc;
use support::{Turn, annotation, expected_ranges, is_child, pass_without_ranges, ranges};
use tsl_profiler_lib::ranges::{range_pop, range_push, range_push_registered};
use tsl_profiler_lib::{TraceMeWrapper, nvtx_utils};

fn push(title: &std::ffi::CStr) {
    // SAFETY: NUL-terminated.
    unsafe { range_push(title.as_ptr()) };
}

/// What is open on this thread, seen from both ends.
#[track_caller]
fn open(labels: &[&str]) {
    assert_eq!(annotation(), labels.join("::"));
    assert_eq!(ranges(), expected_ranges(labels));
}

#[test]
#[cfg(feature = "roctx")]
fn pops_leave_the_ranges_of_objects_alone() {
    let _turn = Turn::new(true);
    push(c"caller");
    let object = TraceMeWrapper::new("object");
    range_pop();
    open(&["caller", "object"]);
    push(c"next");
    open(&["caller", "object", "next"]);
    range_pop();
    object.stop();
    open(&[]);
}

#[test]
#[cfg(feature = "roctx")]
fn a_push_ends_what_another_thread_has_stopped() {
    let _turn = Turn::new(true);
    let object = Arc::new(TraceMeWrapper::new("object"));
    let elsewhere = Arc::clone(&object);
    std::thread::spawn(move || elsewhere.stop()).join().unwrap();
    open(&["object"]);
    let title = nvtx_utils::register_string(
        nvtx_utils::default_profiler_domain().unwrap(),
        b"registered",
    );
    range_push_registered(title, 0, b"");
    open(&["registered"]);
    range_pop();
    open(&[]);
}

#[test]
fn do_nothing_where_ranges_are_off() {
    if !is_child() {
        return pass_without_ranges("do_nothing_where_ranges_are_off");
    }
    let _turn = Turn::new(true);
    let object = TraceMeWrapper::new("object");
    push(c"ignored");
    // SAFETY: null is allowed.
    unsafe { range_push(ptr::null()) };
    range_push_registered(tsl_profiler_lib::StringHandle::NULL, 0, b"");
    assert_eq!(annotation(), "object");
    for _ in 0..4 {
        range_pop();
    }
    assert_eq!(annotation(), "object");
    drop(object);
    assert_eq!(annotation(), "");
}
