//! `librocprofiler-sdk.so`: configuration, intercept tables, contexts and marker callbacks.

use crate::{failure, mute, version};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const SUCCESS: c_int = 0;
const CONFIGURATION_LOCKED: c_int = 16;

type Configure = unsafe extern "C" fn(u32, *const c_char, u32, *mut c_void) -> *mut Configured;
type Intercept = unsafe extern "C" fn(c_int, u64, u64, *mut *mut c_void, u64, *mut c_void);

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
    intercepts: Vec<(Intercept, c_int, usize)>,
    services: Vec<(c_int, usize, usize)>,
}

static STATE: Mutex<State> = Mutex::new(State {
    configured: false,
    locked: false,
    intercepts: Vec::new(),
    services: Vec::new(),
});
static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether a tool has configured the SDK, so that ROCTX is wrapped at its first call.
pub(crate) fn is_configured() -> bool {
    STATE.lock().unwrap().configured && !mute()
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
        return CONFIGURATION_LOCKED;
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
        return CONFIGURATION_LOCKED;
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
    // SAFETY: the tool gives a place for a context id.
    unsafe { context.write(7) };
    SUCCESS
}

/// Exported as `rocprofiler_configure_callback_tracing_service`.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_configure_callback_tracing_service(
    _context: u64,
    kind: c_int,
    _operations: *const c_int,
    _count: usize,
    callback: *const c_void,
    data: *mut c_void,
) -> c_int {
    if let Some(status) = failure("rocprofiler_configure_callback_tracing_service") {
        return status;
    }
    let mut state = STATE.lock().unwrap();
    state.services.push((kind, callback.addr(), data.addr()));
    SUCCESS
}

/// Exported as `rocprofiler_start_context`.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_start_context(_context: u64) -> c_int {
    if let Some(status) = failure("rocprofiler_start_context") {
        return status;
    }
    STARTED.store(true, Ordering::SeqCst);
    SUCCESS
}

/// Exported as `rocprofiler_stop_context`.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_stop_context(_context: u64) -> c_int {
    STARTED.store(false, Ordering::SeqCst);
    failure("rocprofiler_stop_context").unwrap_or(SUCCESS)
}

/// A marker record with a correlation id of so many words, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record<const CORRELATION: usize> {
    context: u64,
    thread: u64,
    correlation: [u64; CORRELATION],
    kind: c_int,
    operation: c_int,
    phase: c_int,
    payload: *const Payload,
}

/// `rocprofiler_callback_tracing_marker_api_data_t`: 32 bytes.
#[repr(C)]
pub(crate) struct Payload {
    pub(crate) size: u64,
    pub(crate) arguments: [u64; 2],
    pub(crate) result: u64,
}

/// Calls back those who listen to this kind of marker.
pub(crate) fn call_back(kind: c_int, operation: c_int, phase: c_int, payload: &Payload) {
    if !STARTED.load(Ordering::SeqCst) {
        return;
    }
    let services: Vec<_> = STATE.lock().unwrap().services.clone();
    for (wanted, callback, data) in services {
        if wanted == kind {
            if version() < 10_000 {
                send::<2>(callback, data, kind, operation, phase, payload);
            } else {
                send::<3>(callback, data, kind, operation, phase, payload);
            }
        }
    }
}

fn send<const CORRELATION: usize>(
    callback: usize,
    data: usize,
    kind: c_int,
    operation: c_int,
    phase: c_int,
    payload: &Payload,
) {
    type Callback<const C: usize> = unsafe extern "C" fn(Record<C>, *mut c_void, *mut c_void);
    let record = Record {
        context: 7,
        // SAFETY: takes nothing.
        thread: unsafe { libc::gettid() } as u64,
        // A tool that reads the wrong layout meets these instead of kind and operation.
        correlation: [0xDEAD_BEEF_DEAD_BEEF; CORRELATION],
        kind,
        operation,
        phase,
        payload,
    };
    let mut user_data = 0u64;
    // SAFETY: the tool registered a callback for records of this version's layout.
    unsafe {
        let callback = std::mem::transmute::<usize, Callback<CORRELATION>>(callback);
        callback(record, (&raw mut user_data).cast(), data as *mut c_void);
    }
}
