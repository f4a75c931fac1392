//! The boundary to rocprofiler-sdk: hearing the calls that go to AMD's own ROCTX library, and HIP
//! calls with the kernels and copies that they start.
//!
//! In: the dispatch tables of `librocprofiler-sdk-roctx.so`, which the SDK shows to whoever asks in
//! its configuration ([`intercept`] then wraps them as any copy's), or, where it
//! cannot, the SDK's marker callbacks, which cost fifty times as much. Out: the same calls of the
//! same `listener`. Nothing else in the crate knows which. What the SDK tells of
//! GPUs becomes plain data for `gpu`.
//!
//! | module | job |
//! |---|---|
//! | `abi` | types, numbers and layouts |
//! | `library` | finding and loading the SDK |
//! | `callback` | marker callbacks, in both layouts |
//! | [`guest`] | the same where another tool of the process configures the SDK |
//! | `gpu` | contexts, services and the buffer of the GPU side |
//! | `gpu_abi` | their types, numbers and layouts |
//! | `gpu_callbacks` | what the SDK calls for them |

mod abi;
mod callback;
pub(crate) mod gpu;
mod gpu_abi;
mod gpu_callbacks;
pub mod guest;
mod library;

use crate::intercept;
use abi::*;
use embedded_roctx::TableSet;
use library::Library;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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
static HAS_ENDED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State {
    guest: false,
    refused: None,
    no_markers: None,
    no_gpu: false,
    listening: None,
    context: None,
});

const ENDED: &str = "rocprofiler-sdk has ended, for the process is about to";

/// What came of the one configuration that a process can have.
struct State {
    /// It is another tool's, which lets this one listen.
    guest: bool,
    /// Why there was none.
    refused: Option<String>,
    /// Why AMD's ROCTX is not heard.
    no_markers: Option<String>,
    /// The session that configures wants no GPU work.
    no_gpu: bool,
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

/// Whether another tool of this process configures the SDK, and records kernels and copies itself.
pub(crate) fn is_guest() -> bool {
    STATE.lock().guest
}

/// What a session wants of the SDK.
pub(crate) struct Wanted<'a> {
    /// Where to look for it first.
    pub(crate) folders: &'a [PathBuf],
    /// AMD's libraries in this process, by path: its ROCTX, and the HIP runtime.
    pub(crate) roctx: &'a [String],
    pub(crate) hip: &'a [String],
    /// Kernels and copies are wanted even if the HIP runtime is not loaded yet.
    pub(crate) gpu: bool,
    /// They are not wanted at all.
    pub(crate) no_gpu: bool,
}

/// Finds, loads and configures the SDK if a session wants it and none has before. Earlier is
/// better: what AMD's libraries do before they are configured may not be heard.
///
/// # Errors
/// Why nothing is heard from the SDK, and what to do.
pub(crate) fn prepare(wanted: &Wanted<'_>) -> Result<(), String> {
    if STATE.lock().guest {
        return Ok(());
    }
    let needed = wanted.gpu || !wanted.roctx.is_empty() || !wanted.hip.is_empty();
    if !needed && LIBRARY.get().is_none() {
        return Ok(());
    }
    let library = LIBRARY.get_or_init(|| {
        let libraries = [wanted.roctx, wanted.hip].concat();
        library::load(wanted.folders, &libraries).map_err(|error| error.to_string())
    });
    let library = library.as_ref().map_err(String::clone)?;
    if version() == 0 {
        STATE.lock().no_gpu = wanted.no_gpu;
        configure(library);
    }
    let state = STATE.lock();
    if let Some(refused) = &state.refused {
        return Err(refused.clone());
    }
    if version() == 0 {
        return Err(not_used(library));
    }
    Ok(())
}

fn not_used(library: &Library) -> String {
    format!(
        "{} took the configuration and did not use it; is ROCPROFILER_REGISTER_ENABLED=0 set?",
        library.path.display()
    )
}

/// A session starts: lets marker callbacks come, if it is those by which AMD's ROCTX is heard. After
/// [`prepare`].
///
/// # Errors
/// Why the ranges that go to AMD's ROCTX are not heard, and what to do.
pub(crate) fn start_markers() -> Result<(), String> {
    let state = STATE.lock();
    if let Some(refused) = &state.no_markers {
        return Err(refused.clone());
    }
    let Some(Ok(library)) = LIBRARY.get() else {
        return Ok(());
    };
    if state.listening.is_none() {
        return Err(not_used(library));
    }
    let Some(context) = state.context else {
        return Ok(());
    };
    drop(state);
    if is_finalized() {
        return Err(ENDED.to_owned());
    }
    // SAFETY: the context was created by this library.
    let status = unsafe { (library.functions.start_context)(context) };
    checked(&library.functions, "rocprofiler_start_context", status)
}

/// A session stops: no more marker callbacks.
pub(crate) fn stop_markers() -> Result<(), String> {
    let (Some(Ok(library)), Some(context)) = (LIBRARY.get(), STATE.lock().context) else {
        return Ok(());
    };
    if is_finalized() {
        return Ok(());
    }
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
    match status_text(functions.get_status_string, status) {
        Some(text) => format!("{call} returned {status} ({text})"),
        None => format!("{call} returned {status}"),
    }
}

fn status_text(
    get: Option<unsafe extern "C" fn(rocprofiler_status_t) -> *const c_char>,
    status: rocprofiler_status_t,
) -> Option<String> {
    // SAFETY: the function takes any status and returns null or a static string.
    let text = unsafe { get?(status) };
    if text.is_null() {
        return None;
    }
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

fn refused(library: &Library, status: rocprofiler_status_t) -> String {
    let failed = failed(&library.functions, "rocprofiler_force_configure", status);
    let advice = match status_text(library.functions.get_status_name, status).as_deref() {
        Some(CONFIGURATION_LOCKED) => {
            "another profiler of this process has configured it already (XLA's own, rocprofv3, \
             …); that one hears this process, this one does not"
        }
        Some(FINALIZED) => "the process is about to end",
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
        // At exit the SDK may hold its locks while it finalises: this tool only takes note of it.
        finalize: Some(tool_finalize),
        tool_data: ptr::null_mut(),
    });
    VERSION.store(version, Ordering::Relaxed);
    // Tables can be asked for only until the initialization has ended.
    if let Some(Ok(library)) = LIBRARY.get() {
        let ask = library.functions.at_intercept_table_registration;
        STATE.lock().listening = ask.and_then(ask_for_tables);
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
                state.no_markers = Some(format!("{path}: {failure}"));
            }
        }
    }
    let no_gpu = state.no_gpu;
    drop(state);
    match LIBRARY.get() {
        Some(Ok(library)) if !no_gpu => gpu::configure(&library.functions, version()),
        _ => gpu::leave_out(),
    }
    0
}

/// The process ends, and the SDK with it: what its buffers held has been delivered.
unsafe extern "C" fn tool_finalize(_data: *mut c_void) {
    HAS_ENDED.store(true, Ordering::SeqCst);
}

/// Whether the SDK has ended. It is not called any more then: it may be called by an exit handler
/// that waits for it.
fn is_finalized() -> bool {
    HAS_ENDED.load(Ordering::SeqCst)
}

/// Asks to be shown the marker tables, when ROCTX hands them over.
fn ask_for_tables(ask: guest::AtInterceptTableRegistration) -> Option<Listening> {
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
