//! What happens at a ROCTX call: the one listener behind every way to hear of it.
//!
//! In: the calls, on the threads that make them. Out, when a session stops: each thread's markers,
//! the start/stop ranges, the names, and the counts of what was dropped.
//!
//! | module | job |
//! |---|---|
//! | [`session`] | which session is active, its limits, its beginning and end |
//! | [`thread_log`] | each thread's own log: found without a lock, written without an atomic |
//! | [`markers`] | what a log holds: open ranges, slots in time order, labels |
//! | [`labels`] | a log's label memory |
//! | [`async_ranges`] | ranges that one thread starts and another may stop |
//! | [`names`] | names given to threads, devices, streams, and NVTX's domains and categories |
//! | [`nvtx`] | NVTX calls: a log for each domain on each thread |
//! | [`attributes`] | what NVTX calls say of an event beside its text |
//!
//! With no session active a call costs one load and one branch.

mod async_ranges;
pub(crate) mod attributes;
mod labels;
mod markers;
pub(crate) mod names;
pub(crate) mod nvtx;
pub(crate) mod session;
mod thread_log;

pub(crate) use async_ranges::AsyncRange;
pub(crate) use markers::{Markers, OPEN};
pub(crate) use names::Names;

use crate::clock;
use crate::drops::DropReason;
use std::ffi::{CStr, c_char, c_int, c_void};

/// The message's bytes; null is empty.
///
/// # Safety
/// `message` is null or NUL-terminated, and outlives the result.
unsafe fn bytes<'a>(message: *const c_char) -> &'a [u8] {
    if message.is_null() {
        return &[];
    }
    // SAFETY: not null, so NUL-terminated by this function's contract.
    unsafe { CStr::from_ptr(message) }.to_bytes()
}

/// `roctxMarkA`, before it.
///
/// # Safety
/// `message` is null or NUL-terminated.
#[inline]
pub(crate) unsafe fn mark(message: *const c_char) {
    if session::is_active() {
        // SAFETY: this function's contract.
        let label = unsafe { bytes(message) };
        thread_log::with(|markers| {
            if session::is_paused() {
                markers.drops.add(DropReason::Paused);
            } else {
                markers.mark(label, clock::ticks());
            }
        });
    }
}

/// `roctxRangePushA`, before it.
///
/// # Safety
/// `message` is null or NUL-terminated.
#[inline]
pub(crate) unsafe fn push(message: *const c_char) {
    if session::is_active() {
        // SAFETY: this function's contract.
        let label = unsafe { bytes(message) };
        thread_log::with(|markers| {
            if session::is_paused() {
                markers.push_unrecorded(DropReason::Paused);
            } else {
                markers.push(label, clock::ticks);
            }
        });
    }
}

/// `roctxRangePop`, after it; `level` is what it returned.
#[inline]
pub(crate) fn pop(level: c_int) {
    if session::is_active() {
        let now = clock::ticks();
        thread_log::with(|markers| markers.pop(now, level >= 0));
    }
}

/// `roctxRangeStartA`, after it, when the id is known. `copy` tells the ROCTX copies in the process
/// apart, each of which counts its own ids.
///
/// # Safety
/// `message` is null or NUL-terminated.
pub(crate) unsafe fn start(copy: usize, id: u64, message: *const c_char) {
    if session::is_active() {
        // SAFETY: this function's contract.
        let label = unsafe { bytes(message) };
        async_ranges::start((copy, id), None, label);
    }
}

/// `roctxRangeStop`, before it.
pub(crate) fn stop(copy: usize, id: u64) {
    if session::is_active() {
        async_ranges::stop((copy, id));
    }
}

/// Shows the label of the innermost ROCTX range that is open on the calling thread; empty if there
/// is none or it was not kept. A session cannot stop meanwhile. Not called at all while nothing is
/// recorded.
pub(crate) fn with_current_label(read: impl FnOnce(&[u8])) {
    if session::is_active() && !session::is_paused() {
        thread_log::read(|markers| read(markers.map_or(&[], Markers::innermost_label)));
    }
}

/// Shows the labels of the ranges that the calling thread has open, outermost first, without those
/// that were not kept. Otherwise as [`with_current_label`].
pub(crate) fn with_open_labels(read: impl FnOnce(&mut dyn Iterator<Item = &[u8]>)) {
    if session::is_active() && !session::is_paused() {
        thread_log::read(|markers| {
            if let Some(markers) = markers {
                read(&mut markers.open_labels());
            }
        });
    }
}

/// `roctxProfilerPause`.
pub(crate) fn pause() {
    session::set_paused(true);
}

/// `roctxProfilerResume`.
pub(crate) fn resume() {
    session::set_paused(false);
}

/// `roctxNameOsThread`. Names are kept whether or not a session is active: programs give them once,
/// at their start.
///
/// # Safety
/// `name` is null or NUL-terminated.
pub(crate) unsafe fn name_thread(name: *const c_char) {
    // SAFETY: this function's contract.
    names::set_thread(thread_log::tid(), unsafe { bytes(name) });
}

/// `roctxNameHipDevice`.
///
/// # Safety
/// `name` is null or NUL-terminated.
pub(crate) unsafe fn name_device(name: *const c_char, device: c_int) {
    // SAFETY: this function's contract.
    names::set_device(device, unsafe { bytes(name) });
}

/// `roctxNameHipStream`.
///
/// # Safety
/// `name` is null or NUL-terminated.
pub(crate) unsafe fn name_stream(name: *const c_char, stream: *const c_void) {
    // SAFETY: this function's contract.
    names::set_stream(stream.addr(), unsafe { bytes(name) });
}
