//! The tracer as a profiler of stock JAX.
//!
//! JAX runs the session and the post-processing: this profiler hands it the marker plane alone, in
//! a form that every jaxlib merges into `/host:CPU`.

use crate::options::SessionOptions;
use pjrt_profiler::{Code, Error, Profiler};
use rocm_tracer::{CarrierPlane, CollectorOptions, RocmTraceCollector, RocmTracer, TraceCapture};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

/// The plane that jaxlib is given. It merges `/host:NVTX-CUPTI`, but only the first of that name;
/// where another plug-in sends one too, this must be [`CarrierPlane::HostCpu`].
const CARRIER: CarrierPlane = CarrierPlane::NvtxCupti;

/// One session, as JAX drives it.
pub struct RoctxProfiler {
    options: SessionOptions,
    /// Whether the tracer's session is this one's to stop.
    running: bool,
    captured: Option<TraceCapture>,
}

impl Profiler for RoctxProfiler {
    /// JAX's own options say nothing about markers; ours come from the environment.
    fn create(_options: &[u8]) -> Self {
        Self {
            options: SessionOptions::from_env(),
            running: false,
            captured: None,
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        RocmTracer::singleton()
            .enable(self.options.tracer.clone())
            .map_err(|error| {
                Error::new(
                    Code::FailedPrecondition,
                    format!("xprof_roctx: no ROCTX rows in this trace: {error}"),
                )
            })?;
        self.running = true;
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.running) {
            let captured = RocmTracer::singleton()
                .disable()
                .map_err(|error| Error::new(Code::Internal, format!("xprof_roctx: {error}")))?;
            self.captured = Some(captured);
        }
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<u8>, Error> {
        let mut space = XSpace::default();
        if let Some(captured) = self.captured.take() {
            RocmTraceCollector::new(CollectorOptions {
                carrier: CARRIER,
                row_style: self.options.row_style,
            })
            .export(captured, &mut space);
        }
        // jaxlib takes the planes and leaves the warnings behind.
        for warning in &space.warnings {
            tracing::warn!("{warning}");
        }
        Ok(space.encode_to_vec())
    }
}

impl Drop for RoctxProfiler {
    fn drop(&mut self) {
        // The host went away between start and stop; the next session must be able to start.
        if self.running {
            let _ = RocmTracer::singleton().disable();
        }
    }
}
