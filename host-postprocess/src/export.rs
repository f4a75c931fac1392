//! The file formats.
//!
//! Files appear whole or not at all: each is written under another name in its own folder, synced
//! and renamed.

mod files;
pub mod tensorboard;
pub mod trace_json;

use std::io;
use std::path::PathBuf;

/// Why a profile was not written. Nothing of it is left in the folder then, and the XSpace is
/// still there to be written elsewhere.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A run or host name that cannot be a file name.
    #[error(
        "{what} name {name:?} {problem}: it becomes a part of a path, so use one that is not \
         empty, not \".\" or \"..\", without \"/\", \"\\\" and NUL, and at most {MAX_NAME_BYTES} \
         bytes long"
    )]
    BadName {
        /// "run" or "host".
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A folder is needed where something else is.
    #[error("{path} is a file, not a folder: move it away or choose another log directory")]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// A folder could not be made.
    #[error("cannot create the folder {path} ({source}): {}", advice(source))]
    CreateDirectory {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {path} ({source}): {}", advice(source))]
    Write {
        /// The file, by the name that it would have had.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The longest run or host name: `NAME_MAX` of Linux is 255, and extensions and numbers follow.
pub const MAX_NAME_BYTES: usize = 200;

/// What to do about an error of the file system.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk or quota is full; free some space or choose a log directory elsewhere"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a log directory that you may write to"
        }
        io::ErrorKind::NotADirectory => {
            "a part of the path is a file; choose another log directory"
        }
        _ => "check the path, or choose another log directory",
    }
}
