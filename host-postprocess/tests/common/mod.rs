//! Spaces to process, and what must hold of them afterwards.

#![allow(dead_code, missing_docs, unreachable_pub)] // each test file uses a part

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use xplane_schema::Message;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XPlane, XSpace};
use xplane_schema::schema::row_id;
use xplane_schema::visitor::XPlaneVisitor;

/// A session on the wall clock, in ns.
pub const START_NS: u64 = 1_760_000_000_000_000_000;
/// Its end.
pub const STOP_NS: u64 = START_NS + 5_000_000_000;

/// A plane whose lines `(id, name)` have one event each, named as the line and a µs after it.
pub fn plane(name: &str, lines: &[(i64, &str)]) -> XPlane {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name(name);
    for &(id, name) in lines {
        let metadata = builder.get_or_create_event_metadata(name);
        let mut line = builder.get_or_create_line(id);
        line.set_name(name);
        line.set_timestamp_ns(START_NS as i64);
        let mut event = line.add_event(metadata);
        event.set_offset_ps(1_000_000);
        event.set_duration_ps(10);
    }
    plane
}

pub fn space(planes: Vec<XPlane>) -> XSpace {
    XSpace {
        planes,
        ..Default::default()
    }
}

pub fn the_plane<'a>(space: &'a XSpace, name: &str) -> &'a XPlane {
    let mut found = space.planes.iter().filter(|plane| plane.name == name);
    let plane = found.next().unwrap_or_else(|| panic!("no plane {name}"));
    assert!(found.next().is_none(), "several planes {name}");
    plane
}

/// Id and name of each line.
pub fn lines(plane: &XPlane) -> Vec<(i64, &str)> {
    plane
        .lines
        .iter()
        .map(|line| (line.id, line.name.as_str()))
        .collect()
}

/// Panics if two lines of a plane have one id or one row of a viewer.
pub fn assert_rows_are_unique(space: &XSpace) {
    for plane in &space.planes {
        let ids: HashSet<i64> = plane.lines.iter().map(|line| line.id).collect();
        let rows: HashSet<u32> = plane.lines.iter().map(row_id).collect();
        let described = || {
            let line =
                |line: &xplane_schema::proto::XLine| (line.id, line.display_id, line.name.clone());
            plane.lines.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(
            ids.len(),
            plane.lines.len(),
            "ids in {}: {:?}",
            plane.name,
            described()
        );
        assert_eq!(
            rows.len(),
            plane.lines.len(),
            "rows in {}: {:?}",
            plane.name,
            described()
        );
    }
}

/// Every event by its plane's name, line's name, own name, absolute start, duration and stats.
pub type Seen = (String, String, String, i128, i64, Vec<(String, String)>);

/// The events of the space, sorted; `plane_name` maps plane names, for those that merge.
pub fn events(space: &XSpace, plane_name: impl Fn(&str) -> String) -> Vec<Seen> {
    let mut events = Vec::new();
    for plane in &space.planes {
        for line in XPlaneVisitor::new(plane).lines() {
            for event in line.events() {
                let stats = event
                    .stats()
                    .map(|stat| (stat.name().to_owned(), stat.to_text().into_owned()))
                    .collect();
                events.push((
                    plane_name(&plane.name),
                    line.name().to_owned(),
                    event.name().to_owned(),
                    event.timestamp_ps(),
                    event.duration_ps(),
                    stats,
                ));
            }
        }
    }
    events.sort();
    events
}

/// A file that stock JAX wrote; see `data/README.md`.
pub fn strangers_file() -> Vec<u8> {
    std::fs::read(data("jax-0.11.2-cuda-h200.xplane.pb")).unwrap()
}

pub fn strangers_space() -> XSpace {
    XSpace::decode(&strangers_file()[..]).unwrap()
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}
