//! What spans and events cost with the layer: `cargo bench -p roctx`.
//!
//! "alone": a registry without the layer, for scale. "idle": nobody listens; "session": a session
//! records.

#![allow(missing_docs)] // criterion's macros make undocumented functions

use criterion::{Criterion, criterion_group, criterion_main};
use roctx::LocalRange;
use std::hint::black_box;
use tracing::{info, info_span};
use tracing_subscriber::prelude::*;
use xprof_roctx_session::{CaptureSession, SessionOptions};

fn calls(criterion: &mut Criterion, group: &str) {
    let mut group = criterion.benchmark_group(group);
    group.bench_function("LocalRange", |bencher| {
        bencher.iter(|| drop(LocalRange::new(black_box("step"))));
    });
    spans(&mut group);
    group.finish();
}

fn spans(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
    let kept = info_span!("step");
    group.bench_function("enter+exit", |bencher| bencher.iter(|| drop(kept.enter())));
    group.bench_function("new+enter+exit+close, a field", |bencher| {
        bencher.iter(|| drop(info_span!("step", number = black_box(3)).entered()));
    });
    group.bench_function("event, a field", |bencher| {
        bencher.iter(|| info!(number = black_box(3), "here"));
    });
}

fn layer(criterion: &mut Criterion) {
    tracing::subscriber::with_default(tracing_subscriber::registry(), || {
        spans(&mut criterion.benchmark_group("alone"));
    });
    let subscriber = tracing_subscriber::registry().with(roctx::layer());
    tracing::subscriber::with_default(subscriber, || {
        calls(criterion, "idle");
        let session = CaptureSession::start(SessionOptions::default()).expect("the only session");
        calls(criterion, "session");
        drop(session);
    });
}

criterion_group!(benches, layer);
criterion_main!(benches);
