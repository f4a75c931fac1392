//! Structs of `pjrt_c_api.h` and `profiler_c_api.h` in XLA, as 64-bit Linux lays them out.
//!
//! Only what the way through `register_plugin_profiler` reads. The host leaves `struct_size` of
//! the arguments uninitialised, so nothing here looks at it.

use crate::Error;
use std::ffi::{c_char, c_int};
use std::mem::offset_of;

/// `PJRT_API_MAJOR` spoken. Not checked by the host on this way.
pub const API_MAJOR: c_int = 0;
/// `PJRT_API_MINOR` spoken. Not checked by the host on this way.
pub const API_MINOR: c_int = 54;
/// `PJRT_Extension_Type_Profiler`
pub const EXTENSION_PROFILER: c_int = 1;
/// `PLUGIN_Profiler_Api_STRUCT_SIZE` of the ten functions. Newer headers add three more, but a host
/// of the older ones crashes on a larger size.
pub const PROFILER_API_SIZE: usize = 80;

/// `PJRT_Api_Version`
#[repr(C)]
pub struct PjrtApiVersion {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Null.
    pub extension_start: *mut ProfilerExtension,
    /// Major version of the API.
    pub major: c_int,
    /// Minor version of the API.
    pub minor: c_int,
}

/// The head of `PJRT_Api`, without its functions: `struct_size` says so.
#[repr(C)]
pub struct PjrtApi {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// First of the extensions.
    pub extension_start: *mut ProfilerExtension,
    /// Version of the API.
    pub version: PjrtApiVersion,
}

// SAFETY: written once, before anyone else has its address; the pointers lead to the same kind.
unsafe impl Sync for PjrtApi {}

/// `PJRT_Profiler_Extension`
#[repr(C)]
pub struct ProfilerExtension {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// [`EXTENSION_PROFILER`]
    pub kind: c_int,
    /// The next extension, or null.
    pub next: *mut ProfilerExtension,
    /// The functions.
    pub profiler_api: *mut ProfilerApi,
    /// Last field of the header; not read by the host.
    pub traceme_context_id: i64,
}

/// `PLUGIN_Profiler_Api`
#[repr(C)]
pub struct ProfilerApi {
    /// [`PROFILER_API_SIZE`]
    pub struct_size: usize,
    /// Null.
    pub priv_: *mut u8,
    /// Frees an error.
    pub error_destroy: unsafe extern "C" fn(*mut ErrorDestroyArgs),
    /// Shows an error's text.
    pub error_message: unsafe extern "C" fn(*mut ErrorMessageArgs),
    /// Shows an error's code. Returns null.
    pub error_get_code: unsafe extern "C" fn(*mut ErrorGetCodeArgs) -> *mut Error,
    /// Makes a profiler.
    pub create: unsafe extern "C" fn(*mut CreateArgs) -> *mut Error,
    /// Frees a profiler and the memory it gave out.
    pub destroy: unsafe extern "C" fn(*mut ProfilerArgs) -> *mut Error,
    /// Starts a profiler.
    pub start: unsafe extern "C" fn(*mut ProfilerArgs) -> *mut Error,
    /// Stops a profiler.
    pub stop: unsafe extern "C" fn(*mut ProfilerArgs) -> *mut Error,
    /// Shows what a profiler collected.
    pub collect_data: unsafe extern "C" fn(*mut CollectDataArgs) -> *mut Error,
}

/// What `PLUGIN_Profiler*` points at; its content is this crate's own.
pub enum Opaque {}

/// `PLUGIN_Profiler_Error_Destroy_Args`
#[repr(C)]
pub struct ErrorDestroyArgs {
    /// Not to be trusted.
    pub struct_size: usize,
    /// Not used.
    pub priv_: *mut u8,
    /// The error to free.
    pub error: *mut Error,
}

