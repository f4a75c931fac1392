//! NVTX's binary interface, version 3, for a tool: from `nvToolsExt.h` and `nvtxTypes.h`.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// A table's address by its number; null if there is none.
pub type GetExportTable = unsafe extern "C" fn(c_uint) -> *const c_void;

/// The number of [`Callbacks`] among the exported tables (`NVTX_ETID_CALLBACKS`).
pub(super) const CALLBACKS: c_uint = 1;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
pub(super) struct Callbacks {
    /// Of this struct, bytes.
    pub(super) size: usize,
    /// Writes a module's table of addresses of function pointers, and their number; returns 1, or 0
    /// for a module that the client does not know.
    pub(super) module:
        Option<unsafe extern "C" fn(c_int, *mut *mut *mut *const c_void, *mut c_uint) -> c_int>,
}

/// The module of calls without a domain (`NVTX_CB_MODULE_CORE`).
pub(super) const CORE: c_int = 1;
/// The module of calls with one (`NVTX_CB_MODULE_CORE2`).
pub(super) const CORE2: c_int = 5;

/// `nvtxEventAttributes_t`.
#[repr(C)]
pub(super) struct EventAttributes {
    pub(super) version: u16,
    /// Of this struct, bytes, as the caller knew it.
    pub(super) size: u16,
    pub(super) category: u32,
    pub(super) color_type: i32,
    pub(super) color: u32,
    pub(super) payload_type: i32,
    pub(super) reserved: i32,
    pub(super) payload: [u8; 8],
    pub(super) message_type: i32,
    pub(super) message: *const c_void,
}

/// `NVTX_COLOR_ARGB`.
pub(super) const COLOR_ARGB: i32 = 1;

/// `nvtxPayloadType_t`.
pub(super) mod payload_type {
    pub(in super::super) const U64: i32 = 1;
    pub(in super::super) const I64: i32 = 2;
    pub(in super::super) const F64: i32 = 3;
    pub(in super::super) const U32: i32 = 4;
    pub(in super::super) const I32: i32 = 5;
    pub(in super::super) const F32: i32 = 6;
}

/// `nvtxMessageType_t`.
pub(super) mod message_type {
    pub(in super::super) const ASCII: i32 = 1;
    pub(in super::super) const UNICODE: i32 = 2;
    pub(in super::super) const REGISTERED: i32 = 3;
}

/// `wchar_t`.
pub(super) type WideChar = libc::wchar_t;

/// The handle that [`super::callbacks`] gives for a domain is its number; null is the default
/// domain.
pub(super) type DomainHandle = *const c_void;

pub(super) type Text = *const c_char;
pub(super) type WideText = *const WideChar;
