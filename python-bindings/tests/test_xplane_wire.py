"""The encoding of xplane-schema, against Google's protobuf runtime.

Messages made by the runtime go through ``xplane-schema``'s example ``rewrite``, which reads and
writes them, and must come back equal.
"""

import pathlib
import random
import shutil
import subprocess

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = pathlib.Path(__file__).parents[2]
STRANGERS_FILE = ROOT / "host-postprocess/tests/data/jax-0.11.2-cuda-h200.xplane.pb"

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")

# tensorflow.profiler's xplane.proto: name, number, type; * repeated, | of a oneof, {} a map.
MESSAGES = {
    "XSpace": "planes 1 XPlane*, errors 2 string*, warnings 3 string*, hostnames 4 string*",
    "XPlane": "id 1 int64, name 2 string, lines 3 XLine*, event_metadata 4 XEventMetadata{}, "
    "stat_metadata 5 XStatMetadata{}, stats 6 XStat*",
    "XLine": "id 1 int64, name 2 string, timestamp_ns 3 int64, events 4 XEvent*, "
    "duration_ps 9 int64, display_id 10 int64, display_name 11 string",
    "XEvent": "metadata_id 1 int64, offset_ps 2 int64|, num_occurrences 5 int64|, "
    "duration_ps 3 int64, stats 4 XStat*",
    "XStat": "metadata_id 1 int64, double_value 2 double|, uint64_value 3 uint64|, "
    "int64_value 4 int64|, str_value 5 string|, bytes_value 6 bytes|, ref_value 7 uint64|",
    "XEventMetadata": "id 1 int64, name 2 string, metadata 3 bytes, display_name 4 string, "
    "stats 5 XStat*, child_id 6 int64*",
    "XStatMetadata": "id 1 int64, name 2 string, description 3 string",
}

# What a later version may add to each of them.
LATER = (
    ", later_number 1000 int64, later_text 1001 string, later_fixed 1002 double, "
    "later_numbers 1003 int64*, later_stat 1004 XStat*"
)

SCALARS = ["int64", "uint64", "double", "string", "bytes"]


def space_class(messages):
    file = descriptor_pb2.FileDescriptorProto(
        name="xplane.proto", package="tensorflow.profiler", syntax="proto3"
    )
    field_type = descriptor_pb2.FieldDescriptorProto

    def add(message, name, number, kind):
        repeated = kind.endswith(("*", "{}"))
        field = message.field.add(
            name=name,
            number=int(number),
            label=field_type.LABEL_REPEATED if repeated else field_type.LABEL_OPTIONAL,
        )
        if kind.endswith("|"):
            field.oneof_index = 0
        bare = kind.rstrip("*|{}")
        if kind.endswith("{}"):
            entry_name = name.title().replace("_", "") + "Entry"
            entry = message.nested_type.add(name=entry_name)
            entry.options.map_entry = True
            add(entry, "key", 1, "int64")
            add(entry, "value", 2, bare)
            bare = f"{message.name}.{entry_name}"
        if bare in SCALARS:
            field.type = getattr(field_type, f"TYPE_{bare.upper()}")
        else:
            field.type = field_type.TYPE_MESSAGE
            field.type_name = f".tensorflow.profiler.{bare}"

    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        if "|" in fields:
            message.oneof_decl.add(name="value")
        for field in fields.split(", "):
            add(message, *field.split())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("tensorflow.profiler.XSpace")
    return message_factory.GetMessageClass(descriptor)


XSpace = space_class(MESSAGES)
LaterXSpace = space_class({name: fields + LATER for name, fields in MESSAGES.items()})


def rewrite(data):
    """What the crate makes of ``data``; None if it refuses it."""
    command = ["cargo", "run", "--quiet", "--package", "xplane-schema", "--example", "rewrite"]
    done = subprocess.run(command, cwd=ROOT, input=data, capture_output=True, timeout=600)
    if done.returncode:
        assert done.stderr.startswith(b"Error: DecodeError"), done.stderr.decode()
        return None
    return done.stdout


def fill(message, rng, depth=0):
    """Sets some fields, at random."""
    values = {
        "int64": lambda: rng.choice([0, 1, 127, 128, -1, 2**63 - 1, -(2**63)]),
        "uint64": lambda: rng.choice([0, 1, 2**64 - 1]),
        "double": lambda: rng.choice([0.0, -0.5, 1e300, float("inf")]),
        "string": lambda: rng.choice(["", "a", "é😀", "a\0b", "x" * 200]),
        "bytes": lambda: rng.choice([b"", b"\xff\x00", b"y" * 130]),
    }
    of_oneof = rng.choice([field.name for field in message.DESCRIPTOR.fields])
    for field in message.DESCRIPTOR.fields:
        kind = {
            field.TYPE_INT64: "int64",
            field.TYPE_UINT64: "uint64",
            field.TYPE_DOUBLE: "double",
            field.TYPE_STRING: "string",
            field.TYPE_BYTES: "bytes",
        }.get(field.type)
        if field.containing_oneof:
            if field.name == of_oneof:
                setattr(message, field.name, values[kind]())
        elif field.message_type and field.message_type.GetOptions().map_entry:
            for _ in range(rng.randrange(3)):
                key = values["int64"]()
                fill(getattr(message, field.name)[key], rng, depth + 1)
        elif field.message_type:
            for _ in range(rng.randrange(3 if depth < 6 else 1)):
                fill(getattr(message, field.name).add(), rng, depth + 1)
        elif hasattr(getattr(message, field.name), "extend"):
            getattr(message, field.name).extend(values[kind]() for _ in range(rng.randrange(3)))
        elif rng.random() < 0.7:
            setattr(message, field.name, values[kind]())


@pytest.mark.parametrize("cls", [XSpace, LaterXSpace], ids=["known", "later"])
def test_messages_come_back_equal(cls):
    """Also what the crate does not know: ``later`` has more fields, at every depth."""
    rng = random.Random(20251)
    spaces = []
    for _ in range(6):
        space = cls()
        for _ in range(8):
            fill(space.planes.add(), rng)
        space.warnings.extend(["w", "", "é"])
        spaces.append(space)
    for space in spaces:
        assert space.ByteSize() > 1000
        back = cls.FromString(rewrite(space.SerializeToString()))
        assert back == space


def test_a_strangers_file_comes_back_equal():
    data = STRANGERS_FILE.read_bytes()
    back = rewrite(data)
    assert XSpace.FromString(back) == XSpace.FromString(data)
    assert len(back) == len(data)


def test_a_file_with_text_that_is_not_utf8_becomes_readable():
    space = XSpace()
    space.planes.add(name="/host:CPU").stat_metadata[1].name = "LABEL"
    data = space.SerializeToString().replace(b"LABEL", b"L\xff\xfeEL")
    with pytest.raises(Exception):
        XSpace.FromString(data)
    read = XSpace.FromString(rewrite(data))
    assert read.planes[0].stat_metadata[1].name == "L\ufffd\ufffdEL"


def test_what_the_runtime_refuses_is_refused():
    data = STRANGERS_FILE.read_bytes()
    for cut in [1, 100, len(data) // 2, len(data) - 1]:
        with pytest.raises(Exception):
            XSpace.FromString(data[:cut])
        assert rewrite(data[:cut]) is None
