//! `TraceAnnotation`: one object, up to three records of the same work. The ROCTX range and the
//! annotation stack's label always; a host event while a session of ours records; jaxlib's own
//! TraceMe while a session of JAX's does, so that its host rows look as with JAX's own class.

use crate::jax;
use crate::label::Label;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tsl_profiler_lib::TraceMeWrapper;
use tsl_profiler_lib::traceme::{Level, TraceMe};

/// A range around the code inside `with`; see `_native.pyi`.
#[pyclass(subclass, frozen, module = "xprof_roctx")]
pub(crate) struct TraceAnnotation {
    /// Empty before `__init__`, and once it has ended. The lock is never held while Python runs.
    open: Mutex<Option<Open>>,
}

struct Open {
    wrapper: Arc<TraceMeWrapper>,
    jax: Option<Py<PyAny>>,
}

#[pymethods]
impl TraceAnnotation {
    /// Takes any arguments: subclasses give their own to `__init__`.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            open: Mutex::new(None),
        }
    }

    #[pyo3(signature = (name, /, **metadata))]
    fn __init__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let label = Label::of(name)?;
        slf.get().end(py)?;
        let wrapper = Arc::new(TraceMeWrapper::new(label.bytes()));
        if let Some(metadata) = metadata {
            add_metadata(&wrapper, metadata)?;
        }
        let jax = match jax::active_trace_me(py)? {
            Some(class) => Some(class.call((label.text(py),), metadata)?.unbind()),
            None => None,
        };
        *slf.get().lock() = Some(Open { wrapper, jax });
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.end(py)
    }

    /// Adds metadata to the host event.
    #[pyo3(signature = (**metadata))]
    fn set_metadata(&self, py: Python<'_>, metadata: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let Some(metadata) = metadata else {
            return Ok(());
        };
        let (wrapper, jax) = match &*self.lock() {
            Some(open) => (
                Arc::clone(&open.wrapper),
                open.jax.as_ref().map(|jax| jax.clone_ref(py)),
            ),
            None => return Ok(()),
        };
        add_metadata(&wrapper, metadata)?;
        if let Some(jax) = jax {
            jax.call_method(py, "set_metadata", (), Some(metadata))?;
        }
        Ok(())
    }

    /// Ends the range; once it has ended, does nothing.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py)
    }

    /// Whether a session is recording, of this package or of JAX.
    #[staticmethod]
    fn is_enabled(py: Python<'_>) -> PyResult<bool> {
        Ok(TraceMe::is_active(Level::CRITICAL) || jax::active_trace_me(py)?.is_some())
    }
}

impl TraceAnnotation {
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let Some(Open { wrapper, jax }) = self.lock().take() else {
            return Ok(());
        };
        // JAX's host event lies inside the range, so it ends first.
        let result = match jax {
            Some(jax) => jax
                .call_method1(py, "__exit__", (py.None(), py.None(), py.None()))
                .map(drop),
            None => Ok(()),
        };
        wrapper.stop();
        result
    }
}

/// Adds `#key=value,…#` to the host event, if it is recorded: values are not asked for their text
/// otherwise. They are written as jaxlib's TraceMe writes them.
pub(crate) fn add_metadata(wrapper: &TraceMeWrapper, metadata: &Bound<'_, PyDict>) -> PyResult<()> {
    let mut result = Ok(());
    wrapper.set_metadata(|| {
        encode(metadata).unwrap_or_else(|error| {
            result = Err(error);
            Vec::new()
        })
    });
    result
}

fn encode(metadata: &Bound<'_, PyDict>) -> PyResult<Vec<u8>> {
    let mut encoded = Vec::new();
    for (key, value) in metadata.iter() {
        encoded.push(if encoded.is_empty() { b'#' } else { b',' });
        encoded.extend_from_slice(Label::of(&key)?.bytes());
        encoded.push(b'=');
        if let Ok(flag) = value.cast::<PyBool>() {
            encoded.push(if flag.is_true() { b'1' } else { b'0' });
        } else {
            encoded.extend_from_slice(Label::of(value.str()?.as_any())?.bytes());
        }
    }
    if !encoded.is_empty() {
        encoded.push(b'#');
    }
    Ok(encoded)
}
