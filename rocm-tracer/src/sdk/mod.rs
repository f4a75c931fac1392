//! The boundary to rocprofiler-sdk: hearing the calls that go to AMD's own ROCTX library.
//!
//! In: the dispatch tables of `librocprofiler-sdk-roctx.so`, which the SDK shows to whoever asks in
//! its configuration ([`intercept`](crate::intercept) then wraps them as any copy's), or, where it
//! cannot, the SDK's marker callbacks, which cost fifty times as much. Out: the same calls of the
//! same [`listener`](crate::listener). Nothing else in the crate knows which.
//!
//! | module | job |
//! |---|---|
//! | [`abi`] | types, numbers and layouts |
//! | [`library`] | finding and loading the SDK |
//! | [`callback`] | marker callbacks, in both layouts |

mod abi;
mod callback;
mod library;

use crate::intercept;
use abi::*;
use embedded_roctx::TableSet;
use library::Library;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How AMD's ROCTX is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listening {
    /// By wrappers in its dispatch tables.
    InterceptTable,
    /// By the SDK's callbacks.
    CallbackService,
}

/// The SDK of this process, once it was needed and found.
static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
static VERSION: AtomicU32 = AtomicU32::new(0);
static STATE: Mutex<State> = Mutex::new(State {
    refused: None,
    listening: None,
    context: None,
});

/// What came of the one configuration that a process can have.
struct State {
    refused: Option<String>,
    listening: Option<Listening>,
    /// To be started and stopped with a session; callbacks come while it runs.
    context: Option<ContextId>,
}

/// The SDK's version, `major * 10000 + minor * 100 + patch`; 0 before it has told.
pub fn version() -> u32 {
    VERSION.load(Ordering::Relaxed)
}

/// How AMD's ROCTX is heard; `None` while it is not.
pub fn listening() -> Option<Listening> {
    STATE.lock().listening
}

/// A session starts. If AMD's ROCTX is loaded, configures the SDK at the first such session, and
/// lets callbacks come, if it is those.
///
/// # Errors
/// Why the ranges that go to AMD's ROCTX are not heard, and what to do.
pub(crate) fn start(roctx_libraries: &[String]) -> Result<(), String> {
    if roctx_libraries.is_empty() && LIBRARY.get().is_none() {
        return Ok(());
    }
    let library =
        LIBRARY.get_or_init(|| library::load(roctx_libraries).map_err(|error| error.to_string()));
    let library = library.as_ref().map_err(String::clone)?;
    if version() == 0 {
        configure(library);
    }
    let state = STATE.lock();
    if let Some(refused) = &state.refused {
        return Err(refused.clone());
    }
    if state.listening.is_none() {
        return Err(format!(
            "{} took the configuration and did not use it; is ROCPROFILER_REGISTER_ENABLED=0 set?",
            library.path.display()
        ));
    }
    let Some(context) = state.context else {
        return Ok(());
    };
    drop(state);
    // SAFETY: the context was created by this library.
    let status = unsafe { (library.functions.start_context)(context) };
    checked(&library.functions, "rocprofiler_start_context", status)
}

/// A session stops: no more callbacks.
pub(crate) fn stop() -> Result<(), String> {
    let (Some(Ok(library)), Some(context)) = (LIBRARY.get(), STATE.lock().context) else {
        return Ok(());
    };
    // SAFETY: the context was created by this library.
    let status = unsafe { (library.functions.stop_context)(context) };
    checked(&library.functions, "rocprofiler_stop_context", status)
}

fn configure(library: &'static Library) {
    // SAFETY: the configure function has the type that the SDK asks for.
    let status = unsafe { (library.functions.force_configure)(tool_configure) };
    if status == ROCPROFILER_STATUS_SUCCESS {
        library::repeat_hand_overs();
    } else {
        STATE.lock().refused = Some(refused(library, status));
    }
}

fn checked(functions: &Functions, call: &str, status: rocprofiler_status_t) -> Result<(), String> {
    if status == ROCPROFILER_STATUS_SUCCESS {
        Ok(())
    } else {
        Err(failed(functions, call, status))
    }
}

fn failed(functions: &Functions, call: &str, status: rocprofiler_status_t) -> String {
    let text = functions.get_status_string.map(|get| {
        // SAFETY: the function takes any status and returns null or a static string.
        let text: *const c_char = unsafe { get(status) };
        if text.is_null() {
            return String::new();
        }
        // SAFETY: as above.
        format!(" ({})", unsafe { CStr::from_ptr(text) }.to_string_lossy())
    });
    format!("{call} returned {status}{}", text.unwrap_or_default())
}

