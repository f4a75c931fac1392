//! The stream that a thread is launching on, as rocprofiler-sdk tells it around each HIP call, and
//! the HIP handle of each stream, for the names that programs give.

use hashbrown::HashMap;
use parking_lot::RwLock;
use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The SDK's numbers of the streams of the calls that this thread is in, innermost last.
    static STREAMS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The default stream.
const DEFAULT_STREAM: u64 = 0;

/// Handles that are kept; programs make few streams, and a handle is only for a name.
const MOST_HANDLES: usize = 1 << 16;

/// The `hipStream_t` of each stream number.
static HANDLES: LazyLock<RwLock<HashMap<u64, u64>>> = LazyLock::new(RwLock::default);

/// Whether streams are told at all: not before version 1.0.
static TOLD: AtomicBool = AtomicBool::new(false);

/// From now on, streams are told.
pub(crate) fn set_told() {
    TOLD.store(true, Ordering::Relaxed);
}

/// Whether streams are told; otherwise work is put on rows by its queue.
pub(crate) fn are_told() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// The calling thread enters a call on this stream.
pub(crate) fn enter(stream: u64, handle: u64) {
    // A thread that is ending has no streams any more.
    let _ = STREAMS.try_with(|streams| streams.borrow_mut().push(stream));
    if stream != DEFAULT_STREAM && HANDLES.read().get(&stream) != Some(&handle) {
        let mut handles = HANDLES.write();
        if handles.len() < MOST_HANDLES || handles.contains_key(&stream) {
            handles.insert(stream, handle);
        }
    }
}

/// The calling thread leaves the call that it entered last.
pub(crate) fn leave() {
    let _ = STREAMS.try_with(|streams| streams.borrow_mut().pop());
}

/// The stream of the call that the calling thread is in; the default stream outside of one.
pub(crate) fn current() -> u64 {
    STREAMS
        .try_with(|streams| streams.borrow().last().copied())
        .ok()
        .flatten()
        .unwrap_or(DEFAULT_STREAM)
}

/// The HIP handles of the streams seen so far, by the SDK's number.
pub(crate) fn handles() -> HashMap<u64, u64> {
    HANDLES.read().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_nest_and_an_unmatched_leave_does_no_harm() {
        assert_eq!(current(), DEFAULT_STREAM);
        leave();
        enter(3, 0x300);
        enter(4, 0x400);
        assert_eq!(current(), 4);
        std::thread::spawn(|| assert_eq!(current(), DEFAULT_STREAM))
            .join()
            .unwrap();
        leave();
        assert_eq!(current(), 3);
        leave();
        leave();
        assert_eq!(current(), DEFAULT_STREAM);
        assert_eq!(handles().get(&4), Some(&0x400));
    }
}
