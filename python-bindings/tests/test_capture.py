"""Capturing without JAX: ``xprof_roctx.trace`` and what it writes."""

import os
import pathlib
import re
import time

import pytest
from profiles import (
    ROW,
    WITHOUT_JAX,
    assert_rows_have_ids_of_their_own,
    host_rows,
    roctx_rows,
    run,
    run_python,
    session_start_ns,
    the_roctx_row,
    the_xplane,
    trace_json_rows,
    xplanes,
    xspace,
)

import xprof_roctx

# What this machine's clocks may be off by against each other.
CLOCK_ERROR_NS = 50_000


def capture(logdir, **options):
    return xprof_roctx.trace(logdir, **options)


def test_rows_labels_nesting_and_times_on_several_threads(logdir):
    source = WITHOUT_JAX + """
import threading, time, xprof_roctx
def clock():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)
def work(number):
    times = [clock()]
    with xprof_roctx.TraceAnnotation(f"outer {number}"):
        times.append(clock())
        with xprof_roctx.TraceAnnotation("inner"):
            times += [clock(), clock()]
        xprof_roctx.mark("mark")
        times.append(clock())
    times.append(clock())
    line = " ".join(map(str, [number, threading.get_native_id(), *times]))
    print(f"{line}\\n", end="", flush=True)
with xprof_roctx.trace(sys.argv[1]):
    barrier = threading.Barrier(3)
    def thread(number):
        barrier.wait()
        work(number)
        barrier.wait()
    threads = [threading.Thread(target=thread, args=(n,)) for n in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    work(3)
"""
    lines = run_python(source, logdir).stdout.splitlines()
    path = the_xplane(logdir)
    start = session_start_ns(path)
    rows = roctx_rows(path)
    assert len(rows) == 4
    for line in lines:
        number, tid, t0, t1, t2, t3, t4, t5 = map(int, line.split())
        row = rows[f"{ROW}{tid}"]
        assert row.labels == [f"outer {number}", "inner", "mark"]
        outer, inner, mark = row.events
        assert outer.start_ns <= inner.start_ns <= inner.end_ns <= mark.start_ns <= outer.end_ns
        assert mark.start_ns == mark.end_ns
        for low, event, high in [
            (t0, outer.start_ns, t1),
            (t1, inner.start_ns, t2),
            (t3, inner.end_ns, t4),
            (t3, mark.start_ns, t4),
            (t4, outer.end_ns, t5),
        ]:
            assert low - start - CLOCK_ERROR_NS <= event <= high - start + CLOCK_ERROR_NS
        assert outer.stats["nvtx_range"] == f"outer {number}"
    assert_rows_have_ids_of_their_own(path)
    assert list(xspace(path).warnings) == []


def test_the_host_row_has_the_annotation_and_its_metadata(logdir):
    source = WITHOUT_JAX + """
import xprof_roctx
with xprof_roctx.trace(sys.argv[1]):
    with xprof_roctx.TraceAnnotation("load", batch=32, kind="train") as annotation:
        annotation.set_metadata(late=1)
    with xprof_roctx.StepTraceAnnotation("train", step_num=7):
        pass
"""
    run_python(source, logdir)
    path = the_xplane(logdir)
    assert the_roctx_row(path).labels == ["load", "train"]
    (host,) = [row for row in host_rows(path) if "ROCTX" not in row.name]
    load, train = host.the("load"), host.the("train")
    assert {"batch": 32, "kind": "train", "late": 1}.items() <= load.stats.items()
    assert train.stats["step_num"] == 7
    assert train.stats["_r"] == 1
    roctx = the_roctx_row(path).the("load")
    assert abs(roctx.start_ns - load.start_ns) < CLOCK_ERROR_NS
    assert abs(roctx.end_ns - load.end_ns) < CLOCK_ERROR_NS


def test_files_are_in_tensorboards_layout(logdir):
    with capture(logdir, run="a run", host="a-host") as session:
        xprof_roctx.mark("here")
    run = logdir / "plugins" / "profile" / "a run"
    assert pathlib.Path(session.files.directory) == run
    assert sorted(os.listdir(run)) == ["a-host.trace.json.gz", "a-host.xplane.pb"]
    path = run / "a-host.xplane.pb"
    assert pathlib.Path(session.files.xplane) == path
    assert list(xspace(path).hostnames) == ["a-host"]
    (row,) = [events for name, events in trace_json_rows(path).items() if "ROCTX" in name]
    assert [event["name"] for event in row] == ["here"]


