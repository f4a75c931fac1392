//! Sessions from their start to their files, and as JAX drives them.

#![allow(missing_docs)]

use pjrt_profiler::{Code, Profiler};
use rocm_tracer::RocmTracer;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tsl_profiler_lib::{AnnotationStack, TraceMeRecorder, TraceMeWrapper, nvtx_utils};
use xplane_schema::Message;
use xplane_schema::proto::{XPlane, XSpace};
use xprof_roctx_session::jax_profiler::RoctxProfiler;
use xprof_roctx_session::{CaptureSession, SessionError, SessionOptions, WriteError};

/// The process has one tracer.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mark(text: &str) {
    let domain = nvtx_utils::default_profiler_domain().unwrap();
    nvtx_utils::mark(domain, text.as_bytes());
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos() as i64
}

/// Event names of the lines whose name has `part` in it.
fn events<'a>(plane: &'a XPlane, part: &str) -> Vec<&'a str> {
    plane
        .lines
        .iter()
        .filter(|line| line.name.contains(part))
        .flat_map(|line| &line.events)
        .map(|event| plane.event_metadata[&event.metadata_id].name.as_str())
        .collect()
}

fn read(path: &Path) -> XSpace {
    XSpace::decode(fs::read(path).unwrap().as_slice()).unwrap()
}

#[test]
fn host_events_and_markers_are_rows_of_one_plane_in_the_file() {
    let _one = one_at_a_time();
    let logdir = tempfile::tempdir().unwrap();
    let options = SessionOptions {
        host: Some("host".to_owned()),
        ..SessionOptions::default()
    };
    let session = CaptureSession::start(options).unwrap();
    let annotation = TraceMeWrapper::new("work");
    mark("inside");
    annotation.stop();
    let capture = session.stop().unwrap();
    let written = capture.write(logdir.path(), Some("run")).unwrap();
    let folder = logdir.path().join("plugins/profile/run");
    assert_eq!(written.dir, folder);
    assert_eq!(written.xplane, folder.join("host.xplane.pb"));
    assert!(folder.join("host.trace.json.gz").is_file());

    let space = read(&written.xplane);
    assert_eq!(space.hostnames, ["host"]);
    assert!(capture.start_ns < capture.stop_ns);
    let planes: Vec<_> = space.planes.iter().map(|plane| &plane.name).collect();
    assert_eq!(planes, ["/host:CPU", "Task Environment"]);
    assert_eq!(events(&space.planes[0], "ROCTX"), ["work", "inside"]);
    let host_rows = space.planes[0].lines.len() - 1;
    assert_eq!(host_rows, 1, "the TraceMe's");
}

#[test]
fn a_run_without_a_name_is_named_by_the_time_and_takes_nobodys_place() {
    let _one = one_at_a_time();
    let logdir = tempfile::tempdir().unwrap();
    let mut folders = Vec::new();
    for _ in 0..2 {
        let session = CaptureSession::start(SessionOptions::default()).unwrap();
        mark("here");
        let written = session.stop().unwrap().write(logdir.path(), None).unwrap();
        let name = written.dir.file_name().unwrap().to_str().unwrap();
        let shape: String = name
            .chars()
            .take(19)
            .map(|c| if c.is_ascii_digit() { '9' } else { c })
            .collect();
        assert_eq!(shape, "9999_99_99_99_99_99", "{name}");
        folders.push(written.dir);
    }
    assert_ne!(folders[0], folders[1]);
}

#[test]
fn a_second_session_is_refused_and_the_first_goes_on() {
    let _one = one_at_a_time();
    let session = CaptureSession::start(SessionOptions::default()).unwrap();
    let second = CaptureSession::start(SessionOptions::default());
    assert!(matches!(second, Err(SessionError::NotStarted(_))));
    mark("still heard");
    let space = session.stop().unwrap().space;
    assert_eq!(events(&space.planes[0], "ROCTX"), ["still heard"]);
}

