//! A capture of a million markers, step by step: 64 threads, 100 labels, and host rows with the
//! same ids for them to be merged beside.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use host_postprocess::export::trace_json;
use host_postprocess::post_process_single_host_xspace;
use host_postprocess::report::LabelReport;
use std::hint::black_box;
use std::io;
use xplane_schema::Message;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XPlane, XSpace, XStat, x_event, x_stat};
use xplane_schema::schema::{
    HOST_THREADS_PLANE_NAME, ROCTX_PLANE_NAME, ROCTX_THREADS_LINE_PREFIX, StatType,
};
use xplane_schema::utils::sort_space;

const THREADS: i64 = 64;
const LABELS: usize = 100;
const EVENTS: i64 = 1_000_000;
const START_NS: u64 = 1_760_000_000_000_000_000;
const STOP_NS: u64 = START_NS + 10_000_000_000;

/// The markers in the order of pops: three ranges within a fourth, over and over.
fn markers() -> XPlane {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name(ROCTX_PLANE_NAME);
    let nvtx_range = builder.get_or_create_stat_metadata(StatType::NvtxRange.as_str());
    let labels: Vec<(i64, u64)> = (0..LABELS)
        .map(|number| {
            let label = format!("train_step/layer_{number}/forward");
            let event = builder.get_or_create_event_metadata(&label);
            (event, builder.get_or_create_stat_metadata(&label) as u64)
        })
        .collect();
    for thread in 0..THREADS {
        let tid = 4000 + thread;
        let count = EVENTS / THREADS;
        let mut events = Vec::with_capacity(count as usize);
        for number in 0..count {
            let (metadata_id, text_id) = labels[(number * 7 + thread) as usize % LABELS];
            let group_ps = number / 4 * 1_000_000;
            let (offset_ps, duration_ps) = match number % 4 {
                3 => (group_ps, 900_000),
                inner => (group_ps + 10_000 + inner * 250_000, 200_000),
            };
            events.push(XEvent {
                metadata_id,
                data: Some(x_event::Data::OffsetPs(offset_ps)),
                duration_ps,
                stats: vec![XStat {
                    metadata_id: nvtx_range,
                    value: Some(x_stat::Value::RefValue(text_id)),
                    ..Default::default()
                }],
                ..Default::default()
            });
        }
        let mut line = builder.get_or_create_line(tid);
        line.set_name(&format!("{ROCTX_THREADS_LINE_PREFIX}{tid}"));
        line.set_timestamp_ns(START_NS as i64);
        line.extend_events(events);
    }
    plane
}

fn host() -> XPlane {
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name(HOST_THREADS_PLANE_NAME);
    let label = builder.get_or_create_event_metadata("PjitFunction(step)");
    for thread in 0..THREADS {
        let mut line = builder.get_or_create_line(4000 + thread);
        line.set_name("python3");
        line.set_timestamp_ns(START_NS as i64);
        for number in 0..100 {
            let mut event = line.add_event(label);
            event.set_offset_ps(number * 1_000_000);
            event.set_duration_ps(500_000);
        }
    }
    plane
}

fn captured() -> XSpace {
    XSpace {
        planes: vec![host(), markers()],
        ..Default::default()
    }
}

fn finished() -> XSpace {
    let mut space = captured();
    post_process_single_host_xspace(&mut space, START_NS, STOP_NS);
    space
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("million markers");
    group.sample_size(10);
    group.throughput(Throughput::Elements(EVENTS as u64));
    group.bench_function("build", |b| b.iter_with_large_drop(captured));
    let space = captured();
    group.bench_function("sort", |b| {
        let sort = |mut space: XSpace| {
            sort_space(&mut space);
            space
        };
        b.iter_batched(|| space.clone(), sort, BatchSize::PerIteration);
    });
    group.bench_function("post-process", |b| {
        let process = |mut space: XSpace| {
            post_process_single_host_xspace(&mut space, START_NS, STOP_NS);
            space
        };
        b.iter_batched(|| space.clone(), process, BatchSize::PerIteration);
    });
    drop(space);
    let space = finished();
    group.bench_function("encode", |b| {
        b.iter_with_large_drop(|| space.encode_to_vec())
    });
    let bytes = space.encode_to_vec();
    group.bench_function("decode", |b| {
        b.iter_with_large_drop(|| XSpace::decode(&bytes[..]));
    });
    group.bench_function("build, post-process and encode", |b| {
        b.iter_with_large_drop(|| {
            let space = finished();
            (space.encode_to_vec(), space)
        });
    });
    group.bench_function("trace.json", |b| {
        b.iter(|| trace_json::write(&space, io::sink()));
    });
    group.bench_function("trace.json.gz", |b| {
        b.iter(|| trace_json::write_gzip(&space, io::sink()));
    });
    group.bench_function("report", |b| {
        b.iter(|| black_box(LabelReport::from_space(&space)))
    });
    group.finish();
}

criterion_group!(million_markers, benches);
criterion_main!(million_markers);
