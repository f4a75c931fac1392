"""``xprof_roctx.install``: JAX's own annotations as ROCTX ranges, in a program that is not changed."""

import pytest
from profiles import WITHOUT_JAX, host_rows, roctx_rows, run_python, the_roctx_row, the_xplane

PROGRAM = """
import sys, threading
import jax
from jax.profiler import StepTraceAnnotation, TraceAnnotation, annotate_function

class Mine(TraceAnnotation):
    def __init__(self, number):
        super().__init__("mine", number=number)

@annotate_function
def decorated():
    pass

def work():
    with TraceAnnotation("plain", shard=3) as annotation:
        assert type(annotation) is TraceAnnotation
    with StepTraceAnnotation("train", step_num=7):
        decorated()
    with Mine(1):
        pass
"""
"""A program that knows nothing of this package, and took the names before it was installed."""

LABELS = ["plain", "train", "decorated", "mine"]


def labels(path):
    return {name: row.labels for name, row in roctx_rows(path).items()}


def host_events(path, name):
    return [
        event
        for row in host_rows(path)
        if "ROCTX" not in row.name
        for event in row.events
        if event.name == name
    ]


@pytest.mark.parametrize("who", ["by a call", "by the environment", "when imported"])
def test_an_unchanged_program_has_its_annotations_on_a_row(logdir, who):
    install = {
        "by a call": "import xprof_roctx; xprof_roctx.install()",
        # JAX finds the plug-in: the program imports nothing of it.
        "by the environment": "",
        "when imported": "import xprof_roctx; assert xprof_roctx.is_installed()",
    }[who]
    source = PROGRAM + f"""
{install}
with jax.profiler.trace(sys.argv[1]):
    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    env = {} if who == "by a call" else {"XPROF_ROCTX_AUTOINSTALL": "1"}
    run_python(source, logdir, env=env)
    path = the_xplane(logdir)
    assert list(labels(path).values()) == [LABELS, LABELS]
    # The host events are as ever: one each, with their metadata.
    assert [event.stats["shard"] for event in host_events(path, "plain")] == [3, 3]
    assert [event.stats["step_num"] for event in host_events(path, "train")] == [7, 7]
    row = next(iter(roctx_rows(path).values()))
    assert row.the("train").start_ns <= row.the("decorated").start_ns
    assert row.the("decorated").end_ns <= row.the("train").end_ns


def test_without_it_an_unchanged_program_has_no_row(logdir):
    source = PROGRAM + """
import xprof_roctx
with jax.profiler.trace(sys.argv[1]):
    work()
"""
    run_python(source, logdir)
    assert labels(the_xplane(logdir)) == {}
    assert len(host_events(the_xplane(logdir), "plain")) == 1


def test_uninstalled_the_originals_are_as_they_were(logdir):
    source = PROGRAM + """
import xprof_roctx
from jax._src.source_info_util import ExtendNameStackContextManager as Scope
classes = [TraceAnnotation, StepTraceAnnotation, Scope]
names = [(jax.profiler, "TraceAnnotation"), (jax.profiler, "StepTraceAnnotation"),
         (jax.profiler, "annotate_function"), (jax, "named_scope")]
before = [dict(cls.__dict__) for cls in classes], [getattr(*name) for name in names]
xprof_roctx.install()
xprof_roctx.install()
during = [dict(cls.__dict__) for cls in classes]
assert during[0] != before[0][0] and during[2] != before[0][2]
assert all(getattr(*name) is old for name, old in zip(names, before[1]))
open_one = TraceAnnotation("open")
xprof_roctx.uninstall()
assert not xprof_roctx.is_installed()
for cls, old in zip(classes, before[0]):
    assert dict(cls.__dict__) == old
    assert all(cls.__dict__[name] is old[name] for name in old)
open_one.__exit__(None, None, None)
xprof_roctx.uninstall()
with jax.profiler.trace(sys.argv[1]):
    work()
"""
    run_python(source, logdir)
    assert labels(the_xplane(logdir)) == {}


def test_introspection_of_the_originals_goes_on(logdir):
    source = PROGRAM + """
import copy, inspect, pickle, xprof_roctx
def signatures():
    for what in (TraceAnnotation, StepTraceAnnotation, Mine, annotate_function, jax.named_scope):
        try:
            yield str(inspect.signature(what))
        except ValueError:
            yield None
before = list(signatures())
documented = TraceAnnotation.__init__.__doc__
xprof_roctx.install()
for old, new in zip(before, signatures()):
    assert old is None or old == new, (old, new)
assert TraceAnnotation.__init__.__doc__ == documented
assert pickle.loads(pickle.dumps(TraceAnnotation)) is TraceAnnotation
assert pickle.loads(pickle.dumps(StepTraceAnnotation)) is StepTraceAnnotation
with Mine(1) as annotation:
    assert isinstance(annotation, TraceAnnotation) and isinstance(annotation, Mine)
    # What a subclass may do with its attributes.
    assert set(copy.deepcopy(vars(annotation))) == set(vars(annotation))
    pickle.dumps(vars(annotation))
