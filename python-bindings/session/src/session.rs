//! One session at a time: [`CaptureSession`] to [`Capture`].

use crate::options::{SessionOptions, host_name};
use rocm_tracer::{
    CarrierPlane, CollectorOptions, DisableError, EnableError, RocmTraceCollector, RocmTracer,
};
use tsl_profiler_lib::nvtx_utils;
use tsl_profiler_lib::traceme::{AlreadyRecording, Level, TraceMeRecorder};
use xplane_schema::proto::XSpace;

/// Why a session did not start or stop.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It did not start. The session that is running, if that is the reason, goes on.
    #[error(transparent)]
    NotStarted(#[from] EnableError),
    /// It did not start, since somebody else records host events.
    #[error(transparent)]
    HostEvents(#[from] AlreadyRecording),
    /// It is not this process's: a child made by `fork` has no part in its parent's session.
    #[error("the session belongs to the process that this one was forked from; nothing to stop")]
    OfParent,
    /// The tracer had been stopped by somebody else.
    #[error(transparent)]
    NotRunning(#[from] DisableError),
}

/// A running session. Dropping it ends it and throws away what it captured.
#[must_use = "the session ends when this is dropped"]
#[derive(Debug)]
pub struct CaptureSession {
    options: SessionOptions,
    process: u32,
    stopped: bool,
}

/// What a session captured, finished for the viewers.
#[derive(Debug)]
pub struct Capture {
    /// The profile: one `/host:CPU` plane with the host threads' rows and the ROCTX rows.
    pub space: XSpace,
    /// The session's start, ns since the epoch.
    pub start_ns: u64,
    /// The session's stop, ns since the epoch.
    pub stop_ns: u64,
    /// The name under which this host is written.
    pub host: String,
}

impl CaptureSession {
    /// Starts recording, on all threads of this process.
    ///
    /// # Errors
    /// [`SessionError::NotStarted`].
    pub fn start(options: SessionOptions) -> Result<Self, SessionError> {
        have_roctx_loaded();
        RocmTracer::singleton().enable(options.tracer.clone())?;
        if let Err(error) = TraceMeRecorder::start(Level::VERBOSE) {
            // The tracer's session is this one's alone, so it ends with the failed start.
            let _ = RocmTracer::singleton().disable();
            return Err(error.into());
        }
        Ok(Self {
            options,
            process: std::process::id(),
            stopped: false,
        })
    }

    /// Whether this process started it. A forked child sees its parent's session as over.
    pub fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Stops recording and makes the profile.
    ///
    /// # Errors
    /// [`SessionError::OfParent`], [`SessionError::NotRunning`].
    pub fn stop(mut self) -> Result<Capture, SessionError> {
        if !self.is_of_this_process() {
            return Err(SessionError::OfParent);
        }
        self.stopped = true;
        let host_events = TraceMeRecorder::stop();
        let markers = RocmTracer::singleton().disable()?;
        let span = markers.span();
        let host = self.options.host.take().unwrap_or_else(host_name);

        let mut space = XSpace {
            hostnames: vec![host.clone()],
            ..XSpace::default()
        };
        if let Some(host_events) = host_events {
            rocm_tracer::host_tracer::export(&host_events, &span, &mut space);
        }
        RocmTraceCollector::new(CollectorOptions {
            carrier: CarrierPlane::Roctx,
            row_style: self.options.row_style,
        })
        .export(markers, &mut space);
        let (start_ns, stop_ns) = (span.start.wall_ns, span.stop_wall_ns());
        host_postprocess::post_process_single_host_xspace(&mut space, start_ns, stop_ns);
        Ok(Capture {
            space,
            start_ns,
            stop_ns,
            host,
        })
    }
}

/// Finds and loads the ROCTX library that annotations will call. AMD's is to be there when the tracer
/// starts: loaded later, by the first annotation in the session, it would not be listened to.
pub(crate) fn have_roctx_loaded() {
    if nvtx_utils::default_profiler_domain().is_some() {
        nvtx_utils::provider();
    }
}

impl Drop for CaptureSession {
    fn drop(&mut self) {
        if !self.stopped && self.is_of_this_process() {
            TraceMeRecorder::stop();
            if let Ok(markers) = RocmTracer::singleton().disable() {
                tracing::warn!(
                    "a capture session was dropped without being stopped; {} markers are lost",
                    markers.marker_count()
                );
            }
        }
    }
}
