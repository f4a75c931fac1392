//! HIP calls, kernels and copies, from a stand-in of rocprofiler-sdk to planes, in both layouts.

#![allow(missing_docs)]

mod common;
mod stand_in;

use common::{capture, export, pop, push};
use rocm_tracer::{
    CollectorOptions, GpuTracing, RocmTraceCollector, RocmTracer, RocmTracerOptions,
};
use stand_in::*;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use tsl_profiler_lib::AnnotationStack;
use xplane_schema::proto::XSpace;
use xplane_schema::visitor::XPlaneVisitor;

const LAYOUTS: [&str; 2] = ["600", "10000"];

fn trace(work: impl FnOnce()) -> XSpace {
    export(capture(gpu_options(), work), CollectorOptions::default())
}

fn with_options(options: RocmTracerOptions, work: impl FnOnce()) -> XSpace {
    export(capture(options, work), CollectorOptions::default())
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn child() {
    let scenario = std::env::var("SCENARIO").unwrap();
    match scenario.as_str() {
        "off at first" => load_library(&folder_in_child(), "librocprofiler-sdk-roctx.so"),
        "auto" => load_library(&folder_in_child(), "libamdhip64.so.6"),
        _ => {}
    }
    let hip = Hip::load(&folder_in_child());
    if !["not prepared", "off at first", "auto"].contains(&scenario.as_str()) {
        // What this fails for, the sessions tell.
        let _ = RocmTracer::singleton().prepare(&gpu_options());
        hip.load_kernel(5, "_Z6vecaddPfS_S_.kd");
    }
    let space = match scenario.as_str() {
        "one kernel" => trace(|| {
            push("forward");
            AnnotationStack::push(b"step#step_num=3#");
            AnnotationStack::push(b"fusion#hlo_op=add.1,step_num=4#");
            hip.launch(GPU_1, 5, 9);
            AnnotationStack::pop();
            AnnotationStack::pop();
            pop();
        }),
        "graph" => graph(&hip),
        "long after" => long_after(&hip),
        "streams" => streams(&hip),
        "copies" => copies(&hip),
        "unmatched" => trace(|| unmatched(&hip)),
        "unmatched kept" => {
            let capture = capture(gpu_options(), || unmatched(&hip));
            let mut space = XSpace::default();
            RocmTraceCollector::default()
                .keep_unmatched(true)
                .export(capture, &mut space);
            space
        }
        "late" => late(&hip),
        "capacity" => capacity(&hip),
        "bad records" => bad_records(&hip),
        "not prepared" => trace(|| {
            push("range");
            hip.launch(GPU_0, 5, 0);
            pop();
        }),
        "off at first" => {
            let off = RocmTracerOptions {
                gpu: GpuTracing::Off,
                ..gpu_options()
            };
            let first = with_options(off, || {
                hip.launch(GPU_0, 5, 0);
            });
            assert_eq!(first, XSpace::default());
            trace(|| {
                hip.launch(GPU_0, 5, 0);
            })
        }
        "off" => with_options(
            RocmTracerOptions {
                gpu: GpuTracing::Off,
                ..gpu_options()
            },
            || {
                hip.launch(GPU_0, 5, 0);
            },
        ),
        "flush" => trace(|| {
            hip.launch(GPU_0, 5, 0);
            let flushed = RocmTracer::singleton().flush();
            if std::env::var_os("STAND_IN_FAIL").is_some() {
                assert!(flushed.unwrap_err().contains("rocprofiler_flush_buffer"));
            } else {
                flushed.unwrap();
            }
            hip.launch(GPU_0, 5, 0);
        }),
        "ended" => ended(&hip),
        "auto" => auto(&hip),
        "many threads" => many_threads(&hip),
        "child of a fork" => child_of_a_fork(&hip),
        unknown => panic!("{unknown}"),
    };
    assert!(RocmTracer::singleton().is_available());
    tell(&space);
}

/// Names of all events of a plane, each with its line's name and its innermost range.
fn told(space: &XSpace, name: &str) -> Vec<[String; 3]> {
    events(plane(space, name))
        .into_iter()
        .map(|(line, event)| {
            [
                line.to_owned(),
                event.name().to_owned(),
                stat(event, "nvtx_range"),
            ]
        })
        .collect()
}

fn names(space: &XSpace) -> Vec<&str> {
    let names = space.planes.iter().map(|plane| plane.name.as_str());
    names.collect()
}

#[test]
fn a_kernel_is_on_its_device_s_plane_with_the_labels_of_its_launch() {
    let folder = folder();
    for version in LAYOUTS {
        let space = run(
            folder.path(),
            "one kernel",
            &[("STAND_IN_VERSION", version)],
        );
        let device = plane(&space, "/device:GPU:1");
        let events = events(device);
        assert_eq!(events.len(), 1, "{version}");
        let (line, kernel) = events[0];
        assert_eq!(line, "Stream #0(Kernel)");
        assert_eq!(kernel.name(), "vecadd(float*, float*, float*)");
        assert_eq!(stat(kernel, "nvtx_range"), "forward");
        assert_eq!(stat(kernel, "tf_op"), "step");
        assert_eq!(stat(kernel, "hlo_op"), "add.1");
        assert_eq!(stat(kernel, "step_num"), "4");
        assert_eq!(
            stat(kernel, "kernel_details"),
            "grid:64,3,1 block:256,2,1 private_mem:16 group_mem:1024 occ_pct:0"
        );
        let calls = stand_in::events(plane(&space, "/host:ROCTRACER"));
        assert_eq!(calls.len(), 1);
        let (line, call) = calls[0];
        assert!(line.starts_with("Host Threads/"), "{line}");
        assert_eq!(call.name(), "hipLaunchKernel");
        assert_eq!(stat(call, "nvtx_range"), "forward");
        assert_eq!(stat(call, "tf_op"), "step");
        assert_eq!(stat(call, "device_id"), "1");
        let correlation = stat(kernel, "correlation_id");
        assert_eq!(stat(call, "correlation_id"), correlation);
        assert!(correlation.parse::<u64>().unwrap() > u64::from(u32::MAX));
        // The scope of the inner annotation, and its parent in the tree.
        let scope: i64 = stat(kernel, "scope_range_id").parse().unwrap();
        let tree = plane(&space, "/host:__ScopeRangeCallStack__").plane();
        let scopes: Vec<i64> = tree.stats.iter().map(|stat| stat.metadata_id).collect();
        assert_eq!(scopes, [scope]);
        // Versions before 1.0 do not tell streams.
        match (version, space.warnings.as_slice()) {
            ("10000", []) => {}
            ("600", [warning]) => assert!(
                warning.contains("are on rows by queue, not by stream"),
                "{warning}"
            ),
            (_, warnings) => panic!("{version}: {warnings:?}"),
        }
    }
}

#[test]
fn marker_event_appears_in_exported_xspace() {
    let folder = folder();
    let space = run(folder.path(), "one kernel", &[]);
    let markers = events(plane(&space, "/host:ROCTX"));
    assert_eq!(markers.len(), 1);
    let (line, marker) = markers[0];
    assert!(line.starts_with("ROCTX Threads/"), "{line}");
    assert_eq!(marker.name(), "forward");
    assert_eq!(stat(marker, "nvtx_range"), "forward");
    // A marker is of no device and joined to nothing.
    assert_eq!(stat(marker, "correlation_id"), "");
    assert_eq!(stat(marker, "device_id"), "");
}

#[test]
fn marker_and_api_events_on_same_thread_get_separate_lines() {
    let folder = folder();
    let mut space = run(folder.path(), "one kernel", &[]);
    let thread = |name| plane(&space, name).lines().next().unwrap().id();
    assert_eq!(thread("/host:ROCTX"), thread("/host:ROCTRACER"));
    host_postprocess::post_process_single_host_xspace(&mut space, 0, 1);
    let host: Vec<_> = events(plane(&space, "/host:CPU"))
        .into_iter()
        .map(|(line, event)| {
            let kind = line.split('/').next().unwrap();
            format!("{kind}: {}", event.name())
        })
        .collect();
    assert_eq!(
        host,
        ["Host Threads: hipLaunchKernel", "ROCTX Threads: forward"]
    );
    let lines = plane(&space, "/host:CPU").lines();
    let ids: std::collections::HashSet<u32> = lines.map(|line| line.id() as u32).collect();
    assert_eq!(ids.len(), 2, "rows of their own in viewers, too");
}

#[test]
fn gpu_agent_data_becomes_device_capabilities() {
    let folder = folder();
    for version in LAYOUTS {
        let space = run(
            folder.path(),
            "one kernel",
            &[("STAND_IN_VERSION", version)],
        );
        let device = plane(&space, "/device:GPU:1");
        assert_eq!(device.plane().id, 1);
        for (name, expected) in [
            ("device_vendor", "AMD"),
            ("clock_rate", "2100000"),
            ("core_count", "304"),
            ("memory_size", "206158430208"),       // 192 GiB
            ("memory_bandwidth", "2662400000000"), // 2 * 1300 MHz * 8192 bit / 8
            ("compute_cap_major", "9"),
            ("compute_cap_minor", "4"),
            ("gpu_device_name", "gfx942"),
        ] {
            assert_eq!(plane_stat(device, name), expected, "{name}");
        }
        // A device that did nothing has no plane, nor has the processor.
        assert_eq!(
            names(&space),
            [
                "/host:ROCTX",
                "/device:GPU:1",
                "/host:ROCTRACER",
                "/host:__ScopeRangeCallStack__"
            ]
        );
    }
}

fn graph(hip: &Hip) -> XSpace {
    hip.load_kernel(6, "loop_add_fusion");
    trace(|| {
        push("graph");
        hip.call(GRAPH_LAUNCH, 1, || {
            for kernel in [5, 6, 6] {
                let start = now();
                hip.dispatch(GPU_0, kernel, start, start);
            }
        });
        pop();
        hip.launch(GPU_0, 6, 1);
    })
}

#[test]
fn multiple_activities_per_correlation_id_all_exported() {
    let folder = folder();
    for delivery in [vec![], vec![("STAND_IN_REVERSED", "1")]] {
        let space = run(folder.path(), "graph", &delivery);
        let line = "Stream #0(Kernel)";
        let expected = [
            [line, "vecadd(float*, float*, float*)", "graph"],
            [line, "loop_add_fusion", "graph"],
            [line, "loop_add_fusion", "graph"],
            [line, "loop_add_fusion", ""],
        ];
        assert_eq!(told(&space, "/device:GPU:0"), expected);
        let calls = events(plane(&space, "/host:ROCTRACER"));
        let calls: Vec<_> = calls.iter().map(|(_, call)| call.name()).collect();
        assert_eq!(calls, ["hipGraphLaunch", "hipLaunchKernel"]);
    }
}

fn long_after(hip: &Hip) -> XSpace {
    trace(|| {
        push("outer");
        push("inner");
        // The device gets to it when the ranges have closed.
        hip.call(LAUNCH_KERNEL, 0, || hip.dispatch(GPU_0, 5, 0, 1_000_000));
        pop();
        // Another thread is in a range of its own, and none of this one's.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                push("other");
                hip.call(LAUNCH_KERNEL, 0, || hip.dispatch(GPU_1, 5, 0, 1));
                pop();
                hip.call(LAUNCH_KERNEL, 0, || hip.dispatch(GPU_1, 5, 2, 3));
            });
        });
        pop();
        let closed = now() + 1;
        hip.delay_devices(closed);
        wait_until(closed + 1_000_000);
    })
}