assert vars(annotation) == {}
assert TraceAnnotation.is_enabled() is False
with jax.profiler.trace(sys.argv[1]):
    assert TraceAnnotation.is_enabled() is True
    with TraceAnnotation("late") as annotation:
        annotation.set_metadata(found=5)
"""
    run_python(source, logdir)
    (event,) = host_events(the_xplane(logdir), "late")
    assert event.stats["found"] == 5


def test_what_jax_refuses_it_refuses_and_no_range_stays_open(logdir):
    source = PROGRAM + """
import xprof_roctx
xprof_roctx.install()
with jax.profiler.trace(sys.argv[1]):
    xprof_roctx.range_push("around")
    for args, kwargs in [((), {}), ((1,), {}), (("a", "b"), {}), ((b"a",), {}), ((), {"name": "a"})]:
        try:
            TraceAnnotation(*args, **kwargs)
        except TypeError:
            pass
        else:
            raise AssertionError(args)
    try:
        with TraceAnnotation("fails"):
            raise KeyError("mine")
    except KeyError:
        pass
    xprof_roctx.mark("last")
    xprof_roctx.range_pop()
    with TraceAnnotation("after"):
        pass
"""
    run_python(source, logdir)
    row = the_roctx_row(the_xplane(logdir))
    assert [label for label in row.labels if label != "a"] == ["around", "fails", "last", "after"]
    assert row.the("around").end_ns <= row.the("after").start_ns
    assert all("truncated" not in event.stats for event in row.events)


def test_our_own_annotations_beside_it_are_there_once(logdir):
    source = PROGRAM + """
import xprof_roctx
xprof_roctx.install()
@xprof_roctx.annotate_function
def ours():
    pass
with jax.profiler.trace(sys.argv[1]):
    with xprof_roctx.TraceAnnotation("own"):
        with TraceAnnotation("stock"):
            ours()
"""
    run_python(source, logdir)
    path = the_xplane(logdir)
    assert the_roctx_row(path).labels == ["own", "stock", "ours"]
    for name in ("own", "stock", "ours"):
        assert len(host_events(path, name)) == 1


def test_in_a_session_without_jaxs_profiler(logdir):
    source = PROGRAM + """
import xprof_roctx
xprof_roctx.install()
with xprof_roctx.trace(sys.argv[1]):
    work()
"""
    run_python(source, logdir)
    path = the_xplane(logdir)
    assert the_roctx_row(path).labels == LABELS
    assert host_events(path, "plain")[0].stats["shard"] == 3


def test_generators_and_coroutines_that_take_turns(logdir):
    source = PROGRAM + """
import asyncio, gc, xprof_roctx
xprof_roctx.install()
def steps(name):
    with TraceAnnotation(name):
        yield 1
        yield 2
async def task(name):
    with TraceAnnotation(name):
        for _ in range(3):
            await asyncio.sleep(0)
async def main():
    await asyncio.gather(task("task a"), task("task b"))
with jax.profiler.trace(sys.argv[1]):
    xprof_roctx.range_push("around")
    first, second = steps("first"), steps("second")
    next(first); next(second)
    list(first)                       # ends while the second one, opened later, is open
    del second                        # never run to its end
    gc.collect()
    asyncio.run(main())
    bare = TraceAnnotation("bare")
    thread = threading.Thread(target=bare.__exit__, args=(None, None, None))
    thread.start(); thread.join()
    del bare
    xprof_roctx.mark("last")
    xprof_roctx.range_pop()
    with TraceAnnotation("after"):
        pass
"""
    run_python(source, logdir)
    row = the_roctx_row(the_xplane(logdir))
    assert sorted(row.labels) == sorted(
        ["around", "first", "second", "task a", "task b", "bare", "last", "after"]
    )
    assert row.the("around").end_ns >= row.the("last").end_ns
    assert row.the("after").start_ns >= row.the("around").end_ns
    assert all("truncated" not in event.stats for event in row.events)


def test_named_scopes_and_jaxs_own_annotations(logdir):
    source = PROGRAM + """
import xprof_roctx
@jax.jit
@jax.named_scope("layer")
def layer(x):
    with jax.named_scope("inner"):
        return x * 2
def run():
    with jax.named_scope("eager"):
        layer(jax.numpy.ones(3)).block_until_ready()
    jax.clear_caches()
for options in ({}, {"named_scopes": False}, {"jax_internals": True}):
    with jax.profiler.trace(sys.argv[1] + "/" + "".join(options)):
        with xprof_roctx.installed(**options):
            run()
