//! Status numbers, which differ between versions, and their names.

use crate::version;
use std::ffi::{c_char, c_int};
use std::ptr;

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const KIND_NOT_FOUND: c_int = 5;
pub(crate) const OPERATION_NOT_FOUND: c_int = 6;
pub(crate) const CONTEXT_NOT_STARTED: c_int = 11;
pub(crate) const CONTEXT_ID_NOT_ZERO: c_int = 13;
pub(crate) const INCOMPATIBLE_ABI: c_int = 18;

/// How far numbers lie behind those of 0.6 and later: one was added before these.
fn shift() -> c_int {
    c_int::from(version() < 600)
}

pub(crate) fn configuration_locked() -> c_int {
    16 - shift()
}

/// Exported as `rocprofiler_get_status_name`.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_get_status_name(status: c_int) -> *const c_char {
    match status + if status > 12 { shift() } else { 0 } {
        0 => c"ROCPROFILER_STATUS_SUCCESS".as_ptr(),
        1 => c"ROCPROFILER_STATUS_ERROR".as_ptr(),
        15 => c"ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED".as_ptr(),
        16 => c"ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED".as_ptr(),
        21 => c"ROCPROFILER_STATUS_ERROR_FINALIZED".as_ptr(),
        _ => ptr::null(),
    }
}
