"""Annotations built of :class:`TraceAnnotation`."""

from __future__ import annotations

import functools
from typing import Any, AsyncGenerator, Callable, Generator

from ._native import TraceAnnotation


class StepTraceAnnotation(TraceAnnotation):
    """A :class:`TraceAnnotation` for one step of a loop: XProf analyses time per step.

    >>> for step in range(3):
    ...     with xprof_roctx.StepTraceAnnotation("train", step_num=step):
    ...         train()
    """

    def __init__(self, name: str | bytes, **metadata: Any) -> None:
        super().__init__(name, _r=1, **metadata)


def annotate_function(
    func: Callable[..., Any] | None = None, name: str | None = None, **metadata: Any
) -> Callable[..., Any]:
    """Makes every call of a function a :class:`TraceAnnotation`, named after the function.

    Works bare (``@annotate_function``), with arguments (``@annotate_function(name="load")``) and
    through ``functools.partial``.

    A generator or a coroutine is annotated while it runs, not while its consumer or another task
    does: each resumption is a range. So the ranges of tasks that take turns on a thread never cross.
    """
    if func is None:
        return functools.partial(annotate_function, name=name, **metadata)
    import inspect  # takes longer than the rest of the package to import

    label = name or getattr(func, "__qualname__", None) or type(func).__qualname__

    def annotation() -> TraceAnnotation:
        return TraceAnnotation(label, **metadata)

    wrapper: Callable[..., Any]
    if inspect.iscoroutinefunction(func):

        @functools.wraps(func)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await _Awaitable(func(*args, **kwargs), annotation)

    elif inspect.isasyncgenfunction(func):

        @functools.wraps(func)
        async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            steps = func(*args, **kwargs)
            resume, sent = steps.asend, None
            while True:
                try:
                    item = await _Awaitable(resume(sent), annotation)
                except StopAsyncIteration:
                    return
                try:
                    resume, sent = steps.asend, (yield item)
                except GeneratorExit:
                    await _Awaitable(steps.aclose(), annotation)
                    raise
                except BaseException as error:
                    resume, sent = steps.athrow, error

    elif inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            return (yield from _steps(func(*args, **kwargs), annotation))

    else:

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with annotation():
                return func(*args, **kwargs)

    return wrapper


class _Awaitable:
    """Awaits what it holds, with an annotation around each step."""

    def __init__(self, awaited: Any, annotation: Callable[[], TraceAnnotation]) -> None:
        self._awaited = awaited
        self._annotation = annotation

    def __await__(self) -> Generator[Any, Any, Any]:
        return _steps(self._awaited, self._annotation)


def _steps(steps: Any, annotation: Callable[[], TraceAnnotation]) -> Generator[Any, Any, Any]:
    """Runs a generator, or a coroutine's steps, with an annotation around each."""
    resume, sent = steps.send, None
    while True:
        with annotation():
            try:
                item = resume(sent)
            except StopIteration as end:
                return end.value
        try:
            resume, sent = steps.send, (yield item)
        except GeneratorExit:
            with annotation():
                steps.close()
            raise
        except BaseException as error:
            resume, sent = steps.throw, error
