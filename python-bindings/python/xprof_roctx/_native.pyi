from os import PathLike
from types import TracebackType
from typing import Any, Sequence, TypeVar

__version__: str

_Self = TypeVar("_Self", bound=TraceAnnotation)

class TraceAnnotation:
    """A range around the code inside ``with``: on this thread's ROCTX row, on its host row, and as
    the annotation of the GPU work launched inside.

    Used as ``jax.profiler.TraceAnnotation``. The range begins when the object is made and ends with
    ``with``, with :meth:`stop`, or when the object is collected, whichever comes first. ``name`` is
    what the viewers show; the keywords are metadata, which become stats of the host event.

    An object that is stopped or collected on another thread than it was made on ends its own range
    and no other: the thread that made it takes it off its stack at its next push or pop.
    """

    def __init__(self, name: str | bytes, **metadata: Any) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def set_metadata(self, **metadata: Any) -> None:
        """Adds metadata to the host event."""
    def stop(self) -> None:
        """Ends the range. Once it has ended, does nothing."""
    @staticmethod
    def is_enabled() -> bool:
        """Whether a session is recording, of this package or of JAX."""

class Range:
    """A range, and a host event while a session of this package records, from when it is made until
    it is stopped or collected: what a wrapped annotation of JAX's holds. Rules as for
    :class:`TraceAnnotation`. A copy of it, pickled or not, has ended."""

    def __init__(
        self, label: str | bytes, metadata: dict[str, Any] | None = None
    ) -> None: ...
    def set_metadata(self, metadata: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...

class TraceError(RuntimeError):
    """A session could not be started or stopped."""

class TraceWriteError(TraceError):
    """A profile could not be written."""

    logdir: str
    """The log directory that was asked for."""
    saved_to: str | None
    """The folder in which the capture was saved instead."""

def mark(label: str | bytes | None) -> None:
    """Marks an instant on this thread's ROCTX row (``roctxMarkA``)."""

def range_push(label: str | bytes | None) -> None:
    """Opens a range on this thread (``roctxRangePushA``); :func:`range_pop` closes it."""

def range_pop() -> None:
    """Closes this thread's innermost range (``roctxRangePop``) of those that no
    :class:`TraceAnnotation` has opened."""

def range_start(label: str | bytes | None) -> int:
    """Opens a range that any thread may close, and returns its id (``roctxRangeStartA``)."""

def range_stop(range_id: int) -> None:
    """Closes the range of this id, on any thread (``roctxRangeStop``)."""

def name_current_thread(name: str | bytes) -> None:
    """Names this thread for the viewers (``roctxNameOsThread``)."""

def is_tracing() -> bool: ...
def start_trace(
    logdir: str | bytes,
    run: str | None,
    host: str | None,
    max_events: int | None,
    row_style: str,
) -> None: ...
def stop_trace(logdir: str | bytes | None) -> tuple[str, str, str, list[str]]: ...
def set_jax_mode(mode: str) -> None: ...
def pjrt_profiler_capsule() -> Any | None: ...
def command_line(arguments: Sequence[str], library_dir: PathLike[str]) -> int: ...
