"""``xprof-roctx run``: a whole profile however the program ends, its exit code, the time to
capture, and the processes that a program makes."""

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from profiles import host_rows, run, the_roctx_row, the_xplane, xplanes

C_PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void (*mark)(const char*);
static void on_signal(int number) {
  mark("handled");
  _exit(40 + number);
}
static void ready(void) {
  puts("ready");
  fflush(stdout);
}
int main(int argc, char** argv) {
  const char* how = argv[1];
  void* library = dlopen("librocprofiler-sdk-roctx.so.1", RTLD_NOW);
  if (!library) { fprintf(stderr, "%s\n", dlerror()); return 9; }
  mark = (void (*)(const char*))dlsym(library, "roctxMarkA");
  mark("begun");
  if (!strcmp(how, "_exit")) _exit(7);
  if (!strcmp(how, "_Exit")) _Exit(8);
  if (!strcmp(how, "quick_exit")) quick_exit(9);
  if (!strcmp(how, "raise")) raise(SIGTERM);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "handle")) signal(atoi(argv[2]), on_signal);
  if (!strcmp(how, "ignore")) signal(atoi(argv[2]), SIG_IGN);
  if (!strcmp(how, "pipe")) {
    for (;;) if (write(STDOUT_FILENO, "x\n", 2) < 0) mark("no reader");
  }
  if (!strcmp(how, "fork")) {
    pid_t child = fork();
    mark(child ? "parent" : "child");
    if (!child) _exit(0);
    waitpid(child, NULL, 0);
    if (!fork()) _exit(0); /* calls no ROCTX */
    wait(NULL);
    return 0;
  }
  if (!strcmp(how, "exec")) execlp("true", "true", NULL);
  ready();
  if (!strcmp(how, "ignore")) { fgets((char[9]){0}, 9, stdin); return 5; }
  for (;;) pause();
}
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    if not shutil.which("gcc"):
        pytest.skip("no gcc to compile a C program with")
    folder = tmp_path_factory.mktemp("c")
    source, program = folder / "program.c", folder / "program"
    source.write_text(C_PROGRAM)
    run(["gcc", "-Wall", "-Werror", "-O1", "-o", program, source, "-ldl"])
    return program


def command(logdir, *args):
    return [sys.executable, "-m", "xprof_roctx", "run", "--logdir", logdir, *args]


def labels(path):
    return the_roctx_row(path).labels


@pytest.mark.parametrize("how, code", [("_exit", 7), ("_Exit", 8), ("quick_exit", 9)])
def test_exits_that_skip_atexit_write_the_profile(program, logdir, how, code):
    done = run(command(logdir, "--", program, how), check=False)
    assert done.returncode == code
    assert labels(the_xplane(logdir)) == ["begun"]
    assert str(the_xplane(logdir)) in done.stderr


