"""Where the package keeps its shared libraries, and where ROCm's Python wheels keep theirs."""

import importlib
import os
import pathlib

_SDK_PATH = "XPROF_ROCTX_SDK_PATH"


def library_dir() -> pathlib.Path:
    """The folder with the ROCTX libraries (``librocprofiler-sdk-roctx.so.1``, ``libroctx64.so.4``,
    ``libroctx64.so``) and the tool library.

    Put it on ``LD_LIBRARY_PATH`` to give a program a ROCTX library on a machine without ROCm.
    """
    return pathlib.Path(__file__).resolve().parent / "lib"


def point_to_rocm_wheels() -> None:
    """Says, in ``XPROF_ROCTX_SDK_PATH``, where ROCm's Python wheels keep rocprofiler-sdk: their folder
    is in no place that the native side looks at. Does nothing if the variable is set, or if there
    are no such wheels.
    """
    if _SDK_PATH in os.environ:
        return
    try:
        # The HIP runtime is in the same folder, and in every version's list of names.
        libraries = importlib.import_module("rocm_sdk").find_libraries("amdhip64")
        folders = {os.path.dirname(library) for library in libraries}
    except Exception:  # not installed, or not as expected: then there is nothing to say
        return
    os.environ[_SDK_PATH] = os.pathsep.join(sorted(folders))
