//! Annotations that an object owns: the state behind a Python or C++ `TraceAnnotation`.

use crate::label::Label;
use crate::owned_range::OwnedRange;
use crate::traceme::TraceMe;
use parking_lot::Mutex;

/// An annotation that lasts from its construction to [`stop`](Self::stop), or to when it is
/// dropped.
///
/// It opens a range on the constructing thread, as a [`ScopedAnnotation`](crate::ScopedAnnotation)
/// does, and records a [`TraceMe`] while a session records.
///
/// It may be stopped and dropped by any thread, in any order with others, and more than once; it
/// only ever ends its own range. Stopped while others that were opened later on the same thread
/// are open, its range ends when they have ended. Stopped on another thread, its range ends at the
/// next annotation of the thread that opened it.
pub struct TraceMeWrapper {
    range: OwnedRange,
    traceme: Mutex<TraceMe>,
}

impl TraceMeWrapper {
    /// Opens the annotation. Metadata is part of the label:
    /// [`encode`](crate::traceme::encode()) makes such labels.
    pub fn new(label: impl Label) -> Self {
        Self {
            range: OwnedRange::open(&label),
            traceme: Mutex::new(TraceMe::new(label)),
        }
    }

    /// Adds metadata (`#key=value,…#`) to the recorded host event. It is made only if one is being
    /// recorded. The label of the range is fixed when it opens, and does not change.
    pub fn set_metadata<L: Label>(&self, metadata: impl FnOnce() -> L) {
        if self.traceme.lock().is_recorded() {
            // Made without the lock: to turn values into text may run the program's own code.
            let metadata = metadata();
            self.traceme.lock().append_metadata(|| metadata);
        }
    }

    /// Ends the annotation; the first call counts.
    pub fn stop(&self) {
        self.traceme.lock().stop();
        self.range.close();
    }
}

impl Drop for TraceMeWrapper {
    fn drop(&mut self) {
        self.stop();
    }
}
