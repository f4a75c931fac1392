//! The shared libraries that stand in for AMD's: their names and symbols, and that a listener in
//! another object hears them.

#![allow(missing_docs)]

mod common;

use common::*;
use embedded_roctx::modules;
use rocm_tracer::RocmTracerOptions;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The file that Cargo builds, the soname, and the package.
const LIBRARIES: [(&str, &str, &str); 2] = [
    ("libroctx64.so", "libroctx64.so.4", "roctx64_shared"),
    (
        "librocprofiler_sdk_roctx.so",
        "librocprofiler-sdk-roctx.so.1",
        "roctx_sdk_shared",
    ),
];

/// A library's functions. It is loaded so that nobody finds its symbols by chance.
struct Roctx(*mut c_void);

// SAFETY: a handle may be used on any thread.
unsafe impl Send for Roctx {}
// SAFETY: as above.
unsafe impl Sync for Roctx {}

impl Roctx {
    fn range(&self, label: &str) {
        let label = CString::new(label).unwrap();
        // SAFETY: the functions have the signatures of roctx.h.
        unsafe {
            let push: unsafe extern "C" fn(*const c_char) -> c_int =
                symbol(self.0, "roctxRangePushA");
            let pop: unsafe extern "C" fn() -> c_int = symbol(self.0, "roctxRangePop");
            assert_eq!(push(label.as_ptr()), 0);
            assert_eq!(pop(), 0);
        }
    }

    fn start(&self, label: &str) -> u64 {
        let label = CString::new(label).unwrap();
        // SAFETY: as above.
        unsafe {
            let start: unsafe extern "C" fn(*const c_char) -> u64 =
                symbol(self.0, "roctxRangeStartA");
            start(label.as_ptr())
        }
    }

    fn stop(&self, id: u64) {
        // SAFETY: as above.
        unsafe {
            let stop: unsafe extern "C" fn(u64) = symbol(self.0, "roctxRangeStop");
            stop(id);
        }
    }
}

fn libraries() -> &'static [Roctx] {
    static LOADED: OnceLock<Vec<Roctx>> = OnceLock::new();
    LOADED.get_or_init(|| {
        LIBRARIES
            .iter()
            .map(|(file, _, package)| {
                let path = build(file, package);
                Roctx(open(&path))
            })
            .collect()
    })
}

#[test]
fn the_libraries_have_amd_s_names_and_symbols() {
    let _one = one_at_a_time();
    for (library, (_, soname, _)) in libraries().iter().zip(LIBRARIES) {
        // The loader knows a loaded object by its soname.
        let name = CString::new(soname).unwrap();
        let by_name = modules::open(&name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        assert_eq!(by_name, Ok(library.0), "{soname}");
        for name in [
            "roctxMarkA",
            "roctxRangePushA",
            "roctxRangePop",
            "roctxRangeStartA",
            "roctxRangeStop",
            "roctxGetThreadId",
            "roctxNameOsThread",
            "roctxNameHsaAgent",
            "roctxNameHipDevice",
            "roctxNameHipStream",
            "roctxProfilerPause",
            "roctxProfilerResume",
            "roctx_version_major",
            "roctx_version_minor",
        ] {
            symbol::<*mut c_void>(library.0, name);
        }
    }
}

#[test]
fn copies_loaded_apart_are_heard_each_once() {
    let _one = one_at_a_time();
    // A test program exports no symbols, so that a copy cannot find it at its first call: the
    // listener finds the copies that are there when its session starts.
    let libraries = libraries();
    for session in 0..2 {
        let space = trace(|| {
            for (library, (_, soname, _)) in libraries.iter().zip(LIBRARIES) {
                library.range(soname);
            }
            push(&format!("linked in, session {session}"));
            pop();
        });
        assert_eq!(
            the_row(&space).labels(),
            [
                "libroctx64.so.4",
                "librocprofiler-sdk-roctx.so.1",
                &format!("linked in, session {session}"),
            ]
        );
        assert_eq!(space.warnings, Vec::<String>::new());
    }
}

#[test]
fn equal_range_ids_of_two_copies_are_two_ranges() {
    let _one = one_at_a_time();
    let [first, second] = libraries() else {
        panic!()
    };
    let captured = capture(RocmTracerOptions::default(), || {
        // Each copy counts from 1, so that these meet at some id.
        let (a, b) = (first.start("first"), second.start("second"));
        assert_eq!(a, b);
        first.stop(a);
        second.stop(b);
    });
    assert_eq!(captured.marker_count(), 2);
    let space = export(captured, Default::default());
    assert_eq!(space.warnings, Vec::<String>::new());
    let labels: Vec<_> = roctx_rows(&space)
        .iter()
        .flat_map(|row| row.events.clone())
        .map(|event| event.name)
        .collect();
    assert_eq!(labels, ["first", "second"]);
}
