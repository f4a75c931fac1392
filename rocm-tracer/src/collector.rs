//! Makes planes of what a session captured.
//!
//! Markers are what upstream calls generic events: they belong to a thread, bypass the join of API
//! and GPU records, and are exported whether or not the machine has a GPU.

use crate::annotation::{self, Annotation};
use crate::capture::TraceCapture;
use crate::clock::{Scale, Span};
use crate::drops::{DropCounts, DropReason};
use crate::gpu::{self, export::GivenNames};
use crate::listener::attributes::{Attributes, Payload};
use crate::listener::{AsyncRange, Markers, OPEN};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XEvent, XPlane, XSpace, XStat, x_event, x_stat};
use xplane_schema::schema::{self, StatType};

/// The plane that carries the marker rows, chosen by who reads the XSpace next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CarrierPlane {
    /// `/host:ROCTX`: for this project's post-processing, which merges it into `/host:CPU`. A
    /// line's id is its thread's.
    #[default]
    Roctx,
    /// `/host:NVTX-CUPTI`: for an XLA that merges this one, as the one plane of this name: the
    /// second is not merged. It changes only line ids that are taken, and the viewers cut ids to 32
    /// bits, so these lines come with ids that are final.
    NvtxCupti,
    /// `/host:CPU`: for a stock jaxlib, which merges every plane of this name, whatever other
    /// plug-ins send. Ids as for [`NvtxCupti`](Self::NvtxCupti): lines of one id become one line.
    HostCpu,
}

impl CarrierPlane {
    fn name(self) -> &'static str {
        match self {
            Self::Roctx => schema::ROCTX_PLANE_NAME,
            Self::NvtxCupti => schema::CUPTI_NVTX_PLANE_NAME,
            Self::HostCpu => schema::HOST_THREADS_PLANE_NAME,
        }
    }
}

/// How a thread's row is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowStyle {
    /// `ROCTX Threads/<tid>`
    #[default]
    RoctxThreads,
    /// `Host Threads/<tid>/ROCTX`, as upstream's later form has it.
    Beneath,
}

/// How a capture is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectorOptions {
    /// The plane that carries the marker rows.
    pub carrier: CarrierPlane,
    /// How rows are named.
    pub row_style: RowStyle,
}

/// Exports captures.
#[derive(Clone, Copy, Debug, Default)]
pub struct RocmTraceCollector {
    options: CollectorOptions,
    keep_unmatched: bool,
}

/// Lanes of start/stop ranges follow the threads' lines: no thread has an id this large
/// (`PID_MAX_LIMIT` in linux/threads.h is 2^22).
const FIRST_ASYNC_LINE: i64 = 1 << 23;
/// Then come NVTX's: of threads, and lanes.
const FIRST_NVTX_LINE: i64 = 1 << 24;
const FIRST_NVTX_ASYNC_LINE: i64 = 1 << 25;

impl RocmTraceCollector {
    /// A collector that exports as `options` say.
    pub fn new(options: CollectorOptions) -> Self {
        Self {
            options,
            keep_unmatched: false,
        }
    }

    /// Whether HIP calls that started no kernel or copy, and kernels and copies whose HIP call was
    /// not recorded, are exported, too. XLA leaves them out, and so is the default; either way a
    /// warning counts what was left out.
    #[must_use]
    pub fn keep_unmatched(mut self, keep: bool) -> Self {
        self.keep_unmatched = keep;
        self
    }

