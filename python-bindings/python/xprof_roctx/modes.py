"""What the package does beside JAX: emit ROCTX ranges, listen to them, both, or neither.

==========  ==================================================================================
``auto``    The default. Emits, and listens unless JAX's ROCm plug-in has a listener of its own
            that hears what is emitted: then each row would be there twice.
``emit``    Emits only: rows are whoever else listens' business.
``listen``  Listens only: ``jax.profiler.trace`` has the ranges of programs and libraries that
            call ROCTX themselves, and of this package's own annotations.
``off``     Neither: JAX is as without the package.
==========  ==================================================================================

*Emitting* is what :func:`xprof_roctx.install` does to JAX's annotations, *listening* what the JAX
plug-in does in a session of JAX's profiler. This package's own annotations and its own
:func:`xprof_roctx.trace` are asked for by name, and work in every mode.

The mode is an argument of :func:`xprof_roctx.install`, else what the environment variable
``XPROF_ROCTX_MODE`` says, else ``auto``.
"""

from __future__ import annotations

import os
import warnings

from . import _native

VARIABLE = "XPROF_ROCTX_MODE"
MODES = ("auto", "emit", "listen", "off")

_argument: str | None = None
_warned: set[str] = set()


def set_mode(mode: str | None) -> None:
    """Sets the mode of this process; ``None`` is what the environment says.

    Raises:
      ValueError: There is no such mode.
    """
    global _argument
    if mode is not None and mode not in MODES:
        raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(MODES)}")
    _argument = mode
    _native.set_jax_mode(current())


def argument() -> str | None:
    """The mode that was set, if one was."""
    return _argument


def current() -> str:
    """The mode of this process."""
    return _argument or of_environment()


def of_environment() -> str:
    """What the environment says; a value that is no mode costs one warning and is ``auto``."""
    value = os.environ.get(VARIABLE, "")
    if value in MODES:
        return value
    if value:
        warn_once(f"{VARIABLE} is {value!r}; it must be one of {', '.join(MODES)}. auto is taken.")
    return "auto"


def warn_once(message: str) -> None:
    """Warns; of one thing once a process."""
    if message not in _warned:
        _warned.add(message)
        warnings.warn(f"xprof_roctx: {message}", RuntimeWarning, stacklevel=3)


def emits() -> bool:
    """Whether JAX's annotations are to be ROCTX ranges."""
    return current() in ("auto", "emit")
