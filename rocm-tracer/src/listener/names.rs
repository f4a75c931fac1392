//! Names given to threads, devices and streams.
//!
//! They outlive sessions, since a program gives them once, at its start.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::LazyLock;

/// The names given so far; the last one given counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// By thread id.
    pub(crate) threads: HashMap<u32, Box<[u8]>>,
    /// By HIP device ordinal.
    pub(crate) devices: HashMap<c_int, Box<[u8]>>,
    /// By stream address.
    pub(crate) streams: HashMap<usize, Box<[u8]>>,
}

/// Names that are kept of each kind; ids are reused, but need not be.
const MOST_NAMES: usize = 1 << 16;
/// A name is for one row of a screen.
const LONGEST_NAME: usize = 1024;

static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(Mutex::default);

fn set<K: std::hash::Hash + Eq>(names: &mut HashMap<K, Box<[u8]>>, key: K, name: &[u8]) {
    if name.is_empty() {
        names.remove(&key);
    } else if names.len() < MOST_NAMES || names.contains_key(&key) {
        names.insert(key, super::labels::cut(name, LONGEST_NAME).into());
    }
}

pub(super) fn set_thread(tid: u32, name: &[u8]) {
    set(&mut NAMES.lock().threads, tid, name);
}

pub(super) fn set_device(device: c_int, name: &[u8]) {
    set(&mut NAMES.lock().devices, device, name);
}

pub(super) fn set_stream(stream: usize, name: &[u8]) {
    set(&mut NAMES.lock().streams, stream, name);
}

pub(super) fn snapshot() -> Names {
    NAMES.lock().clone()
}

/// Holds the names while the process forks, so that the child finds them whole and unlocked.
pub(super) fn lock_for_fork() {
    std::mem::forget(NAMES.lock());
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(super) unsafe fn unlock_after_fork() {
    // SAFETY: this function's contract.
    unsafe { NAMES.force_unlock() };
}
