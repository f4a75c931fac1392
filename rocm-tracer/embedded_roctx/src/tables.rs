//! The dispatch tables: one function pointer a ROCTX call, replaceable while the program runs.
//!
//! The layout (a `u64` size, then the functions in this order) is that of `roctxCoreApiTable_t`,
//! `roctxControlApiTable_t` and `roctxNameApiTable_t` in AMD's `rocprofiler-sdk-roctx/api_trace.h`.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `void roctxMarkA(const char* message)`
pub type MarkFn = unsafe extern "C" fn(*const c_char);
/// `int roctxRangePushA(const char* message)`
pub type PushFn = unsafe extern "C" fn(*const c_char) -> c_int;
/// `int roctxRangePop()`
pub type PopFn = unsafe extern "C" fn() -> c_int;
/// `roctx_range_id_t roctxRangeStartA(const char* message)`
pub type StartFn = unsafe extern "C" fn(*const c_char) -> u64;
/// `void roctxRangeStop(roctx_range_id_t id)`
pub type StopFn = unsafe extern "C" fn(u64);
/// `int roctxGetThreadId(roctx_thread_id_t* tid)`
pub type GetThreadIdFn = unsafe extern "C" fn(*mut u64) -> c_int;
/// `int roctxProfilerPause(roctx_thread_id_t tid)` and `roctxProfilerResume`
pub type ControlFn = unsafe extern "C" fn(u64) -> c_int;
/// `int roctxNameOsThread(const char* name)`
pub type NameThreadFn = unsafe extern "C" fn(*const c_char) -> c_int;
/// `int roctxNameHipDevice(const char* name, int device_id)`
pub type NameDeviceFn = unsafe extern "C" fn(*const c_char, c_int) -> c_int;
/// `int roctxNameHsaAgent(const char* name, const hsa_agent_s*)` and `roctxNameHipStream`
pub type NameHandleFn = unsafe extern "C" fn(*const c_char, *const c_void) -> c_int;

/// One function pointer of a table, or none. In memory it is the bare pointer that C sees.
#[repr(transparent)]
pub struct Entry<F>(AtomicPtr<c_void>, PhantomData<F>);

impl<F: Copy> Entry<F> {
    /// An entry with no function in it.
    pub const fn empty() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()), PhantomData)
    }

    pub(crate) const fn new(function: *const ()) -> Self {
        Self(AtomicPtr::new(function.cast_mut().cast()), PhantomData)
    }

    /// The function that the next call will reach.
    #[inline]
    pub fn get(&self) -> Option<F> {
        const { assert!(size_of::<Option<F>>() == size_of::<*mut c_void>()) }
        let pointer = self.0.load(Ordering::Acquire);
        // SAFETY: an entry holds null, which is None, or a function of type F: only `new`, `set`
        // and `replace` write it, and AMD's library, whose tables have these types at these places.
        unsafe { std::mem::transmute_copy::<*mut c_void, Option<F>>(&pointer) }
    }

    /// Puts `function` in, whatever was there.
    pub fn set(&self, function: Option<F>) {
        self.0.store(pointer(function), Ordering::Release);
    }

    /// Puts `new` in the place of `old`; `false` if the entry holds another function by now.
    pub fn replace(&self, old: Option<F>, new: Option<F>) -> bool {
        self.0
            .compare_exchange(
                pointer(old),
                pointer(new),
                Ordering::AcqRel,
                Ordering::Acquire,
            )
            .is_ok()
    }
}

fn pointer<F: Copy>(function: Option<F>) -> *mut c_void {
    const { assert!(size_of::<Option<F>>() == size_of::<*mut c_void>()) }
    // SAFETY: F is a function pointer (the sizes say so), and None of it is null.
    unsafe { std::mem::transmute_copy::<Option<F>, *mut c_void>(&function) }
}

/// Marks and ranges.
#[repr(C)]
pub struct CoreTable {
    /// Bytes of this table that its maker filled.
    pub size: u64,
    /// `roctxMarkA`
    pub mark: Entry<MarkFn>,
    /// `roctxRangePushA`
    pub push: Entry<PushFn>,
    /// `roctxRangePop`
    pub pop: Entry<PopFn>,
    /// `roctxRangeStartA`
    pub start: Entry<StartFn>,
    /// `roctxRangeStop`
    pub stop: Entry<StopFn>,
    /// `roctxGetThreadId`
    pub get_thread_id: Entry<GetThreadIdFn>,
}

/// Pause and resume.
#[repr(C)]
pub struct ControlTable {
    /// Bytes of this table that its maker filled.
    pub size: u64,
    /// `roctxProfilerPause`
    pub pause: Entry<ControlFn>,
    /// `roctxProfilerResume`
    pub resume: Entry<ControlFn>,
}

/// Names of threads, agents, devices and streams.
#[repr(C)]
pub struct NameTable {
    /// Bytes of this table that its maker filled.
    pub size: u64,
    /// `roctxNameOsThread`
    pub os_thread: Entry<NameThreadFn>,
    /// `roctxNameHsaAgent`
    pub hsa_agent: Entry<NameHandleFn>,
    /// `roctxNameHipDevice`
    pub hip_device: Entry<NameDeviceFn>,
    /// `roctxNameHipStream`
    pub hip_stream: Entry<NameHandleFn>,
}

/// The three tables of one copy of ROCTX. A null pointer: that table is not to be had.
#[repr(C)]
pub struct TableSet {
    /// Bytes of this struct, so that later versions can grow.
    pub size: u64,
    /// Marks and ranges.
    pub core: *const CoreTable,
    /// Pause and resume.
    pub control: *const ControlTable,
    /// Names.
    pub name: *const NameTable,
}

// SAFETY: the pointers lead to tables of atomics that live as long as the process.
unsafe impl Sync for TableSet {}
// SAFETY: as above.
unsafe impl Send for TableSet {}

// The sizes observed in AMD's library (rocprofiler-sdk 0.6 and 1.0).
const _: () = assert!(size_of::<CoreTable>() == 56);
const _: () = assert!(size_of::<ControlTable>() == 24);
const _: () = assert!(size_of::<NameTable>() == 40);
