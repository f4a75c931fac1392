//! The tracer as a profiler of stock JAX.
//!
//! JAX runs the session and the post-processing: this profiler hands it the marker plane alone, in
//! a form that every jaxlib merges into `/host:CPU`.

use crate::options::SessionOptions;
use crate::session::have_roctx_loaded;
use crate::{jax_mode, rocm_plugin};
use pjrt_profiler::{Code, Error, Profiler};
use rocm_tracer::{
    CarrierPlane, CollectorOptions, GpuTracing, RocmTraceCollector, RocmTracer, TraceCapture,
};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

/// The plane that jaxlib is given. It merges every `/host:CPU`, but of `/host:NVTX-CUPTI` only the
/// first: with that one, either these rows or those of another plug-in that sends it (the ROCm one
/// does) would be missing, whoever comes second.
const CARRIER: CarrierPlane = CarrierPlane::HostCpu;

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
        if !jax_mode::decide_now().listens {
            return Ok(());
        }
        if !rocm_plugin::loaded().is_empty() {
            // Kernels and copies are in its planes.
            self.options.tracer.gpu = GpuTracing::Off;
        }
        have_roctx_loaded();
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
