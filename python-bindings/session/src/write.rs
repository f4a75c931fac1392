//! Files of a capture; what happens when they cannot be written.

use crate::session::Capture;
use host_postprocess::export::ExportError;
use host_postprocess::export::tensorboard::{self, WrittenRun};
use std::ffi::CStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A capture that could not be written where it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It was saved elsewhere.
    #[error(
        "the profile could not be written to {}: {reason}. What was captured is saved in {}; copy \
         that folder's content into a log directory that can be written, or give XProf the folder \
         itself as its log directory",
        logdir.display(), saved_to.display()
    )]
    SavedElsewhere {
        /// The log directory asked for.
        logdir: PathBuf,
        /// The private folder, itself a log directory, that has the capture.
        saved_to: PathBuf,
        /// Why the log directory did not take it.
        reason: ExportError,
    },
    /// It is still in memory only.
    #[error(
        "the profile could not be written to {}: {reason}. Nor could it be saved in the temporary \
         folder ({rescue_reason}). It is still in memory: free some space, or give another \
         directory, and write it again before the program ends",
        logdir.display()
    )]
    NowhereWritten {
        /// The log directory asked for.
        logdir: PathBuf,
        /// Why the log directory did not take it.
        reason: ExportError,
        /// Why the temporary folder did not.
        rescue_reason: String,
    },
}

impl WriteError {
    /// The log directory asked for.
    pub fn logdir(&self) -> &Path {
        match self {
            Self::SavedElsewhere { logdir, .. } | Self::NowhereWritten { logdir, .. } => logdir,
        }
    }

    /// The folder that has the capture; `None` while it is in memory only.
    pub fn saved_to(&self) -> Option<&Path> {
        match self {
            Self::SavedElsewhere { saved_to, .. } => Some(saved_to),
            Self::NowhereWritten { .. } => None,
        }
    }
}

impl Capture {
    /// Writes the profile to `<logdir>/plugins/profile/<run>/<host>.xplane.pb`, with
    /// `.trace.json.gz` beside it. Without `run`, the time names it. A run that has a profile of this
    /// host already is left alone: the new one's name gets a number.
    ///
    /// # Errors
    /// [`WriteError`]. In every case the capture is somewhere: in a fresh folder that only this
    /// user can read, or still here.
    pub fn write(&self, logdir: &Path, run: Option<&str>) -> Result<WrittenRun, WriteError> {
        let reason = match self.try_write(logdir, run) {
            Ok(written) => return Ok(written),
            Err(reason) => reason,
        };
        let rescue = || -> Result<PathBuf, String> {
            let folder = tempfile::Builder::new()
                .prefix("xprof-roctx-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir()
                .map_err(|error| error.to_string())?;
            self.try_write(folder.path(), run)
                .map_err(|error| error.to_string())?;
            Ok(folder.keep())
        };
        let logdir = logdir.to_owned();
        Err(match rescue() {
            Ok(saved_to) => WriteError::SavedElsewhere {
                logdir,
                saved_to,
                reason,
            },
            Err(rescue_reason) => WriteError::NowhereWritten {
                logdir,
                reason,
                rescue_reason,
            },
        })
    }

    fn try_write(&self, logdir: &Path, run: Option<&str>) -> Result<WrittenRun, ExportError> {
        let named_by_time = || run_name(self.start_ns);
        let run = run.map_or_else(named_by_time, str::to_owned);
        tensorboard::write_run(logdir, &run, &self.host, &self.space)
    }
}

/// The name of a run that began at this time (ns since the epoch): JAX's form of the local time,
/// `2026_12_01_09_30_00`.
pub fn run_name(start_ns: u64) -> String {
    let seconds = (start_ns / 1_000_000_000) as libc::time_t;
    let mut text = [0u8; 32];
    // SAFETY: the buffer is as long as is said; a time that cannot be split leaves the zeros of
    // which `parts` is made, which strftime takes.
    unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut parts);
        libc::strftime(
            text.as_mut_ptr().cast(),
            text.len(),
            c"%Y_%m_%d_%H_%M_%S".as_ptr(),
            &parts,
        );
    }
    CStr::from_bytes_until_nul(&text)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}