def test_runs_of_one_second_do_not_overwrite_each_other(logdir):
    for _ in range(3):
        with capture(logdir):
            xprof_roctx.mark("here")
    assert len(xplanes(logdir)) == 3


def test_one_short_range_is_not_lost(logdir):
    with capture(logdir):
        xprof_roctx.range_push("tiny")
        xprof_roctx.range_pop()
    assert the_roctx_row(the_xplane(logdir)).labels == ["tiny"]


def test_a_session_with_nothing_in_it_opens(logdir):
    with capture(logdir):
        pass
    assert roctx_rows(the_xplane(logdir)) == {}


def test_rows_beneath_the_host_threads(logdir):
    import threading

    with capture(logdir, row_style="beneath"):
        xprof_roctx.mark("here")
    tid = threading.get_native_id()
    assert the_roctx_row(the_xplane(logdir)).name == f"Host Threads/{tid}/ROCTX"


def test_a_range_that_another_thread_ends(logdir):
    import threading

    with capture(logdir):
        range_id = xprof_roctx.range_start("io")
        thread = threading.Thread(target=xprof_roctx.range_stop, args=(range_id,))
        thread.start()
        thread.join()
    row = the_roctx_row(the_xplane(logdir))
    assert "Async" in row.name
    (event,) = row.events
    assert event.name == "io"
    assert event.end_ns > event.start_ns


def test_an_open_range_is_kept_up_to_the_stop(logdir):
    with capture(logdir):
        xprof_roctx.range_push("open")
        xprof_roctx.mark("inside")
    xprof_roctx.range_pop()
    row = the_roctx_row(the_xplane(logdir))
    event = row.the("open")
    assert event.stats["truncated"] == 1
    assert event.end_ns >= row.the("inside").end_ns


