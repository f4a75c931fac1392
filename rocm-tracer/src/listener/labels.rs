//! A log's label memory: each distinct label once, in blocks that never move.
//!
//! A slot keeps an 8-byte [`Label`] in place of a string. Labels of one log are freed together.

use super::session;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ptr::NonNull;

/// A label in some [`LabelArena`]: a `u32` length and that many bytes behind it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Label(NonNull<u8>);

impl Label {
    /// The label's bytes.
    ///
    /// # Safety
    /// The arena that made the label is alive for as long as the result is used.
    pub(super) unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: `LabelArena::store` wrote the length and the bytes, and never writes again
        // there; the arena is alive by this function's contract.
        unsafe {
            let length = self.0.cast::<u32>().read_unaligned() as usize;
            std::slice::from_raw_parts(self.0.add(size_of::<u32>()).as_ptr(), length)
        }
    }
}

// SAFETY: a label is an address of bytes that are not written again; who reads them keeps the arena.
unsafe impl Send for Label {}
// SAFETY: as above.
unsafe impl Sync for Label {}

/// A label that was cut ends in this.
pub(crate) const TRUNCATED: &[u8] = b"...[truncated]";
/// Stands for labels that came after the session's label memory was used up.
pub(crate) const NO_MEMORY: &[u8] = b"[label memory limit reached]";

/// Threads can be many and short: the first block is small, and later ones double up to 64 KiB.
const FIRST_BLOCK: usize = 128;
const LARGEST_BLOCK: usize = 64 << 10;

/// Memory that labels point into. Held by address only: a reference to it would claim what labels
/// already share.
struct Block {
    address: NonNull<u8>,
    size: usize,
}

impl Block {
    fn new(size: usize) -> Self {
        let memory: &mut [u8] = Box::leak(vec![0u8; size].into_boxed_slice());
        Self {
            address: NonNull::from(memory).cast(),
            size,
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let memory = NonNull::slice_from_raw_parts(self.address, self.size);
        // SAFETY: `new` leaked just this, and labels are not read after their arena.
        drop(unsafe { Box::from_raw(memory.as_ptr()) });
    }
}

// SAFETY: a block owns its memory.
unsafe impl Send for Block {}

/// Interned labels of one log.
pub(crate) struct LabelArena {
    blocks: Vec<Block>,
    /// Bytes used of the last block.
    used: usize,
    index: HashTable<Label>,
    hasher: DefaultHashBuilder,
    /// Labels that [`NO_MEMORY`] stands for.
    pub(super) replaced: u64,
    /// Labels that were cut.
    pub(super) cut: u64,
}

impl Default for LabelArena {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            used: 0,
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            replaced: 0,
            cut: 0,
        }
    }
}

impl LabelArena {
    /// The label with these bytes, cut if they are more than the session takes.
    pub(super) fn intern(&mut self, bytes: &[u8]) -> Label {
        match cut(bytes, session::max_label_bytes()) {
            Cow::Borrowed(whole) => self.intern_whole(whole),
            Cow::Owned(short) => {
                self.cut += 1;
                self.intern_whole(&short)
            }
        }
    }

    fn intern_whole(&mut self, bytes: &[u8]) -> Label {
        let hash = self.hasher.hash_one(bytes);
        if let Some(&label) = self.find(hash, bytes) {
            return label;
        }
        let (hash, bytes) = if self.has_room(bytes.len()) {
            (hash, bytes)
        } else {
            self.replaced += 1;
            let hash = self.hasher.hash_one(NO_MEMORY);
            if let Some(&label) = self.find(hash, NO_MEMORY) {
                return label;
            }
            (hash, NO_MEMORY)
        };
        let label = self.store(bytes);
        let hasher = &self.hasher;
        self.index.insert_unique(hash, label, |label| {
            // SAFETY: the index holds labels of this arena only.
            hasher.hash_one(unsafe { label.bytes() })
        });
        label
    }

    #[inline]
    fn find(&self, hash: u64, bytes: &[u8]) -> Option<&Label> {
        self.index.find(hash, |label| {
            // SAFETY: the index holds labels of this arena only.
            unsafe { label.bytes() == bytes }
        })
    }

    /// Whether a label of so many bytes fits: into the last block, or into a new one that the
    /// session's label memory allows. Makes that block.
    fn has_room(&mut self, length: usize) -> bool {
        let needed = length + size_of::<u32>();
        let last = self.blocks.last().map_or(0, |block| block.size);
        if needed <= last - self.used {
            return true;
        }
        let size = (last * 2).clamp(FIRST_BLOCK, LARGEST_BLOCK).max(needed);
        if !session::reserve_label_bytes(size) {
            return false;
        }
        self.blocks.push(Block::new(size));
        self.used = 0;
        true
    }

    fn store(&mut self, bytes: &[u8]) -> Label {
        let needed = bytes.len() + size_of::<u32>();
        let last = self.blocks.last().map_or(0, |block| block.size);
        if needed > last - self.used {
            // Only the placeholder comes here unreserved, once a log.
            self.blocks.push(Block::new(needed));
            self.used = 0;
        }
        let block = self.blocks.last().expect("a block was just made");
        // SAFETY: `used + needed` is at most the block's size, no label reaches past `used`, and
        // `bytes` is not of this arena's unused part.
        let label = unsafe {
            let place = block.address.add(self.used);
            place.cast::<u32>().write_unaligned(bytes.len() as u32);
            place
                .add(size_of::<u32>())
                .copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            Label(place)
        };
        self.used += needed;
        label
    }

    /// Frees what only interning needs, for a log that gets no more labels.
    pub(super) fn seal(&mut self) {
        self.index = HashTable::new();
    }
}

/// The label, or if it is longer than `longest` bytes a visibly shortened one of that length.
#[inline]
pub(super) fn cut(label: &[u8], longest: usize) -> Cow<'_, [u8]> {
    if label.len() <= longest {
        return Cow::Borrowed(label);
    }
    let kept = cut_at_character(label, longest.saturating_sub(TRUNCATED.len()));
    Cow::Owned([kept, TRUNCATED].concat())
}

/// The first `at` bytes, or a few less so that no UTF-8 character is cut in two.
fn cut_at_character(bytes: &[u8], at: usize) -> &[u8] {
    let is_continuation = |byte: u8| byte & 0xC0 == 0x80;
    let mut end = at.min(bytes.len());
    // A character has at most three continuation bytes; more are not UTF-8, and cut anywhere.
    for _ in 0..3 {
        if end == 0 || end == bytes.len() || !is_continuation(bytes[end]) {
            break;
        }
        end -= 1;
    }
    &bytes[..end]
}