def test_a_program_that_sends_itself_a_signal_is_written_first(program, logdir):
    done = run(command(logdir, "--", program, "raise"), check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert labels(the_xplane(logdir)) == ["begun"]


class Running:
    """A program under ``run`` that has said it is ready, in a process group of its own."""

    def __init__(self, logdir, *args, **kwargs):
        self.process = subprocess.Popen(
            [str(arg) for arg in command(logdir, "--", *args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **kwargs,
        )
        line = self.process.stdout.readline()
        assert line == "ready\n", self.process.communicate()

    def child(self):
        task = f"/proc/{self.process.pid}/task"
        children = [
            pid
            for thread in os.listdir(task)
            for pid in open(f"{task}/{thread}/children").read().split()
        ]
        (child,) = children
        return int(child)

    def end(self, text=None):
        out, err = self.process.communicate(text, timeout=120)
        return self.process.returncode, err


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("to", ["run", "program"])
def test_a_signal_at_its_default_ends_with_a_whole_profile(program, logdir, number, to):
    running = Running(logdir, program, "wait")
    os.kill(running.process.pid if to == "run" else running.child(), number)
    code, err = running.end()
    assert code == 128 + number, err
    assert labels(the_xplane(logdir)) == ["begun"]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_the_program_handles_is_the_programs(program, logdir, number):
    running = Running(logdir, program, "handle", int(number))
    os.kill(running.process.pid, number)
    code, err = running.end()
    assert code == 40 + number, err
    assert labels(the_xplane(logdir)) == ["begun", "handled"]


def test_a_signal_to_the_whole_group_as_from_a_terminal(program, logdir):
    running = Running(logdir, program, "wait")
    os.killpg(running.process.pid, signal.SIGINT)
    code, err = running.end()
    assert code == 128 + signal.SIGINT, err
    assert labels(the_xplane(logdir)) == ["begun"]


def test_an_ignored_signal_ends_nothing(program, logdir):
    running = Running(logdir, program, "ignore", int(signal.SIGTERM))
    os.kill(running.process.pid, signal.SIGTERM)
    code, err = running.end("go on\n")
    assert code == 5, err
    assert labels(the_xplane(logdir)) == ["begun"]


def test_a_reader_that_goes_away(program, logdir):
    shell = f"{' '.join(map(str, command(logdir, '--', program, 'pipe')))} | head -n 1"
    done = run(["bash", "-c", shell])
    assert done.stdout == "x\n"
    assert labels(the_xplane(logdir))[0] == "begun"


def test_what_nobody_can_catch_is_said(program, logdir):
    running = Running(logdir, program, "wait")
    pid = running.child()
    os.kill(pid, signal.SIGKILL)
    code, err = running.end()
    assert code == 128 + signal.SIGKILL
    assert xplanes(logdir) == []
    (line,) = err.splitlines()
    assert str(pid) in line and "SIGKILL" in line and "nothing was written" in line


def test_a_crash_is_said(program, logdir):
    done = run(command(logdir, "--", program, "abort"), check=False)
    assert done.returncode == 128 + signal.SIGABRT
    assert "nothing was written" in done.stderr and "SIGABRT" in done.stderr


def test_a_program_that_becomes_another_is_said(program, logdir):
    done = run(command(logdir, "--", program, "exec"))
    assert "nothing was written" in done.stderr and "another program" in done.stderr


def test_forked_children_are_processes_of_their_own(program, logdir):
    run(command(logdir, "--run", "tree", "--", program, "fork"))
    by_labels = {tuple(labels(path)): path for path in xplanes(logdir)}
    # The child that called no ROCTX has none.
    assert set(by_labels) == {("begun", "parent"), ("child",)}
    pids = {re.search(r"-(\d+)\.xplane", path.name).group(1) for path in by_labels.values()}
    assert len(pids) == 2
    for path in by_labels.values():
        # Its thread is its own: the main thread's id is the process's.
        (row,) = host_rows(path)
        assert row.name == f"ROCTX Threads/{re.search(r'-([0-9]+).xplane', path.name).group(1)}"


PYTHON = """
import ctypes, os, signal, sys, time
roctx = ctypes.CDLL("librocprofiler-sdk-roctx.so.1")
roctx.roctxMarkA(b"begun")
"""


def python(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text(PYTHON + source)
    return [sys.executable, path]


WAIT = """
try:
    print("ready", flush=True)
    signal.pause()
finally:
    roctx.roctxMarkA(b"cleaned up")
"""


def test_an_interrupted_python_cleans_up_and_is_written(tmp_path, logdir):
    running = Running(logdir, *python(tmp_path, WAIT))
    os.kill(running.process.pid, signal.SIGINT)
    code, err = running.end()
    assert "KeyboardInterrupt" in err
    assert code == 128 + signal.SIGINT, err
    assert labels(the_xplane(logdir)) == ["begun", "cleaned up"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_python_that_dies_by_a_signal_is_written(tmp_path, logdir, number):
    running = Running(logdir, *python(tmp_path, WAIT))
    os.kill(running.process.pid, number)
    code, err = running.end()
    assert code == 128 + number, err
    assert labels(the_xplane(logdir)) == ["begun"]


def test_a_python_that_ends_by_os_exit_is_written(tmp_path, logdir):
    done = run(command(logdir, "--", *python(tmp_path, "os._exit(3)")), check=False)
    assert done.returncode == 3
    assert labels(the_xplane(logdir)) == ["begun"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_multiprocessing_are_captured(tmp_path, logdir, method):
    source = f"""
import multiprocessing
def work(number):
    roctx.roctxMarkA(f"worker {{number}}".encode())
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    workers = [context.Process(target=work, args=(number,)) for number in range(3)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
"""
    run(command(logdir, "--run", "tree", "--", *python(tmp_path, source)))
    seen = [label for path in xplanes(logdir) for label in labels(path)]
    assert {f"worker {number}" for number in range(3)} <= set(seen)
    assert sorted(set(seen)) == ["begun", "worker 0", "worker 1", "worker 2"]


def test_a_worker_that_is_terminated_is_written(tmp_path, logdir):
    source = """
import multiprocessing
def work(queue):
    roctx.roctxMarkA(b"worker")
    queue.put(None)
    time.sleep(600)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    worker = context.Process(target=work, args=(queue,))
    worker.start()
    queue.get()
    worker.terminate()
    worker.join()
    print(worker.exitcode)
"""
    done = run(command(logdir, "--", *python(tmp_path, source)))
    assert done.stdout == f"{-signal.SIGTERM}\n"
    assert sorted(labels(path) for path in xplanes(logdir)) == [["begun"], ["worker"]]


def test_a_subprocess_is_captured_beside_its_parent(program, tmp_path, logdir):
    source = f"""
import subprocess
subprocess.run([{str(program)!r}, "_exit"])
subprocess.run(["true"])
"""
    run(command(logdir, "--", *python(tmp_path, source)))
    assert [labels(path) for path in xplanes(logdir)] == [["begun"], ["begun"]]


def test_a_program_that_calls_nvtx_is_captured_too(tmp_path, logdir):
    pytest.importorskip("nvtx")
    source = """
import nvtx
with nvtx.annotate("by nvtx"):
    pass
os._exit(0)
"""
    path = tmp_path / "program.py"
    path.write_text("import os" + source)
    run(command(logdir, "--", sys.executable, path))
    assert [row.labels for row in host_rows(the_xplane(logdir))] == [["by nvtx"]]


def test_the_capture_ends_by_its_duration_and_the_program_goes_on(tmp_path, logdir):
    source = """
import glob
while not glob.glob(sys.argv[1] + "/plugins/profile/*/*.xplane.pb"):
    roctx.roctxMarkA(b"inside")
    time.sleep(0.01)
roctx.roctxMarkA(b"after")
print("went on")
"""
    done = run(command(logdir, "--duration", "300ms", "--", *python(tmp_path, source), logdir))
    assert done.stdout == "went on\n"
    assert set(labels(the_xplane(logdir))) == {"begun", "inside"}


def test_the_capture_begins_when_it_is_told_to(tmp_path, logdir):
    source = """
start = time.monotonic()
while time.monotonic() - start < 1.5:
    roctx.roctxMarkA(f"{time.monotonic() - start:.3f}".encode())
    time.sleep(0.005)
"""
    run(command(logdir, "--start-after", "1", "--", *python(tmp_path, source)))
    seen = labels(the_xplane(logdir))
    # The program began after `run` did, so that at most a second of it is left out.
    assert "begun" not in seen and float(seen[-1]) > 1.4
    assert float(seen[0]) < 1.1


def test_a_program_that_ends_before_its_time_is_told_of(program, logdir):
    done = run(command(logdir, "--start-after", "1h", "--", program, "_exit"), check=False)
    assert done.returncode == 7
    assert "--start-after" in done.stderr and xplanes(logdir) == []


@pytest.mark.parametrize("value", ["soon", "10 parsecs", "-1"])
def test_a_time_that_is_none_is_refused(logdir, value):
    done = run(command(logdir, f"--duration={value}", "--", "true"), check=False)
    assert done.returncode == 2 and "--duration" in done.stderr


def test_a_disk_that_fills_up_is_said_and_nothing_is_lost(tmp_path, small_filesystem):
    source = """
for number in range(20000):
    roctx.roctxMarkA(f"mark {number}".encode())
with open(sys.argv[1] + "/filler", "wb", buffering=0) as file:
    try:
        while True: file.write(bytes(4096))
    except OSError: pass
os._exit(7)
"""
    program = python(tmp_path, source)
    done = run(command(small_filesystem, "--", *program, small_filesystem), check=False)
    assert done.returncode == 7
    assert xplanes(small_filesystem) == []
    assert "No space left" in done.stderr
    saved_to = re.search(r"saved in (\S+);", done.stderr).group(1)
    assert len(labels(the_xplane(saved_to))) == 20001


@pytest.fixture
def small_filesystem(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], capture_output=True, text=True
    )
    if mount.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mount.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)
