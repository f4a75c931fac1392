//! Builders, visitors and the small plane utilities.

use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XEventMetadata, XLine, XPlane, XSpace, x_event};
use xplane_schema::utils;
use xplane_schema::visitor::XPlaneVisitor;
use xplane_schema::{lossy_utf8, schema};

#[test]
fn ids_are_unique_and_start_at_1() {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    assert_eq!(builder.get_or_create_event_metadata("a"), 1);
    assert_eq!(builder.get_or_create_event_metadata(""), 2);
    assert_eq!(builder.get_or_create_event_metadata("b"), 3);
    assert_eq!(builder.get_or_create_event_metadata("a"), 1);
    assert_eq!(builder.get_or_create_event_metadata(""), 2);
    // Stats count for themselves.
    assert_eq!(builder.get_or_create_stat_metadata("b"), 1);
    let ids: Vec<i64> = plane
        .event_metadata
        .values()
        .map(|metadata| metadata.id)
        .collect();
    assert_eq!(ids, [1, 2, 3]);
}

#[test]
fn a_builder_goes_on_where_a_plane_is() {
    let mut plane = XPlane::default();
    for (id, name) in [(-4, "negative"), (3, "a"), (7, "a"), (i64::MAX, "last")] {
        let metadata = XEventMetadata {
            id,
            name: name.into(),
            ..Default::default()
        };
        plane.event_metadata.insert(id, metadata);
    }
    plane.lines.push(XLine {
        id: 5,
        name: "five".into(),
        ..Default::default()
    });
    let mut builder = XPlaneBuilder::new(&mut plane);
    assert_eq!(builder.get_or_create_event_metadata("a"), 3);
    assert_eq!(builder.get_or_create_event_metadata("last"), i64::MAX);
    let new: Vec<i64> = ["b", "c", "d"]
        .iter()
        .map(|name| builder.get_or_create_event_metadata(name))
        .collect();
    assert_eq!(new, [1, 2, 4], "past what is taken");
    builder.get_or_create_line(5).set_display_id(55);
    builder.get_or_create_line(6).set_name("six");
    let lines: Vec<_> = plane
        .lines
        .iter()
        .map(|line| (line.id, line.name.as_str(), line.display_id))
        .collect();
    assert_eq!(lines, [(5, "five", 55), (6, "six", 0)]);
}

#[test]
fn many_names_are_found_again() {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    let names: Vec<String> = (0..10_000)
        .map(|number| format!("label {number}"))
        .collect();
    for round in 0..2 {
        for (number, name) in names.iter().enumerate() {
            let id = builder.get_or_create_event_metadata(name);
            assert_eq!(id, number as i64 + 1, "round {round}");
        }
    }
    assert_eq!(plane.event_metadata.len(), names.len());
}

#[test]
fn what_is_built_is_read() {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name(schema::ROCTX_PLANE_NAME);
    let clock = builder.get_or_create_stat_metadata("clock_rate");
    builder.set_stat_value(clock, 1u64);
    builder.set_stat_value(clock, 2_100_000u64);
    let step = builder.get_or_create_event_metadata("step");
    let (range, text, ratio) = (
        builder.get_or_create_stat_metadata("nvtx_range"),
        builder.get_or_create_stat_metadata("the step"),
        builder.get_or_create_stat_metadata("ratio"),
    );
    builder.event_metadata_mut(step).unwrap().display_name = "Step".into();
    let mut line = builder.get_or_create_line(17);
    line.set_name("ROCTX Threads/17");
    line.set_timestamp_ns(1_760_000_000_000_000_000);
    line.reserve(1);
    let mut event = line.add_event(step);
    event.set_timestamp_ns(1_760_000_000_000_000_250);
    event.set_duration_ns(3);
    event.add_ref_stat(range, text);
    event.add_stat_value(ratio, 0.25);

    let plane = XPlaneVisitor::new(&plane);
    assert_eq!(plane.stat("clock_rate").unwrap().as_u64(), Some(2_100_000));
    assert_eq!(plane.stats().len(), 1);
    let line = plane.line_with_name("ROCTX Threads/17").unwrap();
    assert_eq!((line.id(), line.display_name()), (17, "ROCTX Threads/17"));
    let event = line.events().next().unwrap();
    assert_eq!((event.name(), event.display_name()), ("step", Some("Step")));
    assert_eq!(event.timestamp_ps(), 1_760_000_000_000_000_250_000);
    assert_eq!((event.offset_ps(), event.duration_ps()), (250_000, 3_000));
    assert_eq!(event.stat("nvtx_range").unwrap().as_str(), Some("the step"));
    assert_eq!(event.stat("ratio").unwrap().to_text(), "0.25");
    assert!(event.stat("tf_op").is_none());
}

