//! Sessions, and what the profiler's callbacks ask for meanwhile.

use crate::bridge::Text;
use crate::failures::{guarded, problem, warn_on_stderr};
use rocm_tracer::sdk::guest;
use rocm_tracer::{GpuTracing, RocmTraceCollector, RocmTracer, RocmTracerOptions, TraceCapture};
use std::cell::RefCell;
use std::mem::transmute;
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

/// One session at a time in the process; a capture stays here until it is exported.
#[derive(Default)]
pub(crate) struct Session {
    running: bool,
    captured: Option<TraceCapture>,
}

pub(crate) fn new_session() -> Box<Session> {
    warn_on_stderr();
    Box::default()
}

impl Session {
    pub(crate) fn start(&mut self, max_events: u64, max_label_bytes: usize) -> String {
        let options = RocmTracerOptions {
            max_callback_api_events: max_events,
            max_label_bytes,
            gpu: GpuTracing::Off,
            ..RocmTracerOptions::default()
        };
        let started = guarded("starting a ROCTX session", || {
            RocmTracer::singleton().enable(options)
        });
        self.running |= started.is_ok();
        problem(started)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running
    }

    pub(crate) fn stop(&mut self) -> String {
        if !self.running {
            return "this ROCTX session is not running: nothing to stop".to_owned();
        }
        self.running = false;
        problem(
            guarded("stopping a ROCTX session", || {
                RocmTracer::singleton().disable()
            })
            .map(|captured| self.captured = Some(captured)),
        )
    }

    pub(crate) fn marker_count(&self) -> usize {
        self.captured.as_ref().map_or(0, TraceCapture::marker_count)
    }

    pub(crate) fn take_xspace(&mut self) -> Vec<u8> {
        let mut space = XSpace::default();
        if let Some(captured) = self.captured.take() {
            let exported = guarded("exporting ROCTX markers", || {
                let mut exported = XSpace::default();
                RocmTraceCollector::default().export(captured, &mut exported);
                Ok::<_, String>(exported)
            });
            match exported {
                Ok(exported) => space = exported,
                Err(problem) => space.errors.push(problem),
            }
        }
        space.encode_to_vec()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.running {
            self.stop();
        }
    }
}

pub(crate) unsafe fn ask_for_tables(version: u32, ask: *const u8) -> bool {
    warn_on_stderr();
    // SAFETY: this function's contract: it is a function of this type.
    unsafe {
        guest::ask_for_tables(
            version,
            transmute::<*const u8, guest::AtInterceptTableRegistration>(ask),
        )
    }
}

pub(crate) unsafe fn configure_marker_service(
    version: u32,
    context: u64,
    configure: *const u8,
    get_status_string: *const u8,
) -> String {
    // SAFETY: this function's contract: they are functions of these types, the last one or null.
    problem(unsafe {
        guest::configure_marker_service(
            version,
            context,
            transmute::<*const u8, guest::ConfigureCallbackTracingService>(configure),
            transmute::<*const u8, Option<guest::GetStatusString>>(get_status_string),
        )
    })
}

pub(crate) fn current_label() -> Text {
    thread_local! {
        static LABEL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    LABEL
        .try_with(|label| {
            let mut label = label.borrow_mut();
            RocmTracer::singleton().copy_current_label(&mut label);
            Text::of(&label)
        })
        // A thread that is ending has no range any more.
        .unwrap_or_else(|_| Text::of(&[]))
}
