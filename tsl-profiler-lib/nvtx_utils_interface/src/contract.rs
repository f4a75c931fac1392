//! The contract: names and signatures, checked by the compiler.

/// Proves that a module has every function of the interface: `check_nvtx_utils!(crate)`.
///
/// It makes no code. A missing function or a signature that differs is an error at the place where
/// the macro is used.
#[macro_export]
macro_rules! check_nvtx_utils {
    ($module:path) => {
        const _: () = {
            use ::std::ffi::{CStr, c_char, c_void};
            use $crate::{ProfilerDomainHandle, RangeTitle, StreamHandle, StringHandle};
            use $module as implementation;

            let _: fn() -> Option<ProfilerDomainHandle> = implementation::default_profiler_domain;
            let _: fn(ProfilerDomainHandle, &[u8]) = implementation::range_push;
            let _: fn(ProfilerDomainHandle, &CStr) = implementation::range_push_cstr;
            let _: unsafe fn(ProfilerDomainHandle, *const c_char) = implementation::range_push_ptr;
            let _: fn(ProfilerDomainHandle, Option<&[u8]>, RangeTitle<'_>) =
                implementation::range_push_annotated;
            let _: fn(ProfilerDomainHandle, StringHandle, u64, &[u8]) =
                implementation::range_push_registered;
            let _: fn(ProfilerDomainHandle) = implementation::range_pop;
            let _: fn(ProfilerDomainHandle) -> usize = implementation::range_depth;
            let _: fn(ProfilerDomainHandle, &[u8]) = implementation::mark;
            let _: fn(ProfilerDomainHandle, &[u8]) -> u64 = implementation::range_start;
            let _: fn(ProfilerDomainHandle, u64) = implementation::range_stop;
            let _: fn(&[u8]) = implementation::name_current_thread;
            let _: fn(i32, &[u8]) = implementation::name_device;
            let _: fn(StreamHandle, &[u8]) = implementation::name_stream;
            let _: fn(ProfilerDomainHandle, &[u8]) -> StringHandle =
                implementation::register_string;
            let _: unsafe fn(ProfilerDomainHandle, *const c_void) -> u64 =
                implementation::register_schema;
            let _: fn(*const c_void, usize, StreamHandle) = implementation::mark_memory_initialized;
        };
    };
}
