//! A file that this project did not write: stock JAX on a CUDA machine.

mod common;

use common::{assert_rows_are_unique, events, strangers_file, strangers_space, the_plane};
use host_postprocess::post_process_single_host_xspace;
use host_postprocess::report::LabelReport;
use xplane_schema::Message;
use xplane_schema::proto::XSpace;
use xplane_schema::visitor::XPlaneVisitor;

/// The session that `Task Environment` notes.
const START_NS: u64 = 1_796_087_914_474_670_200;
const STOP_NS: u64 = 1_796_087_914_499_016_012;

#[test]
fn it_is_read() {
    let space = strangers_space();
    let names: Vec<&str> = space
        .planes
        .iter()
        .map(|plane| plane.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "/host:metadata",
            "/host:__ScopeRangeCallStack__",
            "/device:GPU:0",
            "/host:CPU",
            "Task Environment"
        ]
    );
    assert_eq!(space.hostnames, ["vm"]);
    let environment = XPlaneVisitor::new(the_plane(&space, "Task Environment"));
    let time = |name| environment.stat(name).unwrap().as_u64();
    assert_eq!(time("profile_start_time"), Some(START_NS));
    assert_eq!(time("profile_stop_time"), Some(STOP_NS));

    let host = XPlaneVisitor::new(the_plane(&space, "/host:CPU"));
    let annotations: Vec<&str> = host
        .lines()
        .flat_map(|line| line.events())
        .map(|event| event.name())
        .filter(|name| ["train", "outer", "inner"].contains(name))
        .collect();
    let count = |name| annotations.iter().filter(|found| **found == name).count();
    assert_eq!((count("train"), count("outer"), count("inner")), (3, 3, 3));
}

#[test]
fn it_is_written_back_as_it_was() {
    let file = strangers_file();
    let space = strangers_space();
    let written = space.encode_to_vec();
    assert_eq!(XSpace::decode(&written[..]).unwrap(), space);
    // The entries of a map have no order of their own; otherwise each byte is there again.
    let sorted = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.sort();
        bytes
    };
    assert_eq!(sorted(&written), sorted(&file));
}

#[test]
fn a_finished_file_is_left_as_it_is() {
    let before = strangers_space();
    let mut space = before.clone();
    post_process_single_host_xspace(&mut space, START_NS, STOP_NS);
    assert_eq!(space, before);
    assert_rows_are_unique(&space);
}

#[test]
fn a_roctx_plane_joins_it() {
    let mut space = strangers_space();
    let hosts_lines = the_plane(&space, "/host:CPU").lines.clone();
    let mut expected = events(&space, str::to_owned);
    let roctx = common::plane(
        "/host:ROCTX",
        &[(524, "ROCTX Threads/524"), (412, "ROCTX Threads/412")],
    );
    space.planes.push(roctx);
    for plane in &mut space.planes {
        for line in &mut plane.lines {
            if line.name.starts_with("ROCTX") {
                line.timestamp_ns = START_NS as i64 + 7;
            }
        }
    }
    post_process_single_host_xspace(&mut space, START_NS, STOP_NS);
    assert_rows_are_unique(&space);
    let host = the_plane(&space, "/host:CPU");
    for line in &hosts_lines {
        let found = host.lines.iter().find(|other| other.id == line.id).unwrap();
        assert_eq!(
            (&found.name, found.display_id),
            (&line.name, line.display_id)
        );
        assert_eq!(found.events.len(), line.events.len());
    }
    for name in ["ROCTX Threads/412", "ROCTX Threads/524"] {
        let row = (
            "/host:CPU".into(),
            name.into(),
            name.into(),
            1_007_000,
            10,
            vec![],
        );
        expected.push(row);
    }
    expected.sort();
    assert_eq!(events(&space, str::to_owned), expected);
}

#[test]
fn it_has_no_roctx_rows_to_report() {
    let report = LabelReport::from_space(&strangers_space());
    assert_eq!(report, LabelReport::default());
}
