//! The whole of it: a scripted training step on two GPUs and three streams, with graph launches,
//! copies both ways and ranges whose kernels run long after they closed, through post-processing to
//! a file, and read back from there.
//!
//! With `XPROF_ROCTX_KEEP=<file>` the file stays, for readers of other people's.

#![allow(missing_docs)]

mod common;
mod stand_in;

use common::{capture, export, pop, push};
use prost::Message;
use rocm_tracer::{CollectorOptions, RocmTracer};
use stand_in::*;
use std::sync::{Condvar, Mutex};
use tsl_profiler_lib::AnnotationStack;
use xplane_schema::proto::XSpace;
use xplane_schema::visitor::XEventVisitor;

const LAYOUTS: [&str; 2] = ["600", "10000"];

/// Kernels by number, as their code objects name them.
const KERNELS: [(u64, &str, &str); 4] = [
    (
        11,
        "_ZN3xla3gpu4gemmIfEEvPKT_S4_PS2_i.kd",
        "void xla::gpu::gemm<float>(float const*, float const*, float*, int)",
    ),
    (12, "loop_add_fusion.kd", "loop_add_fusion"),
    (13, "input_reduce_fusion.kd", "input_reduce_fusion"),
    (14, "ncclDevKernel_AllReduce.kd", "ncclDevKernel_AllReduce"),
];
const GEMM: u64 = 11;
const ADD: u64 = 12;
const REDUCE: u64 = 13;
const ALL_REDUCE: u64 = 14;

/// Streams: of the first GPU's compute, the second's, and one for copies.
const COMPUTE_0: u64 = 1;
const COMPUTE_1: u64 = 2;
const COPIES: u64 = 3;

#[test]
#[ignore = "run by the other test, in a process of its own"]
fn child() {
    let hip = Hip::load(&folder_in_child());
    RocmTracer::singleton().prepare(&gpu_options()).unwrap();
    for (kernel, symbol, _) in KERNELS {
        hip.load_kernel(kernel, symbol);
    }
    let capture = capture(gpu_options(), || step(&hip));
    let (start, stop) = (capture.span().start.wall_ns, capture.span().stop_wall_ns());
    let mut space = export(capture, CollectorOptions::default());
    host_postprocess::post_process_single_host_xspace(&mut space, start, stop);
    tell(&space);
}

/// In a range, with the same label on the annotation stack, as `ScopedAnnotation` does it.
fn scope(label: &str, work: impl FnOnce()) {
    AnnotationStack::push(label.as_bytes());
    push(label.split('#').next().unwrap());
    work();
    pop();
    AnnotationStack::pop();
}

/// Time on a device: each piece of work takes 10 µs and begins when the one before it has ended.
struct Device {
    free_at: u64,
}

impl Device {
    fn next(&mut self) -> (u64, u64) {
        let start = self.free_at;
        self.free_at += 10_000;
        (start, self.free_at)
    }
}

fn step(hip: &Hip) {
    let (mut gpu_0, mut gpu_1) = (Device { free_at: 0 }, Device { free_at: 0 });
    let other_thread_is_in_its_range = (Mutex::new(false), Condvar::new());
    scope("train_step#step_num=7#", || {
        hip.call(MEMCPY_ASYNC, COPIES, || {
            let (start, end) = gpu_0.next();
            hip.copy(HOST_TO_DEVICE, CPU, GPU_0, 1 << 20, start, end);
        });
        std::thread::scope(|threads| {
            // The second GPU is driven by a thread of its own, at the same time.
            threads.spawn(|| {
                scope("replica_1", || {
                    *other_thread_is_in_its_range.0.lock().unwrap() = true;
                    other_thread_is_in_its_range.1.notify_all();
                    hip.call(LAUNCH_KERNEL, COMPUTE_1, || {
                        let (start, end) = gpu_1.next();
                        hip.dispatch(GPU_1, GEMM, start, end);
                    });
                    scope("all_reduce", || {
                        hip.call(LAUNCH_KERNEL, COMPUTE_1, || {
                            let (start, end) = gpu_1.next();
                            hip.dispatch(GPU_1, ALL_REDUCE, start, end);
                        });
                    });
                });
            });
            scope("forward#hlo_module=jit_step#", || {
                let entered = other_thread_is_in_its_range.0.lock().unwrap();
                let entered = other_thread_is_in_its_range
                    .1
                    .wait_while(entered, |entered| !*entered);
                drop(entered);
                scope("dense_1#hlo_op=dot.1#", || {
                    hip.call(LAUNCH_KERNEL, COMPUTE_0, || {
                        let (start, end) = gpu_0.next();
                        hip.dispatch(GPU_0, GEMM, start, end);
                    });
                });
                hip.call(LAUNCH_KERNEL, COMPUTE_0, || {
                    let (start, end) = gpu_0.next();
                    hip.dispatch(GPU_0, ADD, start, end);
                });
            });
        });
        scope("backward", || {
            hip.call(GRAPH_LAUNCH, COMPUTE_0, || {
                for kernel in [GEMM, ADD, REDUCE] {
                    let (start, end) = gpu_0.next();
                    hip.dispatch(GPU_0, kernel, start, end);
                }
                let (start, end) = gpu_0.next();
                hip.copy(DEVICE_TO_DEVICE, GPU_0, GPU_0, 4096, start, end);
            });
        });
    });
    hip.call(MEMCPY_ASYNC, COPIES, || {
        let (start, end) = gpu_0.next();
        hip.copy(DEVICE_TO_HOST, GPU_0, CPU, 4, start, end);
    });
    // All of the devices' work is later than all of the host's: ranges have closed long before.
    let later = now() + 1_000_000;
    hip.delay_devices(later);
    wait_until(later + gpu_0.free_at.max(gpu_1.free_at));
}