#[test]
fn a_kernel_that_runs_long_after_its_range_closed_has_its_labels() {
    let folder = folder();
    for version in LAYOUTS {
        let environment = [("STAND_IN_VERSION", version)];
        let space = run(folder.path(), "long after", &environment);
        let kernels = events(plane(&space, "/device:GPU:0"));
        let kernel = kernels[0].1;
        assert_eq!(stat(kernel, "nvtx_range"), "inner");
        assert_eq!(stat(kernel, "roctx_path"), "outer::inner");
        // The wall clock may be slewed against the kernel's, by half a thousandth at most.
        assert_eq!((kernel.duration_ps() as f64 / 1e9 * 100.0).round(), 100.0);
        let ranges = events(plane(&space, "/host:ROCTX"));
        for (_, range) in ranges {
            let end = range.timestamp_ps() + i128::from(range.duration_ps());
            assert!(kernel.timestamp_ps() > end, "{}", range.name());
        }
        let others: Vec<_> = events(plane(&space, "/device:GPU:1"))
            .into_iter()
            .map(|(_, event)| [stat(event, "nvtx_range"), stat(event, "roctx_path")])
            .collect();
        assert_eq!(others, [["other", "other"], ["", ""]]);
    }
}

fn streams(hip: &Hip) -> XSpace {
    let name_stream = |handle: usize, name: &std::ffi::CStr| {
        // SAFETY: a literal; the handle is only a name.
        unsafe {
            embedded_roctx::roctxNameHipStream(
                name.as_ptr(),
                ptr::without_provenance::<c_void>(handle),
            )
        };
    };
    trace(|| {
        name_stream(0x3000, c"compute");
        // SAFETY: a literal.
        unsafe { embedded_roctx::roctxNameHipDevice(c"left".as_ptr(), 0) };
        for stream in [7, 3, 0, 7] {
            hip.launch(GPU_0, 5, stream);
        }
        hip.launch(GPU_1, 5, 3);
        hip.call(MEMCPY, 3, || {
            let start = now();
            hip.copy(HOST_TO_DEVICE, CPU, GPU_0, 64, start, start);
        });
    })
}

