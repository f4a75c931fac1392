//! Ranges that an object owns.
//!
//! A thread's ranges are a stack: only the innermost can be closed. A Python object that holds a
//! range may be stopped, or collected, while others are open above it, or on another thread. To
//! close something then would close somebody else's range.
//!
//! So each thread keeps a list of the ranges that objects own on it, with how deep each lies.
//! Closing an object only sets its flag. The thread itself takes a range off once its flag is set
//! and it is the innermost, at once and at each later annotation. The ranges between them, which
//! no object owns, are ended by `pop_unowned`, which in the same way leaves owned ones alone.

use crate::label::Label;
use crate::{nvtx_utils, scoped_annotation};
use annotation_stack::{AnnotationStack, Position};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A range on the stack of the thread that opened it. Any thread may close it; dropping it does.
pub struct OwnedRange(Arc<AtomicBool>);

/// A range that [`OwnedRange`] or [`pop_unowned`] knows of.
struct Open {
    closed: Arc<AtomicBool>,
    place: Position,
}

thread_local! {
    /// Innermost last.
    static OPEN: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    /// The length of `OPEN`, at the price of a load: nearly always 0.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Where this thread's innermost range lies: among its ranges, which have no generations, or where
/// ranges are off among its annotations.
fn innermost() -> Position {
    match nvtx_utils::default_profiler_domain() {
        Some(domain) => Position {
            generation: 0,
            depth: nvtx_utils::range_depth(domain),
        },
        None => AnnotationStack::position(),
    }
}

/// Changes the list, unless the thread is ending and has none any more.
fn with_open<R>(change: impl FnOnce(&mut Vec<Open>) -> R) -> Option<R> {
    OPEN.try_with(|open| {
        let mut open = open.borrow_mut();
        let result = change(&mut open);
        COUNT.set(open.len());
        result
    })
    .ok()
}

impl OwnedRange {
    /// Opens a range on the calling thread.
    pub fn open(label: &(impl Label + ?Sized)) -> Self {
        settle();
        let closed = Arc::new(AtomicBool::new(false));
        if scoped_annotation::push(label) {
            with_open(|open| {
                open.push(Open {
                    closed: Arc::clone(&closed),
                    place: innermost(),
                });
            });
        }
        Self(closed)
    }

    /// Closes the range; `false` if it was closed before. On its own thread it ends at once if it
    /// is the innermost, else as soon as it is; closed on another thread, it ends at its own
    /// thread's next annotation.
    pub fn close(&self) -> bool {
        let first = !self.0.swap(true, Ordering::AcqRel);
        if first {
            settle();
        }
        first
    }
}

impl Drop for OwnedRange {
    fn drop(&mut self) {
        self.close();
    }
}

/// Whether objects own ranges on this thread.
#[inline]
pub(crate) fn any() -> bool {
    COUNT.get() > 0
}

/// Ends the closed ranges at the end of this thread's stack.
#[inline]
pub(crate) fn settle() {
    if any() {
        end_closed();
    }
}

#[cold]
fn end_closed() {
    // The list is not borrowed during the pop: whoever listens to it may annotate.
    while any() && take_closed() {
        scoped_annotation::pop();
    }
}

/// Takes the innermost range off the list if it is closed. Ranges that are no longer there go
/// first: somebody popped them by another way, or the annotation stack was emptied.
fn take_closed() -> bool {
    let taken = with_open(|open| {
        let now = innermost();
        while open.pop_if(|last| is_gone(last.place, now)).is_some() {}
        let is_closed =
            |last: &mut Open| last.place.depth == now.depth && last.closed.load(Ordering::Acquire);
        open.pop_if(is_closed).is_some()
    });
    taken == Some(true)
}

fn is_gone(place: Position, now: Position) -> bool {
    place.generation != now.generation || place.depth > now.depth
}

/// Ends this thread's innermost range that no object owns. If owned ones are open above it, it ends
/// once they have; if there is none, nothing happens.
#[cold]
pub(crate) fn pop_unowned() {
    settle();
    let on_top = with_open(|open| {
        let mut place = innermost();
        let mut index = open.len();
        while index > 0 && open[index - 1].place == place {
            index -= 1;
            place.depth -= 1;
        }
        if index == open.len() {
            return true;
        }
        if place.depth > 0 {
            let closed = Arc::new(AtomicBool::new(true));
            open.insert(index, Open { closed, place });
        }
        false
    });
    if on_top != Some(false) {
        scoped_annotation::pop();
        settle();
    }
}
