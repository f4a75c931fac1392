"""``xprof-roctx report`` and ``libdir``; ``run`` is in test_other_clients."""

import json
import subprocess
import sys

import pytest
from profiles import run, the_xplane

import xprof_roctx


def command(*args, **kwargs):
    return run([sys.executable, "-m", "xprof_roctx", *args], **kwargs)


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    logdir = tmp_path_factory.mktemp("captured")
    with xprof_roctx.trace(logdir, run="r", max_events=61):
        for number in range(10):
            with xprof_roctx.TraceAnnotation("outer"):
                for _ in range(3):
                    with xprof_roctx.TraceAnnotation("load/inner"):
                        pass
                xprof_roctx.mark("tick")
                xprof_roctx.range_push("a label that is much longer than any column " * 3)
                xprof_roctx.range_pop()
        for _ in range(7):
            xprof_roctx.mark("dropped")
    return logdir


def test_libdir(library_dir):
    assert command("libdir").stdout == f"{library_dir}\n"


def test_a_report_has_rows_labels_and_what_was_dropped(captured):
    out = command("report", captured).stdout
    assert "ROCTX Threads/" in out
    for words in ("outer", "load/inner", "tick", "count", "total", "self", "p50", "p99", "threads"):
        assert words in out.lower(), words
    assert "6 markers dropped" in out
    assert max(map(len, out.splitlines())) <= 80


def test_file_run_and_log_directory_give_the_same(captured):
    path = the_xplane(captured)
    outs = [command("report", place, "--json").stdout for place in (path, path.parent, captured)]
    assert outs[0] == outs[1] == outs[2]


def labels(captured, *args):
    return json.loads(command("report", captured, "--json", *args).stdout)["labels"]


def test_json_has_what_was_captured(captured):
    by_label = {row["label"]: row for row in labels(captured)}
    assert by_label["outer"]["count"] == 10
    assert by_label["load/inner"]["count"] == 30
    outer = by_label["outer"]
    assert outer["self_ns"] <= outer["total_ns"] - by_label["load/inner"]["total_ns"]
    assert outer["p50_ns"] <= outer["p99_ns"] <= outer["longest_ns"] <= outer["total_ns"]
    assert outer["threads"] == 1


def test_top_sort_and_filter(captured):
    assert len(labels(captured, "--top", "2")) == 2
    assert len(labels(captured, "--top", "0")) == 5
    counts = [row["count"] for row in labels(captured, "--sort", "count")]
    assert counts == sorted(counts, reverse=True) and counts[0] == 30
    names = [row["label"] for row in labels(captured, "--sort", "label")]
    assert names == sorted(names)
    assert [row["label"] for row in labels(captured, "--filter", "^load/")] == ["load/inner"]
    assert labels(captured, "--filter", "nothing like it") == []


@pytest.mark.parametrize(
    "args, code, words",
    [
        (["report"], 2, "PATH"),
        (["report", "x", "--filter", "("], 2, "--filter"),
        (["report", "x", "--sort", "colour"], 2, "colour"),
        (["report", "/no/such/file"], 1, "/no/such/file"),
        (["report", "/proc/self/cmdline"], 1, "/proc/self/cmdline"),
        (["unknown"], 2, "unknown"),
        (["run"], 2, "PROGRAM"),
    ],
)
def test_errors_name_what_is_wrong(args, code, words):
    done = command(*args, check=False)
    assert done.returncode == code
    assert words in done.stderr and done.stdout == ""
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr


def test_a_folder_without_profiles_is_an_error(tmp_path):
    done = command("report", tmp_path, check=False)
    assert done.returncode == 1 and str(tmp_path) in done.stderr


def test_a_file_that_is_cut_off_is_an_error(captured, tmp_path):
    path = tmp_path / "cut.xplane.pb"
    path.write_bytes(the_xplane(captured).read_bytes()[:-10])
    done = command("report", path, check=False)
    assert done.returncode == 1 and str(path) in done.stderr


def test_a_reader_that_goes_away_is_no_error(captured):
    program = f"{sys.executable} -m xprof_roctx report {captured} --json --top 0"
    shell = ["bash", "-c", f"set -o pipefail; {program} | head -c 1; echo ${{PIPESTATUS[0]}}"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.stdout == "{0\n", done.stderr
    assert done.stderr == ""


def test_the_console_script_is_the_same_command():
    import pathlib

    script = pathlib.Path(sys.executable).with_name("xprof-roctx")
    if not script.exists():
        pytest.skip("the package's scripts are not beside this interpreter")
    assert run([script, "--version"]).stdout == command("--version").stdout


def test_help_has_examples_and_fits_the_terminal():
    for name in ("report", "run"):
        out = command(name, "--help").stdout
        assert "Examples:" in out
        assert max(map(len, out.splitlines())) <= 80
