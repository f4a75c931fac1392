"""What is installed, and what importing it does."""

import importlib.metadata
import pathlib
import re

from profiles import WITHOUT_JAX, run, run_python

import xprof_roctx


def test_nothing_is_required_but_python():
    requires = importlib.metadata.requires("xprof-roctx") or []
    assert [line for line in requires if "extra ==" not in line] == []
    extras = set(importlib.metadata.metadata("xprof-roctx").get_all("Provides-Extra"))
    assert {"jax", "xprof", "test"} <= extras


def test_version_is_that_of_the_distribution():
    assert xprof_roctx.__version__ == importlib.metadata.version("xprof-roctx")


def test_libraries_are_installed_under_their_real_names(library_dir):
    names = {path.name for path in library_dir.iterdir()}
    assert {
        "librocprofiler-sdk-roctx.so.1",
        "libroctx64.so",
        "libroctx64.so.4",
        "libxprof_roctx_tool.so",
    } <= names


def test_jax_finds_the_plug_in_by_its_entry_point():
    (entry,) = [
        entry
        for entry in importlib.metadata.entry_points(group="jax_plugins")
        if entry.name == "xprof_roctx"
    ]
    assert callable(entry.load().initialize)


def test_importing_loads_nothing_and_starts_nothing():
    source = """
        import os, sys, threading
        def libraries():
            return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
        modules, before = set(sys.modules), libraries()
        import xprof_roctx
        print(sorted(path for path in libraries() - before if "roc" in path))
        print(sorted({name.split(".")[0] for name in set(sys.modules) - modules}))
        print(threading.active_count(), len(os.listdir("/proc/self/task")))
        print(xprof_roctx.TraceAnnotation.is_enabled())
    """
    loaded, modules, threads, enabled = run_python(source).stdout.splitlines()
    assert re.fullmatch(r"\['[^']*/xprof_roctx/_native\.abi3\.so'\]", loaded), loaded
    for heavy in ("jax", "jaxlib", "xprof", "numpy", "inspect", "asyncio", "ctypes"):
        assert f"'{heavy}'" not in modules
    assert threads == "1 1"
    assert enabled == "False"


def test_everything_public_works_where_jax_is_not_installed(logdir):
    source = WITHOUT_JAX + """
import xprof_roctx, xprof_roctx.jax_plugin, warnings
@xprof_roctx.annotate_function
def work():
    with xprof_roctx.StepTraceAnnotation("step", step_num=1):
        xprof_roctx.mark("m")
with xprof_roctx.trace(sys.argv[1]) as session:
    work()
print(session.files.xplane)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    xprof_roctx.jax_plugin.initialize()
    xprof_roctx.jax_plugin.initialize()
print(len(caught), caught[0].message)
"""
    xplane, warning = run_python(source, logdir).stdout.splitlines()
    assert pathlib.Path(xplane).is_file()
    assert warning.startswith("1 ") and "xprof_roctx.trace" in warning


def test_a_jaxlib_without_the_hook_costs_one_warning():
    source = """
        import sys, types, warnings
        sys.modules["jaxlib"] = types.ModuleType("jaxlib")
        sys.modules["jaxlib._profiler"] = types.ModuleType("jaxlib._profiler")
        sys.modules["jaxlib.version"] = types.ModuleType("jaxlib.version")
        sys.modules["jaxlib.version"].__version__ = "0.1.2"
        import xprof_roctx.jax_plugin
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            xprof_roctx.jax_plugin.initialize()
            xprof_roctx.jax_plugin.initialize()
        print(len(caught), caught[0].message)
    """
    out = run_python(source).stdout
    assert out.startswith("1 ") and "0.1.2" in out


def test_type_stubs_cover_what_is_exported():
    package = pathlib.Path(xprof_roctx.__file__).parent
    assert (package / "py.typed").is_file()
    stub = (package / "_native.pyi").read_text()
    from xprof_roctx import _native

    for name in dir(_native):
        if not name.startswith("_"):
            assert re.search(rf"^(def|class) {name}\b", stub, re.M), name


def test_python_dash_m_is_the_command(tmp_path):
    import sys

    version = run([sys.executable, "-m", "xprof_roctx", "--version"]).stdout
    assert version == f"xprof-roctx {xprof_roctx.__version__}\n"


def test_rocms_python_wheels_are_found(tmp_path, logdir):
    """By the function that AMD's wheels offer for it, here one of our own."""
    (tmp_path / "rocm_sdk.py").write_text(
        "def find_libraries(*names):\n"
        "    assert names == ('amdhip64',)\n"
        "    return ['/wheels/_rocm_sdk_core/lib/libamdhip64.so.7']\n"
    )
    source = """
        import os, sys, xprof_roctx
        assert "rocm_sdk" not in sys.modules
        with xprof_roctx.trace(sys.argv[1]):
            print(os.environ.get("XPROF_ROCTX_SDK_PATH"))
    """
    path = {"PYTHONPATH": str(tmp_path)}
    assert run_python(source, logdir, env=path).stdout == "/wheels/_rocm_sdk_core/lib\n"
    given = {**path, "XPROF_ROCTX_SDK_PATH": "/given"}
    assert run_python(source, logdir, env=given).stdout == "/given\n"
    assert run_python(source, logdir).stdout == "None\n"
