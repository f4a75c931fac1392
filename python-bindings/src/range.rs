//! `Range`: what a wrapped annotation of JAX's holds beside its own host event.

use crate::annotation::add_metadata;
use crate::label::Label;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use tsl_profiler_lib::TraceMeWrapper;

/// A range that ends when it is stopped or collected; see `_native.pyi`.
#[pyclass(frozen, module = "xprof_roctx._native")]
pub(crate) struct Range {
    /// `None` in a copy, which has ended.
    wrapper: Option<TraceMeWrapper>,
}

#[pymethods]
impl Range {
    #[new]
    #[pyo3(signature = (label, metadata = None, /))]
    fn new(label: &Bound<'_, PyAny>, metadata: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let wrapper = TraceMeWrapper::new(Label::of(label)?.bytes());
        if let Some(metadata) = metadata {
            add_metadata(&wrapper, metadata)?;
        }
        Ok(Self {
            wrapper: Some(wrapper),
        })
    }

    /// A range that has ended.
    #[classmethod]
    fn ended(_class: &Bound<'_, PyType>) -> Self {
        Self { wrapper: None }
    }

    fn set_metadata(&self, metadata: &Bound<'_, PyDict>) -> PyResult<()> {
        match &self.wrapper {
            Some(wrapper) => add_metadata(wrapper, metadata),
            None => Ok(()),
        }
    }

    /// Ends the range; once it has ended, does nothing.
    fn stop(&self) {
        if let Some(wrapper) = &self.wrapper {
            wrapper.stop();
        }
    }

    /// It is an attribute of objects that a program may copy or pickle with their attributes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, ())> {
        Ok((py.get_type::<Self>().getattr("ended")?, ()))
    }
}
