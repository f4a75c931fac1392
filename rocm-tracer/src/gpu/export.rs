//! The GPU side's planes.
//!
//! * `/device:GPU:<n>`: kernels and copies, a line a stream, numbered from 0 in order of first use;
//! * `/host:ROCTRACER`: HIP calls, a line a thread, its id the thread's;
//! * `/host:__ScopeRangeCallStack__`: each scope range's parent, as stats of the plane.
//!
//! Line timestamps are the session's start in wall-clock ns; event offsets count from there.

use super::devices;
use super::drops::GpuDropReason;
use super::join::{self, Joined};
use super::kernels;
use super::labels::{Label, Labels};
use super::recording::Recording;
use super::records::{Activity, ApiCall, Copy, Device, Direction, Kernel, NO_CORRELATION, Work};
use crate::annotation::{self, Annotation};
use crate::clock::{Scale, Span};
use hashbrown::HashMap;
use std::sync::Arc;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XPlane, XSpace, XStat, x_event, x_stat::Value};
use xplane_schema::schema::{self, StatType};

/// The labels of all ROCTX ranges around a launch, outermost first, joined as the annotation
/// stack's are (this project's stat).
const ROCTX_PATH: &str = "roctx_path";
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
    let used = context.device_planes(&joined, names, space);
    context.api_plane(&joined, space);
    context.scope_plane(space);

    space.warnings.extend(warnings);
    space.warnings.extend(joined.drops.warnings());
    let nameless = used.nameless_kernels;
    if nameless > 0 {
        space.warnings.push(format!(
            "GPU: {nameless} kernels have a number in place of a name: their code was loaded before \
             this profiler listened"
        ));
    }
    space.warnings.extend(context.labels.warning());
}

struct Context {
    scale: Scale,
    timestamp_ns: i64,
    labels: Labels,
    devices: Arc<[Device]>,
    device_of: HashMap<u64, usize>,
    kernels: HashMap<u64, Arc<[u8]>>,
    operations: HashMap<i32, String>,
    streams: HashMap<u64, u64>,
}

/// What was met while exporting.
#[derive(Default)]
struct Met {
    nameless_kernels: usize,
}