#[test]
fn a_start_that_fails_leaves_nothing_on() {
    let _one = one_at_a_time();
    TraceMeRecorder::start(tsl_profiler_lib::traceme::Level::CRITICAL).unwrap();
    let refused = CaptureSession::start(SessionOptions::default());
    assert!(matches!(refused, Err(SessionError::HostEvents(_))));
    assert!(RocmTracer::singleton().is_available());
    assert!(!AnnotationStack::is_enabled());
    assert!(TraceMeRecorder::stop().is_some(), "somebody else's goes on");
}

#[test]
fn a_dropped_session_is_over() {
    let _one = one_at_a_time();
    drop(CaptureSession::start(SessionOptions::default()).unwrap());
    assert!(RocmTracer::singleton().is_available());
    assert!(TraceMeRecorder::stop().is_none());
}

#[test]
fn what_cannot_be_written_is_saved_in_a_private_folder() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let logdir = folder.path().join("file");
    fs::write(&logdir, "somebody's").unwrap();
    let session = CaptureSession::start(SessionOptions::default()).unwrap();
    mark("precious");
    let capture = session.stop().unwrap();
    let error = capture.write(&logdir, Some("run")).unwrap_err();
    let WriteError::SavedElsewhere { saved_to, .. } = &error else {
        panic!("{error}");
    };
    for path in [&logdir, saved_to] {
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
    let mode = fs::metadata(saved_to).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let file = saved_to
        .join("plugins/profile/run")
        .join(format!("{}.xplane.pb", capture.host));
    assert_eq!(events(&read(&file).planes[0], "ROCTX"), ["precious"]);
    fs::remove_dir_all(saved_to).unwrap();
}

#[test]
fn jax_gets_the_marker_plane_under_a_name_that_it_merges() {
    let _one = one_at_a_time();
    let mut profiler = RoctxProfiler::create(b"");
    profiler.start().unwrap();
    let before = now_ns();
    mark("here");
    profiler.stop().unwrap();
    let space = XSpace::decode(profiler.collect().unwrap().as_slice()).unwrap();
    let [plane] = space.planes.as_slice() else {
        panic!("{} planes", space.planes.len());
    };
    assert_eq!(plane.name, "/host:CPU");
    assert_eq!(events(plane, "ROCTX Threads/"), ["here"]);
    let [line] = plane.lines.as_slice() else {
        panic!("{} lines", plane.lines.len());
    };
    // Ids that no thread has, even cut to 32 bits; times by the wall clock.
    assert_eq!(line.id, (2 << 32) + (1 << 30));
    let second = 1_000_000_000;
    assert!(before - second < line.timestamp_ns && line.timestamp_ns < before + second);
}

#[test]
fn jax_gets_nothing_where_nothing_was_marked() {
    let _one = one_at_a_time();
    let mut profiler = RoctxProfiler::create(b"");
    profiler.start().unwrap();
    profiler.stop().unwrap();
    assert!(profiler.collect().unwrap().is_empty());
}

#[test]
fn jaxs_session_beside_another_is_refused_and_ends_nothing() {
    let _one = one_at_a_time();
    let session = CaptureSession::start(SessionOptions::default()).unwrap();
    let mut profiler = RoctxProfiler::create(b"");
    assert_eq!(profiler.start().unwrap_err().code, Code::FailedPrecondition);
    profiler.stop().unwrap();
    assert!(profiler.collect().unwrap().is_empty());
    drop(profiler);
    mark("still heard");
    let space = session.stop().unwrap().space;
    assert_eq!(events(&space.planes[0], "ROCTX"), ["still heard"]);
}

#[test]
fn jaxs_session_that_is_never_stopped_ends_with_its_profiler() {
    let _one = one_at_a_time();
    let mut profiler = RoctxProfiler::create(b"");
    profiler.start().unwrap();
    drop(profiler);
    assert!(RocmTracer::singleton().is_available());
}
