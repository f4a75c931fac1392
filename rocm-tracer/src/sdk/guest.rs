//! Where another tool of this process configures the SDK (XLA's ROCm tracer does, and a process can
//! have one): hearing AMD's ROCTX by what that tool passes on.
//!
//! The tool calls [`ask_for_tables`] within its `rocprofiler_configure`, and, for an SDK without
//! intercept tables, [`configure_marker_service`] within its initialization, with a context that it
//! starts and stops itself. From then on sessions do nothing of their own about the SDK.

use super::abi::*;
use super::{Listening, STATE, VERSION, callback, status_text};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;

/// `rocprofiler_at_intercept_table_registration`
pub type AtInterceptTableRegistration = unsafe extern "C" fn(
    unsafe extern "C" fn(c_int, u64, u64, *mut *mut c_void, u64, *mut c_void),
    c_int,
    *mut c_void,
) -> c_int;

/// `rocprofiler_configure_callback_tracing_service`
pub type ConfigureCallbackTracingService =
    unsafe extern "C" fn(u64, c_int, *const c_int, usize, *const c_void, *mut c_void) -> c_int;

/// `rocprofiler_get_status_string`
pub type GetStatusString = unsafe extern "C" fn(c_int) -> *const c_char;

/// Asks the SDK of this version (`major * 10000 + minor * 100 + patch`) to be shown ROCTX's tables;
/// `false` if it does not show them.
///
/// # Safety
/// The function is the SDK's, and this is called within the tool's `rocprofiler_configure`.
pub unsafe fn ask_for_tables(version: u32, ask: AtInterceptTableRegistration) -> bool {
    VERSION.store(version, Ordering::Relaxed);
    let mut state = STATE.lock();
    state.guest = true;
    state.listening = super::ask_for_tables(ask);
    state.listening.is_some()
}

/// Adds the marker services to the tool's context, unless tables are shown. Callbacks come while the
/// context runs.
///
/// # Errors
/// Why the ranges that go to AMD's ROCTX will not be heard.
///
/// # Safety
/// The functions are those of the SDK of this version, the context is valid, and this is called
/// within the tool's initialization.
pub unsafe fn configure_marker_service(
    version: u32,
    context: u64,
    configure: ConfigureCallbackTracingService,
    get_status_string: Option<GetStatusString>,
) -> Result<(), String> {
    VERSION.store(version, Ordering::Relaxed);
    let mut state = STATE.lock();
    state.guest = true;
    if state.listening.is_some() {
        return Ok(());
    }
    let service = |kind, callback| {
        // SAFETY: this function's contract; no operations named means all of the kind; the
        // callback's record has the layout of the version.
        unsafe {
            configure(
                context,
                kind,
                std::ptr::null(),
                0,
                callback,
                std::ptr::null_mut(),
            )
        }
    };
    let status = callback::add_services(version, service);
    if status == ROCPROFILER_STATUS_SUCCESS {
        state.listening = Some(Listening::CallbackService);
        return Ok(());
    }
    let text = status_text(get_status_string, status).unwrap_or_default();
    let problem = format!(
        "rocprofiler_configure_callback_tracing_service for markers returned {status} ({text}): \
         ROCTX ranges that go to AMD's library will not be in traces"
    );
    state.no_markers = Some(problem.clone());
    Err(problem)
}