impl Context {
    /// The number of the device that did the work: of a copy, the destination, unless that is the
    /// host.
    fn device(&self, work: &Work) -> Option<usize> {
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

    fn offset_and_length(&self, start_ns: u64, end_ns: u64) -> Option<(i64, i64)> {
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

    fn device_planes(&self, joined: &Joined, names: &GivenNames<'_>, space: &mut XSpace) -> Met {
        let mut met = Met::default();
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
                let event = events.activity(activity, call, &mut met);
                lines[line].add(activity.work.type_name(), event);
            }
            for (number, line) in lines.into_iter().enumerate() {
                line.export(number, self, names, &mut events.plane);
            }
            space.planes.push(plane);
        }
        met
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

fn stat(metadata_id: i64, value: Value) -> XStat {
    XStat {
        metadata_id,
        value: Some(value),
        ..Default::default()
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

/// Makes the events of one plane.
struct Events<'a> {
    context: &'a Context,
    plane: XPlaneBuilder<'a>,
    stats: HashMap<&'static str, i64>,
    kernel_names: HashMap<u64, i64>,
    /// What launches repeat, most of them: kernels' details, and the stats of annotations and of
    /// ranges with their paths, by the addresses of the strings, which the session's labels keep.
    kernel_details: HashMap<Kernel, XStat>,
    annotations: HashMap<*const u8, Vec<XStat>>,
    ranges: HashMap<[*const u8; 2], [XStat; 2]>,
}

impl<'a> Events<'a> {
    fn new(context: &'a Context, plane: XPlaneBuilder<'a>) -> Self {
        Self {
            context,
            plane,
            stats: HashMap::new(),
            kernel_names: HashMap::new(),
            kernel_details: HashMap::new(),
            annotations: HashMap::new(),
            ranges: HashMap::new(),
        }
    }

    fn stat(&mut self, name: &'static str, value: Value) -> XStat {
        let plane = &mut self.plane;
        let id = self
            .stats
            .entry(name)
            .or_insert_with(|| plane.get_or_create_stat_metadata(name));
        stat(*id, value)
    }

    fn text(&mut self, text: &str) -> Value {
        Value::RefValue(self.plane.get_or_create_stat_metadata(text) as u64)
    }

    /// A kernel's or copy's event. Its times are within the session.
    fn activity(&mut self, activity: &Activity, call: Option<&ApiCall>, met: &mut Met) -> XEvent {
        let (metadata_id, details) = match &activity.work {
            Work::Kernel(kernel) => {
                let name = self.kernel_name(kernel.kernel, met);
                (name, self.details_stat(kernel))
            }
            Work::Copy(copy) => {
                let name = self
                    .plane
                    .get_or_create_event_metadata(activity.work.type_name());
                (name, self.copy_stat(copy, call))
            }
        };
        let mut stats = Vec::new();
        self.add_ids(activity.correlation, &mut stats);
        let annotations = self.add_label(activity.correlation, &mut stats);
        stats.push(details);
        self.add_annotations(&annotations, &mut stats);
        self.event(metadata_id, activity.start_ns, activity.end_ns, stats)
            .unwrap_or_default()
    }

    /// A HIP call's event, if it is within the session.
    fn call(&mut self, call: &ApiCall, work: Option<&Activity>) -> Option<XEvent> {
        self.context.offset_and_length(call.start_ns, call.end_ns)?;
        let name = match self.context.operations.get(&call.operation) {
            Some(name) => self.plane.get_or_create_event_metadata(name),
            None => self
                .plane
                .get_or_create_event_metadata(&format!("HIP function {}", call.operation)),
        };
        let mut stats = Vec::new();
        if let Some(device) = work.and_then(|work| self.context.device(&work.work)) {
            stats.push(self.stat(
                StatType::DeviceId.as_str(),
                Value::Uint64Value(device as u64),
            ));
        }
        self.add_ids(call.correlation, &mut stats);
        let annotations = self.add_label(call.correlation, &mut stats);
        if let Some(Activity {
            work: Work::Copy(copy),
            ..
        }) = work
        {
            let details = self.copy_stat(copy, Some(call));
            stats.push(details);
        }
        self.add_annotations(&annotations, &mut stats);
        self.event(name, call.start_ns, call.end_ns, stats)
    }

    fn event(
        &self,
        metadata_id: i64,
        start_ns: u64,
        end_ns: u64,
        stats: Vec<XStat>,
    ) -> Option<XEvent> {
        let (offset_ps, duration_ps) = self.context.offset_and_length(start_ns, end_ns)?;
        Some(XEvent {
            metadata_id,
            data: Some(x_event::Data::OffsetPs(offset_ps)),
            duration_ps,
            stats,
            ..Default::default()
        })
    }

    fn kernel_name(&mut self, kernel: u64, met: &mut Met) -> i64 {
        if let Some(&id) = self.kernel_names.get(&kernel) {
            return id;
        }
        let name = match self.context.kernels.get(&kernel) {
            Some(symbol) => kernels::display_name(symbol),
            None => {
                met.nameless_kernels += 1;
                format!("kernel {kernel}")
            }
        };
        let id = self.plane.get_or_create_event_metadata(&name);
        self.kernel_names.insert(kernel, id);
        id
    }

    fn details_stat(&mut self, kernel: &Kernel) -> XStat {
        if let Some(details) = self.kernel_details.get(kernel) {
            return details.clone();
        }
        let details = self.text(&kernel_details(kernel));
        let details = self.stat(StatType::KernelDetails.as_str(), details);
        self.kernel_details.insert(*kernel, details.clone());
        details
    }

    fn copy_stat(&mut self, copy: &Copy, call: Option<&ApiCall>) -> XStat {
        // The record does not say; the function's name does.
        let is_async = call
            .and_then(|call| self.context.operations.get(&call.operation))
            .is_some_and(|name| name.contains("Async"));
        let details = format!(
            "kind:Unknown size:{} dest:{} async:{}",
            copy.bytes,
            copy.destination_agent,
            u8::from(is_async)
        );
        let details = self.text(&details);
        self.stat(StatType::MemcpyDetails.as_str(), details)
    }

    fn add_ids(&mut self, correlation: u64, stats: &mut Vec<XStat>) {
        if correlation != NO_CORRELATION {
            stats.push(self.stat(
                StatType::CorrelationId.as_str(),
                Value::Uint64Value(correlation),
            ));
        }
    }

    /// Adds what stood around the launch by scope ids and ROCTX, and returns the annotation.
    fn add_label(&mut self, correlation: u64, stats: &mut Vec<XStat>) -> Arc<[u8]> {
        let Label {
            annotation,
            range,
            path,
            scope_id,
        } = self.context.labels.get(correlation);
        if scope_id != 0 {
            stats.push(self.stat(StatType::ScopeRangeId.as_str(), Value::Int64Value(scope_id)));
        }
        if !range.is_empty() {
            let key = [range.as_ptr(), path.as_ptr()];
            let known = self.ranges.get(&key).cloned();
            stats.extend(known.unwrap_or_else(|| {
                let of_range = self.text(&xplane_schema::lossy_utf8(&range));
                let of_path = self.text(&xplane_schema::lossy_utf8(&path));
                let both = [
                    self.stat(StatType::NvtxRange.as_str(), of_range),
                    self.stat(ROCTX_PATH, of_path),
                ];
                self.ranges.insert(key, both.clone());
                both
            }));
        }
        annotation
    }

    /// Adds the outermost annotation's name, and each key of their metadata with its innermost
    /// value.
    fn add_annotations(&mut self, annotation: &Arc<[u8]>, stats: &mut Vec<XStat>) {
        if annotation.is_empty() {
            return;
        }
        let key = annotation.as_ptr();
        if !self.annotations.contains_key(&key) {
            let of_annotation = self.annotation_stats(annotation);
            self.annotations.insert(key, of_annotation);
        }
        stats.extend_from_slice(&self.annotations[&key]);
    }

    fn annotation_stats(&mut self, annotation: &[u8]) -> Vec<XStat> {
        let text = xplane_schema::lossy_utf8(annotation);
        let annotations = Annotation::parse_stack(&text);
        let mut stats = Vec::new();
        if let Some(outermost) = annotations.first() {
            let name = self.text(outermost.name);
            stats.push(self.stat(StatType::TfOp.as_str(), name));
        }
        let mut keys: Vec<&str> = Vec::new();
        for annotation in annotations.iter().rev() {
            for &(key, value) in &annotation.metadata {
                if !keys.contains(&key) {
                    keys.push(key);
                    let value = annotation::value(value, &mut self.plane);
                    let id = self.plane.get_or_create_stat_metadata(key);
                    stats.push(stat(id, value));
                }
            }
        }
        stats
    }
}

/// As XProf parses it: the grid is in blocks.
fn kernel_details(kernel: &Kernel) -> String {
    let [x, y, z] = kernel.workgroup;
    let blocks = |dimension: usize| {
        kernel.grid[dimension]
            .checked_div(kernel.workgroup[dimension])
            .unwrap_or(0)
    };
    format!(
        "grid:{},{},{} block:{x},{y},{z} private_mem:{} group_mem:{} occ_pct:0",
        blocks(0),
        blocks(1),
        blocks(2),
        kernel.private_segment_bytes,
        kernel.group_segment_bytes
    )
}
