//! Scope range ids: one a push, unique in the process.
//!
//! * A thread with a number of its own: bit 63 is 0, bits 62 to 48 are the number (1 to 32,767),
//!   bits 47 to 0 are the thread's own counter, from 1.
//! * A thread that came when all numbers were taken: bits 63 and 62 are `10`, the rest is a counter
//!   that all such threads share.
//!
//! `11` at the top is no id: it stands for a thread that has made none yet.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

const COUNTER_BITS: u32 = 48;
const COUNTER_MASK: u64 = (1 << COUNTER_BITS) - 1;
const LAST_THREAD_NUMBER: u16 = (1 << 15) - 1;
const SHARED: u64 = 0b10 << 62;
const SHARED_MASK: u64 = (1 << 62) - 1;
const UNSET: u64 = 0b11 << 62;

/// The last id that a thread made. It outlives generations, so that no id comes twice.
#[derive(Clone, Copy)]
pub(crate) struct LastId(u64);

impl LastId {
    /// A thread that has made no id.
    pub(crate) const NONE: Self = Self(UNSET);
}

/// Where threads get their numbers, and where those without one get their ids.
pub(crate) struct IdSource {
    next_thread_number: AtomicU16,
    next_shared: AtomicU64,
}

impl IdSource {
    pub(crate) const fn new() -> Self {
        Self {
            next_thread_number: AtomicU16::new(1),
            next_shared: AtomicU64::new(0),
        }
    }

    /// Makes the id that follows `last` on the calling thread. As a signed number, since that is
    /// how TSL passes them on: ids of threads without a number are negative.
    #[inline]
    pub(crate) fn next(&self, last: &mut LastId) -> i64 {
        if last.0 >= UNSET {
            last.0 = self.first();
        }
        last.0 = if last.0 & SHARED == 0 {
            (last.0 & !COUNTER_MASK) | (last.0.wrapping_add(1) & COUNTER_MASK)
        } else {
            SHARED | (self.next_shared.fetch_add(1, Ordering::Relaxed) & SHARED_MASK)
        };
        last.0 as i64
    }

    /// What stands before a thread's first id.
    #[cold]
    fn first(&self) -> u64 {
        let number =
            self.next_thread_number
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |number| {
                    (number <= LAST_THREAD_NUMBER).then(|| number + 1)
                });
        match number {
            Ok(number) => u64::from(number) << COUNTER_BITS,
            Err(_) => SHARED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_counts_up_beneath_its_number() {
        let source = IdSource::new();
        let (mut first, mut second) = (LastId::NONE, LastId::NONE);
        assert_eq!(source.next(&mut first), 0x0001_0000_0000_0001);
        assert_eq!(source.next(&mut second), 0x0002_0000_0000_0001);
        assert_eq!(source.next(&mut first), 0x0001_0000_0000_0002);
        assert_eq!(source.next(&mut second), 0x0002_0000_0000_0002);
    }

    #[test]
    fn the_counter_wraps_without_touching_the_thread_number() {
        let source = IdSource::new();
        let mut last = LastId(0x7fff_ffff_ffff_ffff);
        assert_eq!(source.next(&mut last), 0x7fff_0000_0000_0000);
        assert_eq!(source.next(&mut last), 0x7fff_0000_0000_0001);
    }

    #[test]
    fn past_the_last_number_threads_share_a_counter() {
        let source = IdSource::new();
        source
            .next_thread_number
            .store(LAST_THREAD_NUMBER, Ordering::Relaxed);
        let (mut last_numbered, mut a, mut b) = (LastId::NONE, LastId::NONE, LastId::NONE);
        assert_eq!(source.next(&mut last_numbered), 0x7fff_0000_0000_0001);
        let ids = [
            source.next(&mut a),
            source.next(&mut b),
            source.next(&mut a),
        ];
        assert_eq!(
            ids.map(|id| id as u64),
            [
                0x8000_0000_0000_0000,
                0x8000_0000_0000_0001,
                0x8000_0000_0000_0002
            ]
        );
        assert_eq!(source.next(&mut last_numbered), 0x7fff_0000_0000_0002);
    }

    #[test]
    fn the_shared_counter_never_reaches_the_mark_of_no_id() {
        let source = IdSource::new();
        source.next_shared.store(SHARED_MASK, Ordering::Relaxed);
        let mut last = LastId(SHARED);
        assert_eq!(source.next(&mut last) as u64, 0xbfff_ffff_ffff_ffff);
        assert_eq!(source.next(&mut last) as u64, SHARED);
    }
}
