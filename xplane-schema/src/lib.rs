//! The XSpace messages, plane names, builders and plane utilities: what is written.
//!
//! Producers (the tracer's collector, the host tracer) put lines and events in through
//! [`builder`]; post-processing finds, merges and sorts planes with [`utils`];
//! exporters and reports read them through [`visitor`]. The messages in [`proto`] are
//! wire-compatible with `tensorflow.profiler` of XProf and XLA, and a file that is read and
//! written back keeps the fields that this crate does not know. [`schema`] has the names that the
//! viewers look for and the ranges of line ids.
//!
//! Time is counted as in XProf: a line starts at `timestamp_ns` (nanoseconds), its events at
//! `offset_ps` after that and for `duration_ps` (picoseconds).

#![forbid(unsafe_code)]

pub mod builder;
mod merge;
pub mod proto;
pub mod schema;
mod text;
pub mod utils;
pub mod visitor;

/// Reading and writing of messages, re-exported so that users need no prost of their own.
pub use prost::{DecodeError, Message};
pub use text::lossy_utf8;
