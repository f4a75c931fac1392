//! Finding and loading `librocprofiler-sdk.so`.

use super::abi::Functions;
use super::gpu_abi::GpuFunctions;
use embedded_roctx::modules;
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The sonames, newest first: the soname follows the major version.
const SONAMES: [&str; 2] = ["librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0"];
/// The library by which ROCTX hands its tables over.
const REGISTER_SONAME: &CStr = c"librocprofiler-register.so.0";

/// A loaded SDK. It is never unloaded: its tables hold this object's wrappers.
pub(super) struct Library {
    pub(super) path: PathBuf,
    pub(super) functions: Functions,
}

/// Why there is no SDK to listen with.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoLibrary {
    #[error(
        "librocprofiler-sdk.so.1 or .so.0 was not found in the folders of $XPROF_ROCTX_SDK_PATH, \
         beside AMD's ROCTX and HIP libraries, in $ROCM_PATH/lib, in /opt/rocm/lib or on the \
         loader's path; install rocprofiler-sdk or set one of the two"
    )]
    NotFound,
    #[error("{path} cannot be loaded: {reason}")]
    NotLoadable { path: PathBuf, reason: String },
    #[error("{path} lacks the function {symbol}; rocprofiler-sdk 0.4 or newer is needed")]
    NoSymbol { path: PathBuf, symbol: &'static str },
}

/// Loads the SDK: one in these folders or in those of `$XPROF_ROCTX_SDK_PATH`, else the one beside
/// one of these libraries of AMD's, else where ROCm is, else by the loader's path.
///
/// ROCm's Python wheels have library folders of their own, which only Python can tell: their users
/// name them in one of the first two ways.
pub(super) fn load(folders: &[PathBuf], libraries: &[String]) -> Result<Library, NoLibrary> {
    let named: Vec<PathBuf> = std::env::var_os("XPROF_ROCTX_SDK_PATH")
        .map(|paths| std::env::split_paths(&paths).collect())
        .unwrap_or_default();
    let beside = libraries
        .iter()
        .filter_map(|library| Path::new(library).parent().map(Path::to_owned));
    let rocm = std::env::var_os("ROCM_PATH")
        .map(PathBuf::from)
        .into_iter()
        .chain([PathBuf::from("/opt/rocm")])
        .map(|root| root.join("lib"));
    let in_folders = folders
        .iter()
        .cloned()
        .chain(named)
        .chain(beside)
        .chain(rocm)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| SONAMES.map(|soname| folder.join(soname)))
        .filter(|path| path.exists());
    let by_name = SONAMES.map(PathBuf::from);
    let mut failed = NoLibrary::NotFound;
    for path in in_folders.chain(by_name) {
        match open(&path) {
            Ok(handle) => return functions(path, handle),
            // A bare name that the loader does not find is not there; a file that it cannot load is
            // worth telling.
            Err(reason) if path.is_absolute() => failed = NoLibrary::NotLoadable { path, reason },
            Err(_) => {}
        }
    }
    Err(failed)
}

/// Loads with its symbols visible to all: ROCTX finds the SDK by them at its first call, and aborts
/// the process if it does not.
fn open(path: &Path) -> Result<*mut c_void, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    modules::open(&name, libc::RTLD_LAZY | libc::RTLD_GLOBAL)
}

fn symbol(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle is open for good, the name NUL-terminated.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// A function of the library, if it has one of this name.
///
/// # Safety
/// The function of this name has the type `F`, which is a function pointer.
unsafe fn function<F: Copy>(handle: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) }
    // SAFETY: this function's contract.
    symbol(handle, name).map(|address| unsafe { std::mem::transmute_copy(&address) })
}

fn functions(path: PathBuf, handle: *mut c_void) -> Result<Library, NoLibrary> {
    macro_rules! required {
        ($name:literal) => {
            // SAFETY: the field that it is for has the type of AMD's function of this name.
            match unsafe { function(handle, $name) } {
                Some(function) => function,
                None => {
                    let symbol = $name.to_str().unwrap_or_default();
                    return Err(NoLibrary::NoSymbol { path, symbol });
                }
            }
        };
    }
    // SAFETY: the fields have the types of AMD's functions of these names.
    let (at_intercept_table_registration, get_status_name, get_status_string) = unsafe {
        (
            function(handle, c"rocprofiler_at_intercept_table_registration"),
            function(handle, c"rocprofiler_get_status_name"),
            function(handle, c"rocprofiler_get_status_string"),
        )
    };
    let functions = Functions {
        force_configure: required!(c"rocprofiler_force_configure"),
        at_intercept_table_registration,
        create_context: required!(c"rocprofiler_create_context"),
        configure_callback_tracing_service: required!(
            c"rocprofiler_configure_callback_tracing_service"
        ),
        start_context: required!(c"rocprofiler_start_context"),
        stop_context: required!(c"rocprofiler_stop_context"),
        get_status_name,
        get_status_string,
        gpu: gpu_functions(handle),
    };
    Ok(Library { path, functions })
}

/// What the GPU side needs, if it is all there.
fn gpu_functions(handle: *mut c_void) -> Option<GpuFunctions> {
    // SAFETY: the fields have the types of AMD's functions of these names.
    unsafe {
        Some(GpuFunctions {
            query_available_agents: function(handle, c"rocprofiler_query_available_agents")?,
            create_buffer: function(handle, c"rocprofiler_create_buffer")?,
            flush_buffer: function(handle, c"rocprofiler_flush_buffer")?,
            configure_buffer_tracing_service: function(
                handle,
                c"rocprofiler_configure_buffer_tracing_service",
            )?,
            configure_external_correlation_id_request_service: function(
                handle,
                c"rocprofiler_configure_external_correlation_id_request_service",
            )?,
            create_callback_thread: function(handle, c"rocprofiler_create_callback_thread")?,
            assign_callback_thread: function(handle, c"rocprofiler_assign_callback_thread")?,
            query_buffer_tracing_kind_operation_name: function(
                handle,
                c"rocprofiler_query_buffer_tracing_kind_operation_name",
            )?,
        })
    }
}

/// Asks for the hand-over of libraries that made their first call before anybody had configured
/// the SDK; `false` if this version of rocprofiler-register cannot.
pub(super) fn repeat_hand_overs() -> bool {
    let Ok(handle) = modules::open(REGISTER_SONAME, libc::RTLD_LAZY | libc::RTLD_NOLOAD) else {
        return false;
    };
    let name = c"rocprofiler_register_invoke_nonpropagated_registrations";
    let Some(invoke) = symbol(handle, name) else {
        return false;
    };
    // SAFETY: AMD's function of this name takes nothing and returns a status.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(invoke)() == 0 }
}
