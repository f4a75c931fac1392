//! The decoder on arbitrary bytes, and arbitrary messages through encoder and decoder.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use xplane_schema::Message;
use xplane_schema::proto::{
    XEvent, XEventMetadata, XLine, XPlane, XSpace, XStat, XStatMetadata, x_event, x_stat,
};

fn value() -> impl Strategy<Value = x_stat::Value> {
    use x_stat::Value::*;
    prop_oneof![
        // Not NaN, which no value equals.
        (-1e300..1e300).prop_map(DoubleValue),
        any::<u64>().prop_map(Uint64Value),
        any::<i64>().prop_map(Int64Value),
        ".{0,8}".prop_map(StrValue),
        vec(any::<u8>(), 0..8).prop_map(BytesValue),
        any::<u64>().prop_map(RefValue),
    ]
}

fn stat() -> impl Strategy<Value = XStat> {
    (any::<i64>(), proptest::option::of(value())).prop_map(|(metadata_id, value)| XStat {
        metadata_id,
        value,
        ..Default::default()
    })
}

fn event() -> impl Strategy<Value = XEvent> {
    let data = prop_oneof![
        Just(None),
        any::<i64>().prop_map(|value| Some(x_event::Data::OffsetPs(value))),
        any::<i64>().prop_map(|value| Some(x_event::Data::NumOccurrences(value))),
    ];
    (any::<i64>(), data, any::<i64>(), vec(stat(), 0..3)).prop_map(
        |(metadata_id, data, duration_ps, stats)| XEvent {
            metadata_id,
            data,
            duration_ps,
            stats,
            ..Default::default()
        },
    )
}

fn line() -> impl Strategy<Value = XLine> {
    let numbers = (any::<i64>(), any::<i64>(), any::<i64>(), any::<i64>());
    (numbers, ".{0,8}", ".{0,8}", vec(event(), 0..4)).prop_map(
        |((id, display_id, timestamp_ns, duration_ps), name, display_name, events)| XLine {
            id,
            display_id,
            name,
            display_name,
            timestamp_ns,
            duration_ps,
            events,
            ..Default::default()
        },
    )
}

fn event_metadata() -> impl Strategy<Value = XEventMetadata> {
    (
        any::<i64>(),
        ".{0,8}",
        vec(any::<u8>(), 0..8),
        ".{0,8}",
        vec(stat(), 0..3),
        vec(any::<i64>(), 0..3),
    )
        .prop_map(
            |(id, name, metadata, display_name, stats, child_id)| XEventMetadata {
                id,
                name,
                metadata,
                display_name,
                stats,
                child_id,
                ..Default::default()
            },
        )
}

fn stat_metadata() -> impl Strategy<Value = XStatMetadata> {
    (any::<i64>(), ".{0,8}", ".{0,8}").prop_map(|(id, name, description)| XStatMetadata {
        id,
        name,
        description,
        ..Default::default()
    })
}

fn plane() -> impl Strategy<Value = XPlane> {
    (
        any::<i64>(),
        ".{0,200}",
        vec(line(), 0..4),
        btree_map(any::<i64>(), event_metadata(), 0..4),
        btree_map(any::<i64>(), stat_metadata(), 0..4),
        vec(stat(), 0..3),
    )
        .prop_map(
            |(id, name, lines, event_metadata, stat_metadata, stats)| XPlane {
                id,
                name,
                lines,
                event_metadata,
                stat_metadata,
                stats,
                ..Default::default()
            },
        )
}

fn space() -> impl Strategy<Value = XSpace> {
    (vec(plane(), 0..3), vec(".{0,8}", 0..3), vec(".{0,8}", 0..3)).prop_map(
        |(planes, warnings, hostnames)| XSpace {
            planes,
            warnings,
            hostnames,
            ..Default::default()
        },
    )
}

/// Changes a few bytes of a real message.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    (space(), edits).prop_map(|(space, edits)| {
        let mut bytes = space.encode_to_vec();
        if !bytes.is_empty() {
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes
    })
}

/// Whatever is read can be written, and then says the same.
fn assert_stable(bytes: &[u8]) {
    if let Ok(space) = XSpace::decode(bytes) {
        let written = space.encode_to_vec();
        assert_eq!(written.len(), space.encoded_len());
        let again = XSpace::decode(&written[..]).unwrap();
        // Bytes rather than messages, for a NaN does not equal itself.
        assert_eq!(again.encode_to_vec(), written);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..300)) {
        assert_stable(&bytes);
    }

    #[test]
    fn damaged_messages_do_not_panic(bytes in damaged()) {
        assert_stable(&bytes);
    }

    #[test]
    fn what_is_written_is_read(space in space()) {
        let bytes = space.encode_to_vec();
        prop_assert_eq!(bytes.len(), space.encoded_len());
        let mut by_buffer = Vec::new();
        space.encode(&mut by_buffer).unwrap();
        prop_assert_eq!(&bytes, &by_buffer);
        prop_assert_eq!(XSpace::decode(&bytes[..]).unwrap(), space);
    }

    #[test]
    fn messages_one_after_another_merge(one in space(), other in space()) {
        let both = [one.encode_to_vec(), other.encode_to_vec()].concat();
        let read = XSpace::decode(&both[..]).unwrap();
        prop_assert_eq!(read.planes, [one.planes, other.planes].concat());
        prop_assert_eq!(read.warnings, [one.warnings, other.warnings].concat());
    }
}
