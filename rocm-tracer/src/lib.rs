//! The ROCTX listener, its tracer, and the collector that makes planes of what it heard.
//!
//! In: ROCTX calls, from whichever copy of the library they come, and, where there are AMD GPUs, HIP
//! calls and the work that they start. Out: an XSpace with the marker plane, the planes of devices and
//! HIP calls, and warnings, in which everything heard is an event or in a count with its reason.
//!
//! ```text
//! roctx* call ─► intercept (wrappers in the dispatch tables) ─► listener (per-thread logs)
//! rocprofiler-sdk ─► sdk ─► gpu (records; labels that stood at each launch) ────┐
//!             RocmTracer::enable / disable ─► TraceCapture ─► RocmTraceCollector ─► XPlane
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`intercept`] | wrappers in a ROCTX copy's tables; finding the copies in this process |
//! | [`sdk`] | the boundary to rocprofiler-sdk, for the calls that go to AMD's own library |
//! | `gpu` | HIP calls, kernels and copies: records, labels, planes |
//! | [`nvtx`] | NVTX calls, at the same listener |
//! | `listener` | what a call does while a session is active |
//! | [`tracer`] | sessions: one at a time, `enable` to `disable` |
//! | [`profiler`] | the tracer as XLA's sessions drive it: start, stop, collect |
//! | [`capture`] | what a session captured |
//! | [`collector`] | planes and lines of it |
//! | [`host_tracer`] | host events as lines, where no other profiler makes them |
//! | [`annotation_map`] | what stood on a thread when it called HIP |
//! | [`annotation`] | the grammar of names with metadata |
//! | [`clock`] | the marker clock and the wall clock |
//! | [`drops`] | what was not kept, by reason |

pub mod annotation;
pub mod annotation_map;
pub mod capture;
pub mod clock;
pub mod collector;
pub mod drops;
mod gpu;
pub mod host_tracer;
pub mod intercept;
mod listener;
pub mod nvtx;
pub mod profiler;
pub mod sdk;
pub mod tracer;

pub use annotation_map::AnnotationMap;
pub use capture::TraceCapture;
pub use collector::{CarrierPlane, CollectorOptions, RocmTraceCollector, RowStyle};
pub use embedded_roctx;
pub use tracer::{DisableError, EnableError, GpuTracing, RocmTracer, RocmTracerOptions};
