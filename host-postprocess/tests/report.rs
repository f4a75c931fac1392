//! The report per label.

mod common;

use common::{plane, space};
use host_postprocess::report::{LabelReport, LabelStats, RowSummary};
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XPlane, XSpace};

/// Label, start and duration in ns.
type Event<'a> = (&'a str, i64, i64);

/// A plane with these lines.
fn rows(name: &str, lines: &[(&str, &[Event<'_>])]) -> XPlane {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name(name);
    for (id, (name, events)) in lines.iter().enumerate() {
        for &(label, start_ns, duration_ns) in *events {
            let metadata = builder.get_or_create_event_metadata(label);
            let mut line = builder.get_or_create_line(id as i64);
            line.set_name(name);
            let mut event = line.add_event(metadata);
            event.set_offset_ps(start_ns * 1000);
            event.set_duration_ns(duration_ns);
        }
    }
    plane
}

fn label<'a>(report: &'a LabelReport, label: &str) -> &'a LabelStats {
    report
        .labels
        .iter()
        .find(|stats| stats.label == label)
        .unwrap()
}

#[test]
fn labels_are_summed_up_over_rows_and_planes() {
    let space = XSpace {
        warnings: vec!["3 markers dropped".into()],
        errors: vec!["an error".into()],
        ..space(vec![
            rows(
                "/host:CPU",
                &[
                    ("ROCTX Threads/17", &[("step", 0, 100), ("load", 200, 7)]),
                    ("ROCTX Threads/18 loader", &[("load", 0, 3)]),
                    ("Host Threads/17", &[("step", 0, 1_000_000)]),
                    ("Host Threads/19/ROCTX", &[("load", 0, 5)]),
                ],
            ),
            rows("/host:ROCTX", &[("ROCTX Threads/17", &[("step", 500, 50)])]),
        ])
    };
    let report = LabelReport::from_space(&space);
    assert_eq!(
        report.labels,
        [
            LabelStats {
                label: "step".into(),
                count: 2,
                total_ns: 150,
                self_ns: 150,
                p50_ns: 50,
                p99_ns: 100,
                longest_ns: 100,
                threads: 1,
            },
            LabelStats {
                label: "load".into(),
                count: 3,
                total_ns: 15,
                self_ns: 15,
                p50_ns: 5,
                p99_ns: 7,
                longest_ns: 7,
                threads: 3,
            },
        ]
    );
    let row = |name: &str, events| RowSummary {
        name: name.into(),
        events,
    };
    assert_eq!(
        report.rows,
        [
            row("ROCTX Threads/17", 2),
            row("ROCTX Threads/18 loader", 1),
            row("Host Threads/19/ROCTX", 1),
            row("ROCTX Threads/17", 1)
        ]
    );
    assert_eq!(report.warnings, ["3 markers dropped"]);
    assert_eq!(report.errors, ["an error"]);
}

#[test]
fn self_time_leaves_out_what_is_directly_within() {
    // step [0, 100] holds forward [10, 50], which holds matmul [20, 30] twice over, and a mark;
    // after it backward [50, 90]. Given in the order of pops.
    let of = rows(
        "/host:CPU",
        &[(
            "ROCTX Threads/1",
            &[
                ("matmul", 20, 10),
                ("mark", 25, 0),
                ("matmul", 30, 5),
                ("forward", 10, 40),
                ("backward", 50, 40),
                ("step", 0, 100),
                ("step", 100, 8),
            ],
        )],
    );
    let report = LabelReport::from_space(&space(vec![of]));
    let self_ns = |name| label(&report, name).self_ns;
    assert_eq!(self_ns("step"), 100 - 40 - 40 + 8);
    assert_eq!(self_ns("forward"), 40 - 10 - 5);
    assert_eq!(self_ns("backward"), 40);
    assert_eq!(self_ns("matmul"), 15);
    assert_eq!(self_ns("mark"), 0);
    // All self times together are the time in the outermost ranges.
    let all: u64 = report.labels.iter().map(|stats| stats.self_ns).sum();
    assert_eq!(all, 108);
}

#[test]
fn a_label_within_itself_counts_its_self_time_once() {
    let of = rows(
        "/host:CPU",
        &[(
            "ROCTX Threads/1",
            &[("f", 0, 10), ("f", 0, 10), ("f", 2, 3)],
        )],
    );
    let report = LabelReport::from_space(&space(vec![of]));
    let stats = label(&report, "f");
    assert_eq!((stats.count, stats.total_ns, stats.self_ns), (3, 23, 10));
}

#[test]
fn ranges_on_other_rows_are_not_within() {
    let of = rows(
        "/host:CPU",
        &[
            ("ROCTX Threads/1", &[("a", 0, 10)]),
            ("ROCTX Threads/2", &[("b", 2, 3)]),
        ],
    );
    assert_eq!(
        label(&LabelReport::from_space(&space(vec![of])), "a").self_ns,
        10
    );
}

#[test]
fn percentiles_are_durations_that_occurred() {
    let events: Vec<Event<'_>> = (1..=200).map(|n| ("x", n * 1000, n)).collect();
    let of = rows("/host:CPU", &[("ROCTX Threads/1", &events)]);
    let report = LabelReport::from_space(&space(vec![of]));
    let stats = label(&report, "x");
    assert_eq!(
        (stats.p50_ns, stats.p99_ns, stats.longest_ns),
        (100, 198, 200)
    );
    assert_eq!(stats.total_ns, 200 * 201 / 2);
}

#[test]
fn async_ranges_count_for_the_threads_that_started_them() {
    let mut of = rows(
        "/host:CPU",
        &[
            ("ROCTX Async/0", &[("io", 0, 5), ("io", 5, 5)]),
            ("ROCTX Async/1", &[("io", 1, 5)]),
        ],
    );
    let mut builder = XPlaneBuilder::new(&mut of);
    let id = builder.get_or_create_stat_metadata("start_thread");
    for (line, event) in [(0, 0), (0, 1), (1, 0)] {
        let stat = xplane_schema::proto::XStat {
            metadata_id: id,
            value: Some(i64::into(17)),
            ..Default::default()
        };
        builder.get_or_create_line(line).events_mut()[event]
            .stats
            .push(stat);
    }
    let report = LabelReport::from_space(&space(vec![of]));
    assert_eq!(label(&report, "io").threads, 1);
    assert_eq!(label(&report, "io").self_ns, 15);
}

#[test]
fn durations_that_make_no_sense_do_no_harm() {
    let of = rows(
        "/host:CPU",
        &[(
            "ROCTX Threads/1",
            &[
                ("x", 0, i64::MAX / 1000),
                ("x", 1, i64::MAX / 1000),
                ("y", 5, -3),
            ],
        )],
    );
    let report = LabelReport::from_space(&space(vec![of]));
    assert_eq!(label(&report, "x").total_ns, 2 * (i64::MAX as u64 / 1000));
    assert_eq!(label(&report, "y").total_ns, 0);
}

#[test]
fn a_report_is_json_for_whoever_wants_it() {
    let report = LabelReport::from_space(&space(vec![plane(
        "/host:ROCTX",
        &[(1, "ROCTX Threads/1")],
    )]));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["rows"][0]["events"], 1);
    assert_eq!(json["labels"][0]["p99_ns"], 0);
}

#[test]
fn a_row_of_warnings_is_warnings_and_no_labels() {
    let space = XSpace {
        warnings: vec!["one".into()],
        ..space(vec![rows(
            "/host:CPU",
            &[
                ("ROCTX Threads/17", &[("step", 0, 100)]),
                ("ROCTX Warnings", &[("two", 100, 0), ("three", 100, 0)]),
            ],
        )])
    };
    let report = LabelReport::from_space(&space);
    assert_eq!(report.warnings, ["one", "two", "three"]);
    assert_eq!(report.rows.len(), 1);
    assert_eq!(report.labels.len(), 1);
}