    /// Adds the carrier plane to `space`, if there is a marker, the planes of the GPU side, if there
    /// is something in them, and the capture's warnings.
    ///
    /// Line timestamps are the session's start in wall-clock ns since the epoch; event offsets
    /// count from there.
    ///
    /// A stock jaxlib keeps a plug-in's planes and forgets its warnings. So where the carrier plane
    /// is for one, it has the row [`schema::ROCTX_WARNINGS_LINE_NAME`] besides: a mark a
    /// warning, at the stop.
    pub fn export(&self, mut capture: TraceCapture, space: &mut XSpace) {
        let first_warning = space.warnings.len();
        let mut carrier = None;
        let mut rows = 0;
        if capture.marker_count() > 0 {
            let mut plane = XPlane::default();
            let mut export = PlaneExport::new(&capture, &mut plane, self.options);
            for (tid, logs) in by_key(&capture.threads) {
                export.thread(tid, &logs);
            }
            let (roctx, nvtx): (Vec<_>, Vec<_>) = capture
                .async_ranges
                .iter()
                .partition(|range| range.domain.is_none());
            export.async_lanes(&roctx, FIRST_ASYNC_LINE, schema::ROCTX_ASYNC_LINE_PREFIX);
            for (number, ((tid, domain), logs)) in by_key(&capture.nvtx).iter().enumerate() {
                export.nvtx_thread(FIRST_NVTX_LINE + number as i64, *tid, *domain, logs);
            }
            export.async_lanes(&nvtx, FIRST_NVTX_ASYNC_LINE, schema::NVTX_ASYNC_LINE_PREFIX);
            rows = export.next_row;
            let drops = export.drops;
            capture.drops.merge(&drops);
            carrier = Some(space.planes.len());
            space.planes.push(plane);
        }
        space.warnings.extend(capture.warnings());
        let names = GivenNames {
            devices: &capture.names.devices,
            streams: &capture.names.streams,
        };
        let gpu = std::mem::take(&mut capture.gpu);
        gpu::export::export(gpu, &capture.span, &names, self.keep_unmatched, space);
        let warnings = space.warnings[first_warning..].to_vec();
        if self.options.carrier != CarrierPlane::Roctx && !warnings.is_empty() {
            let index = carrier.unwrap_or_else(|| {
                space.planes.push(XPlane {
                    name: self.options.carrier.name().to_owned(),
                    ..Default::default()
                });
                space.planes.len() - 1
            });
            warnings_row(&mut space.planes[index], rows, &warnings, &capture.span);
        }
    }
}

/// Adds the row of warnings under the number given.
fn warnings_row(plane: &mut XPlane, row: u32, warnings: &[String], span: &Span) {
    let stop_ps = span.scale().length_ps() as i64;
    let mut builder = XPlaneBuilder::new(plane);
    let events = warnings
        .iter()
        .map(|warning| XEvent {
            metadata_id: builder.get_or_create_event_metadata(warning),
            data: Some(x_event::Data::OffsetPs(stop_ps)),
            ..Default::default()
        })
        .collect();
    let mut line = builder.get_or_create_line(schema::roctx_line_id(row));
    line.set_name(schema::ROCTX_WARNINGS_LINE_NAME);
    line.set_timestamp_ns(span.start.wall_ns as i64);
    line.extend_events(events);
}

/// The logs of each thread id, or of that and a domain, in order. A thread id can have several logs:
/// ids are reused.
fn by_key<K: Copy + Ord>(threads: &[(K, Markers)]) -> BTreeMap<K, Vec<&Markers>> {
    let mut by_key: BTreeMap<K, Vec<&Markers>> = BTreeMap::new();
    for (key, markers) in threads {
        by_key.entry(*key).or_default().push(markers);
    }
    for logs in by_key.values_mut() {
        logs.sort_by_key(|log| log.iter().next().map(|(slot, _)| slot.start));
    }
    by_key
}

/// Metadata ids of the stats that all markers may have.
#[derive(Clone, Copy)]
struct StatIds {
    nvtx_range: i64,
    truncated: i64,
}

/// A label as the plane has it.
struct Label {
    /// The metadata id of events of this name.
    event: i64,
    /// The metadata id of the text, as a stat's value.
    value: i64,
    /// The stats of NVTX's attributes.
    stats: Vec<XStat>,
}

struct PlaneExport<'a> {
    capture: &'a TraceCapture,
    scale: Scale,
    builder: XPlaneBuilder<'a>,
    next_row: u32,
    options: CollectorOptions,
    stats: StatIds,
    drops: DropCounts,
}

impl<'a> PlaneExport<'a> {
    fn new(capture: &'a TraceCapture, plane: &'a mut XPlane, options: CollectorOptions) -> Self {
        let mut builder = XPlaneBuilder::new(plane);
        builder.set_name(options.carrier.name());
        let stats = StatIds {
            nvtx_range: builder.get_or_create_stat_metadata(StatType::NvtxRange.as_str()),
            truncated: builder.get_or_create_stat_metadata(StatType::Truncated.as_str()),
        };
        Self {
            capture,
            scale: capture.span.scale(),
            builder,
            next_row: 0,
            options,
            stats,
            drops: DropCounts::default(),
        }
    }

