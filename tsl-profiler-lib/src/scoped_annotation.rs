//! Annotations that end with a scope: TSL's `scoped_annotation.h`.

use crate::label::{Label, Title};
use crate::{nvtx_utils, owned_range};
use annotation_stack::AnnotationStack;
use std::marker::PhantomData;

/// Annotates what this thread does, and the GPU work that it launches, until the value is dropped.
///
/// Where ranges are on ([`default_profiler_domain`](nvtx_utils::default_profiler_domain)), it opens
/// a range, which also feeds the annotation stack; where they are off, it feeds the annotation
/// stack alone, if a profiler has it enabled.
///
/// Values nest: drop the inner one first, as scopes do. The value stays on its thread:
///
/// ```compile_fail,E0277
/// let annotation = tsl_profiler_lib::ScopedAnnotation::new("here");
/// std::thread::spawn(move || drop(annotation));
/// ```
///
/// ```
/// use tsl_profiler_lib::ScopedAnnotation;
///
/// let _step = ScopedAnnotation::new("train_step");
/// {
///     // The label is made only where somebody takes it.
///     let _layer = ScopedAnnotation::with(|| format!("layer {}", 3));
/// }
/// ```
#[must_use = "the annotation ends when the value is dropped"]
pub struct ScopedAnnotation(PhantomData<*const ()>);

impl ScopedAnnotation {
    /// Annotates with a label that is there already.
    #[inline]
    pub fn new(label: impl Label) -> Self {
        push_annotation(&label);
        Self(PhantomData)
    }

    /// Annotates with a label that is made only if ranges are on or the stack is enabled.
    #[inline]
    pub fn with<L: Label>(label: impl FnOnce() -> L) -> Self {
        push_annotation_with(label);
        Self(PhantomData)
    }

    /// Annotates with a text for the annotation stack and a title for the range, each made only if
    /// it is needed: a compact title can stand in the timeline while GPU work gets the full text.
    #[inline]
    pub fn with_range<L: Label, T: Title>(
        annotation: impl FnOnce() -> L,
        range: impl FnOnce() -> T,
    ) -> Self {
        push_annotation_with_range(annotation, range);
        Self(PhantomData)
    }

    /// Whether a profiler wants annotations for GPU work.
    #[inline]
    pub fn is_enabled() -> bool {
        AnnotationStack::is_enabled()
    }
}

impl Drop for ScopedAnnotation {
    #[inline]
    fn drop(&mut self) {
        pop_annotation();
    }
}

/// What [`ScopedAnnotation::new`] does, without the value; [`pop_annotation`] ends it.
#[inline]
pub fn push_annotation(label: &(impl Label + ?Sized)) {
    owned_range::settle();
    push(label);
}

/// What [`ScopedAnnotation::with`] does, without the value.
#[inline]
pub fn push_annotation_with<L: Label>(label: impl FnOnce() -> L) {
    owned_range::settle();
    if nvtx_utils::default_profiler_domain().is_some() || AnnotationStack::is_enabled() {
        push(&label());
    }
}

/// What [`ScopedAnnotation::with_range`] does, without the value.
#[inline]
pub fn push_annotation_with_range<L: Label, T: Title>(
    annotation: impl FnOnce() -> L,
    range: impl FnOnce() -> T,
) {
    owned_range::settle();
    let annotation = AnnotationStack::is_enabled().then(annotation);
    let annotation = annotation.as_ref().map(Label::bytes);
    match nvtx_utils::default_profiler_domain() {
        Some(domain) => {
            nvtx_utils::range_push_annotated(domain, annotation, range().title());
        }
        None => {
            if let Some(annotation) = annotation {
                AnnotationStack::push(annotation);
            }
        }
    }
}

/// Ends this thread's innermost annotation, of those that no [`TraceMeWrapper`] owns. If one that
/// is owned is open above it, it ends once that one has.
///
/// [`TraceMeWrapper`]: crate::TraceMeWrapper
#[inline]
pub fn pop_annotation() {
    if owned_range::any() {
        owned_range::pop_unowned();
    } else {
        pop();
    }
}

/// The push itself; `false` if there was nowhere to push to.
#[inline]
pub(crate) fn push(label: &(impl Label + ?Sized)) -> bool {
    match nvtx_utils::default_profiler_domain() {
        Some(domain) => match label.c_str() {
            Some(text) => nvtx_utils::range_push_cstr(domain, text),
            None => nvtx_utils::range_push(domain, label.bytes()),
        },
        None if AnnotationStack::is_enabled() => AnnotationStack::push(label.bytes()),
        None => return false,
    }
    true
}

/// The pop itself.
#[inline]
pub(crate) fn pop() {
    match nvtx_utils::default_profiler_domain() {
        Some(domain) => nvtx_utils::range_pop(domain),
        None if AnnotationStack::is_enabled() => AnnotationStack::pop(),
        None => {}
    }
}
