//! What every `nvtx_utils` implementation has in common.
//!
//! TSL declares one interface, `tsl/profiler/lib/nvtx_utils.h`, and a build links one of several
//! implementations of it. Here each implementation is a crate of free functions with the same names
//! and signatures: this crate holds the [handles](handle) and [titles](title) in those signatures,
//! and [`check_nvtx_utils!`], by which an implementation proves at compile time that it has them
//! all.
//!
//! ## What each function promises, whatever the implementation
//! Any thread may call any of them at any time; none blocks on another thread's call on the push
//! and pop path; none panics. Texts are bytes of any kind.
//!
//! | function | promise |
//! |---|---|
//! | `default_profiler_domain` | `None` if ranges are off; decided once, the same for the life of the process |
//! | `range_push`, `range_push_cstr`, `range_push_ptr` | opens a range on this thread and pushes the same text on the annotation stack, where the implementation feeds it |
//! | `range_push_annotated` | the same with a text of its own for the annotation stack; `None`: the stack is left alone |
//! | `range_push_registered` | the same with a registered title and a payload; a null title opens a range without a name |
//! | `range_pop` | closes this thread's innermost range |
//! | `range_depth` | ranges that this thread opened here and has not closed |
//! | `mark` | marks an instant |
//! | `range_start`, `range_stop` | a range that any thread may end, by its id |
//! | `name_current_thread`, `name_device`, `name_stream` | names for a viewer to show; they work whatever the domain |
//! | `register_string` | a handle that stays valid for the life of the process; equal strings may share one |
//! | `register_schema` | the id of a payload layout; 0 where payloads are not described |
//! | `mark_memory_initialized` | a hint to memory checkers |

mod contract;
pub mod handle;
pub mod title;

pub use handle::{ProfilerDomainHandle, StreamHandle, StringHandle};
pub use title::RangeTitle;
