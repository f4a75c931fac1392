//! The one capture of this process: begin, finish.

use crate::config::{Config, now_ns};
use crate::{control, guarded, say, signals};
use parking_lot::Mutex;
use rocm_tracer::{GpuTracing, RocmTracer, RocmTracerOptions};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use xprof_roctx_session::{CaptureSession, SessionOptions};

/// What is to be captured, or is being captured.
enum State {
    /// Nothing is to be captured, or all is done.
    Idle,
    /// The time to capture has not come.
    Waiting(Config),
    Running(Config, CaptureSession),
}

static STATE: Mutex<State> = Mutex::new(State::Idle);

/// How far the capture is, for those who cannot take a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Stage {
    /// There is nothing to be lost.
    Nothing,
    /// Markers are recorded.
    Running,
    /// The threads' markers are being taken in.
    Stopping,
    /// The profile is being written.
    Writing,
}

static STAGE: AtomicU32 = AtomicU32::new(Stage::Nothing as u32);

/// How far the capture is. May be called in a signal handler.
pub(crate) fn stage() -> Stage {
    match STAGE.load(Ordering::Acquire) {
        stage if stage == Stage::Running as u32 => Stage::Running,
        stage if stage == Stage::Stopping as u32 => Stage::Stopping,
        stage if stage == Stage::Writing as u32 => Stage::Writing,
        _ => Stage::Nothing,
    }
}

fn set_stage(stage: Stage) {
    STAGE.store(stage as u32, Ordering::Release);
}

/// Begins the capture if its time has come, and starts the thread that sees to the rest.
pub(crate) fn arm(config: Config) -> Result<(), String> {
    if config.is_over(now_ns()) {
        return Ok(());
    }
    *STATE.lock() = State::Waiting(config);
    begin_if_due(GpuTracing::default())?;
    control::start()
}

/// When the control thread is to look again, in ns of `CLOCK_BOOTTIME`: `Ok(None)` if there is no
/// such time, an error if there is nothing left to do.
pub(crate) fn next_deadline() -> Result<Option<u64>, ()> {
    match &*STATE.lock() {
        State::Idle => Err(()),
        State::Waiting(config) => Ok(config.start_ns),
        State::Running(config, _) => Ok(config.stop_ns),
    }
}

/// Does what the time says.
pub(crate) fn on_time() {
    guarded("ROCTX ranges are not captured", || {
        begin_if_due(GpuTracing::default())
    });
    let over = matches!(&*STATE.lock(), State::Running(config, _) if config.is_over(now_ns()));
    if over {
        finish();
    }
}

/// Has rocprofiler-sdk configured where there is one, before the program loads HIP: only so does it
/// tell of kernels, with their names. Where there is none, the profile says so if HIP is loaded later.
pub(crate) fn prepare_for_gpus(options: &RocmTracerOptions) {
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

fn begin_if_due(gpu: GpuTracing) -> Result<(), String> {
    let mut state = STATE.lock();
    let due = matches!(&*state, State::Waiting(config) if config.has_begun(now_ns()));
    if !due {
        return Ok(());
    }
    let State::Waiting(config) = std::mem::replace(&mut *state, State::Idle) else {
        return Ok(());
    };
    let mut options = SessionOptions::from_env();
    options.host = Some(config.host.clone());
    options.tracer.gpu = gpu;
    prepare_for_gpus(&options.tracer);
    let session = CaptureSession::start(options).map_err(|error| error.to_string())?;
    // The book is for messages only: without it there is one message less.
    if let Some(entry) = config.book_entry() {
        let _ = fs::write(entry, "");
    }
    *state = State::Running(config, session);
    set_stage(Stage::Running);
    signals::watch();
    Ok(())
}

/// Stops the capture and writes it, on the calling thread. If another thread does so already, waits
/// for it. Does nothing if there is none, or if it is the parent's.
pub(crate) fn finish() {
    let mut state = STATE.lock();
    let State::Running(config, session) = std::mem::replace(&mut *state, State::Idle) else {
        return;
    };
    if !session.is_of_this_process() {
        return;
    }
    set_stage(Stage::Stopping);
    guarded("the capture ended badly", || {
        let capture = session.stop().map_err(|error| error.to_string())?;
        set_stage(Stage::Writing);
        write(&config, &capture)
    });
    if let Some(entry) = config.book_entry() {
        let _ = fs::remove_file(entry);
    }
    // All is said and done: a thread that waits for this ends the process.
    set_stage(Stage::Nothing);
    signals::leave();
    control::wake();
}

fn write(config: &Config, capture: &xprof_roctx_session::Capture) -> Result<(), String> {
    let has_events = |plane: &xplane_schema::proto::XPlane| {
        plane.lines.iter().any(|line| !line.events.is_empty())
    };
    let space = &capture.space;
    if !space.planes.iter().any(has_events) && space.warnings.is_empty() {
        return Ok(());
    }
    let written = capture
        .write(&config.logdir, config.run.as_deref())
        .map_err(|error| error.to_string())?;
    say(&format!("profile written to {}", written.xplane.display()));
    for warning in &space.warnings {
        say(warning);
    }
    Ok(())
}

/// Holds the capture while the process forks, so that the child finds it whole.
pub(crate) fn lock_for_fork() {
    std::mem::forget(STATE.lock());
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(crate) unsafe fn unlock_after_fork() {
    // SAFETY: this function's contract.
    unsafe { STATE.force_unlock() };
}

/// Lets a child made by `fork` leave its parent's capture and begin one of its own.
pub(crate) fn begin_in_child() {
    let config = match std::mem::replace(&mut *STATE.lock(), State::Idle) {
        State::Idle => return,
        State::Waiting(config) | State::Running(config, _) => config,
    };
    set_stage(Stage::Nothing);
    guarded("ROCTX ranges of a forked child are not captured", || {
        let config = config.of_child();
        if config.is_over(now_ns()) {
            return Ok(());
        }
        *STATE.lock() = State::Waiting(config);
        // A HIP runtime does not survive a fork.
        begin_if_due(GpuTracing::Off)?;
        control::start()
    });
}
