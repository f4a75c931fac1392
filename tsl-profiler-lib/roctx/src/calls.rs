//! Marks, names, pause and resume.

use std::ffi::c_void;
use tsl_profiler_lib::{Label, StreamHandle, nvtx_utils};

/// Marks an instant on the calling thread.
pub fn mark(label: impl Label) {
    if let Some(domain) = nvtx_utils::default_profiler_domain() {
        nvtx_utils::mark(domain, label.bytes());
    }
}

/// Names the calling thread's row.
pub fn name_current_thread(name: impl Label) {
    nvtx_utils::name_current_thread(name.bytes());
}

/// Names a HIP device by its ordinal.
pub fn name_device(device: i32, name: impl Label) {
    nvtx_utils::name_device(device, name.bytes());
}

/// Names a HIP stream. The `hipStream_t` is passed on and not dereferenced.
pub fn name_stream(stream: *const c_void, name: impl Label) {
    nvtx_utils::name_stream(StreamHandle::from_raw(stream), name.bytes());
}

/// Asks profilers to record nothing, in the whole process, until [`resume`]. What is annotated
/// meanwhile is counted as dropped.
pub fn pause() {
    nvtx_utils::profiler_pause();
}

/// Asks profilers to go on.
pub fn resume() {
    nvtx_utils::profiler_resume();
}
