//! Which ROCTX library answers the calls. Decided once, at the first call, in this order:
//!
//! 1. what the environment variable [`LIBRARY_VARIABLE`] says: the path of a library, or
//!    `embedded`;
//! 2. AMD's `librocprofiler-sdk-roctx`: a copy that is loaded already, then `$ROCM_PATH/lib` and
//!    `/opt/rocm/lib`, then wherever the loader finds its soname;
//! 3. the embedded ROCTX.
//!
//! A library that cannot serve costs one warning, and the next one is tried.
//!
//! | module | job |
//! |---|---|
//! | `candidates` | the order above |
//! | `library` | loading a shared library and saying what is wrong with it |
//! | `table` | the functions called |

mod candidates;
mod library;
mod table;

pub use library::RejectReason;

use crate::provider::candidates::{Candidate, Place, SDK_PREFIX};
use crate::provider::table::Table;
use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Environment variable: the path of the ROCTX library to use, or `embedded` for the one that is
/// part of this project. Unset or empty: found as this module's documentation says.
pub const LIBRARY_VARIABLE: &str = "XPROF_ROCTX_LIBRARY";

/// Where the ROCTX library in use was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// [`LIBRARY_VARIABLE`] names it.
    Environment,
    /// The process had loaded it already.
    Loaded,
    /// In the ROCm that `$ROCM_PATH` names or that is in `/opt/rocm`.
    Rocm,
    /// On the loader's path.
    LoaderPath,
    /// The embedded ROCTX.
    Embedded,
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => LIBRARY_VARIABLE,
            Self::Loaded => "already loaded",
            Self::Rocm => "ROCm",
            Self::LoaderPath => "loader's path",
            Self::Embedded => "embedded",
        })
    }
}

/// The ROCTX library in use.
#[derive(Clone, Debug)]
pub struct ProviderInfo {
    /// Where it was found.
    pub kind: ProviderKind,
    /// The file, as the loader names it; `None` for the embedded one.
    pub path: Option<PathBuf>,
    /// The version of the ROCTX API that it says it has: major, minor, patch.
    pub version: Option<(u32, u32, u32)>,
    /// Functions that it lacks; calls of them do nothing.
    pub missing: Vec<&'static str>,
}

/// A library that was tried and cannot serve.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// Where it was found.
    pub kind: ProviderKind,
    /// Its path, or the name by which the loader was asked for it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: RejectReason,
}

/// What is wrong with which library, and what to do about it.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(
            f,
            "{path} is not used as the ROCTX library: {}. ",
            self.reason
        )?;
        match self.kind {
            ProviderKind::Environment => write!(
                f,
                "{LIBRARY_VARIABLE} names it: set that to the path of librocprofiler-sdk-roctx.so.1, \
                 set it to `embedded`, or unset it."
            ),
            _ => write!(
                f,
                "Reinstall ROCm's rocprofiler-sdk-roctx, or set {LIBRARY_VARIABLE} to the path of a \
                 library that works or to `embedded`."
            ),
        }
    }
}

struct Provider {
    table: Table,
    info: ProviderInfo,
    rejected: Vec<Rejection>,
}

static PROVIDER: OnceLock<Provider> = OnceLock::new();

/// The ROCTX library in use. The first call decides it.
pub fn provider() -> &'static ProviderInfo {
    resolved().map_or_else(table::embedded_info, |provider| &provider.info)
}

/// The libraries that were tried before it and could not serve.
pub fn rejected() -> &'static [Rejection] {
    resolved().map_or(&[], |provider| &provider.rejected)
}

/// The functions of the ROCTX library in use.
#[inline]
pub(crate) fn table() -> &'static Table {
    match PROVIDER.get() {
        Some(provider) => &provider.table,
        None => first_table(),
    }
}

#[cold]
fn first_table() -> &'static Table {
    resolved().map_or(&table::EMBEDDED, |provider| &provider.table)
}

/// The provider; `None` while this thread is in the middle of deciding it, when a library's
/// constructor calls back. What such a call pushes it pops before it returns, so the embedded
/// ROCTX can take it.
fn resolved() -> Option<&'static Provider> {
    thread_local! {
        static DECIDING: Cell<bool> = const { Cell::new(false) };
    }
    if DECIDING.get() {
        return None;
    }
    let mut decided_here = false;
    let provider = PROVIDER.get_or_init(|| {
        decided_here = true;
        DECIDING.set(true);
        let provider = decide(candidates::of_this_process());
        DECIDING.set(false);
        provider
    });
    if decided_here {
        for rejection in &provider.rejected {
            tracing::warn!("{rejection}");
        }
    }
    Some(provider)
}

fn decide(candidates: Vec<Candidate>) -> Provider {
    let mut rejected = Vec::new();
    for Candidate { kind, place } in candidates {
        let Place::Library(path) = place else {
            break;
        };
        match library::open(&path) {
            Ok(found) => {
                // A first call of AMD's library aborts the process if its SDK is loaded where the
                // library cannot see it.
                library::promote_loaded(SDK_PREFIX);
                return Provider {
                    table: found.table,
                    info: ProviderInfo {
                        kind,
                        path: Some(found.path),
                        version: found.version,
                        missing: found.missing,
                    },
                    rejected,
                };
            }
            // Only a library that somebody named has to be there.
            Err(RejectReason::NotFound) if kind != ProviderKind::Environment => {}
            Err(reason) => rejected.push(Rejection { kind, path, reason }),
        }
    }
    Provider {
        table: table::EMBEDDED,
        info: table::embedded_info().clone(),
        rejected,
    }
}
