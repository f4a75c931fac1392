//! Start and stop of a session, of which a process has one at a time.

use crate::errors::{trace_error, write_error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocm_tracer::RowStyle;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use xprof_roctx_session::{
    Capture, CaptureSession, SessionError, SessionOptions, WriteError, WrittenRun, check_log_dir,
};

/// Where a session's files go.
#[derive(Clone)]
struct Destination {
    logdir: PathBuf,
    run: Option<String>,
}

enum State {
    Idle,
    Running(CaptureSession, Destination),
    /// Stopped, but nowhere to be written: kept until it can be.
    Unwritten(Box<Capture>, Destination),
}

static STATE: Mutex<State> = Mutex::new(State::Idle);

/// Locks the state. Only ever called with the GIL released, so that a thread which holds this lock
/// never waits for one that holds the GIL.
fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Failure {
    Session(String),
    LogDir(String, PathBuf),
    Write(Box<WriteError>),
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Session(error.to_string())
    }
}

impl Failure {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Session(message) => trace_error(message),
            Self::LogDir(message, logdir) => write_error(py, message, &logdir, None),
            Self::Write(error) => write_error(py, &error, error.logdir(), error.saved_to()),
        }
    }
}

/// Starts a session; see `capture.py`.
#[pyfunction]
pub(crate) fn start_trace(
    py: Python<'_>,
    logdir: OsString,
    run: Option<String>,
    host: Option<String>,
    max_events: Option<u64>,
    row_style: &str,
) -> PyResult<()> {
    let mut options = SessionOptions::from_env();
    options.host = host;
    options.row_style = match row_style {
        "threads" => RowStyle::RoctxThreads,
        "beneath" => RowStyle::Beneath,
        other => {
            return Err(PyValueError::new_err(format!(
                "row_style is {other:?}; it must be \"threads\" or \"beneath\""
            )));
        }
    };
    if let Some(max_events) = max_events {
        options.tracer.max_callback_api_events = max_events;
    }
    py.detach(|| start(Path::new(&logdir), run, options))
        .map_err(|failure| failure.into_exception(py))
}

fn start(logdir: &Path, run: Option<String>, options: SessionOptions) -> Result<(), Failure> {
    let mut state = state();
    match &*state {
        State::Unwritten(_, destination) => {
            return Err(Failure::Session(format!(
                "the profile of the session before could not be written to {} and is still in \
                 memory; call stop_trace(logdir=...) with another directory first",
                destination.logdir.display()
            )));
        }
        State::Running(session, destination) if session.is_of_this_process() => {
            return Err(Failure::Session(format!(
                "a session is already running (it writes to {}): one at a time; call stop_trace() \
                 first",
                destination.logdir.display()
            )));
        }
        State::Running(..) | State::Idle => {}
    }
    let failed = |reason: String| Failure::LogDir(reason, logdir.to_owned());
    // Absolute now: the program may change its directory meanwhile.
    let absolute = std::path::absolute(logdir).map_err(|error| {
        failed(format!(
            "the log directory {logdir:?} cannot be used: {error}"
        ))
    })?;
    check_log_dir(&absolute).map_err(|error| failed(error.to_string()))?;
    let session = CaptureSession::start(options)?;
    let destination = Destination {
        logdir: absolute,
        run,
    };
    *state = State::Running(session, destination);
    Ok(())
}

/// Stops the session and writes its files; see `capture.py`. Returns the run's folder, the two
/// files and the warnings.
#[pyfunction]
pub(crate) fn stop_trace(
    py: Python<'_>,
    logdir: Option<OsString>,
) -> PyResult<(OsString, OsString, OsString, Vec<String>)> {
    let (written, warnings) = py
        .detach(|| stop(logdir.map(PathBuf::from)))
        .map_err(|failure| failure.into_exception(py))?;
    Ok((
        written.dir.into(),
        written.xplane.into(),
        written.trace_json.into(),
        warnings,
    ))
}

fn stop(logdir: Option<PathBuf>) -> Result<(WrittenRun, Vec<String>), Failure> {
    let mut state = state();
    let (capture, mut destination) = match std::mem::replace(&mut *state, State::Idle) {
        State::Idle => {
            return Err(Failure::Session(
                "no session is running; call start_trace(logdir) first".to_owned(),
            ));
        }
        State::Running(session, destination) => (Box::new(session.stop()?), destination),
        State::Unwritten(capture, destination) => (capture, destination),
    };
    if let Some(logdir) = logdir {
        destination.logdir = logdir;
    }
    match capture.write(&destination.logdir, destination.run.as_deref()) {
        Ok(written) => Ok((written, capture.space.warnings)),
        Err(error) => {
            if error.saved_to().is_none() {
                *state = State::Unwritten(capture, destination);
            }
            Err(Failure::Write(Box::new(error)))
        }
    }
}

/// Whether this process has a session that is not written yet.
#[pyfunction]
pub(crate) fn is_tracing(py: Python<'_>) -> bool {
    py.detach(|| match &*state() {
        State::Idle => false,
        State::Running(session, _) => session.is_of_this_process(),
        State::Unwritten(..) => true,
    })
}
