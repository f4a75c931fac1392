//! A capture session: start, stop, post-process, write.
//!
//! In: ROCTX markers and host annotations of this process while a session is open. Out: one XSpace
//! that is finished for the viewers, and the files of it in TensorBoard's layout; or, where JAX runs
//! the session, the marker plane for its profiler to merge.
//!
//! | module | job |
//! |---|---|
//! | [`diagnostics`] | warnings on stderr |
//! | [`options`] | what a session keeps, from code or from the environment |
//! | [`session`] | one session at a time: [`CaptureSession`] to [`Capture`] |
//! | [`mod@write`] | files of a capture; what happens when they cannot be written |
//! | [`jax_profiler`] | the tracer as a profiler of stock JAX |
//! | [`jax_mode`] | whether it listens, or leaves that to JAX's ROCm plug-in |
//! | [`rocm_plugin`] | that plug-in, and whether it has a listener of its own |

pub mod diagnostics;
pub mod jax_mode;
pub mod jax_profiler;
pub mod options;
pub mod rocm_plugin;
pub mod session;
pub mod write;

pub use host_postprocess::export::tensorboard::{WrittenRun, check_log_dir};
pub use options::SessionOptions;
pub use session::{Capture, CaptureSession, SessionError};
pub use write::WriteError;