/// A kernel or copy as it must be in the trace: name, labels, outermost annotation, HLO operation.
type Expected = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

fn told(event: XEventVisitor<'_>) -> [String; 5] {
    [
        event.name().to_owned(),
        stat(event, "nvtx_range"),
        stat(event, "roctx_path"),
        stat(event, "tf_op"),
        stat(event, "hlo_op"),
    ]
}

fn check(space: &XSpace, device: &str, line: &str, expected: &[Expected]) {
    let events: Vec<_> = events(plane(space, device))
        .into_iter()
        .filter(|(name, _)| *name == line)
        .map(|(_, event)| told(event))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|&(a, b, c, d, e)| [a, b, c, d, e].map(str::to_owned))
        .collect();
    assert_eq!(events, expected, "{device} {line}");
}

fn whole_step(version: &str, reversed: bool) {
    let folder = folder();
    let mut environment = vec![("STAND_IN_VERSION", version)];
    if reversed {
        environment.push(("STAND_IN_REVERSED", "1"));
    }
    let space = run(folder.path(), "", &environment);

    let written = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(written.path(), space.encode_to_vec()).unwrap();
    if let (Some(keep), "10000") = (std::env::var_os("XPROF_ROCTX_KEEP"), version) {
        std::fs::copy(written.path(), keep).unwrap();
    }
    let space = XSpace::decode(std::fs::read(written.path()).unwrap().as_slice()).unwrap();

    let gemm = KERNELS[0].2;
    let forward = "train_step::forward";
    let backward = ("backward", "train_step::backward");
    let copies = [
        ("MemcpyH2D", "train_step", "train_step", "train_step", ""),
        ("MemcpyD2H", "", "", "", ""),
    ];
    let compute = [
        (
            gemm,
            "dense_1",
            "train_step::forward::dense_1",
            "train_step",
            "dot.1",
        ),
        ("loop_add_fusion", "forward", forward, "train_step", ""),
        (gemm, backward.0, backward.1, "train_step", ""),
        ("loop_add_fusion", backward.0, backward.1, "train_step", ""),
        (
            "input_reduce_fusion",
            backward.0,
            backward.1,
            "train_step",
            "",
        ),
    ];
    let graph_copy = ("MemcpyD2D", backward.0, backward.1, "train_step", "");
    let gpu_0 = "/device:GPU:0";
    if version == "10000" {
        check(&space, gpu_0, "Stream #0(MemcpyD2H,MemcpyH2D)", &copies);
        let with_copy: Vec<_> = compute.into_iter().chain([graph_copy]).collect();
        check(&space, gpu_0, "Stream #1(Kernel,MemcpyD2D)", &with_copy);
    } else {
        // Lines are queues there: one for kernels, one for copies.
        check(&space, gpu_0, "Stream #1(Kernel)", &compute);
        let all = [copies[0], graph_copy, copies[1]];
        check(
            &space,
            gpu_0,
            "Stream #0(MemcpyD2D,MemcpyD2H,MemcpyH2D)",
            &all,
        );
    }
    check(
        &space,
        "/device:GPU:1",
        "Stream #0(Kernel)",
        &[
            (gemm, "replica_1", "replica_1", "replica_1", ""),
            (
                "ncclDevKernel_AllReduce",
                "all_reduce",
                "replica_1::all_reduce",
                "replica_1",
                "",
            ),
        ],
    );

    // Post-processing has merged the host's planes: ranges and HIP calls are rows beside each other.
    let host = plane(&space, "/host:CPU");
    let rows: Vec<_> = host.lines().map(|line| line.name().to_owned()).collect();
    let of = |prefix: &str| rows.iter().filter(|row| row.starts_with(prefix)).count();
    assert_eq!(of("Host Threads/"), 2, "{rows:?}");
    assert_eq!(of("ROCTX Threads/"), 2, "{rows:?}");
    let calls: Vec<_> = events(host)
        .into_iter()
        .filter(|(line, _)| line.starts_with("Host Threads/"))
        .map(|(_, event)| event.name())
        .collect();
    assert_eq!(calls.len(), 7, "{calls:?}");

    // Each kernel runs after the range that it is labelled by.
    let ranges: Vec<_> = events(host)
        .into_iter()
        .filter(|(line, _)| line.starts_with("ROCTX Threads/"))
        .map(|(_, event)| event)
        .collect();
    for device in [gpu_0, "/device:GPU:1"] {
        for (_, kernel) in events(plane(&space, device)) {
            let label = stat(kernel, "nvtx_range");
            for range in ranges.iter().filter(|range| range.name() == label) {
                let end = range.timestamp_ps() + i128::from(range.duration_ps());
                assert!(kernel.timestamp_ps() > end, "{label}");
            }
        }
    }
    let step = stat(events(plane(&space, gpu_0))[0].1, "step_num");
    assert_eq!(step, "7");
    let unexpected: Vec<_> = space
        .warnings
        .iter()
        .filter(|warning| version == "10000" || !warning.contains("by queue"))
        .collect();
    assert_eq!(unexpected, Vec::<&String>::new());
}

#[test]
fn every_kernel_of_a_training_step_carries_its_labels() {
    for version in LAYOUTS {
        for reversed in [false, true] {
            whole_step(version, reversed);
        }
    }
}
