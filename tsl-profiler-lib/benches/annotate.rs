//! What annotations cost: `cargo bench -p tsl-profiler-lib`.
//!
//! "idle": no profiler listens and no session records. Ranges go to the embedded ROCTX, whatever
//! the machine has.

#![allow(missing_docs)] // criterion's macros make undocumented functions

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tsl_profiler_lib::traceme::{Level, TraceMe, TraceMeRecorder};
use tsl_profiler_lib::{AnnotationStack, ScopedAnnotation, TraceMeWrapper, nvtx_utils};

const LABEL: &str = "train_step/layer_3/attention";
const C_LABEL: &std::ffi::CStr = c"train_step/layer_3/attention";

fn annotation_stack(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("AnnotationStack");
    AnnotationStack::enable(true);
    group.bench_function("push+pop", |bencher| {
        bencher.iter(|| {
            AnnotationStack::push(black_box(LABEL.as_bytes()));
            AnnotationStack::pop();
        });
    });
    AnnotationStack::push(b"outer");
    AnnotationStack::push(b"middle");
    group.bench_function("push+pop beneath two", |bencher| {
        bencher.iter(|| {
            AnnotationStack::push(black_box(LABEL.as_bytes()));
            AnnotationStack::pop();
        });
    });
    AnnotationStack::enable(false);
    group.finish();
}

fn ranges(criterion: &mut Criterion) {
    let domain = nvtx_utils::default_profiler_domain().expect("ranges are on");
    let mut group = criterion.benchmark_group("range idle");
    group.bench_function("embedded ROCTX alone", |bencher| {
        bencher.iter(|| {
            // SAFETY: the text is NUL-terminated.
            unsafe { embedded_roctx::roctxRangePushA(black_box(C_LABEL).as_ptr()) };
            // SAFETY: pops what was pushed.
            unsafe { embedded_roctx::roctxRangePop() };
        });
    });
    group.bench_function("range_push+range_pop", |bencher| {
        bencher.iter(|| {
            nvtx_utils::range_push(domain, black_box(LABEL.as_bytes()));
            nvtx_utils::range_pop(domain);
        });
    });
    group.bench_function("range_push_cstr+range_pop", |bencher| {
        bencher.iter(|| {
            nvtx_utils::range_push_cstr(domain, black_box(C_LABEL));
            nvtx_utils::range_pop(domain);
        });
    });
    let title = nvtx_utils::register_string(domain, LABEL.as_bytes());
    group.bench_function("range_push_registered+range_pop", |bencher| {
        bencher.iter(|| {
            nvtx_utils::range_push_registered(domain, black_box(title), 1, b"payload");
            nvtx_utils::range_pop(domain);
        });
    });
    group.bench_function("ScopedAnnotation", |bencher| {
        bencher.iter(|| ScopedAnnotation::new(black_box(LABEL)));
    });
    group.bench_function("TraceMeWrapper", |bencher| {
        bencher.iter(|| TraceMeWrapper::new(black_box(LABEL)));
    });
    AnnotationStack::enable(true);
    group.bench_function("range_push+range_pop, annotations on", |bencher| {
        bencher.iter(|| {
            nvtx_utils::range_push(domain, black_box(LABEL.as_bytes()));
            nvtx_utils::range_pop(domain);
        });
    });
    AnnotationStack::enable(false);
    group.finish();
}

fn traceme(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("TraceMe");
    group.bench_function("idle", |bencher| {
        bencher.iter(|| TraceMe::new(black_box(LABEL)))
    });
    TraceMeRecorder::start(Level::INFO).expect("no session records");
    group.bench_function("recording", |bencher| {
        bencher.iter(|| TraceMe::new(black_box(LABEL)));
        TraceMeRecorder::stop(); // what was recorded goes, so that memory stays bounded
        TraceMeRecorder::start(Level::INFO).expect("stopped above");
    });
    TraceMeRecorder::stop();
    group.finish();
}

fn embedded(criterion: &mut Criterion) {
    // SAFETY: nothing has started a thread yet.
    unsafe { std::env::set_var(nvtx_utils::provider::LIBRARY_VARIABLE, "embedded") };
    ranges(criterion);
}

criterion_group!(benches, embedded, annotation_stack, traceme);
criterion_main!(benches);
