"""XProf's server, over HTTP on loopback: a browser asks it just this."""

import gzip
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from profiles import ROW, rows_of_trace_events

import xprof_roctx


@pytest.fixture
def server(logdir, tmp_path):
    """Starts XProf on a log directory; the value asks it for a page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    logdir.mkdir()

    def get(page, **query):
        url = f"http://127.0.0.1:{port}/data/plugin/profile/{page}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as response:
            body = response.read()
            packed = response.headers.get("Content-Encoding") == "gzip"
        return json.loads(gzip.decompress(body) if packed else body)

    with open(tmp_path / "server.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "xprof.server", f"--logdir={logdir}", f"--port={port}"],
            stdout=log,
            stderr=log,
        )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                get("runs")
                break
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, (tmp_path / "server.log").read_text()
                assert time.monotonic() < deadline, "XProf does not answer"
                time.sleep(0.1)
        yield get
    finally:
        process.terminate()
        process.wait()


def test_the_trace_viewer_gets_the_rows(logdir, server):
    import threading

    with xprof_roctx.trace(logdir, run="a run", host="a-host"):
        with xprof_roctx.TraceAnnotation("outer"):
            with xprof_roctx.TraceAnnotation("inner"):
                pass
    assert server("runs") == ["a run"]
    hosts = server("hosts", run="a run", tag="trace_viewer@")
    assert [host["hostname"] for host in hosts] == ["a-host"]
    trace = server("data", run="a run", tag="trace_viewer@", hosts="a-host", resolution=0)
    rows = rows_of_trace_events(trace)
    row = rows[f"{ROW}{threading.get_native_id()}"]
    assert [event["name"] for event in row] == ["outer", "inner"]
