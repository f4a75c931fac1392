//! ROCTX for Rust programs: ranges, marks and names, and a layer that makes them of `tracing`'s
//! spans and events.
//!
//! In: the calls of a program that annotates itself. Out: calls of the ROCTX library that
//! [`provider()`] names: AMD's where ROCm is installed, else the embedded one, which costs a few
//! nanoseconds while nobody listens. Whoever listens to ROCTX shows them: `xprof-roctx run`, a
//! session in this process, `rocprofv3 --marker-trace`.
//!
//! ```
//! roctx::name_current_thread("loader");
//! let _step = roctx::LocalRange::new("step"); // to the end of the scope
//! let transfer = roctx::Range::new("transfer");
//! std::thread::spawn(move || drop(transfer)); // any thread may end it
//! roctx::mark("checkpoint");
//! ```
//!
//! | module | job |
//! |---|---|
//! | `range` | ranges that any thread may end |
//! | `calls` | marks, names, pause and resume |
//! | `layer` | `tracing` spans and events as ranges and marks (feature `tracing`, on by default) |
//! | `fields` | their fields as metadata in labels |
//!
//! Labels are bytes of any kind ([`Label`]). Metadata is part of a label, `name#key=value#`, and
//! [`encode()`] makes such labels; viewers show it as the event's stats.
//!
//! The environment variable `XLA_ROCM_ENABLE_ROCTX=0` switches ranges off, as it does in XLA.

mod calls;
#[cfg(feature = "tracing")]
mod fields;
#[cfg(feature = "tracing")]
mod layer;
mod range;

pub use calls::{mark, name_current_thread, name_device, name_stream, pause, resume};
#[cfg(feature = "tracing")]
pub use layer::{ASYNC_FIELD, RoctxLayer, layer};
pub use range::Range;
pub use tsl_profiler_lib::nvtx_utils::provider;
pub use tsl_profiler_lib::traceme::encode;
pub use tsl_profiler_lib::{Label, ScopedAnnotation as LocalRange};
