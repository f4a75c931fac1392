//! Ranges and marks: the hot path.

use crate::payload;
use crate::provider::table;
use crate::registered::Entry;
use crate::text::with_c_str;
use annotation_stack::AnnotationStack;
use nvtx_utils_interface::{ProfilerDomainHandle, RangeTitle, StringHandle};
use std::cell::Cell;
use std::ffi::{CStr, c_char};

thread_local! {
    /// Ranges of this thread that were pushed here and not popped.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Opens a range on this thread; the annotation stack gets the same bytes.
#[inline]
pub fn range_push(_domain: ProfilerDomainHandle, title: &[u8]) {
    annotate(title);
    with_c_str(title, push);
}

/// Opens a range on this thread without copying its title for ROCTX.
#[inline]
pub fn range_push_cstr(_domain: ProfilerDomainHandle, title: &CStr) {
    annotate(title.to_bytes());
    push(title);
}

/// Opens a range with a title as C has it; null is empty. Where the annotation stack is not enabled
/// nobody here looks for the title's end.
///
/// # Safety
/// The title is null or NUL-terminated, and stays unchanged during the call.
#[inline]
pub unsafe fn range_push_ptr(_domain: ProfilerDomainHandle, title: *const c_char) {
    let title = if title.is_null() { c"".as_ptr() } else { title };
    if AnnotationStack::is_enabled() {
        // SAFETY: not null, and this function's contract.
        AnnotationStack::push(unsafe { CStr::from_ptr(title) }.to_bytes());
    }
    // SAFETY: as above.
    unsafe { push_ptr(title) };
}

/// Opens a range whose annotation has a text of its own. With `None` the annotation stack is left
/// alone, which is right only where it is not enabled: the pop takes one annotation off.
#[inline]
pub fn range_push_annotated(
    _domain: ProfilerDomainHandle,
    annotation: Option<&[u8]>,
    title: RangeTitle<'_>,
) {
    if let Some(annotation) = annotation {
        annotate(annotation);
    }
    match title {
        RangeTitle::Bytes(title) => with_c_str(title, push),
        RangeTitle::CStr(title) => push(title),
        RangeTitle::Registered {
            title,
            schema_id,
            payload,
        } => push_registered(Entry::of(title), schema_id, payload),
    }
}

/// Opens a range with a registered title; a null title opens one without a name, so that its pop
/// has something to pop. The [payload] is there for a listener to read.
#[inline]
pub fn range_push_registered(
    _domain: ProfilerDomainHandle,
    title: StringHandle,
    schema_id: u64,
    payload: &[u8],
) {
    let title = Entry::of(title);
    annotate(title.bytes());
    push_registered(title, schema_id, payload);
}

/// Closes this thread's innermost range, and takes the last annotation off if the stack is
/// enabled.
#[inline]
pub fn range_pop(_domain: ProfilerDomainHandle) {
    if AnnotationStack::is_enabled() {
        AnnotationStack::pop();
    }
    DEPTH.set(DEPTH.get().saturating_sub(1));
    // SAFETY: the function takes nothing and may be called at any time.
    unsafe { (table().pop)() };
}

/// Ranges that this thread opened through this crate and has not closed. Ranges that the program
/// opened by calling the ROCTX library itself are not among them.
#[inline]
pub fn range_depth(_domain: ProfilerDomainHandle) -> usize {
    DEPTH.get()
}

/// Marks an instant.
pub fn mark(_domain: ProfilerDomainHandle, text: &[u8]) {
    // SAFETY: a C string, which lives through the call.
    with_c_str(text, |text| unsafe { (table().mark)(text.as_ptr()) });
}

/// Opens a range that any thread may close; returns its id, unique in the process.
pub fn range_start(_domain: ProfilerDomainHandle, title: &[u8]) -> u64 {
    // SAFETY: as above.
    with_c_str(title, |title| unsafe { (table().start)(title.as_ptr()) })
}

/// Closes the range of this id.
pub fn range_stop(_domain: ProfilerDomainHandle, id: u64) {
    // SAFETY: any id may be given; one of no range does nothing.
    unsafe { (table().stop)(id) };
}

#[inline]
fn annotate(text: &[u8]) {
    if AnnotationStack::is_enabled() {
        AnnotationStack::push(text);
    }
}

fn push_registered(title: &Entry, schema_id: u64, bytes: &[u8]) {
    payload::carry(schema_id, bytes, || push(title.c_text()));
}

#[inline]
fn push(title: &CStr) {
    // SAFETY: a C string, which lives through the call.
    unsafe { push_ptr(title.as_ptr()) };
}

/// # Safety
/// The title is NUL-terminated.
#[inline]
unsafe fn push_ptr(title: *const c_char) {
    DEPTH.set(DEPTH.get() + 1);
    // SAFETY: this function's contract.
    unsafe { (table().push)(title) };
}