#[test]
fn streams_are_lines_numbered_in_order_of_first_use_and_named_as_given() {
    let folder = folder();
    for delivery in [vec![], vec![("STAND_IN_REVERSED", "1")]] {
        let space = run(folder.path(), "streams", &delivery);
        let device = plane(&space, "/device:GPU:0");
        let lines: Vec<_> = device
            .lines()
            .map(|line| {
                let events = line.events().count();
                (line.id(), line.name(), line.display_name(), events)
            })
            .collect();
        let named = "Stream #1(Kernel,MemcpyH2D) compute";
        assert_eq!(
            lines,
            [
                (0, "Stream #0(Kernel)", "Stream #0(Kernel)", 2),
                (1, "Stream #1(Kernel,MemcpyH2D)", named, 2),
                (2, "Stream #2(Kernel)", "Stream #2(Kernel)", 1),
            ]
        );
        assert_eq!(plane_stat(device, "roctx_device_name"), "left");
        let lines: Vec<_> = plane(&space, "/device:GPU:1")
            .lines()
            .map(|line| line.display_name().to_owned())
            .collect();
        assert_eq!(lines, ["Stream #0(Kernel) compute"]);
    }
}

fn copies(hip: &Hip) -> XSpace {
    trace(|| {
        for (operation, direction, from, to) in [
            (MEMCPY, HOST_TO_DEVICE, CPU, GPU_1),
            (MEMCPY_ASYNC, DEVICE_TO_HOST, GPU_1, CPU),
            (MEMCPY_ASYNC, DEVICE_TO_DEVICE, GPU_1, GPU_0),
            (MEMCPY, 99, CPU, GPU_0),
        ] {
            push("copy");
            hip.call(operation, 0, || {
                let start = now();
                hip.copy(direction, from, to, 4096, start, start + 1);
            });
            pop();
        }
    })
}

