//! What a ROCTX call costs: with nobody listening, with the listener attached and idle, and in a
//! session. `AnnotationStack` and the bare clock stand beside it for scale.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use embedded_roctx::{roctxMarkA, roctxRangePop, roctxRangePushA};
use rocm_tracer::{RocmTracer, RocmTracerOptions, clock};
use std::ffi::CString;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Iterations between two sessions, so that what is kept stays small.
const BLOCK: u64 = 200_000;

/// Times `iterations` calls of `work` in sessions, without their starts and stops.
fn in_sessions(iterations: u64, mut work: impl FnMut(u64)) -> Duration {
    let tracer = RocmTracer::singleton();
    let mut total = Duration::ZERO;
    let mut done = 0;
    while done < iterations {
        let block = BLOCK.min(iterations - done);
        tracer.enable(RocmTracerOptions::default()).unwrap();
        let start = Instant::now();
        for iteration in done..done + block {
            work(iteration);
        }
        total += start.elapsed();
        black_box(tracer.disable().unwrap());
        done += block;
    }
    total
}

fn push_pop(label: &std::ffi::CStr) {
    // SAFETY: NUL-terminated.
    unsafe {
        black_box(roctxRangePushA(label.as_ptr()));
        black_box(roctxRangePop());
    }
}

fn benches(criterion: &mut Criterion) {
    let label = c"train_step/forward";
    let mut group = criterion.benchmark_group("push+pop");
    group.bench_function("clock, twice", |b| {
        b.iter(|| {
            (
                black_box(clock::boottime_ns()),
                black_box(clock::boottime_ns()),
            )
        });
    });
    group.bench_function("embedded ROCTX alone", |b| b.iter(|| push_pop(label)));
    RocmTracer::singleton().enable(Default::default()).unwrap();
    drop(RocmTracer::singleton().disable());
    group.bench_function("listener attached, no session", |b| {
        b.iter(|| push_pop(label))
    });
    group.bench_function("in a session, one label", |b| {
        b.iter_custom(|iterations| in_sessions(iterations, |_| push_pop(label)));
    });
    let labels: Vec<CString> = (0..BLOCK)
        .map(|number| CString::new(format!("train_step/forward/{number}")).unwrap())
        .collect();
    group.bench_function("in a session, each label once", |b| {
        b.iter_custom(|iterations| {
            in_sessions(iterations, |iteration| {
                push_pop(&labels[(iteration % BLOCK) as usize]);
            })
        });
    });
    for threads in [1, 2] {
        let id = BenchmarkId::new("in a session, a thread of", threads);
        group.bench_with_input(id, &threads, |b, &threads| {
            b.iter_custom(|iterations| on_threads(threads, iterations, label));
        });
    }
    group.finish();
    criterion.bench_function("mark in a session", |b| {
        b.iter_custom(|iterations| {
            // SAFETY: NUL-terminated.
            in_sessions(iterations, |_| unsafe {
                roctxMarkA(black_box(label.as_ptr()))
            })
        });
    });
}

/// The longest time that one of several threads took for its iterations, in one session.
fn on_threads(threads: usize, iterations: u64, label: &std::ffi::CStr) -> Duration {
    let barrier = Barrier::new(threads);
    let options = RocmTracerOptions {
        max_callback_api_events: u64::MAX,
        ..Default::default()
    };
    RocmTracer::singleton().enable(options).unwrap();
    let longest = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let start = Instant::now();
                    (0..iterations).for_each(|_| push_pop(label));
                    start.elapsed()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).max()
    });
    black_box(RocmTracer::singleton().disable().unwrap());
    longest.unwrap()
}

criterion_group!(group, benches);
criterion_main!(group);
