//! The exceptions: `TraceError`, and `TraceWriteError` with what its handler needs.

use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::Path;

create_exception!(
    xprof_roctx,
    TraceError,
    PyRuntimeError,
    "A session could not be started or stopped."
);
create_exception!(
    xprof_roctx,
    TraceWriteError,
    TraceError,
    "A profile could not be written.\n\nlogdir: the log directory that was asked for.\nsaved_to: \
     the folder in which the capture was saved instead, or None."
);

/// A `TraceError` of this message.
pub(crate) fn trace_error(error: impl ToString) -> PyErr {
    TraceError::new_err(error.to_string())
}

/// A `TraceWriteError` with its attributes.
pub(crate) fn write_error(
    py: Python<'_>,
    error: impl ToString,
    logdir: &Path,
    saved_to: Option<&Path>,
) -> PyErr {
    let error = TraceWriteError::new_err(error.to_string());
    let value = error.value(py);
    let set = value
        .setattr("logdir", logdir.to_string_lossy())
        .and_then(|()| value.setattr("saved_to", saved_to.map(Path::to_string_lossy)));
    match set {
        Ok(()) => error,
        Err(other) => other,
    }
}
