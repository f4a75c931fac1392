//! Merging planes, case by case.

mod common;

use common::{assert_ids_are_sound, events, stats};
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XLine, XPlane, XStat, x_event, x_stat};
use xplane_schema::utils::{fuse_lines_of_same_id, merge_planes};

/// A plane with one line of events `(name, start, duration)`, in ns.
fn plane(line_id: i64, timestamp_ns: i64, of: &[(&str, i64, i64)]) -> XPlane {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    for &(name, start_ns, duration_ns) in of {
        let id = builder.get_or_create_event_metadata(name);
        let mut line = builder.get_or_create_line(line_id);
        line.set_timestamp_ns(timestamp_ns);
        let mut event = line.add_event(id);
        event.set_timestamp_ns(start_ns);
        event.set_duration_ns(duration_ns);
    }
    plane
}

fn offsets(line: &XLine) -> Vec<i64> {
    line.events
        .iter()
        .map(|event| match event.data {
            Some(x_event::Data::OffsetPs(offset)) => offset,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn metadata_are_matched_by_name() {
    let mut dst = plane(1, 0, &[("a", 0, 1), ("b", 1, 1)]);
    let src = plane(2, 0, &[("b", 0, 1), ("c", 1, 1)]);
    merge_planes(src, &mut dst);
    let names: Vec<_> = dst
        .event_metadata
        .values()
        .map(|metadata| (metadata.id, metadata.name.as_str()))
        .collect();
    assert_eq!(names, [(1, "a"), (2, "b"), (3, "c")]);
    let ids: Vec<i64> = dst.lines[1]
        .events
        .iter()
        .map(|event| event.metadata_id)
        .collect();
    assert_eq!(ids, [2, 3]);
    assert_ids_are_sound(&dst);
}

#[test]
fn stats_and_the_texts_they_refer_to_keep_their_names() {
    let mut dst = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut dst);
    builder.get_or_create_stat_metadata("other");
    builder.get_or_create_stat_metadata("forward");

    let mut src = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut src);
    let event_id = builder.get_or_create_event_metadata("step");
    let range = builder.get_or_create_stat_metadata("nvtx_range");
    let forward = builder.get_or_create_stat_metadata("forward");
    let kept = builder.get_or_create_stat_metadata("kept");
    let mut line = builder.get_or_create_line(7);
    let mut event = line.add_event(event_id);
    event.add_ref_stat(range, forward);
    event.add_stat_value(kept, -5i64);
    // A stat of all such events.
    let metadata = builder.event_metadata_mut(event_id).unwrap();
    metadata.stats.push(XStat {
        metadata_id: range,
        value: Some(x_stat::Value::RefValue(kept as u64)),
        ..Default::default()
    });
    merge_planes(src, &mut dst);

    let expected = |text: &str| ("nvtx_range".to_owned(), format!("text {text:?}"));
    let seen = &events(&dst)[0];
    assert_eq!(
        seen.stats,
        [
            expected("forward"),
            ("kept".into(), "Some(Int64Value(-5))".into())
        ]
    );
    assert_eq!(seen.metadata_stats, [expected("kept")]);
    // "forward" was there, and is still there once.
    assert_eq!(dst.stat_metadata.len(), 4);
    assert_ids_are_sound(&dst);
}

#[test]
fn children_of_event_metadata_follow() {
    let mut dst = plane(1, 0, &[("child", 0, 1)]);
    let mut src = plane(2, 0, &[("parent", 0, 1), ("other", 0, 1), ("child", 0, 1)]);
    src.event_metadata.get_mut(&1).unwrap().child_id = vec![3, 2];
    merge_planes(src, &mut dst);
    let parent = dst
        .event_metadata
        .values()
        .find(|metadata| metadata.name == "parent")
        .unwrap();
    let children: Vec<_> = parent
        .child_id
        .iter()
        .map(|id| dst.event_metadata[id].name.as_str())
        .collect();
    assert_eq!(children, ["child", "other"]);
    assert_ids_are_sound(&dst);
}

#[test]
fn metadata_fill_each_other_in_or_stay_apart() {
    let with_display_name = |text: &str| {
        let mut plane = plane(1, 0, &[("op", 0, 1)]);
        plane.event_metadata.get_mut(&1).unwrap().display_name = text.into();
        plane
    };
    let mut dst = plane(1, 0, &[("op", 0, 1)]);
    merge_planes(with_display_name("first"), &mut dst);
    assert_eq!(dst.event_metadata.len(), 1);
    assert_eq!(dst.event_metadata[&1].display_name, "first");

    merge_planes(with_display_name("second"), &mut dst);
    merge_planes(with_display_name("second"), &mut dst);
    merge_planes(plane(1, 0, &[("op", 0, 1)]), &mut dst);
    let shown: Vec<_> = dst.lines[0]
        .events
        .iter()
        .map(|event| dst.event_metadata[&event.metadata_id].display_name.as_str())
        .collect();
    assert_eq!(shown, ["first", "first", "second", "second", "first"]);
    assert_eq!(dst.event_metadata.len(), 2);
    assert_ids_are_sound(&dst);
}

#[test]
fn a_stat_of_the_plane_replaces_the_one_of_its_name() {
    let with = |name: &str, value: i64| {
        let mut plane = XPlane::default();
        let mut builder = XPlaneBuilder::new(&mut plane);
        builder.get_or_create_stat_metadata("padding");
        let id = builder.get_or_create_stat_metadata(name);
        builder.set_stat_value(id, value);
        plane
    };
    let mut dst = with("clock_rate", 1);
    merge_planes(with("clock_rate", 2), &mut dst);
    merge_planes(with("core_count", 3), &mut dst);
    let named = |name: &str, value| (name.to_owned(), format!("Some(Int64Value({value}))"));
    assert_eq!(
        stats(&dst, &dst.stats),
        [named("clock_rate", 2), named("core_count", 3)]
    );
}

#[test]
fn the_side_that_starts_later_is_shifted() {
    for (dst_ns, src_ns) in [(1000, 1500), (1500, 1000), (1000, 1000)] {
        let mut dst = plane(9, dst_ns, &[("d", 1600, 10)]);
        let src = plane(9, src_ns, &[("s", 1700, 20)]);
        merge_planes(src, &mut dst);
        assert_eq!(dst.lines.len(), 1);
        assert_eq!(dst.lines[0].timestamp_ns, 1000);
        assert_eq!(offsets(&dst.lines[0]), [600_000, 700_000]);
    }
}

#[test]
fn aggregates_are_not_shifted_and_events_without_a_start_are() {
    let mut dst = plane(9, 1000, &[("d", 1000, 1)]);
    let mut src = plane(9, 3000, &[("count", 3000, 0), ("at the start", 3000, 0)]);
    src.lines[0].events[0].data = Some(x_event::Data::NumOccurrences(4));
    src.lines[0].events[1].data = None;
    merge_planes(src, &mut dst);
    let data: Vec<_> = dst.lines[0].events.iter().map(|event| event.data).collect();
    use x_event::Data::*;
    assert_eq!(
        data,
        [
            Some(OffsetPs(0)),
            Some(NumOccurrences(4)),
            Some(OffsetPs(2_000_000))
        ]
    );
}

#[test]
fn a_line_keeps_what_it_is_called_and_gets_what_it_lacks() {
    let named = |name: &str, display_name: &str, display_id, duration_ps| {
        let mut plane = plane(9, 0, &[("e", 0, 1)]);
        let line = &mut plane.lines[0];
        name.clone_into(&mut line.name);
        display_name.clone_into(&mut line.display_name);
        line.display_id = display_id;
        line.duration_ps = duration_ps;
        plane
    };
    let mut dst = named("python", "", 0, 5);
    merge_planes(named("Host Threads/9", "shown", 42, 7), &mut dst);
    merge_planes(named("third", "third", 43, 0), &mut dst);
    let line = &dst.lines[0];
    assert_eq!(
        (line.name.as_str(), line.display_name.as_str()),
        ("python", "shown")
    );
    assert_eq!((line.display_id, line.duration_ps), (42, 7));
    assert_eq!(line.events.len(), 3);
}

#[test]
fn an_empty_line_takes_the_start_of_the_one_with_events() {
    let mut dst = plane(9, 5, &[("e", 5, 1)]);
    dst.lines[0].events.clear();
    merge_planes(plane(9, 700, &[("e", 701, 1)]), &mut dst);
    assert_eq!(dst.lines[0].timestamp_ns, 700);
    assert_eq!(offsets(&dst.lines[0]), [1000]);

    // And the other way round it keeps its own.
    let mut empty = plane(9, 5, &[("e", 5, 1)]);
    empty.lines[0].events.clear();
    merge_planes(empty, &mut dst);
    assert_eq!(dst.lines[0].timestamp_ns, 700);
    assert_eq!(offsets(&dst.lines[0]), [1000]);
}

#[test]
fn lines_too_far_apart_for_offsets_stay_apart() {
    // One side normalised, the other not: 55 years do not fit 64 bits of ps.
    let wall = 1_760_000_000_000_000_000;
    for (dst_ns, src_ns) in [(0, wall), (wall, 0), (i64::MIN, i64::MAX)] {
        let mut dst = plane(9, dst_ns, &[("d", dst_ns, 1)]);
        merge_planes(plane(9, src_ns, &[("s", src_ns, 1)]), &mut dst);
        assert_eq!(
            dst.lines.iter().map(|line| line.id).collect::<Vec<_>>(),
            [9, 10]
        );
        assert_eq!(dst.lines[0].timestamp_ns, dst_ns);
        assert_eq!(dst.lines[1].timestamp_ns, src_ns);
        assert_eq!(offsets(&dst.lines[1]), [0]);
    }
}

#[test]
fn ids_without_metadata_become_nameless_ones() {
    let mut src = plane(1, 0, &[("known", 0, 1)]);
    src.lines[0].events.push(XEvent {
        metadata_id: 99,
        stats: vec![XStat {
            metadata_id: -3,
            value: Some(x_stat::Value::RefValue(u64::MAX)),
            ..Default::default()
        }],
        ..Default::default()
    });
    let mut dst = plane(1, 0, &[("a", 0, 1), ("b", 0, 1)]);
    merge_planes(src, &mut dst);
    assert_ids_are_sound(&dst);
    let names: Vec<_> = events(&dst).into_iter().map(|seen| seen.name).collect();
    assert_eq!(names, ["", "a", "b", "known"]);
    let nameless = events(&dst)
        .into_iter()
        .find(|seen| seen.name.is_empty())
        .unwrap();
    assert_eq!(nameless.stats, [(String::new(), "text \"\"".to_owned())]);
}

#[test]
fn unknown_fields_of_what_is_merged_are_kept() {
    use xplane_schema::Message;
    let decode = |bytes: &[u8]| XPlane::decode(bytes).unwrap();
    // Field 15 of the plane, of its line 1, and of event metadata "e".
    let mut dst = decode(b"\x1a\x04\x08\x01\x78\x01\x78\x01");
    let src = decode(
        b"\x1a\x04\x08\x01\x78\x02\x22\x0b\x08\x05\x12\x07\x08\x05\x12\x01e\x78\x03\x78\x02",
    );
    merge_planes(src, &mut dst);
    assert_eq!(dst.unknown_fields.as_bytes(), b"\x78\x01\x78\x02");
    assert_eq!(dst.lines[0].unknown_fields.as_bytes(), b"\x78\x01\x78\x02");
    assert_eq!(
        dst.event_metadata[&1].unknown_fields.as_bytes(),
        b"\x78\x03"
    );
}

#[test]
fn lines_of_one_id_are_one() {
    let mut plane = plane(1, 0, &[("a", 0, 1)]);
    let mut later = plane.lines[0].clone();
    later.timestamp_ns = 50;
    let other = XLine {
        id: 2,
        ..Default::default()
    };
    plane.lines.extend([other.clone(), later]);
    fuse_lines_of_same_id(&mut plane);
    assert_eq!(plane.lines.len(), 2);
    assert_eq!(offsets(&plane.lines[0]), [0, 50_000]);
    assert_eq!(plane.lines[1], other);
}

#[test]
fn lines_of_one_id_that_cannot_be_one_get_ids_that_nobody_has() {
    let far = |id, timestamp_ns| {
        let mut line = plane(id, timestamp_ns, &[("e", timestamp_ns, 1)])
            .lines
            .remove(0);
        line.name = format!("{id} from {timestamp_ns}");
        line
    };
    let mut plane = plane(1, 0, &[("e", 0, 1)]);
    let wall = 1_760_000_000_000_000_000;
    plane.lines.extend([far(1, wall), far(2, 0), far(1, -wall)]);
    fuse_lines_of_same_id(&mut plane);
    let lines: Vec<_> = plane
        .lines
        .iter()
        .map(|line| (line.id, line.name.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (1, ""),
            (3, "1 from 1760000000000000000"),
            (2, "2 from 0"),
            (4, "1 from -1760000000000000000")
        ]
    );
}
