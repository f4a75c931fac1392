//! Host events as lines of `/host:CPU`.

#![allow(missing_docs)]

mod common;

use common::*;
use rocm_tracer::{RocmTracer, RocmTracerOptions, host_tracer};
use tsl_profiler_lib::traceme::{Level, TraceMe, TraceMeRecorder};
use xplane_schema::proto::{XSpace, x_stat};

#[test]
fn a_thread_s_events_are_a_line_with_its_id_and_name() {
    let _one = one_at_a_time();
    TraceMeRecorder::start(Level::INFO).unwrap();
    let tracer = RocmTracer::singleton();
    tracer.enable(RocmTracerOptions::default()).unwrap();
    let tid = std::thread::Builder::new()
        .name("loader".to_owned())
        .spawn(|| {
            push("range");
            {
                let _event =
                    TraceMe::new("read#rows=12,ratio=0.5,file=a.bin,big=18446744073709551615#");
                mark("inside");
            }
            pop();
            tid()
        })
        .unwrap()
        .join()
        .unwrap();
    let recording = TraceMeRecorder::stop().unwrap();
    let captured = tracer.disable().unwrap();
    let mut space = XSpace::default();
    host_tracer::export(&recording, &captured.span(), &mut space);
    let host = space.planes.remove(0);
    assert_eq!(host.name, "/host:CPU");
    let [line] = host.lines.as_slice() else {
        panic!("{:?}", host.lines)
    };
    assert_eq!((line.id, line.name.as_str()), (tid as i64, "loader"));
    let [event] = line.events.as_slice() else {
        panic!("{:?}", line.events)
    };
    assert_eq!(host.event_metadata[&event.metadata_id].name, "read");
    let stats: Vec<_> = event
        .stats
        .iter()
        .map(|stat| {
            let value = match stat.value.clone().unwrap() {
                x_stat::Value::RefValue(id) => {
                    x_stat::Value::StrValue(host.stat_metadata[&(id as i64)].name.clone())
                }
                other => other,
            };
            (host.stat_metadata[&stat.metadata_id].name.as_str(), value)
        })
        .collect();
    assert_eq!(
        stats,
        [
            ("rows", x_stat::Value::Int64Value(12)),
            ("ratio", x_stat::Value::DoubleValue(0.5)),
            ("file", x_stat::Value::StrValue("a.bin".to_owned())),
            ("big", x_stat::Value::Uint64Value(u64::MAX)),
        ]
    );
    // Host events and markers, timed by two clocks, lie in each other as they did.
    let markers = the_row(&export(captured, Default::default()));
    assert_eq!(markers.timestamp_ns, line.timestamp_ns);
    let [range, mark] = &markers.events[..] else {
        panic!("{markers:?}")
    };
    let Some(xplane_schema::proto::x_event::Data::OffsetPs(start)) = event.data else {
        panic!()
    };
    let end = start + event.duration_ps;
    let slack = 50_000_000; // 50 µs, in ps
    assert!(range.start_ps <= start + slack && end <= range.end_ps + slack);
    assert!(start <= mark.start_ps + slack && mark.start_ps <= end + slack);
}

#[test]
fn events_that_were_open_at_the_stop_are_counted() {
    let _one = one_at_a_time();
    TraceMeRecorder::start(Level::INFO).unwrap();
    let tracer = RocmTracer::singleton();
    tracer.enable(RocmTracerOptions::default()).unwrap();
    let open = TraceMe::new("open");
    let recording = TraceMeRecorder::stop().unwrap();
    let captured = tracer.disable().unwrap();
    drop(open);
    let mut space = XSpace::default();
    host_tracer::export(&recording, &captured.span(), &mut space);
    assert!(space.planes.is_empty());
    assert_eq!(
        space.warnings,
        ["1 host events dropped: not ended when the session stopped"]
    );
}
