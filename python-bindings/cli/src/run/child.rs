//! The program as a child process, with the signals that are meant for it.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// A program that has ended.
pub(super) struct Ended {
    pub(super) pid: u32,
    pub(super) status: ExitStatus,
}

/// The program that signals are passed on to; 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// A signal to be passed on, as one is that came before there was a program; 0: none.
static PENDING: AtomicI32 = AtomicI32::new(0);

const PASSED_ON: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];

/// Runs the program to its end. Signals that ask this process to end go to the program, which is
/// the one to answer; what a terminal sends reaches it anyway.
pub(super) fn run(program: &mut Command) -> io::Result<Ended> {
    PENDING.store(0, Ordering::SeqCst);
    let mut before = Vec::new();
    for signal in PASSED_ON {
        // SAFETY: zeroed actions are ones to be written over, or with an empty mask; the handler
        // only loads an atomic and calls kill.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            let mut new: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut old);
            // Whoever started this may want it ignored (nohup does), by the program too. A
            // handler, unlike an ignored signal, is not passed on to the program.
            if old.sa_sigaction != libc::SIG_IGN {
                new.sa_sigaction = pass_on as *const () as libc::sighandler_t;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(signal, &new, std::ptr::null_mut());
            }
            before.push(old);
        }
    }
    let result = program.spawn().and_then(|mut child| {
        let pid = child.id();
        CHILD.store(pid as i32, Ordering::SeqCst);
        pass_on_pending(pid as i32);
        wait_unreaped(pid);
        CHILD.store(0, Ordering::SeqCst);
        child.wait().map(|status| Ended { pid, status })
    });
    for (signal, before) in PASSED_ON.into_iter().zip(&before) {
        // SAFETY: puts back what was there.
        unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
    }
    result
}

extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid one.
    let from_terminal = unsafe { info.as_ref() }.is_some_and(|info| info.si_code == SI_KERNEL);
    if from_terminal {
        return;
    }
    PENDING.store(signal, Ordering::SeqCst);
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        pass_on_pending(child);
    }
}

fn pass_on_pending(child: i32) {
    let signal = PENDING.swap(0, Ordering::SeqCst);
    if signal != 0 {
        // SAFETY: kill may be called in a signal handler; the child is not reaped before CHILD is
        // 0 again.
        unsafe { libc::kill(child, signal) };
    }
}

/// In `si_code`: sent by the kernel, and by a terminal to all its processes (asm-generic/siginfo.h).
const SI_KERNEL: libc::c_int = 0x80;

/// Waits until the child has ended, and leaves it to be reaped: till then nobody else has its id.
fn wait_unreaped(child: u32) {
    loop {
        // SAFETY: a zeroed siginfo_t is one to be written over.
        let result = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}
