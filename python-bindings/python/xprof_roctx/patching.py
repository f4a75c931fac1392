"""Makes JAX's own annotations open ROCTX ranges, in a program that is not changed.

The classes stay the objects that they are: their methods are wrapped in place. So names that a
program imported before, its subclasses, ``isinstance``, pickling by name and functions that are
decorated already all see the same classes, and taking the wrappers out leaves them as they were.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
from types import FrameType
from typing import Any, Callable, Iterator

from . import _native, modes

AUTOINSTALL_VARIABLE = "XPROF_ROCTX_AUTOINSTALL"

_RANGE = "_xprof_roctx_range"
"""The attribute of an annotation that holds its range."""

_lock = threading.Lock()
_installed: _Patches | None = None


def install(
    *, mode: str | None = None, named_scopes: bool = True, jax_internals: bool = False
) -> None:
    """From now on, JAX's annotations in this process are ROCTX ranges, too.

    ``jax.profiler.TraceAnnotation``, ``jax.profiler.StepTraceAnnotation`` (and subclasses of them),
    functions under ``jax.profiler.annotate_function`` and the host side of ``jax.named_scope``:
    wherever the program got them from, and whenever. Annotations that are open already stay what
    they are. Installing again changes the options.

    Args:
      mode: What is done beside JAX, see :mod:`xprof_roctx.modes`; what ``XPROF_ROCTX_MODE`` says by
        default. Under ``"listen"`` and ``"off"`` the annotations stay as JAX made them.
      named_scopes: Whether ``jax.named_scope`` opens a range while Python is inside it: when the
        code runs without ``jit``, and while ``jit`` traces it, not while the compiled code runs.
      jax_internals: Whether the annotations and scopes that JAX makes itself (of compilation, say)
        are ranges as well, not only those of the program and its libraries.

    Raises:
      ImportError: JAX is not installed.
    """
    global _installed
    annotation = importlib.import_module("jax.profiler").TraceAnnotation
    scope = _scope_class() if named_scopes else None
    with _lock:
        modes.set_mode(mode)
        _take_out()
        if modes.emits():
            _installed = _put_in(annotation, scope, jax_internals)


def uninstall() -> None:
    """Takes out what :func:`install` put in, however often it was called. Does nothing if it was not.

    The classes are as they were before. What another library has wrapped around the wrappers
    meanwhile stays, and calls JAX's own methods.
    """
    with _lock:
        _take_out()
        modes.set_mode(None)


def install_if_asked() -> None:
    """Installs, if the environment variable ``XPROF_ROCTX_AUTOINSTALL`` asks for it and JAX is there."""
    value = os.environ.get(AUTOINSTALL_VARIABLE, "")
    if value in ("1", "true"):
        if not is_installed():
            install()
    elif value not in ("", "0", "false"):
        modes.warn_once(
            f"{AUTOINSTALL_VARIABLE} is {value!r}; it must be 1 or 0. Nothing is installed."
        )


def is_installed() -> bool:
    """Whether JAX's annotations are ROCTX ranges now."""
    return _installed is not None


@contextlib.contextmanager
def installed(
    *, mode: str | None = None, named_scopes: bool = True, jax_internals: bool = False
) -> Iterator[None]:
    """As :func:`install`, for the code inside ``with``; afterwards it is as before, whatever that was."""
    global _installed
    with _lock:
        before, mode_before = _installed, modes.argument()
    install(mode=mode, named_scopes=named_scopes, jax_internals=jax_internals)
    try:
        yield
    finally:
        with _lock:
            _take_out()
            modes.set_mode(mode_before)
            if before is not None:
                before.put_in()
                _installed = before


def _take_out() -> None:
    global _installed
    if _installed is not None:
        _installed.take_out()
        _installed = None


_MISSING = object()


class _Patches:
    """Methods put in place of others."""

    def __init__(self) -> None:
        self.active = False
        self._patches: list[tuple[type, str, Any, Any]] = []

    def add(self, cls: type, name: str, make: Callable[[Any], Any]) -> None:
        """Prepares to wrap ``cls.name``, of its own or inherited, if there is one."""
        original = getattr(cls, name, None)
        if original is not None:
            own = cls.__dict__.get(name, _MISSING)
            self._patches.append((cls, name, own, make(original)))

    def put_in(self) -> None:
        self.active = True
        for cls, name, _, wrapper in self._patches:
            setattr(cls, name, wrapper)

    def take_out(self) -> None:
        self.active = False
        for cls, name, own, wrapper in self._patches:
            if cls.__dict__.get(name) is not wrapper:
                continue  # somebody has wrapped the wrapper, which from now on only passes on
            if own is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, own)


