"""``TraceAnnotation`` and what is built of it: as ``with``, as a bare object, in every wrong order."""

import asyncio
import functools
import gc
import inspect
import pickle
import threading

import pytest
from profiles import ROW, host_rows, roctx_rows, the_roctx_row, the_xplane

import xprof_roctx
from xprof_roctx import TraceAnnotation


@pytest.fixture
def labels(logdir):
    """Captures a function's ROCTX labels on this thread, in order of start."""

    def labels_of(function):
        with xprof_roctx.trace(logdir):
            function()
        rows = roctx_rows(the_xplane(logdir))
        row = rows.get(f"{ROW}{threading.get_native_id()}")
        return row.labels if row else []

    return labels_of


def balanced(logdir, function):
    """Runs `function` inside a range; the range must outlive everything in it."""
    with xprof_roctx.trace(logdir):
        xprof_roctx.range_push("around")
        function()
        xprof_roctx.mark("last")
        xprof_roctx.range_pop()
    row = the_roctx_row(the_xplane(logdir))
    around, last = row.the("around"), row.the("last")
    assert "truncated" not in around.stats, "nobody else popped it, and it was popped"
    assert around.end_ns >= last.start_ns
    return row


def test_with_returns_the_object_and_passes_exceptions_on(labels):
    def work():
        annotation = TraceAnnotation("a")
        with annotation as entered:
            assert entered is annotation
        with pytest.raises(KeyError):
            with TraceAnnotation("b"):
                raise KeyError("b")

    assert labels(work) == ["a", "b"]


def test_nesting_in_program_order(logdir):
    def work():
        with TraceAnnotation("1"):
            with TraceAnnotation("2"):
                with TraceAnnotation("3"):
                    pass
            with TraceAnnotation("4"):
                pass

    row = balanced(logdir, work)
    one, two, three, four = (row.the(name) for name in "1234")
    assert one.start_ns <= two.start_ns <= three.start_ns
    assert three.end_ns <= two.end_ns <= four.start_ns <= four.end_ns <= one.end_ns


def test_stopped_twice_and_then_left(logdir):
    def work():
        with TraceAnnotation("a") as annotation:
            annotation.stop()
            annotation.stop()
        annotation.stop()

    assert balanced(logdir, work).labels == ["around", "a", "last"]


def test_left_twice(logdir):
    def work():
        annotation = TraceAnnotation("a")
        with annotation:
            pass
        with annotation:
            pass

    assert balanced(logdir, work).labels == ["around", "a", "last"]


def test_a_bare_object_ends_when_it_is_collected(logdir):
    def work():
        annotation = TraceAnnotation("a")
        del annotation
        gc.collect()
        xprof_roctx.mark("after a")

    row = balanced(logdir, work)
    assert row.the("a").end_ns <= row.the("after a").start_ns
    assert "truncated" not in row.the("a").stats


def test_a_bare_object_in_a_cycle(logdir):
    def work():
        cycle = [TraceAnnotation("a")]
        cycle.append(cycle)
        del cycle
        gc.collect()

    assert "truncated" not in balanced(logdir, work).the("a").stats


def test_stopped_and_collected(logdir):
    def work():
        annotation = TraceAnnotation("a")
        annotation.stop()
        del annotation
        gc.collect()

    assert balanced(logdir, work).labels == ["around", "a", "last"]


def test_objects_ended_in_the_wrong_order(logdir):
    def work():
        first = TraceAnnotation("first")
        second = TraceAnnotation("second")
        first.stop()
        xprof_roctx.mark("between")
        second.stop()
        xprof_roctx.mark("after")

    row = balanced(logdir, work)
    # ROCTX's ranges are a stack: the outer one can end only when the inner one has.
    first, second = row.the("first"), row.the("second")
    assert row.the("between").start_ns <= second.end_ns <= first.end_ns
    assert first.end_ns <= row.the("after").start_ns


def test_an_object_beneath_a_range_of_somebody_elses(logdir):
    def work():
        annotation = TraceAnnotation("object")
        xprof_roctx.range_push("plain")
        annotation.stop()
        xprof_roctx.mark("inside plain")
        xprof_roctx.range_pop()
        with TraceAnnotation("next"):
            pass

    row = balanced(logdir, work)
    assert row.the("inside plain").end_ns <= row.the("plain").end_ns
    assert row.the("object").end_ns <= row.the("next").start_ns


