//! Ranges that any thread may end.

use tsl_profiler_lib::{Label, nvtx_utils};

/// A range from its construction to when it is dropped, on whichever thread: `roctxRangeStartA` and
/// `roctxRangeStop`. Such ranges may overlap in any way; viewers show them on lanes of their own.
///
/// Work of one scope on one thread is better a [`LocalRange`](crate::LocalRange): it costs less,
/// and only it labels the GPU work launched in it.
#[derive(Debug)]
#[must_use = "the range ends when the value is dropped"]
pub struct Range(Option<u64>);

impl Range {
    /// Starts a range.
    pub fn new(label: impl Label) -> Self {
        let domain = nvtx_utils::default_profiler_domain();
        Self(domain.map(|domain| nvtx_utils::range_start(domain, label.bytes())))
    }

    /// The range's id as ROCTX gave it; `None` where ranges are switched off.
    pub fn id(&self) -> Option<u64> {
        self.0
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if let (Some(id), Some(domain)) = (self.0, nvtx_utils::default_profiler_domain()) {
            nvtx_utils::range_stop(domain, id);
        }
    }
}
