//! The label of the innermost open range, as a launch on the same thread gets it.

#![allow(missing_docs)]

mod common;

use common::*;
use rocm_tracer::{RocmTracer, RocmTracerOptions};

fn current() -> String {
    let mut label = b"what was there before".to_vec();
    RocmTracer::singleton().copy_current_label(&mut label);
    String::from_utf8(label).unwrap()
}

#[test]
fn get_current_roctx_label_returns_top_of_stack() {
    let _one = one_at_a_time();
    capture(RocmTracerOptions::default(), || {
        assert_eq!(current(), "");
        push("outer");
        assert_eq!(current(), "outer");
        push("inner");
        mark("a mark is no range");
        assert_eq!(current(), "inner");
        pop();
        assert_eq!(current(), "outer");
        pop();
    });
}

#[test]
fn get_current_roctx_label_empty_after_pop() {
    let _one = one_at_a_time();
    capture(RocmTracerOptions::default(), || {
        push("range");
        pop();
        assert_eq!(current(), "");
        pop();
        assert_eq!(current(), "");
    });
    assert_eq!(current(), "");
}

#[test]
fn get_current_roctx_label_view_is_valid_until_next_roctx_call() {
    let _one = one_at_a_time();
    capture(RocmTracerOptions::default(), || {
        push("first");
        // What is returned is a copy, so it is valid even after the next call.
        let label = current();
        pop();
        push("second");
        assert_eq!(label, "first");
        pop();
    });
}

#[test]
fn each_thread_has_its_own_label() {
    let _one = one_at_a_time();
    capture(RocmTracerOptions::default(), || {
        push("mine");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(current(), "");
                push("theirs");
                assert_eq!(current(), "theirs");
                pop();
            });
        });
        assert_eq!(current(), "mine");
        pop();
    });
}

#[test]
fn a_range_of_an_earlier_session_is_no_label() {
    let _one = one_at_a_time();
    capture(RocmTracerOptions::default(), || {
        push("first session");
    });
    capture(RocmTracerOptions::default(), || {
        assert_eq!(current(), "");
        push("second session");
        assert_eq!(current(), "second session");
        pop();
        pop();
    });
}
