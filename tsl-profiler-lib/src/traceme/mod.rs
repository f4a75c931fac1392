//! The recorder of host events: TSL's `traceme.h` and `traceme_recorder.h`.
//!
//! In: [`TraceMe`]s, around host work, on any thread; activities, whose start and end are separate
//! calls.
//! Out: [`Recording`], from [`TraceMeRecorder::stop`]: the events of one session by thread, with
//! how many were still open.
//!
//! While no session records, a TraceMe costs one atomic load. While one does, each thread writes
//! into a queue of its own without a lock.
//!
//! | module | job |
//! |---|---|
//! | `scope` | [`TraceMe`] and activities |
//! | `session` | whether a session records, and which |
//! | `thread_events` | one thread's queue |
//! | `recorder` | starting, stopping, and collecting from the threads |
//! | [`encode`](mod@encode) | metadata in names |
//! | `fork` | what a forked child sees of it |
//! | `clock` | the time |

mod clock;
pub mod encode;
mod fork;
mod recorder;
mod scope;
mod session;
mod thread_events;

pub use encode::{append_metadata, encode};
pub use recorder::{AlreadyRecording, Event, Recording, ThreadEvents, TraceMeRecorder};
pub use scope::{ActivityId, TraceMe};
pub use session::Level;
