"""Programs that know nothing of this package: AMD's Python client, and C that dlopens the library."""

import shutil
import sys
import textwrap

import pytest
from profiles import (
    ROW,
    assert_rows_have_ids_of_their_own,
    roctx_rows,
    run,
    run_python,
    the_roctx_row,
    the_xplane,
    xplanes,
)

C_PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static int (*push)(const char*);
static int (*pop)(void);
static void (*mark)(const char*);
static uint64_t (*start)(const char*);
static void (*stop)(uint64_t);
static void* work(void* name) {
  for (int i = 0; i < 3; ++i) {
    push((const char*)name);
    mark("tick");
    pop();
  }
  return NULL;
}
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) { fprintf(stderr, "%s\n", dlerror()); return 9; }
  push = (int (*)(const char*))dlsym(library, "roctxRangePushA");
  pop = (int (*)(void))dlsym(library, "roctxRangePop");
  mark = (void (*)(const char*))dlsym(library, "roctxMarkA");
  start = (uint64_t (*)(const char*))dlsym(library, "roctxRangeStartA");
  stop = (void (*)(uint64_t))dlsym(library, "roctxRangeStop");
  printf("%d", push("outer"));
  printf(" %d", push("inner"));
  printf(" %d", pop());
  uint64_t id = start("async");
  pthread_t thread;
  pthread_create(&thread, NULL, work, "threaded");
  pthread_join(thread, NULL);
  stop(id);
  mark(NULL);
  push(NULL);
  pop();
  printf(" %d", pop());
  printf(" %d\n", pop());
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


@pytest.fixture(scope="session")
def c_program(tmp_path_factory):
    if not shutil.which("gcc"):
        pytest.skip("no gcc to compile a C program with")
    folder = tmp_path_factory.mktemp("c")
    source, program = folder / "program.c", folder / "program"
    source.write_text(C_PROGRAM)
    run(["gcc", "-Wall", "-Werror", "-O1", "-o", program, source, "-ldl", "-pthread"])
    return program


def command(*args):
    return [sys.executable, "-m", "xprof_roctx", "run", *args]


def check_c_rows(path):
    rows = roctx_rows(path)
    threads = [row for name, row in rows.items() if name.startswith(ROW)]
    assert sorted(row.labels for row in threads) == [
        ["outer", "inner"],
        ["threaded", "tick"] * 3,
    ]
    (lane,) = [row for name, row in rows.items() if "Async" in name]
    assert lane.labels == ["async"]
    (main,) = [row for row in threads if row.labels[0] == "outer"]
    assert main.the("outer").start_ns <= main.the("inner").start_ns
    assert main.the("inner").end_ns <= main.the("outer").end_ns
    assert_rows_have_ids_of_their_own(path)


@pytest.mark.parametrize(
    "name", ["librocprofiler-sdk-roctx.so.1", "libroctx64.so.4", "libroctx64.so"]
)
def test_a_c_program_is_captured_from_outside(c_program, logdir, name):
    done = run(command("--logdir", logdir, "--", c_program, name))
    # What AMD's library returns: levels before and after, and -1 for an unmatched pop.
    assert done.stdout == "0 1 1 0 -1\n"
    path = the_xplane(logdir)
    check_c_rows(path)
    assert str(path) in done.stderr


def test_the_tool_by_hand_and_by_preload(c_program, logdir, library_dir):
    tool = library_dir / "libxprof_roctx_tool.so"
    environment = {"LD_LIBRARY_PATH": str(library_dir), "XPROF_ROCTX_HOST": "a-host"}
    for way in ("XPROF_ROCTX_TOOL", "LD_PRELOAD"):
        env = {**environment, way: str(tool), "XPROF_ROCTX_LOGDIR": str(logdir / way)}
        run([c_program, "libroctx64.so.4"], env=env)
        path = the_xplane(logdir / way)
        assert path.name == "a-host.xplane.pb"
        check_c_rows(path)


