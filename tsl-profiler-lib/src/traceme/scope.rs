//! What a program calls around its work.

use super::recorder;
use super::session::{self, Level, Session};
use super::thread_events::What;
use super::{append_metadata, clock};
use crate::label::Label;
use std::sync::atomic::{AtomicU32, Ordering};

/// A host event, from when it is made until it is stopped or dropped.
///
/// It is recorded only if the same session records at both times, on the thread that ends it. One
/// that is still open when its session stops is counted in
/// [`open_at_stop`](super::Recording::open_at_stop) and not recorded, as in TSL.
#[must_use = "the event ends when the value is dropped"]
pub struct TraceMe(Option<Open>);

struct Open {
    session: Session,
    name: Vec<u8>,
    start: u64,
}

impl TraceMe {
    /// An event of the user's level with a name that is there already.
    #[inline]
    pub fn new(name: impl Label) -> Self {
        Self::with_level(Level::CRITICAL, || name)
    }

    /// An event of the user's level with a name that is made only if it is recorded.
    #[inline]
    pub fn with<L: Label>(name: impl FnOnce() -> L) -> Self {
        Self::with_level(Level::CRITICAL, name)
    }

    /// An event of this level.
    #[inline]
    pub fn with_level<L: Label>(level: Level, name: impl FnOnce() -> L) -> Self {
        Self(session::recording(level).map(|session| Self::open(session, name().bytes())))
    }

    #[cold]
    fn open(session: Session, name: &[u8]) -> Open {
        recorder::queue().count_opened(session);
        Open {
            session,
            name: name.to_vec(),
            start: clock::now_ns(),
        }
    }

    /// Appends metadata (`#key=value,…#`) to the name. It is made only if the event is recorded.
    #[inline]
    pub fn append_metadata<L: Label>(&mut self, metadata: impl FnOnce() -> L) {
        if let Some(open) = &mut self.0 {
            append_metadata(&mut open.name, metadata().bytes());
        }
    }

    /// Whether it will be recorded if it ends before its session does.
    pub fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// Ends the event; the first call counts.
    #[inline]
    pub fn stop(&mut self) {
        if let Some(open) = self.0.take() {
            open.close();
        }
    }

    /// Whether a session records events of this level.
    #[inline]
    pub fn is_active(level: Level) -> bool {
        session::recording(level).is_some()
    }

    /// Records an instant.
    #[inline]
    pub fn instant<L: Label>(level: Level, name: impl FnOnce() -> L) {
        if let Some(session) = session::recording(level) {
            let now = clock::now_ns();
            let what = What::Event {
                name: name().bytes().to_vec(),
                start: now,
                end: now,
            };
            let queue = recorder::queue();
            queue.count_opened(session);
            queue.record(session, what);
        }
    }

    /// Begins an activity, which [`activity_end`](Self::activity_end) ends, on this or another
    /// thread: for work that no scope encloses.
    #[inline]
    pub fn activity_start<L: Label>(level: Level, name: impl FnOnce() -> L) -> ActivityId {
        let Some(session) = session::recording(level) else {
            return ActivityId::UNTRACED;
        };
        let id = ActivityId::next();
        let what = What::Start {
            id: id.0,
            name: name().bytes().to_vec(),
            at: clock::now_ns(),
        };
        let queue = recorder::queue();
        queue.count_opened(session);
        queue.record(session, what);
        id
    }

    /// Ends an activity. It is recorded on the calling thread if its session still records.
    #[inline]
    pub fn activity_end(id: ActivityId) {
        if id == ActivityId::UNTRACED {
            return;
        }
        // Of any level: that its start was recorded is what counts.
        if let Some(session) = session::recording(Level::CRITICAL) {
            let at = clock::now_ns();
            recorder::queue().record(session, What::End { id: id.0, at });
        }
    }
}

impl Drop for TraceMe {
    #[inline]
    fn drop(&mut self) {
        self.stop();
    }
}

impl Open {
    #[cold]
    fn close(self) {
        if session::recording(Level::CRITICAL) == Some(self.session) {
            let what = What::Event {
                name: self.name,
                start: self.start,
                end: clock::now_ns(),
            };
            recorder::queue().record(self.session, what);
        }
    }
}

/// Joins the start of an activity to its end. Unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActivityId(u64);

impl ActivityId {
    /// Of an activity that began while nothing was recorded. Ending it does nothing.
    pub const UNTRACED: Self = Self(0);

    /// As TSL's: the thread in the upper half, so that threads do not share a counter.
    fn next() -> Self {
        static NEXT_THREAD: AtomicU32 = AtomicU32::new(1);
        thread_local! {
            static THREAD: u32 = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
            static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
        }
        let count = COUNT.get();
        COUNT.set(count.wrapping_add(1));
        Self(u64::from(THREAD.with(|thread| *thread)) << 32 | u64::from(count))
    }
}
