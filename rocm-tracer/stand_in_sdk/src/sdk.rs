//! `librocprofiler-sdk.so`: configuration, intercept tables, contexts and callback services.

use crate::status::{
    CONTEXT_ID_NOT_ZERO, CONTEXT_NOT_STARTED, KIND_NOT_FOUND, SUCCESS, configuration_locked,
};
use crate::{failure, mute, version};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Mutex;

type Configure = unsafe extern "C" fn(u32, *const c_char, u32, *mut c_void) -> *mut Configured;
type Intercept = unsafe extern "C" fn(c_int, u64, u64, *mut *mut c_void, u64, *mut c_void);

/// `HIP_STREAM`, the callback kind that came with 1.0.
const FIRST_NEW_KIND: c_int = 20;

/// The result of a tool's configure function: 32 bytes.
#[repr(C)]
pub struct Configured {
    size: usize,
    initialize: Option<unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int>,
    finalize: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

/// Functions and data addresses are kept as numbers, which are Send.
struct State {
    configured: bool,
    locked: bool,
    contexts: u64,
    started: Vec<u64>,
    finalize: Option<(unsafe extern "C" fn(*mut c_void), usize)>,
    finalized: bool,
    intercepts: Vec<(Intercept, c_int, usize)>,
    services: Vec<Service>,
}

#[derive(Clone)]
struct Service {
    context: u64,
    kind: c_int,
    operations: Vec<c_int>,
    callback: usize,
    data: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    configured: false,
    locked: false,
    contexts: 0,
    started: Vec::new(),
    finalize: None,
    finalized: false,
    intercepts: Vec::new(),
    services: Vec::new(),
});

/// Whether a tool has configured the SDK, so that ROCTX is wrapped at its first call.
pub(crate) fn is_configured() -> bool {
    STATE.lock().unwrap().configured && !mute()
}

/// Whether the tool's initialization has ended, so that nothing can be configured any more.
pub(crate) fn is_locked() -> bool {
    STATE.lock().unwrap().locked
}

/// Whether the context runs.
pub(crate) fn is_started(context: u64) -> bool {
    STATE.lock().unwrap().started.contains(&context)
}

/// Ends the SDK, as an exit handler of AMD's does: delivers what waits, tells the tool, and does
/// not stand being called afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_finalize() {
    crate::gpu::stand_in_deliver();
    let finalize = {
        let mut state = STATE.lock().unwrap();
        state.started.clear();
        state.finalize.take()
    };
    if let Some((finalize, data)) = finalize {
        // SAFETY: the tool's function, with its data.
        unsafe { finalize(data as *mut c_void) };
    }
    STATE.lock().unwrap().finalized = true;
}

/// Of a call that a finalized SDK would hang in.
pub(crate) fn must_not_be_finalized() {
    assert!(!STATE.lock().unwrap().finalized, "called after the end");
}

/// Shows a table of this kind to those who asked for it.
pub(crate) fn show_table(kind: c_int, table: *mut c_void) {
    let intercepts: Vec<_> = STATE.lock().unwrap().intercepts.clone();
    for (callback, wanted, data) in intercepts {
        if wanted & kind != 0 {
            let mut tables = [table];
            // SAFETY: the tool's callback; one table of the kind it asked for.
            unsafe {
                callback(
                    kind,
                    version().into(),
                    0,
                    tables.as_mut_ptr(),
                    1,
                    data as *mut c_void,
                )
            };
        }
    }
}

/// Exported as `rocprofiler_force_configure`.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_force_configure(configure: Configure) -> c_int {
    if let Some(status) = failure("rocprofiler_force_configure") {
        return status;
    }
    if std::mem::replace(&mut STATE.lock().unwrap().configured, true) {
        return configuration_locked();
    }
    // Real client ids have 16 or 24 bytes; a tool that writes more than it may is found out.
    let mut client_id = [0u8; 24];
    // SAFETY: the tool's function, with arguments as AMD's library gives them.
    unsafe {
        let configured = configure(
            version(),
            c"stand-in".as_ptr(),
            0,
            client_id.as_mut_ptr().cast(),
        );
        if let Some(configured) = configured.as_ref() {
            assert_eq!(configured.size, size_of::<Configured>());
            if let Some(finalize) = configured.finalize {
                STATE.lock().unwrap().finalize = Some((finalize, configured.data.addr()));
            }
            if let Some(initialize) = configured.initialize {
                initialize(std::ptr::null(), configured.data);
            }
        }
    }
    STATE.lock().unwrap().locked = true;
    SUCCESS
}

