//! The JSON as a reader sees it.

mod common;

use common::{plane, space, strangers_space};
use flate2::read::GzDecoder;
use host_postprocess::export::trace_json;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XPlane, XSpace, x_event, x_stat};
use xplane_schema::visitor::XPlaneVisitor;

fn written(space: &XSpace) -> String {
    let mut json = Vec::new();
    trace_json::write(space, &mut json).unwrap();
    String::from_utf8(json).unwrap()
}

fn items(space: &XSpace) -> Vec<Value> {
    let json: Value = serde_json::from_str(&written(space)).unwrap();
    assert_eq!(json["displayTimeUnit"], "ns");
    json["traceEvents"].as_array().unwrap().clone()
}

fn complete_events(space: &XSpace) -> Vec<Value> {
    items(space)
        .into_iter()
        .filter(|item| item["ph"] == "X")
        .collect()
}

/// The text of the number after a key, for numbers that a double cannot hold.
fn number<'a>(json: &'a str, key: &str) -> &'a str {
    let start = json.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
    json[start..].split([',', '}']).next().unwrap()
}

#[test]
fn an_empty_space_is_valid() {
    assert_eq!(items(&XSpace::default()), [] as [Value; 0]);
}

#[test]
fn planes_are_processes_and_lines_are_threads() {
    let mut gpu = plane("/device:GPU:1", &[(4, "Stream #4")]);
    gpu.id = 1;
    let mut host = plane("/host:CPU", &[(900, "a"), (17, "b")]);
    host.lines[1].display_name = "shown".into();
    host.lines[1].display_id = (1 << 32) + 18;
    let nothing = XPlane {
        name: "/host:metadata".into(),
        ..Default::default()
    };
    let items = items(&space(vec![nothing, gpu, host]));
    let metadata: Vec<&Value> = items.iter().filter(|item| item["ph"] == "M").collect();
    let thread = |pid: u32, tid: u32, name: &str, index: u32| {
        let of =
            |key: &str, args| json!({"ph": "M", "pid": pid, "tid": tid, "name": key, "args": args});
        [
            of("thread_name", json!({"name": name})),
            of("thread_sort_index", json!({"sort_index": index})),
        ]
    };
    let process = |pid: u32, name: &str| {
        let of = |key: &str, args| json!({"ph": "M", "pid": pid, "name": key, "args": args});
        [
            of("process_name", json!({"name": name})),
            of("process_sort_index", json!({"sort_index": pid})),
        ]
    };
    let expected = [
        process(2, "/device:GPU:1"),
        thread(2, 4, "Stream #4", 4),
        process(701, "/host:CPU"),
        // The host's rows by their place, others by number.
        thread(701, 900, "a", 1),
        thread(701, 18, "shown", 2),
    ];
    assert_eq!(metadata, expected.as_flattened().iter().collect::<Vec<_>>());
}

#[test]
fn planes_that_look_alike_are_processes_of_their_own() {
    let planes = [
        "/device:GPU:0",
        "/device:GPU:0",
        "/host:other",
        "/host:CPU",
        "/host:CPU",
    ];
    let space = space(planes.iter().map(|name| plane(name, &[(1, "x")])).collect());
    let pids: Vec<Value> = complete_events(&space)
        .iter()
        .map(|event| event["pid"].clone())
        .collect();
    assert_eq!(pids, [1, 2, 501, 701, 702]);
}

