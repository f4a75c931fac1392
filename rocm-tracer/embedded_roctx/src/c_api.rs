//! The functions a program calls: AMD's names and signatures (`rocprofiler-sdk-roctx/roctx.h`).
//!
//! Any thread may call any of them at any time. A message is a NUL-terminated string of any bytes
//! or null; it is read during the call only.

#![allow(non_snake_case)] // AMD's names

use crate::hand_over::{CONTROL, CORE, NAME};
use std::ffi::{c_char, c_int, c_void};

/// Calls the function in a table's entry; an entry that somebody emptied does nothing, as 0.
macro_rules! call {
    ($table:ident . $entry:ident ($($argument:expr),*)) => {
        match $table.$entry.get() {
            Some(function) => function($($argument),*),
            None => Default::default(),
        }
    };
}
pub(crate) use call;

/// Version of the API spoken: that of AMD's `libroctx64.so.4`.
pub const VERSION: (u32, u32, u32) = (4, 1, 0);

/// Marks an instant.
///
/// # Safety
/// `message` is null or NUL-terminated.
#[inline]
pub unsafe extern "C" fn roctxMarkA(message: *const c_char) {
    // SAFETY: the caller's contract is that of the function called; so too in all below.
    unsafe { call!(CORE.mark(message)) }
}

/// Opens a range on this thread; returns the level before it (0 for the first).
///
/// # Safety
/// `message` is null or NUL-terminated.
#[inline]
pub unsafe extern "C" fn roctxRangePushA(message: *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { call!(CORE.push(message)) }
}

/// Closes this thread's innermost range; returns the level after it, or −1 if there is none.
///
/// # Safety
/// None to keep; unsafe because it is called through a C table.
#[inline]
pub unsafe extern "C" fn roctxRangePop() -> c_int {
    // SAFETY: as above.
    unsafe { call!(CORE.pop()) }
}

/// Opens a range that any thread may close; returns its id, unique in the process, from 1.
///
/// # Safety
/// `message` is null or NUL-terminated.
#[inline]
pub unsafe extern "C" fn roctxRangeStartA(message: *const c_char) -> u64 {
    // SAFETY: as above.
    unsafe { call!(CORE.start(message)) }
}

/// Closes the range of this id.
///
/// # Safety
/// None to keep; an unknown id does nothing.
#[inline]
pub unsafe extern "C" fn roctxRangeStop(id: u64) {
    // SAFETY: as above.
    unsafe { call!(CORE.stop(id)) }
}

/// Writes the calling thread's id as the kernel knows it; returns 0, or −1 for a null pointer.
///
/// # Safety
/// `tid` is null or a place for a `u64`.
#[inline]
pub unsafe extern "C" fn roctxGetThreadId(tid: *mut u64) -> c_int {
    // SAFETY: as above.
    unsafe { call!(CORE.get_thread_id(tid)) }
}

/// Asks profilers to pause; returns 0.
///
/// # Safety
/// None to keep.
#[inline]
pub unsafe extern "C" fn roctxProfilerPause(tid: u64) -> c_int {
    // SAFETY: as above.
    unsafe { call!(CONTROL.pause(tid)) }
}

/// Asks profilers to go on; returns 0.
///
/// # Safety
/// None to keep.
#[inline]
pub unsafe extern "C" fn roctxProfilerResume(tid: u64) -> c_int {
    // SAFETY: as above.
    unsafe { call!(CONTROL.resume(tid)) }
}

/// Names the calling thread; returns 0.
///
/// # Safety
/// `label` is null or NUL-terminated.
#[inline]
pub unsafe extern "C" fn roctxNameOsThread(label: *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { call!(NAME.os_thread(label)) }
}

/// Names an HSA agent; returns 0.
///
/// # Safety
/// `label` is null or NUL-terminated. The agent is not dereferenced.
#[inline]
pub unsafe extern "C" fn roctxNameHsaAgent(label: *const c_char, agent: *const c_void) -> c_int {
    // SAFETY: as above.
    unsafe { call!(NAME.hsa_agent(label, agent)) }
}

/// Names a HIP device by its ordinal; returns 0.
///
/// # Safety
/// `label` is null or NUL-terminated.
#[inline]
pub unsafe extern "C" fn roctxNameHipDevice(label: *const c_char, device: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { call!(NAME.hip_device(label, device)) }
}

/// Names a HIP stream; returns 0.
///
/// # Safety
/// `label` is null or NUL-terminated. The stream is not dereferenced.
#[inline]
pub unsafe extern "C" fn roctxNameHipStream(label: *const c_char, stream: *const c_void) -> c_int {
    // SAFETY: as above.
    unsafe { call!(NAME.hip_stream(label, stream)) }
}

/// Exports the ROCTX C API from the shared library in which it is invoked, with this crate's copy
/// behind it.
#[macro_export]
macro_rules! export_roctx_c_api {
    () => {
        $crate::export_roctx_c_api! {
            roctxMarkA(message: *const std::ffi::c_char);
            roctxRangePushA(message: *const std::ffi::c_char) -> std::ffi::c_int;
            roctxRangePop() -> std::ffi::c_int;
            roctxRangeStartA(message: *const std::ffi::c_char) -> u64;
            roctxRangeStop(id: u64);
            roctxGetThreadId(tid: *mut u64) -> std::ffi::c_int;
            roctxProfilerPause(tid: u64) -> std::ffi::c_int;
            roctxProfilerResume(tid: u64) -> std::ffi::c_int;
            roctxNameOsThread(label: *const std::ffi::c_char) -> std::ffi::c_int;
            roctxNameHsaAgent(
                label: *const std::ffi::c_char, agent: *const std::ffi::c_void
            ) -> std::ffi::c_int;
            roctxNameHipDevice(
                label: *const std::ffi::c_char, device: std::ffi::c_int
            ) -> std::ffi::c_int;
            roctxNameHipStream(
                label: *const std::ffi::c_char, stream: *const std::ffi::c_void
            ) -> std::ffi::c_int;
        }

        /// Major version of the ROCTX API.
        #[unsafe(no_mangle)]
        pub extern "C" fn roctx_version_major() -> u32 {
            $crate::c_api::VERSION.0
        }

        /// Minor version of the ROCTX API.
        #[unsafe(no_mangle)]
        pub extern "C" fn roctx_version_minor() -> u32 {
            $crate::c_api::VERSION.1
        }

        /// Patch version of the ROCTX API.
        #[unsafe(no_mangle)]
        pub extern "C" fn roctx_version_patch() -> u32 {
            $crate::c_api::VERSION.2
        }

        $crate::export_tables_symbol!();
    };
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        /// The ROCTX function of this name.
        ///
        /// # Safety
        /// As AMD's `roctx.h` asks: strings are null or NUL-terminated.
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller's contract is that of the function called.
            unsafe { $crate::c_api::$name($($argument),*) }
        }
    )*};
}

/// Exports [`TABLES_SYMBOL`](crate::TABLES_SYMBOL), by which a listener finds the copy of this
/// crate that is in the shared object in which it is invoked.
#[macro_export]
macro_rules! export_tables_symbol {
    () => {
        /// The dispatch tables of the ROCTX copy in this shared object.
        #[unsafe(no_mangle)]
        pub extern "C" fn xprof_roctx_tables_v1() -> *const $crate::TableSet {
            $crate::table_set()
        }
    };
}
