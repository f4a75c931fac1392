//! The profiler that a factory makes for each session: start, stop, collect.

use crate::bridge::{GpuWork, ProfilerOptions};
use crate::failures::{guarded, problem, warn_on_stderr};
use rocm_tracer::profiler::{ProfilerError, ProfilerInterface, create_gpu_tracer};
use rocm_tracer::{CollectorOptions, GpuTracing, RocmTracerOptions};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

pub(crate) struct Profiler(Box<dyn ProfilerInterface>);

pub(crate) fn new_profiler(options: ProfilerOptions) -> Box<Profiler> {
    warn_on_stderr();
    let options = RocmTracerOptions {
        max_callback_api_events: options.max_callback_api_events,
        max_activity_api_events: options.max_activity_api_events,
        max_annotation_strings: options.max_annotation_strings,
        max_label_bytes: options.max_label_bytes,
        gpu: match options.gpu {
            GpuWork::On => GpuTracing::On,
            GpuWork::Off => GpuTracing::Off,
            _ => GpuTracing::Auto,
        },
        ..RocmTracerOptions::default()
    };
    Box::new(Profiler(create_gpu_tracer(
        options,
        CollectorOptions::default(),
    )))
}

impl Profiler {
    pub(crate) fn start(&mut self) -> String {
        problem(guarded("starting a profiler", || self.0.start()))
    }

    pub(crate) fn stop(&mut self) -> String {
        problem(guarded("stopping a profiler", || self.0.stop()))
    }

    /// Writes over `bytes`; leaves them as they are where nothing can be collected.
    pub(crate) fn collect(&mut self, bytes: &mut Vec<u8>) -> String {
        problem(guarded("collecting a profiler's data", || {
            let mut space = XSpace::default();
            self.0.collect_data(&mut space)?;
            *bytes = space.encode_to_vec();
            Ok::<_, ProfilerError>(())
        }))
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // So that it does not stop, and perhaps panic, while it is dropped.
        let problem = self.stop();
        if !problem.is_empty() {
            tracing::warn!("{problem}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Panicking;

    impl ProfilerInterface for Panicking {
        fn start(&mut self) -> Result<(), ProfilerError> {
            panic!("start")
        }

        fn stop(&mut self) -> Result<(), ProfilerError> {
            panic!("stop")
        }

        fn collect_data(&mut self, _space: &mut XSpace) -> Result<(), ProfilerError> {
            panic!("collect")
        }
    }

    #[test]
    fn a_panic_in_a_profiler_ends_in_words_also_when_it_is_dropped() {
        let mut profiler = Profiler(Box::new(Panicking));
        let bug = "failed with a panic, which is a bug of xprof_roctx";
        assert_eq!(profiler.start(), format!("starting a profiler {bug}"));
        assert_eq!(profiler.stop(), format!("stopping a profiler {bug}"));
        let mut bytes = vec![1];
        assert_eq!(
            profiler.collect(&mut bytes),
            format!("collecting a profiler's data {bug}")
        );
        assert_eq!(bytes, [1]);
        drop(profiler);
    }
}