#[test]
fn copies_are_on_the_device_that_they_concern() {
    let folder = folder();
    for version in LAYOUTS {
        let environment = [("STAND_IN_VERSION", version)];
        let space = run(folder.path(), "copies", &environment);
        let details = |name| -> Vec<_> {
            events(plane(&space, name))
                .into_iter()
                .map(|(_, event)| {
                    assert_eq!(stat(event, "nvtx_range"), "copy");
                    format!("{} {}", event.name(), stat(event, "memcpy_details"))
                })
                .collect()
        };
        assert_eq!(
            details("/device:GPU:1"),
            [
                "MemcpyH2D kind:Unknown size:4096 dest:72 async:0",
                "MemcpyD2H kind:Unknown size:4096 dest:70 async:1",
            ]
        );
        assert_eq!(
            details("/device:GPU:0"),
            [
                "MemcpyD2D kind:Unknown size:4096 dest:71 async:1",
                "MemcpyOther kind:Unknown size:4096 dest:71 async:0",
            ]
        );
        assert_eq!(
            details("/host:ROCTRACER"),
            [
                "hipMemcpy kind:Unknown size:4096 dest:72 async:0",
                "hipMemcpyAsync kind:Unknown size:4096 dest:70 async:1",
                "hipMemcpyAsync kind:Unknown size:4096 dest:71 async:1",
                "hipMemcpy kind:Unknown size:4096 dest:71 async:0",
            ]
        );
    }
}