#[test]
fn times_that_no_offset_can_hold_become_the_nearest() {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    let mut line = builder.get_or_create_line(1);
    let mut event = line.add_event(1);
    event.set_timestamp_ns(i64::MAX);
    event.set_duration_ns(i64::MAX);
    let event = &plane.lines[0].events[0];
    assert_eq!(event.data, Some(x_event::Data::OffsetPs(i64::MAX)));
    assert_eq!(event.duration_ps, i64::MAX);
}

#[test]
fn events_that_are_built_already_are_taken_over() {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    let event = |metadata_id| XEvent {
        metadata_id,
        ..Default::default()
    };
    let mut line = builder.get_or_create_line(1);
    line.extend_events(vec![event(1), event(2)]);
    line.extend_events(vec![event(3)]);
    line.push(event(4));
    assert_eq!(line.events_mut().len(), 4);
    let ids: Vec<i64> = plane.lines[0]
        .events
        .iter()
        .map(|event| event.metadata_id)
        .collect();
    assert_eq!(ids, [1, 2, 3, 4]);
}

#[test]
fn planes_are_found_and_removed_by_name() {
    let mut space = XSpace::default();
    for name in ["/device:GPU:0", "/host:CPU", "/device:GPU:1", "/host:CPU"] {
        space.planes.push(XPlane {
            name: name.into(),
            id: space.planes.len() as i64,
            ..Default::default()
        });
    }
    assert_eq!(
        utils::find_plane_with_name(&space, "/host:CPU").unwrap().id,
        1
    );
    assert!(utils::find_plane_with_name(&space, "/host:").is_none());
    let gpus: Vec<i64> = utils::find_planes_with_prefix(&space, "/device:GPU:")
        .map(|plane| plane.id)
        .collect();
    assert_eq!(gpus, [0, 2]);
    utils::find_or_add_plane_with_name(&mut space, "/device:GPU:1").id = 7;
    utils::find_or_add_plane_with_name(&mut space, "Task Environment").id = 8;
    let removed: Vec<i64> = utils::remove_planes_with_name(&mut space, "/host:CPU")
        .iter()
        .map(|plane| plane.id)
        .collect();
    assert_eq!(removed, [1, 3]);
    let left: Vec<i64> = space.planes.iter().map(|plane| plane.id).collect();
    assert_eq!(left, [0, 7, 8]);
}

#[test]
fn empty_planes_and_lines_are_dropped() {
    let mut kept = XPlane {
        name: "kept".into(),
        ..Default::default()
    };
    kept.lines.push(XLine {
        id: 1,
        ..Default::default()
    });
    kept.lines.push(XLine {
        id: 2,
        events: vec![XEvent::default()],
        ..Default::default()
    });
    let mut space = XSpace {
        planes: vec![XPlane::default(), kept],
        ..Default::default()
    };
    utils::remove_empty_planes(&mut space);
    assert_eq!(space.planes.len(), 1);
    utils::remove_empty_lines(&mut space.planes[0]);
    assert_eq!(space.planes[0].lines.len(), 1);
    assert_eq!(space.planes[0].lines[0].id, 2);
}

#[test]
fn lines_are_sorted_by_what_is_shown() {
    let line = |id, name: &str, display_name: &str| XLine {
        id,
        name: name.into(),
        display_name: display_name.into(),
        ..Default::default()
    };
    let mut plane = XPlane {
        lines: vec![
            line(1, "b", ""),
            line(2, "z", "a"),
            line(3, "B", ""),
            line(4, "b", ""),
            line(5, "", ""),
        ],
        ..Default::default()
    };
    utils::sort_lines_by_name(&mut plane);
    let ids: Vec<i64> = plane.lines.iter().map(|line| line.id).collect();
    assert_eq!(ids, [5, 3, 2, 1, 4]);
}

#[test]
fn events_are_sorted_by_start_and_outer_ones_first() {
    let event = |metadata_id, data, duration_ps| XEvent {
        metadata_id,
        data,
        duration_ps,
        ..Default::default()
    };
    let at = |offset| Some(x_event::Data::OffsetPs(offset));
    let mut line = XLine {
        events: vec![
            event(1, at(10), 2),
            event(2, at(5), 1),
            event(3, at(5), 9),
            event(4, at(10), 2),
            event(5, Some(x_event::Data::NumOccurrences(99)), 0),
            event(6, None, 0),
            event(7, at(-1), 0),
        ],
        ..Default::default()
    };
    utils::sort_line_events(&mut line);
    let ids: Vec<i64> = line.events.iter().map(|event| event.metadata_id).collect();
    assert_eq!(ids, [7, 5, 6, 3, 2, 1, 4]);
}

#[test]
fn bytes_become_text() {
    assert_eq!(lossy_utf8(b"a\xc3\xa9"), "aé");
    assert!(matches!(
        lossy_utf8(b"plain"),
        std::borrow::Cow::Borrowed("plain")
    ));
    assert_eq!(lossy_utf8(b"\xff\xfea"), "\u{fffd}\u{fffd}a");
    assert_eq!(lossy_utf8(b"a\0b"), "a\0b");
}
