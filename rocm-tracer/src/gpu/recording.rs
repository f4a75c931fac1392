//! The session's records. Between sessions there is nowhere to put one: what comes then is counted
//! and told in the next trace.

use super::drops::{GpuDropCounts, GpuDropReason};
use super::records::{Activity, ApiCall};
use crate::listener::session;
use hashbrown::HashSet;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the SDK reported in a session.
#[derive(Default)]
pub(crate) struct Recording {
    pub(super) max_activities: u64,
    pub(crate) calls: Vec<ApiCall>,
    pub(crate) activities: Vec<Activity>,
    /// Correlation ids of calls that were seen and not kept: their work is no orphan.
    pub(crate) auxiliary: HashSet<u64>,
    pub(crate) drops: GpuDropCounts,
}

impl Recording {
    /// Keeps a HIP call, or counts why not.
    pub(crate) fn add_call(&mut self, call: ApiCall) {
        if session::reserve_events(1) == 1 {
            self.calls.push(call);
            return;
        }
        self.drops.add(GpuDropReason::ApiCapacity, 1);
        if (self.auxiliary.len() as u64) < self.max_activities {
            self.auxiliary.insert(call.correlation);
        }
    }

    /// Keeps a kernel or copy, or counts why not.
    pub(crate) fn add_activity(&mut self, activity: Activity) {
        if (self.activities.len() as u64) < self.max_activities {
            self.activities.push(activity);
        } else {
            self.drops.add(GpuDropReason::ActivityCapacity, 1);
        }
    }

    /// Counts records that are not kept.
    pub(crate) fn drop(&mut self, reason: GpuDropReason, count: u64) {
        self.drops.add(reason, count);
    }
}

static SESSION: Mutex<Option<Recording>> = Mutex::new(None);
static LATE: AtomicU64 = AtomicU64::new(0);

/// A session begins: records are kept from now on.
pub(crate) fn begin(max_activities: u64) {
    *SESSION.lock() = Some(Recording {
        max_activities,
        ..Recording::default()
    });
}

/// A session ends: takes what was kept. Nothing is kept from now on.
pub(crate) fn take() -> Recording {
    let mut recording = SESSION.lock().take().unwrap_or_default();
    let late = LATE.swap(0, Ordering::Relaxed);
    recording.drop(GpuDropReason::Late, late);
    recording
}

/// Runs `add` on the active session's recording; with none active, counts `count` late records.
pub(crate) fn with(count: usize, add: impl FnOnce(&mut Recording)) {
    match &mut *SESSION.lock() {
        Some(recording) => add(recording),
        None => {
            LATE.fetch_add(count as u64, Ordering::Relaxed);
        }
    }
}

/// Holds the recording while the process forks.
pub(crate) fn lock_for_fork() {
    std::mem::forget(SESSION.lock());
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(crate) unsafe fn unlock_after_fork() {
    // SAFETY: this function's contract.
    unsafe { SESSION.force_unlock() };
}