def test_without_a_log_directory_the_tool_does_nothing(c_program, tmp_path, library_dir):
    tool = library_dir / "libxprof_roctx_tool.so"
    env = {"LD_LIBRARY_PATH": str(library_dir), "XPROF_ROCTX_TOOL": str(tool)}
    folder = tmp_path / "working directory"
    folder.mkdir()
    done = run([c_program, "libroctx64.so.4"], env=env, cwd=folder)
    assert (done.stdout, done.stderr) == ("0 1 1 0 -1\n", "")
    assert list(folder.iterdir()) == []


def test_the_library_alone_is_a_roctx_library(c_program, library_dir):
    done = run([c_program, "libroctx64.so.4"], env={"LD_LIBRARY_PATH": str(library_dir)})
    assert (done.stdout, done.stderr) == ("0 1 1 0 -1\n", "")


@pytest.mark.parametrize("what", ["tool is missing", "tool is no library", "log directory"])
def test_what_cannot_be_captured_runs_all_the_same(c_program, tmp_path, library_dir, what):
    tool = library_dir / "libxprof_roctx_tool.so"
    logdir = tmp_path / "log"
    if what == "tool is missing":
        tool = tmp_path / "missing.so"
    elif what == "tool is no library":
        tool = tmp_path / "text.so"
        tool.write_text("no library")
    else:
        logdir.write_text("a file")
    env = {
        "LD_LIBRARY_PATH": str(library_dir),
        "XPROF_ROCTX_TOOL": str(tool),
        "XPROF_ROCTX_LOGDIR": str(logdir),
    }
    done = run([c_program, "libroctx64.so.4", "5"], env=env, check=False)
    assert (done.stdout, done.returncode) == ("0 1 1 0 -1\n", 5)
    assert done.stderr.startswith("xprof-roctx: ") and done.stderr.count("\n") == 1
    assert str(logdir if what == "log directory" else tool) in done.stderr


def test_exit_codes_are_the_programs(c_program, logdir):
    name = "libroctx64.so.4"
    assert run(command("--logdir", logdir, "--", c_program, name, "42"), check=False).returncode == 42
    killed = run(command("--logdir", logdir, "--", "sh", "-c", "kill -9 $$"), check=False)
    assert killed.returncode == 128 + 9
    assert "signal" in killed.stderr
    missing = run(command("--logdir", logdir, "--", "/no/such/program"), check=False)
    assert missing.returncode == 127 and "/no/such/program" in missing.stderr
    folder = run(command("--logdir", logdir, "--", "/"), check=False)
    assert folder.returncode == 126
    # A program that ran, with no profile, leaves no empty run behind.
    assert len(xplanes(logdir)) == len(list(logdir.glob("plugins/profile/*"))) == 1


def test_a_program_without_roctx_is_told_of(logdir):
    done = run(command("--logdir", logdir, "--", "echo", "hello"))
    assert done.stdout == "hello\n"
    assert "nothing was captured" in done.stderr


def test_arguments_and_streams_reach_the_program_unchanged(logdir):
    done = run(
        command("--logdir", logdir, "--", "sh", "-c", 'cat; echo "$1"', "sh", "--top=3 *"),
        input="standard input\n",
    )
    assert done.stdout == "standard input\n--top=3 *\n"


