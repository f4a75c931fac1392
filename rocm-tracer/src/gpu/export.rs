//! The GPU side's planes.
//!
//! * `/device:GPU:<n>`: kernels and copies, a line a stream, numbered from 0 in order of first use;
//! * `/host:ROCTRACER`: HIP calls, a line a thread, its id the thread's;
//! * `/host:__ScopeRangeCallStack__`: each scope range's parent, as stats of the plane.
//!
//! Line timestamps are the session's start in wall-clock ns; event offsets count from there.

use super::devices;
use super::drops::GpuDropReason;
use super::events::{Events, stat};
use super::join::{self, Joined};
use super::labels::Labels;
use super::recording::Recording;
use super::records::{Activity, Device, Direction, Work};
use crate::clock::{Scale, Span};
use hashbrown::HashMap;
use std::sync::Arc;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XPlane, XSpace, x_stat::Value};
use xplane_schema::schema;

/// The name that the program gave the device (this project's stat).
const ROCTX_DEVICE_NAME: &str = "roctx_device_name";

/// What a session captured of the GPU side.
#[derive(Default)]
pub(crate) struct GpuCapture {
    pub(crate) recording: Recording,
    pub(crate) labels: Labels,
    pub(crate) devices: Arc<[Device]>,
    pub(crate) kernels: HashMap<u64, Arc<[u8]>>,
    pub(crate) operations: HashMap<i32, String>,
    /// The streams' HIP handles.
    pub(crate) streams: HashMap<u64, u64>,
    /// What was done without, and why.
    pub(crate) warnings: Vec<String>,
}

/// Names that programs gave by ROCTX.
pub(crate) struct GivenNames<'a> {
    pub(crate) devices: &'a HashMap<i32, Box<[u8]>>,
    pub(crate) streams: &'a HashMap<usize, Box<[u8]>>,
}

/// Adds the planes to `space`, each if there is something in it, and warnings.
pub(crate) fn export(
    capture: GpuCapture,
    span: &Span,
    names: &GivenNames<'_>,
    keep_unmatched: bool,
    space: &mut XSpace,
) {
    let GpuCapture {
        recording,
        labels,
        devices,
        kernels,
        operations,
        streams,
        warnings,
    } = capture;
    let context = Context {
        scale: span.boot_scale(),
        timestamp_ns: span.start.wall_ns as i64,
        labels,
        device_of: devices
            .iter()
            .enumerate()
            .map(|(number, device)| (device.agent, number))
            .collect(),
        devices,
        kernels,
        operations,
        streams,
    };
    let mut joined = join::join(recording, keep_unmatched);
    context.leave_out_what_has_no_place(&mut joined);
    let nameless = context.device_planes(&joined, names, space);
    context.api_plane(&joined, space);
    context.scope_plane(space);

    space.warnings.extend(warnings);
    space.warnings.extend(joined.drops.warnings());
    if nameless > 0 {
        space.warnings.push(format!(
            "GPU: {nameless} kernels have a number in place of a name: their code was loaded before \
             this profiler listened"
        ));
    }
    space.warnings.extend(context.labels.warning());
}

/// What the planes have in common.
pub(super) struct Context {
    scale: Scale,
    timestamp_ns: i64,
    pub(super) labels: Labels,
    devices: Arc<[Device]>,
    device_of: HashMap<u64, usize>,
    pub(super) kernels: HashMap<u64, Arc<[u8]>>,
    /// HIP functions' names.
    pub(super) operations: HashMap<i32, String>,
    streams: HashMap<u64, u64>,
}

impl Context {
    /// The number of the device that did the work: of a copy, the destination, unless that is the
    /// host.
    pub(super) fn device(&self, work: &Work) -> Option<usize> {
        let number = |agent: u64| self.device_of.get(&agent).copied();
        match work {
            Work::Kernel(kernel) => number(kernel.agent),
            Work::Copy(copy) => match copy.direction {
                Direction::DeviceToHost => {
                    number(copy.source_agent).or_else(|| number(copy.destination_agent))
                }
                _ => number(copy.destination_agent).or_else(|| number(copy.source_agent)),
            },
        }
    }

    /// When something began and how long it took, ps; `None` if that is not within the session.
    pub(super) fn offset_and_length(&self, start_ns: u64, end_ns: u64) -> Option<(i64, i64)> {
        if end_ns < start_ns {
            return None;
        }
        let start = self.scale.offset_ps(start_ns)?;
        let end = self.scale.offset_ps(end_ns)?;
        Some((start as i64, (end - start) as i64))
    }

    /// Leaves out, with a count, work on unknown devices and what is not within the session.
    fn leave_out_what_has_no_place(&self, joined: &mut Joined) {
        let Joined {
            calls,
            activities,
            drops,
        } = joined;
        for (activity, _) in activities.iter() {
            if self.device(&activity.work).is_none() {
                drops.add(GpuDropReason::UnknownDevice, 1);
            } else if self
                .offset_and_length(activity.start_ns, activity.end_ns)
                .is_none()
            {
                drops.add(GpuDropReason::OutsideSession, 1);
            }
        }
        for (call, _) in calls.iter() {
            if self.offset_and_length(call.start_ns, call.end_ns).is_none() {
                drops.add(GpuDropReason::OutsideSession, 1);
            }
        }
    }

