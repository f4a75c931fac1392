//! The wrappers that stand in a ROCTX copy's dispatch tables, and how they get there.
//!
//! A wrapper tells the `listener` and calls what was in the table before. Tables
//! carry no context pointer, so each copy of ROCTX in the process gets a *slot*: its own set of
//! wrapper functions, made by the compiler from one, and its own saved originals.

use crate::listener;
use embedded_roctx::tables::{
    ControlFn, Entry, MarkFn, NameDeviceFn, NameHandleFn, NameThreadFn, PopFn, PushFn, StartFn,
    StopFn,
};
use embedded_roctx::{ControlTable, CoreTable, NameTable, TableSet, TablesFn, modules};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::offset_of;

/// Copies of ROCTX that one process can hold: AMD's, the two shared libraries of this project, and
/// those linked into extensions and tools.
const SLOTS: usize = 8;

/// What a slot's tables held before.
struct Originals {
    mark: Entry<MarkFn>,
    push: Entry<PushFn>,
    pop: Entry<PopFn>,
    start: Entry<StartFn>,
    stop: Entry<StopFn>,
    pause: Entry<ControlFn>,
    resume: Entry<ControlFn>,
    name_thread: Entry<NameThreadFn>,
    name_device: Entry<NameDeviceFn>,
    name_stream: Entry<NameHandleFn>,
}

static ORIGINALS: [Originals; SLOTS] = [const {
    Originals {
        mark: Entry::empty(),
        push: Entry::empty(),
        pop: Entry::empty(),
        start: Entry::empty(),
        stop: Entry::empty(),
        pause: Entry::empty(),
        resume: Entry::empty(),
        name_thread: Entry::empty(),
        name_device: Entry::empty(),
        name_stream: Entry::empty(),
    }
}; SLOTS];

/// The tables wrapped so far, by slot.
static ATTACHED: Mutex<Vec<[usize; 3]>> = Mutex::new(Vec::new());

/// The tables were not wrapped: every slot is taken.
#[derive(Debug, thiserror::Error)]
#[error(
    "{SLOTS} copies of the ROCTX library are loaded in this process already; the ranges of another \
     one are not captured"
)]
pub struct NoSlotLeft;

/// Wraps one copy's tables. Doing it again for the same tables changes nothing.
///
/// # Safety
/// The set and its tables are valid for the life of the process, and hold functions of the types
/// that [`embedded_roctx::tables`] names.
pub unsafe fn attach(set: *const TableSet) -> Result<(), NoSlotLeft> {
    // SAFETY: valid by this function's contract; null means there is none.
    let Some(set) = (unsafe { set.as_ref() }) else {
        return Ok(());
    };
    let mut attached = ATTACHED.lock();
    // The SDK shows the tables of a copy one by one; each such set is a slot's.
    let key = [set.core.addr(), set.control.addr(), set.name.addr()];
    if attached.contains(&key) {
        return Ok(());
    }
    // SAFETY: valid by this function's contract.
    unsafe {
        match attached.len() {
            0 => wrap::<0>(set),
            1 => wrap::<1>(set),
            2 => wrap::<2>(set),
            3 => wrap::<3>(set),
            4 => wrap::<4>(set),
            5 => wrap::<5>(set),
            6 => wrap::<6>(set),
            7 => wrap::<7>(set),
            _ => return Err(NoSlotLeft),
        }
    }
    attached.push(key);
    Ok(())
}

/// Wraps the copy of ROCTX in this shared object and those in all others loaded by now. Copies
/// loaded later find this listener at their first call.
pub fn attach_loaded() -> Result<(), NoSlotLeft> {
    // SAFETY: the embedded copy's tables are static.
    unsafe { attach(embedded_roctx::table_set()) }?;
    for function in modules::find_symbol(embedded_roctx::TABLES_SYMBOL) {
        // SAFETY: a symbol of this name is a TablesFn: the name is this project's own and carries
        // the version of its signature. What it returns is static in an object never unloaded.
        unsafe {
            let tables = std::mem::transmute::<*mut c_void, TablesFn>(function);
            attach(tables())?;
        }
    }
    Ok(())
}

/// The loaded ROCTX libraries that are not of this project, by path: AMD's. Their calls do not
/// come through tables that [`attach_loaded`] can reach.
pub fn foreign_libraries() -> Vec<String> {
    loaded(|file, path| {
        (file.starts_with("librocprofiler-sdk-roctx.so") || file.starts_with("libroctx64.so"))
            && modules::symbol_in(path, embedded_roctx::TABLES_SYMBOL).is_none()
    })
}

/// The HIP runtime and rocprofiler-sdk, by path, if they are loaded.
pub(crate) fn gpu_libraries() -> Vec<String> {
    loaded(|file, _| {
        file.starts_with("libamdhip64.so") || file.starts_with("librocprofiler-sdk.so")
    })
}