def test_a_log_directory_that_cannot_be_used_stops_run_before_the_program(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    done = run(command("--logdir", path, "--", "touch", tmp_path / "ran"), check=False)
    assert done.returncode == 1 and str(path) in done.stderr
    assert not (tmp_path / "ran").exists()


def test_processes_of_one_program_do_not_overwrite_each_other(c_program, logdir):
    script = f"{c_program} libroctx64.so.4 & {c_program} libroctx64.so.4; wait"
    run(command("--logdir", logdir, "--run", "both", "--", "sh", "-c", script))
    paths = xplanes(logdir)
    assert len(paths) == 2 and {path.parent.name for path in paths} == {"both"}
    for path in paths:
        check_c_rows(path)


AMD = """
from rocm.bindings import roctx
def annotate(label):
    assert roctx.roctxRangePushA(f"{label} outer".encode())
    assert roctx.roctxRangePushA(f"{label} inner".encode())
    roctx.roctxMarkA(f"{label} mark".encode())
    roctx.roctxRangePop()
    roctx.roctxRangePop()
"""


def amd_source(body):
    pytest.importorskip("rocm.bindings")
    return "import sys\n" + AMD + textwrap.dedent(body)


def check_amd_row(row, label):
    assert row.labels == [f"{label} outer", f"{label} inner", f"{label} mark"]
    outer, inner, mark = row.events
    assert outer.start_ns <= inner.start_ns <= mark.start_ns <= inner.end_ns <= outer.end_ns


ORDERS = {
    "client called first": """
        annotate("before")
        import xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        annotate("amd")
        xprof_roctx.stop_trace()
    """,
    "listener first": """
        import xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        annotate("amd")
        xprof_roctx.stop_trace()
    """,
    "client loaded, not called": """
        roctx.roctxRangePop
        import xprof_roctx
        xprof_roctx.start_trace(sys.argv[1])
        annotate("amd")
        xprof_roctx.stop_trace()
    """,
}


@pytest.mark.parametrize("order", ORDERS)
def test_amds_python_client_meets_the_extension(logdir, library_dir, order):
    run_python(amd_source(ORDERS[order]), logdir, env={"LD_LIBRARY_PATH": str(library_dir)})
    check_amd_row(the_roctx_row(the_xplane(logdir)), "amd")


def test_amds_python_client_and_our_annotations_nest_on_one_row(logdir, library_dir):
    source = amd_source("""
        import xprof_roctx
        with xprof_roctx.trace(sys.argv[1]):
            with xprof_roctx.TraceAnnotation("ours"):
                annotate("amd")
    """)
    run_python(source, logdir, env={"LD_LIBRARY_PATH": str(library_dir)})
    row = the_roctx_row(the_xplane(logdir))
    assert row.labels == ["ours", "amd outer", "amd inner", "amd mark"]
    ours = row.the("ours")
    assert all(ours.start_ns <= e.start_ns and e.end_ns <= ours.end_ns for e in row.events)


@pytest.mark.parametrize("first", ["client", "jax"])
def test_amds_python_client_in_a_jax_profile(logdir, library_dir, first):
    before = {"client": 'annotate("before")\nimport jax', "jax": "import jax"}[first]
    source = amd_source(f"{before}\n" + textwrap.dedent("""
        with jax.profiler.trace(sys.argv[1]):
            annotate("amd")
    """))
    run_python(source, logdir, env={"LD_LIBRARY_PATH": str(library_dir)})
    check_amd_row(the_roctx_row(the_xplane(logdir)), "amd")


def test_amds_python_client_captured_from_outside(logdir, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(amd_source('annotate("amd")\n'))
    run(command("--logdir", logdir, "--", sys.executable, program))
    check_amd_row(the_roctx_row(the_xplane(logdir)), "amd")


def test_two_listeners_hear_the_same_calls(logdir, tmp_path, library_dir):
    """The tool library and the extension, two copies of the listener, in one process."""
    program = tmp_path / "program.py"
    program.write_text(amd_source("""
        import xprof_roctx
        with xprof_roctx.trace(sys.argv[1]):
            annotate("both")
            with xprof_roctx.TraceAnnotation("ours"):
                pass
        annotate("tool only")
    """))
    inside = tmp_path / "inside"
    run(command("--logdir", logdir, "--", sys.executable, program, inside))
    both = ["both outer", "both inner", "both mark", "ours"]
    assert the_roctx_row(the_xplane(inside)).labels == both
    outside = the_roctx_row(the_xplane(logdir)).labels
    assert outside == [*both, "tool only outer", "tool only inner", "tool only mark"]


def test_the_tool_and_a_jax_profile_in_one_process(logdir, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        import sys, jax, xprof_roctx
        with jax.profiler.trace(sys.argv[1]):
            with xprof_roctx.TraceAnnotation("ours"):
                pass
    """))
    inside = tmp_path / "inside"
    run(command("--logdir", logdir, "--", sys.executable, program, inside))
    assert the_roctx_row(the_xplane(inside)).labels == ["ours"]
    assert the_roctx_row(the_xplane(logdir)).labels == ["ours"]