"""
    run_python(source, logdir)
    # While jit traces them; the compiled code has no host side.
    assert the_roctx_row(the_xplane(logdir)).labels == ["eager", "layer", "inner"]
    assert labels(the_xplane(logdir / "named_scopes")) == {}
    everything = the_roctx_row(the_xplane(logdir / "jax_internals")).labels
    assert {"eager", "layer", "inner"} < set(everything)
    assert any("compile" in label for label in everything)


def test_installed_nests_and_puts_back_what_was(logdir):
    source = PROGRAM + """
import xprof_roctx
def say(label):
    with TraceAnnotation(label):
        with jax.named_scope("scope"):
            pass
with jax.profiler.trace(sys.argv[1]):
    with xprof_roctx.installed():
        say("1")
        with xprof_roctx.installed(named_scopes=False):
            say("2")
            with xprof_roctx.installed(mode="off"):
                say("no")
            say("3")
        say("4")
    say("no")
    xprof_roctx.install()
    try:
        with xprof_roctx.installed():
            raise KeyError
    except KeyError:
        say("5")
    xprof_roctx.uninstall()
    say("no")
"""
    run_python(source, logdir)
    expected = ["1", "scope", "2", "3", "4", "scope", "5", "scope"]
    assert the_roctx_row(the_xplane(logdir)).labels == expected


def test_somebody_elses_wrapper_around_ours_stays(logdir):
    source = PROGRAM + """
import xprof_roctx
xprof_roctx.install()
ours, calls = TraceAnnotation.__init__, []
def theirs(self, *args, **kwargs):
    calls.append(args)
    ours(self, *args, **kwargs)
TraceAnnotation.__init__ = theirs
xprof_roctx.uninstall()
assert TraceAnnotation.__init__ is theirs
with jax.profiler.trace(sys.argv[1]):
    with TraceAnnotation("not a range"):
        pass
    xprof_roctx.install()
    with TraceAnnotation("one range"):
        pass
assert calls == [("not a range",), ("one range",)]
"""
    run_python(source, logdir)
    assert the_roctx_row(the_xplane(logdir)).labels == ["one range"]


def test_threads_that_annotate_while_it_is_put_in_and_taken_out(logdir):
    source = PROGRAM + """
import xprof_roctx
done = threading.Event()
def annotate():
    while not done.is_set():
        work()
threads = [threading.Thread(target=annotate) for _ in range(4)]
with xprof_roctx.trace(sys.argv[1]):
    for thread in threads: thread.start()
    for _ in range(200):
        xprof_roctx.install()
        xprof_roctx.uninstall()
    done.set()
    for thread in threads: thread.join()
    xprof_roctx.install()
    work()
"""
    done = run_python(source, logdir)
    assert done.stderr == ""
    for row in roctx_rows(the_xplane(logdir)).values():
        assert set(row.labels) <= set(LABELS)
        assert all("truncated" not in event.stats for event in row.events)


def test_without_jax_it_says_so():
    source = WITHOUT_JAX + """
import xprof_roctx
xprof_roctx.uninstall()
try:
    xprof_roctx.install()
except ImportError as error:
    print(error.name)
"""
    env = {"XPROF_ROCTX_AUTOINSTALL": "1"}
    assert run_python(source, env=env).stdout == "jax\n"


@pytest.mark.parametrize(
    "mode, rows",
    [
        ("auto", ["plain", "own"]),
        ("emit", []),
        ("listen", ["own"]),
        ("off", []),
        ("loud", ["plain", "own"]),
    ],
)
@pytest.mark.parametrize("how", ["argument", "environment"])
def test_modes(logdir, mode, rows, how):
    argument = "mode=sys.argv[2]" if how == "argument" else ""
    source = PROGRAM + f"""
import xprof_roctx
try:
    xprof_roctx.install({argument})
except ValueError as error:
    print(error)
    raise SystemExit
with jax.profiler.trace(sys.argv[1]):
    with TraceAnnotation("plain"):
        pass
    with xprof_roctx.TraceAnnotation("own"):
        pass
"""
    env = {"XPROF_ROCTX_MODE": mode} if how == "environment" else {}
    done = run_python(source, logdir, mode, env=env)
    if mode == "loud":
        said = done.stdout if how == "argument" else done.stderr
        assert said.count("'loud'") == 1 and "auto, emit, listen, off" in said
        if how == "argument":
            return
    else:
        assert "XPROF_ROCTX_MODE" not in done.stderr
    shown = [label for row in labels(the_xplane(logdir)).values() for label in row]
    assert shown == rows
    assert len(host_events(the_xplane(logdir), "plain")) == 1


def test_a_switch_that_says_neither_is_named(logdir):
    source = PROGRAM + """
import xprof_roctx
print(xprof_roctx.is_installed())
jax.devices()
"""
    done = run_python(source, env={"XPROF_ROCTX_AUTOINSTALL": "yes"})
    assert done.stdout == "False\n"
    assert done.stderr.count("XPROF_ROCTX_AUTOINSTALL is 'yes'") == 1