/// Exported as `rocprofiler_at_intercept_table_registration`.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_at_intercept_table_registration(
    callback: Intercept,
    kinds: c_int,
    data: *mut c_void,
) -> c_int {
    if let Some(status) = failure("rocprofiler_at_intercept_table_registration") {
        return status;
    }
    let mut state = STATE.lock().unwrap();
    if state.locked {
        return configuration_locked();
    }
    state.intercepts.push((callback, kinds, data.addr()));
    SUCCESS
}

/// Exported as `rocprofiler_create_context`.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_create_context(context: *mut u64) -> c_int {
    if let Some(status) = failure("rocprofiler_create_context") {
        return status;
    }
    let mut state = STATE.lock().unwrap();
    state.contexts += 1;
    // SAFETY: the tool gives a place for a context id.
    unsafe {
        if *context != 0 {
            return CONTEXT_ID_NOT_ZERO;
        }
        context.write(state.contexts);
    }
    SUCCESS
}

/// Exported as `rocprofiler_configure_callback_tracing_service`.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_configure_callback_tracing_service(
    context: u64,
    kind: c_int,
    operations: *const c_int,
    count: usize,
    callback: *const c_void,
    data: *mut c_void,
) -> c_int {
    let of_kind = format!("rocprofiler_configure_callback_tracing_service:{kind}");
    if let Some(status) =
        failure("rocprofiler_configure_callback_tracing_service").or_else(|| failure(&of_kind))
    {
        return status;
    }
    if kind >= FIRST_NEW_KIND && version() < 10_000 {
        return KIND_NOT_FOUND;
    }
    let operations = if operations.is_null() {
        Vec::new()
    } else {
        // SAFETY: `count` operations are there.
        unsafe { std::slice::from_raw_parts(operations, count) }.to_vec()
    };
    let mut state = STATE.lock().unwrap();
    if state.locked {
        return configuration_locked();
    }
    state.services.push(Service {
        context,
        kind,
        operations,
        callback: callback.addr(),
        data: data.addr(),
    });
    SUCCESS
}

/// Exported as `rocprofiler_start_context`.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_start_context(context: u64) -> c_int {
    must_not_be_finalized();
    if let Some(status) = failure("rocprofiler_start_context") {
        return status;
    }
    STATE.lock().unwrap().started.push(context);
    SUCCESS
}

/// Exported as `rocprofiler_stop_context`.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_stop_context(context: u64) -> c_int {
    must_not_be_finalized();
    let mut state = STATE.lock().unwrap();
    if !state.started.contains(&context) {
        return CONTEXT_NOT_STARTED;
    }
    state.started.retain(|&id| id != context);
    failure("rocprofiler_stop_context").unwrap_or(SUCCESS)
}

/// A callback record with a correlation id of so many words, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record<const CORRELATION: usize> {
    context: u64,
    thread: u64,
    correlation: [u64; CORRELATION],
    kind: c_int,
    operation: c_int,
    phase: c_int,
    payload: *const c_void,
}

/// `rocprofiler_callback_tracing_marker_api_data_t`: 32 bytes.
#[repr(C)]
pub(crate) struct Payload {
    pub(crate) size: u64,
    pub(crate) arguments: [u64; 2],
    pub(crate) result: u64,
}

/// Calls back those who listen to this kind and operation.
pub(crate) fn call_back(
    kind: c_int,
    operation: c_int,
    phase: c_int,
    correlation: u64,
    payload: *const c_void,
) {
    let services: Vec<Service> = {
        let state = STATE.lock().unwrap();
        let wanted = |service: &&Service| {
            service.kind == kind
                && (service.operations.is_empty() || service.operations.contains(&operation))
                && state.started.contains(&service.context)
        };
        state.services.iter().filter(wanted).cloned().collect()
    };
    for service in services {
        let event = (kind, operation, phase, correlation, payload);
        if version() < 10_000 {
            send::<2>(&service, event);
        } else {
            send::<3>(&service, event);
        }
    }
}

fn send<const CORRELATION: usize>(
    service: &Service,
    (kind, operation, phase, correlation, payload): (c_int, c_int, c_int, u64, *const c_void),
) {
    type Callback<const C: usize> = unsafe extern "C" fn(Record<C>, *mut c_void, *mut c_void);
    // A tool that reads the wrong layout meets these instead of kind and operation.
    let mut words = [0xDEAD_BEEF_DEAD_BEEF; CORRELATION];
    words[0] = correlation;
    let record = Record {
        context: service.context,
        // SAFETY: takes nothing.
        thread: unsafe { libc::gettid() } as u64,
        correlation: words,
        kind,
        operation,
        phase,
        payload,
    };
    let mut user_data = 0u64;
    // SAFETY: the tool registered a callback for records of this version's layout.
    unsafe {
        let callback = std::mem::transmute::<usize, Callback<CORRELATION>>(service.callback);
        callback(
            record,
            (&raw mut user_data).cast(),
            service.data as *mut c_void,
        );
    }
}
