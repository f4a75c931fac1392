//! `nvtx_utils` for C++: the bridge beneath TSL's `nvtx_utils.h` and `traceme_wrapper_state.h`.
//!
//! In: calls of `cc/nvtx_utils.cc` and `cc/traceme_wrapper_state.cc`. Out: the same calls of
//! [`tsl_profiler_lib`] on the implementation that the cargo feature chose. Each whole target of
//! Bazel (`roctx_utils_impl`, `nvtx_utils_impl`, `nvtx_utils_stub_impl`) is this crate with its
//! feature, and the C++ over it.
//!
//! Texts are bytes, as pointer and length or NUL-terminated; handles are addresses. On the push and
//! pop path nothing here allocates or locks, and no exception can come from the other side, since
//! Rust calls nothing there.

use std::ffi::c_char;
use std::slice;
use tsl_profiler_lib::{StreamHandle, StringHandle, TraceMeWrapper, nvtx_utils, ranges};

#[cxx::bridge(namespace = "xprof_roctx::nvtx_utils")]
mod bridge {
    extern "Rust" {
        /// Null if ranges are off.
        fn default_profiler_domain() -> *const u8;

        /// # Safety
        /// The title is null or NUL-terminated.
        unsafe fn range_push(title: *const c_char);

        /// # Safety
        /// The title is null or what `register_string` returned; so many bytes of payload can be
        /// read.
        unsafe fn range_push_registered(
            title: *const u8,
            schema_id: u64,
            payload: *const u8,
            payload_size: usize,
        );

        fn range_pop();

        fn name_current_thread(name: &[u8]);

        fn name_device(device: i32, name: &[u8]);

        /// # Safety
        /// None to keep: the stream is an address that is passed on.
        unsafe fn name_stream(stream: *const u8, name: &[u8]);

        fn register_string(text: &[u8]) -> *const u8;

        /// # Safety
        /// The schema is as the implementation's header describes it.
        unsafe fn register_schema(schema: *const u8) -> u64;

        /// # Safety
        /// None to keep: address and stream are passed on.
        unsafe fn mark_memory_initialized(address: *const u8, size: usize, stream: *const u8);
    }

    extern "Rust" {
        type TraceMeWrapperState;

        fn new_traceme_wrapper_state(label: &[u8]) -> Box<TraceMeWrapperState>;

        fn stop(self: &TraceMeWrapperState);
    }
}

fn default_profiler_domain() -> *const u8 {
    warn_on_stderr();
    nvtx_utils::default_profiler_domain()
        .map_or(std::ptr::null(), |domain| domain.as_raw().as_ptr().cast())
}

unsafe fn range_push(title: *const c_char) {
    // SAFETY: this function's contract.
    unsafe { ranges::range_push(title) };
}

unsafe fn range_push_registered(
    title: *const u8,
    schema_id: u64,
    payload: *const u8,
    payload_size: usize,
) {
    // SAFETY: this function's contract.
    let (title, payload) = unsafe {
        let payload = match payload_size {
            0 => &[],
            size => slice::from_raw_parts(payload, size),
        };
        (StringHandle::from_raw(title.cast()), payload)
    };
    ranges::range_push_registered(title, schema_id, payload);
}

fn range_pop() {
    ranges::range_pop();
}

fn name_current_thread(name: &[u8]) {
    nvtx_utils::name_current_thread(name);
}

fn name_device(device: i32, name: &[u8]) {
    nvtx_utils::name_device(device, name);
}

unsafe fn name_stream(stream: *const u8, name: &[u8]) {
    nvtx_utils::name_stream(StreamHandle::from_raw(stream.cast()), name);
}

fn register_string(text: &[u8]) -> *const u8 {
    nvtx_utils::default_profiler_domain().map_or(std::ptr::null(), |domain| {
        nvtx_utils::register_string(domain, text).as_raw().cast()
    })
}

unsafe fn register_schema(schema: *const u8) -> u64 {
    nvtx_utils::default_profiler_domain().map_or(0, |domain| {
        // SAFETY: this function's contract.
        unsafe { nvtx_utils::register_schema(domain, schema.cast()) }
    })
}

unsafe fn mark_memory_initialized(address: *const u8, size: usize, stream: *const u8) {
    nvtx_utils::mark_memory_initialized(
        address.cast(),
        size,
        StreamHandle::from_raw(stream.cast()),
    );
}

/// An annotation that an object of C++ or Python owns.
struct TraceMeWrapperState(TraceMeWrapper);

fn new_traceme_wrapper_state(label: &[u8]) -> Box<TraceMeWrapperState> {
    Box::new(TraceMeWrapperState(TraceMeWrapper::new(label)))
}

impl TraceMeWrapperState {
    fn stop(&self) {
        self.0.stop();
    }
}

/// Shows warnings, unless the program has a place for them already: a C++ program has none.
fn warn_on_stderr() {
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .try_init();
}
