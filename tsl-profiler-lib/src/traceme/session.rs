//! Whether a session records, and which: one word, which every TraceMe reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much detail an event is, and up to which detail a session records. TSL's levels; a program
/// may use larger ones of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// Written by the user: the level of annotations.
    pub const CRITICAL: Self = Self(1);
    /// How a program proceeds: expensive operations. What a session records by default.
    pub const INFO: Self = Self(2);
    /// Cheap operations too.
    pub const VERBOSE: Self = Self(3);

    /// A level by its number; 0 is taken for 1, since a session of level 0 would record nothing.
    pub const fn new(level: u8) -> Self {
        Self(if level == 0 { 1 } else { level })
    }
}

/// Which session an event belongs to. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Session(u64);

impl Session {
    /// No session.
    pub(super) const NONE: Self = Self(0);

    pub(super) fn number(self) -> u64 {
        self.0
    }
}

const LEVEL_BITS: u32 = u8::BITS;

/// The number of the current or last session, and in the low bits its level: 0 once it has stopped.
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// The session that records events of this level, if there is one.
#[inline]
pub(super) fn recording(level: Level) -> Option<Session> {
    let current = CURRENT.load(Ordering::Acquire);
    (current as u8 >= level.0).then_some(Session(current >> LEVEL_BITS))
}

/// Begins the next session. The caller makes sure that none records.
pub(super) fn begin(level: Level) -> Session {
    let session = Session((CURRENT.load(Ordering::Relaxed) >> LEVEL_BITS) + 1);
    CURRENT.store(
        session.0 << LEVEL_BITS | u64::from(level.0),
        Ordering::Release,
    );
    session
}

/// Ends it.
pub(super) fn end(session: Session) {
    CURRENT.store(session.0 << LEVEL_BITS, Ordering::Release);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A session by its number.
    pub(in crate::traceme) fn session(number: u64) -> Session {
        Session(number)
    }
}
