//! Pause and resume: what ROCTX has beside the interface. With a library that has no call for them
//! they do nothing.

use crate::provider::table;

/// ROCTX's thread id for all threads.
const EVERY_THREAD: u64 = 0;

/// Asks profilers to record nothing, on any thread, until [`profiler_resume`].
pub fn profiler_pause() {
    if let Some(call) = table().pause {
        // SAFETY: the function takes any thread id.
        unsafe { call(EVERY_THREAD) };
    }
}

/// Asks profilers to go on.
pub fn profiler_resume() {
    if let Some(call) = table().resume {
        // SAFETY: as above.
        unsafe { call(EVERY_THREAD) };
    }
}
