//! The tracer for C++: the bridges beneath `xprof_roctx/roctx_tracer.h`, for XLA's `rocm_tracer.cc`
//! and `rocm_collector.cc`, and beneath `xprof_roctx/gpu_tracer.h`, for factories of profilers.
//!
//! In: calls of `cc/roctx_tracer.cc` and `cc/gpu_tracer.cc`. Out of the former: sessions of
//! [`rocm_tracer`], without its GPU side, since XLA's tracer does that; the marker plane as a
//! serialized XSpace; what stood around HIP calls. Out of the latter: whole sessions, with the GPU
//! side, as a serialized XSpace.
//!
//! What can fail returns a text, which is empty where nothing failed. A panic ends there too: none
//! crosses, and no exception can come from the other side, since Rust calls nothing there.

mod annotations;
mod failures;
mod profiler;
mod session;

use annotations::{Annotations, new_annotations};
use profiler::{Profiler, new_profiler};
use session::{Session, ask_for_tables, configure_marker_service, current_label, new_session};

#[cxx::bridge(namespace = "xprof_roctx::bridge")]
#[allow(unreachable_pub)] // what the macro makes of a struct
mod bridge {
    /// A text that lies in Rust's memory.
    struct Text {
        start: *const u8,
        size: usize,
    }

    /// Of a profiler; see [`rocm_tracer::RocmTracerOptions`].
    struct ProfilerOptions {
        max_callback_api_events: u64,
        max_activity_api_events: u64,
        max_annotation_strings: u64,
        max_label_bytes: usize,
        gpu: GpuWork,
    }

    /// See [`rocm_tracer::GpuTracing`].
    enum GpuWork {
        Auto,
        On,
        Off,
    }

    extern "Rust" {
        type Profiler;

        fn new_profiler(options: ProfilerOptions) -> Box<Profiler>;

        fn start(self: &mut Profiler) -> String;

        fn stop(self: &mut Profiler) -> String;

        /// Writes over `bytes`, if it can.
        fn collect(self: &mut Profiler, bytes: &mut Vec<u8>) -> String;
    }

    extern "Rust" {
        /// # Safety
        /// As of [`rocm_tracer::sdk::guest::ask_for_tables`]; the function is of its type.
        unsafe fn ask_for_tables(version: u32, ask: *const u8) -> bool;

        /// # Safety
        /// As of [`rocm_tracer::sdk::guest::configure_marker_service`]; the functions are of its
        /// types, and the last may be null.
        unsafe fn configure_marker_service(
            version: u32,
            context: u64,
            configure: *const u8,
            get_status_string: *const u8,
        ) -> String;

        /// Valid until the calling thread asks again.
        fn current_label() -> Text;
    }

    extern "Rust" {
        type Session;

        fn new_session() -> Box<Session>;

        fn start(self: &mut Session, max_events: u64, max_label_bytes: usize) -> String;

        fn is_running(self: &Session) -> bool;

        fn stop(self: &mut Session) -> String;

        fn marker_count(self: &Session) -> usize;

        fn take_xspace(self: &mut Session) -> Vec<u8>;
    }

    extern "Rust" {
        type Annotations;

        fn new_annotations(max_size: usize) -> Box<Annotations>;

        /// # Safety
        /// So many scope range ids can be read.
        unsafe fn add(
            self: &Annotations,
            correlation_id: u64,
            annotation: &[u8],
            roctx_range: &[u8],
            scope_range_ids: *const i64,
            depth: usize,
        );

        fn add_current(self: &Annotations, correlation_id: u64);

        /// Valid until `clear`.
        fn look_up(self: &Annotations, correlation_id: u64) -> Text;

        /// Valid until `clear`.
        fn look_up_roctx_range(self: &Annotations, correlation_id: u64) -> Text;

        fn look_up_scope_range_id(self: &Annotations, correlation_id: u64) -> i64;

        /// Each scope range's id, followed by that of the one around it.
        fn take_scope_range_id_tree(self: &Annotations) -> Vec<i64>;

        fn refused(self: &Annotations) -> u64;

        fn clear(self: &Annotations);
    }
}

impl bridge::Text {
    fn of(text: &[u8]) -> Self {
        Self {
            start: text.as_ptr(),
            size: text.len(),
        }
    }
}
