//! Names of threads, devices and streams, for a viewer to show. They go to ROCTX whatever the
//! domain; with a library that has no call for them they do nothing.

use crate::provider::table;
use crate::text::with_c_str;
use nvtx_utils_interface::StreamHandle;

/// Names the calling thread.
pub fn name_current_thread(name: &[u8]) {
    if let Some(call) = table().name_os_thread {
        // SAFETY: a C string, which lives through the call.
        with_c_str(name, |name| unsafe { call(name.as_ptr()) });
    }
}

/// Names a HIP device by its ordinal.
pub fn name_device(device: i32, name: &[u8]) {
    if let Some(call) = table().name_hip_device {
        // SAFETY: as above.
        with_c_str(name, |name| unsafe { call(name.as_ptr(), device) });
    }
}

/// Names a HIP stream. The handle is passed on and not dereferenced.
pub fn name_stream(stream: StreamHandle, name: &[u8]) {
    if let Some(call) = table().name_hip_stream {
        // SAFETY: as above.
        with_c_str(name, |name| unsafe { call(name.as_ptr(), stream.as_raw()) });
    }
}
