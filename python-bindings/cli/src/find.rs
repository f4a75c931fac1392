//! The profiles that a path means.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How a profile's file name ends.
const SUFFIX: &str = ".xplane.pb";

/// The files meant by `path`: itself; or those of a run's folder; or those of the newest run in a
/// log directory. Never empty.
pub(crate) fn profiles(path: &Path) -> Result<Vec<PathBuf>> {
    let kind = fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
    if !kind.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = profiles_in(path)?;
    if !files.is_empty() {
        return Ok(files);
    }
    let runs = path.join("plugins").join("profile");
    let mut newest: Option<(SystemTime, Vec<PathBuf>)> = None;
    if runs.is_dir() {
        for run in entries(&runs)? {
            if !run.is_dir() {
                continue;
            }
            let files = profiles_in(&run)?;
            let written = files.iter().filter_map(|file| modified(file)).max();
            if let Some(written) = written
                && newest.as_ref().is_none_or(|(time, _)| written > *time)
            {
                newest = Some((written, files));
            }
        }
    }
    match newest {
        Some((_, files)) => Ok(files),
        None => bail!(
            "no profile in {}: it has no *{SUFFIX}, nor has a folder in {}",
            path.display(),
            runs.display()
        ),
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

fn profiles_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = entries(folder)?;
    files.retain(|file| file.to_string_lossy().ends_with(SUFFIX));
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    };
    read().with_context(|| format!("cannot read the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn touch(path: &Path, age: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age))
            .unwrap();
    }

    #[test]
    fn a_log_directory_means_its_newest_run() {
        let logdir = tempfile::tempdir().unwrap();
        let runs = logdir.path().join("plugins/profile");
        touch(&runs.join("old/a.xplane.pb"), 50);
        touch(&runs.join("new/b.xplane.pb"), 20);
        touch(&runs.join("new/a.xplane.pb"), 60);
        touch(&runs.join("new/a.trace.json.gz"), 0);
        touch(&runs.join("no-profile/notes.txt"), 0);
        let expected = [runs.join("new/a.xplane.pb"), runs.join("new/b.xplane.pb")];
        assert_eq!(profiles(logdir.path()).unwrap(), expected);
        assert_eq!(profiles(&runs.join("new")).unwrap(), expected);
        let old = runs.join("old/a.xplane.pb");
        assert_eq!(profiles(&old).unwrap(), vec![old]);
    }

    #[test]
    fn nothing_there_is_an_error_that_names_the_places() {
        let logdir = tempfile::tempdir().unwrap();
        let error = profiles(logdir.path()).unwrap_err().to_string();
        assert!(error.contains(logdir.path().to_str().unwrap()), "{error}");
        assert!(error.contains("plugins/profile"), "{error}");
        let error = profiles(&logdir.path().join("gone")).unwrap_err();
        assert!(format!("{error:#}").contains("No such file"), "{error:#}");
    }
}
