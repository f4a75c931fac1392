//! The encoding, byte by byte, as protobuf's encoding guide has it: a field is the varint
//! `number << 3 | wire type` and a payload; wire types are 0 varint, 1 eight bytes, 2 a length and
//! that many bytes, 3 and 4 the start and end of a group, 5 four bytes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use xplane_schema::proto::{
    XEvent, XEventMetadata, XLine, XPlane, XSpace, XStat, XStatMetadata, x_event, x_stat,
};
use xplane_schema::{DecodeError, Message};

/// A field of length-delimited content.
fn nested(key: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 0x80);
    [&[key, content.len() as u8], content].concat()
}

/// `message` encodes as `bytes`, and `bytes` decode to `message`.
fn assert_wire<M: Message + Debug + Default + PartialEq>(message: M, bytes: &[u8]) {
    assert_eq!(message.encode_to_vec(), bytes, "encoding {message:?}");
    assert_eq!(message.encoded_len(), bytes.len());
    assert_eq!(M::decode(bytes).unwrap(), message, "decoding");
}

fn stat(metadata_id: i64, value: x_stat::Value) -> XStat {
    XStat {
        metadata_id,
        value: Some(value),
        ..Default::default()
    }
}

#[test]
fn space_fields() {
    assert_wire(XSpace::default(), b"");
    let space = XSpace {
        planes: vec![
            XPlane::default(),
            XPlane {
                id: 2,
                ..Default::default()
            },
        ],
        errors: vec!["e".into()],
        warnings: vec!["w".into(), String::new()],
        hostnames: vec!["h".into()],
        ..Default::default()
    };
    let bytes = b"\x0a\x00\x0a\x02\x08\x02\x12\x01e\x1a\x01w\x1a\x00\x22\x01h";
    assert_wire(space, bytes);
}

#[test]
fn plane_fields() {
    let plane = XPlane {
        id: 1,
        name: "p".into(),
        lines: vec![XLine {
            id: 3,
            ..Default::default()
        }],
        event_metadata: BTreeMap::from([(
            5,
            XEventMetadata {
                id: 5,
                ..Default::default()
            },
        )]),
        stat_metadata: BTreeMap::from([(
            6,
            XStatMetadata {
                id: 6,
                ..Default::default()
            },
        )]),
        stats: vec![XStat {
            metadata_id: 6,
            ..Default::default()
        }],
        ..Default::default()
    };
    let bytes = b"\x08\x01\x12\x01p\x1a\x02\x08\x03\
        \x22\x06\x08\x05\x12\x02\x08\x05\
        \x2a\x06\x08\x06\x12\x02\x08\x06\
        \x32\x02\x08\x06";
    assert_wire(plane, bytes);
}

#[test]
fn line_fields() {
    let line = XLine {
        id: 1,
        display_id: 10,
        name: "n".into(),
        display_name: "d".into(),
        timestamp_ns: 3,
        duration_ps: 9,
        events: vec![XEvent {
            metadata_id: 4,
            ..Default::default()
        }],
        ..Default::default()
    };
    let bytes = b"\x08\x01\x12\x01n\x18\x03\x22\x02\x08\x04\x48\x09\x50\x0a\x5a\x01d";
    assert_wire(line, bytes);
}

#[test]
fn event_fields() {
    let event = XEvent {
        metadata_id: 1,
        data: Some(x_event::Data::OffsetPs(300)),
        duration_ps: 3,
        stats: vec![XStat {
            metadata_id: 4,
            ..Default::default()
        }],
        ..Default::default()
    };
    assert_wire(event, b"\x08\x01\x10\xac\x02\x18\x03\x22\x02\x08\x04");
    let aggregate = XEvent {
        data: Some(x_event::Data::NumOccurrences(7)),
        ..Default::default()
    };
    assert_wire(aggregate, b"\x28\x07");
}

#[test]
fn stat_fields() {
    assert_wire(stat(1, 0.5.into()), b"\x08\x01\x11\0\0\0\0\0\0\xe0\x3f");
    assert_wire(stat(1, 3u64.into()), b"\x08\x01\x18\x03");
    assert_wire(stat(1, 4i64.into()), b"\x08\x01\x20\x04");
    assert_wire(stat(1, "s".into()), b"\x08\x01\x2a\x01s");
    assert_wire(
        stat(1, x_stat::Value::BytesValue(vec![0xff])),
        b"\x08\x01\x32\x01\xff",
    );
    assert_wire(stat(1, x_stat::Value::RefValue(7)), b"\x08\x01\x38\x07");
}

#[test]
fn metadata_fields() {
    let metadata = XEventMetadata {
        id: 1,
        name: "n".into(),
        metadata: vec![0xfe],
        display_name: "d".into(),
        stats: vec![XStat {
            metadata_id: 5,
            ..Default::default()
        }],
        child_id: vec![6, 300],
        ..Default::default()
    };
    let bytes = b"\x08\x01\x12\x01n\x1a\x01\xfe\x22\x01d\x2a\x02\x08\x05\x32\x03\x06\xac\x02";
    assert_wire(metadata, bytes);
    let metadata = XStatMetadata {
        id: 1,
        name: "n".into(),
        description: "d".into(),
        ..Default::default()
    };
    assert_wire(metadata, b"\x08\x01\x12\x01n\x1a\x01d");
}

