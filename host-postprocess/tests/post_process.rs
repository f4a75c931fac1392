//! Post-processing, rule by rule.

mod common;

use common::{START_NS, STOP_NS, assert_rows_are_unique, lines, plane, space, the_plane};
use host_postprocess::post_process_single_host_xspace;
use xplane_schema::Message;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XPlane, XSpace};
use xplane_schema::schema::{ROCTX_ROW_BASE, roctx_line_id, row_id};
use xplane_schema::visitor::XPlaneVisitor;

/// Post-processes, and makes sure that a second time changes nothing.
fn processed(planes: Vec<XPlane>) -> XSpace {
    let mut space = space(planes);
    post_process_single_host_xspace(&mut space, START_NS, STOP_NS);
    let once = space.encode_to_vec();
    post_process_single_host_xspace(&mut space, START_NS, STOP_NS);
    assert_eq!(
        space.encode_to_vec(),
        once,
        "a second time changes something"
    );
    assert_rows_are_unique(&space);
    space
}

fn names(space: &XSpace) -> Vec<&str> {
    space
        .planes
        .iter()
        .map(|plane| plane.name.as_str())
        .collect()
}

#[test]
fn host_planes_become_one_where_the_first_stood() {
    let space = processed(vec![
        plane("/device:GPU:0", &[(0, "Stream #0")]),
        plane("/host:ROCTRACER", &[(5, "e")]),
        plane("/host:metadata", &[]),
        plane("/host:TPU-runtime", &[(1, "a")]),
        plane("/host:CPU", &[(2, "b")]),
        plane("/host:CUPTI", &[(3, "c")]),
        plane("/host:python-tracer", &[(4, "d")]),
    ]);
    assert_eq!(
        names(&space),
        [
            "/device:GPU:0",
            "/host:CPU",
            "/host:metadata",
            "Task Environment"
        ]
    );
    let host = the_plane(&space, "/host:CPU");
    assert_eq!(
        lines(host),
        [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")]
    );
}

#[test]
fn host_lines_of_one_thread_become_one() {
    let space = processed(vec![
        plane("/host:CPU", &[(17, "python3")]),
        plane("/host:ROCTRACER", &[(17, "Host Threads/17")]),
    ]);
    let host = the_plane(&space, "/host:CPU");
    assert_eq!(lines(host), [(17, "python3")]);
    assert_eq!(host.lines[0].events.len(), 2);
}

#[test]
fn nvtx_lines_move_only_where_their_id_is_taken() {
    let space = processed(vec![
        plane("/host:CPU", &[(17, "h17"), (1 << 32, "hashed")]),
        plane(
            "/host:NVTX-CUPTI",
            &[(17, "n17"), (18, "n18"), (roctx_line_id(3), "r")],
        ),
    ]);
    let host = the_plane(&space, "/host:CPU");
    assert_eq!(
        lines(host),
        [
            (17, "h17"),
            (1 << 32, "hashed"),
            // `1 << 32` is taken, and so is the row of `(1 << 32) + 17`.
            ((1 << 32) + 1, "n17"),
            (18, "n18"),
            (roctx_line_id(3), "r"),
        ]
    );
}

#[test]
fn roctx_lines_get_ids_of_their_range_in_the_order_of_threads() {
    let space = processed(vec![
        plane(
            "/host:ROCTX",
            &[
                (40, "ROCTX Threads/40"),
                (17, "ROCTX Threads/17"),
                (1 << 23, "ROCTX Async/0"),
            ],
        ),
        plane("/host:CPU", &[(17, "Host Threads/17")]),
    ]);
    let host = the_plane(&space, "/host:CPU");
    let id = |k: i64| (2 << 32) + (1 << 30) + k;
    assert_eq!(
        lines(host),
        [
            (17, "Host Threads/17"),
            (id(2), "ROCTX Async/0"),
            (id(0), "ROCTX Threads/17"),
            (id(1), "ROCTX Threads/40"),
        ]
    );
    assert_eq!(names(&space), ["/host:CPU", "Task Environment"]);
}

#[test]
fn roctx_lines_keep_clear_of_rows_that_others_have() {
    // A hashed id and a display id whose low words are those of the first ROCTX rows.
    let hashed = (0x7123_4567 << 32) | i64::from(ROCTX_ROW_BASE);
    let mut host = plane("/host:CPU", &[(hashed, "hashed"), (5, "shown elsewhere")]);
    host.lines[1].display_id = i64::from(ROCTX_ROW_BASE) + 1;
    let space = processed(vec![host, plane("/host:ROCTX", &[(5, "ROCTX Threads/5")])]);
    let host = the_plane(&space, "/host:CPU");
    assert_eq!(
        lines(host),
        [
            (roctx_line_id(2), "ROCTX Threads/5"),
            (hashed, "hashed"),
            (5, "shown elsewhere"),
        ]
    );
}

#[test]
fn the_rows_that_vanished_in_xprof_stay() {
    // The ids with which XProf showed one row, named after the last.
    for low in [0, 1] {
        let space = processed(vec![
            plane("/host:CPU", &[(low, "host")]),
            plane("/host:NVTX-CUPTI", &[((1 << 32) + low, "nvtx")]),
            plane("/host:ROCTX", &[((2 << 32) + low, "ROCTX Threads/0")]),
        ]);
        let host = the_plane(&space, "/host:CPU");
        assert_eq!(host.lines.len(), 3);
        assert_eq!(host.lines[1], common_line(host, "host"));
        assert_eq!(
            common_line(host, "host").id,
            low,
            "another's line is left alone"
        );
    }
}

fn common_line(plane: &XPlane, name: &str) -> xplane_schema::proto::XLine {
    plane
        .lines
        .iter()
        .find(|line| line.name == name)
        .unwrap()
        .clone()
}

#[test]
fn lines_of_others_that_clash_get_display_ids() {
    let space = processed(vec![
        plane(
            "/host:CPU",
            &[
                (7, "a"),
                ((9 << 32) + 7, "b"),
                (8, "c"),
                ((1 << 32) + 7, "n"),
            ],
        ),
        plane("/device:GPU:0", &[(1 << 32, "s0"), (0, "s1")]),
    ]);
    let host = the_plane(&space, "/host:CPU");
    let rows: Vec<_> = host
        .lines
        .iter()
        .map(|line| (line.id, line.display_id))
        .collect();
    assert_eq!(
        rows,
        [(7, 0), ((9 << 32) + 7, 9), (8, 0), ((1 << 32) + 7, 10)],
        "ids stay, and 8 is somebody's"
    );
    let gpu: Vec<u32> = the_plane(&space, "/device:GPU:0")
        .lines
        .iter()
        .map(row_id)
        .collect();
    // A host's line is shown in its own row before one that looks like a moved NVTX line's.
    assert_eq!(gpu, [1, 0]);
}

#[test]
fn a_roctx_line_among_the_hosts_gives_way() {
    // As a stock jaxlib merged it, beside a hash with its low word.
    let hashed = (0x6123 << 32) | i64::from(ROCTX_ROW_BASE);
    let space = processed(vec![plane(
        "/host:CPU",
        &[
            (roctx_line_id(0), "ROCTX Threads/1"),
            (roctx_line_id(1), "ROCTX Threads/2"),
            (hashed, "h"),
        ],
    )]);
    assert_eq!(
        lines(the_plane(&space, "/host:CPU")),
        [
            (roctx_line_id(2), "ROCTX Threads/1"),
            (roctx_line_id(1), "ROCTX Threads/2"),
            (hashed, "h")
        ]
    );
}

#[test]
fn every_plane_of_markers_is_merged() {
    let space = processed(vec![
        plane("/host:NVTX-CUPTI", &[(3, "n3")]),
        plane("/host:ROCTX", &[(3, "r3")]),
        plane("/host:NVTX-CUPTI", &[(3, "more of n3"), (4, "n4")]),
        plane("/host:ROCTX", &[(3, "more of r3")]),
    ]);
    assert_eq!(names(&space), ["/host:CPU", "Task Environment"]);
    let host = the_plane(&space, "/host:CPU");
    assert_eq!(
        lines(host),
        [(3, "n3"), (4, "n4"), (roctx_line_id(0), "r3")]
    );
    let events: Vec<usize> = host.lines.iter().map(|line| line.events.len()).collect();
    assert_eq!(events, [2, 1, 2]);
}

#[test]
fn marker_lines_of_one_thread_become_one() {
    for name in ["/host:NVTX-CUPTI", "/host:ROCTX"] {
        let mut of = plane(name, &[(3, "first")]);
        let again = plane(name, &[(3, "again")]).lines.remove(0);
        of.lines.push(again);
        let space = processed(vec![of]);
        let host = the_plane(&space, "/host:CPU");
        assert_eq!(host.lines.len(), 1);
        assert_eq!(host.lines[0].events.len(), 2);
    }
}

#[test]
fn planes_of_one_name_become_one() {
    let space = processed(vec![
        plane("/device:GPU:0", &[(0, "Stream #0"), (1, "Stream #1")]),
        plane("/device:GPU:1", &[(0, "Stream #0")]),
        plane("/device:GPU:0", &[(1, "Stream #1"), (2, "Stream #2")]),
    ]);
    assert_eq!(
        names(&space),
        ["/device:GPU:0", "/device:GPU:1", "Task Environment"]
    );
    let gpu = the_plane(&space, "/device:GPU:0");
    assert_eq!(
        lines(gpu),
        [(0, "Stream #0"), (1, "Stream #1"), (2, "Stream #2")]
    );
    assert_eq!(gpu.lines[1].events.len(), 2);
}

#[test]
fn only_the_hosts_lines_are_sorted_by_name() {
    let space = processed(vec![
        plane("/host:CPU", &[(1, "b"), (2, "a")]),
        plane("/device:GPU:0", &[(1, "b"), (2, "a")]),
    ]);
    assert_eq!(lines(the_plane(&space, "/host:CPU")), [(2, "a"), (1, "b")]);
    assert_eq!(
        lines(the_plane(&space, "/device:GPU:0")),
        [(1, "b"), (2, "a")]
    );
}

#[test]
fn nothing_to_merge_makes_no_plane() {
    let space = processed(vec![
        XPlane {
            name: "/host:ROCTX".into(),
            ..Default::default()
        },
        XPlane {
            name: "/host:NVTX-CUPTI".into(),
            ..Default::default()
        },
        plane("/device:GPU:0", &[(0, "Stream #0")]),
    ]);
    assert_eq!(names(&space), ["/device:GPU:0", "Task Environment"]);
}

#[test]
fn lines_count_from_the_sessions_start() {
    let mut planes = vec![plane("/host:CPU", &[(1, "a"), (2, "b"), (3, "c")])];
    let start_ns = START_NS as i64;
    planes[0].lines[1].timestamp_ns = start_ns + 1_500;
    // Normalised already, by whoever sent it.
    planes[0].lines[2].timestamp_ns = 250;
    let space = processed(planes);
    let host = the_plane(&space, "/host:CPU");
    let starts: Vec<i64> = host.lines.iter().map(|line| line.timestamp_ns).collect();
    assert_eq!(starts, [0, 1_500, 250]);
}

#[test]
fn a_session_near_the_epoch_is_normalised_once_too() {
    // A clock that counts from boot, say: a line's start is more than twice the session's.
    let mut space = space(vec![plane("/host:CPU", &[(1, "a"), (2, "b")])]);
    space.planes[0].lines[0].timestamp_ns = 5_000;
    space.planes[0].lines[1].timestamp_ns = 1_500;
    for _ in 0..3 {
        post_process_single_host_xspace(&mut space, 1_000, 9_000);
        let starts: Vec<i64> = space.planes[0]
            .lines
            .iter()
            .map(|line| line.timestamp_ns)
            .collect();
        assert_eq!(starts, [4_000, 500]);
    }
}

#[test]
fn a_start_of_zero_changes_no_time() {
    let mut space = space(vec![plane("/host:CPU", &[(1, "a")])]);
    post_process_single_host_xspace(&mut space, 0, 0);
    assert_eq!(space.planes[0].lines[0].timestamp_ns, START_NS as i64);
    assert_eq!(
        names(&space),
        ["/host:CPU"],
        "as in TSL, a time of 0 is not noted"
    );
}

#[test]
fn the_sessions_times_are_noted_once() {
    let mut environment = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut environment);
    builder.set_name("Task Environment");
    let id = builder.get_or_create_stat_metadata("profile_stop_time");
    builder.set_stat_value(id, 1u64);
    let space = processed(vec![environment]);
    let environment = XPlaneVisitor::new(the_plane(&space, "Task Environment"));
    assert_eq!(environment.stats().len(), 2);
    let time = |name| environment.stat(name).unwrap().as_u64();
    assert_eq!(time("profile_start_time"), Some(START_NS));
    assert_eq!(time("profile_stop_time"), Some(STOP_NS));
}

#[test]
fn events_are_sorted_with_outer_ones_first() {
    let mut of = plane("/host:ROCTX", &[(1, "row")]);
    let mut builder = XPlaneBuilder::new(&mut of);
    // In the order of pops: inner ranges end first.
    for (name, offset_ps, duration_ps) in [("inner", 5, 1), ("mark", 9, 0), ("outer", 5, 8)] {
        let id = builder.get_or_create_event_metadata(name);
        let mut line = builder.get_or_create_line(1);
        let mut event = line.add_event(id);
        event.set_offset_ps(offset_ps);
        event.set_duration_ps(duration_ps);
    }
    let space = processed(vec![of]);
    let host = XPlaneVisitor::new(the_plane(&space, "/host:CPU"));
    let line = host.lines().next().unwrap();
    let names: Vec<&str> = line.events().map(|event| event.name()).collect();
    assert_eq!(names, ["outer", "inner", "mark", "row"]);
}
