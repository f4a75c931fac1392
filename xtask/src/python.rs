//! Finding Python interpreters.

use crate::process;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The oldest Python that the package supports.
pub(crate) const OLDEST: (u32, u32) = (3, 10);
/// The newest one that the tests look for.
const NEWEST: (u32, u32) = (3, 14);

/// An interpreter that was found and runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Python {
    /// The interpreter itself, not a shim.
    pub(crate) path: PathBuf,
    /// Major and minor version.
    pub(crate) version: (u32, u32),
    /// Whether it can make virtual environments; Debian keeps that in a package of its own.
    pub(crate) has_venv: bool,
}

impl Python {
    /// The version, as in "3.11".
    pub(crate) fn version_text(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// The Debian package that lets it make virtual environments.
    pub(crate) fn venv_package(&self) -> String {
        format!("python{}-venv", self.version_text())
    }

    fn probe(program: &Path) -> Option<Self> {
        const SOURCE: &str = "import sys, sysconfig
try:
    import ensurepip, venv
    has_venv = 1
except ImportError:
    has_venv = 0
free_threaded = sysconfig.get_config_var('Py_GIL_DISABLED') or 0
print(*sys.version_info[:2], has_venv, free_threaded)
print(sys.executable)";
        let output = process::command(program)
            .args(["-c", SOURCE])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        let output = String::from_utf8(output.stdout).ok()?;
        let (numbers, path) = output.trim_end().split_once('\n')?;
        let numbers: Vec<u32> = numbers
            .split(' ')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        let &[major, minor, has_venv, free_threaded] = numbers.as_slice() else {
            return None;
        };
        // The wheel is built for the stable ABI, which a free-threaded Python does not load.
        (free_threaded == 0).then(|| Self {
            path: path.into(),
            version: (major, minor),
            has_venv: has_venv == 1,
        })
    }
}

/// The `python3` on `PATH`, or the newest `python3.N` there if that one is too old or missing.
///
/// # Errors
///
/// If none is at least [`OLDEST`].
pub(crate) fn system() -> Result<Python> {
    let default = Python::probe(Path::new("python3"));
    if let Some(python) = default.clone().filter(|python| python.version >= OLDEST) {
        return Ok(python);
    }
    if let Some(python) = versions(OLDEST).find_map(|name| Python::probe(Path::new(&name))) {
        return Ok(python);
    }
    let found = default.map_or("there is no python3 on PATH".to_owned(), |python| {
        format!("python3 on PATH is {}", python.version_text())
    });
    bail!(
        "Python {}.{} or newer is needed, but {found}. Install one (on Debian: apt-get install python3 python3-venv)",
        OLDEST.0,
        OLDEST.1
    )
}

/// The newest Python above `version`, on `PATH` or among pyenv's.
pub(crate) fn newer_than(version: (u32, u32)) -> Option<Python> {
    let mut candidates: Vec<PathBuf> = versions((version.0, version.1 + 1))
        .map(PathBuf::from)
        .collect();
    candidates.extend(pyenv_interpreters().unwrap_or_default());
    candidates
        .iter()
        .filter_map(|candidate| Python::probe(candidate))
        .filter(|python| python.version > version && python.version <= NEWEST && python.has_venv)
        // The first of equals: one on PATH goes before pyenv's.
        .rev()
        .max_by_key(|python| python.version)
}

/// Program names `python3.N`, newest first, down to `oldest`.
fn versions(oldest: (u32, u32)) -> impl Iterator<Item = String> {
    (oldest.1..=NEWEST.1)
        .rev()
        .map(move |minor| format!("python{}.{minor}", oldest.0))
}

fn pyenv_interpreters() -> Result<Vec<PathBuf>> {
    let root = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".pyenv")))
        .context("there is no home directory")?;
    Ok(std::fs::read_dir(root.join("versions"))?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin/python3")))
        .filter(|path| path.is_file())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(dir: &Path, name: &str, lines: &str) -> PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn an_interpreter_says_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let python = script(
            dir.path(),
            "python3",
            "echo 3 12 0 0; echo /opt/py/bin/python3.12",
        );
        let python = Python::probe(&python).unwrap();
        assert_eq!(
            python,
            Python {
                path: "/opt/py/bin/python3.12".into(),
                version: (3, 12),
                has_venv: false
            }
        );
        assert_eq!(python.venv_package(), "python3.12-venv");
    }

    #[test]
    fn shims_that_fail_and_free_threaded_interpreters_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let shim = script(
            dir.path(),
            "shim",
            "echo 'pyenv: python3.13: command not found'; exit 127",
        );
        assert_eq!(Python::probe(&shim), None);
        let free_threaded = script(
            dir.path(),
            "python3.14t",
            "echo 3 14 1 1; echo /opt/py3.14t",
        );
        assert_eq!(Python::probe(&free_threaded), None);
        assert_eq!(Python::probe(&dir.path().join("missing")), None);
    }

    #[test]
    fn names_run_from_the_newest_down() {
        assert_eq!(
            versions((3, 12)).collect::<Vec<_>>(),
            ["python3.14", "python3.13", "python3.12"]
        );
    }
}
