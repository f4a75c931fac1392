//! Host events (`TraceMe`) as lines of `/host:CPU`: for programs in which no other profiler makes
//! them.

use crate::annotation::{self, Annotation};
use crate::clock::Span;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XPlane, XSpace, x_event};
use xplane_schema::schema;

use tsl_profiler_lib::traceme::Recording;

/// Adds the plane `/host:CPU` of these events to `space`, if there are any: one line a thread, with
/// the thread's id and name. `#key=value#` in an event's name becomes stats.
///
/// Events that had not ended by the stop, and events outside `span`, are not exported; a warning
/// counts each.
pub fn export(recording: &Recording, span: &Span, space: &mut XSpace) {
    let scale = span.boot_scale();
    let mut plane = XPlane::default();
    let mut builder = XPlaneBuilder::new(&mut plane);
    builder.set_name(schema::HOST_THREADS_PLANE_NAME);
    let mut outside = 0;
    for thread in &recording.threads {
        let mut events = Vec::with_capacity(thread.events.len());
        for event in &thread.events {
            let (Some(start_ps), Some(end_ps)) = (
                scale.offset_ps(event.start_ns),
                scale.offset_ps(event.end_ns),
            ) else {
                outside += 1;
                continue;
            };
            let name = xplane_schema::lossy_utf8(&event.name);
            let annotation = Annotation::parse(&name);
            let pairs = annotation.metadata.iter();
            let stats = pairs
                .map(|(key, value)| annotation::stat(key, value, &mut builder))
                .collect();
            events.push(XEvent {
                metadata_id: builder.get_or_create_event_metadata(annotation.name),
                data: Some(x_event::Data::OffsetPs(start_ps as i64)),
                duration_ps: (end_ps - start_ps) as i64,
                stats,
                ..Default::default()
            });
        }
        if !events.is_empty() {
            let mut line = builder.get_or_create_line(thread.tid);
            line.set_name(&thread.name);
            line.set_timestamp_ns(span.start.wall_ns as i64);
            line.extend_events(events);
        }
    }
    if !plane.lines.is_empty() {
        space.planes.push(plane);
    }
    let mut warn = |count: u64, why: &str| {
        if count > 0 {
            space
                .warnings
                .push(format!("{count} host events dropped: {why}"));
        }
    };
    warn(outside, "time outside the session");
    warn(recording.open_at_stop, "not ended when the session stopped");
}
