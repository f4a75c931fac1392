//! Starting, stopping, and collecting from the threads.

use super::fork;
use super::session::{self, Level, Session};
use super::thread_events::{ThreadQueue, What};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The recorder of host events: one in the process.
pub struct TraceMeRecorder(());

/// A session records already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("host events are being recorded already: stop that session before starting another")]
pub struct AlreadyRecording;

/// What one session recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The threads that ended an event, by when they first recorded anything. A thread id can
    /// appear twice if a thread ended and the kernel gave its id to another.
    pub threads: Vec<ThreadEvents>,
    /// Events that had begun and not ended. They are in no thread's list.
    pub open_at_stop: u64,
}

/// The events that ended on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEvents {
    /// The kernel's id of the thread.
    pub tid: i64,
    /// Its name, as the kernel knew it at the thread's first event in the session: at most 15
    /// bytes.
    pub name: String,
    /// By when they ended.
    pub events: Vec<Event>,
}

/// A host event. Times are of `CLOCK_BOOTTIME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Bytes of any kind, with metadata as [`encode`](super::encode()) lays it out.
    pub name: Vec<u8>,
    /// When it began, in ns.
    pub start_ns: u64,
    /// When it ended, in ns; not before it began.
    pub end_ns: u64,
}

impl TraceMeRecorder {
    /// Starts a session, which records events up to this level.
    pub fn start(level: Level) -> Result<(), AlreadyRecording> {
        fork::watch();
        let mut registry = REGISTRY.lock();
        if registry.recording.is_some() {
            return Err(AlreadyRecording);
        }
        // Late records of earlier sessions: they count nowhere, and only take memory.
        for entry in registry.threads.values() {
            entry.queue.drain(Session::NONE).for_each(drop);
        }
        registry.recording = Some(session::begin(level));
        Ok(())
    }

    /// Stops the session and returns what it recorded; `None` if there is none.
    pub fn stop() -> Option<Recording> {
        let mut registry = REGISTRY.lock();
        let session = registry.recording.take()?;
        session::end(session);
        let recording = collect(
            session,
            registry.threads.values().map(|entry| &*entry.queue),
        );
        registry.threads.retain(|_, entry| !entry.ended);
        Some(recording)
    }
}

/// Takes the session's records from all threads, and joins the ends of activities to their starts.
fn collect<'a>(session: Session, queues: impl Iterator<Item = &'a ThreadQueue>) -> Recording {
    let mut opened = 0;
    let mut starts = HashMap::new();
    let mut threads = Vec::new();
    for queue in queues {
        opened += queue.opened(session);
        let mut ended = Vec::new();
        for what in queue.drain(session) {
            match what {
                What::Start { id, name, at } => {
                    starts.insert(id, (name, at));
                }
                other => ended.push(other),
            }
        }
        threads.push((queue, ended));
    }
    let mut recording = Recording::default();
    let mut recorded = 0;
    for (queue, ended) in threads {
        let events: Vec<Event> = ended
            .into_iter()
            .filter_map(|what| match what {
                What::Event { name, start, end } => Some((name, start, end)),
                // An end without a start belongs to an activity of an earlier session.
                What::End { id, at } => starts.remove(&id).map(|(name, start)| (name, start, at)),
                What::Start { .. } => None,
            })
            .map(|(name, start_ns, end_ns)| Event {
                name,
                start_ns,
                end_ns,
            })
            .collect();
        recorded += events.len() as u64;
        if !events.is_empty() {
            recording.threads.push(ThreadEvents {
                tid: queue.tid,
                name: queue.name(),
                events,
            });
        }
    }
    recording.open_at_stop = opened.saturating_sub(recorded);
    recording
}

/// The threads that have recorded something.
struct Registry {
    recording: Option<Session>,
    threads: BTreeMap<u64, Entry>,
    next: u64,
}

struct Entry {
    queue: Arc<ThreadQueue>,
    /// The thread has ended; what it recorded is kept until the session stops.
    ended: bool,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    recording: None,
    threads: BTreeMap::new(),
    next: 0,
});

impl Registry {
    fn add(&mut self, queue: Arc<ThreadQueue>, ended: bool) -> u64 {
        let key = self.next;
        self.next += 1;
        self.threads.insert(key, Entry { queue, ended });
        key
    }
}

/// Holds the registry while the process forks, so that the child finds it whole and unlocked.
pub(super) fn lock_for_fork() {
    std::mem::forget(REGISTRY.lock());
}

