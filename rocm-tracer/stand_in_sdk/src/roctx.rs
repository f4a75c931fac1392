//! `librocprofiler-sdk-roctx.so` and `librocprofiler-register.so`: the calls, and their hand-over.
//!
//! The calls themselves return what AMD's do, and nothing of this project's own hand-over is here.

use crate::sdk::{self, Payload};
use embedded_roctx::tables::{ControlFn, CoreTable, Entry, MarkFn, NameThreadFn, PopFn, PushFn};
use embedded_roctx::tables::{NameDeviceFn, NameHandleFn, StartFn, StopFn};
use embedded_roctx::{ControlTable, NameTable};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const CORE_KIND: c_int = 7;
const CONTROL_KIND: c_int = 8;
const NAME_KIND: c_int = 9;
const ENTER: c_int = 1;
const EXIT: c_int = 2;

/// The tables are the stand-in's own: what they hold is chosen at the hand-over.
struct Tables {
    core: CoreTable,
    control: ControlTable,
    name: NameTable,
}

static TABLES: Tables = Tables {
    core: CoreTable {
        size: size_of::<CoreTable>() as u64,
        mark: Entry::empty(),
        push: Entry::empty(),
        pop: Entry::empty(),
        start: Entry::empty(),
        stop: Entry::empty(),
        get_thread_id: Entry::empty(),
    },
    control: ControlTable {
        size: size_of::<ControlTable>() as u64,
        pause: Entry::empty(),
        resume: Entry::empty(),
    },
    name: NameTable {
        size: size_of::<NameTable>() as u64,
        os_thread: Entry::empty(),
        hsa_agent: Entry::empty(),
        hip_device: Entry::empty(),
        hip_stream: Entry::empty(),
    },
};

/// What the first call, and a repeated hand-over, have done.
static DONE: Mutex<(bool, bool)> = Mutex::new((false, false));

/// The first call: puts the calls into the tables and hands them over to whoever has configured.
fn first_call() {
    let mut done = DONE.lock().unwrap();
    if !std::mem::replace(&mut done.0, true) {
        let core = &TABLES.core;
        core.mark.set(Some(mark as MarkFn));
        core.push.set(Some(push as PushFn));
        core.pop.set(Some(pop as PopFn));
        core.start.set(Some(start as StartFn));
        core.stop.set(Some(stop as StopFn));
        TABLES.control.pause.set(Some(pause as ControlFn));
        TABLES.control.resume.set(Some(resume as ControlFn));
        TABLES.name.os_thread.set(Some(name_thread as NameThreadFn));
        TABLES
            .name
            .hip_device
            .set(Some(name_device as NameDeviceFn));
        TABLES
            .name
            .hip_stream
            .set(Some(name_stream as NameHandleFn));
        if sdk::is_configured() {
            done.1 = true;
            hand_over();
        }
    }
}

fn hand_over() {
    sdk::show_table(1 << 3, (&raw const TABLES.core).cast_mut().cast());
    sdk::show_table(1 << 4, (&raw const TABLES.control).cast_mut().cast());
    sdk::show_table(1 << 5, (&raw const TABLES.name).cast_mut().cast());
}

/// Exported as rocprofiler-register's function of this name.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_register_invoke_nonpropagated_registrations() -> c_int {
    let mut done = DONE.lock().unwrap();
    if done.0 && !std::mem::replace(&mut done.1, true) && sdk::is_configured() {
        hand_over();
    }
    0
}

/// Shows the tables again, as newer SDKs do when another tool configures late.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_repeat_hand_over() {
    hand_over();
}

/// Whether the hand-over reached a listener, so that callbacks come.
fn is_heard() -> bool {
    DONE.lock().unwrap().1
}

fn text(message: *const c_char) -> [u64; 2] {
    [message.addr() as u64, 0]
}

/// Runs a call between its two callbacks, as the SDK's wrappers do.
fn traced(kind: c_int, operation: c_int, arguments: [u64; 2], call: impl FnOnce() -> u64) -> u64 {
    if !is_heard() {
        return call();
    }
    let mut payload = Payload {
        size: size_of::<Payload>() as u64,
        arguments,
        result: 0,
    };
    sdk::call_back(kind, operation, ENTER, 1, (&raw const payload).cast());
    payload.result = call();
    sdk::call_back(kind, operation, EXIT, 1, (&raw const payload).cast());
    payload.result
}

thread_local! {
    /// How many ranges are open.
    static DEPTH: Cell<c_int> = const { Cell::new(0) };
}

unsafe extern "C" fn mark(message: *const c_char) {
    traced(CORE_KIND, 0, text(message), || 0);
}

unsafe extern "C" fn push(message: *const c_char) -> c_int {
    traced(CORE_KIND, 1, text(message), || {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        depth as u32 as u64
    }) as c_int
}

unsafe extern "C" fn pop() -> c_int {
    traced(CORE_KIND, 2, [0, 0], || {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth.max(0));
        depth as u32 as u64
    }) as c_int
}

unsafe extern "C" fn start(message: *const c_char) -> u64 {
    static RANGES: AtomicU64 = AtomicU64::new(0);
    traced(CORE_KIND, 3, text(message), || {
        RANGES.fetch_add(1, Ordering::Relaxed) + 1
    })
}

unsafe extern "C" fn stop(id: u64) {
    traced(CORE_KIND, 4, [id, 0], || 0);
}

unsafe extern "C" fn pause(tid: u64) -> c_int {
    traced(CONTROL_KIND, 0, [tid, 0], || 0) as c_int
}

unsafe extern "C" fn resume(tid: u64) -> c_int {
    traced(CONTROL_KIND, 1, [tid, 0], || 0) as c_int
}

unsafe extern "C" fn name_thread(name: *const c_char) -> c_int {
    traced(NAME_KIND, 0, text(name), || 0) as c_int
}

unsafe extern "C" fn name_device(name: *const c_char, device: c_int) -> c_int {
    let arguments = [name.addr() as u64, device as u32 as u64];
    traced(NAME_KIND, 2, arguments, || 0) as c_int
}

unsafe extern "C" fn name_stream(name: *const c_char, stream: *const c_void) -> c_int {
    let arguments = [name.addr() as u64, stream.addr() as u64];
    traced(NAME_KIND, 3, arguments, || 0) as c_int
}

/// Exports a ROCTX function that calls through a table.
macro_rules! exports {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $table:ident.$entry:ident;)*) => {$(
        /// The ROCTX function of this name.
        ///
        /// # Safety
        /// As AMD's header asks.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            first_call();
            let call = TABLES.$table.$entry.get().unwrap();
            // SAFETY: the program's arguments, as ROCTX takes them.
            unsafe { call($($argument),*) }
        }
    )*};
}

exports! {
    roctxMarkA(message: *const c_char) = core.mark;
    roctxRangePushA(message: *const c_char) -> c_int = core.push;
    roctxRangePop() -> c_int = core.pop;
    roctxRangeStartA(message: *const c_char) -> u64 = core.start;
    roctxRangeStop(id: u64) = core.stop;
    roctxProfilerPause(tid: u64) -> c_int = control.pause;
    roctxProfilerResume(tid: u64) -> c_int = control.resume;
    roctxNameOsThread(name: *const c_char) -> c_int = name.os_thread;
    roctxNameHipDevice(name: *const c_char, device: c_int) -> c_int = name.hip_device;
    roctxNameHipStream(name: *const c_char, stream: *const c_void) -> c_int = name.hip_stream;
}
