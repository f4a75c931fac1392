//! The profiler's states, as XLA's sessions go through them.

#![allow(missing_docs)]

mod common;

use common::{mark, one_at_a_time, roctx_rows};
use rocm_tracer::profiler::{ProfilerError, ProfilerInterface, create_gpu_tracer};
use rocm_tracer::{CollectorOptions, RocmTracer, RocmTracerOptions};
use tsl_profiler_lib::AnnotationStack;
use xplane_schema::proto::XSpace;

fn profiler() -> Box<dyn ProfilerInterface> {
    create_gpu_tracer(RocmTracerOptions::default(), CollectorOptions::default())
}

fn collect(profiler: &mut dyn ProfilerInterface) -> XSpace {
    let mut space = XSpace::default();
    profiler.collect_data(&mut space).unwrap();
    space
}

#[test]
fn what_was_recorded_is_collected_once() {
    let _one = one_at_a_time();
    let mut profiler = profiler();
    profiler.start().unwrap();
    mark("here");
    let early = profiler.collect_data(&mut XSpace::default());
    assert!(matches!(early, Err(ProfilerError::NotStopped)));
    mark("still recorded");
    profiler.stop().unwrap();
    profiler.stop().unwrap();
    let rows = roctx_rows(&collect(&mut *profiler));
    assert_eq!(rows[0].labels(), ["here", "still recorded"]);
    assert_eq!(collect(&mut *profiler), XSpace::default());
}

#[test]
fn what_never_started_gives_nothing() {
    let _one = one_at_a_time();
    let mut profiler = profiler();
    profiler.stop().unwrap();
    assert_eq!(collect(&mut *profiler), XSpace::default());
    profiler.start().unwrap();
    profiler.stop().unwrap();
    assert_eq!(collect(&mut *profiler), XSpace::default());
}

#[test]
fn a_start_that_fails_leaves_the_running_session_alone_and_gives_nothing() {
    let _one = one_at_a_time();
    let (mut first, mut second) = (profiler(), profiler());
    first.start().unwrap();
    assert!(matches!(second.start(), Err(ProfilerError::Start(_))));
    second.stop().unwrap();
    assert_eq!(collect(&mut *second), XSpace::default());
    assert!(matches!(first.start(), Err(ProfilerError::AlreadyStarted)));
    mark("of the first");
    drop(second);
    first.stop().unwrap();
    let rows = roctx_rows(&collect(&mut *first));
    assert_eq!(rows[0].labels(), ["of the first"]);
    assert!(matches!(first.start(), Err(ProfilerError::AlreadyStarted)));
}

#[test]
fn a_profiler_that_is_dropped_while_it_runs_stops() {
    let _one = one_at_a_time();
    let mut profiler = profiler();
    profiler.start().unwrap();
    assert!(AnnotationStack::is_enabled());
    drop(profiler);
    assert!(!AnnotationStack::is_enabled());
    assert!(RocmTracer::singleton().is_available());
}

#[test]
fn a_session_that_somebody_else_stopped_is_an_error_and_gives_nothing() {
    let _one = one_at_a_time();
    let mut profiler = profiler();
    profiler.start().unwrap();
    RocmTracer::singleton().disable().unwrap();
    assert!(matches!(profiler.stop(), Err(ProfilerError::Stop(_))));
    assert_eq!(collect(&mut *profiler), XSpace::default());
}
