//! JAX's side: the capsule that registers the profiler, and jaxlib's own TraceMe.

use pjrt_profiler::abi::PjrtApi;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use xprof_roctx_session::jax_mode;
use xprof_roctx_session::jax_profiler::RoctxProfiler;

/// The `PJRT_Api*` of the ROCTX profiler in a capsule, for
/// `jaxlib._profiler.register_plugin_profiler`. `None` but for the first call: jaxlib would run a
/// profiler that is registered twice twice.
#[pyfunction]
pub(crate) fn pjrt_profiler_capsule(py: Python<'_>) -> PyResult<Option<Bound<'_, PyCapsule>>> {
    static GIVEN: AtomicBool = AtomicBool::new(false);
    if GIVEN.swap(true, Ordering::Relaxed) {
        return Ok(None);
    }
    let api: NonNull<PjrtApi> = NonNull::from(pjrt_profiler::leak_api::<RoctxProfiler>());
    // SAFETY: the pointer is valid for good, and the name is a constant.
    let capsule = unsafe { PyCapsule::new_with_pointer(py, api.cast::<c_void>(), c"pjrt_c_api") };
    capsule.map(Some)
}

/// Sets what the profiler does in JAX's sessions; see `modes.py`.
#[pyfunction]
pub(crate) fn set_jax_mode(mode: &str) -> PyResult<()> {
    mode.parse()
        .map(jax_mode::set)
        .map_err(|()| PyValueError::new_err(format!("there is no mode {mode:?}")))
}

/// jaxlib's `TraceMe` class, if the program has imported jaxlib and a JAX session is recording.
/// JAX is never imported for it.
pub(crate) fn active_trace_me(py: Python<'_>) -> PyResult<Option<&Bound<'_, PyAny>>> {
    static TRACE_ME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let class = match TRACE_ME.get(py) {
        Some(class) => class,
        None => {
            let modules = MODULES.get_or_try_init(py, || -> PyResult<_> {
                Ok(py
                    .import(intern!(py, "sys"))?
                    .getattr(intern!(py, "modules"))?
                    .cast_into::<PyDict>()?
                    .unbind())
            })?;
            let module = modules.bind(py).get_item(intern!(py, "jaxlib._profiler"))?;
            // A module that is being imported has no such class yet.
            let class = match module.map(|module| module.getattr(intern!(py, "TraceMe"))) {
                Some(Ok(class)) => class,
                _ => return Ok(None),
            };
            TRACE_ME.get_or_init(py, || class.unbind())
        }
    }
    .bind(py);
    let enabled = class.call_method0(intern!(py, "is_enabled"))?.extract()?;
    Ok(if enabled { Some(class) } else { None })
}