def test_stopped_on_another_thread_it_pops_nothing_there(logdir):
    rows = {}

    def other(annotation):
        xprof_roctx.range_push("theirs")
        annotation.stop()
        xprof_roctx.mark("still inside")
        xprof_roctx.range_pop()
        rows["theirs"] = threading.get_native_id()

    with xprof_roctx.trace(logdir):
        xprof_roctx.range_push("around")
        annotation = TraceAnnotation("mine")
        thread = threading.Thread(target=other, args=(annotation,))
        thread.start()
        thread.join()
        with TraceAnnotation("next"):
            pass
        xprof_roctx.range_pop()
    shown = roctx_rows(the_xplane(logdir))
    theirs = shown[f"{ROW}{rows['theirs']}"]
    assert theirs.labels == ["theirs", "still inside"]
    assert theirs.the("still inside").end_ns <= theirs.the("theirs").end_ns
    mine = shown[f"{ROW}{threading.get_native_id()}"]
    assert mine.labels == ["around", "mine", "next"]
    assert mine.the("mine").end_ns <= mine.the("next").start_ns
    assert all("truncated" not in event.stats for event in mine.events)


def test_collected_on_another_thread_it_pops_nothing_there(logdir):
    box = []

    def other():
        xprof_roctx.range_push("theirs")
        box.clear()
        gc.collect()
        xprof_roctx.mark("still inside")
        xprof_roctx.range_pop()

    with xprof_roctx.trace(logdir):
        xprof_roctx.range_push("around")
        box.append(TraceAnnotation("mine"))
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        xprof_roctx.range_push("next")
        xprof_roctx.range_pop()
        xprof_roctx.range_pop()
    shown = roctx_rows(the_xplane(logdir))
    mine = shown.pop(f"{ROW}{threading.get_native_id()}")
    (theirs,) = shown.values()
    assert theirs.labels == ["theirs", "still inside"]
    assert theirs.the("still inside").end_ns <= theirs.the("theirs").end_ns
    assert mine.labels == ["around", "mine", "next"]
    assert "truncated" not in mine.the("around").stats


def test_made_before_the_session_and_stopped_in_it(logdir):
    annotation = TraceAnnotation("before")

    def work():
        annotation.stop()

    assert balanced(logdir, work).labels == ["around", "last"]


def test_made_in_one_session_and_stopped_in_the_next(logdir):
    with xprof_roctx.trace(logdir / "1"):
        annotation = TraceAnnotation("first session")
    row = balanced(logdir / "2", annotation.stop)
    assert row.labels == ["around", "last"]
    assert the_roctx_row(the_xplane(logdir / "1")).labels == ["first session"]


def test_many_threads_that_hand_objects_around(logdir):
    """Objects made on one thread and ended on others, at random: every thread's own ranges are
    whole, and every object's range is there once."""
    import queue
    import random

    objects = queue.Queue()

    def work(seed):
        choose = random.Random(seed)
        for step in range(200):
            with TraceAnnotation(f"own {step}"):
                objects.put(TraceAnnotation(f"object {seed} {step}"))
                for _ in range(choose.randrange(3)):
                    try:
                        taken = objects.get_nowait()
                    except queue.Empty:
                        break
                    if choose.random() < 0.5:
                        taken.stop()
                    del taken

    with xprof_roctx.trace(logdir):
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while not objects.empty():
            objects.get().stop()
    rows = roctx_rows(the_xplane(logdir))
    assert len(rows) == 4
    for row in rows.values():
        own = [label for label in row.labels if label.startswith("own")]
        assert own == [f"own {step}" for step in range(200)]
        assert len([label for label in row.labels if label.startswith("object")]) == 200
        assert_nested(row)
    labels = [label for row in rows.values() for label in row.labels if "object" in label]
    assert len(set(labels)) == len(labels)


def assert_nested(row):
    """Ranges of one thread lie in each other or apart; never do they cross. The file counts
    picoseconds; jaxlib rounds starts and lengths to nanoseconds."""
    rounding = 2
    open_ends = []
    for event in sorted(row.events, key=lambda event: (event.start_ns, -event.end_ns)):
        while open_ends and open_ends[-1] <= event.start_ns + rounding:
            open_ends.pop()
        assert not open_ends or event.end_ns <= open_ends[-1] + rounding
        open_ends.append(event.end_ns)


def test_is_enabled_is_whether_a_session_records(logdir):
    assert not TraceAnnotation.is_enabled()
    with xprof_roctx.trace(logdir):
        assert TraceAnnotation.is_enabled()
        assert TraceAnnotation("a").is_enabled()
    assert not TraceAnnotation.is_enabled()


def test_metadata_is_not_evaluated_while_nobody_records(logdir):
    class Costly:
        asked = 0

        def __str__(self):
            Costly.asked += 1
            return "costly"

    with TraceAnnotation("idle", value=Costly()) as annotation:
        annotation.set_metadata(other=Costly())
    assert Costly.asked == 0
    with xprof_roctx.trace(logdir):
        with TraceAnnotation("busy", value=Costly()):
            pass
    assert Costly.asked == 1
    (host,) = [row for row in host_rows(the_xplane(logdir)) if "ROCTX" not in row.name]
    assert host.the("busy").stats["value"] == "costly"


