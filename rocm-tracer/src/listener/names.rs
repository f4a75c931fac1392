//! Names given to threads, devices and streams, and to the domains and categories of NVTX.
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
    /// Of NVTX, by number from 1; 0 is the default domain.
    domains: Vec<Box<[u8]>>,
    /// Of NVTX, by domain and number.
    categories: HashMap<(u32, u32), Box<[u8]>>,
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

pub(crate) fn set_thread(tid: u32, name: &[u8]) {
    set(&mut NAMES.lock().threads, tid, name);
}

pub(super) fn set_device(device: c_int, name: &[u8]) {
    set(&mut NAMES.lock().devices, device, name);
}

pub(super) fn set_stream(stream: usize, name: &[u8]) {
    set(&mut NAMES.lock().streams, stream, name);
}

/// The number of the NVTX domain of this name, from 1. Past [`MOST_NAMES`] it is the default one.
pub(crate) fn domain(name: &[u8]) -> u32 {
    let name = super::labels::cut(name, LONGEST_NAME);
    let domains = &mut NAMES.lock().domains;
    let known = domains.iter().position(|known| **known == *name);
    let index = match known {
        None if domains.len() >= MOST_NAMES => return 0,
        None => {
            domains.push(name.into());
            domains.len() - 1
        }
        Some(index) => index,
    };
    index as u32 + 1
}

pub(crate) fn set_category(domain: u32, category: u32, name: &[u8]) {
    set(&mut NAMES.lock().categories, (domain, category), name);
}

impl Names {
    /// The name of an NVTX domain; `None` for the default one.
    pub(crate) fn domain(&self, domain: u32) -> Option<&[u8]> {
        let index = domain.checked_sub(1)?;
        self.domains.get(index as usize).map(|name| &**name)
    }

    /// The name of a category of an NVTX domain, if it has been given one.
    pub(crate) fn category(&self, domain: u32, category: u32) -> Option<&[u8]> {
        self.categories.get(&(domain, category)).map(|name| &**name)
    }
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
