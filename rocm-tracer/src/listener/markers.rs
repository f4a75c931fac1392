//! What a thread's log holds: the stack of open ranges, and one slot a marker in order of start.
//!
//! A range takes its slot when it opens and gets its end when it closes. So slots need no sorting,
//! an outer range precedes what it encloses, and a range still open when the session stops is
//! already there.

use super::labels::{Label, LabelArena};
use super::session;
use crate::drops::{DropCounts, DropReason};

/// The end of a range that is still open.
pub(crate) const OPEN: u64 = u64::MAX;

/// One marker kept: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Marker clock, ticks.
    pub(crate) start: u64,
    /// Marker clock, ticks; the start for a mark; [`OPEN`] for a range not closed.
    pub(crate) end: u64,
    pub(crate) label: Label,
}

const _: () = assert!(size_of::<Slot>() == 24);

/// Where a frame's slot is: chunk and place in it.
#[derive(Clone, Copy)]
struct Place {
    chunk: u32,
    offset: u32,
}

/// Chunks grow from few slots, for threads can be many and short, to 96 KiB.
const FIRST_CHUNK: usize = 32;
const LARGEST_CHUNK: usize = 4096;

/// One thread's markers in one session.
#[derive(Default)]
pub(crate) struct Markers {
    /// The session that these belong to.
    generation: u64,
    chunks: Vec<Vec<Slot>>,
    /// Slots that the last chunk may still take: what the session's limit granted, which its
    /// capacity may exceed.
    room: usize,
    /// Open ranges, outermost first; `None` where the range was not kept, for its pop must not
    /// close another.
    frames: Vec<Option<Place>>,
    labels: LabelArena,
    pub(crate) drops: DropCounts,
}

impl Markers {
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Empty, for the session of this generation.
    #[cold]
    pub(super) fn begin(&mut self, generation: u64) {
        *self = Self {
            generation,
            ..Self::default()
        };
    }

    /// Opens a range. The clock is read last, so that the range's time holds none of this work.
    #[inline]
    pub(super) fn push(&mut self, label: &[u8], clock: impl FnOnce() -> Option<u64>) {
        if label.is_empty() {
            return self.push_unrecorded(DropReason::Unlabelled);
        }
        if !self.has_room() {
            return self.push_unrecorded(DropReason::Capacity);
        }
        let label = self.labels.intern(label);
        let Some(start) = clock() else {
            return self.push_unrecorded(DropReason::ClockFailed);
        };
        let place = self.keep(Slot {
            start,
            end: OPEN,
            label,
        });
        self.frames.push(Some(place));
    }

    /// Opens a range that is not kept, only popped again.
    pub(super) fn push_unrecorded(&mut self, reason: DropReason) {
        self.drops.add(reason);
        self.frames.push(None);
    }

    /// Closes the innermost range. `matched`: ROCTX itself had a range open, so that if none is
    /// here, it was opened before the session.
    #[inline]
    pub(super) fn pop(&mut self, now: Option<u64>, matched: bool) {
        match self.frames.pop() {
            Some(Some(place)) => {
                let slot = &mut self.chunks[place.chunk as usize][place.offset as usize];
                match now {
                    Some(now) => slot.end = now.max(slot.start),
                    // A range of length 0 that starts where it should is the least wrong.
                    None => {
                        slot.end = slot.start;
                        self.drops.add(DropReason::ClockFailed);
                    }
                }
            }
            Some(None) => {}
            None if matched => self.drops.add(DropReason::OpenedBeforeSession),
            None => self.drops.add(DropReason::UnmatchedPop),
        }
    }

    #[inline]
    pub(super) fn mark(&mut self, label: &[u8], now: Option<u64>) {
        if label.is_empty() {
            return self.drops.add(DropReason::Unlabelled);
        }
        let Some(now) = now else {
            return self.drops.add(DropReason::ClockFailed);
        };
        if !self.has_room() {
            return self.drops.add(DropReason::Capacity);
        }
        let label = self.labels.intern(label);
        self.keep(Slot {
            start: now,
            end: now,
            label,
        });
    }

    /// The label of the innermost open range; empty if none is open or it was not kept.
    pub(super) fn innermost_label(&self) -> &[u8] {
        match self.frames.last() {
            Some(Some(place)) => {
                let slot = &self.chunks[place.chunk as usize][place.offset as usize];
                // SAFETY: the slot's label is of this log's arena, which the result borrows.
                unsafe { slot.label.bytes() }
            }
            _ => &[],
        }
    }

    /// Whether there is room for one more slot; if need be, makes a chunk of what the session's
    /// limit allows.
    #[inline]
    fn has_room(&mut self) -> bool {
        self.room > 0 || self.grow()
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let last = self.chunks.last().map_or(0, Vec::capacity);
        let wanted = (last * 2).clamp(FIRST_CHUNK, LARGEST_CHUNK);
        let granted = session::reserve_events(wanted);
        if granted == 0 {
            return false;
        }
        self.chunks.push(Vec::with_capacity(granted));
        self.room = granted;
        true
    }

    #[inline]
    fn keep(&mut self, slot: Slot) -> Place {
        let index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[index];
        let place = Place {
            chunk: index as u32,
            offset: chunk.len() as u32,
        };
        chunk.push(slot);
        self.room -= 1;
        place
    }

    /// Gives back what a log that gets no more markers does not need.
    pub(super) fn seal(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.shrink_to_fit();
        }
        if session::generation() == self.generation {
            session::give_back_events(std::mem::take(&mut self.room));
        }
        self.labels.seal();
        self.frames = Vec::new();
    }

    pub(super) fn has_news(&self) -> bool {
        !self.chunks.is_empty() || self.drops.total() > 0
    }

    /// How many markers are kept.
    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// The markers in order of start, each with its label's bytes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &[u8])> {
        self.chunks.iter().flatten().map(|&slot| {
            // SAFETY: the slot's label is of this log's arena, which the result borrows.
            (slot, unsafe { slot.label.bytes() })
        })
    }

    /// The labels of the open ranges that are kept, outermost first.
    pub(super) fn open_labels(&self) -> impl Iterator<Item = &[u8]> {
        self.frames.iter().flatten().map(|place| {
            let slot = &self.chunks[place.chunk as usize][place.offset as usize];
            // SAFETY: the slot's label is of this log's arena, which the result borrows.
            unsafe { slot.label.bytes() }
        })
    }

    /// Labels that were cut, and labels that the placeholder stands for.
    pub(crate) fn label_losses(&self) -> (u64, u64) {
        (self.labels.cut, self.labels.replaced)
    }
}