    /// The parts of a label `name#key=value#` are kept once, however many events it has.
    fn label(&mut self, label: &[u8], domain: Option<u32>) -> Label {
        let (label, stats) = match domain {
            None => (label, Vec::new()),
            Some(domain) => {
                let (attributes, label) = Attributes::split(label);
                (label, self.nvtx_stats(domain, &attributes))
            }
        };
        let label = xplane_schema::lossy_utf8(label);
        let event = self.builder.get_or_create_event_metadata(&label);
        let Annotation { name, metadata } = Annotation::parse(&label);
        if !metadata.is_empty() {
            let stats: Vec<_> = metadata
                .into_iter()
                .map(|(key, value)| annotation::stat(key, value, &mut self.builder))
                .collect();
            if let Some(known) = self.builder.event_metadata_mut(event) {
                name.clone_into(&mut known.display_name);
                known.stats = stats;
            }
        }
        Label {
            event,
            value: self.builder.get_or_create_stat_metadata(&label),
            stats,
        }
    }

    fn nvtx_stats(&mut self, domain: u32, attributes: &Attributes) -> Vec<XStat> {
        let names = &self.capture.names;
        let text = |name: &[u8]| Some(xplane_schema::lossy_utf8(name).into_owned());
        let category = match attributes.category {
            0 => None,
            number => names
                .category(domain, number)
                .map_or_else(|| Some(number.to_string()), text),
        };
        let texts = [
            (StatType::Domain, names.domain(domain).and_then(text)),
            (StatType::Category, category),
            (
                StatType::Color,
                attributes.color.map(|color| format!("#{color:08X}")),
            ),
        ];
        let mut stats: Vec<_> = texts
            .into_iter()
            .filter_map(|(stat, text)| {
                let value = self.builder.get_or_create_stat_metadata(&text?);
                Some((stat, x_stat::Value::RefValue(value as u64)))
            })
            .collect();
        let payload = attributes.payload.map(|payload| match payload {
            Payload::Unsigned(number) => x_stat::Value::Uint64Value(number),
            Payload::Signed(number) => x_stat::Value::Int64Value(number),
            Payload::Float(number) => x_stat::Value::DoubleValue(number),
        });
        stats.extend(payload.map(|payload| (StatType::MarkerPayload, payload)));
        stats
            .into_iter()
            .map(|(stat, value)| XStat {
                metadata_id: self.builder.get_or_create_stat_metadata(stat.as_str()),
                value: Some(value),
                ..Default::default()
            })
            .collect()
    }

    /// The id of the next line, which is `own` where post-processing will see to ids.
    fn line_id(&mut self, own: i64) -> i64 {
        let row = self.next_row;
        self.next_row += 1;
        match self.options.carrier {
            CarrierPlane::Roctx => own,
            CarrierPlane::NvtxCupti | CarrierPlane::HostCpu => schema::roctx_line_id(row),
        }
    }

    fn events(&mut self, logs: &[&Markers], domain: Option<u32>) -> Vec<XEvent> {
        let mut events = Vec::with_capacity(logs.iter().map(|log| log.len()).sum());
        for markers in logs {
            let mut labels = HashMap::new();
            for (slot, label) in markers.iter() {
                let label = labels
                    .entry(slot.label)
                    .or_insert_with(|| self.label(label, domain));
                self.add(&mut events, label, slot.start, slot.end);
            }
        }
        events
    }

    /// A row of a thread, under the thread's name if it has one.
    fn thread_line(&mut self, id: i64, mut name: String, tid: u32, events: Vec<XEvent>) {
        if let Some(given) = self.capture.names.threads.get(&tid) {
            name.push(' ');
            name.push_str(&xplane_schema::lossy_utf8(given));
        }
        let id = self.line_id(id);
        self.line(id, &name, events);
    }

    fn thread(&mut self, tid: u32, logs: &[&Markers]) {
        let name = match self.options.row_style {
            RowStyle::RoctxThreads => format!("{}{tid}", schema::ROCTX_THREADS_LINE_PREFIX),
            RowStyle::Beneath => {
                let (prefix, suffix) =
                    (schema::HOST_THREADS_LINE_PREFIX, schema::ROCTX_LINE_SUFFIX);
                format!("{prefix}{tid}{suffix}")
            }
        };
        let events = self.events(logs, None);
        self.thread_line(i64::from(tid), name, tid, events);
    }

    fn nvtx_thread(&mut self, id: i64, tid: u32, domain: u32, logs: &[&Markers]) {
        let mut name = format!("{}{tid}", schema::NVTX_THREADS_LINE_PREFIX);
        if let Some(domain) = self.capture.names.domain(domain) {
            name.push('/');
            name.push_str(&xplane_schema::lossy_utf8(domain));
        }
        let events = self.events(logs, Some(domain));
        self.thread_line(id, name, tid, events);
    }

