"""Reads profiles with other people's software, and runs programs to be profiled.

Nothing here uses this project's reader: rows come from jaxlib's ``ProfileData``, from XProf's own
converter and from the protobuf runtime.
"""

import functools
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
from typing import NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROW = "ROCTX Threads/"
WARNINGS_ROW = "ROCTX Warnings"


class Event(NamedTuple):
    name: str
    start_ns: float
    end_ns: float
    stats: dict


class Row(NamedTuple):
    name: str
    events: list

    @property
    def labels(self):
        return [event.name for event in self.events]

    def the(self, name):
        """The one event of this name."""
        (event,) = [event for event in self.events if event.name == name]
        return event


def xplanes(logdir):
    """The profiles in a log directory."""
    return sorted(pathlib.Path(logdir).glob("plugins/profile/*/*.xplane.pb"))


def the_xplane(logdir):
    (path,) = xplanes(logdir)
    return path


def host_rows(path):
    """Every row of ``/host:CPU``, as jaxlib reads it. A list: two rows may have one name."""
    from jax.profiler import ProfileData

    plane = ProfileData.from_file(str(path)).find_plane_with_name("/host:CPU")
    if plane is None:
        return []
    return [
        Row(
            line.name,
            [
                Event(event.name, event.start_ns, event.end_ns, dict(event.stats))
                for event in line.events
            ],
        )
        for line in plane.lines
    ]


def display_name(label):
    """What XProf shows of a label: its metadata, ``#key=value#`` at the end, are stats there."""
    return re.sub(r"#[^#]*=[^#]*#$", "", label)


def roctx_rows(path):
    """The ROCTX rows by name, on which jaxlib and XProf agree."""
    rows = [row for row in host_rows(path) if "ROCTX" in row.name]
    by_name = {row.name: row for row in rows}
    assert len(by_name) == len(rows), "each row has a name of its own"
    shown = {
        name: events for name, events in xprof_rows(path).items() if "ROCTX" in name
    }
    assert set(shown) == set(by_name), "XProf shows the same rows"
    for name, row in by_name.items():
        ours = sorted(
            (display_name(event.name), event.start_ns, event.end_ns) for event in row.events
        )
        theirs = sorted(
            (event["name"], event["ts"] * 1e3, (event["ts"] + event["dur"]) * 1e3)
            for event in shown[name]
        )
        assert [event[0] for event in ours] == [event[0] for event in theirs]
        for mine, other in zip(ours, theirs):
            # XProf gives an instant the length of a picosecond, in microseconds with three digits.
            assert abs(mine[1] - other[1]) <= 2 and abs(mine[2] - other[2]) <= 3, (mine, other)
    return by_name


def the_roctx_row(path):
    """The one row of markers; what was dropped has a row of its own."""
    (row,) = (row for row in roctx_rows(path).values() if row.name != WARNINGS_ROW)
    return row


def xprof_rows(path):
    """Rows of the host process by name, as XProf's trace viewer gets them."""
    from xprof.convert import raw_to_tool_data

    data, _ = raw_to_tool_data.xspace_to_tool_data(
        [str(path)],
        "trace_viewer@",
        {
            "hosts": [],
            "use_saved_result": False,
            "trace_viewer_options": {
                "resolution": "0",
                "start_time_ms": "0",
                "end_time_ms": "100000000",
            },
        },
    )
    return rows_of_trace_events(json.loads(data))


def rows_of_trace_events(trace):
    """Rows of the process ``/host:CPU`` in trace-viewer JSON, by name."""
    names, processes = {}, set()
    for event in trace["traceEvents"]:
        if event.get("name") == "process_name" and "/host:CPU" in event["args"]["name"]:
            processes.add(event["pid"])
        if event.get("name") == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
    rows = {}
    for event in trace["traceEvents"]:
        if event.get("ph") == "X" and event["pid"] in processes:
            rows.setdefault(names[event["pid"], event["tid"]], []).append(event)
    return rows


def trace_json_rows(path):
    """Rows of the ``.trace.json.gz`` beside a profile."""
    name = path.name.replace(".xplane.pb", ".trace.json.gz")
    with gzip.open(path.with_name(name)) as file:
        return rows_of_trace_events(json.load(file))


def session_start_ns(path):
    """When the session began, ns since the epoch: event times count from here."""
    from jax.profiler import ProfileData

    plane = ProfileData.from_file(str(path)).find_plane_with_name("Task Environment")
    return dict(plane.stats)["profile_start_time"]


# Field numbers and types of tensorflow.profiler's xplane.proto.
_MESSAGES = {
    "XSpace": ["planes 1 XPlane*", "errors 2 string*", "warnings 3 string*", "hostnames 4 string*"],
    "XPlane": [
        "id 1 int64",
        "name 2 string",
        "lines 3 XLine*",
        # A map, which is on the wire as these pairs.
        "event_metadata 4 EventMetadataEntry*",
    ],
    "EventMetadataEntry": ["key 1 int64", "value 2 XEventMetadata"],
    "XEventMetadata": ["id 1 int64", "name 2 string"],
    "XLine": [
        "id 1 int64",
        "name 2 string",
        "timestamp_ns 3 int64",
        "events 4 XEvent*",
        "duration_ps 9 int64",
        "display_id 10 int64",
        "display_name 11 string",
    ],
    "XEvent": ["metadata_id 1 int64", "offset_ps 2 int64", "duration_ps 3 int64"],
}


@functools.cache
def _classes():
    file = descriptor_pb2.FileDescriptorProto(
        name="xplane_for_tests.proto", package="tensorflow.profiler", syntax="proto3"
    )
    types = descriptor_pb2.FieldDescriptorProto
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields:
            label, number, kind = field.split()
            repeated = kind.endswith("*")
            kind = kind.rstrip("*")
            added = message.field.add(
                name=label,
                number=int(number),
                label=types.LABEL_REPEATED if repeated else types.LABEL_OPTIONAL,
            )
            if kind in _MESSAGES:
                added.type = types.TYPE_MESSAGE
                added.type_name = f".tensorflow.profiler.{kind}"
            else:
                added.type = {"int64": types.TYPE_INT64, "string": types.TYPE_STRING}[kind]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool.FindMessageTypeByName("tensorflow.profiler.XSpace")


def message_class():
    """``XSpace`` of the protobuf runtime."""
    return message_factory.GetMessageClass(_classes())


def xspace(path):
    """The file as the protobuf runtime reads it. It refuses a string that is not UTF-8."""
    return message_class().FromString(path.read_bytes())


def assert_rows_have_ids_of_their_own(path):
    """No two lines of a plane share an id, or the 32 bits of it that viewers use."""
    for plane in xspace(path).planes:
        ids = [line.id for line in plane.lines]
        assert len(set(ids)) == len(ids), plane.name
        shown = [(line.display_id or line.id) & 0xFFFFFFFF for line in plane.lines]
        assert len(set(shown)) == len(shown), plane.name


def run(command, *, env=None, check=True, **kwargs):
    """Runs a program; its output goes into the failure, if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        **kwargs,
    )
    if check:
        assert done.returncode == 0, f"{done.args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run_python(source, *args, **kwargs):
    """Runs Python source in a new interpreter of the same environment."""
    return run([sys.executable, "-c", textwrap.dedent(source), *args], **kwargs)


WITHOUT_JAX = """
import sys
class NoJax:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "jaxlib", "xprof", "numpy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NoJax())
"""
"""Source that makes the interpreter one without JAX and XProf."""
