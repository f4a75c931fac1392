//! Sessions, and what the profiler's callbacks ask for meanwhile.

use crate::bridge::Text;
use rocm_tracer::sdk::guest;
use rocm_tracer::{GpuTracing, RocmTraceCollector, RocmTracer, RocmTracerOptions, TraceCapture};
use std::cell::RefCell;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// The result, or in words why there is none; a panic's own message is on stderr.
fn guarded<T, E: ToString>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!(
            "{what} failed with a panic, which is a bug of xprof_roctx"
        )),
    }
}

fn problem<E: ToString>(result: Result<(), E>) -> String {
    result
        .err()
        .map_or(String::new(), |error| error.to_string())
}

/// Shows warnings, unless the program has a place for them already: a C++ program has none.
fn warn_on_stderr() {
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_words() {
        let result = guarded("testing", || -> Result<(), String> { panic!("inside") });
        assert_eq!(
            result.unwrap_err(),
            "testing failed with a panic, which is a bug of xprof_roctx"
        );
        assert_eq!(guarded("testing", || Ok::<_, String>(3)), Ok(3));
        assert_eq!(problem(Err("why")), "why");
        assert_eq!(problem(Ok::<_, String>(())), "");
    }
}
