//! What the ROCTX rows hold, label by label, for a terminal.
//!
//! The rows are known by their names, so this also reads files that stock jaxlib wrote.

mod self_time;

use hashbrown::{HashMap, HashSet};
use self_time::self_times_ps;
use serde::Serialize;
use xplane_schema::builder::PS_PER_NS;
use xplane_schema::proto::{XPlane, XSpace, XStat, x_stat};
use xplane_schema::schema::{
    HOST_THREADS_LINE_PREFIX, ROCTX_THREADS_LINE_PREFIX, ROCTX_WARNINGS_LINE_NAME, StatType,
    is_marker_line,
};
use xplane_schema::visitor::XPlaneVisitor;

/// A space's ROCTX rows summed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabelReport {
    /// The labels, those that took longest in total first.
    pub labels: Vec<LabelStats>,
    /// The rows, in the space's order.
    pub rows: Vec<RowSummary>,
    /// The space's warnings, such as counts of dropped events.
    pub warnings: Vec<String>,
    /// The space's errors.
    pub errors: Vec<String>,
}

/// The ranges and marks of one label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelStats {
    /// The label.
    pub label: String,
    /// How many ranges and marks.
    pub count: u64,
    /// Their length in all, in ns.
    pub total_ns: u64,
    /// The same without what the ranges directly within them took, in ns.
    pub self_ns: u64,
    /// Half of them took no longer than this, in ns.
    pub p50_ns: u64,
    /// 99 of a hundred took no longer than this, in ns.
    pub p99_ns: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// On how many threads they started.
    pub threads: u64,
}

/// One ROCTX row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowSummary {
    /// What a viewer calls it.
    pub name: String,
    /// How many events it has.
    pub events: u64,
}

/// Where a range started: a thread, or a row whose thread is not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    Thread(u64),
    Row(usize),
}

/// What was seen of a label so far. Times are in ps.
#[derive(Default)]
struct Seen {
    durations: Vec<i64>,
    self_time: u128,
    origins: HashSet<Origin>,
}

impl LabelReport {
    /// Sums up the ROCTX rows of every plane of `space`.
    pub fn from_space(space: &XSpace) -> Self {
        let mut report = Self {
            warnings: space.warnings.clone(),
            errors: space.errors.clone(),
            ..Default::default()
        };
        let mut seen: HashMap<&str, Seen> = HashMap::new();
        for plane in &space.planes {
            report.add_plane(plane, &mut seen);
        }
        report.labels = seen
            .into_iter()
            .map(|(label, seen)| seen.into_stats(label))
            .collect();
        report.labels.sort_by(|a, b| {
            let by_total = b.total_ns.cmp(&a.total_ns);
            by_total.then_with(|| a.label.cmp(&b.label))
        });
        report
    }

    fn add_plane<'a>(&mut self, plane: &'a XPlane, seen: &mut HashMap<&'a str, Seen>) {
        let start_thread = plane
            .stat_metadata
            .iter()
            .find(|(_, metadata)| metadata.name == StatType::StartThread.as_str())
            .map(|(&id, _)| id);
        for line in XPlaneVisitor::new(plane).lines() {
            if line.name() == ROCTX_WARNINGS_LINE_NAME {
                self.warnings
                    .extend(line.events().map(|event| event.name().to_owned()));
            }
            if !is_marker_line(line.line()) {
                continue;
            }
            let row = Origin::Row(self.rows.len());
            let origin = thread_of_row(line.name()).map_or(row, Origin::Thread);
            self.rows.push(RowSummary {
                name: line.display_name().to_owned(),
                events: line.events().len() as u64,
            });
            let self_times = self_times_ps(line.line());
            for (event, self_time) in line.events().zip(self_times) {
                let label = seen.entry(event.name()).or_default();
                let duration = event.duration_ps().max(0);
                label.durations.push(duration);
                label.self_time += self_time as u128;
                let started_on = start_thread.and_then(|id| thread(&event.event().stats, id));
                label
                    .origins
                    .insert(started_on.map_or(origin, Origin::Thread));
            }
        }
    }
}

impl Seen {
    fn into_stats(mut self, label: &str) -> LabelStats {
        let total: u128 = self.durations.iter().map(|&ps| ps as u128).sum();
        self.durations.sort_unstable();
        LabelStats {
            label: label.to_owned(),
            count: self.durations.len() as u64,
            total_ns: ns(total),
            self_ns: ns(self.self_time),
            p50_ns: ns(percentile(&self.durations, 50) as u128),
            p99_ns: ns(percentile(&self.durations, 99) as u128),
            longest_ns: ns(percentile(&self.durations, 100) as u128),
            threads: self.origins.len() as u64,
        }
    }
}

fn ns(ps: u128) -> u64 {
    u64::try_from(ps / PS_PER_NS as u128).unwrap_or(u64::MAX)
}

/// The smallest of `sorted` that at least `percent` of a hundred do not exceed.
fn percentile(sorted: &[i64], percent: usize) -> i64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    rank.checked_sub(1).map_or(0, |index| sorted[index])
}

/// The thread whose id a row's name has.
fn thread_of_row(name: &str) -> Option<u64> {
    let id = name
        .strip_prefix(ROCTX_THREADS_LINE_PREFIX)
        .or_else(|| name.strip_prefix(HOST_THREADS_LINE_PREFIX))?;
    let end = id
        .find(|digit: char| !digit.is_ascii_digit())
        .unwrap_or(id.len());
    id[..end].parse().ok()
}

/// The thread that a stat names.
fn thread(stats: &[XStat], metadata_id: i64) -> Option<u64> {
    let stat = stats.iter().find(|stat| stat.metadata_id == metadata_id)?;
    match stat.value {
        Some(x_stat::Value::Int64Value(tid)) => u64::try_from(tid).ok(),
        Some(x_stat::Value::Uint64Value(tid)) => Some(tid),
        _ => None,
    }
}
