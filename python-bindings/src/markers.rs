//! Marks, ranges and names: one function a ROCTX call. With ROCTX switched off
//! (`XLA_ROCM_ENABLE_ROCTX=0`) names are kept, ranges only annotate, and the rest does nothing.

use crate::label::Label;
use pyo3::prelude::*;
use tsl_profiler_lib::nvtx_utils;
use tsl_profiler_lib::scoped_annotation::{pop_annotation, push_annotation};

/// Marks an instant on this thread's ROCTX row (`roctxMarkA`).
#[pyfunction]
#[pyo3(signature = (label, /))]
pub(crate) fn mark(label: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let label = Label::of_optional(label)?;
    if let Some(domain) = nvtx_utils::default_profiler_domain() {
        nvtx_utils::mark(domain, label.bytes());
    }
    Ok(())
}

/// Opens a range on this thread (`roctxRangePushA`); `range_pop` closes it.
#[pyfunction]
#[pyo3(signature = (label, /))]
pub(crate) fn range_push(label: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    push_annotation(Label::of_optional(label)?.bytes());
    Ok(())
}

/// Closes this thread's innermost range (`roctxRangePop`) of those that no `TraceAnnotation` has
/// opened.
#[pyfunction]
pub(crate) fn range_pop() {
    pop_annotation();
}

/// Opens a range that any thread may close, and returns its id (`roctxRangeStartA`).
#[pyfunction]
#[pyo3(signature = (label, /))]
pub(crate) fn range_start(label: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    let label = Label::of_optional(label)?;
    Ok(nvtx_utils::default_profiler_domain()
        .map_or(0, |domain| nvtx_utils::range_start(domain, label.bytes())))
}

/// Closes the range of this id, on any thread (`roctxRangeStop`).
#[pyfunction]
#[pyo3(signature = (range_id, /))]
pub(crate) fn range_stop(range_id: u64) {
    if let Some(domain) = nvtx_utils::default_profiler_domain() {
        nvtx_utils::range_stop(domain, range_id);
    }
}

/// Names this thread for the viewers (`roctxNameOsThread`).
#[pyfunction]
#[pyo3(signature = (name, /))]
pub(crate) fn name_current_thread(name: &Bound<'_, PyAny>) -> PyResult<()> {
    nvtx_utils::name_current_thread(Label::of(name)?.bytes());
    Ok(())
}