#[test]
fn negative_numbers_take_ten_bytes() {
    let minus_one = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    let line = XLine {
        id: -1,
        ..Default::default()
    };
    assert_wire(line, &[&b"\x08"[..], minus_one].concat());
    assert_wire(stat(0, (-1i64).into()), &[&b"\x20"[..], minus_one].concat());
    let event = XEvent {
        data: Some(x_event::Data::OffsetPs(-1)),
        ..Default::default()
    };
    assert_wire(event, &[&b"\x10"[..], minus_one].concat());
    let lowest = XEvent {
        duration_ps: i64::MIN,
        ..Default::default()
    };
    assert_wire(lowest, b"\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
}

#[test]
fn a_oneof_keeps_a_zero_and_its_last_field() {
    let event = XEvent {
        data: Some(x_event::Data::OffsetPs(0)),
        ..Default::default()
    };
    assert_wire(event, b"\x10\x00");
    assert_wire(stat(0, 0.0.into()), b"\x11\0\0\0\0\0\0\0\0");
    assert_wire(stat(0, "".into()), b"\x2a\x00");
    assert_wire(stat(0, x_stat::Value::RefValue(0)), b"\x38\x00");

    let event = XEvent::decode(&b"\x10\x09\x28\x02"[..]).unwrap();
    assert_eq!(event.data, Some(x_event::Data::NumOccurrences(2)));
    let value = XStat::decode(&b"\x38\x07\x2a\x01s\x2a\x01t"[..])
        .unwrap()
        .value;
    assert_eq!(value, Some("t".into()));
}

#[test]
fn a_field_that_comes_twice() {
    // Scalars: the last. Repeated: all. Numbers may be packed or not.
    let bytes =
        b"\x08\x01\x08\x02\x12\x01a\x12\x01b\x30\x01\x32\x02\x02\x03\x30\x04\x2a\x00\x2a\x00";
    let metadata = XEventMetadata::decode(&bytes[..]).unwrap();
    assert_eq!(metadata.id, 2);
    assert_eq!(metadata.name, "b");
    assert_eq!(metadata.child_id, [1, 2, 3, 4]);
    assert_eq!(metadata.stats.len(), 2);
}

#[test]
fn map_entries_in_every_form() {
    let named = |id, name: &str| XStatMetadata {
        id,
        name: name.into(),
        ..Default::default()
    };
    let entries = [
        // value before key
        &nested(0x2a, b"\x12\x03\x12\x01a\x08\x01")[..],
        // neither: key 0, an empty value
        &nested(0x2a, b""),
        // a key twice in the map: the last entry
        &nested(0x2a, b"\x08\x02\x12\x03\x12\x01b"),
        &nested(0x2a, b"\x08\x02\x12\x03\x12\x01c"),
        // with a field that no map entry has
        &nested(0x2a, b"\x08\x03\x78\x01\x12\x03\x12\x01d"),
        // a negative key
        &nested(0x2a, b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    ]
    .concat();
    let plane = XPlane::decode(&entries[..]).unwrap();
    let expected = BTreeMap::from([
        (-1, named(0, "")),
        (0, named(0, "")),
        (1, named(0, "a")),
        (2, named(0, "c")),
        (3, named(0, "d")),
    ]);
    assert_eq!(plane.stat_metadata, expected);
    assert_eq!(XPlane::decode(&plane.encode_to_vec()[..]).unwrap(), plane);
}

/// A field of every wire type with numbers that no message has, a group with a group in it too.
const UNKNOWN: &[u8] = b"\xf8\x07\x96\x01\
    \xf9\x07\x01\x02\x03\x04\x05\x06\x07\x08\
    \xfa\x07\x02hi\
    \xfd\x07\x01\x02\x03\x04\
    \xfb\x07\x08\x01\x13\x18\x01\x14\xfc\x07";

#[test]
fn unknown_fields_are_kept_in_every_message() {
    fn check<M: Message + Debug + Default + PartialEq>() {
        let message = M::decode(UNKNOWN).unwrap();
        assert_ne!(message, M::default());
        assert_eq!(message.encode_to_vec(), UNKNOWN);
        assert_eq!(message.encoded_len(), UNKNOWN.len());
    }
    check::<XSpace>();
    check::<XPlane>();
    check::<XLine>();
    check::<XEvent>();
    check::<XStat>();
    check::<XEventMetadata>();
    check::<XStatMetadata>();
}

#[test]
fn unknown_fields_are_kept_at_every_depth() {
    let stat = nested(0x22, &[b"\x08\x01", UNKNOWN].concat());
    let event = nested(0x22, &[&stat[..], b"\x7a\x01!"].concat());
    let line = nested(0x1a, &[&b"\x08\x03"[..], &event, b"\x7a\x01?"].concat());
    let space = nested(0x0a, &[&line[..], b"\x7a\x01."].concat());
    assert_eq!(XSpace::decode(&space[..]).unwrap().encode_to_vec(), space);
}

#[test]
fn a_newer_stat_value_is_kept() {
    // compressed_str_value = 8, which is younger than this crate's table.
    let bytes = b"\x08\x01\x42\x02\x1f\x8b";
    let stat = XStat::decode(&bytes[..]).unwrap();
    assert_eq!(stat.value, None);
    assert_eq!(stat.encode_to_vec(), bytes);
}

#[test]
fn a_known_field_of_another_wire_type_is_kept_as_unknown() {
    // name (2) as a varint, then as text.
    let line = XLine::decode(&b"\x10\x05\x12\x01n"[..]).unwrap();
    assert_eq!(line.name, "n");
    assert_eq!(line.unknown_fields.as_bytes(), b"\x10\x05");
    // double_value (2) as four bytes.
    let stat = XStat::decode(&b"\x15\x01\x02\x03\x04"[..]).unwrap();
    assert_eq!(stat.value, None);
    assert_eq!(stat.encode_to_vec(), b"\x15\x01\x02\x03\x04");
}

#[test]
fn text_that_is_not_utf8_does_not_lose_the_file() {
    let bytes = nested(
        0x0a,
        b"\x12\x03a\xffb\x2a\x09\x08\x01\x12\x05\x12\x03\xf0\x9f\x98",
    );
    let space = XSpace::decode(&bytes[..]).unwrap();
    let plane = &space.planes[0];
    assert_eq!(plane.name, "a\u{fffd}b");
    assert_eq!(plane.stat_metadata[&1].name, "\u{fffd}");
    let value = XStat::decode(&b"\x2a\x02\xc3\x28"[..]).unwrap().value;
    assert_eq!(value, Some("\u{fffd}(".into()));
    // Bytes stay bytes.
    let value = XStat::decode(&b"\x32\x02\xc3\x28"[..]).unwrap().value;
    assert_eq!(value, Some(x_stat::Value::BytesValue(vec![0xc3, 0x28])));
}

fn error(bytes: &[u8]) -> DecodeError {
    XSpace::decode(bytes).unwrap_err()
}

#[test]
fn every_cut_of_a_message_within_a_field_is_an_error() {
    let event = nested(0x22, b"\x08\x01\x10\xac\x02\x22\x06\x08\x01\x2a\x02hi");
    let line = nested(0x1a, &event);
    let space = nested(0x0a, &[&line[..], b"\x12\x01p"].concat());
    assert!(XSpace::decode(&space[..]).is_ok());
    for len in 1..space.len() {
        error(&space[..len]);
    }
    // The same of fields that are kept unread.
    for len in 1..UNKNOWN.len() {
        let whole = [0, 4, 14, 19, 25];
        assert_eq!(
            XStat::decode(&UNKNOWN[..len]).is_ok(),
            whole.contains(&len),
            "{len}"
        );
    }
}

#[test]
fn bad_input_is_an_error() {
    // A length past the end, up to one that overflows.
    error(b"\x0a\x05\x08");
    error(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    error(b"\xfa\x07\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    // Field number 0, wire types 6 and 7, a varint of eleven bytes.
    error(b"\x00\x01");
    error(b"\x0e");
    error(b"\x0f");
    error(b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    // A group that ends without a start, or as another.
    error(b"\xfc\x07");
    error(b"\xfb\x07\xf4\x07");
    // A plane whose line is longer than itself.
    error(b"\x0a\x04\x1a\x09\x08\x01");
}

#[test]
fn groups_nest_a_hundred_deep_and_no_deeper() {
    let nest = |depth: usize| [vec![0x0b; depth], vec![0x0c; depth]].concat();
    let kept = XStat::decode(&nest(100)[..]).unwrap();
    assert_eq!(kept.encode_to_vec(), nest(100));
    let error = XStat::decode(&nest(102)[..]).unwrap_err();
    assert!(error.to_string().contains("deeper than 100"), "{error}");
    // Not a matter of stack space.
    XStat::decode(&vec![0x0b; 10_000_000][..]).unwrap_err();
}

#[test]
fn an_error_names_the_fields_around_it() {
    let error = error(b"\x0a\x06\x1a\x04\x22\x02\x10\x80");
    let text = error.to_string();
    assert!(
        text.contains("XEvent.data: XLine.events: XPlane.lines: XSpace.planes: "),
        "{text}"
    );
}

#[test]
fn messages_stay_small() {
    // A million events of one stat each are 112 MB; a field more would show here.
    assert_eq!(size_of::<XEvent>(), 64);
    assert_eq!(size_of::<XStat>(), 48);
}