/// A plane with one event that `build` adds to.
fn one_event(build: impl FnOnce(&mut XPlaneBuilder<'_>)) -> XSpace {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name("/host:CPU");
    builder.get_or_create_event_metadata("event");
    builder.get_or_create_line(1).add_event(1);
    build(&mut builder);
    space(vec![plane])
}

#[test]
fn times_are_microseconds_to_the_last_picosecond() {
    for (timestamp_ns, offset_ps, duration_ps, ts, dur) in [
        (0, 0, 1_000_000, "0", "1"),
        (0, 1, 1, "0.000001", "0.000001"),
        (1, 500, 1_500_000, "0.0015", "1.5"),
        (123_456_789, 12, 10_000_000, "123456.789012", "10"),
        // Instants take the shortest time there is: viewers hide what takes none.
        (0, 2_000_000, 0, "2", "0.000001"),
        (0, -1_500_000, 1, "-1.5", "0.000001"),
        // Not normalised: more ps than 64 bits hold.
        (
            1_760_000_000_000_000_000,
            7,
            1,
            "1760000000000000.000007",
            "0.000001",
        ),
        (
            i64::MAX,
            i64::MAX,
            i64::MAX,
            "9232595408891630.582807",
            "9223372036854.775807",
        ),
        (
            i64::MIN,
            i64::MIN,
            1,
            "-9232595408891630.583808",
            "0.000001",
        ),
    ] {
        let mut space = one_event(|_| {});
        let line = &mut space.planes[0].lines[0];
        line.timestamp_ns = timestamp_ns;
        line.events[0].data = Some(x_event::Data::OffsetPs(offset_ps));
        line.events[0].duration_ps = duration_ps;
        let json = written(&space);
        assert_eq!(number(&json, "ts"), ts);
        assert_eq!(number(&json, "dur"), dur);
        serde_json::from_str::<Value>(&json).unwrap();
    }
}

#[test]
fn stats_are_arguments() {
    let space = one_event(|builder| {
        let ids: Vec<i64> = [
            "ref", "text", "int", "uint", "double", "bytes", "none", "_pt", "flops",
        ]
        .iter()
        .map(|name| builder.get_or_create_stat_metadata(name))
        .collect();
        let forward = builder.get_or_create_stat_metadata("forward \"1\"");
        let line = &mut builder.get_or_create_line(1);
        let events = line.events_mut();
        let mut stats = Vec::new();
        for (id, value) in ids.into_iter().zip([
            Some(x_stat::Value::RefValue(forward as u64)),
            Some("line\nbreak \u{7} é".into()),
            Some(i64::MIN.into()),
            Some(u64::MAX.into()),
            Some(0.1.into()),
            Some(x_stat::Value::BytesValue(vec![1])),
            None,
            // Those that viewers leave out.
            Some(3i64.into()),
            Some(4i64.into()),
        ]) {
            stats.push(xplane_schema::proto::XStat {
                metadata_id: id,
                value,
                ..Default::default()
            });
        }
        events[0].stats = stats;
    });
    assert_eq!(
        complete_events(&space)[0]["args"],
        json!({
            "ref": "forward \"1\"",
            "text": "line\nbreak \u{7} é",
            "int": "-9223372036854775808",
            "uint": "18446744073709551615",
            "double": "0.1",
            "bytes": "<opaque bytes>",
        })
    );
}

#[test]
fn an_event_without_stats_has_no_arguments() {
    let event = complete_events(&one_event(|_| {}))[0].clone();
    assert_eq!(
        event,
        json!({"ph": "X", "pid": 701, "tid": 1, "ts": 0, "dur": 0.000001, "name": "event"})
    );
}

#[test]
fn shared_stats_come_before_an_events_own() {
    let space = one_event(|builder| {
        let shared = builder.get_or_create_stat_metadata("shared");
        let both = builder.get_or_create_stat_metadata("both");
        let stat = |metadata_id, value: &str| xplane_schema::proto::XStat {
            metadata_id,
            value: Some(value.into()),
            ..Default::default()
        };
        let metadata = builder.event_metadata_mut(1).unwrap();
        metadata.display_name = "short".into();
        metadata.stats = vec![stat(shared, "s"), stat(both, "not this")];
        builder.get_or_create_line(1).events_mut()[0].stats = vec![stat(both, "this")];
    });
    let event = &complete_events(&space)[0];
    assert_eq!(event["name"], "short");
    assert_eq!(
        event["args"],
        json!({"long_name": "event", "shared": "s", "both": "this"})
    );
    // Once, for readers differ on keys that come twice.
    assert_eq!(written(&space).matches("\"both\"").count(), 1);
}

#[test]
fn a_step_is_shown_by_its_name() {
    let space = one_event(|builder| {
        let id = builder.get_or_create_stat_metadata("step_name");
        let text = builder.get_or_create_stat_metadata("train 7");
        builder.get_or_create_line(1).events_mut()[0]
            .stats
            .push(xplane_schema::proto::XStat {
                metadata_id: id,
                value: Some(x_stat::Value::RefValue(text as u64)),
                ..Default::default()
            });
    });
    assert_eq!(complete_events(&space)[0]["name"], "train 7");
}

#[test]
fn names_that_no_metadata_has_are_empty() {
    let space = one_event(|builder| {
        let mut line = builder.get_or_create_line(1);
        let event = &mut line.events_mut()[0];
        event.metadata_id = 99;
        event.stats.push(xplane_schema::proto::XStat {
            metadata_id: 99,
            value: Some(x_stat::Value::RefValue(99)),
            ..Default::default()
        });
    });
    let event = &complete_events(&space)[0];
    assert_eq!(event["name"], "");
    assert_eq!(event.get("args"), None);
}

#[test]
fn every_name_that_json_must_escape() {
    let label: String = (0..=0x20u8)
        .map(char::from)
        .chain("\"\\/\u{7f}\u{2028}😀</script>".chars())
        .collect();
    let mut of = plane("/host:CPU", &[(1, &label)]);
    of.name.push_str(&label);
    let space = space(vec![of]);
    let items = items(&space);
    assert_eq!(items[0]["args"]["name"], format!("/host:CPU{label}"));
    assert_eq!(items[2]["args"]["name"], label);
    assert_eq!(items[4]["name"], label);
}

#[test]
fn a_strangers_file_keeps_its_events() {
    let space = strangers_space();
    let expected: Vec<(String, f64)> = space
        .planes
        .iter()
        .flat_map(|plane| XPlaneVisitor::new(plane).lines())
        .flat_map(|line| line.events())
        .map(|event| {
            let name = event
                .stat("step_name")
                .map(|stat| stat.to_text().into_owned());
            let name = name.unwrap_or(event.display_name().unwrap_or(event.name()).to_owned());
            (name, event.timestamp_ps() as f64 / 1e6)
        })
        .collect();
    let found: Vec<(String, f64)> = complete_events(&space)
        .iter()
        .map(|event| {
            (
                event["name"].as_str().unwrap().to_owned(),
                event["ts"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(found.len(), 185);
    assert_eq!(found, expected);
}

#[test]
fn the_gzip_holds_the_same_json() {
    let space = strangers_space();
    let mut gzip = Vec::new();
    trace_json::write_gzip(&space, &mut gzip).unwrap();
    let mut json = String::new();
    GzDecoder::new(&gzip[..]).read_to_string(&mut json).unwrap();
    assert_eq!(json, written(&space));
}

/// Takes so many bytes, then has no room.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.0.min(bytes.len());
        if taken == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_wherever_it_is_met() {
    let space = strangers_space();
    let len = written(&space).len();
    for room in [0, 1, 100, len / 2, len - 1] {
        let error = trace_json::write(&space, Full(room)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    trace_json::write(&space, Full(len)).unwrap();
    let mut gzip = Vec::new();
    trace_json::write_gzip(&space, &mut gzip).unwrap();
    for room in [0, 10, gzip.len() - 1] {
        let error = trace_json::write_gzip(&space, Full(room)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