def test_a_thread_that_ended_is_kept(logdir):
    import threading

    tids = []

    def work():
        tids.append(threading.get_native_id())
        xprof_roctx.range_push("in thread")
        xprof_roctx.range_pop()

    with capture(logdir):
        threads = [threading.Thread(target=work) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = roctx_rows(the_xplane(logdir))
    assert set(rows) == {f"{ROW}{tid}" for tid in tids}
    assert sum(len(row.events) for row in rows.values()) == 50


def test_names_of_threads_are_shown(logdir):
    source = """
        import sys, threading, xprof_roctx
        xprof_roctx.name_current_thread("loader")
        with xprof_roctx.trace(sys.argv[1]):
            xprof_roctx.mark("here")
    """
    run_python(source, logdir)
    assert "loader" in the_roctx_row(the_xplane(logdir)).name


def test_sessions_do_not_leak_into_each_other(logdir):
    first, second = logdir / "1", logdir / "2"
    xprof_roctx.mark("before")
    with capture(first):
        xprof_roctx.range_push("closed in the next session")
        xprof_roctx.mark("first")
    xprof_roctx.mark("between")
    with capture(second):
        xprof_roctx.range_pop()
        xprof_roctx.mark("second")
    assert the_roctx_row(the_xplane(first)).labels == ["closed in the next session", "first"]
    assert the_roctx_row(the_xplane(second)).labels == ["second"]


def test_a_second_start_is_refused_and_the_first_goes_on(logdir):
    with capture(logdir):
        with pytest.raises(xprof_roctx.TraceError, match="already running"):
            xprof_roctx.start_trace(logdir / "other")
        xprof_roctx.mark("after")
    assert the_roctx_row(the_xplane(logdir)).labels == ["after"]
    assert not (logdir / "other").exists()


def test_a_session_stopped_twice_or_never_started():
    with pytest.raises(xprof_roctx.TraceError, match="start_trace"):
        xprof_roctx.stop_trace()


def test_an_exception_inside_is_passed_on_and_the_profile_written(logdir):
    with pytest.raises(ZeroDivisionError):
        with capture(logdir):
            with xprof_roctx.TraceAnnotation("fails"):
                1 / 0
    assert the_roctx_row(the_xplane(logdir)).labels == ["fails"]


def test_past_the_cap_markers_are_counted_and_the_profile_says_so(logdir):
    with capture(logdir, max_events=10) as session:
        for number in range(25):
            xprof_roctx.mark(f"mark {number}")
    path = the_xplane(logdir)
    assert the_roctx_row(path).labels == [f"mark {number}" for number in range(10)]
    (warning,) = xspace(path).warnings
    assert "15" in warning and "10" in warning
    assert session.files.warnings == [warning]


@pytest.mark.parametrize("value", ["0", "false"])
def test_ranges_can_be_switched_off(logdir, value):
    source = """
        import sys, xprof_roctx
        with xprof_roctx.trace(sys.argv[1]):
            with xprof_roctx.TraceAnnotation("host only"):
                xprof_roctx.mark("not there")
                xprof_roctx.range_push("nor this")
                xprof_roctx.range_pop()
    """
    run_python(source, logdir, env={"XLA_ROCM_ENABLE_ROCTX": value})
    path = the_xplane(logdir)
    assert roctx_rows(path) == {}
    assert [row.labels for row in host_rows(path)] == [["host only"]]


def test_a_switch_that_says_neither_is_named_and_ranges_stay_on(logdir):
    source = """
        import sys, xprof_roctx
        with xprof_roctx.trace(sys.argv[1]):
            xprof_roctx.mark("here")
    """
    done = run_python(source, logdir, env={"XLA_ROCM_ENABLE_ROCTX": "maybe"})
    assert the_roctx_row(the_xplane(logdir)).labels == ["here"]
    assert "maybe" in done.stderr and done.stderr.count("XLA_ROCM_ENABLE_ROCTX") == 1


LABELS = {
    "text": ("plain", "plain"),
    "unicode": ("schön 🚀", "schön 🚀"),
    "colons": ("a::b::c", "a::b::c"),
    "hash": ("a#b#", "a#b#"),
    "metadata-like": ("name#k=v#", "name#k=v#"),
    "mangled": ("_ZN3foo3barEv", "_ZN3foo3barEv"),
    "percent": ("%s %n", "%s %n"),
    "html": ("<script>&amp;", "<script>&amp;"),
    "newline": ("two\nlines", "two\nlines"),
    "bytes": (b"bytes", "bytes"),
    "not utf-8": (b"ab\xff\xfecd", "ab\ufffd\ufffdcd"),
    "surrogates": ("ab\udcffcd", "ab\ufffdcd"),
    "64 KiB": ("x" * 65536, "x" * 65536),
}


def test_labels_of_every_kind_as_ranges_and_marks(logdir):
    with capture(logdir):
        for label, _ in LABELS.values():
            xprof_roctx.range_push(label)
            xprof_roctx.mark(label)
            xprof_roctx.range_pop()
    path = the_xplane(logdir)
    expected = [shown for _, shown in LABELS.values() for _ in range(2)]
    assert the_roctx_row(path).labels == expected
    xspace(path)  # a string that is not UTF-8 would be refused


def test_labels_of_every_kind_as_annotations(logdir):
    with capture(logdir):
        for label, _ in LABELS.values():
            with xprof_roctx.TraceAnnotation(label):
                pass
    path = the_xplane(logdir)
    assert the_roctx_row(path).labels == [shown for _, shown in LABELS.values()]
    xspace(path)


def test_null_and_empty_labels_keep_the_stack_balanced(logdir):
    with capture(logdir) as session:
        xprof_roctx.range_push("outer")
        for label in (None, "", b""):
            xprof_roctx.range_push(label)
            xprof_roctx.mark("inside")
            xprof_roctx.range_pop()
            xprof_roctx.mark(label)
        xprof_roctx.mark("still in outer")
        xprof_roctx.range_pop()
    row = the_roctx_row(the_xplane(logdir))
    assert row.labels == ["outer", "inside", "inside", "inside", "still in outer"]
    assert row.the("still in outer").end_ns <= row.the("outer").end_ns
    (warning,) = session.files.warnings
    assert "6" in warning and "label" in warning


def test_a_label_with_a_nul_is_one_label(logdir):
    with capture(logdir):
        xprof_roctx.range_push("before\0after")
        xprof_roctx.range_pop()
        with xprof_roctx.TraceAnnotation("left\0right"):
            pass
    labels = the_roctx_row(the_xplane(logdir)).labels
    assert len(labels) == 2
    assert labels[0].startswith("before") and labels[1].startswith("left")


def test_a_label_of_a_mebibyte_is_whole_or_visibly_cut(logdir):
    label = "y" * (1 << 20)
    with capture(logdir) as session:
        xprof_roctx.mark(label)
    (shown,) = the_roctx_row(the_xplane(logdir)).labels
    if shown != label:
        assert shown.startswith("y" * 1000) and shown.endswith("...[truncated]")
        assert session.files.warnings


@pytest.mark.parametrize("label", [3, 1.5, object(), ["a"]])
def test_what_is_no_label_is_a_type_error(label):
    for function in (xprof_roctx.mark, xprof_roctx.range_push, xprof_roctx.TraceAnnotation):
        with pytest.raises(TypeError, match="str or bytes"):
            function(label)


def test_an_unmatched_pop_is_harmless(logdir):
    with capture(logdir):
        for _ in range(3):
            xprof_roctx.range_pop()
        xprof_roctx.range_push("after")
        xprof_roctx.range_pop()
    assert the_roctx_row(the_xplane(logdir)).labels == ["after"]


def test_a_log_directory_that_is_a_file_is_found_before_the_work(tmp_path):
    path = tmp_path / "file"
    path.write_text("not a folder")
    for logdir in (path, path / "below"):
        with pytest.raises(xprof_roctx.TraceWriteError, match=re.escape(str(path))) as raised:
            xprof_roctx.start_trace(logdir)
        assert raised.value.logdir == str(logdir)
        assert raised.value.saved_to is None
    with pytest.raises(xprof_roctx.TraceError, match="no session"):
        xprof_roctx.stop_trace()
    assert not xprof_roctx.TraceAnnotation.is_enabled()


def test_a_log_directory_that_cannot_be_written_is_found_before_the_work():
    # Even root cannot make a folder there.
    with pytest.raises(xprof_roctx.TraceWriteError, match="/proc"):
        xprof_roctx.start_trace("/proc/xprof-roctx")


def test_a_directory_lost_meanwhile_does_not_lose_the_capture(tmp_path, temporary_folder):
    logdir = tmp_path / "log"
    xprof_roctx.start_trace(logdir)
    xprof_roctx.mark("precious")
    for folder, _, files in os.walk(logdir, topdown=False):
        for name in files:
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    logdir.write_text("somebody's file")
    with pytest.raises(xprof_roctx.TraceWriteError) as raised:
        xprof_roctx.stop_trace()
    error = raised.value
    assert str(logdir) in str(error) and error.saved_to in str(error)
    assert error.logdir == str(logdir)
    saved_to = pathlib.Path(error.saved_to)
    assert saved_to.parent == temporary_folder
    assert saved_to.stat().st_mode & 0o777 == 0o700
    assert the_roctx_row(the_xplane(saved_to)).labels == ["precious"]
    assert logdir.read_text() == "somebody's file"
    # The session is over.
    with capture(tmp_path / "next"):
        pass


def test_a_capture_that_could_not_be_written_anywhere_can_be_written_later(tmp_path):
    source = """
        import os, shutil, sys, xprof_roctx
        logdir, other = sys.argv[1:]
        xprof_roctx.start_trace(logdir)
        xprof_roctx.mark("precious")
        shutil.rmtree(logdir)
        open(logdir, "w").close()
        os.environ["TMPDIR"] = "/proc"
        try:
            xprof_roctx.stop_trace()
        except xprof_roctx.TraceWriteError as error:
            print(error.saved_to, "in memory" in str(error))
        try:
            xprof_roctx.start_trace(other)
        except xprof_roctx.TraceError as error:
            print("stop_trace(logdir=" in str(error))
        print(xprof_roctx.stop_trace(other).xplane)
    """
    first, second, third = run_python(
        source, tmp_path / "log", tmp_path / "other"
    ).stdout.splitlines()
    assert (first, second) == ("None True", "True")
    assert the_roctx_row(pathlib.Path(third)).labels == ["precious"]


def test_a_full_disk_leaves_no_half_file_and_loses_nothing(small_filesystem):
    source = """
        import os, sys, xprof_roctx
        logdir = sys.argv[1]
        xprof_roctx.start_trace(logdir)
        for number in range(20000):
            xprof_roctx.mark(f"mark {number}")
        with open(os.path.join(logdir, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        try:
            xprof_roctx.stop_trace()
        except xprof_roctx.TraceWriteError as error:
            print(error)
            print(error.saved_to)
    """
    message, saved_to = run_python(source, small_filesystem).stdout.splitlines()
    assert "No space left" in message
    assert xplanes(small_filesystem) == []
    assert [path for path in small_filesystem.rglob("*") if path.is_file()] == [
        small_filesystem / "filler"
    ]
    assert len(the_roctx_row(the_xplane(saved_to)).labels) == 20000


@pytest.fixture
def small_filesystem(tmp_path):
    import subprocess

    folder = tmp_path / "small"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], capture_output=True, text=True
    )
    if mount.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mount.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(
    "end", ["pass", "sys.exit(3)", "raise ValueError('boom')"], ids=["end", "exit", "exception"]
)
def test_a_session_open_at_exit_is_written(logdir, end):
    source = f"""
        import sys, xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        xprof_roctx.mark("at the end")
        xprof_roctx.range_push("never closed")
        {end}
    """
    done = run_python(source, logdir, check=False)
    assert done.returncode == {"pass": 0, "sys.exit(3)": 3}.get(end, 1)
    path = the_xplane(logdir)
    assert the_roctx_row(path).labels == ["at the end", "never closed"]
    assert str(path) in done.stderr