/// Ends [`lock_for_fork`], on the same thread.
///
/// # Safety
/// `lock_for_fork` was called on this thread and not yet ended.
pub(super) unsafe fn unlock_after_fork() {
    // SAFETY: this function's contract; the guard was forgotten, so the lock is held.
    unsafe { REGISTRY.force_unlock() };
}

/// Ends the parent's session in a child, where nobody will stop it.
///
/// The queues are left as they are and never freed: their threads are not in the child, and one may
/// have been in the middle of a record, which whoever empties its queue would wait for.
pub(super) fn abandon_in_child() {
    let mut registry = REGISTRY.lock();
    if let Some(session) = registry.recording.take() {
        session::end(session);
    }
    std::mem::forget(std::mem::take(&mut registry.threads));
}

/// The thread's hold on its queue.
struct Registered {
    queue: Arc<ThreadQueue>,
    key: u64,
    /// The process that the queue is registered in, and in which its thread id is true.
    forks: u64,
}

impl Registered {
    fn new() -> Self {
        let queue = Arc::new(ThreadQueue::of_this_thread());
        let key = REGISTRY.lock().add(Arc::clone(&queue), false);
        let forks = fork::count();
        Self { queue, key, forks }
    }

    /// In a forked child, the thread's queue was its parent's.
    fn follow_fork(&mut self) {
        if self.forks != fork::count() {
            std::mem::forget(std::mem::replace(self, Self::new()));
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if self.forks != fork::count() {
            return; // the registry of this process does not know it
        }
        let mut registry = REGISTRY.lock();
        if registry.recording.is_none() {
            registry.threads.remove(&self.key);
        } else if let Some(entry) = registry.threads.get_mut(&self.key) {
            entry.ended = true;
        }
    }
}

/// The calling thread's queue. Only a thread's first call takes the recorder's lock, and one made
/// while the thread is ending and has lost its own.
pub(super) fn queue() -> Arc<ThreadQueue> {
    thread_local! {
        static QUEUE: RefCell<Registered> = RefCell::new(Registered::new());
    }
    QUEUE
        .try_with(|registered| {
            let mut registered = registered.borrow_mut();
            registered.follow_fork();
            Arc::clone(&registered.queue)
        })
        .unwrap_or_else(|_| {
            let queue = Arc::new(ThreadQueue::of_this_thread());
            let mut registry = REGISTRY.lock();
            if registry.recording.is_some() {
                registry.add(Arc::clone(&queue), true);
            }
            queue
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traceme::TraceMe;

    fn registered() -> usize {
        REGISTRY.lock().threads.len()
    }

    // The only test of this binary that uses the recorder.
    #[test]
    fn threads_that_ended_leave_nothing_behind() {
        let short_thread = || {
            std::thread::spawn(|| drop(TraceMe::new("short")))
                .join()
                .unwrap();
        };
        let before = registered();
        short_thread();
        assert_eq!(registered(), before, "nothing records, so nothing is kept");

        TraceMeRecorder::start(Level::CRITICAL).unwrap();
        (0..1000).for_each(|_| short_thread());
        let held = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                drop(TraceMe::new("outlives the session"));
                held.wait();
                held.wait();
            });
            held.wait();
            assert_eq!(registered(), before + 1001);
            let recording = TraceMeRecorder::stop().unwrap();
            assert_eq!(recording.threads.len(), 1001);
            assert_eq!(registered(), before + 1);
            held.wait();
        });
        // Scoped threads end before their thread-locals are gone; a joined one does not.
        while registered() > before {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_record_that_a_stop_overtook_stays_out_of_the_next_session() {
        let queue = ThreadQueue::of_this_thread();
        let event = |name: &str| What::Event {
            name: name.into(),
            start: 1,
            end: 2,
        };
        let (first, second) = (session::tests::session(1), session::tests::session(2));
        queue.count_opened(first);
        assert_eq!(collect(first, [&queue].into_iter()).open_at_stop, 1);
        queue.record(first, event("late"));
        queue.count_opened(second);
        queue.record(second, event("in time"));
        // A name that took so long to make that the next session has begun.
        queue.count_opened(first);
        queue.record(first, event("later still"));
        let recording = collect(second, [&queue].into_iter());
        assert_eq!(recording.threads[0].events.len(), 1);
        assert_eq!(recording.threads[0].events[0].name, b"in time");
        assert_eq!(recording.open_at_stop, 0);
    }
}