fn unmatched(hip: &Hip) {
    push("range");
    hip.call(MALLOC, 0, || {});
    hip.call(9999, 0, || {});
    // A kernel that no HIP call started has correlation id 0.
    let start = now();
    hip.dispatch(GPU_0, 5, start, start);
    hip.launch(GPU_0, 5, 0);
    pop();
}

#[test]
fn calls_without_work_and_work_without_a_call_are_left_out_with_a_count_or_kept() {
    let folder = folder();
    let space = run(folder.path(), "unmatched", &[]);
    assert_eq!(told(&space, "/device:GPU:0").len(), 1);
    assert_eq!(told(&space, "/host:ROCTRACER").len(), 1);
    assert_eq!(
        space.warnings,
        [
            "GPU: 2 HIP calls left out: they started no kernel or copy",
            "GPU: 1 kernels and copies dropped: their HIP call was not recorded",
        ]
    );
    let space = run(folder.path(), "unmatched kept", &[]);
    let kernels = events(plane(&space, "/device:GPU:0"));
    assert_eq!(kernels.len(), 2);
    assert_eq!(stat(kernels[0].1, "correlation_id"), "");
    let calls: Vec<_> = told(&space, "/host:ROCTRACER")
        .into_iter()
        .map(|[_, name, range]| format!("{name} in {range}"))
        .collect();
    assert_eq!(
        calls,
        [
            "hipMalloc in range",
            "HIP function 9999 in range",
            "hipLaunchKernel in range"
        ]
    );
    assert_eq!(space.warnings, Vec::<String>::new());
}

fn late(hip: &Hip) -> XSpace {
    // Launched before any session, and between two: not recorded.
    hip.launch(GPU_0, 5, 0);
    let first = trace(|| {
        push("first");
        hip.launch(GPU_0, 5, 0);
        pop();
    });
    assert_eq!(
        names(&first),
        ["/host:ROCTX"],
        "the flush delivered nothing"
    );
    hip.launch(GPU_0, 5, 0);
    hip.deliver();
    trace(|| {
        push("second");
        hip.launch(GPU_1, 5, 0);
        pop();
        hip.deliver();
    })
}

#[test]
fn disable_isolates_next_session() {
    let folder = folder();
    let space = run(folder.path(), "late", &[("STAND_IN_LATE", "1")]);
    let kernels = told(&space, "/device:GPU:1");
    assert_eq!(kernels.len(), 1);
    assert_eq!(kernels[0][2], "second");
    assert_eq!(
        names(&space),
        ["/host:ROCTX", "/device:GPU:1", "/host:ROCTRACER"]
    );
    // The first session's kernel and its call, which came when there was no session.
    assert_eq!(
        space.warnings,
        ["GPU: 2 GPU records dropped: delivered after their session had stopped"]
    );
}

fn capacity(hip: &Hip) -> XSpace {
    let options = RocmTracerOptions {
        max_callback_api_events: 2,
        max_activity_api_events: 3,
        max_annotation_strings: 2,
        ..gpu_options()
    };
    with_options(options, || {
        for label in ["a", "b", "c", "a"] {
            AnnotationStack::push(label.as_bytes());
            hip.launch(GPU_0, 5, 0);
            AnnotationStack::pop();
        }
    })
}

#[test]
fn each_limit_counts_what_it_drops_and_says_how_to_raise_it() {
    let folder = folder();
    let space = run(folder.path(), "capacity", &[]);
    // Kernels whose HIP call was one too many are kept: the call was seen.
    let kernels: Vec<_> = events(plane(&space, "/device:GPU:0"))
        .into_iter()
        .map(|(_, kernel)| stat(kernel, "tf_op"))
        .collect();
    assert_eq!(kernels, ["a", "b", ""]);
    assert_eq!(told(&space, "/host:ROCTRACER").len(), 2);
    assert_eq!(
        space.warnings,
        [
            "GPU: 2 HIP calls dropped: the session's event limit was reached (raise \
             max_callback_api_events to keep more)",
            "GPU: 1 kernels and copies dropped: the session's limit was reached (raise \
             max_activity_api_events to keep more)",
            "GPU: 2 labels of launches were lost: the session's limit was reached (raise \
             max_annotation_strings to keep more)",
        ]
    );
}