def test_a_session_open_at_exit_that_cannot_be_written_says_where_it_is(logdir):
    source = """
        import shutil, sys, xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        xprof_roctx.mark("precious")
        shutil.rmtree(sys.argv[1])
        open(sys.argv[1], "w").close()
    """
    done = run_python(source, logdir)
    assert "Traceback" not in done.stderr
    saved_to = re.search(r"saved in (\S+);", done.stderr).group(1)
    assert the_roctx_row(the_xplane(saved_to)).labels == ["precious"]


def test_a_forked_child_has_no_part_in_its_parents_session(logdir):
    source = """
        import os, sys, xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        xprof_roctx.mark("parent")
        pid = os.fork()
        if pid == 0:
            xprof_roctx.mark("child")
            try:
                xprof_roctx.stop_trace()
            except xprof_roctx.TraceError:
                with xprof_roctx.trace(sys.argv[2]):
                    with xprof_roctx.TraceAnnotation("child's own"):
                        print(os.getpid(), flush=True)
                sys.exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        xprof_roctx.mark("parent again")
        xprof_roctx.stop_trace()
    """
    child = logdir.with_name("child")
    done = run_python(source, logdir, child)
    pid, code = done.stdout.split()
    assert code == "7"
    assert the_roctx_row(the_xplane(logdir)).labels == ["parent", "parent again"]
    row = the_roctx_row(the_xplane(child))
    assert (row.name, row.labels) == (f"{ROW}{pid}", ["child's own"])


