//! Virtual environments, one a Python version, in `target/venvs/`.

use crate::apt;
use crate::fingerprint::{self, Stamp};
use crate::process;
use crate::python::Python;
use crate::repo;
use crate::steps::Steps;
use crate::wheel::Wheel;
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// A virtual environment that exists.
pub(crate) struct Venv {
    dir: PathBuf,
    version: String,
}

impl Venv {
    /// Makes the environment for `python`, unless it is there.
    ///
    /// # Errors
    ///
    /// If this Python cannot make one, with the Debian package that it lacks.
    pub(crate) fn make(steps: &Steps, python: &Python) -> Result<Self> {
        let version = python.version_text();
        let dir = repo::target().join("venvs").join(format!("py{version}"));
        let stamp = Stamp::new(&dir, "venv", python.path.display().to_string());
        let venv = Self { dir, version };
        let name = format!("Make a virtual environment for Python {}", venv.version);
        if !stamp.is_current() && !python.has_venv {
            let package = python.venv_package();
            apt::install(
                steps,
                &[apt::Missing {
                    what: format!(
                        "the venv and ensurepip modules of {}",
                        python.path.display()
                    ),
                    packages: vec![package],
                }],
            )?;
        }
        steps.step(&name, |step| {
            if stamp.is_current() && venv.python().is_file() {
                return Ok(());
            }
            step.run(
                process::command(&python.path)
                    .args(["-m", "venv", "--clear"])
                    .arg(&venv.dir),
            )?;
            stamp.set()
        })?;
        Ok(venv)
    }

    /// Its interpreter.
    pub(crate) fn python(&self) -> PathBuf {
        self.bin("python")
    }

    /// A program that a package installed.
    pub(crate) fn bin(&self, name: &str) -> PathBuf {
        self.dir.join("bin").join(name)
    }

    /// `python -m pip`.
    pub(crate) fn pip(&self) -> Command {
        let mut command = process::command(self.python());
        command
            .args(["-m", "pip"])
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .env("PIP_NO_INPUT", "1")
            .env("PIP_PROGRESS_BAR", "off");
        command
    }

    /// Installs the wheel with its extras (`"jax,xprof"`): first what they require from the package
    /// index, unless that was done for the same requirements, then this very build of the wheel.
    ///
    /// # Errors
    ///
    /// If pip fails.
    pub(crate) fn install(&self, steps: &Steps, wheel: &Wheel, extras: &str) -> Result<()> {
        let pyproject = fingerprint::of_paths(&[repo::python_bindings().join("pyproject.toml")])?;
        let requirement = format!("{}[{extras}]", wheel.path().display());
        self.once(
            steps,
            &extras.replace(',', ", "),
            &pyproject,
            &[&requirement],
        )?;
        let wheel_itself = [
            "--force-reinstall",
            "--no-deps",
            &wheel.path().to_string_lossy(),
        ];
        self.once(steps, "the wheel", wheel.fingerprint(), &wheel_itself)
    }

    /// Installs `what`, which is `packages` of the package index, unless that was done.
    ///
    /// # Errors
    ///
    /// If pip fails.
    pub(crate) fn install_packages(
        &self,
        steps: &Steps,
        what: &str,
        packages: &[&str],
    ) -> Result<()> {
        self.once(steps, what, &packages.join(" "), packages)
    }

    /// A step that is `pip install` with these arguments, unless it was done for the same inputs.
    fn once(&self, steps: &Steps, what: &str, inputs: &str, arguments: &[&str]) -> Result<()> {
        let stamp = Stamp::new(&self.dir, &what.replace([' ', ',', '\''], "-"), inputs);
        steps.step(
            &format!("Install {what} for Python {}", self.version),
            |step| {
                if stamp.is_current() {
                    return Ok(());
                }
                stamp.clear()?;
                step.run(self.pip().arg("install").args(arguments))?;
                stamp.set()
            },
        )
    }

    /// Fails with what pip would need, if a program that a package should have brought is not there.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub(crate) fn require(&self, name: &str) -> Result<PathBuf> {
        let path = self.bin(name);
        if !path.is_file() {
            bail!(
                "{} is not there; remove {} and run this again",
                repo::shown(&path),
                repo::shown(&self.dir)
            );
        }
        Ok(path)
    }
}
