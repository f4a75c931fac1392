//! The tracer as XLA's profiler sessions drive one: start, stop, collect.
//!
//! A profiler is for one session. XLA's rules hold: collecting before the stop is an error;
//! collecting what never started, or failed to, gives nothing. A profiler that is dropped while it
//! runs stops, so that neither the tracer nor the annotation stack is left on.

use crate::capture::TraceCapture;
use crate::collector::{CollectorOptions, RocmTraceCollector};
use crate::tracer::{DisableError, EnableError, RocmTracer, RocmTracerOptions};
use xplane_schema::proto::XSpace;

/// A source of planes: `tsl::profiler::ProfilerInterface`.
pub trait ProfilerInterface {
    /// Begins to record.
    ///
    /// # Errors
    /// Why nothing is recorded; there will be nothing to collect.
    fn start(&mut self) -> Result<(), ProfilerError>;

    /// Ends recording. Does nothing if nothing is being recorded.
    ///
    /// # Errors
    /// Why what was recorded is lost.
    fn stop(&mut self) -> Result<(), ProfilerError>;

    /// Adds what was recorded to `space`, once.
    ///
    /// # Errors
    /// [`ProfilerError::NotStopped`].
    fn collect_data(&mut self, space: &mut XSpace) -> Result<(), ProfilerError>;
}

/// Why a profiler did not do as told.
#[derive(Debug, thiserror::Error)]
pub enum ProfilerError {
    /// A profiler records once.
    #[error("this profiler was started before: make another one for another session")]
    AlreadyStarted,
    /// Data were asked for while they were still being recorded.
    #[error("data cannot be collected while they are being recorded: stop the profiler first")]
    NotStopped,
    /// The tracer did not start.
    #[error(transparent)]
    Start(#[from] EnableError),
    /// The tracer did not stop: somebody else has stopped it.
    #[error(transparent)]
    Stop(#[from] DisableError),
}

enum State {
    NotStarted,
    Started,
    Stopped(Box<TraceCapture>),
    /// Collected, or failed to start or stop.
    Done,
}

/// Records ROCTX ranges, HIP calls, kernels and copies.
pub struct GpuTracer {
    options: RocmTracerOptions,
    collector: RocmTraceCollector,
    state: State,
}

/// Makes a profiler, as XLA's factories do for each session.
pub fn create_gpu_tracer(
    options: RocmTracerOptions,
    collector: CollectorOptions,
) -> Box<dyn ProfilerInterface> {
    Box::new(GpuTracer {
        options,
        collector: RocmTraceCollector::new(collector),
        state: State::NotStarted,
    })
}

impl ProfilerInterface for GpuTracer {
    fn start(&mut self) -> Result<(), ProfilerError> {
        if !matches!(self.state, State::NotStarted) {
            return Err(ProfilerError::AlreadyStarted);
        }
        self.state = State::Done;
        RocmTracer::singleton().enable(self.options.clone())?;
        self.state = State::Started;
        Ok(())
    }

    fn stop(&mut self) -> Result<(), ProfilerError> {
        if matches!(self.state, State::Started) {
            self.state = State::Done;
            self.state = State::Stopped(Box::new(RocmTracer::singleton().disable()?));
        }
        Ok(())
    }

    fn collect_data(&mut self, space: &mut XSpace) -> Result<(), ProfilerError> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Stopped(capture) => self.collector.export(*capture, space),
            State::Started => {
                self.state = State::Started;
                return Err(ProfilerError::NotStopped);
            }
            State::NotStarted => self.state = State::NotStarted,
            State::Done => {}
        }
        Ok(())
    }
}

impl Drop for GpuTracer {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::warn!("{error}");
        }
    }
}
