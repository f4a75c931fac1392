//! The Python wheel, built when one of its sources has changed.

use crate::fingerprint::{self, Stamp};
use crate::repo;
use crate::steps::Steps;
use crate::venv::Venv;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// What the wheel is built of: the crates, and what builds them.
const SOURCES: [&str; 7] = [
    "Cargo.toml",
    "Cargo.lock",
    "xplane-schema",
    "tsl-profiler-lib",
    "rocm-tracer",
    "host-postprocess",
    "python-bindings",
];

/// A wheel that was built.
pub(crate) struct Wheel {
    path: PathBuf,
    fingerprint: String,
}

impl Wheel {
    /// Builds the wheel with the environment's pip, unless it is there and current. It is for every
    /// supported Python, whichever environment builds it.
    ///
    /// # Errors
    ///
    /// If the build fails.
    pub(crate) fn build(steps: &Steps, venv: &Venv) -> Result<Self> {
        let dir = repo::target().join("wheels");
        let sources: Vec<PathBuf> = SOURCES
            .iter()
            .map(|source| repo::root().join(source))
            .collect();
        let fingerprint = fingerprint::of_paths(&sources)?;
        let stamp = Stamp::new(&dir, "wheel", fingerprint.clone());
        steps.step("Build the wheel", |step| {
            if stamp.is_current() && the_wheel_in(&dir).is_ok() {
                return Ok(());
            }
            if dir.exists() {
                std::fs::remove_dir_all(&dir)
                    .with_context(|| format!("cannot remove {}", dir.display()))?;
            }
            step.run(
                venv.pip()
                    .args(["wheel", "--verbose", "--no-deps", "--wheel-dir"])
                    .arg(&dir)
                    .arg(repo::python_bindings()),
            )?;
            stamp.set()
        })?;
        Ok(Self {
            path: the_wheel_in(&dir)?,
            fingerprint,
        })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The fingerprint of its sources.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

fn the_wheel_in(dir: &Path) -> Result<PathBuf> {
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    let wheels: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    match wheels.as_slice() {
        [wheel] => Ok(wheel.clone()),
        _ => bail!(
            "{} holds {} wheels instead of one",
            dir.display(),
            wheels.len()
        ),
    }
}
