//! `_exit`, `kill` and `raise`, in place of the C library's where this object is preloaded: before
//! the process ends by one of them, the profile is written.
//!
//! What they do otherwise is the system call that the C library makes. Loaded later, by `dlopen`,
//! they stand in nobody's way and are not called.

use crate::{control, signals};
use libc::{c_int, c_long, pid_t};

/// Ends the process at once, without `atexit`; `os._exit` and forked workers of Python's
/// `multiprocessing` call it.
///
/// # Safety
/// As `_exit` of unistd.h.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _exit(code: c_int) -> ! {
    control::finish_and_wait();
    loop {
        // SAFETY: a system call with a number, which does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

/// As [`_exit`].
///
/// # Safety
/// As `_Exit` of stdlib.h.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Exit(code: c_int) -> ! {
    // SAFETY: the caller's contract.
    unsafe { _exit(code) }
}

/// Sends a signal. A program that handles one ends, as a rule, by sending it to itself again; an
/// interrupted Python does.
///
/// # Safety
/// As `kill` of signal.h.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kill(process: pid_t, signal: c_int) -> c_int {
    // SAFETY: getpid only returns a number.
    if process == unsafe { libc::getpid() } && signals::ends_the_process(signal) {
        control::finish_and_wait();
    }
    // SAFETY: a system call with numbers; sets errno as kill does.
    unsafe { libc::syscall(libc::SYS_kill, process, signal) as c_int }
}

/// Sends a signal to the calling thread.
///
/// # Safety
/// As `raise` of signal.h.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn raise(signal: c_int) -> c_int {
    if signals::ends_the_process(signal) {
        control::finish_and_wait();
    }
    // SAFETY: a system call with numbers; sets errno as raise does.
    unsafe {
        let (process, thread) = (libc::getpid(), libc::gettid());
        let signal = c_long::from(signal);
        libc::syscall(libc::SYS_tgkill, process, thread, signal) as c_int
    }
}
