//! The Python extension module `xprof_roctx._native`.
//!
//! In: calls from Python. Out: the same calls of the crates below, with labels as bytes, errors as
//! exceptions, and the GIL released wherever a call may wait.
//!
//! | module | job |
//! |---|---|
//! | `label` | what Python may pass as a label, as bytes |
//! | `annotation` | `TraceAnnotation` |
//! | `range` | what a wrapped annotation of JAX's holds |
//! | `markers` | marks, ranges and names, one function a ROCTX call |
//! | `capture` | start and stop of a session |
//! | `errors` | the exceptions |
//! | `jax` | the capsule that JAX is given; its TraceMe |

mod annotation;
mod capture;
mod errors;
mod jax;
mod label;
mod markers;
mod range;

use pyo3::prelude::*;

rocm_tracer::export_meeting_symbols!();
rocm_tracer::export_nvtx_injection!();

#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use crate::annotation::TraceAnnotation;
    #[pymodule_export]
    use crate::capture::{is_tracing, start_trace, stop_trace};
    #[pymodule_export]
    use crate::errors::{TraceError, TraceWriteError};
    #[pymodule_export]
    use crate::jax::{pjrt_profiler_capsule, set_jax_mode};
    #[pymodule_export]
    use crate::markers::{
        mark, name_current_thread, range_pop, range_push, range_start, range_stop,
    };
    #[pymodule_export]
    use crate::range::Range;

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // the name that Python looks for
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init() {
        xprof_roctx_session::diagnostics::to_stderr();
    }

    /// Runs the `xprof-roctx` command; returns its exit code.
    #[pyfunction]
    fn command_line(
        py: Python<'_>,
        arguments: Vec<String>,
        library_dir: std::path::PathBuf,
    ) -> i32 {
        py.detach(|| xprof_roctx_cli::command_line(arguments, &library_dir))
    }
}
