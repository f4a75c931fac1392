//! Each thread's log: its owner writes it without a lock, and a stopping session takes it whole.
//!
//! Owner and session exclude each other as in Dekker's algorithm: the owner says *busy*, then looks
//! at the generation; the session clears the generation, then waits until nobody is busy. Each side
//! needs a full barrier between its two steps. The session's `membarrier` system call puts one into
//! every running thread, so that the owner's side costs none. Where the call is not to be had, both
//! sides use an ordinary fence.

use super::markers::Markers;
use super::session;
use crate::drops::{DropCounts, DropReason};
use parking_lot::Mutex;
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

pub(super) struct ThreadLog {
    /// The thread's id as the kernel knows it.
    tid: u32,
    /// The NVTX domain whose log it is; `None` for ROCTX's.
    domain: Option<u32>,
    /// The owner is reading the generation or writing the markers.
    busy: AtomicBool,
    /// Written by the owner while busy and a session is active, and at its end; by the session
    /// after it has cleared the generation and seen that the owner is not busy. The last two
    /// exclude each other by [`LOGS`].
    markers: UnsafeCell<Markers>,
    /// The owner has ended.
    ended: AtomicBool,
}

// SAFETY: `markers` has one user at a time, as its comment says.
unsafe impl Sync for ThreadLog {}
// SAFETY: what is in it may move between threads.
unsafe impl Send for ThreadLog {}

/// The logs of threads that live or whose markers are still to be taken. Locked when a thread makes
/// its first marker, when such a thread ends, and when a session stops.
static LOGS: Mutex<Vec<Arc<ThreadLog>>> = Mutex::new(Vec::new());

/// In place of a log's address once the thread's own storage is being destroyed.
const ENDED: *const ThreadLog = ptr::without_provenance(1);

thread_local! {
    /// This thread's log; null before its first marker. Needs no destructor, so it can be read
    /// while the thread ends.
    static CURRENT: Cell<*const ThreadLog> = const { Cell::new(ptr::null()) };
    static AT_THREAD_END: AtThreadEnd = const { AtThreadEnd(Cell::new(None)) };
}

/// Keeps the log alive that [`CURRENT`] points to, and hands it over when the thread ends.
struct AtThreadEnd(Cell<Option<Arc<ThreadLog>>>);

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        CURRENT.set(ENDED);
        if let Some(log) = self.0.take() {
            hand_over(&log);
        }
    }
}

/// Runs `record` on this thread's markers of the active session; not if none is active, or if this
/// thread is in the midst of that already.
#[inline]
pub(super) fn with(record: impl FnOnce(&mut Markers)) {
    let mut current = CURRENT.get();
    if current.is_null() {
        current = register();
    }
    if current == ENDED {
        return session::drop_one(DropReason::ThreadEnding);
    }
    // SAFETY: not null and not ENDED, so AT_THREAD_END of this thread keeps it alive.
    unsafe { &*current }.record(record);
}

/// Shows this thread's markers of the active session, if it has any, and keeps the session from
/// stopping meanwhile. Does nothing if no session is active any more, or if this thread is in the
/// midst of writing them.
pub(super) fn read(read: impl FnOnce(Option<&Markers>)) {
    let current = CURRENT.get();
    if current.is_null() || current == ENDED {
        return read(None);
    }
    // SAFETY: as in `with`.
    let log = unsafe { &*current };
    log.while_busy(|markers, generation| {
        read((markers.generation() == generation).then_some(markers));
    });
}

impl ThreadLog {
    /// A log of the calling thread, for the next session that stops to take. Who keeps it gives it to
    /// [`hand_over`] when the thread ends.
    pub(super) fn new(domain: Option<u32>) -> Arc<Self> {
        let log = Arc::new(Self {
            tid: tid(),
            domain,
            busy: AtomicBool::new(false),
            markers: UnsafeCell::default(),
            ended: AtomicBool::new(false),
        });
        LOGS.lock().push(Arc::clone(&log));
        log
    }

    /// Runs `record` on the markers of the active session; not if none is active, or if the owner is
    /// in the midst of that already. Only the log's own thread may call it.
    #[inline]
    pub(super) fn record(&self, record: impl FnOnce(&mut Markers)) {
        let free = self.while_busy(|markers, generation| {
            if markers.generation() != generation {
                markers.begin(generation);
            }
            record(markers);
        });
        if !free {
            session::drop_one(DropReason::Reentrant);
        }
    }

