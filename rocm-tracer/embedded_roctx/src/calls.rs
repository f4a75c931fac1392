//! What the calls do when nobody listens: keep each thread's depth, and hand out range ids.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static DEPTH: Cell<c_int> = const { Cell::new(0) };
}

/// Range ids are unique in the process and start at 1, as AMD's do.
static NEXT_RANGE_ID: AtomicU64 = AtomicU64::new(1);

pub(crate) unsafe extern "C" fn mark(_message: *const c_char) {}

pub(crate) unsafe extern "C" fn push(_message: *const c_char) -> c_int {
    let level = DEPTH.get();
    DEPTH.set(level.saturating_add(1));
    level
}

pub(crate) unsafe extern "C" fn pop() -> c_int {
    match DEPTH.get() {
        0 => -1,
        depth => {
            DEPTH.set(depth - 1);
            depth - 1
        }
    }
}

pub(crate) unsafe extern "C" fn start(_message: *const c_char) -> u64 {
    NEXT_RANGE_ID.fetch_add(1, Ordering::Relaxed)
}

pub(crate) unsafe extern "C" fn stop(_id: u64) {}

pub(crate) unsafe extern "C" fn get_thread_id(tid: *mut u64) -> c_int {
    if tid.is_null() {
        return -1;
    }
    // SAFETY: gettid takes nothing and cannot fail; the caller gives a place for one u64.
    unsafe { tid.write(libc::gettid() as u64) };
    0
}

pub(crate) unsafe extern "C" fn control(_tid: u64) -> c_int {
    0
}

pub(crate) unsafe extern "C" fn name_thread(_name: *const c_char) -> c_int {
    0
}

pub(crate) unsafe extern "C" fn name_device(_name: *const c_char, _device: c_int) -> c_int {
    0
}

pub(crate) unsafe extern "C" fn name_handle(_name: *const c_char, _handle: *const c_void) -> c_int {
    0
}
