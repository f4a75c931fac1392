//! Ranges that one thread starts and any thread may stop, by id.
//!
//! Kept in shards by id, each with its own lock, so that threads seldom meet.

use super::labels::{NO_MEMORY, cut};
use super::{session, thread_log};
use crate::clock;
use crate::drops::DropReason;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use std::sync::Arc;

/// A range's id with the copy of ROCTX that gave it.
pub(super) type Key = (usize, u64);

/// A start/stop range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AsyncRange {
    pub(crate) label: Arc<[u8]>,
    /// Marker clock, ticks.
    pub(crate) start: u64,
    /// Marker clock, ticks; [`super::OPEN`] for a range not stopped.
    pub(crate) end: u64,
    pub(crate) start_tid: u32,
    /// Equal to the starting thread for a range not stopped.
    pub(crate) stop_tid: u32,
    /// As `roctxRangeStartA` or its kin in NVTX returned it.
    pub(crate) id: u64,
    /// The NVTX domain; `None` for ROCTX.
    pub(crate) domain: Option<u32>,
}

#[derive(Default)]
struct Shard {
    /// `None` for one that is not kept, whose stop is no unknown id.
    open: HashMap<Key, Option<AsyncRange>>,
    closed: Vec<AsyncRange>,
    labels: HashSet<Arc<[u8]>>,
}

const SHARDS: usize = 16;
static RANGES: [Mutex<Option<Shard>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn shard(key: Key) -> &'static Mutex<Option<Shard>> {
    &RANGES[key.1 as usize % SHARDS]
}

/// A range has started; `key` is its id.
pub(super) fn start(key: Key, domain: Option<u32>, label: &[u8]) {
    let now = clock::ticks();
    let tid = thread_log::tid();
    let mut shard = shard(key).lock();
    // Taken by the session under this lock: what comes after that is not of the session.
    if session::generation() == 0 {
        return;
    }
    let shard = shard.get_or_insert_default();
    let kept = if session::is_paused() {
        Err(DropReason::Paused)
    } else if label.is_empty() {
        Err(DropReason::Unlabelled)
    } else if let Some(start) = now {
        if session::reserve_events(1) == 0 {
            Err(DropReason::Capacity)
        } else {
            Ok(AsyncRange {
                label: shard.intern(label),
                start,
                end: super::OPEN,
                start_tid: tid,
                stop_tid: tid,
                id: key.1,
                domain,
            })
        }
    } else {
        Err(DropReason::ClockFailed)
    };
    if let Err(reason) = &kept {
        session::drop_one(*reason);
    }
    shard.open.insert(key, kept.ok());
}

/// A range is about to stop.
pub(super) fn stop(key: Key) {
    let now = clock::ticks();
    let tid = thread_log::tid();
    let mut shard = shard(key).lock();
    if session::generation() == 0 {
        return;
    }
    let shard = shard.get_or_insert_default();
    match (shard.open.remove(&key), now) {
        (None, _) => session::drop_one(DropReason::UnknownRangeId),
        // Counted when it started.
        (Some(None), _) => {}
        (Some(Some(_)), None) => {
            session::give_back_events(1);
            session::drop_one(DropReason::ClockFailed);
        }
        (Some(Some(mut range)), Some(now)) => {
            range.end = now.max(range.start);
            range.stop_tid = tid;
            shard.closed.push(range);
        }
    }
}

/// Takes all ranges, those still open too, in order of start. To be called while no session is
/// active.
pub(super) fn take_all() -> Vec<AsyncRange> {
    let mut ranges = Vec::new();
    for shard in &RANGES {
        if let Some(shard) = shard.lock().take() {
            ranges.extend(shard.closed);
            ranges.extend(shard.open.into_values().flatten());
        }
    }
    ranges.sort_by_key(|range| (range.start, range.id));
    ranges
}

/// Holds every shard while the process forks, so that the child finds them whole and unlocked.
pub(super) fn lock_for_fork() {
    for shard in &RANGES {
        std::mem::forget(shard.lock());
    }
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(super) unsafe fn unlock_after_fork() {
    for shard in &RANGES {
        // SAFETY: this function's contract.
        unsafe { shard.force_unlock() };
    }
}

impl Shard {
    fn intern(&mut self, label: &[u8]) -> Arc<[u8]> {
        let label = cut(label, session::max_label_bytes());
        if let Some(known) = self.labels.get(label.as_ref()) {
            return Arc::clone(known);
        }
        let kept: &[u8] = if session::reserve_label_bytes(label.len()) {
            &label
        } else {
            NO_MEMORY
        };
        let kept: Arc<[u8]> = Arc::from(kept);
        self.labels.insert(Arc::clone(&kept));
        kept
    }
}
