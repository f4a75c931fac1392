//! The shared library that captures an unchanged program from start to exit.
//!
//! In: the environment of a program that calls ROCTX or NVTX. The ROCTX library of this project
//! loads this one at its first call (`XPROF_ROCTX_TOOL` names it), a client of NVTX at its first
//! (`NVTX_INJECTION64_PATH` does), or the loader does (`LD_PRELOAD`). Out: a profile when the program
//! exits, and one line on stderr that says where it is. Whatever fails here costs a line on stderr
//! and nothing else: the program was not written for this project.
//!
//! | variable | meaning |
//! |---|---|
//! | `XPROF_ROCTX_LOGDIR` | where to write; without it nothing is captured |
//! | `XPROF_ROCTX_RUN` | the run's name; the time by default |
//! | `XPROF_ROCTX_HOST` | this process's name in the run; `<machine>-<pid>` by default, so that the processes of a program that starts others do not overwrite each other |
//! | `XPROF_ROCTX_MAX_EVENTS` | events kept |
//!
//! Where ROCm is, the tool configures rocprofiler-sdk as it is loaded, so that the profile has kernels
//! and copies. Another profiler of the process that would do so itself then finds it taken.
//!
//! A child made by `fork` captures nothing unless it executes a program. A program that ends by a
//! signal or by `_exit` writes nothing.

use rocm_tracer::{GpuTracing, RocmTracer, RocmTracerOptions};
use std::env;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use xprof_roctx_session::options::host_name;
use xprof_roctx_session::{CaptureSession, SessionOptions, check_log_dir, diagnostics};

rocm_tracer::export_meeting_symbols!();
rocm_tracer::export_nvtx_injection!();

const LOGDIR_VARIABLE: &str = "XPROF_ROCTX_LOGDIR";
const RUN_VARIABLE: &str = "XPROF_ROCTX_RUN";
const HOST_VARIABLE: &str = "XPROF_ROCTX_HOST";

struct Open {
    session: CaptureSession,
    logdir: PathBuf,
    run: Option<String>,
}

static OPEN: Mutex<Option<Open>> = Mutex::new(None);

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    guarded("ROCTX ranges are not captured", || {
        let Some(logdir) = env::var_os(LOGDIR_VARIABLE).filter(|value| !value.is_empty()) else {
            return Ok(());
        };
        diagnostics::to_stderr();
        // Absolute now: the program may change its directory before it exits.
        let logdir = std::path::absolute(&logdir)
            .map_err(|error| format!("{LOGDIR_VARIABLE} is {logdir:?}: {error}"))?;
        check_log_dir(&logdir).map_err(|error| error.to_string())?;
        let mut options = SessionOptions::from_env();
        let host = env::var(HOST_VARIABLE).ok().filter(|host| !host.is_empty());
        let own = || format!("{}-{}", host_name(), std::process::id());
        options.host = Some(host.unwrap_or_else(own));
        prepare_for_gpus(&options.tracer);
        let session = CaptureSession::start(options).map_err(|error| error.to_string())?;
        *OPEN.lock().map_err(|error| error.to_string())? = Some(Open {
            session,
            logdir,
            run: env::var(RUN_VARIABLE).ok().filter(|run| !run.is_empty()),
        });
        // SAFETY: the function is of this object, which nobody unloads: its wrappers stand in the
        // tables of a ROCTX library.
        if unsafe { libc::atexit(at_exit) } != 0 {
            return Err("atexit refused the function that writes the profile".to_owned());
        }
        Ok(())
    });
}

/// Has rocprofiler-sdk configured where there is one, before the program loads HIP: only so does it
/// tell of kernels, with their names. Where there is none, the profile says so if HIP is loaded later.
fn prepare_for_gpus(options: &RocmTracerOptions) {
    if options.gpu == GpuTracing::Off {
        return;
    }
    let wanted = RocmTracerOptions {
        gpu: GpuTracing::On,
        ..options.clone()
    };
    if let Err(reason) = RocmTracer::singleton().prepare(&wanted) {
        tracing::debug!("kernels and copies will not be captured: {reason}");
    }
}

extern "C" fn at_exit() {
    guarded("the capture ended badly", || {
        let open = OPEN.lock().map_err(|error| error.to_string())?.take();
        let Some(Open {
            session,
            logdir,
            run,
        }) = open
        else {
            return Ok(());
        };
        if !session.is_of_this_process() {
            return Ok(());
        }
        let capture = session.stop().map_err(|error| error.to_string())?;
        let written = capture
            .write(&logdir, run.as_deref())
            .map_err(|error| error.to_string())?;
        say(&format!("profile written to {}", written.xplane.display()));
        for warning in &capture.space.warnings {
            say(warning);
        }
        Ok(())
    });
}

/// Runs `body`; an error or a panic costs a line, which `consequence` begins.
fn guarded(consequence: &str, body: impl FnOnce() -> Result<(), String>) {
    let panicked = |_| Err("the capture tool failed unexpectedly".to_owned());
    if let Err(reason) = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(panicked) {
        say(&format!("{consequence}: {reason}"));
    }
}

/// Not eprintln!, which panics where stderr is closed.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "xprof-roctx: {line}");
}
