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

static CORE: CoreTable = CoreTable {
    size: size_of::<CoreTable>() as u64,
    mark: Entry::new(first_mark as *const ()),
    push: Entry::new(first_push as *const ()),
    pop: Entry::new(first_pop as *const ()),
    start: Entry::new(first_start as *const ()),
    stop: Entry::new(first_stop as *const ()),
    get_thread_id: Entry::new(first_get_thread_id as *const ()),
};

static CONTROL: ControlTable = ControlTable {
    size: size_of::<ControlTable>() as u64,
    pause: Entry::new(first_pause as *const ()),
    resume: Entry::new(first_resume as *const ()),
};

static NAME: NameTable = NameTable {
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

#[inline]
pub(crate) fn core() -> &'static CoreTable {
    &CORE
}

#[inline]
pub(crate) fn control() -> &'static ControlTable {
    &CONTROL
}

#[inline]
pub(crate) fn name() -> &'static NameTable {
    &NAME
}

/// The tables, with the real calls in them: a listener must never save a `first_*` function as the
/// original, for it would come back to the listener's own wrapper.
pub(crate) fn table_set() -> &'static TableSet {
    settle();
    &TABLES
}

/// Replaces what is left of the `first_*` functions.
fn settle() {
    CORE.mark.replace(first_mark as MarkFn, calls::mark);
    CORE.push.replace(first_push as PushFn, calls::push);
    CORE.pop.replace(first_pop as PopFn, calls::pop);
    CORE.start.replace(first_start as StartFn, calls::start);
    CORE.stop.replace(first_stop as StopFn, calls::stop);
    CORE.get_thread_id
        .replace(first_get_thread_id as GetThreadIdFn, calls::get_thread_id);
    CONTROL
        .pause
        .replace(first_pause as ControlFn, calls::control);
    CONTROL
        .resume
        .replace(first_resume as ControlFn, calls::control);
    NAME.os_thread
        .replace(first_name_thread as NameThreadFn, calls::name_thread);
    NAME.hsa_agent
        .replace(first_name_agent as NameHandleFn, calls::name_handle);
    NAME.hip_device
        .replace(first_name_device as NameDeviceFn, calls::name_device);
    NAME.hip_stream
        .replace(first_name_stream as NameHandleFn, calls::name_handle);
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
    if let Err(reason) = modules::load(&path) {
        // Not eprintln!, which panics where stderr is closed.
        let _ = writeln!(
            std::io::stderr(),
            "xprof-roctx: {variable} names a tool that cannot be loaded: {reason}. ROCTX ranges \
             are not captured; set it to the path of libxprof_roctx_tool.so or unset it."
        );
    }
}

unsafe extern "C" fn first_mark(message: *const c_char) {
    hand_over();
    // SAFETY: the caller's contract is that of the function called.
    unsafe { CORE.mark.get()(message) }
}

unsafe extern "C" fn first_push(message: *const c_char) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { CORE.push.get()(message) }
}

unsafe extern "C" fn first_pop() -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { CORE.pop.get()() }
}

unsafe extern "C" fn first_start(message: *const c_char) -> u64 {
    hand_over();
    // SAFETY: as above.
    unsafe { CORE.start.get()(message) }
}

unsafe extern "C" fn first_stop(id: u64) {
    hand_over();
    // SAFETY: as above.
    unsafe { CORE.stop.get()(id) }
}

unsafe extern "C" fn first_get_thread_id(tid: *mut u64) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { CORE.get_thread_id.get()(tid) }
}

unsafe extern "C" fn first_pause(tid: u64) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { CONTROL.pause.get()(tid) }
}

unsafe extern "C" fn first_resume(tid: u64) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { CONTROL.resume.get()(tid) }
}

unsafe extern "C" fn first_name_thread(name: *const c_char) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { NAME.os_thread.get()(name) }
}

unsafe extern "C" fn first_name_agent(name: *const c_char, agent: *const c_void) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { NAME.hsa_agent.get()(name, agent) }
}

unsafe extern "C" fn first_name_device(name: *const c_char, device: c_int) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { NAME.hip_device.get()(name, device) }
}

unsafe extern "C" fn first_name_stream(name: *const c_char, stream: *const c_void) -> c_int {
    hand_over();
    // SAFETY: as above.
    unsafe { NAME.hip_stream.get()(name, stream) }
}