/// The loaded libraries that `wanted` says, by file name and path.
fn loaded(wanted: impl Fn(&str, &CStr) -> bool) -> Vec<String> {
    modules::loaded()
        .into_iter()
        .filter_map(|path| {
            let text = path.to_string_lossy().into_owned();
            let file = text.rsplit('/').next().unwrap_or_default();
            wanted(file, &path).then_some(text)
        })
        .collect()
}

/// Puts slot `S`'s wrappers into the tables.
///
/// # Safety
/// As for [`attach`].
unsafe fn wrap<const S: usize>(set: &TableSet) {
    let originals = &ORIGINALS[S];
    // Wraps the entries that the table's maker filled; an older library's table is shorter.
    macro_rules! wrap_entries {
        ($table:expr, $type:ty, $($entry:ident => $original:ident, $wrapper:expr;)*) => {
            // SAFETY: the table is null or valid by this function's contract.
            if let Some(table) = unsafe { $table.as_ref() } {
                $(if table.size as usize >= offset_of!($type, $entry) + size_of::<usize>() {
                    swap(&table.$entry, &originals.$original, $wrapper);
                })*
            }
        };
    }
    wrap_entries!(set.core, CoreTable,
        mark => mark, mark::<S>;
        push => push, push::<S>;
        pop => pop, pop::<S>;
        start => start, start::<S>;
        stop => stop, stop::<S>;
    );
    wrap_entries!(set.control, ControlTable,
        pause => pause, pause::<S>;
        resume => resume, resume::<S>;
    );
    wrap_entries!(set.name, NameTable,
        os_thread => name_thread, name_thread::<S>;
        hip_device => name_device, name_device::<S>;
        hip_stream => name_stream, name_stream::<S>;
    );
}

/// Puts a wrapper in, having saved what it will call; an empty entry stays empty.
fn swap<F: Copy>(entry: &Entry<F>, original: &Entry<F>, wrapper: F) {
    loop {
        let current = entry.get();
        original.set(current);
        if current.is_none() || entry.replace(current, Some(wrapper)) {
            return;
        }
    }
}

/// Calls a slot's saved original; none does nothing, as 0.
macro_rules! original {
    ($slot:ident . $name:ident ($($argument:expr),*)) => {
        match ORIGINALS[$slot].$name.get() {
            // SAFETY: the caller's contract is that of the original.
            Some(function) => unsafe { function($($argument),*) },
            None => Default::default(),
        }
    };
}

unsafe extern "C" fn mark<const S: usize>(message: *const c_char) {
    // SAFETY: null or NUL-terminated, as roctx.h asks of the caller; so too in all below.
    unsafe { listener::mark(message) };
    original!(S.mark(message))
}

unsafe extern "C" fn push<const S: usize>(message: *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { listener::push(message) };
    original!(S.push(message))
}

unsafe extern "C" fn pop<const S: usize>() -> c_int {
    let level = original!(S.pop());
    listener::pop(level);
    level
}

unsafe extern "C" fn start<const S: usize>(message: *const c_char) -> u64 {
    let id = original!(S.start(message));
    // SAFETY: as above.
    unsafe { listener::start(S, id, message) };
    id
}

unsafe extern "C" fn stop<const S: usize>(id: u64) {
    listener::stop(S, id);
    original!(S.stop(id))
}

unsafe extern "C" fn pause<const S: usize>(tid: u64) -> c_int {
    listener::pause();
    original!(S.pause(tid))
}

unsafe extern "C" fn resume<const S: usize>(tid: u64) -> c_int {
    listener::resume();
    original!(S.resume(tid))
}

unsafe extern "C" fn name_thread<const S: usize>(name: *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { listener::name_thread(name) };
    original!(S.name_thread(name))
}

unsafe extern "C" fn name_device<const S: usize>(name: *const c_char, device: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { listener::name_device(name, device) };
    original!(S.name_device(name, device))
}

unsafe extern "C" fn name_stream<const S: usize>(
    name: *const c_char,
    stream: *const c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe { listener::name_stream(name, stream) };
    original!(S.name_stream(name, stream))
}

/// Exports, from the shared object in which it is invoked, the two symbols by which the listener
/// in it and other copies of ROCTX find each other ([`embedded_roctx::ATTACH_SYMBOL`],
/// [`embedded_roctx::TABLES_SYMBOL`]).
#[macro_export]
macro_rules! export_meeting_symbols {
    () => {
        /// Wraps a ROCTX copy's tables for the listener in this shared object.
        ///
        /// # Safety
        /// The set is valid for the life of the process.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn xprof_roctx_attach_v1(
            tables: *const $crate::embedded_roctx::TableSet,
        ) -> std::ffi::c_int {
            // SAFETY: the caller's contract.
            match unsafe { $crate::intercept::attach(tables) } {
                Ok(()) => 0,
                Err(_) => -1,
            }
        }

        $crate::embedded_roctx::export_tables_symbol!();
    };
}
