//! The shared library that captures an unchanged program from start to exit.
//!
//! In: the environment of a program that calls ROCTX or NVTX. The ROCTX library of this project
//! loads this one at its first call (`XPROF_ROCTX_TOOL` names it), a client of NVTX at its first
//! (`NVTX_INJECTION64_PATH` does), or the loader does (`LD_PRELOAD`). Out: a profile when the program
//! ends, and one line on stderr that says where it is. Whatever fails here costs a line on stderr
//! and nothing else: the program was not written for this project.
//!
//! | variable | meaning |
//! |---|---|
//! | `XPROF_ROCTX_LOGDIR` | where to write; without it nothing is captured |
//! | `XPROF_ROCTX_RUN` | the run's name; the time by default |
//! | `XPROF_ROCTX_HOST` | this process's name in the run; `<machine>-<pid>` by default, so that the processes of a program that starts others do not overwrite each other |
//! | `XPROF_ROCTX_MAX_EVENTS` | events kept |
//! | `XPROF_ROCTX_TOOL` | where it is set, a preloaded tool waits for the first ROCTX or NVTX call |
//! | `XPROF_ROCTX_WINDOW` | the time to capture, as `<start>:<stop>` in ns of `CLOCK_BOOTTIME`; each may be empty |
//! | `XPROF_ROCTX_BOOK` | a folder in which each capturing process has a file, named by its pid, until its profile is written |
//!
//! A profile is written however the program ends, but for a signal that nobody can catch and a
//! crash: at `exit`; before `SIGINT`, `SIGTERM`, `SIGHUP` or `SIGPIPE` end a program that does not
//! handle them; and, if the tool is preloaded, before `_exit` and before the program sends itself a
//! signal that ends it. A child made by `fork` starts a capture of its own. A process in which
//! nothing was recorded writes nothing.
//!
//! Where ROCm is, the tool configures rocprofiler-sdk as it is loaded, so that the profile has kernels
//! and copies. Another profiler of the process that would do so itself then finds it taken.
//!
//! | module | job |
//! |---|---|
//! | `capture` | the one capture of this process: begin, finish |
//! | `config` | the environment |
//! | `control` | the thread that begins and finishes where nobody else can |
//! | `exits` | `_exit`, `kill` and `raise`, in place of the C library's |
//! | `signals` | signals that would end the program |
//! | `forks` | what a child process does |

mod capture;
mod config;
mod control;
mod exits;
mod forks;
mod signals;

use rocm_tracer::{embedded_roctx, nvtx};
use std::ffi::c_int;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use xprof_roctx_session::{SessionOptions, diagnostics};

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    // Where a ROCTX library will announce its first call, nothing is recorded before: a process that
    // makes none, which every program started by the captured one may be, stays as it is. Only
    // kernels cannot wait.
    if !config::waits_for_first_call() {
        arm();
    } else if config::is_wanted() {
        guarded("kernels are not captured", || {
            capture::prepare_for_gpus(&SessionOptions::from_env().tracer);
            Ok(())
        });
    }
}

/// Wraps the tables of a ROCTX library at its first call ([`embedded_roctx::AttachFn`]).
///
/// # Safety
/// The set is valid for the life of the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xprof_roctx_attach_v1(tables: *const embedded_roctx::TableSet) -> c_int {
    // SAFETY: the caller's contract.
    let attached = unsafe { rocm_tracer::intercept::attach(tables) };
    arm();
    if attached.is_ok() { 0 } else { -1 }
}

/// The dispatch tables of the ROCTX copy in this shared object ([`embedded_roctx::TablesFn`]).
///
/// A listener asks for them when it begins a session, and may do so before the program's first ROCTX
/// call; then no copy in the process announces that call to others any more.
#[unsafe(no_mangle)]
pub extern "C" fn xprof_roctx_tables_v1() -> *const embedded_roctx::TableSet {
    arm();
    embedded_roctx::table_set()
}

/// Listens to the NVTX client that calls it, at its first call; 1 if it does.
///
/// # Safety
/// As NVTX's client calls it.
#[allow(non_snake_case)] // NVIDIA's name
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(
    get_export_table: Option<nvtx::GetExportTable>,
) -> c_int {
    arm();
    // SAFETY: the caller's contract.
    unsafe { nvtx::initialize(get_export_table) }
}

/// Reads the environment and does what it says, once.
fn arm() {
    // Not a `Once`: beginning a capture asks this object for its tables, and so comes here again.
    static ARMED: AtomicBool = AtomicBool::new(false);
    if ARMED.swap(true, Ordering::AcqRel) {
        return;
    }
    guarded("ROCTX ranges are not captured", || {
        let Some(config) = config::Config::from_env()? else {
            return Ok(());
        };
        diagnostics::to_stderr();
        config.check()?;
        capture::arm(config)?;
        forks::watch();
        // SAFETY: the function is of this object, which nobody unloads: its wrappers stand in the
        // tables of a ROCTX library.
        let refused = unsafe { libc::atexit(at_exit) | at_quick_exit(at_exit) } != 0;
        if refused {
            return Err("atexit refused the function that writes the profile".to_owned());
        }
        Ok(())
    });
}

unsafe extern "C" {
    /// Of stdlib.h (C11); the `libc` crate does not have it.
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

extern "C" fn at_exit() {
    capture::finish();
}

/// Runs `body`; an error or a panic costs a line, which `consequence` begins.
fn guarded(consequence: &str, body: impl FnOnce() -> Result<(), String>) {
    let panicked = |_| Err("the capture tool failed unexpectedly".to_owned());
    if let Err(reason) = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(panicked) {
        say(&format!("{consequence}: {reason}"));
    }
}

/// Not eprintln!, which panics where stderr is closed; in one piece, since other processes write
/// there too.
fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("xprof-roctx: {line}\n").as_bytes());
}