def test_metadata_whose_text_fails_raises_and_keeps_the_stack(logdir):
    class Broken:
        def __str__(self):
            raise RuntimeError("no text")

    def work():
        with pytest.raises(RuntimeError, match="no text"):
            TraceAnnotation("broken", value=Broken())
        with TraceAnnotation("fine") as annotation:
            with pytest.raises(RuntimeError, match="no text"):
                annotation.set_metadata(value=Broken())

    row = balanced(logdir, work)
    assert "truncated" not in row.the("fine").stats


def test_subclasses_may_take_other_arguments(labels):
    class Numbered(TraceAnnotation):
        def __init__(self, number):
            super().__init__(f"number {number}", number=number)
            self.number = number

    def work():
        with Numbered(3) as annotation:
            assert annotation.number == 3

    assert labels(work) == ["number 3"]
    assert issubclass(xprof_roctx.StepTraceAnnotation, TraceAnnotation)


def test_a_subclass_that_forgets_to_initialise_is_harmless(logdir):
    class Forgetful(TraceAnnotation):
        def __init__(self):
            pass

    def work():
        with Forgetful() as annotation:
            annotation.set_metadata(a=1)
            annotation.stop()

    assert balanced(logdir, work).labels == ["around", "last"]


def test_annotate_function_bare_named_and_through_partial(labels):
    @xprof_roctx.annotate_function
    def bare(a, b=2):
        """Adds."""
        return a + b

    @xprof_roctx.annotate_function(name="named", key=1)
    def with_name():
        return 1

    @functools.partial(xprof_roctx.annotate_function, name="partial")
    def through_partial():
        return 2

    def work():
        assert bare(1) == 3 and bare(1, b=4) == 5
        assert with_name() == 1 and through_partial() == 2

    name = "test_annotate_function_bare_named_and_through_partial.<locals>.bare"
    assert labels(work) == [name, name, "named", "partial"]
    assert bare.__doc__ == "Adds." and bare.__name__ == "bare"
    assert str(inspect.signature(bare)) == "(a, b=2)"
    assert bare.__wrapped__(1) == 3


def test_annotate_function_on_methods_and_objects(labels):
    class Worker:
        @xprof_roctx.annotate_function
        def method(self):
            return self

        @staticmethod
        @xprof_roctx.annotate_function(name="static")
        def static():
            return 1

        def __call__(self):
            return 2

    worker = Worker()
    annotated = xprof_roctx.annotate_function(worker)

    def work():
        assert worker.method() is worker
        assert Worker.static() == 1
        assert annotated() == 2

    prefix = "test_annotate_function_on_methods_and_objects.<locals>.Worker"
    assert labels(work) == [f"{prefix}.method", "static", prefix]


def test_annotate_function_passes_exceptions_on(logdir):
    @xprof_roctx.annotate_function(name="fails")
    def fails():
        raise ValueError

    def work():
        with pytest.raises(ValueError):
            fails()

    assert balanced(logdir, work).labels == ["around", "fails", "last"]


def test_a_generator_is_annotated_while_it_runs(logdir):
    @xprof_roctx.annotate_function(name="generator")
    def numbers():
        got = yield 1
        try:
            yield got
        except KeyError:
            yield "caught"
        return "result"

    def work():
        generator = numbers()
        assert inspect.isgenerator(generator)
        assert next(generator) == 1
        xprof_roctx.mark("consumer")
        assert generator.send("sent") == "sent"
        assert generator.throw(KeyError()) == "caught"
        with pytest.raises(StopIteration) as end:
            next(generator)
        assert end.value.value == "result"

    row = balanced(logdir, work)
    assert row.labels.count("generator") == 4
    consumer = row.the("consumer")
    for event in row.events:
        if event.name == "generator":
            assert event.end_ns <= consumer.start_ns or event.start_ns >= consumer.end_ns


def test_a_generator_that_is_closed_early_cleans_up(logdir):
    cleaned = []

    @xprof_roctx.annotate_function(name="generator")
    def numbers():
        try:
            yield 1
        finally:
            cleaned.append(True)

    def work():
        generator = numbers()
        next(generator)
        generator.close()

    balanced(logdir, work)
    assert cleaned == [True]


def test_coroutines_that_take_turns_do_not_cross(logdir):
    @xprof_roctx.annotate_function(name="task")
    async def task(turns):
        for _ in range(turns):
            await asyncio.sleep(0)
        return turns

    @xprof_roctx.annotate_function(name="stream")
    async def stream():
        for number in range(3):
            await asyncio.sleep(0)
            yield number

    async def main():
        assert inspect.iscoroutinefunction(task) and inspect.isasyncgenfunction(stream)
        assert await asyncio.gather(task(2), task(3)) == [2, 3]
        assert [number async for number in stream()] == [0, 1, 2]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(task(10**9), timeout=0.05)

    row = balanced(logdir, lambda: asyncio.run(main()))
    assert_nested(row)
    assert row.labels.count("task") >= 3 + 4
    assert all("truncated" not in event.stats for event in row.events)


def test_an_annotation_cannot_be_pickled():
    with pytest.raises(TypeError):
        pickle.dumps(TraceAnnotation("a"))
