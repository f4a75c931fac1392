//! The annotation stack: which nested labels a thread is in.
//!
//! In: labels pushed and popped by `ScopedAnnotation` and by the range functions of `nvtx_utils`,
//! while a profiler has the stack enabled.
//! Out: the joined label (`a::b::c`) and the scope range ids of the calling thread, which a
//! profiler reads inside a launch callback, so that the GPU work launched there is labelled.
//!
//! Each thread has its own stack; they share one generation counter, and nothing here waits or
//! locks. Semantics, id layout and separator are those of TSL's `annotation_stack.h`.
//!
//! | module | job |
//! |---|---|
//! | `stack` | the stack and who may touch it when |
//! | `scope_id` | the ids that pushes get |

mod scope_id;
mod stack;

pub use stack::{AnnotationStack, Position};
