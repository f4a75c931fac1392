//! The Python extension module

use pyo3::prelude::*;

#[pymodule]
mod _native {}
