//! What `fork` does to the recorder: the child starts without its parent's session, which nobody in
//! it would stop; the parent's goes on untouched.

use super::recorder;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// Forks between the first process that recorded and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Differs between a process and its forked child.
#[inline]
pub(super) fn count() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Sees to it that a child made from now on starts clean.
pub(super) fn watch() {
    extern "C" fn lock() {
        recorder::lock_for_fork();
    }
    extern "C" fn unlock() {
        // SAFETY: `lock` has locked it, on this thread.
        unsafe { recorder::unlock_after_fork() };
    }
    extern "C" fn start_clean() {
        unlock();
        FORKS.fetch_add(1, Ordering::Relaxed);
        recorder::abandon_in_child();
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this object. Should it be unloaded, the C library
        // takes them out with it.
        unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(start_clean)) };
    });
}
