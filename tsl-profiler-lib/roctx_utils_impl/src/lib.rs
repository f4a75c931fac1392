//! `nvtx_utils` on ROCTX.
//!
//! In: the calls of the interface, made by annotated programs; see [`nvtx_utils_interface`] for
//! what each promises.
//! Out: two things a push, always both and in this order: the [annotation
//! stack](annotation_stack::AnnotationStack), if a profiler has it enabled, and a ROCTX range in
//! the library that [`provider()`] found. Profilers listen on that library.
//!
//! On the push and pop path there is no lock, no system call, and no allocation but to grow a
//! thread's own buffers.
//!
//! | module | job |
//! |---|---|
//! | `control` | pause and resume |
//! | `domain` | whether ranges are on: `XLA_ROCM_ENABLE_ROCTX`, read once |
//! | `ranges` | push, pop, marks and start/stop ranges |
//! | `names` | names of threads, devices and streams |
//! | [`payload`] | what a registered push carries beside its title, for a listener to read |
//! | `registered` | registered strings: a bounded pool that nothing leaves |
//! | `text` | bytes to C strings |
//! | [`provider`](mod@provider) | which ROCTX library answers the calls |

mod control;
mod domain;
mod names;
pub mod payload;
pub mod provider;
mod ranges;
mod registered;
mod text;

pub use control::{profiler_pause, profiler_resume};
pub use domain::{DOMAIN_VARIABLE, default_profiler_domain};
pub use names::{name_current_thread, name_device, name_stream};
pub use provider::{provider, rejected};
pub use ranges::{
    mark, range_depth, range_pop, range_push, range_push_annotated, range_push_cstr,
    range_push_ptr, range_push_registered, range_start, range_stop,
};
pub use registered::{MAX_POOL_BYTES, MAX_STRING_BYTES, register_string, registered_bytes};

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

/// Does nothing: ROCTX has no call for it.
pub fn mark_memory_initialized(_address: *const c_void, _size: usize, _stream: StreamHandle) {}
