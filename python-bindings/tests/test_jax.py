"""Beside stock JAX: ``jax.profiler.trace`` captures ROCTX, and our own capture works with JAX loaded."""

import pytest
from profiles import (
    ROW,
    WARNINGS_ROW,
    assert_rows_have_ids_of_their_own,
    host_rows,
    roctx_rows,
    run_python,
    session_start_ns,
    the_roctx_row,
    the_xplane,
    trace_json_rows,
    xplanes,
    xspace,
)

CLOCK_ERROR_NS = 50_000

TRAINING = """
import sys, threading, time
import jax, jax.numpy as jnp, xprof_roctx
def clock():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)
step = jax.jit(lambda x: jnp.tanh(x @ x))
def train(steps):
    x = jnp.ones((64, 64))
    for number in range(steps):
        with xprof_roctx.StepTraceAnnotation("train", step_num=number):
            with xprof_roctx.TraceAnnotation("compute", size=64):
                before = clock()
                with jax.profiler.TraceAnnotation("stock"):
                    x = step(x)
                    x.block_until_ready()
                after = clock()
            line = f"{threading.get_native_id()} {number} {before} {after}\\n"
            print(line, end="", flush=True)
"""


def check_training(path, lines):
    """Ranges enclose the work inside them, by a stranger's TraceMe and by the plain clock."""
    start = session_start_ns(path)
    rows = roctx_rows(path)
    host = host_rows(path)
    tids = {int(line.split()[0]) for line in lines}
    assert set(rows) == {f"{ROW}{tid}" for tid in tids}
    stock = sorted(
        (event.start_ns, event.end_ns)
        for row in host
        if "ROCTX" not in row.name
        for event in row.events
        if event.name == "stock"
    )
    inside = 0
    for line in lines:
        tid, number, before, after = map(int, line.split())
        row = rows[f"{ROW}{tid}"]
        steps = [event for event in row.events if event.name == "train"]
        computes = [event for event in row.events if event.name == "compute"]
        train, compute = steps[number], computes[number]
        assert train.start_ns <= compute.start_ns <= compute.end_ns <= train.end_ns
        assert compute.start_ns <= before - start + CLOCK_ERROR_NS
        assert compute.end_ns >= after - start - CLOCK_ERROR_NS
        # The annotation's own cost aside, the range is no longer than the work.
        for begin, end in stock:
            if compute.start_ns <= begin + CLOCK_ERROR_NS and end <= compute.end_ns + CLOCK_ERROR_NS:
                inside += 1
    if stock:
        assert len(stock) == len(lines) and inside >= len(lines)
    assert_rows_have_ids_of_their_own(path)


def test_jax_profiler_trace_captures_rows_on_several_threads(logdir):
    source = TRAINING + """
train(1)
with jax.profiler.trace(sys.argv[1]):
    print("go", flush=True)
    threads = [threading.Thread(target=train, args=(3,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    train(2)
"""
    lines = run_python(source, logdir).stdout.splitlines()
    lines = lines[lines.index("go") + 1 :]
    path = the_xplane(logdir)
    check_training(path, lines)
    # jaxlib's own export, which XProf's older viewer reads.
    assert {name for name in trace_json_rows(path) if "ROCTX" in name} == set(roctx_rows(path))
    assert [plane.name for plane in xspace(path).planes if plane.lines].count("/host:CPU") == 1
    # The same annotation is on the host row, as with JAX's own class.
    steps = [
        event
        for row in host_rows(path)
        if "ROCTX" not in row.name
        for event in row.events
        if event.name == "train"
    ]
    assert sorted(event.stats["step_num"] for event in steps) == [0, 0, 0, 1, 1, 1, 2, 2]
    computes = [
        event
        for row in host_rows(path)
        if "ROCTX" not in row.name
        for event in row.events
        if event.name == "compute"
    ]
    assert {str(event.stats["size"]) for event in computes} == {"64"}


def test_own_trace_with_jax_loaded(logdir):
    source = TRAINING + """
train(1)
with xprof_roctx.trace(sys.argv[1]):
    print("go", flush=True)
    thread = threading.Thread(target=train, args=(3,))
    thread.start()
    thread.join()
    train(2)
"""
    lines = run_python(source, logdir).stdout.splitlines()
    check_training(the_xplane(logdir), lines[lines.index("go") + 1 :])


def test_a_stock_event_in_a_range_and_a_range_in_a_stock_event(logdir):
    source = """
        import sys, jax, xprof_roctx
        with jax.profiler.trace(sys.argv[1]):
            for _ in range(20):
                with xprof_roctx.TraceAnnotation("range outside"):
                    with jax.profiler.TraceAnnotation("stock inside"):
                        sum(range(1000))
                with jax.profiler.TraceAnnotation("stock outside"):
                    xprof_roctx.range_push("range inside")
                    sum(range(1000))
                    xprof_roctx.range_pop()
    """
    run_python(source, logdir)
    path = the_xplane(logdir)
    events = {}
    for row in host_rows(path):
        for event in row.events:
            if event.name == "range outside" and "ROCTX" not in row.name:
                continue  # the host row's copy of our annotation
            events.setdefault(event.name, []).append(event)
    for outer, inner in [("range outside", "stock inside"), ("stock outside", "range inside")]:
        assert len(events[outer]) == len(events[inner]) == 20
        for around, inside in zip(events[outer], events[inner]):
            assert around.start_ns <= inside.start_ns + CLOCK_ERROR_NS
            assert inside.end_ns <= around.end_ns + CLOCK_ERROR_NS


