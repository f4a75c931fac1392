//! Events of the GPU side, with their stats: whose launch, which details, which labels.

use super::export::Context;
use super::kernels;
use super::labels::Label;
use super::records::{Activity, ApiCall, Copy, Kernel, NO_CORRELATION, Work};
use crate::annotation::{self, Annotation};
use hashbrown::HashMap;
use std::sync::Arc;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XStat, x_event, x_stat::Value};
use xplane_schema::schema::StatType;

/// The labels of all ROCTX ranges around a launch, outermost first, joined as the annotation
/// stack's are (this project's stat).
const ROCTX_PATH: &str = "roctx_path";
pub(super) fn stat(metadata_id: i64, value: Value) -> XStat {
    XStat {
        metadata_id,
        value: Some(value),
        ..Default::default()
    }
}

/// Makes the events of one plane.
pub(super) struct Events<'a> {
    context: &'a Context,
    pub(super) plane: XPlaneBuilder<'a>,
    /// Kernels whose name the SDK did not tell.
    pub(super) nameless_kernels: usize,
    stats: HashMap<&'static str, i64>,
    /// Where an event's stats are gathered, so that each event's own list is as long as it need be.
    gathered: Vec<XStat>,
    kernel_names: HashMap<u64, i64>,
    /// What launches repeat, most of them: kernels' details, and the stats of annotations and of
    /// ranges with their paths, by the addresses of the strings, which the session's labels keep.
    kernel_details: HashMap<Kernel, XStat>,
    annotations: HashMap<*const u8, Vec<XStat>>,
    ranges: HashMap<[*const u8; 2], [XStat; 2]>,
}

impl<'a> Events<'a> {
    pub(super) fn new(context: &'a Context, plane: XPlaneBuilder<'a>) -> Self {
        Self {
            context,
            plane,
            nameless_kernels: 0,
            stats: HashMap::new(),
            gathered: Vec::new(),
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
    pub(super) fn activity(&mut self, activity: &Activity, call: Option<&ApiCall>) -> XEvent {
        let (metadata_id, details) = match &activity.work {
            Work::Kernel(kernel) => {
                let name = self.kernel_name(kernel.kernel);
                (name, self.details_stat(kernel))
            }
            Work::Copy(copy) => {
                let name = self
                    .plane
                    .get_or_create_event_metadata(activity.work.type_name());
                (name, self.copy_stat(copy, call))
            }
        };
        let mut stats = std::mem::take(&mut self.gathered);
        self.add_ids(activity.correlation, &mut stats);
        let annotations = self.add_label(activity.correlation, &mut stats);
        stats.push(details);
        self.add_annotations(&annotations, &mut stats);
        let event = self.event(metadata_id, activity.start_ns, activity.end_ns, &stats);
        stats.clear();
        self.gathered = stats;
        event.unwrap_or_default()
    }

    /// A HIP call's event, if it is within the session.
    pub(super) fn call(&mut self, call: &ApiCall, work: Option<&Activity>) -> Option<XEvent> {
        self.context.offset_and_length(call.start_ns, call.end_ns)?;
        let name = match self.context.operations.get(&call.operation) {
            Some(name) => self.plane.get_or_create_event_metadata(name),
            None => self
                .plane
                .get_or_create_event_metadata(&format!("HIP function {}", call.operation)),
        };
        let mut stats = std::mem::take(&mut self.gathered);
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
        let event = self.event(name, call.start_ns, call.end_ns, &stats);
        stats.clear();
        self.gathered = stats;
        event
    }

    fn event(
        &self,
        metadata_id: i64,
        start_ns: u64,
        end_ns: u64,
        stats: &[XStat],
    ) -> Option<XEvent> {
        let (offset_ps, duration_ps) = self.context.offset_and_length(start_ns, end_ns)?;
        Some(XEvent {
            metadata_id,
            data: Some(x_event::Data::OffsetPs(offset_ps)),
            duration_ps,
            stats: stats.to_vec(),
            ..Default::default()
        })
    }

    fn kernel_name(&mut self, kernel: u64) -> i64 {
        if let Some(&id) = self.kernel_names.get(&kernel) {
            return id;
        }
        let name = match self.context.kernels.get(&kernel) {
            Some(symbol) => kernels::display_name(symbol),
            None => {
                self.nameless_kernels += 1;
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
                    stats.push(annotation::stat(key, value, &mut self.plane));
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
