//! Ranges and marks.

use crate::domain::as_nvtx;
use crate::event::{c_string, with_registered, with_text};
use nvtx::sys::{EventAttributes, ffi};
use nvtx_utils_interface::{ProfilerDomainHandle, RangeTitle, StringHandle};
use std::cell::Cell;
use std::ffi::{CStr, c_char};

thread_local! {
    /// Ranges of this thread that were pushed here and not popped.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Opens a range on this thread.
pub fn range_push(domain: ProfilerDomainHandle, title: &[u8]) {
    range_push_cstr(domain, &c_string(title));
}

/// Opens a range on this thread without copying its title.
pub fn range_push_cstr(domain: ProfilerDomainHandle, title: &CStr) {
    push(domain, &with_text(title));
}

/// Opens a range with a title as C has it; null is empty.
///
/// # Safety
/// The title is null or NUL-terminated, and stays unchanged during the call.
pub unsafe fn range_push_ptr(domain: ProfilerDomainHandle, title: *const c_char) {
    let title = if title.is_null() {
        c""
    } else {
        // SAFETY: not null, and this function's contract.
        unsafe { CStr::from_ptr(title) }
    };
    range_push_cstr(domain, title);
}

/// Opens a range with this title. The annotation's own text is not used: see the crate's
/// documentation.
pub fn range_push_annotated(
    domain: ProfilerDomainHandle,
    _annotation: Option<&[u8]>,
    title: RangeTitle<'_>,
) {
    match title {
        RangeTitle::Bytes(title) => range_push(domain, title),
        RangeTitle::CStr(title) => range_push_cstr(domain, title),
        RangeTitle::Registered {
            title,
            schema_id,
            payload,
        } => range_push_registered(domain, title, schema_id, payload),
    }
}

/// Opens a range with a registered title; a null title opens one without a name, so that its pop
/// has something to pop. The payload is not passed on.
pub fn range_push_registered(
    domain: ProfilerDomainHandle,
    title: StringHandle,
    _schema_id: u64,
    _payload: &[u8],
) {
    push(domain, &with_registered(title));
}

/// Closes this thread's innermost range.
pub fn range_pop(domain: ProfilerDomainHandle) {
    DEPTH.set(DEPTH.get().saturating_sub(1));
    // SAFETY: NVTX's own domain; a pop without a range is an error code, which says nothing new.
    unsafe { ffi::nvtxDomainRangePop(as_nvtx(domain)) };
}

/// Ranges that this thread opened through this crate and has not closed.
pub fn range_depth(_domain: ProfilerDomainHandle) -> usize {
    DEPTH.get()
}

/// Marks an instant.
pub fn mark(domain: ProfilerDomainHandle, text: &[u8]) {
    let text = c_string(text);
    // SAFETY: NVTX's own domain; the event and its text live through the call.
    unsafe { ffi::nvtxDomainMarkEx(as_nvtx(domain), &with_text(&text)) };
}

/// Opens a range that any thread may close; returns its id.
pub fn range_start(domain: ProfilerDomainHandle, title: &[u8]) -> u64 {
    let title = c_string(title);
    // SAFETY: as above.
    unsafe { ffi::nvtxDomainRangeStartEx(as_nvtx(domain), &with_text(&title)) }
}

/// Closes the range of this id.
pub fn range_stop(domain: ProfilerDomainHandle, id: u64) {
    // SAFETY: NVTX's own domain; any id may be given.
    unsafe { ffi::nvtxDomainRangeEnd(as_nvtx(domain), id) };
}

fn push(domain: ProfilerDomainHandle, event: &EventAttributes) {
    DEPTH.set(DEPTH.get() + 1);
    // SAFETY: NVTX's own domain; the event and its title live through the call.
    unsafe { ffi::nvtxDomainRangePushEx(as_nvtx(domain), event) };
}
