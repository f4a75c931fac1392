//! `nvtx_utils` on NVIDIA's NVTX, for builds for CUDA.
//!
//! In: the calls of the interface, made by annotated programs; see [`nvtx_utils_interface`] for
//! what each promises.
//! Out: NVTX ranges, marks and names in the domain `TSL`, for a tool that listens to NVTX (Nsight,
//! CUPTI). The annotation stack is not fed: in XLA the CUPTI tracer does that from its NVTX
//! callback. Without a tool there is no domain, and `ScopedAnnotation` uses the annotation stack
//! alone.
//!
//! NVIDIA's crate binds NVTX's core, not its payload and memory extensions: a registered push gives
//! its title and no payload, and memory is not marked.
//!
//! | module | job |
//! |---|---|
//! | `domain` | the domain, created once |
//! | `event` | a title as NVTX's event attributes |
//! | `ranges` | push, pop, marks and start/stop ranges |
//! | `names` | names of threads, devices and streams; registered strings |
//!
//! All of it is behind the cargo feature `nvtx`.

#![cfg(feature = "nvtx")]

mod domain;
mod event;
mod names;
mod ranges;

pub use domain::{DOMAIN_NAME, default_profiler_domain};
pub use names::{name_current_thread, name_device, name_stream, register_string};
pub use ranges::{
    mark, range_depth, range_pop, range_push, range_push_annotated, range_push_cstr,
    range_push_ptr, range_push_registered, range_start, range_stop,
};

use nvtx_utils_interface::{ProfilerDomainHandle, StreamHandle};
use std::ffi::c_void;

nvtx_utils_interface::check_nvtx_utils!(crate);

/// Returns 0: payload layouts are not described.
///
/// # Safety
/// None to keep here; other implementations read the schema.
pub unsafe fn register_schema(_domain: ProfilerDomainHandle, _schema: *const c_void) -> u64 {
    0
}

/// Does nothing: NVIDIA's crate does not bind NVTX's memory extension.
pub fn mark_memory_initialized(_address: *const c_void, _size: usize, _stream: StreamHandle) {}
