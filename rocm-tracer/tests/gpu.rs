//! HIP calls, kernels and copies, from a stand-in of rocprofiler-sdk to planes, in both layouts.

#![allow(missing_docs)]

mod common;
mod stand_in;

use common::{capture, export, pop, push};
use rocm_tracer::CollectorOptions;
use stand_in::*;
use tsl_profiler_lib::AnnotationStack;
use xplane_schema::proto::XSpace;

const LAYOUTS: [&str; 2] = ["600", "10000"];

fn trace(work: impl FnOnce()) -> XSpace {
    export(capture(gpu_options(), work), CollectorOptions::default())
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn child() {
    let hip = Hip::load(&folder_in_child());
    let space = match std::env::var("SCENARIO").unwrap().as_str() {
        "one kernel" => one_kernel(&hip),
        unknown => panic!("{unknown}"),
    };
    tell(&space);
}

fn one_kernel(hip: &Hip) -> XSpace {
    rocm_tracer::RocmTracer::singleton()
        .prepare(&gpu_options())
        .unwrap();
    hip.load_kernel(5, "_Z6vecaddPfS_S_.kd");
    trace(|| {
        push("forward");
        AnnotationStack::push(b"step#step_num=3#");
        AnnotationStack::push(b"fusion#hlo_op=add.1,step_num=4#");
        hip.launch(GPU_1, 5, 9);
        AnnotationStack::pop();
        AnnotationStack::pop();
        pop();
    })
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
        let calls = plane(&space, "/host:ROCTRACER");
        let calls = stand_in::events(calls);
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].1.name(), "hipLaunchKernel");
        assert_eq!(stat(calls[0].1, "nvtx_range"), "forward");
        assert_eq!(
            stat(calls[0].1, "correlation_id"),
            stat(kernel, "correlation_id")
        );
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
