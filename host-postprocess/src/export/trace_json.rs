//! Trace-viewer JSON, which Chrome's trace viewer, Perfetto and TensorBoard open.
//!
//! Processes are planes and threads are lines; numbers and order are TSL's
//! (`trace_events_to_json.cc`). Unlike TSL's, the JSON has the events of every plane, however
//! many. Times are decimal µs with all six digits that ps have.

mod names;
mod output;

use flate2::Compression;
use flate2::write::GzEncoder;
use hashbrown::HashSet;
use names::PlaneNames;
use output::Output;
use serde_json::json;
use std::io::{self, Write};
use xplane_schema::builder::PS_PER_NS;
use xplane_schema::proto::{XEvent, XLine, XPlane, XSpace, XStat};
use xplane_schema::schema::{
    CUSTOM_PLANE_PREFIX, FIRST_CUSTOM_PLANE_PID, FIRST_DEVICE_PID, GPU_PLANE_PREFIX,
    HOST_THREADS_PID, HOST_THREADS_PLANE_NAME, TPU_PLANE_PREFIX, row_id,
};
use xplane_schema::visitor::offset_ps;

/// Writes a space as gzipped JSON.
///
/// # Errors
///
/// Those of `to`.
pub fn write_gzip(space: &XSpace, to: impl Write) -> io::Result<()> {
    let mut gzip = GzEncoder::new(to, Compression::fast());
    write(space, &mut gzip)?;
    gzip.finish()?.flush()
}

/// Writes a space as JSON.
///
/// # Errors
///
/// Those of `to`.
pub fn write(space: &XSpace, to: impl Write) -> io::Result<()> {
    let mut out = Output::new(to);
    out.raw(r#"{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":["#);
    out.raw("\n");
    let mut pids = HashSet::new();
    for plane in space.planes.iter().filter(|plane| !plane.lines.is_empty()) {
        let pid = (first_pid(plane)..=u32::MAX)
            .find(|&pid| pids.insert(pid))
            .unwrap_or(u32::MAX);
        write_plane(plane, pid, &mut out)?;
    }
    out.raw("\n]}\n");
    out.flush()
}

/// The process id that a plane has in TSL's JSON, unless another plane has it.
fn first_pid(plane: &XPlane) -> u32 {
    if plane.name == HOST_THREADS_PLANE_NAME {
        return HOST_THREADS_PID;
    }
    let is_device = [GPU_PLANE_PREFIX, TPU_PLANE_PREFIX, CUSTOM_PLANE_PREFIX]
        .iter()
        .any(|prefix| plane.name.starts_with(prefix));
    let number = u32::try_from(plane.id).unwrap_or(0);
    if is_device && number < FIRST_CUSTOM_PLANE_PID - FIRST_DEVICE_PID {
        FIRST_DEVICE_PID + number
    } else {
        FIRST_CUSTOM_PLANE_PID
    }
}

fn write_plane(plane: &XPlane, pid: u32, out: &mut Output<impl Write>) -> io::Result<()> {
    if !plane.name.is_empty() {
        write_metadata(
            out,
            pid,
            None,
            "process_name",
            json!({ "name": plane.name }),
        )?;
    }
    write_metadata(
        out,
        pid,
        None,
        "process_sort_index",
        json!({ "sort_index": pid }),
    )?;
    for (position, line) in plane.lines.iter().enumerate() {
        let tid = row_id(line);
        let name = if line.display_name.is_empty() {
            &line.name
        } else {
            &line.display_name
        };
        if !name.is_empty() {
            write_metadata(out, pid, Some(tid), "thread_name", json!({ "name": name }))?;
        }
        // Host rows keep the order of their names; a device's go by number.
        let sort_index = if pid == HOST_THREADS_PID {
            position as u64 + 1
        } else {
            tid.into()
        };
        let args = json!({ "sort_index": sort_index });
        write_metadata(out, pid, Some(tid), "thread_sort_index", args)?;
    }
    let names = PlaneNames::of(plane)?;
    for line in &plane.lines {
        let head = format!(r#"{{"ph":"X","pid":{pid},"tid":{},"ts":"#, row_id(line));
        for event in &line.events {
            out.next_item();
            out.raw(&head);
            write_event(event, line, &names, out)?;
            out.flush_if_full()?;
        }
    }
    Ok(())
}

/// What a process or a thread is called, or where it stands.
fn write_metadata(
    out: &mut Output<impl Write>,
    pid: u32,
    tid: Option<u32>,
    name: &str,
    args: serde_json::Value,
) -> io::Result<()> {
    let mut item = json!({ "ph": "M", "pid": pid, "name": name, "args": args });
    if let Some(tid) = tid {
        item["tid"] = tid.into();
    }
    out.next_item();
    out.json(&item)?;
    out.flush_if_full()
}

fn write_event(
    event: &XEvent,
    line: &XLine,
    names: &PlaneNames<'_>,
    out: &mut Output<impl Write>,
) -> io::Result<()> {
    let line_ps = i128::from(line.timestamp_ns) * i128::from(PS_PER_NS);
    out.micros(line_ps + i128::from(offset_ps(event)));
    out.raw(r#","dur":"#);
    // As in TSL: viewers do not show an event that takes no time at all.
    out.micros(event.duration_ps.max(1).into());
    out.raw(r#","name":"#);
    let known = names.event(event.metadata_id);
    let is_step_name = |stat: &&XStat| names.is_step_name(stat.metadata_id);
    let step_name = event.stats.iter().find(is_step_name);
    match step_name.and_then(|stat| stat.value.as_ref()) {
        Some(value) => out.value(value, names)?,
        None => out.raw(known.map_or("\"\"", |known| &known.name)),
    }

    // What comes before the next argument.
    let mut before = r#","args":{"#;
    if let Some(long_name) = known.and_then(|known| known.long_name.as_deref()) {
        out.raw(std::mem::replace(&mut before, ","));
        out.raw(r#""long_name":"#);
        out.raw(long_name);
    }
    let shared = known.map_or(&[][..], |known| known.stats);
    for (position, stat) in shared.iter().chain(&event.stats).enumerate() {
        let (Some(value), Some(key)) = (&stat.value, names.stat_key(stat.metadata_id)) else {
            continue;
        };
        // Of several values the last counts: an event's own before one that it shares.
        let mut later = shared.iter().chain(&event.stats).skip(position + 1);
        if later.any(|other| other.metadata_id == stat.metadata_id) {
            continue;
        }
        out.raw(std::mem::replace(&mut before, ","));
        out.raw(key);
        out.value(value, names)?;
    }
    out.raw(if before == "," { "}}" } else { "}" });
    Ok(())
}
