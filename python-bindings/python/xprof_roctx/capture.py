"""Capturing a profile without JAX."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import Iterator, NamedTuple

from . import _native
from .paths import point_to_rocm_wheels


class TraceFiles(NamedTuple):
    """What a session wrote."""

    directory: str
    """The run's folder, ``<logdir>/plugins/profile/<run>``."""
    xplane: str
    """The profile, ``<host>.xplane.pb``."""
    trace_json: str
    """The same for trace viewers, ``<host>.trace.json.gz``."""
    warnings: list[str]
    """What is missing from the profile, and why; empty if nothing is."""


class Trace:
    """A session opened by :func:`trace`. ``files`` is set when it has ended."""

    files: TraceFiles | None = None


def start_trace(
    logdir: str | os.PathLike[str],
    *,
    run: str | None = None,
    host: str | None = None,
    max_events: int | None = None,
    row_style: str = "threads",
) -> None:
    """Starts recording ROCTX ranges and annotations of every thread of this process.

    Args:
      logdir: The log directory that XProf or TensorBoard is given. Made if it is not there, and
        probed now, so that a session is not lost to a directory that cannot be written.
      run: The name of the run; the time by default.
      host: The name of this host in the run; the machine's by default.
      max_events: Events kept; later ones are counted and dropped. What XLA, and the warning in the
        profile, call ``max_callback_api_events``. 4,194,304 by default, or what the environment
        variable ``XPROF_ROCTX_MAX_EVENTS`` says.
      row_style: ``"threads"`` names rows ``ROCTX Threads/<tid>``, ``"beneath"`` names them
        ``Host Threads/<tid>/ROCTX``.

    Raises:
      TraceError: A session is running already: here, or as ``jax.profiler.trace``.
      TraceWriteError: The log directory cannot be written.
    """
    point_to_rocm_wheels()
    _native.start_trace(os.fspath(logdir), run, host, max_events, row_style)
    atexit.register(_stop_at_exit)


def stop_trace(logdir: str | os.PathLike[str] | None = None) -> TraceFiles:
    """Stops recording and writes the profile.

    Args:
      logdir: Where to write instead of the directory given at the start.

    Raises:
      TraceError: No session is running.
      TraceWriteError: The profile could not be written. What was captured is in the folder
        ``saved_to``; should that be None too, it is still in memory, and calling ``stop_trace``
        again with another directory writes it.
    """
    files = TraceFiles(*_native.stop_trace(None if logdir is None else os.fspath(logdir)))
    atexit.unregister(_stop_at_exit)
    return files


@contextlib.contextmanager
def trace(
    logdir: str | os.PathLike[str],
    *,
    run: str | None = None,
    host: str | None = None,
    max_events: int | None = None,
    row_style: str = "threads",
) -> Iterator[Trace]:
    """Records what runs inside ``with`` and writes the profile at its end, exceptions included.

    Arguments and errors are those of :func:`start_trace` and :func:`stop_trace`.
    """
    start_trace(logdir, run=run, host=host, max_events=max_events, row_style=row_style)
    session = Trace()
    try:
        yield session
    finally:
        session.files = stop_trace()


def _stop_at_exit() -> None:
    """Writes the profile of a session that nobody stopped."""
    if not _native.is_tracing():
        return
    try:
        files = stop_trace()
    except _native.TraceError as error:
        print(f"xprof-roctx: {error}", file=sys.stderr)
    else:
        print(
            f"xprof-roctx: the session was still open at exit; its profile is {files.xplane}",
            file=sys.stderr,
        )