def test_jax_sessions_one_after_another_are_isolated(logdir):
    source = """
        import sys, jax, xprof_roctx
        for number in range(3):
            with jax.profiler.trace(f"{sys.argv[1]}/{number}"):
                xprof_roctx.mark(f"session {number}")
            xprof_roctx.mark("between")
    """
    run_python(source, logdir)
    for number in range(3):
        assert the_roctx_row(the_xplane(logdir / str(number))).labels == [f"session {number}"]


def test_a_jax_session_without_markers_is_as_without_the_package(logdir):
    source = """
        import sys, jax
        with jax.profiler.trace(sys.argv[1]):
            jax.numpy.ones(3).block_until_ready()
    """
    run_python(source, logdir)
    path = the_xplane(logdir)
    assert roctx_rows(path) == {}
    names = [plane.name for plane in xspace(path).planes]
    assert "/host:NVTX-CUPTI" not in names and "/host:ROCTX" not in names


def test_the_profiler_leaves_jaxs_back_ends_alone():
    source = """
        import jax
        print([device.platform for device in jax.devices()])
        import xprof_roctx.jax_plugin
        xprof_roctx.jax_plugin.initialize()
        xprof_roctx.jax_plugin.initialize()
        print(jax.numpy.arange(4).sum())
    """
    assert run_python(source).stdout.splitlines() == ["['cpu']", "6"]


def test_registered_twice_no_row_appears_twice(logdir):
    source = """
        import sys, jax, importlib, xprof_roctx, xprof_roctx.jax_plugin as plugin
        plugin.initialize()
        importlib.reload(plugin).initialize()
        with jax.profiler.trace(sys.argv[1]):
            xprof_roctx.mark("once")
    """
    run_python(source, logdir)
    assert the_roctx_row(the_xplane(logdir)).labels == ["once"]


def test_own_session_inside_jaxs_is_refused_and_jaxs_is_whole(logdir):
    source = """
        import sys, jax, xprof_roctx
        with jax.profiler.trace(sys.argv[1]):
            try:
                xprof_roctx.start_trace(sys.argv[1] + "-own")
            except xprof_roctx.TraceError as error:
                print(type(error).__name__, error)
            xprof_roctx.mark("here")
    """
    out = run_python(source, logdir).stdout
    assert out.startswith("TraceError") and "already running" in out
    assert the_roctx_row(the_xplane(logdir)).labels == ["here"]


def test_jaxs_session_inside_our_own_says_why_it_has_no_rows(logdir):
    own = logdir.with_name("own")
    source = """
        import sys, jax, xprof_roctx
        with xprof_roctx.trace(sys.argv[2]):
            with jax.profiler.trace(sys.argv[1]):
                xprof_roctx.mark("here")
            xprof_roctx.mark("and here")
    """
    done = run_python(source, logdir, own)
    assert roctx_rows(the_xplane(logdir)) == {}
    assert the_roctx_row(the_xplane(own)).labels == ["here", "and here"]
    assert "already running" in done.stderr


def test_drops_are_told_in_the_profile_and_in_the_log(logdir):
    source = """
        import sys, jax, xprof_roctx
        with jax.profiler.trace(sys.argv[1]):
            for number in range(25):
                xprof_roctx.mark(f"mark {number}")
    """
    done = run_python(source, logdir, env={"XPROF_ROCTX_MAX_EVENTS": "10"})
    path = the_xplane(logdir)
    assert len(the_roctx_row(path).labels) == 10
    assert "15 markers dropped" in done.stderr
    # jaxlib keeps the planes of a plug-in, not its warnings.
    (warning,) = roctx_rows(path)[WARNINGS_ROW].labels
    assert "15 markers dropped" in warning and "max_callback_api_events" in warning


def test_labels_of_every_kind_reach_jaxs_profile(logdir):
    source = """
        import sys, jax, xprof_roctx
        with jax.profiler.trace(sys.argv[1]):
            for label in ["a::b", "a#b", "name#k=v#", b"ab\\xff", None, "", "_Z3foov", "x" * 65536]:
                xprof_roctx.range_push(label)
                xprof_roctx.range_pop()
                if label:
                    with xprof_roctx.TraceAnnotation(label):
                        pass
    """
    run_python(source, logdir)
    path = the_xplane(logdir)
    expected = ["a::b", "a#b", "name#k=v#", "ab\ufffd", "_Z3foov", "x" * 65536]
    assert the_roctx_row(path).labels == [label for label in expected for _ in range(2)]
    xspace(path)


def test_interpreter_exit_inside_a_jax_session():
    source = """
        import sys, jax, xprof_roctx
        jax.profiler.start_trace("/nowhere")
        xprof_roctx.mark("here")
        xprof_roctx.range_push("open")
    """
    run_python(source)


def test_remote_capture_through_jaxs_profiler_server(logdir):
    """`jax.profiler.start_server` and XProf's own client, on loopback."""
    pytest.importorskip("xprof")
    source = """
        import socket, sys, threading, time
        import jax, xprof_roctx
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        jax.profiler.start_server(port)
        done = threading.Event()
        def work():
            while not done.is_set():
                with xprof_roctx.TraceAnnotation("served"):
                    sum(range(1000))
        thread = threading.Thread(target=work)
        thread.start()
        from xprof.convert import _pywrap_profiler_plugin
        try:
            _pywrap_profiler_plugin.trace(
                f"127.0.0.1:{port}", sys.argv[1], "", True, 300, 3, {}
            )
        finally:
            done.set()
            thread.join()
    """
    run_python(source, logdir)
    (path,) = xplanes(logdir)
    assert "served" in the_roctx_row(path).labels
