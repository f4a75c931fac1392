//! Post-processing of any space: nothing is lost or doubled, rows are unique, twice is once.

mod common;

use common::{assert_rows_are_unique, events};
use host_postprocess::post_process_single_host_xspace;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use xplane_schema::builder::{XLineBuilder, XPlaneBuilder};
use xplane_schema::proto::{XLine, XPlane, XSpace};

const PLANES: [&str; 9] = [
    "/host:CPU",
    "/host:ROCTX",
    "/host:NVTX-CUPTI",
    "/host:CUPTI",
    "/host:ROCTRACER",
    "/host:python-tracer",
    "/device:GPU:0",
    "/device:GPU:1",
    "Task Environment",
];

/// Ids that clash in 64 bits, in the low 32, or not at all.
fn line_id() -> impl Strategy<Value = i64> {
    let high = select(vec![0, 1, 2, 3, 0x7fff_ffff, -1]);
    let low = prop_oneof![0..4i64, (1 << 30)..(1 << 30) + 4i64];
    prop_oneof![
        9 => (high, low).prop_map(|(high, low)| (high << 32) + low),
        1 => any::<i64>(),
    ]
}

fn plane(session: i64) -> impl Strategy<Value = XPlane> {
    let display_id = prop_oneof![5 => Just(0), 1 => 0..4i64, 1 => line_id()];
    // In the session, or counted from its start.
    let timestamp_ns = prop_oneof![0..1_000i64, (0..1_000i64).prop_map(move |ns| ns + session)];
    let event = (0..5u8, 0..1_000_000i64, 0..1_000i64);
    let line = (line_id(), display_id, timestamp_ns, vec(event, 0..4));
    (select(PLANES.to_vec()), vec(line, 0..5)).prop_map(|(name, drafts)| {
        let mut plane = XPlane::default();
        let mut builder = XPlaneBuilder::new(&mut plane);
        builder.set_name(name);
        let nvtx_range = builder.get_or_create_stat_metadata("nvtx_range");
        // Not by the builder: planes may have several lines of one id.
        let mut lines = Vec::new();
        for (id, display_id, timestamp_ns, events) in drafts {
            let mut line = XLine {
                id,
                display_id,
                timestamp_ns,
                name: format!("line {}", lines.len()),
                ..Default::default()
            };
            for (label, offset_ps, duration_ps) in events {
                let label = format!("label {label}");
                let metadata_id = builder.get_or_create_event_metadata(&label);
                let text_id = builder.get_or_create_stat_metadata(&label);
                let mut line = XLineBuilder::new(&mut line);
                let mut event = line.add_event(metadata_id);
                event.set_offset_ps(offset_ps);
                event.set_duration_ps(duration_ps);
                event.add_ref_stat(nvtx_range, text_id);
            }
            lines.push(line);
        }
        plane.lines = lines;
        plane
    })
}

fn sessions() -> impl Strategy<Value = (u64, u64, Vec<XPlane>)> {
    let start = prop_oneof![
        Just(1_760_000_000_000_000_000u64),
        Just(10_000u64),
        Just(10u64),
        Just(0u64),
    ];
    (start, any::<bool>()).prop_flat_map(|(start, has_stop)| {
        let stop = if has_stop { start + 2_000 } else { 0 };
        (Just(start), Just(stop), vec(plane(start as i64), 0..7))
    })
}

/// Where the events of a plane are afterwards.
fn destination(name: &str) -> String {
    match name {
        "/device:GPU:0" | "/device:GPU:1" | "Task Environment" => name.to_owned(),
        _ => "/host:CPU".to_owned(),
    }
}

proptest! {
    #[test]
    fn any_space((start_ns, stop_ns, planes) in sessions()) {
        let mut space = XSpace { planes, ..Default::default() };
        let is_wall_clock = start_ns > 1 << 50;
        // Line names are left out: lines that are fused have one. Times can be compared where
        // those since the epoch and those since the session's start tell themselves apart.
        let essence = |space: &XSpace| {
            let mut events: Vec<_> = events(space, destination)
                .into_iter()
                .map(|(plane, _, name, start_ps, duration_ps, stats)| {
                    let session_ps = i128::from(start_ns) * 1000;
                    let start_ps = match is_wall_clock {
                        true if start_ps >= session_ps => start_ps - session_ps,
                        true => start_ps,
                        false => 0,
                    };
                    (plane, name, start_ps, duration_ps, stats)
                })
                .collect();
            events.sort();
            events
        };
        let before = essence(&space);
        post_process_single_host_xspace(&mut space, start_ns, stop_ns);
        prop_assert_eq!(essence(&space), before);
        assert_rows_are_unique(&space);
        for name in ["/host:ROCTX", "/host:NVTX-CUPTI", "/host:ROCTRACER"] {
            prop_assert!(space.planes.iter().all(|plane| plane.name != name));
        }

        let once = space.clone();
        post_process_single_host_xspace(&mut space, start_ns, stop_ns);
        prop_assert_eq!(space, once);
    }
}
