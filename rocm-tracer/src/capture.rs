//! What a session captured: plain data between the tracer and the collector.

use crate::clock::Span;
use crate::drops::DropCounts;
use crate::gpu::export::GpuCapture;
use crate::listener::{AsyncRange, Markers, Names};

/// Everything that was heard between `enable` and `disable`.
pub struct TraceCapture {
    pub(crate) span: Span,
    pub(crate) threads: Vec<(u32, Markers)>,
    /// By thread and NVTX domain.
    pub(crate) nvtx: Vec<((u32, u32), Markers)>,
    pub(crate) async_ranges: Vec<AsyncRange>,
    pub(crate) names: Names,
    pub(crate) drops: DropCounts,
    pub(crate) max_events: u64,
    pub(crate) max_label_bytes: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) gpu: GpuCapture,
}

impl TraceCapture {
    /// The session's start and stop on the marker clock and the wall clock.
    pub fn span(&self) -> Span {
        self.span
    }

    /// What was not kept, by reason.
    pub fn drops(&self) -> &DropCounts {
        &self.drops
    }

    /// How many markers were kept: ranges, marks and start/stop ranges.
    pub fn marker_count(&self) -> usize {
        let on_threads: usize = self.logs().map(Markers::len).sum();
        on_threads + self.async_ranges.len()
    }

    fn logs(&self) -> impl Iterator<Item = &Markers> {
        let roctx = self.threads.iter().map(|(_, markers)| markers);
        roctx.chain(self.nvtx.iter().map(|(_, markers)| markers))
    }

    /// What the trace's reader should know: why it may be incomplete, and what to do.
    pub(crate) fn warnings(&self) -> Vec<String> {
        use crate::drops::DropReason::Capacity;
        let mut warnings = self.warnings.clone();
        for (reason, count) in self.drops.iter() {
            let mut warning = format!("ROCTX: {count} markers dropped: {}", reason.describe());
            if reason == Capacity {
                warning += &format!(
                    " ({} events; raise max_callback_api_events to keep more)",
                    self.max_events
                );
            }
            warnings.push(warning);
        }
        let (mut cut, mut replaced) = (0, 0);
        for markers in self.logs() {
            let losses = markers.label_losses();
            cut += losses.0;
            replaced += losses.1;
        }
        if cut > 0 {
            warnings.push(format!(
                "ROCTX: {cut} markers have labels longer than {} bytes, which were cut; raise \
                 max_label_bytes to keep more",
                self.max_label_bytes
            ));
        }
        if replaced > 0 {
            warnings.push(format!(
                "ROCTX: {replaced} markers lost their labels: the session's label memory was used \
                 up; raise max_label_memory to keep more"
            ));
        }
        if self.span.wall_clock_stepped() {
            warnings.push(
                "ROCTX: the wall clock was set to another time during the session; times after \
                 that follow the clock of the session's start"
                    .to_owned(),
            );
        }
        warnings
    }
}