    /// Rows of start/stop ranges, with ids from `first`.
    fn async_lanes(&mut self, ranges: &[&AsyncRange], first: i64, prefix: &str) {
        if ranges.is_empty() {
            return;
        }
        let [start_thread, stop_thread, range_id] = [
            StatType::StartThread,
            StatType::StopThread,
            StatType::RangeId,
        ]
        .map(|stat| self.builder.get_or_create_stat_metadata(stat.as_str()));
        // Labels are interned, so that the address tells them apart.
        let mut labels = HashMap::new();
        for (number, lane) in lanes(ranges).iter().enumerate() {
            let id = self.line_id(first + number as i64);
            let mut events = Vec::with_capacity(lane.len());
            for &index in lane {
                let range = ranges[index];
                let label = labels
                    .entry((range.label.as_ptr(), range.domain))
                    .or_insert_with(|| self.label(&range.label, range.domain));
                let kept = self.add(&mut events, label, range.start, range.end);
                if let Some(event) = kept {
                    event.stats.extend([
                        int_stat(start_thread, i64::from(range.start_tid)),
                        int_stat(stop_thread, i64::from(range.stop_tid)),
                        int_stat(range_id, range.id as i64),
                    ]);
                }
            }
            self.line(id, &format!("{prefix}{number}"), events);
        }
    }

    /// Adds one event, or counts why not.
    fn add<'e>(
        &mut self,
        events: &'e mut Vec<XEvent>,
        label: &Label,
        start: u64,
        end: u64,
    ) -> Option<&'e mut XEvent> {
        let truncated = end == OPEN;
        let start_ps = self.scale.offset_ps(start);
        let end_ps = if truncated {
            Some(self.scale.length_ps())
        } else {
            self.scale.offset_ps(end)
        };
        let (Some(start_ps), Some(end_ps)) = (start_ps, end_ps) else {
            self.drops.add(DropReason::OutsideSession);
            return None;
        };
        let count = 1 + label.stats.len() + usize::from(truncated);
        let mut event_stats = Vec::with_capacity(count);
        event_stats.push(XStat {
            metadata_id: self.stats.nvtx_range,
            value: Some(x_stat::Value::RefValue(label.value as u64)),
            ..Default::default()
        });
        event_stats.extend_from_slice(&label.stats);
        if truncated {
            event_stats.push(int_stat(self.stats.truncated, 1));
        }
        events.push(XEvent {
            metadata_id: label.event,
            data: Some(x_event::Data::OffsetPs(start_ps as i64)),
            duration_ps: end_ps.saturating_sub(start_ps) as i64,
            stats: event_stats,
            ..Default::default()
        });
        events.last_mut()
    }

    fn line(&mut self, id: i64, name: &str, events: Vec<XEvent>) {
        if events.is_empty() {
            return;
        }
        let mut line = self.builder.get_or_create_line(id);
        line.set_name(name);
        line.set_timestamp_ns(self.capture.span.start.wall_ns as i64);
        line.extend_events(events);
    }
}

fn int_stat(metadata_id: i64, value: i64) -> XStat {
    XStat {
        metadata_id,
        value: Some(x_stat::Value::Int64Value(value)),
        ..Default::default()
    }
}

/// Puts ranges, given in order of start, on lanes in which no two overlap: each on the lowest lane
/// that is free at its start, which takes the fewest lanes there can be.
fn lanes(ranges: &[&AsyncRange]) -> Vec<Vec<usize>> {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let mut busy: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for (index, range) in ranges.iter().enumerate() {
        while let Some(&Reverse((end, lane))) = busy.peek() {
            if end > range.start {
                break;
            }
            busy.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or(lanes.len(), |Reverse(lane)| lane);
        if lane == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[lane].push(index);
        busy.push(Reverse((range.end, lane)));
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(id: u64, start: u64, end: u64) -> AsyncRange {
        AsyncRange {
            label: b"io".as_slice().into(),
            start,
            end,
            start_tid: 1,
            stop_tid: 2,
            id,
            domain: None,
        }
    }

    #[test]
    fn overlapping_ranges_take_as_many_lanes_as_overlap_at_most() {
        let ranges = [
            range(1, 0, 100),
            range(2, 10, 20),
            range(3, 15, 40),
            range(4, 20, 30),   // begins as 2 ends: its lane is free
            range(5, 100, 110), // begins as 1 ends
            range(6, 105, OPEN),
        ];
        let ranges: Vec<_> = ranges.iter().collect();
        assert_eq!(lanes(&ranges), vec![vec![0, 4], vec![1, 3, 5], vec![2]]);
    }
}
