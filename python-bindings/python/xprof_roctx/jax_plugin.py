"""The JAX plug-in: makes ``jax.profiler`` capture ROCTX.

JAX finds this module by its entry point and calls :func:`initialize` when it looks for its back
ends. Only a profiler is registered: no platform, no device.
"""

import importlib
import threading
import warnings

from . import _native, modes, patching
from .paths import point_to_rocm_wheels

_lock = threading.Lock()
_done = False


def initialize() -> None:
    """Registers the profiler with jaxlib, once a process."""
    global _done
    with _lock:
        if _done:
            return
        _done = True
        modes.set_mode(modes.argument())
        patching.install_if_asked()
        try:
            register = importlib.import_module("jaxlib._profiler").register_plugin_profiler
        except (ImportError, AttributeError):
            warnings.warn(
                f"xprof_roctx: jaxlib {_jaxlib_version()} has no "
                "_profiler.register_plugin_profiler, so jax.profiler.trace does not capture ROCTX. "
                "Capture with xprof_roctx.trace(logdir), or use a jaxlib that has it (0.6 to 0.12 "
                "have).",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        point_to_rocm_wheels()
        capsule = _native.pjrt_profiler_capsule()
        if capsule is not None:
            register(capsule)


def _jaxlib_version() -> str:
    try:
        return str(importlib.import_module("jaxlib.version").__version__)
    except (ImportError, AttributeError):
        return "(of unknown version)"
