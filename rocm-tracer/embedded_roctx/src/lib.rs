//! An implementation of the ROCTX C API for machines without ROCm.
//!
//! In: calls of `roctxRangePushA` and its kin, from this crate's functions or, through
//! [`export_roctx_c_api!`], from any program that loads the shared libraries built of it.
//! Out: nothing but return values, until a listener wraps the dispatch [`tables`]. Every call goes
//! through those tables, which have the layout of AMD's own, so that one listener serves both.
//!
//! | module | job |
//! |---|---|
//! | [`tables`] | the dispatch tables and their ABI |
//! | [`c_api`] | the functions a program calls |
//! | `calls` | what the calls do when nobody listens |
//! | `hand_over` | at the first call, finds who wants to listen |
//! | [`modules`] | symbols of the shared objects loaded in this process |

pub mod c_api;
mod calls;
mod hand_over;
pub mod modules;
pub mod tables;

pub use c_api::*;
pub use hand_over::{ATTACH_SYMBOL, AttachFn, TABLES_SYMBOL, TOOL_VARIABLE, TablesFn};
pub use tables::{ControlTable, CoreTable, NameTable, TableSet};

/// The dispatch tables of this copy of the library, for a listener to wrap.
///
/// Several copies can live in a process (one in each shared object that holds this crate); each
/// has its own tables. The returned address is valid for the life of the process.
pub fn table_set() -> &'static TableSet {
    hand_over::table_set()
}
