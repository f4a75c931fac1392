//! NVTX, heard without an NVIDIA tool.
//!
//! In: the calls of programs and libraries annotated with NVTX, each of which has a copy of NVTX's
//! client in it. At its first call such a client loads the library that the environment variable
//! [`INJECTION_VARIABLE`] names and calls its `InitializeInjectionNvtx2`; that puts functions into
//! the client's tables. Out: the same calls at this project's listener, with their domains,
//! categories, colours and payloads.
//!
//! | module | job |
//! |---|---|
//! | `abi` | NVTX's tables and structs |
//! | `callbacks` | the functions put into the tables |

mod abi;
mod callbacks;

pub use abi::GetExportTable;
pub use callbacks::initialize;

/// The environment variable in which NVTX clients look for the library to load, in 64-bit processes.
pub const INJECTION_VARIABLE: &str = "NVTX_INJECTION64_PATH";

/// Exports, from the shared object in which it is invoked, the function by which NVTX clients hand
/// over their tables, for the listener in that object.
#[macro_export]
macro_rules! export_nvtx_injection {
    () => {
        /// Listens to the NVTX client that calls it; 1 if it does.
        ///
        /// # Safety
        /// As NVTX's client calls it.
        #[allow(non_snake_case)] // NVIDIA's name
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn InitializeInjectionNvtx2(
            get_export_table: Option<$crate::nvtx::GetExportTable>,
        ) -> std::ffi::c_int {
            // SAFETY: the caller's contract.
            unsafe { $crate::nvtx::initialize(get_export_table) }
        }
    };
}
