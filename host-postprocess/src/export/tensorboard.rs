//! The layout that TensorBoard and XProf look for:
//! `<logdir>/plugins/profile/<run>/<host>.xplane.pb` and `<host>.trace.json.gz`.

use super::files::{Unnamed, create_folder, probe, sync_folder};
use super::{ExportError, MAX_NAME_BYTES, trace_json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

/// Where in a log directory runs are.
const RUNS: &str = "plugins/profile";

/// A profile on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRun {
    /// The run's folder.
    pub dir: PathBuf,
    /// The XSpace.
    pub xplane: PathBuf,
    /// The trace-viewer JSON.
    pub trace_json: PathBuf,
}

/// Writes a run of one host.
///
/// Both files appear, or none. Where the run has a profile of this host already, the run's name
/// gets the first of `-2`, `-3`, … that is free, so that neither profile is lost.
///
/// # Errors
///
/// Each names the file or folder and what to do.
pub fn write_run(
    logdir: &Path,
    run: &str,
    host: &str,
    space: &XSpace,
) -> Result<WrittenRun, ExportError> {
    check_name("run", run)?;
    check_name("host", host)?;
    let runs = logdir.join(RUNS);
    let first = WrittenRun::of(&runs, run, host);
    create_folder(&first.dir)?;
    let written = first
        .write(space)
        .and_then(|(xplane, trace_json)| name_files(xplane, trace_json, &runs, run, host));
    match &written {
        Ok(files) => sync_folder(&files.dir),
        // Leaves nothing behind, and does nothing to a folder that holds something.
        Err(_) => drop(fs::remove_dir(&first.dir)),
    }
    written
}

/// Gives both files the names of the first run that has no profile of `host`.
fn name_files(
    mut xplane: Unnamed,
    trace_json: Unnamed,
    runs: &Path,
    run: &str,
    host: &str,
) -> Result<WrittenRun, ExportError> {
    let mut files = WrittenRun::of(runs, run, host);
    let mut number = 1;
    while let Some(unnamed) = xplane.claim(&files.xplane)? {
        xplane = unnamed;
        number += 1;
        files = WrittenRun::of(runs, &format!("{run}-{number}"), host);
        create_folder(&files.dir)?;
    }
    trace_json.replace(&files.trace_json).inspect_err(|_| {
        let _ = fs::remove_file(&files.xplane);
    })?;
    Ok(files)
}

impl WrittenRun {
    /// The names of a run's files.
    fn of(runs: &Path, run: &str, host: &str) -> Self {
        let dir = runs.join(run);
        Self {
            xplane: dir.join(format!("{host}.xplane.pb")),
            trace_json: dir.join(format!("{host}.trace.json.gz")),
            dir,
        }
    }

    /// Writes both files, without their names yet.
    fn write(&self, space: &XSpace) -> Result<(Unnamed, Unnamed), ExportError> {
        let xplane = Unnamed::write(&self.xplane, |file| file.write_all(&space.encode_to_vec()))?;
        let trace_json =
            Unnamed::write(&self.trace_json, |file| trace_json::write_gzip(space, file))?;
        Ok((xplane, trace_json))
    }
}

/// Makes sure, before a capture starts, that a run can be written into `logdir`: makes the folder
/// and a file in it that is removed again.
///
/// # Errors
///
/// As for [`write_run`]. A disk that fills up later is not seen here.
pub fn check_log_dir(logdir: &Path) -> Result<(), ExportError> {
    create_folder(logdir)?;
    let runs = logdir.join(RUNS);
    let mut deepest = logdir;
    for folder in [runs.parent().unwrap_or(logdir), &runs] {
        match fs::metadata(folder) {
            Ok(metadata) if metadata.is_dir() => deepest = folder,
            Ok(_) => {
                return Err(ExportError::NotADirectory {
                    path: folder.to_owned(),
                });
            }
            Err(_) => break,
        }
    }
    probe(deepest)
}

fn check_name(what: &'static str, name: &str) -> Result<(), ExportError> {
    let problem = if name.is_empty() {
        "is empty"
    } else if name == "." || name == ".." {
        "means a folder"
    } else if name.contains(['/', '\\', '\0']) {
        "has a path separator or NUL in it"
    } else if name.len() > MAX_NAME_BYTES {
        "is too long"
    } else {
        return Ok(());
    };
    Err(ExportError::BadName {
        what,
        name: name.to_owned(),
        problem,
    })
}
