//! Scoped annotations: TSL's `scoped_annotation_test`, lazy labels, and both modes.

mod support;

use std::cell::Cell;
use std::ffi::CString;
use support::{Turn, annotation, expected_ranges, is_child, pass_without_ranges, ranges};
use tsl_profiler_lib::scoped_annotation::{
    pop_annotation, push_annotation, push_annotation_with, push_annotation_with_range,
};
use tsl_profiler_lib::{
    AnnotationStack, RegisteredTitle, ScopedAnnotation, StringHandle, nvtx_utils,
};

/// TSL's test, and the ranges beside it.
fn simple() {
    {
        let _turn = Turn::new(false);
        let _trace = ScopedAnnotation::new("blah");
        assert!(!ScopedAnnotation::is_enabled());
        assert_eq!(annotation(), "");
        assert_eq!(ranges(), expected_ranges(&["blah"]));
    }
    {
        let _turn = Turn::new(true);
        let _trace = ScopedAnnotation::new("blah");
        assert!(ScopedAnnotation::is_enabled());
        assert_eq!(annotation(), "blah");
    }
    {
        let _turn = Turn::new(true);
        let _outer = ScopedAnnotation::new("foo");
        let _inner = ScopedAnnotation::new("bar");
        assert_eq!(annotation(), "foo::bar");
        assert_eq!(ranges(), expected_ranges(&["foo", "bar"]));
    }
    {
        let _turn = Turn::new(true);
        push_annotation("foo");
        push_annotation("bar");
        assert_eq!(annotation(), "foo::bar");
        pop_annotation();
        assert_eq!(annotation(), "foo");
        pop_annotation();
        assert_eq!(annotation(), "");
    }
    let _turn = Turn::new(false);
    assert_eq!(annotation(), "");
    assert_eq!(ranges(), expected_ranges(&[]));
}

#[test]
fn as_tsl_tests_it() {
    simple();
    if !is_child() {
        pass_without_ranges("as_tsl_tests_it");
    }
}

#[test]
fn every_kind_of_label() {
    let _turn = Turn::new(true);
    let owned = String::from("String");
    let _labels = [
        ScopedAnnotation::new("str"),
        ScopedAnnotation::new(b"array"),
        ScopedAnnotation::new(&b"slice"[..]),
        ScopedAnnotation::new(c"CStr"),
        ScopedAnnotation::new(&owned),
        ScopedAnnotation::new(owned.clone()),
        ScopedAnnotation::new(b"Vec".to_vec()),
        ScopedAnnotation::new(CString::from(c"CString")),
        ScopedAnnotation::new(String::from_utf8_lossy(b"Cow")),
    ];
    assert_eq!(
        annotation(),
        "str::array::slice::CStr::String::String::Vec::CString::Cow"
    );
    assert_eq!(
        ranges().join("::"),
        expected_ranges(&[&annotation()]).concat()
    );
}

/// Which of the two labels were made.
fn made(annotation: &str, range: &str) -> (bool, bool) {
    let (annotation_made, range_made) = (Cell::new(false), Cell::new(false));
    let _scope = ScopedAnnotation::with_range(
        || {
            annotation_made.set(true);
            annotation
        },
        || {
            range_made.set(true);
            range
        },
    );
    (annotation_made.get(), range_made.get())
}

fn labels_made_only_if_needed() {
    let ranges_on = nvtx_utils::default_profiler_domain().is_some();
    for enabled in [false, true] {
        let _turn = Turn::new(enabled);
        let label_made = Cell::new(false);
        push_annotation_with(|| {
            label_made.set(true);
            "label"
        });
        assert_eq!(label_made.get(), ranges_on || enabled);
        assert_eq!(annotation(), if enabled { "label" } else { "" });
        assert_eq!(ranges(), expected_ranges(&["label"]));
        pop_annotation();

        assert_eq!(made("full", "short"), (enabled, ranges_on));
        assert_eq!((annotation().as_str(), ranges().len()), ("", 0));
    }
}

#[test]
fn labels_are_made_only_if_needed() {
    labels_made_only_if_needed();
    if !is_child() {
        pass_without_ranges("labels_are_made_only_if_needed");
    }
}

#[test]
fn annotation_and_range_each_get_their_own_text() {
    let _turn = Turn::new(true);
    {
        let _outer = ScopedAnnotation::with_range(|| "Thunk:#hlo_op=add.1#", || "add.1");
        let _inner = ScopedAnnotation::with_range(|| "full", || c"short");
        assert_eq!(annotation(), "Thunk:#hlo_op=add.1#::full");
        assert_eq!(ranges(), expected_ranges(&["add.1", "short"]));
    }
    assert_eq!((annotation().as_str(), ranges().len()), ("", 0));

    push_annotation_with_range(
        || "full",
        || RegisteredTitle {
            title: StringHandle::NULL,
            schema_id: 0,
            payload: b"",
        },
    );
    assert_eq!(annotation(), "full");
    assert_eq!(ranges(), expected_ranges(&[""]));
    pop_annotation();

    if let Some(domain) = nvtx_utils::default_profiler_domain() {
        let title = nvtx_utils::register_string(domain, b"registered");
        let _scope = ScopedAnnotation::with_range(
            || "full",
            || RegisteredTitle {
                title,
                schema_id: 1,
                payload: b"\x01",
            },
        );
        assert_eq!(ranges(), expected_ranges(&["registered"]));
    }
    assert_eq!((annotation().as_str(), ranges().len()), ("", 0));
}

#[test]
fn a_panic_ends_the_scopes_it_leaves() {
    let _turn = Turn::new(true);
    let _outer = ScopedAnnotation::new("outer");
    let unwound = std::panic::catch_unwind(|| {
        let _inner = ScopedAnnotation::new("inner");
        panic!("inside the scope");
    });
    assert!(unwound.is_err());
    assert_eq!(annotation(), "outer");
    assert_eq!(ranges(), expected_ranges(&["outer"]));
}

#[test]
fn switching_annotations_inside_a_scope_unbalances_nothing() {
    let _turn = Turn::new(false);
    {
        let _before = ScopedAnnotation::new("before");
        AnnotationStack::enable(true);
        {
            let _during = ScopedAnnotation::new("during");
            assert_eq!(annotation(), "during");
            AnnotationStack::enable(false);
            AnnotationStack::enable(true);
            let _next = ScopedAnnotation::new("next");
            assert_eq!(annotation(), "next");
        }
        let _last = ScopedAnnotation::new("last");
        assert_eq!(annotation(), "last");
        assert_eq!(ranges(), expected_ranges(&["before", "last"]));
    }
    assert_eq!((annotation().as_str(), ranges().len()), ("", 0));
}