def test_a_waiting_stop_does_not_hold_the_interpreter(logdir):
    """A stop runs while another thread needs the interpreter: both come to an end."""
    source = """
        import sys, threading, xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        go = threading.Event()
        def annotate():
            while not go.is_set():
                with xprof_roctx.TraceAnnotation("busy"):
                    pass
        threads = [threading.Thread(target=annotate) for _ in range(4)]
        for thread in threads: thread.start()
        for _ in range(20):
            xprof_roctx.stop_trace()
            xprof_roctx.start_trace(sys.argv[1])
        go.set()
        for thread in threads: thread.join()
        xprof_roctx.stop_trace()
    """
    run_python(source, logdir)
    assert len(xplanes(logdir)) == 21


@pytest.mark.parametrize("kind", ["text", "other library", "missing"])
def test_a_wrong_roctx_library_is_named_and_another_serves(logdir, tmp_path, kind):
    library = tmp_path / "librocprofiler-sdk-roctx.so.1"
    if kind == "text":
        library.write_text("this is no library")
    elif kind == "other library":
        source = tmp_path / "empty.c"
        source.write_text("int nothing_of_roctx;")
        run(["gcc", "-shared", "-o", library, source])
    source = """
        import sys, xprof_roctx
        with xprof_roctx.trace(sys.argv[1]):
            xprof_roctx.mark("here")
    """
    done = run_python(source, logdir, env={"XPROF_ROCTX_LIBRARY": str(library)})
    assert str(library) in done.stderr and "XPROF_ROCTX_LIBRARY" in done.stderr
    assert "Traceback" not in done.stderr
    assert the_roctx_row(the_xplane(logdir)).labels == ["here"]


def test_many_short_sessions_do_not_grow(logdir):
    source = """
        import sys, xprof_roctx
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096
        def session():
            with xprof_roctx.trace(sys.argv[1], run="same"):
                for number in range(200):
                    with xprof_roctx.TraceAnnotation(f"label {number}"):
                        pass
        for _ in range(50): session()
        before = resident()
        for _ in range(300): session()
        print(resident() - before)
    """
    growth = int(run_python(source, logdir).stdout)
    assert growth < 4 << 20


def test_time_passes_between_events_as_the_clock_says(logdir):
    with capture(logdir):
        xprof_roctx.mark("first")
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        while time.clock_gettime_ns(time.CLOCK_BOOTTIME) - before < 20_000_000:
            pass
        xprof_roctx.mark("second")
    row = the_roctx_row(the_xplane(logdir))
    assert row.the("second").start_ns - row.the("first").start_ns >= 20_000_000 - CLOCK_ERROR_NS