    /// Adds the devices' planes; how many kernels have no name.
    fn device_planes(&self, joined: &Joined, names: &GivenNames<'_>, space: &mut XSpace) -> usize {
        let mut nameless = 0;
        let mut of_device: Vec<Vec<&(Activity, Option<usize>)>> =
            vec![Vec::new(); self.devices.len()];
        for entry in &joined.activities {
            let has_time = self
                .offset_and_length(entry.0.start_ns, entry.0.end_ns)
                .is_some();
            if let (Some(device), true) = (self.device(&entry.0.work), has_time) {
                of_device[device].push(entry);
            }
        }
        for (number, activities) in of_device.into_iter().enumerate() {
            if activities.is_empty() {
                continue;
            }
            let mut plane = XPlane::default();
            let mut builder = XPlaneBuilder::new(&mut plane);
            builder.set_id(number as i64);
            builder.set_name(&format!("{}{number}", schema::GPU_PLANE_PREFIX));
            devices::add_capabilities(&self.devices[number], &mut builder);
            if let Some(name) = names.devices.get(&(number as i32)) {
                let id = builder.get_or_create_stat_metadata(ROCTX_DEVICE_NAME);
                let name = xplane_schema::lossy_utf8(name).into_owned();
                builder.set_stat_value(id, Value::StrValue(name));
            }
            let mut events = Events::new(self, builder);
            let mut lines: Vec<StreamLine> = Vec::new();
            let mut line_of: HashMap<u64, usize> = HashMap::new();
            for (activity, call) in activities {
                let line = *line_of.entry(activity.stream).or_insert_with(|| {
                    lines.push(StreamLine {
                        stream: activity.stream,
                        ..StreamLine::default()
                    });
                    lines.len() - 1
                });
                let call = call.map(|call| &joined.calls[call].0);
                let event = events.activity(activity, call);
                lines[line].add(activity.work.type_name(), event);
            }
            for (number, line) in lines.into_iter().enumerate() {
                line.export(number, self, names, &mut events.plane);
            }
            nameless += events.nameless_kernels;
            space.planes.push(plane);
        }
        nameless
    }

    fn api_plane(&self, joined: &Joined, space: &mut XSpace) {
        let mut plane = XPlane::default();
        let mut builder = XPlaneBuilder::new(&mut plane);
        builder.set_name(schema::ROCTRACER_API_PLANE_NAME);
        let mut events = Events::new(self, builder);
        let mut threads: std::collections::BTreeMap<u32, Vec<XEvent>> = Default::default();
        for (call, work) in &joined.calls {
            let work = work.map(|work| &joined.activities[work].0);
            if let Some(event) = events.call(call, work) {
                threads.entry(call.tid).or_default().push(event);
            }
        }
        for (tid, thread) in threads {
            let mut line = events.plane.get_or_create_line(i64::from(tid));
            line.set_name(&format!("{}{tid}", schema::HOST_THREADS_LINE_PREFIX));
            line.set_timestamp_ns(self.timestamp_ns);
            line.extend_events(thread);
        }
        if !plane.lines.is_empty() {
            space.planes.push(plane);
        }
    }

    /// Each scope range's parent: a stat whose metadata id is the range's id, as XProf reads it.
    fn scope_plane(&self, space: &mut XSpace) {
        let tree = self.labels.scope_tree();
        if tree.is_empty() {
            return;
        }
        space.planes.push(XPlane {
            name: schema::SCOPE_RANGE_ID_TREE_PLANE_NAME.to_owned(),
            stats: tree
                .into_iter()
                .map(|(child, parent)| stat(child, Value::Int64Value(parent)))
                .collect(),
            ..XPlane::default()
        });
    }
}

/// A stream's row.
#[derive(Default)]
struct StreamLine {
    stream: u64,
    types: Vec<&'static str>,
    events: Vec<XEvent>,
}

impl StreamLine {
    fn add(&mut self, type_name: &'static str, event: XEvent) {
        if !self.types.contains(&type_name) {
            self.types.push(type_name);
        }
        self.events.push(event);
    }

    fn export(
        mut self,
        number: usize,
        context: &Context,
        names: &GivenNames<'_>,
        plane: &mut XPlaneBuilder<'_>,
    ) {
        self.types.sort_unstable();
        let name = format!("Stream #{number}({})", self.types.join(","));
        let mut line = plane.get_or_create_line(number as i64);
        line.set_name(&name);
        let given = context
            .streams
            .get(&self.stream)
            .and_then(|&handle| names.streams.get(&(handle as usize)));
        if let Some(given) = given {
            line.set_display_name(&format!("{name} {}", xplane_schema::lossy_utf8(given)));
        }
        line.set_timestamp_ns(context.timestamp_ns);
        line.extend_events(self.events);
    }
}