/// `PLUGIN_Profiler_Error_Message_Args`
#[repr(C)]
pub struct ErrorMessageArgs {
    /// Not to be trusted.
    pub struct_size: usize,
    /// Not used.
    pub priv_: *mut u8,
    /// The error asked about.
    pub error: *const Error,
    /// Out: its text, not NUL-terminated; lives as long as the error.
    pub message: *const c_char,
    /// Out: bytes of the text.
    pub message_size: usize,
}

/// `PLUGIN_Profiler_Error_GetCode_Args`
#[repr(C)]
pub struct ErrorGetCodeArgs {
    /// Not to be trusted.
    pub struct_size: usize,
    /// Not used.
    pub priv_: *mut u8,
    /// The error asked about.
    pub error: *const Error,
    /// Out: a code of `absl::StatusCode`.
    pub code: c_int,
}

/// `PLUGIN_Profiler_Create_Args`
#[repr(C)]
pub struct CreateArgs {
    /// Not to be trusted.
    pub struct_size: usize,
    /// A serialized `tensorflow.ProfileOptions`.
    pub options: *const u8,
    /// Bytes of it.
    pub options_size: usize,
    /// Out: the profiler.
    pub profiler: *mut Opaque,
}

/// `PLUGIN_Profiler_Destroy_Args`, `PLUGIN_Profiler_Start_Args`, `PLUGIN_Profiler_Stop_Args`
#[repr(C)]
pub struct ProfilerArgs {
    /// Not to be trusted.
    pub struct_size: usize,
    /// The profiler.
    pub profiler: *mut Opaque,
}

/// `PLUGIN_Profiler_CollectData_Args`
#[repr(C)]
pub struct CollectDataArgs {
    /// Not to be trusted.
    pub struct_size: usize,
    /// The profiler.
    pub profiler: *mut Opaque,
    /// In: null, or a place for the data. Out: where the data is.
    pub buffer: *mut u8,
    /// In: bytes of that place. Out: bytes of the data.
    pub buffer_size: usize,
}

const _: () = {
    assert!(size_of::<PjrtApiVersion>() == 24 && offset_of!(PjrtApiVersion, major) == 16);
    assert!(size_of::<PjrtApi>() == 40 && offset_of!(PjrtApi, extension_start) == 8);
    assert!(offset_of!(PjrtApi, version) == 16);

    assert!(size_of::<ProfilerExtension>() == 40 && offset_of!(ProfilerExtension, kind) == 8);
    assert!(offset_of!(ProfilerExtension, next) == 16);
    assert!(offset_of!(ProfilerExtension, profiler_api) == 24);
    assert!(offset_of!(ProfilerExtension, traceme_context_id) == 32);

    assert!(size_of::<ProfilerApi>() == PROFILER_API_SIZE);
    assert!(offset_of!(ProfilerApi, error_destroy) == 16);
    assert!(offset_of!(ProfilerApi, error_get_code) == 32);
    assert!(offset_of!(ProfilerApi, create) == 40);
    assert!(offset_of!(ProfilerApi, collect_data) == 72);

    assert!(size_of::<ErrorDestroyArgs>() == 24 && offset_of!(ErrorDestroyArgs, error) == 16);
    assert!(size_of::<ErrorMessageArgs>() == 40 && offset_of!(ErrorMessageArgs, message) == 24);
    assert!(offset_of!(ErrorMessageArgs, message_size) == 32);
    assert!(size_of::<ErrorGetCodeArgs>() == 32 && offset_of!(ErrorGetCodeArgs, code) == 24);
    assert!(size_of::<CreateArgs>() == 32 && offset_of!(CreateArgs, profiler) == 24);
    assert!(size_of::<ProfilerArgs>() == 16 && offset_of!(ProfilerArgs, profiler) == 8);
    assert!(size_of::<CollectDataArgs>() == 32 && offset_of!(CollectDataArgs, buffer) == 16);
    assert!(offset_of!(CollectDataArgs, buffer_size) == 24);
};
