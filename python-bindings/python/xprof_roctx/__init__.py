"""ROCTX ranges in XProf and TensorBoard profiles.

Annotate:

    with xprof_roctx.TraceAnnotation("step", batch=32):
        ...

Capture without JAX, or with ``jax.profiler.trace`` as always (the package is a JAX plug-in and is
found by itself):

    with xprof_roctx.trace("/tmp/profile"):
        ...

Have the annotations of a program that uses JAX's own be ROCTX ranges, too:

    xprof_roctx.install()      # or XPROF_ROCTX_AUTOINSTALL=1 in the environment

Importing does nothing else: no library is loaded and nothing is recorded until asked for.
"""

import sys as _sys

from ._native import (
    TraceAnnotation,
    TraceError,
    TraceWriteError,
    __version__,
    mark,
    name_current_thread,
    range_pop,
    range_push,
    range_start,
    range_stop,
)
from .annotations import StepTraceAnnotation, annotate_function
from .capture import TraceFiles, start_trace, stop_trace, trace
from .patching import install, install_if_asked, installed, is_installed, uninstall
from .paths import library_dir

__all__ = [
    "StepTraceAnnotation",
    "TraceAnnotation",
    "TraceError",
    "TraceFiles",
    "TraceWriteError",
    "__version__",
    "annotate_function",
    "install",
    "installed",
    "is_installed",
    "library_dir",
    "mark",
    "name_current_thread",
    "range_pop",
    "range_push",
    "range_start",
    "range_stop",
    "start_trace",
    "stop_trace",
    "trace",
    "uninstall",
]

if "jax.profiler" in _sys.modules:
    # Otherwise JAX does it, when it finds this package's plug-in.
    install_if_asked()
del install_if_asked, _sys