fn bad_records(hip: &Hip) -> XSpace {
    trace(|| {
        let dispatch = |gpu, start, end| {
            hip.call(LAUNCH_KERNEL, 0, || hip.dispatch(gpu, 5, start, end));
        };
        dispatch(999, now(), now());
        dispatch(GPU_0, 0, 0);
        dispatch(GPU_0, now(), 1);
        dispatch(GPU_0, now(), u64::MAX);
        dispatch(GPU_0, u64::MAX, u64::MAX);
        hip.null_header();
        for kind in [5, 10, 11] {
            hip.raw_record(1, kind, 0, 0); // no content
            hip.raw_record(1, kind, 200, 0); // says it is empty
            hip.raw_record(1, kind, 200, 55); // says it is too short
        }
        hip.raw_record(1, 4_000_000_000, 64, 64);
        hip.raw_record(1, 0, 64, 64);
        hip.raw_record(3, 11, 200, 200);
        push("good");
        hip.launch(GPU_0, 5, 0);
        pop();
    })
}

#[test]
fn bad_records_are_counted_and_the_rest_is_kept() {
    let folder = folder();
    for version in LAYOUTS {
        for delivery in [vec![], vec![("STAND_IN_REVERSED", "1")]] {
            let environment = [vec![("STAND_IN_VERSION", version)], delivery].concat();
            let space = run(folder.path(), "bad records", &environment);
            let kernels = told(&space, "/device:GPU:0");
            assert_eq!(kernels.len(), 1, "{environment:?}");
            assert_eq!(kernels[0][2], "good");
            let counts: Vec<_> = space
                .warnings
                .iter()
                .filter(|warning| !warning.contains("by queue"))
                .collect();
            assert_eq!(
                counts,
                [
                    "GPU: 1 kernels and copies dropped: on a device that is not listed",
                    "GPU: 4 GPU events dropped: time outside the session",
                    "GPU: 10 GPU records dropped: empty or too short",
                    "GPU: 3 GPU records dropped: of a kind that was not asked for",
                ]
            );
        }
    }
}

#[test]
fn an_sdk_that_refuses_a_service_costs_what_the_service_gives_and_says_so() {
    let folder = folder();
    // What all is lost for.
    for failure in [
        "rocprofiler_query_available_agents=1",
        "rocprofiler_create_context=3",
        "rocprofiler_create_buffer=1",
        "rocprofiler_configure_buffer_tracing_service=15",
        "rocprofiler_start_context=11",
    ] {
        let space = run(folder.path(), "one kernel", &[("STAND_IN_FAIL", failure)]);
        let (function, status) = failure.split_once('=').unwrap();
        assert_eq!(
            names(&space),
            ["/host:ROCTX"],
            "{failure}: ranges are there"
        );
        let [warning] = space.warnings.as_slice() else {
            panic!("{failure}: {:?}", space.warnings)
        };
        let says = format!("{function} returned {status}");
        assert!(
            warning.starts_with("GPU: kernels and copies are not in this trace: ")
                && warning.contains(&says),
            "{warning}"
        );
    }
    // What is done without.
    let external = "rocprofiler_configure_external_correlation_id_request_service=1";
    for (failure, says) in [
        (
            "rocprofiler_configure_callback_tracing_service:20=15",
            "by queue",
        ),
        (external, "by queue"),
        (
            "rocprofiler_configure_callback_tracing_service:5=15",
            "carry no labels of ranges",
        ),
        (
            "rocprofiler_configure_callback_tracing_service:10=15",
            "numbers in place of names",
        ),
        (
            "rocprofiler_stop_context=1",
            "the last records may be missing",
        ),
        (
            "rocprofiler_flush_buffer=14",
            "the last records may be missing",
        ),
    ] {
        let space = run(folder.path(), "one kernel", &[("STAND_IN_FAIL", failure)]);
        assert_eq!(told(&space, "/device:GPU:1").len(), 1, "{failure}");
        assert!(
            space.warnings.iter().any(|warning| warning.contains(says)),
            "{failure}: {:?}",
            space.warnings
        );
    }
    // What makes no difference.
    for failure in [
        "rocprofiler_create_callback_thread=1",
        "rocprofiler_assign_callback_thread=1",
    ] {
        let space = run(folder.path(), "one kernel", &[("STAND_IN_FAIL", failure)]);
        assert_eq!(told(&space, "/device:GPU:1").len(), 1, "{failure}");
        assert_eq!(space.warnings, Vec::<String>::new(), "{failure}");
    }
}

