//! The part of rocprofiler-sdk's C ABI that listening to markers needs.
//!
//! Names and numbers are those of AMD's `rocprofiler-sdk` headers, sizes and offsets those observed
//! in the libraries of versions 0.6.0 and 1.0.0. Two layouts are in use; which one a library speaks
//! follows from the version that it passes to the configure function.

#![allow(non_camel_case_types)]

use super::gpu_abi::GpuFunctions;
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

pub(super) type rocprofiler_status_t = c_int;
pub(super) const ROCPROFILER_STATUS_SUCCESS: rocprofiler_status_t = 0;
// The numbers of errors differ between versions (that of a locked configuration was 15 in 0.5 and is
// 16 in 1.0); their names do not.
pub(super) const CONFIGURATION_LOCKED: &str = "ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED";
pub(super) const FINALIZED: &str = "ROCPROFILER_STATUS_ERROR_FINALIZED";

// rocprofiler_intercept_table_t
pub(super) const ROCPROFILER_MARKER_CORE_TABLE: c_int = 1 << 3;
pub(super) const ROCPROFILER_MARKER_CONTROL_TABLE: c_int = 1 << 4;
pub(super) const ROCPROFILER_MARKER_NAME_TABLE: c_int = 1 << 5;

// rocprofiler_callback_tracing_kind_t
pub(super) const ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API: c_int = 7;
pub(super) const ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API: c_int = 8;
pub(super) const ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API: c_int = 9;

// rocprofiler_callback_phase_t
pub(super) const ROCPROFILER_CALLBACK_PHASE_ENTER: c_int = 1;
pub(super) const ROCPROFILER_CALLBACK_PHASE_EXIT: c_int = 2;

// rocprofiler_marker_core_api_id_t
pub(super) const MARK: c_int = 0;
pub(super) const RANGE_PUSH: c_int = 1;
pub(super) const RANGE_POP: c_int = 2;
pub(super) const RANGE_START: c_int = 3;
pub(super) const RANGE_STOP: c_int = 4;

// rocprofiler_marker_control_api_id_t
pub(super) const PROFILER_PAUSE: c_int = 0;
pub(super) const PROFILER_RESUME: c_int = 1;

// rocprofiler_marker_name_api_id_t
pub(super) const NAME_OS_THREAD: c_int = 0;
pub(super) const NAME_HIP_DEVICE: c_int = 2;
pub(super) const NAME_HIP_STREAM: c_int = 3;

/// The first version with the newer layout, as `major * 10000 + minor * 100 + patch`. The layout
/// changed in the course of 0.7, which was not released with it.
pub(super) const FIRST_NEW_LAYOUT: u32 = 10_000;

/// `rocprofiler_tool_configure_result_t`
#[repr(C)]
pub(super) struct ConfigureResult {
    pub(super) size: usize,
    pub(super) initialize: Option<unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int>,
    pub(super) finalize: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) tool_data: *mut c_void,
}
const _: () = assert!(size_of::<ConfigureResult>() == 32);

/// `rocprofiler_configure_func_t`. The client id's layout differs between versions; it is not used.
pub(super) type ConfigureFn =
    unsafe extern "C" fn(u32, *const c_char, u32, *mut c_void) -> *mut ConfigureResult;

/// `rocprofiler_intercept_library_cb_t`
pub(super) type InterceptFn =
    unsafe extern "C" fn(c_int, u64, u64, *mut *mut c_void, u64, *mut c_void);

/// `rocprofiler_context_id_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ContextId {
    pub(super) handle: u64,
}

/// `rocprofiler_callback_tracing_record_t` with a correlation id of so many bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Record<const CORRELATION: usize> {
    context: ContextId,
    thread: u64,
    /// The internal id is the first, in every version.
    pub(super) correlation: [u64; CORRELATION],
    pub(super) kind: c_int,
    pub(super) operation: c_int,
    pub(super) phase: c_int,
    pub(super) payload: *const c_void,
}

/// The record of versions up to 0.6: internal and external correlation id.
pub(super) type OldRecord = Record<2>;
const _: () = assert!(
    size_of::<OldRecord>() == 56
        && offset_of!(OldRecord, kind) == 32
        && offset_of!(OldRecord, operation) == 36
        && offset_of!(OldRecord, phase) == 40
        && offset_of!(OldRecord, payload) == 48
);

/// The record of versions from 1.0: with the ancestor's correlation id, too.
pub(super) type NewRecord = Record<3>;
const _: () = assert!(
    size_of::<NewRecord>() == 64
        && offset_of!(NewRecord, kind) == 40
        && offset_of!(NewRecord, operation) == 44
        && offset_of!(NewRecord, phase) == 48
        && offset_of!(NewRecord, payload) == 56
);

/// `rocprofiler_callback_tracing_cb_t` for a layout.
pub(super) type CallbackFn<R> = unsafe extern "C" fn(R, *mut c_void, *mut c_void);

/// `rocprofiler_callback_tracing_marker_api_data_t`
#[repr(C)]
pub(super) struct MarkerData {
    size: u64,
    pub(super) arguments: Arguments,
    pub(super) result: ReturnValue,
}
const _: () = assert!(
    size_of::<MarkerData>() == 32
        && offset_of!(MarkerData, arguments) == 8
        && offset_of!(MarkerData, result) == 24
);

/// `rocprofiler_marker_api_args_t`: at most two arguments, in order.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union Arguments {
    pub(super) message: *const c_char,
    pub(super) id: u64,
    pub(super) named_device: NamedDevice,
    pub(super) named_handle: NamedHandle,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NamedDevice {
    pub(super) name: *const c_char,
    pub(super) device: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NamedHandle {
    pub(super) name: *const c_char,
    pub(super) handle: *const c_void,
}

/// `rocprofiler_marker_api_retval_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union ReturnValue {
    pub(super) level: c_int,
    pub(super) id: u64,
}

/// What is called in `librocprofiler-sdk.so`.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) force_configure: unsafe extern "C" fn(ConfigureFn) -> rocprofiler_status_t,
    /// Missing in versions before 0.5.
    pub(super) at_intercept_table_registration:
        Option<unsafe extern "C" fn(InterceptFn, c_int, *mut c_void) -> rocprofiler_status_t>,
    pub(super) create_context: unsafe extern "C" fn(*mut ContextId) -> rocprofiler_status_t,
    /// The callback's type depends on the version, so it is passed by address.
    pub(super) configure_callback_tracing_service: unsafe extern "C" fn(
        ContextId,
        c_int,
        *const c_int,
        usize,
        *const c_void,
        *mut c_void,
    )
        -> rocprofiler_status_t,
    pub(super) start_context: unsafe extern "C" fn(ContextId) -> rocprofiler_status_t,
    pub(super) stop_context: unsafe extern "C" fn(ContextId) -> rocprofiler_status_t,
    pub(super) get_status_name: Option<unsafe extern "C" fn(rocprofiler_status_t) -> *const c_char>,
    pub(super) get_status_string:
        Option<unsafe extern "C" fn(rocprofiler_status_t) -> *const c_char>,
    /// `None` if a function is missing.
    pub(super) gpu: Option<GpuFunctions>,
}
