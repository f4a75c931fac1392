//! The thread that begins and finishes a capture where nobody else can: at a time of day, and when a
//! thread that may hold any lock is about to end the process.
//!
//! Others ask it through one word and a futex, which a signal handler may use. It uses no file
//! descriptor, since programs close those that they do not know.

use crate::capture::{self, Stage};
use crate::config::now_ns;
use crate::{guarded, signals};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

/// The process whose control thread runs; 0: none.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// The control thread.
static THREAD: AtomicI32 = AtomicI32::new(0);
/// What it is asked for: 0 nothing, [`LOOK`], or [`FINISH`] with a signal's number or 0 above.
static REQUEST: AtomicU32 = AtomicU32::new(0);

const LOOK: u32 = 1;
const FINISH: u32 = 2;
const SIGNAL_SHIFT: u32 = 8;

/// How long the others wait for it.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Until the threads' markers are taken in: a thread that was interrupted within the listener
    /// never lets go of its own while it waits.
    pub(crate) stopping: Duration,
    /// Until the profile is written.
    pub(crate) all: Duration,
}

/// The limits of a thread that ends the process.
const END_LIMITS: Limits = Limits {
    stopping: Duration::from_secs(5),
    all: Duration::from_secs(120),
};

/// Starts the thread, with all signals blocked: they are the program's.
pub(crate) fn start() -> Result<(), String> {
    REQUEST.store(0, Ordering::Relaxed);
    let masked = |all: bool, old: &mut libc::sigset_t| {
        // SAFETY: both sets are this function's; a new thread inherits the mask.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut set);
            if all {
                libc::pthread_sigmask(libc::SIG_SETMASK, &set, old);
            } else {
                libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut());
            }
        }
    };
    // SAFETY: an empty set is all zeros.
    let mut old: libc::sigset_t = unsafe { std::mem::zeroed() };
    masked(true, &mut old);
    let started = std::thread::Builder::new()
        .name("xprof-roctx".to_owned())
        .spawn(work);
    masked(false, &mut old);
    started.map_err(|error| format!("no thread to finish the capture with: {error}"))?;
    PROCESS.store(std::process::id() as i32, Ordering::Release);
    Ok(())
}

fn work() {
    // SAFETY: gettid only returns the thread's id.
    THREAD.store(unsafe { libc::gettid() }, Ordering::Relaxed);
    guarded("the capture's control thread ended", || {
        loop {
            capture::on_time();
            let Ok(deadline) = capture::next_deadline() else {
                return Ok(());
            };
            wait(deadline);
            let request = REQUEST.swap(0, Ordering::AcqRel);
            if request & FINISH != 0 {
                capture::finish();
                let signal = (request >> SIGNAL_SHIFT) as libc::c_int;
                if signal != 0 {
                    signals::die_by(signal);
                }
                return Ok(());
            }
        }
    });
}

/// Waits for a request, or until `deadline` (ns of `CLOCK_BOOTTIME`).
fn wait(deadline: Option<u64>) {
    let timeout = deadline.map(|deadline| {
        let left = deadline.saturating_sub(now_ns());
        libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        }
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is static, the timeout null or this function's. Returns at once if the word
    // is no longer 0.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            REQUEST.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            0,
            timeout,
        )
    };
}

fn ask(request: u32) {
    REQUEST.fetch_or(request, Ordering::AcqRel);
    // SAFETY: the word is static. May be called in a signal handler.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            REQUEST.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        )
    };
}

/// Lets the thread look at the capture again.
pub(crate) fn wake() {
    ask(LOOK);
}

/// Whether this process has a capture that would be lost if it ended now, and a thread to finish it
/// that is not the calling one. May be called in a signal handler, and in a child that shares this
/// memory (`vfork`), whose capture it is not.
pub(crate) fn has_something_to_lose() -> bool {
    // SAFETY: these only return ids.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    capture::stage() != Stage::Nothing
        && PROCESS.load(Ordering::Acquire) == process
        && THREAD.load(Ordering::Relaxed) != thread
}

/// Lets the thread finish the capture and then end the process by `signal`, in the signal's handler.
pub(crate) fn finish_and_die_by(signal: libc::c_int, limits: Limits) {
    ask(FINISH | (signal as u32) << SIGNAL_SHIFT);
    if wait_until_finished(limits) {
        // So that it is pending when the handler returns, and the program does nothing more.
        signals::die_by(signal);
    }
}

/// Lets the thread finish the capture, and waits for that. May be called in a signal handler.
pub(crate) fn finish_and_wait() {
    if !has_something_to_lose() {
        return;
    }
    ask(FINISH);
    if !wait_until_finished(END_LIMITS) {
        let line = b"xprof-roctx: the profile was not written: the program ended itself in the \
            midst of something that writing needs\n";
        // SAFETY: the bytes are static. Nothing can be done if stderr takes no more.
        unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
}

/// `false` if that took too long.
fn wait_until_finished(limits: Limits) -> bool {
    let start = now_ns();
    loop {
        let waited = Duration::from_nanos(now_ns().saturating_sub(start));
        match capture::stage() {
            Stage::Nothing => return true,
            Stage::Running | Stage::Stopping if waited > limits.stopping => return false,
            _ if waited > limits.all => return false,
            _ => nap(),
        }
    }
}

fn nap() {
    let millisecond = libc::timespec {
        tv_sec: 0,
        tv_nsec: 1_000_000,
    };
    // SAFETY: the time is this function's.
    unsafe { libc::nanosleep(&millisecond, std::ptr::null_mut()) };
}

/// Forgets the parent's thread, which the child does not have.
pub(crate) fn forget_in_child() {
    PROCESS.store(0, Ordering::Release);
    REQUEST.store(0, Ordering::Relaxed);
}
