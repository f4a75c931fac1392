//! What was not kept, and why: counted here, told in the trace.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a marker is not in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum DropReason {
    /// The session held as many events as it may.
    Capacity,
    /// A range without a label, or a mark without one.
    Unlabelled,
    /// A pop on a thread with no open range.
    UnmatchedPop,
    /// A range opened before the session and closed in it.
    OpenedBeforeSession,
    /// A stop of a range id that is not open: never started in this session, or stopped twice.
    UnknownRangeId,
    /// Made between `roctxProfilerPause` and `roctxProfilerResume`.
    Paused,
    /// The clock could not be read.
    ClockFailed,
    /// A call from within the listener itself on the same thread (a signal handler, say).
    Reentrant,
    /// A call made while its thread was being torn down.
    ThreadEnding,
    /// An event not within the session's start and stop.
    OutsideSession,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Capacity,
        Self::Unlabelled,
        Self::UnmatchedPop,
        Self::OpenedBeforeSession,
        Self::UnknownRangeId,
        Self::Paused,
        Self::ClockFailed,
        Self::Reentrant,
        Self::ThreadEnding,
        Self::OutsideSession,
    ];

    /// The reason as the trace tells it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Capacity => "the session's event limit was reached",
            Self::Unlabelled => "null or empty label",
            Self::UnmatchedPop => "pop without an open range on its thread",
            Self::OpenedBeforeSession => "range opened before the session and closed in it",
            Self::UnknownRangeId => "stop of a range id that was not open in this session",
            Self::Paused => "made while roctxProfilerPause was in force",
            Self::ClockFailed => "the clock could not be read",
            Self::Reentrant => "made from within the profiler on the same thread",
            Self::ThreadEnding => "made while the thread was ending",
            Self::OutsideSession => "time outside the session",
        }
    }
}

/// Counts by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DropCounts([u64; DropReason::ALL.len()]);

impl DropCounts {
    /// Counts one more.
    #[inline]
    pub fn add(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// Adds another's counts to these.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// How many were dropped for this reason.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL
            .into_iter()
            .map(|reason| (reason, self.get(reason)))
            .filter(|&(_, count)| count > 0)
    }

    /// How many were dropped in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Counts that any thread may add to: for calls that reach no thread's own log.
pub(crate) struct SharedDropCounts([AtomicU64; DropReason::ALL.len()]);

impl SharedDropCounts {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; DropReason::ALL.len()])
    }

    pub(crate) fn add(&self, reason: DropReason) {
        self.0[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Takes what was counted and starts again from zero.
    pub(crate) fn take(&self) -> DropCounts {
        DropCounts(std::array::from_fn(|index| {
            self.0[index].swap(0, Ordering::Relaxed)
        }))
    }
}
