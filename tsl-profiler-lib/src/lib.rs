//! What an annotated program calls.
//!
//! In: labels, from [`ScopedAnnotation`]s in Rust, from [`TraceMeWrapper`]s that hold a Python or
//! C++ object's annotation, and from [`TraceMe`]s around host work.
//! Out: the annotation stack and a range in the profiler's library, both through [`nvtx_utils`],
//! which is the implementation that this build chose; and, while a session records, host events
//! that [`TraceMeRecorder::stop`] hands over.
//!
//! While nobody profiles, an annotation costs a few loads, a TraceMe one.
//!
//! | module | job |
//! |---|---|
//! | [`label`] | what can be a label |
//! | [`scoped_annotation`] | annotations that end with a scope |
//! | [`ranges`] | ranges for callers in other languages |
//! | [`traceme`] | the recorder of host events |
//! | [`traceme_wrapper`] | annotations that an object owns and any thread may end |
//! | [`owned_range`] | why such an object never ends another one's range |
//!
//! The implementation is chosen by cargo feature: `roctx` (the default), `nvtx` or `stub`; with
//! several, the first of these.

pub mod label;
pub mod owned_range;
pub mod ranges;
pub mod scoped_annotation;
pub mod traceme;
pub mod traceme_wrapper;

pub use annotation_stack::AnnotationStack;
pub use label::{Label, RegisteredTitle, Title};
pub use nvtx_utils_interface::{ProfilerDomainHandle, RangeTitle, StreamHandle, StringHandle};
pub use owned_range::OwnedRange;
pub use scoped_annotation::ScopedAnnotation;
pub use traceme::{TraceMe, TraceMeRecorder};
pub use traceme_wrapper::TraceMeWrapper;

#[cfg(feature = "roctx")]
pub use roctx_utils_impl as nvtx_utils;

#[cfg(all(feature = "nvtx", not(feature = "roctx")))]
pub use nvtx_utils_impl as nvtx_utils;

#[cfg(all(feature = "stub", not(any(feature = "roctx", feature = "nvtx"))))]
pub use nvtx_utils_stub_impl as nvtx_utils;

#[cfg(not(any(feature = "roctx", feature = "nvtx", feature = "stub")))]
compile_error!("choose an nvtx_utils implementation: enable the feature `roctx`, `nvtx` or `stub`");
