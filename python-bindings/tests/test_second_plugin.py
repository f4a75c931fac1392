"""Beside another plug-in that sends rows of its own, as JAX's ROCm plug-in does."""

import pathlib
import shutil

import pytest
from profiles import (
    ROW,
    WARNINGS_ROW,
    assert_rows_have_ids_of_their_own,
    host_rows,
    roctx_rows,
    run,
    run_python,
    the_xplane,
    xprof_rows,
    xspace,
)

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc to compile a plug-in with")

PROGRAM = """
import ctypes, os, pathlib, sys, time
import jax
from profiles import message_class
from jaxlib import _profiler
def load(path):
    library = ctypes.CDLL(path)
    library.GetPjrtApi.restype = ctypes.c_void_p
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(library.GetPjrtApi(), b"pjrt_c_api", None)
def theirs():
    _profiler.register_plugin_profiler(load(sys.argv[2]))
def ours():
    import xprof_roctx.jax_plugin
    xprof_roctx.jax_plugin.initialize()
import xprof_roctx
for register in (ours, theirs) if sys.argv[3] == "ours first" else (theirs, ours):
    register()
xprof_roctx.install()
def space(plane_name):
    # What the other plug-in sends: two lines with one event each.
    space = message_class()()
    plane = space.planes.add(name=plane_name)
    entry = plane.event_metadata.add(key=1)
    entry.value.id, entry.value.name = 1, "theirs"
    for number, line_id in enumerate([100, 200]):
        name = f"Host Threads/{number}/ROCTX"
        line = plane.lines.add(id=line_id, name=name, timestamp_ns=time.time_ns())
        line.events.add(metadata_id=1, offset_ps=0, duration_ps=5_000_000)
    return space.SerializeToString()
with jax.profiler.trace(sys.argv[1]):
    with jax.profiler.TraceAnnotation("stock"):
        pass
    with xprof_roctx.TraceAnnotation("own"):
        pass
    pathlib.Path(os.environ["SECOND_PLUGIN_SPACE"]).write_bytes(space(sys.argv[4]))
"""


THEIRS = {"Host Threads/0/ROCTX", "Host Threads/1/ROCTX"}


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compiles the plug-in, with words in its file."""
    folder = tmp_path_factory.mktemp("plug-in")
    source = __file__.replace("test_second_plugin.py", "second_plugin.c")

    def build(name, words=None):
        path = folder / name
        define = ["-DWORDS=" + f'"{words}"'] if words else []
        run(["gcc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", *define, "-o", path, source])
        return path

    return build


@pytest.mark.parametrize("order", ["ours first", "theirs first"])
@pytest.mark.parametrize("plane", ["/host:NVTX-CUPTI", "/host:CPU", "/host:ROCTRACER"])
def test_rows_of_both_are_shown_in_both_orders(build, logdir, tmp_path, plane, order):
    run_beside(build("other_plugin.so"), logdir, tmp_path, order, plane)
    path = the_xplane(logdir)
    # As jaxlib reads it, and as XProf shows it.
    for rows in ({row.name: row.labels for row in host_rows(path)}, shown(path)):
        mine = [labels for name, labels in rows.items() if name.startswith(ROW)]
        assert mine == [["stock", "own"]]
        assert [rows[name] for name in THEIRS] == [["theirs"], ["theirs"]]
    assert "/host:NVTX-CUPTI" not in [other.name for other in xspace(path).planes]
    assert_rows_have_ids_of_their_own(path)


def run_beside(plugin, logdir, folder, order, plane, env=None):
    here = pathlib.Path(__file__).parent
    env = {"SECOND_PLUGIN_SPACE": str(folder / "space"), "PYTHONPATH": str(here), **(env or {})}
    return run_python(PROGRAM, logdir, plugin, order, plane, env=env)


def shown(path):
    return {name: [event["name"] for event in row] for name, row in xprof_rows(path).items()}


LISTENERS_WORDS = "ROCTX marker tracing unavailable"


@pytest.mark.parametrize(
    "words, library, mode, listens",
    [
        (None, "amd", "auto", True),  # an older plug-in, without a listener
        (LISTENERS_WORDS, "amd", "auto", False),  # it hears what goes to AMD's library
        (LISTENERS_WORDS, "embedded", "auto", True),  # which is not there
        (LISTENERS_WORDS, "embedded", "listen", True),
        (None, "embedded", "emit", False),
    ],
)
def test_who_listens_beside_a_rocm_plug_in(
    build, logdir, tmp_path, words, library, mode, listens
):
    plugin = build("xla_rocm_plugin.so", words)
    env = {
        "XPROF_ROCTX_MODE": mode,
        "XPROF_ROCTX_LIBRARY": str(roctx_of_amd(tmp_path)) if library == "amd" else library,
    }
    run_beside(plugin, logdir, tmp_path, "theirs first", "/host:NVTX-CUPTI", env)
    rows = set(roctx_rows(the_xplane(logdir)))
    assert THEIRS <= rows
    # What goes to AMD's library is heard through rocprofiler-sdk only, which is not here. That it
    # was listened for is told by the row that says so.
    assert bool(rows - THEIRS) is listens
    if library == "amd" and listens:
        assert rows - THEIRS == {WARNINGS_ROW}


def roctx_of_amd(folder):
    """A ROCTX library that nobody of this project's can look into."""
    source, path = folder / "roctx.c", folder / "librocprofiler-sdk-roctx.so.1"
    source.write_text(
        "int roctxRangePushA(const char* m) { return 0; } int roctxRangePop(void) { return 0; }\n"
        "void roctxMarkA(const char* m) {} void roctxRangeStop(unsigned long id) {}\n"
        "unsigned long roctxRangeStartA(const char* m) { return 1; }\n"
    )
    run(["gcc", "-shared", "-fPIC", "-o", path, source])
    return path
