//! The domain of every range: decided once, since a tool either is there at the first call or never.

use nvtx::sys::ffi;
use nvtx_utils_interface::ProfilerDomainHandle;
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The domain's name, which is TSL's.
pub const DOMAIN_NAME: &CStr = c"TSL";

/// The domain, or `None` if no tool listens to NVTX in this process.
pub fn default_profiler_domain() -> Option<ProfilerDomainHandle> {
    static DOMAIN: OnceLock<Option<ProfilerDomainHandle>> = OnceLock::new();
    *DOMAIN.get_or_init(|| {
        // SAFETY: the name is NUL-terminated; NVTX may be called at any time.
        let domain = unsafe { ffi::nvtxDomainCreateA(DOMAIN_NAME.as_ptr()) };
        // SAFETY: NVTX made the address, and the functions of this crate give it back to NVTX.
        NonNull::new(domain).map(|domain| unsafe { ProfilerDomainHandle::from_raw(domain.cast()) })
    })
}

/// The domain as NVTX knows it.
pub(crate) fn as_nvtx(domain: ProfilerDomainHandle) -> ffi::nvtxDomainHandle_t {
    domain.as_raw().as_ptr().cast()
}
