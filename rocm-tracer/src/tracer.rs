//! The tracer: one a process, one session at a time.

use crate::capture::TraceCapture;
use crate::clock::{self, Anchor, ClockSource, Span};
use crate::intercept;
use crate::listener::{
    self,
    session::{self, Limits},
};
use crate::sdk;
use annotation_stack::AnnotationStack;
use parking_lot::Mutex;
use std::sync::Once;

/// What a session may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocmTracerOptions {
    /// Events kept a session; later ones are counted and dropped. XLA's name and default.
    pub max_callback_api_events: u64,
    /// Bytes of a label; longer ones are cut and end in `...[truncated]`.
    pub max_label_bytes: usize,
    /// What markers are timed by.
    pub clock: ClockSource,
    /// Bytes of all distinct labels together; past it, a placeholder stands for new ones.
    pub max_label_memory: u64,
}

impl Default for RocmTracerOptions {
    fn default() -> Self {
        Self {
            max_callback_api_events: 4 << 20,
            max_label_bytes: 64 << 10,
            clock: ClockSource::default(),
            max_label_memory: 1 << 30,
        }
    }
}

/// Why a session did not start.
#[derive(Debug, thiserror::Error)]
pub enum EnableError {
    /// Another session is active in this process.
    #[error(
        "the ROCTX tracer is already running: one session at a time; stop the first one before \
         starting another"
    )]
    AlreadyRunning,
    /// Nothing can be measured.
    #[error("the clocks cannot be read (clock_gettime of CLOCK_BOOTTIME or CLOCK_REALTIME failed)")]
    NoClock,
}

/// Why a session did not stop.
#[derive(Debug, thiserror::Error)]
pub enum DisableError {
    /// No session is active in this process.
    #[error("the ROCTX tracer is not running: nothing to stop")]
    NotRunning,
}

struct Running {
    generation: u64,
    start: Anchor,
    options: RocmTracerOptions,
    warnings: Vec<String>,
}

/// Listens to ROCTX while a session is active.
pub struct RocmTracer {
    running: Mutex<Option<Running>>,
}

impl RocmTracer {
    /// The process's tracer.
    pub fn singleton() -> &'static Self {
        static TRACER: RocmTracer = RocmTracer {
            running: Mutex::new(None),
        };
        &TRACER
    }

    /// Whether a session could start now.
    pub fn is_available(&self) -> bool {
        self.running.lock().is_none()
    }

    /// Starts a session: from the return on, every ROCTX call of the process is recorded, and the
    /// annotation stack is enabled.
    ///
    /// # Errors
    /// See [`EnableError`]; the running session, if that is the reason, goes on untouched.
    pub fn enable(&self, options: RocmTracerOptions) -> Result<(), EnableError> {
        let mut running = self.running.lock();
        if running.is_some() {
            return Err(EnableError::AlreadyRunning);
        }
        let mut warnings = Vec::new();
        if let Err(error) = intercept::attach_loaded() {
            tracing::warn!("{error}");
            warnings.push(format!("ROCTX: {error}"));
        }
        if let Err(reason) = sdk::start(&intercept::foreign_libraries()) {
            tracing::warn!("ranges that go to AMD's ROCTX library are not captured: {reason}");
            warnings.push(format!(
                "ROCTX: ranges that go to AMD's library are not in this trace: {reason}"
            ));
        }
        watch_forks();
        let generation = session::begin(&Limits {
            max_events: options.max_callback_api_events,
            max_label_bytes: options.max_label_bytes,
            max_label_memory: options.max_label_memory,
        });
        clock::choose(options.clock);
        let start = Anchor::now().ok_or(EnableError::NoClock)?;
        AnnotationStack::enable(true);
        session::open(generation);
        *running = Some(Running {
            generation,
            start,
            options,
            warnings,
        });
        Ok(())
    }

    /// Writes the label of the innermost ROCTX range that is open on the calling thread over what is
    /// in `label`: nothing if none is open, if it was not kept, or if no session records. It is the
    /// label as the trace has it, cut where it was too long.
    pub fn copy_current_label(&self, label: &mut Vec<u8>) {
        label.clear();
        listener::with_current_label(|current| label.extend_from_slice(current));
    }

    /// Stops the session and returns what it captured. From the return on nothing is recorded.
    ///
    /// # Errors
    /// [`DisableError::NotRunning`].
    pub fn disable(&self) -> Result<TraceCapture, DisableError> {
        let mut running = self.running.lock();
        let Running {
            generation,
            start,
            options,
            warnings,
        } = running.take().ok_or(DisableError::NotRunning)?;
        session::close();
        AnnotationStack::enable(false);
        if let Err(reason) = sdk::stop() {
            tracing::warn!("{reason}");
        }
        // The clocks were read at the start; were they not now, the session's length is unknown,
        // and a session of length 0 says so by dropping its events with a count.
        let stop = Anchor::now().unwrap_or(start);
        let heard = session::end(generation);
        Ok(TraceCapture {
            span: Span { start, stop },
            threads: heard.threads,
            async_ranges: heard.async_ranges,
            names: heard.names,
            drops: heard.drops,
            max_events: options.max_callback_api_events,
            max_label_bytes: options.max_label_bytes,
            warnings,
        })
    }
}

/// Sees to it that a child process starts without its parent's session.
fn watch_forks() {
    extern "C" fn lock() {
        std::mem::forget(RocmTracer::singleton().running.lock());
        session::lock_for_fork();
    }
    extern "C" fn unlock() {
        // SAFETY: `lock` has locked all of it, on this thread.
        unsafe {
            session::unlock_after_fork();
            RocmTracer::singleton().running.force_unlock();
        }
    }
    extern "C" fn start_clean() {
        unlock();
        if RocmTracer::singleton().running.lock().take().is_some() {
            AnnotationStack::enable(false);
        }
        session::abandon_in_child();
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this object, which is never unloaded while its
        // wrappers stand in ROCTX tables.
        unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(start_clean)) };
    });
}
