//! What the viewer reads: plane merging, normalisation and the file formats.
//!
//! A finished session's XSpace comes in, with a plane for each source.
//! [`post_process_single_host_xspace`] makes of them what viewers expect: the host's planes merged
//! into `/host:CPU`, each row with an id of its own, times counted from the session's start,
//! events sorted. [`export`] writes the result where TensorBoard and XProf look for it, as
//! `<host>.xplane.pb` and `<host>.trace.json.gz`; [`report`] sums it up by label for a terminal.
//!
//! Nothing here touches a running session, and every step takes files of other producers as well.

#![forbid(unsafe_code)]

pub mod export;
mod line_ids;
mod post_process;
pub mod report;

pub use post_process::post_process_single_host_xspace;