#[test]
fn a_locked_configuration_is_told_by_its_name_whatever_its_number() {
    let folder = folder();
    for (version, failure) in [
        ("500", "rocprofiler_force_configure=15"),
        ("600", "rocprofiler_force_configure=16"),
        ("10000", "rocprofiler_force_configure=16"),
    ] {
        let environment = [("STAND_IN_VERSION", version), ("STAND_IN_FAIL", failure)];
        let space = run(folder.path(), "one kernel", &environment);
        assert!(
            space.warnings[0].contains("another profiler of this process has configured it"),
            "{:?}",
            space.warnings
        );
    }
}

#[test]
fn a_kernel_whose_code_was_loaded_before_this_profiler_listened_has_its_number() {
    let folder = folder();
    let space = run(folder.path(), "not prepared", &[]);
    assert_eq!(
        told(&space, "/device:GPU:0"),
        [["Stream #0(Kernel)", "kernel 5", "range"]]
    );
    assert!(
        space.warnings[0].starts_with("GPU: 1 kernels have a number in place of a name"),
        "{:?}",
        space.warnings
    );
}

#[test]
fn a_session_without_gpu_work_has_no_plane_and_no_warning_of_it() {
    let folder = folder();
    let space = run(folder.path(), "off", &[]);
    assert_eq!(space, XSpace::default());
    // AMD's ROCTX is there, so that the SDK is configured all the same, once.
    let space = run(folder.path(), "off at first", &[]);
    assert_eq!(space.planes, []);
    assert!(
        space.warnings[0].contains("GPU tracing was off in the session that configured"),
        "{:?}",
        space.warnings
    );
}

#[test]
fn an_sdk_that_is_not_there_is_a_warning_where_gpu_work_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let _one = common::one_at_a_time();
    let session = |gpu| {
        let options = RocmTracerOptions {
            gpu,
            sdk_folders: vec![folder.path().to_owned()],
            ..RocmTracerOptions::default()
        };
        with_options(options, || {
            push("range");
            pop();
        })
    };
    let space = session(GpuTracing::Auto);
    assert_eq!(space.warnings, Vec::<String>::new());
    let space = session(GpuTracing::On);
    assert_eq!(names(&space), ["/host:ROCTX"]);
    let [warning] = space.warnings.as_slice() else {
        panic!("{:?}", space.warnings)
    };
    assert!(
        warning.starts_with("GPU: kernels and copies are not in this trace: ")
            && warning.contains("$XPROF_ROCTX_SDK_PATH"),
        "{warning}"
    );
}

#[test]
fn a_flush_takes_records_in_and_the_session_goes_on() {
    let folder = folder();
    RocmTracer::singleton().flush().unwrap();
    let space = run(folder.path(), "flush", &[]);
    assert_eq!(told(&space, "/device:GPU:0").len(), 2);
    assert_eq!(space.warnings, Vec::<String>::new());
    let failure = [("STAND_IN_FAIL", "rocprofiler_flush_buffer=14")];
    let space = run(folder.path(), "flush", &failure);
    assert_eq!(told(&space, "/device:GPU:0").len(), 2);
}

fn ended(hip: &Hip) -> XSpace {
    let space = trace(|| {
        push("range");
        hip.launch(GPU_0, 5, 0);
        hip.finalize();
        pop();
    });
    let next = trace(|| {
        push("later");
        pop();
    });
    assert_eq!(names(&next), ["/host:ROCTX"]);
    assert!(
        next.warnings[0].contains("rocprofiler-sdk has ended"),
        "{:?}",
        next.warnings
    );
    space
}