    /// The owner's side of the exclusion: gives `work` the markers and the active session's
    /// generation, unless none is active. `false` if the owner is in the midst of that already.
    #[inline]
    fn while_busy(&self, work: impl FnOnce(&mut Markers, u64)) -> bool {
        if self.busy.load(Ordering::Relaxed) {
            return false;
        }
        self.busy.store(true, Ordering::Relaxed);
        barrier::owner();
        let generation = session::generation();
        if generation != 0 {
            // SAFETY: busy, with a session active: no session takes the log until busy is cleared,
            // and no other code on this thread gets here while it is set.
            work(unsafe { &mut *self.markers.get() }, generation);
        }
        self.busy.store(false, Ordering::Release);
        true
    }
}

/// The calling thread's id as the kernel knows it.
pub(super) fn tid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::gettid() as u32 }
}

/// Makes this thread's log.
#[cold]
fn register() -> *const ThreadLog {
    let kept = AT_THREAD_END.try_with(|at_end| {
        let log = ThreadLog::new(None);
        let address = Arc::as_ptr(&log);
        at_end.0.set(Some(log));
        address
    });
    let address = kept.unwrap_or(ENDED);
    CURRENT.set(address);
    address
}

/// A thread ends: its log stays if there is something in it that a session has yet to take.
pub(super) fn hand_over(log: &Arc<ThreadLog>) {
    let mut logs = LOGS.lock();
    // SAFETY: the owner is this thread, which writes no more; a session takes markers only with
    // LOGS locked.
    let markers = unsafe { &mut *log.markers.get() };
    if markers.has_news() {
        markers.seal();
        log.ended.store(true, Ordering::Relaxed);
    } else if let Some(index) = logs.iter().position(|other| Arc::ptr_eq(other, log)) {
        logs.swap_remove(index);
    }
}

/// Prepares the process for a session.
pub(super) fn prepare() {
    barrier::register();
}

/// Returns when no owner is writing that began before the generation was cleared.
pub(super) fn wait_for_writers() {
    barrier::session();
    for log in LOGS.lock().iter() {
        while log.busy.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

/// A thread's markers that a session has taken.
pub(super) struct Taken {
    pub(super) tid: u32,
    pub(super) domain: Option<u32>,
    pub(super) markers: Markers,
}

/// Takes every thread's markers of this generation, and the sum of what was dropped. To be called
/// after [`wait_for_writers`], while no session is active.
pub(super) fn take_all(generation: u64) -> (Vec<Taken>, DropCounts) {
    let mut drops = DropCounts::default();
    let mut taken = Vec::new();
    LOGS.lock().retain(|log| {
        // SAFETY: no session is active and no owner busy: nobody else uses the markers.
        let mut markers = std::mem::take(unsafe { &mut *log.markers.get() });
        if markers.generation() == generation {
            drops.merge(&markers.drops);
            markers.seal();
            if markers.len() > 0 {
                taken.push(Taken {
                    tid: log.tid,
                    domain: log.domain,
                    markers,
                });
            }
        }
        !log.ended.load(Ordering::Relaxed)
    });
    (taken, drops)
}

/// Holds the list of logs while the process forks, so that the child finds it whole and unlocked.
pub(super) fn lock_for_fork() {
    std::mem::forget(LOGS.lock());
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(super) unsafe fn unlock_after_fork() {
    // SAFETY: this function's contract.
    unsafe { LOGS.force_unlock() };
}

/// Forgets, in a child process, the logs that came with the parent's memory: their threads do not
/// exist here, and one of them may have been writing, so that its log is not whole. They are not
/// freed for that reason. The calling thread gets a new log, with its new id, when it needs one.
pub(super) fn abandon_in_child() {
    if CURRENT.get() != ENDED {
        CURRENT.set(ptr::null());
    }
    std::mem::forget(std::mem::take(&mut *LOGS.lock()));
}

/// The two halves of the barrier between owner and session.
mod barrier {
    use super::{AtomicBool, Ordering, compiler_fence, fence};

    /// Set once, before the first session: `membarrier` works here.
    static EXPEDITED: AtomicBool = AtomicBool::new(false);

    // linux/membarrier.h
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes three integers and touches no memory.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    pub(super) fn register() {
        if !cfg!(miri) && membarrier(REGISTER_PRIVATE_EXPEDITED) {
            EXPEDITED.store(true, Ordering::SeqCst);
        }
    }

    #[inline]
    pub(super) fn owner() {
        if EXPEDITED.load(Ordering::Relaxed) {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    pub(super) fn session() {
        fence(Ordering::SeqCst);
        if EXPEDITED.load(Ordering::Relaxed) {
            let done = membarrier(PRIVATE_EXPEDITED);
            debug_assert!(done, "membarrier worked at registration");
        }
    }
}
