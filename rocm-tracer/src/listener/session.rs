//! Which session is active, what it may hold, and how it begins and ends.
//!
//! The generation is the session's number while one is active and 0 while none is. It is the one
//! shared word that every call reads; it is written twice a session.

use super::{AsyncRange, Markers, Names, async_ranges, names, nvtx, thread_log};
use crate::drops::{DropCounts, DropReason, SharedDropCounts};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);
static LAST_GENERATION: AtomicU64 = AtomicU64::new(0);
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Events that the session may still hold.
static EVENTS_LEFT: AtomicI64 = AtomicI64::new(0);
/// Bytes of labels that the session may still hold.
static LABEL_BYTES_LEFT: AtomicI64 = AtomicI64::new(0);
static MAX_LABEL_BYTES: AtomicUsize = AtomicUsize::new(usize::MAX);

/// What was dropped where no thread's log could count it.
static DROPS: SharedDropCounts = SharedDropCounts::new();

/// What a session may hold.
pub(crate) struct Limits {
    pub(crate) max_events: u64,
    pub(crate) max_label_bytes: usize,
    pub(crate) max_label_memory: u64,
}

/// What the listener heard in a session.
pub(crate) struct Heard {
    pub(crate) threads: Vec<(u32, Markers)>,
    /// By thread and domain.
    pub(crate) nvtx: Vec<((u32, u32), Markers)>,
    pub(crate) async_ranges: Vec<AsyncRange>,
    pub(crate) names: Names,
    pub(crate) drops: DropCounts,
}

/// Whether calls are being recorded. A first look: [`generation`] decides.
#[inline]
pub(super) fn is_active() -> bool {
    GENERATION.load(Ordering::Relaxed) != 0
}

/// The active session's generation, or 0.
#[inline]
pub(super) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

#[inline]
pub(super) fn is_paused() -> bool {
    PAUSED.load(Ordering::Relaxed)
}

pub(super) fn set_paused(paused: bool) {
    PAUSED.store(paused, Ordering::Relaxed);
}

/// Labels longer than this are cut.
#[inline]
pub(super) fn max_label_bytes() -> usize {
    MAX_LABEL_BYTES.load(Ordering::Relaxed)
}

pub(super) fn drop_one(reason: DropReason) {
    if is_active() {
        DROPS.add(reason);
    }
}

/// Takes up to `wanted` events out of what the session may hold; fewer when it is nearly full, so
/// that one thread's reserve does not starve the others.
pub(crate) fn reserve_events(wanted: usize) -> usize {
    let mut left = EVENTS_LEFT.load(Ordering::Relaxed);
    loop {
        if left <= 0 {
            return 0;
        }
        let share = (left / 64).max(1).min(wanted as i64);
        match EVENTS_LEFT.compare_exchange_weak(
            left,
            left - share,
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            Ok(_) => return share as usize,
            Err(now) => left = now,
        }
    }
}

/// Gives back events that were reserved and not used.
pub(super) fn give_back_events(count: usize) {
    EVENTS_LEFT.fetch_add(count as i64, Ordering::Relaxed);
}

/// Takes `bytes` out of what the session's labels may hold; `false` if they are not to be had.
pub(super) fn reserve_label_bytes(bytes: usize) -> bool {
    if LABEL_BYTES_LEFT.fetch_sub(bytes as i64, Ordering::Relaxed) >= bytes as i64 {
        return true;
    }
    LABEL_BYTES_LEFT.fetch_add(bytes as i64, Ordering::Relaxed);
    false
}

/// Prepares a new session and returns its generation. Nothing is recorded until [`open`].
///
/// The caller sees to it that `begin`, `open` and `end` follow each other.
pub(crate) fn begin(limits: &Limits) -> u64 {
    EVENTS_LEFT.store(
        limits.max_events.try_into().unwrap_or(i64::MAX),
        Ordering::Relaxed,
    );
    LABEL_BYTES_LEFT.store(
        limits.max_label_memory.try_into().unwrap_or(i64::MAX),
        Ordering::Relaxed,
    );
    MAX_LABEL_BYTES.store(limits.max_label_bytes, Ordering::Relaxed);
    set_paused(false);
    DROPS.take();
    thread_log::prepare();
    LAST_GENERATION.fetch_add(1, Ordering::Relaxed) + 1
}

/// From now on, calls are recorded.
pub(crate) fn open(generation: u64) {
    GENERATION.store(generation, Ordering::Release);
}

/// From now on, calls are not recorded, and none is being recorded any more.
pub(crate) fn close() {
    GENERATION.store(0, Ordering::SeqCst);
    thread_log::wait_for_writers();
}

/// Takes what the session heard. To be called after [`close`], with the session's generation.
pub(crate) fn end(generation: u64) -> Heard {
    let (taken, mut drops) = thread_log::take_all(generation);
    let (mut threads, mut nvtx) = (Vec::new(), Vec::new());
    for log in taken {
        match log.domain {
            None => threads.push((log.tid, log.markers)),
            Some(domain) => nvtx.push(((log.tid, domain), log.markers)),
        }
    }
    let async_ranges = async_ranges::take_all();
    drops.merge(&DROPS.take());
    Heard {
        threads,
        nvtx,
        async_ranges,
        names: names::snapshot(),
        drops,
    }
}

/// Holds what the listener keeps while the process forks, so that the child finds it whole.
pub(crate) fn lock_for_fork() {
    thread_log::lock_for_fork();
    async_ranges::lock_for_fork();
    names::lock_for_fork();
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(crate) unsafe fn unlock_after_fork() {
    // SAFETY: this function's contract.
    unsafe {
        names::unlock_after_fork();
        async_ranges::unlock_after_fork();
        thread_log::unlock_after_fork();
    }
}

/// Forgets, in a child process, that its parent had a session. After [`unlock_after_fork`].
pub(crate) fn abandon_in_child() {
    GENERATION.store(0, Ordering::SeqCst);
    set_paused(false);
    thread_log::abandon_in_child();
    nvtx::abandon_in_child();
    async_ranges::take_all();
}
