//! One thread's side of the recorder.
//!
//! The thread writes, without a lock; whoever starts or stops a session reads, under the recorder's
//! lock. Records carry their session, so that one which arrives late, from a thread that a stop
//! overtook, cannot get into the next session.

use super::session::Session;
use crossbeam_queue::SegQueue;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a thread writes down.
pub(super) enum What {
    /// A whole event. Times in ns.
    Event { name: Vec<u8>, start: u64, end: u64 },
    /// The start of the activity with this id.
    Start { id: u64, name: Vec<u8>, at: u64 },
    /// Its end, maybe on another thread.
    End { id: u64, at: u64 },
}

pub(super) struct ThreadQueue {
    /// The kernel's id of the thread.
    pub(super) tid: i64,
    name: Mutex<String>,
    records: SegQueue<(Session, What)>,
    /// The latest session that the thread has recorded in. Only the thread writes it.
    session: AtomicU64,
    /// Events begun on this thread in that session, ended or not. Only the thread writes it.
    opened: AtomicU64,
}

impl ThreadQueue {
    /// The calling thread's.
    pub(super) fn of_this_thread() -> Self {
        Self {
            // SAFETY: takes nothing and cannot fail.
            tid: i64::from(unsafe { libc::gettid() }),
            name: Mutex::new(String::new()),
            records: SegQueue::new(),
            session: AtomicU64::new(Session::NONE.number()),
            opened: AtomicU64::new(0),
        }
    }

    /// Counts an event that begins. For the thread itself.
    pub(super) fn count_opened(&self, session: Session) {
        self.enter(session);
        if self.session.load(Ordering::Relaxed) == session.number() {
            let opened = self.opened.load(Ordering::Relaxed);
            self.opened.store(opened + 1, Ordering::Release);
        }
    }

    /// Writes down what happened. For the thread itself.
    pub(super) fn record(&self, session: Session, what: What) {
        self.enter(session);
        self.records.push((session, what));
    }

    /// Makes the queue one of this session, unless the thread has gone on to a later one.
    fn enter(&self, session: Session) {
        if self.session.load(Ordering::Relaxed) < session.number() {
            // Once a session: threads get their names, if at all, soon after they begin.
            *self.name.lock() = name_of_this_thread();
            self.opened.store(0, Ordering::Relaxed);
            self.session.store(session.number(), Ordering::Release);
        }
    }

    /// Events that this thread began in the session.
    pub(super) fn opened(&self, session: Session) -> u64 {
        if self.session.load(Ordering::Acquire) == session.number() {
            self.opened.load(Ordering::Acquire)
        } else {
            0
        }
    }

    /// Takes what has been recorded in this session, in order. What is left of others goes.
    pub(super) fn drain(&self, session: Session) -> impl Iterator<Item = What> {
        std::iter::from_fn(|| self.records.pop())
            .filter(move |(of, _)| *of == session)
            .map(|(_, what)| what)
    }

    /// The thread's name as the kernel knows it; before its first event, empty.
    pub(super) fn name(&self) -> String {
        self.name.lock().clone()
    }
}

fn name_of_this_thread() -> String {
    let mut name = [0u8; 16]; // the kernel's limit, with its NUL
    // SAFETY: writes at most as many bytes as the buffer has, and a NUL.
    let failed = unsafe {
        libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast(), name.len())
    };
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(0);
    if failed == 0 {
        String::from_utf8_lossy(&name[..length]).into_owned()
    } else {
        String::new()
    }
}
