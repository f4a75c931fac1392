//! Opaque handles. In memory each is the pointer that TSL's header declares, so that a C++ face
//! can pass them through.

use std::ffi::c_void;
use std::ptr::NonNull;

/// Where ranges are opened: TSL's `ProfilerDomainHandle`, which is never null here.
///
/// `Option<ProfilerDomainHandle>` has the size of a pointer, with `None` for null.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfilerDomainHandle(NonNull<c_void>);

impl ProfilerDomainHandle {
    /// A handle for the object at this address.
    ///
    /// # Safety
    /// The implementation to which the handle will be given must accept it: the address is one
    /// that it made.
    pub const unsafe fn from_raw(address: NonNull<c_void>) -> Self {
        Self(address)
    }

    /// The address that stands for the domain.
    pub const fn as_raw(self) -> NonNull<c_void> {
        self.0
    }
}

/// A string registered with the implementation, or null.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StringHandle(*const c_void);

impl StringHandle {
    /// No string: a range with this title has no name.
    pub const NULL: Self = Self(std::ptr::null());

    /// A handle for the string registered at this address.
    ///
    /// # Safety
    /// The address is null, or `register_string` of the implementation to which the handle will be
    /// given returned it.
    pub const unsafe fn from_raw(address: *const c_void) -> Self {
        Self(address)
    }

    /// The address that stands for the string.
    pub const fn as_raw(self) -> *const c_void {
        self.0
    }

    /// Whether there is no string.
    pub const fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// An execution stream of the GPU runtime (a `hipStream_t`, a `CUstream`). It is passed on to the
/// profiler as it is and never dereferenced; null is the default stream.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamHandle(*const c_void);

impl StreamHandle {
    /// A handle for the runtime's stream.
    pub const fn from_raw(stream: *const c_void) -> Self {
        Self(stream)
    }

    /// The runtime's stream.
    pub const fn as_raw(self) -> *const c_void {
        self.0
    }
}

// SAFETY: a handle is an address; what it names belongs to the implementation, whose functions any
// thread may call.
unsafe impl Send for ProfilerDomainHandle {}
// SAFETY: as above.
unsafe impl Sync for ProfilerDomainHandle {}
// SAFETY: as above.
unsafe impl Send for StringHandle {}
// SAFETY: as above.
unsafe impl Sync for StringHandle {}
// SAFETY: as above; the runtime's stream is never dereferenced.
unsafe impl Send for StreamHandle {}
// SAFETY: as above.
unsafe impl Sync for StreamHandle {}

const _: () = assert!(size_of::<Option<ProfilerDomainHandle>>() == size_of::<*const c_void>());
