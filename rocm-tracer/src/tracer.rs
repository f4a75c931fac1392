//! The tracer: one a process, one session at a time.

use crate::capture::TraceCapture;
use crate::clock::{self, Anchor, ClockSource, Span};
use crate::gpu::{self, export::GpuCapture};
use crate::intercept;
use crate::listener::{
    self,
    session::{self, Limits},
};
use crate::sdk;
use annotation_stack::AnnotationStack;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Once;

/// Whether kernels, copies and HIP calls are recorded, where the machine has AMD GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuTracing {
    /// If the HIP runtime or rocprofiler-sdk is in the process when the session starts.
    #[default]
    Auto,
    /// Yes: rocprofiler-sdk is loaded if need be, and a warning says if it cannot be.
    On,
    /// No.
    Off,
}

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
    /// Whether GPU work is recorded.
    pub gpu: GpuTracing,
    /// Kernels and copies kept a session; later ones are counted and dropped. XLA's name and
    /// default. HIP calls count against `max_callback_api_events`.
    pub max_activity_api_events: u64,
    /// Distinct labels of launches, launches with labels, and scope ranges kept a session, each.
    /// XLA's name and default.
    pub max_annotation_strings: u64,
    /// Folders, by absolute paths, in which to look for rocprofiler-sdk first: those of ROCm's Python
    /// wheels, say. The folders of the environment variable `XPROF_ROCTX_SDK_PATH` come next.
    pub sdk_folders: Vec<PathBuf>,
}

impl Default for RocmTracerOptions {
    fn default() -> Self {
        Self {
            max_callback_api_events: 4 << 20,
            max_label_bytes: 64 << 10,
            clock: ClockSource::default(),
            max_label_memory: 1 << 30,
            gpu: GpuTracing::default(),
            max_activity_api_events: 4 << 20,
            max_annotation_strings: 4 << 20,
            sdk_folders: Vec::new(),
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
    /// Whether GPU work is recorded, or why not; `None` where it is not wanted.
    gpu: Option<Result<(), String>>,
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

    /// Configures rocprofiler-sdk as a session with these options would, without starting one. To be
    /// called early, by programs that can: the SDK tells the names of kernels whose code is loaded
    /// after it was configured, and only so.
    ///
    /// # Errors
    /// Why nothing will be heard from the SDK, and what to do.
    pub fn prepare(&self, options: &RocmTracerOptions) -> Result<(), String> {
        let _running = self.running.lock();
        prepare_sdk(options)
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
        let prepared = prepare_sdk(&options);
        let markers = prepared.clone().and_then(|()| sdk::start_markers());
        if let (Err(reason), false) = (markers, intercept::foreign_libraries().is_empty()) {
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
        let gpu = match options.gpu {
            GpuTracing::Off => None,
            GpuTracing::Auto | GpuTracing::On => Some(prepared.and_then(|()| gpu::start(&options))),
        };
        *running = Some(Running {
            generation,
            start,
            options,
            warnings,
            gpu,
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

    /// Takes in the records of GPU work that rocprofiler-sdk has ready, without stopping: in a long
    /// session the SDK's buffer is delivered when it is filling up, and this is for those who do not
    /// want to wait. Does nothing where no GPU work is recorded.
    ///
    /// # Errors
    /// What the SDK said; the records come later.
    pub fn flush(&self) -> Result<(), String> {
        match self.running.lock().as_ref().map(|running| &running.gpu) {
            Some(Some(Ok(()))) => sdk::gpu::flush(),
            _ => Ok(()),
        }
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
            mut warnings,
            gpu,
        } = running.take().ok_or(DisableError::NotRunning)?;
        session::close();
        AnnotationStack::enable(false);
        if let Err(reason) = sdk::stop_markers() {
            tracing::warn!("{reason}");
        }
        let gpu = match gpu {
            None => GpuCapture::default(),
            Some(Ok(())) => gpu::stop(),
            Some(Err(reason)) => {
                let missed = !sdk::is_guest() && !intercept::gpu_libraries().is_empty();
                if options.gpu == GpuTracing::On || missed {
                    tracing::warn!("kernels and copies are not captured: {reason}");
                    warnings.push(format!(
                        "GPU: kernels and copies are not in this trace: {reason}"
                    ));
                }
                GpuCapture::default()
            }
        };
        // The clocks were read at the start; were they not now, the session's length is unknown,
        // and a session of length 0 says so by dropping its events with a count.
        let stop = Anchor::now().unwrap_or(start);
        let heard = session::end(generation);
        Ok(TraceCapture {
            span: Span { start, stop },
            threads: heard.threads,
            nvtx: heard.nvtx,
            async_ranges: heard.async_ranges,
            names: heard.names,
            drops: heard.drops,
            max_events: options.max_callback_api_events,
            max_label_bytes: options.max_label_bytes,
            warnings,
            gpu,
        })
    }
}

/// Finds and configures rocprofiler-sdk, if the session has a use for it.
fn prepare_sdk(options: &RocmTracerOptions) -> Result<(), String> {
    sdk::prepare(&sdk::Wanted {
        folders: &options.sdk_folders,
        roctx: &intercept::foreign_libraries(),
        hip: &match options.gpu {
            GpuTracing::Off => Vec::new(),
            GpuTracing::Auto | GpuTracing::On => intercept::gpu_libraries(),
        },
        gpu: options.gpu == GpuTracing::On,
        no_gpu: options.gpu == GpuTracing::Off,
    })
}

/// Sees to it that a child process starts without its parent's session.
fn watch_forks() {
    extern "C" fn lock() {
        std::mem::forget(RocmTracer::singleton().running.lock());
        session::lock_for_fork();
        gpu::recording::lock_for_fork();
    }
    extern "C" fn unlock() {
        // SAFETY: `lock` has locked all of it, on this thread.
        unsafe {
            gpu::recording::unlock_after_fork();
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
        gpu::abandon_in_child();
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this object, which is never unloaded while its
        // wrappers stand in ROCTX tables.
        unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(start_clean)) };
    });
}
