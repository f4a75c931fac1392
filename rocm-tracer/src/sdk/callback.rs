//! The SDK's marker callbacks: the fallback where tables are not to be had.

use super::abi::*;
use crate::listener;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Ranges that come by callbacks are told apart from those of the copies that are wrapped.
const COPY: usize = usize::MAX;

/// Creates a context with the marker services, not yet started. To be called from the tool's
/// initialization.
pub(super) fn configure(functions: &Functions, version: u32) -> Result<ContextId, String> {
    let context = super::gpu::create_context(functions)?;
    let service = |kind, callback| {
        // SAFETY: the context was just created; no operations named means all of the kind; the
        // callback's record has the layout of the version.
        unsafe {
            (functions.configure_callback_tracing_service)(
                context,
                kind,
                ptr::null(),
                0,
                callback,
                ptr::null_mut(),
            )
        }
    };
    let status = add_services(version, service);
    if status != ROCPROFILER_STATUS_SUCCESS {
        let call = "rocprofiler_configure_callback_tracing_service";
        return Err(super::failed(functions, call, status));
    }
    Ok(context)
}

/// Adds the marker services by `service`, which takes a kind and a callback of this version's
/// layout; the status of the one that must be there.
pub(super) fn add_services(
    version: u32,
    service: impl Fn(c_int, *const c_void) -> rocprofiler_status_t,
) -> rocprofiler_status_t {
    let callback = if version < FIRST_NEW_LAYOUT {
        on_record::<2> as CallbackFn<OldRecord> as *const c_void
    } else {
        on_record::<3> as CallbackFn<NewRecord> as *const c_void
    };
    let status = service(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, callback);
    if status == ROCPROFILER_STATUS_SUCCESS {
        // Pauses and names are worth having, not worth failing for.
        service(ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API, callback);
        service(ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API, callback);
    }
    status
}

/// A marker call, at one of its two phases.
unsafe extern "C" fn on_record<const CORRELATION: usize>(
    record: Record<CORRELATION>,
    _user_data: *mut c_void,
    _data: *mut c_void,
) {
    // SAFETY: null or the payload of a marker record, during the callback.
    let Some(payload) = (unsafe { record.payload.cast::<MarkerData>().as_ref() }) else {
        return;
    };
    let entered = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
    let left = record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
    match record.kind {
        // SAFETY: the record is of this kind and phase, in which AMD's library fills these fields.
        ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API => unsafe {
            core(record.operation, entered, left, payload);
        },
        ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API if entered => match record.operation {
            PROFILER_PAUSE => listener::pause(),
            PROFILER_RESUME => listener::resume(),
            _ => {}
        },
        // SAFETY: as above.
        ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API if entered => unsafe {
            let arguments = &payload.arguments;
            match record.operation {
                NAME_OS_THREAD => listener::name_thread(arguments.message),
                NAME_HIP_DEVICE => {
                    let NamedDevice { name, device } = arguments.named_device;
                    listener::name_device(name, device);
                }
                NAME_HIP_STREAM => {
                    let NamedHandle { name, handle } = arguments.named_handle;
                    listener::name_stream(name, handle);
                }
                _ => {}
            }
        },
        _ => {}
    }
}

/// Marks and ranges.
///
/// # Safety
/// The payload is that of a marker core record of this operation and phase.
unsafe fn core(operation: c_int, entered: bool, left: bool, payload: &MarkerData) {
    // SAFETY: this function's contract; messages are null or NUL-terminated.
    unsafe {
        match operation {
            MARK if entered => listener::mark(payload.arguments.message),
            RANGE_PUSH if entered => listener::push(payload.arguments.message),
            RANGE_POP if left => listener::pop(payload.result.level),
            RANGE_START if left => {
                listener::start(COPY, payload.result.id, payload.arguments.message);
            }
            RANGE_STOP if entered => listener::stop(COPY, payload.arguments.id),
            _ => {}
        }
    }
}
