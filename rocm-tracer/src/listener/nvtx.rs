//! NVTX calls.
//!
//! On each thread each domain has a stack of ranges of its own, and ranges of two domains need not
//! nest. So each has a log of its own there. Their depths are known outside sessions too, for the
//! calls return them.

use super::attributes::Attributes;
use super::thread_log::{self, ThreadLog};
use super::{async_ranges, session};
use crate::clock;
use crate::drops::DropReason;
use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a push or a pop returns that is not followed: `NVTX_NO_PUSH_POP_TRACKING`.
const NOT_TRACKED: c_int = -2;

/// Stands for NVTX where ranges are told apart by the copy of ROCTX that started them.
const COPY: usize = usize::MAX;

/// One domain on one thread.
struct Stack {
    domain: u32,
    depth: usize,
    /// Made at its first marker in a session.
    log: Option<Arc<ThreadLog>>,
}

#[derive(Default)]
struct Thread {
    /// Few: a program has a handful of domains.
    stacks: Vec<Stack>,
    label: Vec<u8>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        for log in self.stacks.iter().filter_map(|stack| stack.log.as_ref()) {
            thread_log::hand_over(log);
        }
    }
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

/// Runs `act` on this thread's stack of the domain, with a buffer for a label. `None`, with a count,
/// if the thread is ending, or is in the midst of that already.
fn with<R>(domain: u32, act: impl FnOnce(&mut Stack, &mut Vec<u8>) -> R) -> Option<R> {
    let done = THREAD.try_with(|thread| {
        let mut thread = thread.try_borrow_mut().ok()?;
        let Thread { stacks, label } = &mut *thread;
        let index = match stacks.iter().position(|stack| stack.domain == domain) {
            Some(index) => index,
            None => {
                stacks.push(Stack {
                    domain,
                    depth: 0,
                    log: None,
                });
                stacks.len() - 1
            }
        };
        Some(act(&mut stacks[index], label))
    });
    match done {
        Ok(Some(result)) => return Some(result),
        Ok(None) => session::drop_one(DropReason::Reentrant),
        Err(_) => session::drop_one(DropReason::ThreadEnding),
    }
    None
}

impl Stack {
    fn record(&mut self, record: impl FnOnce(&mut super::Markers)) {
        if session::is_active() {
            self.log
                .get_or_insert_with(|| ThreadLog::new(Some(self.domain)))
                .record(record);
        }
    }
}

/// Opens a range; returns the level before it.
pub(crate) fn push(domain: u32, text: &[u8], attributes: &Attributes) -> c_int {
    let level = with(domain, |stack, buffer| {
        stack.record(|markers| {
            if session::is_paused() {
                markers.push_unrecorded(DropReason::Paused);
            } else {
                markers.push(attributes.label(text, buffer), clock::ticks);
            }
        });
        stack.depth += 1;
        (stack.depth - 1) as c_int
    });
    level.unwrap_or(NOT_TRACKED)
}

/// Closes the domain's innermost range on this thread; returns the level after it, or -1 if there is
/// none.
pub(crate) fn pop(domain: u32) -> c_int {
    let now = if session::is_active() {
        clock::ticks()
    } else {
        None
    };
    let level = with(domain, |stack, _| {
        let before = stack.depth;
        stack.record(|markers| markers.pop(now, before > 0));
        stack.depth = before.saturating_sub(1);
        before as c_int - 1
    });
    level.unwrap_or(NOT_TRACKED)
}

/// Marks an instant.
pub(crate) fn mark(domain: u32, text: &[u8], attributes: &Attributes) {
    if session::is_active() {
        with(domain, |stack, buffer| {
            stack.record(|markers| {
                if session::is_paused() {
                    markers.drops.add(DropReason::Paused);
                } else {
                    markers.mark(attributes.label(text, buffer), clock::ticks());
                }
            });
        });
    }
}

/// Starts a range that any thread may end; returns its id, unique in the process and not 0.
pub(crate) fn start(domain: u32, text: &[u8], attributes: &Attributes) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    if session::is_active() {
        let label = attributes.label(text, &mut Vec::new()).to_vec();
        async_ranges::start((COPY, id), Some(domain), &label);
    }
    id
}

/// Ends a range by its id.
pub(crate) fn end(id: u64) {
    if session::is_active() {
        async_ranges::stop((COPY, id));
    }
}

/// Forgets, in a child process, the logs of the forking thread, as
/// [`thread_log::abandon_in_child`] does. What is open on its stacks stays open.
pub(super) fn abandon_in_child() {
    let _ = THREAD.try_with(|thread| {
        // A fork within one of the functions above would be of a signal handler's.
        if let Ok(mut thread) = thread.try_borrow_mut() {
            for stack in &mut thread.stacks {
                std::mem::forget(stack.log.take());
            }
        }
    });
}