#[test]
fn an_sdk_that_ends_before_the_session_is_not_called_again_and_its_records_are_kept() {
    let folder = folder();
    let space = run(folder.path(), "ended", &[]);
    assert_eq!(told(&space, "/device:GPU:0")[0][2], "range");
    assert_eq!(told(&space, "/host:ROCTX").len(), 1);
}

fn auto(hip: &Hip) -> XSpace {
    with_options(RocmTracerOptions::default(), || {
        hip.launch(GPU_0, 5, 0);
    })
}

#[test]
fn the_hip_runtime_in_the_process_is_reason_enough_and_the_sdk_is_found_beside_it() {
    let folder = folder();
    let hip = folder.path().join("libamdhip64.so.6");
    std::fs::copy(library(), hip).unwrap();
    let space = run(folder.path(), "auto", &[]);
    assert_eq!(names(&space), ["/device:GPU:0", "/host:ROCTRACER"]);
}

const THREADS: u64 = 4;
const LAUNCHES: u64 = 2_000;

fn many_threads(hip: &Hip) -> XSpace {
    for thread in 0..THREADS {
        hip.load_kernel(100 + thread, &format!("kernel_of_{thread}"));
    }
    let running = AtomicU64::new(THREADS);
    let mut spaces = Vec::new();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let running = &running;
            scope.spawn(move || {
                let label = format!("range_of_{thread}");
                for launch in 0..LAUNCHES {
                    push(&label);
                    hip.launch(GPU_0 + launch % 2, 100 + thread, thread + 1);
                    pop();
                    if launch % 64 == 0 {
                        hip.deliver();
                    }
                }
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        // Sessions come and go meanwhile; the last one outlives the launches.
        while running.load(Ordering::SeqCst) > 0 {
            spaces.push(trace(|| {
                let before = now();
                wait_until(before + 2_000_000);
            }));
        }
    });
    spaces.push(trace(|| {
        for thread in 0..THREADS {
            push(&format!("range_of_{thread}"));
            hip.launch(GPU_0, 100 + thread, 1);
            pop();
        }
    }));
    let mut all = XSpace::default();
    for space in spaces {
        all.planes.extend(space.planes);
    }
    all
}

#[test]
fn launches_of_many_threads_are_labelled_by_their_own_ranges_in_sessions_that_come_and_go() {
    let folder = folder();
    let space = run(folder.path(), "many threads", &[]);
    let mut labelled = [0; THREADS as usize];
    for plane in &space.planes {
        if !plane.name.starts_with("/device:GPU:") {
            continue;
        }
        for (_, kernel) in events(XPlaneVisitor::new(plane)) {
            let thread = kernel.name().strip_prefix("kernel_of_").unwrap();
            let label = stat(kernel, "nvtx_range");
            // A range that was opened before its session is none of it.
            if !label.is_empty() {
                assert_eq!(label, format!("range_of_{thread}"));
                labelled[thread.parse::<usize>().unwrap()] += 1;
            }
        }
    }
    assert!(labelled.iter().all(|&count| count > 0), "{labelled:?}");
}

fn child_of_a_fork(hip: &Hip) -> XSpace {
    trace(|| {
        hip.launch(GPU_0, 5, 0);
        // SAFETY: the child does what a forked child may and leaves.
        match unsafe { libc::fork() } {
            0 => {
                let available = RocmTracer::singleton().is_available();
                // What is delivered here finds no session.
                hip.deliver();
                // SAFETY: leaves at once.
                unsafe { libc::_exit(i32::from(!available)) };
            }
            child => {
                let mut status = 0;
                // SAFETY: a child of this process, and a place for its status.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0);
            }
        }
        hip.launch(GPU_0, 5, 0);
    })
}

#[test]
fn a_forked_child_is_without_the_session_and_the_parent_s_goes_on() {
    let folder = folder();
    let space = run(folder.path(), "child of a fork", &[]);
    assert_eq!(told(&space, "/device:GPU:0").len(), 2);
    assert_eq!(space.warnings, Vec::<String>::new());
}
