//! What the tests of the whole tracer share: sessions one after another, and rows as data.

#![allow(dead_code, missing_docs, unreachable_pub)] // each test file uses a part

use embedded_roctx::*;
use rocm_tracer::{
    CollectorOptions, RocmTraceCollector, RocmTracer, RocmTracerOptions, TraceCapture,
};
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use xplane_schema::proto::{XPlane, XSpace, x_event, x_stat};

/// The tracer is one a process, and the tests of a file run in one process.
pub fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub fn push(label: &str) -> i32 {
    let label = CString::new(label).unwrap();
    // SAFETY: NUL-terminated.
    unsafe { roctxRangePushA(label.as_ptr()) }
}

pub fn push_bytes(label: &[u8]) -> i32 {
    let label = CString::new(label).unwrap();
    // SAFETY: NUL-terminated.
    unsafe { roctxRangePushA(label.as_ptr()) }
}

pub fn pop() -> i32 {
    // SAFETY: takes nothing.
    unsafe { roctxRangePop() }
}

pub fn mark(label: &str) {
    let label = CString::new(label).unwrap();
    // SAFETY: NUL-terminated.
    unsafe { roctxMarkA(label.as_ptr()) }
}

pub fn start(label: &str) -> u64 {
    let label = CString::new(label).unwrap();
    // SAFETY: NUL-terminated.
    unsafe { roctxRangeStartA(label.as_ptr()) }
}

pub fn stop(id: u64) {
    // SAFETY: takes any id.
    unsafe { roctxRangeStop(id) }
}

pub fn tid() -> u64 {
    let mut tid = 0;
    // SAFETY: a place for a u64.
    unsafe { roctxGetThreadId(&raw mut tid) };
    tid
}

/// Runs `work` in a session and returns what was captured.
pub fn capture(options: RocmTracerOptions, work: impl FnOnce()) -> TraceCapture {
    RocmTracer::singleton().enable(options).unwrap();
    work();
    RocmTracer::singleton().disable().unwrap()
}

pub fn export(capture: TraceCapture, options: CollectorOptions) -> XSpace {
    let mut space = XSpace::default();
    RocmTraceCollector::new(options).export(capture, &mut space);
    space
}

/// Runs `work` in a session of default options; the XSpace of it.
pub fn trace(work: impl FnOnce()) -> XSpace {
    export(
        capture(RocmTracerOptions::default(), work),
        CollectorOptions::default(),
    )
}

/// An event as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub start_ps: i64,
    pub end_ps: i64,
    pub stats: Vec<(String, String)>,
}

impl Event {
    pub fn stat(&self, name: &str) -> Option<&str> {
        self.stats
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// A row as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: i64,
    pub name: String,
    pub timestamp_ns: i64,
    pub events: Vec<Event>,
}

impl Row {
    pub fn labels(&self) -> Vec<&str> {
        self.events
            .iter()
            .map(|event| event.name.as_str())
            .collect()
    }
}

pub fn rows(plane: &XPlane) -> Vec<Row> {
    plane
        .lines
        .iter()
        .map(|line| Row {
            id: line.id,
            name: line.name.clone(),
            timestamp_ns: line.timestamp_ns,
            events: line
                .events
                .iter()
                .map(|event| {
                    let Some(x_event::Data::OffsetPs(start_ps)) = event.data else {
                        panic!("an event without an offset");
                    };
                    Event {
                        name: plane.event_metadata[&event.metadata_id].name.clone(),
                        start_ps,
                        end_ps: start_ps + event.duration_ps,
                        stats: event
                            .stats
                            .iter()
                            .map(|stat| {
                                let name = plane.stat_metadata[&stat.metadata_id].name.clone();
                                let value = match stat.value.as_ref().unwrap() {
                                    x_stat::Value::RefValue(id) => {
                                        plane.stat_metadata[&(*id as i64)].name.clone()
                                    }
                                    x_stat::Value::Int64Value(value) => value.to_string(),
                                    other => panic!("{other:?}"),
                                };
                                (name, value)
                            })
                            .collect(),
                    }
                })
                .collect(),
        })
        .collect()
}

/// The marker rows of a space that has no other plane.
pub fn roctx_rows(space: &XSpace) -> Vec<Row> {
    match space.planes.as_slice() {
        [] => Vec::new(),
        [plane] => {
            assert_eq!(plane.name, "/host:ROCTX");
            rows(plane)
        }
        more => panic!("{} planes", more.len()),
    }
}

/// The only row of a trace.
pub fn the_row(space: &XSpace) -> Row {
    let rows = roctx_rows(space);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.into_iter().next().unwrap()
}

/// Builds the library, for Cargo does not build another package's shared library for a test.
pub fn build(file: &str, package: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success());
    profile.join(file)
}

/// Opens a shared library so that nobody finds its symbols by chance.
pub fn open(path: &Path) -> *mut c_void {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: NUL-terminated; what the tests load may run its constructors.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?}");
    handle
}

/// A function of an opened library, whose type the caller knows.
pub fn symbol<F: Copy>(handle: *mut c_void, name: &str) -> F {
    let symbol = CString::new(name).unwrap();
    // SAFETY: the handle is open for good; the function of this name has the type asked for.
    unsafe {
        let address = libc::dlsym(handle, symbol.as_ptr());
        assert!(!address.is_null(), "{name}");
        std::mem::transmute_copy(&address)
    }
}
