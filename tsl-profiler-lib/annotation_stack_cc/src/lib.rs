//! The annotation stack for C++: the bridge beneath TSL's `annotation_stack.h`.
//!
//! In: calls of `cc/annotation_stack.cc`. Out: the same calls of [`annotation_stack`], with bytes as
//! pointer and length. Nothing here allocates, locks or panics; no exception can come from the
//! other side, since Rust calls nothing there.

use annotation_stack::AnnotationStack;
use std::slice;
use std::sync::atomic::AtomicI32;

#[cxx::bridge(namespace = "xprof_roctx::annotation_stack")]
#[allow(unreachable_pub)] // what the macro makes of a struct
mod bridge {
    /// Where the calling thread's stack lies, until its next push or pop.
    struct View {
        label: *const u8,
        label_size: usize,
        scope_range_ids: *const i64,
        depth: usize,
    }

    extern "Rust" {
        /// Keeps a `std::atomic<int>` equal to the generation.
        ///
        /// # Safety
        /// It lives as long as the process, and nobody else writes it.
        unsafe fn mirror_generation(word: *mut i32);

        fn enable(enable: bool);

        /// # Safety
        /// So many bytes can be read there.
        unsafe fn push(name: *const u8, size: usize);

        /// # Safety
        /// As of `push`.
        unsafe fn replace_last(name: *const u8, size: usize);

        fn pop();

        fn view() -> View;
    }
}

unsafe fn mirror_generation(word: *mut i32) {
    // SAFETY: an atomic int of C++ is an int on which the processor's atomic operations act, as
    // `cc/annotation_stack.cc` asserts; the rest is this function's contract.
    AnnotationStack::mirror_generation(unsafe { AtomicI32::from_ptr(word) });
}

fn enable(enable: bool) {
    AnnotationStack::enable(enable);
}

unsafe fn push(name: *const u8, size: usize) {
    // SAFETY: this function's contract.
    AnnotationStack::push(unsafe { bytes(name, size) });
}

unsafe fn replace_last(name: *const u8, size: usize) {
    // SAFETY: this function's contract.
    AnnotationStack::replace_last(unsafe { bytes(name, size) });
}

fn pop() {
    AnnotationStack::pop();
}

fn view() -> bridge::View {
    AnnotationStack::with(|label, scope_range_ids| bridge::View {
        label: label.as_ptr(),
        label_size: label.len(),
        scope_range_ids: scope_range_ids.as_ptr(),
        depth: scope_range_ids.len(),
    })
}

/// An empty text of C++ may have any address.
///
/// # Safety
/// So many bytes can be read there during `'a`.
#[inline]
unsafe fn bytes<'a>(start: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: this function's contract.
    unsafe { slice::from_raw_parts(start, size) }
}