def _scope_class() -> type | None:
    """What ``jax.named_scope`` returns, where it is a class that can be wrapped."""
    try:
        names = importlib.import_module("jax._src.source_info_util")
    except ImportError:
        return None
    return getattr(names, "ExtendNameStackContextManager", None)


def _put_in(annotation: type, scope: type | None, jax_internals: bool) -> _Patches:
    patches = _Patches()

    def wanted(frame: FrameType) -> bool:
        return patches.active and (jax_internals or not _is_jaxs_own(frame))

    _wrap_annotation(patches, annotation, wanted)
    if scope is not None:
        _wrap_scope(patches, scope, wanted)
    patches.put_in()
    return patches


def _wrap_annotation(
    patches: _Patches, cls: type, wanted: Callable[[FrameType], bool]
) -> None:
    def wrap_init(original: Any) -> Any:
        @functools.wraps(original)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            # The range lies around the host event, which begins here as well.
            if args and isinstance(args[0], (str, bytes)) and wanted(sys._getframe(1)):
                opened = _native.Range(args[0], kwargs)
            else:
                opened = None
            try:
                original(self, *args, **kwargs)
            except BaseException:
                if opened is not None:
                    opened.stop()
                raise
            if opened is not None:
                self.__dict__[_RANGE] = opened

        return _with_signature(__init__, cls)

    def wrap_exit(original: Any) -> Any:
        @functools.wraps(original)
        def __exit__(self: Any, *args: Any) -> Any:
            try:
                return original(self, *args)
            finally:
                opened = self.__dict__.pop(_RANGE, None)
                if opened is not None:
                    opened.stop()

        return __exit__

    def wrap_set_metadata(original: Any) -> Any:
        @functools.wraps(original)
        def set_metadata(self: Any, *args: Any, **kwargs: Any) -> Any:
            opened = self.__dict__.get(_RANGE)
            if opened is not None:
                opened.set_metadata(kwargs)
            return original(self, *args, **kwargs)

        return set_metadata

    patches.add(cls, "__init__", wrap_init)
    patches.add(cls, "__exit__", wrap_exit)
    patches.add(cls, "set_metadata", wrap_set_metadata)


def _wrap_scope(patches: _Patches, cls: type, wanted: Callable[[FrameType], bool]) -> None:
    # The class has slots and no room for a range. A scope can be entered again, so each has a list.
    ranges: dict[int, list[tuple[Any, _native.Range]]] = {}

    def wrap_enter(original: Any) -> Any:
        @functools.wraps(original)
        def __enter__(self: Any) -> Any:
            entered = original(self)
            if wanted(sys._getframe(1)):
                ranges.setdefault(id(self), []).append((self, _native.Range(self.name)))
            return entered

        return __enter__

    def wrap_exit(original: Any) -> Any:
        @functools.wraps(original)
        def __exit__(self: Any, *args: Any) -> Any:
            opened = ranges.get(id(self))
            if opened:
                opened.pop()[1].stop()
                if not opened:
                    ranges.pop(id(self), None)
            return original(self, *args)

        return __exit__

    patches.add(cls, "__enter__", wrap_enter)
    patches.add(cls, "__exit__", wrap_exit)


def _with_signature(function: Any, cls: type) -> Any:
    """Has ``inspect.signature(cls)`` say what it says now, with this function as ``cls.__init__``."""
    import inspect  # takes longer than the rest of the package to import

    del function.__wrapped__
    try:
        signature = inspect.signature(cls)
    except ValueError:
        return function
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [first, *signature.parameters.values()]
    function.__signature__ = signature.replace(parameters=parameters)
    return function


def _is_jaxs_own(frame: FrameType | None) -> bool:
    """Whether an annotation made by this frame is one of JAX's rather than of the program's."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in ("jax._src.profiler", "jax._src.source_info_util"):
            return _is_jax(module)
        if "func" in frame.f_code.co_freevars:
            # JAX's wrapper of a function that was decorated: it matters whose function it is.
            return _is_jax(getattr(frame.f_locals["func"], "__module__", None) or "")
        frame = frame.f_back
    return False


def _is_jax(module: str) -> bool:
    return module.split(".", 1)[0] in ("jax", "jaxlib")
