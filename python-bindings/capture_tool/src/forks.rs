//! What a child process does: it leaves its parent's capture and begins one of its own.

use crate::{capture, control};

/// Sees to the children made from now on. To be called after the first capture has begun, so that
/// these handlers run after the listener's in the child, and before them in the parent.
pub(crate) fn watch() {
    extern "C" fn lock() {
        capture::lock_for_fork();
    }
    extern "C" fn unlock() {
        // SAFETY: `lock` has locked it, on this thread.
        unsafe { capture::unlock_after_fork() };
    }
    extern "C" fn begin() {
        control::forget_in_child();
        unlock();
        capture::begin_in_child();
    }
    // SAFETY: the handlers are functions of this object, which nobody unloads.
    unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(begin)) };
}
