"""Where the package keeps its shared libraries."""

import pathlib


def library_dir() -> pathlib.Path:
    """The folder with the ROCTX libraries (``librocprofiler-sdk-roctx.so.1``, ``libroctx64.so.4``,
    ``libroctx64.so``) and the tool library.

    Put it on ``LD_LIBRARY_PATH`` to give a program a ROCTX library on a machine without ROCm.
    """
    return pathlib.Path(__file__).resolve().parent / "lib"
