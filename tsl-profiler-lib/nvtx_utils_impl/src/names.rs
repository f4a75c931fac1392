//! Names of threads, devices and streams, and registered strings.

use crate::domain::as_nvtx;
use crate::event::c_string;
use nvtx::sys::{self, ffi};
use nvtx_utils_interface::{ProfilerDomainHandle, StreamHandle, StringHandle};

/// Names the calling thread.
pub fn name_current_thread(name: &[u8]) {
    // SAFETY: it takes nothing and always succeeds.
    let thread = unsafe { libc::gettid() };
    sys::name_os_thread_ascii(thread.cast_unsigned(), &c_string(name));
}

/// Names a device by its ordinal.
pub fn name_device(device: i32, name: &[u8]) {
    sys::name_cudevice_ascii(device, &c_string(name));
}

/// Names a stream, which is a `CUstream`.
pub fn name_stream(stream: StreamHandle, name: &[u8]) {
    let name = c_string(name);
    // SAFETY: a NUL-terminated name; the stream is a key for the tool, which does not dereference
    // it.
    unsafe { ffi::nvtxNameCuStreamA(stream.as_raw().cast_mut().cast(), name.as_ptr()) };
}

/// Registers a title with the tool, which may return the same handle for equal ones.
pub fn register_string(domain: ProfilerDomainHandle, text: &[u8]) -> StringHandle {
    let text = c_string(text);
    // SAFETY: NVTX's own domain and a NUL-terminated text, which the tool copies.
    let handle = unsafe { ffi::nvtxDomainRegisterStringA(as_nvtx(domain), text.as_ptr()) };
    // SAFETY: it is the one that was registered.
    unsafe { StringHandle::from_raw(handle.cast_const().cast()) }
}
