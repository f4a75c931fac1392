//! Signals that would end the program: the profile is written first.
//!
//! Only a signal that the program leaves at its default is taken, when a capture begins; the
//! program may take it back at any time. Its handler asks the control thread and waits, so that the
//! interrupted thread does nothing more; then the control thread ends the process by the same
//! signal. The wait is short: if what was interrupted holds a lock that the control thread needs, it
//! has to go on. A second signal, a second later or more, ends the process at once.

use crate::config::now_ns;
use crate::control::{self, Limits};
use libc::{c_int, sighandler_t};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const WATCHED: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE];

/// A terminal and a launcher may both send one; only a later one is a person's impatience.
const PATIENCE_NS: u64 = 1_000_000_000;

/// How long a handler waits for the threads' markers to be taken in, and in all.
const HANDLER_LIMITS: Limits = Limits {
    stopping: Duration::from_millis(250),
    all: Duration::from_secs(2),
};

/// When the first signal came, in ns of `CLOCK_BOOTTIME`; 0: none has.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// Takes the signals that the program leaves at their defaults.
pub(crate) fn watch() {
    FIRST.store(0, Ordering::Relaxed);
    for signal in WATCHED {
        if disposition(signal) == libc::SIG_DFL {
            // Calls of the program that it interrupts go on.
            set(
                signal,
                on_signal as *const () as sighandler_t,
                libc::SA_RESTART,
            );
        }
    }
}

/// Gives back the signals that are still this module's.
pub(crate) fn leave() {
    for signal in WATCHED {
        if disposition(signal) == on_signal as *const () as sighandler_t
            && FIRST.load(Ordering::Relaxed) == 0
        {
            set(signal, libc::SIG_DFL, 0);
        }
    }
}

extern "C" fn on_signal(signal: c_int) {
    // SAFETY: errno is this thread's; the interrupted code finds it as it was.
    let (errno, before) = unsafe { (libc::__errno_location(), *libc::__errno_location()) };
    let now = now_ns();
    let first = FIRST
        .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed)
        .err();
    match first {
        _ if !control::has_something_to_lose() => die_by(signal),
        None => control::finish_and_die_by(signal, HANDLER_LIMITS),
        Some(first) if now.saturating_sub(first) >= PATIENCE_NS => die_by(signal),
        Some(_) => {}
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// Ends the process by `signal`, at its default. In a handler of the signal, on its return.
pub(crate) fn die_by(signal: c_int) {
    set(signal, libc::SIG_DFL, 0);
    // SAFETY: a system call with numbers.
    unsafe { libc::syscall(libc::SYS_kill, libc::getpid(), signal) };
}

/// Whether the signal, come now, would end the process without the program's doing.
pub(crate) fn ends_the_process(signal: c_int) -> bool {
    let harmless = [
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGURG,
        libc::SIGWINCH,
        libc::SIGSTOP,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    signal > 0 && !harmless.contains(&signal) && disposition(signal) == libc::SIG_DFL
}

/// What the process does at a signal. May be called in a handler.
fn disposition(signal: c_int) -> sighandler_t {
    // SAFETY: a zeroed action is one to be written over.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut action) != 0 {
            return libc::SIG_IGN;
        }
        action.sa_sigaction
    }
}

/// Sets what the process does at a signal. May be called in a handler.
fn set(signal: c_int, handler: sighandler_t, flags: c_int) {
    // SAFETY: the action is this function's; the handler calls only what handlers may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}