fn refused(library: &Library, status: rocprofiler_status_t) -> String {
    let failed = failed(&library.functions, "rocprofiler_force_configure", status);
    let advice = match status {
        ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED => {
            "another profiler of this process has configured it already (XLA's own, rocprofv3, \
             …); that one hears the ranges, this one does not"
        }
        ROCPROFILER_STATUS_ERROR_FINALIZED => "the process is about to end",
        _ => "see the SDK's log (ROCPROFILER_LOG_LEVEL=info)",
    };
    format!("{}: {failed}: {advice}", library.path.display())
}

/// `rocprofiler_configure` of this tool.
unsafe extern "C" fn tool_configure(
    version: u32,
    _runtime_version: *const c_char,
    _priority: u32,
    _client_id: *mut c_void,
) -> *mut ConfigureResult {
    struct Shared(ConfigureResult);
    // SAFETY: two function pointers, a size and null.
    unsafe impl Sync for Shared {}
    static RESULT: Shared = Shared(ConfigureResult {
        size: size_of::<ConfigureResult>(),
        initialize: Some(tool_initialize),
        // At exit the SDK may hold its locks while it finalises: this tool has nothing to do then.
        finalize: Some(tool_finalize),
        tool_data: ptr::null_mut(),
    });
    VERSION.store(version, Ordering::Relaxed);
    // Tables can be asked for only until the initialization has ended.
    if let Some(Ok(library)) = LIBRARY.get() {
        STATE.lock().listening = ask_for_tables(&library.functions);
    }
    (&raw const RESULT.0).cast_mut()
}

unsafe extern "C" fn tool_initialize(_finalize: *const c_void, _data: *mut c_void) -> c_int {
    let mut state = STATE.lock();
    if let (Some(Ok(library)), None) = (LIBRARY.get(), state.listening) {
        match callback::configure(&library.functions, version()) {
            Ok(context) => {
                state.context = Some(context);
                state.listening = Some(Listening::CallbackService);
            }
            Err(failure) => {
                let path = library.path.display();
                state.refused = Some(format!("{path}: {failure}"));
            }
        }
    }
    0
}

unsafe extern "C" fn tool_finalize(_data: *mut c_void) {}

/// Asks to be shown the marker tables, when ROCTX hands them over.
fn ask_for_tables(functions: &Functions) -> Option<Listening> {
    let ask = functions.at_intercept_table_registration?;
    let kinds = [
        ROCPROFILER_MARKER_CORE_TABLE,
        ROCPROFILER_MARKER_CONTROL_TABLE,
        ROCPROFILER_MARKER_NAME_TABLE,
    ];
    let granted = kinds.map(|kind| {
        // SAFETY: the callback has the type that the SDK asks for and needs no data.
        unsafe { ask(on_tables, kind, ptr::null_mut()) == ROCPROFILER_STATUS_SUCCESS }
    });
    // Without the core table there are no markers; the others are only names and pauses.
    granted[0].then_some(Listening::InterceptTable)
}

/// The SDK shows the tables of one kind of one copy of ROCTX. It may show them again.
unsafe extern "C" fn on_tables(
    kind: c_int,
    _version: u64,
    _instance: u64,
    tables: *mut *mut c_void,
    count: u64,
    _data: *mut c_void,
) {
    if tables.is_null() || count == 0 {
        return;
    }
    // SAFETY: `count` tables are there, the first of the kind asked for.
    let table = unsafe { *tables };
    let mut set = TableSet {
        size: size_of::<TableSet>() as u64,
        core: ptr::null(),
        control: ptr::null(),
        name: ptr::null(),
    };
    match kind {
        ROCPROFILER_MARKER_CORE_TABLE => set.core = table.cast(),
        ROCPROFILER_MARKER_CONTROL_TABLE => set.control = table.cast(),
        ROCPROFILER_MARKER_NAME_TABLE => set.name = table.cast(),
        _ => return,
    }
    // SAFETY: ROCTX keeps its tables for the life of the process, and they have the layout that
    // `embedded_roctx::tables` names.
    if let Err(error) = unsafe { intercept::attach(&raw const set) } {
        tracing::warn!("{error}");
    }
}
