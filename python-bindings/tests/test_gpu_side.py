"""What rocm-tracer makes of kernels and copies, read by jaxlib: a training step that its own test
plays on two GPUs that are not there."""

import os
import pathlib
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    """The step's planes by name, as jaxlib reads them: lines, each a list of (name, stats)."""
    profiler = pytest.importorskip("jax.profiler")
    if profiler.ProfileData is None:
        pytest.skip("this jaxlib has no ProfileData")
    path = tmp_path_factory.mktemp("step") / "step.xplane.pb"
    command = ["cargo", "test", "--quiet", "--package", "rocm-tracer", "--test", "training_step"]
    environment = os.environ | {"XPROF_ROCTX_KEEP": str(path)}
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.DEVNULL)
    return {
        plane.name: {
            line.name: [(event.name, dict(event.stats)) for event in line.events]
            for line in plane.lines
        }
        for plane in profiler.ProfileData.from_file(str(path)).planes
    }


def test_each_kernel_carries_the_labels_of_its_launch(step):
    gemm = "void xla::gpu::gemm<float>(float const*, float const*, float*, int)"
    keys = ("nvtx_range", "roctx_path", "tf_op", "hlo_op", "hlo_module")
    kernels = {
        plane: [
            (event, *(stats.get(key) for key in keys))
            for line, events in step[plane].items()
            if "Kernel" in line
            for event, stats in events
        ]
        for plane in ("/device:GPU:0", "/device:GPU:1")
    }
    outer = "train_step"
    forward = f"{outer}::forward"
    backward = ("backward", f"{outer}::backward", outer, None, None)
    assert kernels == {
        "/device:GPU:0": [
            (gemm, "dense_1", f"{forward}::dense_1", outer, "dot.1", "jit_step"),
            ("loop_add_fusion", "forward", forward, outer, None, "jit_step"),
            (gemm, *backward),
            ("loop_add_fusion", *backward),
            ("input_reduce_fusion", *backward),
            ("MemcpyD2D", *backward),
        ],
        "/device:GPU:1": [
            (gemm, "replica_1", "replica_1", "replica_1", None, None),
            ("ncclDevKernel_AllReduce", "all_reduce", "replica_1::all_reduce", "replica_1", None, None),
        ],
    }


def test_hip_calls_are_beside_the_ranges_and_joined_to_their_kernels(step):
    host = step["/host:CPU"]
    rows = {name.split("/")[0] for name in host}
    assert rows == {"Host Threads", "ROCTX Threads"}
    calls = {
        stats["correlation_id"]: (event, stats.get("nvtx_range"))
        for name, events in host.items()
        if name.startswith("Host Threads/")
        for event, stats in events
    }
    assert len(calls) == 7
    work = [
        stats
        for plane in ("/device:GPU:0", "/device:GPU:1")
        for events in step[plane].values()
        for _, stats in events
    ]
    assert len(work) == 10
    for stats in work:
        call, label = calls[stats["correlation_id"]]
        assert call.startswith("hip")
        assert stats.get("nvtx_range") == label
