//! The first call: who wants to listen?
//!
//! AMD's library hands its tables to rocprofiler at its first call. This one does the same with the
//! listeners of this project: a shared object that holds one exports [`ATTACH_SYMBOL`], and a copy
//! of this library calls every such function it finds, once. [`TOOL_VARIABLE`] may name one more
//! shared object to load for that. A listener that comes later finds the copies that are there by
//! [`TABLES_SYMBOL`].
//!
//! Until then the tables hold the `first_*` functions below, so that later calls pay nothing.

use crate::tables::{
    ControlFn, ControlTable, CoreTable, Entry, GetThreadIdFn, MarkFn, NameDeviceFn, NameHandleFn,
    NameTable, NameThreadFn, PopFn, PushFn, StartFn, StopFn, TableSet,
};
use crate::{calls, modules};
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::sync::Once;

/// The function that a listener's shared object exports, of type [`AttachFn`].
pub const ATTACH_SYMBOL: &CStr = c"xprof_roctx_attach_v1";
/// Wraps the tables given. The set and its tables live as long as the process. Returns 0, or −1
/// if the listener has no room for another copy.
pub type AttachFn = unsafe extern "C" fn(*const TableSet) -> c_int;

/// The function by which a shared object with a copy of this library shows its tables, of type
/// [`TablesFn`].
pub const TABLES_SYMBOL: &CStr = c"xprof_roctx_tables_v1";
/// Returns the tables of the copy that is asked.
pub type TablesFn = unsafe extern "C" fn() -> *const TableSet;

/// Environment variable: path of a shared object to load at the first ROCTX call, so that it can
/// listen to a program that knows nothing of it.
pub const TOOL_VARIABLE: &CStr = c"XPROF_ROCTX_TOOL";

pub(crate) static CORE: CoreTable = CoreTable {
    size: size_of::<CoreTable>() as u64,
    mark: Entry::new(first_mark as *const ()),
    push: Entry::new(first_push as *const ()),
    pop: Entry::new(first_pop as *const ()),
    start: Entry::new(first_start as *const ()),
    stop: Entry::new(first_stop as *const ()),
    get_thread_id: Entry::new(first_get_thread_id as *const ()),
};

pub(crate) static CONTROL: ControlTable = ControlTable {
    size: size_of::<ControlTable>() as u64,
    pause: Entry::new(first_pause as *const ()),
    resume: Entry::new(first_resume as *const ()),
};

pub(crate) static NAME: NameTable = NameTable {
    size: size_of::<NameTable>() as u64,
    os_thread: Entry::new(first_name_thread as *const ()),
    hsa_agent: Entry::new(first_name_agent as *const ()),
    hip_device: Entry::new(first_name_device as *const ()),
    hip_stream: Entry::new(first_name_stream as *const ()),
};

static TABLES: TableSet = TableSet {
    size: size_of::<TableSet>() as u64,
    core: &CORE,
    control: &CONTROL,
    name: &NAME,
};

/// The tables, with the real calls in them: a listener must never save a `first_*` function as the
/// original, for it would come back to the listener's own wrapper.
pub(crate) fn table_set() -> &'static TableSet {
    settle();
    &TABLES
}

/// Replaces what is left of the `first_*` functions.
fn settle() {
    fn one<F: Copy>(entry: &Entry<F>, first: F, call: F) {
        entry.replace(Some(first), Some(call));
    }
    one::<MarkFn>(&CORE.mark, first_mark, calls::mark);
    one::<PushFn>(&CORE.push, first_push, calls::push);
    one::<PopFn>(&CORE.pop, first_pop, calls::pop);
    one::<StartFn>(&CORE.start, first_start, calls::start);
    one::<StopFn>(&CORE.stop, first_stop, calls::stop);
    one::<GetThreadIdFn>(
        &CORE.get_thread_id,
        first_get_thread_id,
        calls::get_thread_id,
    );
    one::<ControlFn>(&CONTROL.pause, first_pause, calls::control);
    one::<ControlFn>(&CONTROL.resume, first_resume, calls::control);
    one::<NameThreadFn>(&NAME.os_thread, first_name_thread, calls::name_thread);
    one::<NameHandleFn>(&NAME.hsa_agent, first_name_agent, calls::name_handle);
    one::<NameDeviceFn>(&NAME.hip_device, first_name_device, calls::name_device);
    one::<NameHandleFn>(&NAME.hip_stream, first_name_stream, calls::name_handle);
}

/// Runs the hand-over once. Other threads that call meanwhile wait for it; the thread that runs it
/// may itself call ROCTX (a tool's constructor might).
fn hand_over() {
    static ONCE: Once = Once::new();
    thread_local! {
        static RUNNING: Cell<bool> = const { Cell::new(false) };
    }
    if RUNNING.get() {
        settle();
        return;
    }
    ONCE.call_once(|| {
        RUNNING.set(true);
        let tables = table_set();
        load_tool();
        for attach in modules::find_symbol(ATTACH_SYMBOL) {
            // SAFETY: a symbol of this name is an AttachFn: the name is this project's own and
            // carries the version of its signature.
            let attach = unsafe { std::mem::transmute::<*mut c_void, AttachFn>(attach) };
            // SAFETY: the tables live as long as the process, as AttachFn asks. A listener that
            // has no room says so itself.
            unsafe { attach(tables) };
        }
        RUNNING.set(false);
    });
}

/// Loads the shared object that [`TOOL_VARIABLE`] names. One that cannot be loaded costs a line on
/// stderr and nothing else: the program was not written for this project.
fn load_tool() {
    let variable = TOOL_VARIABLE.to_str().unwrap_or_default();
    let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) else {
        return;
    };
    let Ok(path) = CString::new(path.into_vec()) else {
        return;
    };
    if let Err(reason) = modules::open(&path, libc::RTLD_NOW | libc::RTLD_LOCAL) {
        // Not eprintln!, which panics where stderr is closed.
        let _ = writeln!(
            std::io::stderr(),
            "xprof-roctx: {variable} names a tool that cannot be loaded: {reason}. ROCTX ranges \
             are not captured; set it to the path of libxprof_roctx_tool.so or unset it."
        );
    }
}

/// The functions that the tables hold before the first call: hand over, then call what is there.
macro_rules! first_calls {
    ($($table:ident . $entry:ident: fn $first:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        unsafe extern "C" fn $first($($argument: $type),*) $(-> $result)? {
            hand_over();
            // SAFETY: the caller's contract is that of the function called.
            unsafe { crate::c_api::call!($table.$entry($($argument),*)) }
        }
    )*};
}

first_calls! {
    CORE.mark: fn first_mark(message: *const c_char);
    CORE.push: fn first_push(message: *const c_char) -> c_int;
    CORE.pop: fn first_pop() -> c_int;
    CORE.start: fn first_start(message: *const c_char) -> u64;
    CORE.stop: fn first_stop(id: u64);
    CORE.get_thread_id: fn first_get_thread_id(tid: *mut u64) -> c_int;
    CONTROL.pause: fn first_pause(tid: u64) -> c_int;
    CONTROL.resume: fn first_resume(tid: u64) -> c_int;
    NAME.os_thread: fn first_name_thread(name: *const c_char) -> c_int;
    NAME.hsa_agent: fn first_name_agent(name: *const c_char, agent: *const c_void) -> c_int;
    NAME.hip_device: fn first_name_device(name: *const c_char, device: c_int) -> c_int;
    NAME.hip_stream: fn first_name_stream(name: *const c_char, stream: *const c_void) -> c_int;
}
