//! The programs in `examples/`, and how each is profiled.

use crate::process;
use crate::repo;
use crate::steps::Steps;
use crate::venv::Venv;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program whose profile the demo takes.
pub(crate) struct Example {
    /// The run's name in the log directory.
    pub(crate) run: &'static str,
    /// What it shows, in a line.
    pub(crate) about: &'static str,
    capture: Capture,
}

/// Who captures an example.
enum Capture {
    /// The program itself, which takes the log directory as its argument.
    Itself(&'static str),
    /// The program itself, which is an example of a crate.
    RustItself(&'static str),
    /// `xprof-roctx run`, from outside, a Python program.
    PythonFromOutside(&'static str),
    /// `xprof-roctx run`, from outside, a C program.
    CFromOutside(&'static str),
}

/// The example that the README's picture shows.
pub(crate) const TRAINING: Example = Example {
    run: "jax_train",
    about: "a JAX training loop, by jax.profiler.trace",
    capture: Capture::Itself("jax_train.py"),
};

/// All examples, in the order in which the demo runs them.
pub(crate) const ALL: [Example; 5] = [
    TRAINING,
    Example {
        run: "trace_without_jax",
        about: "threads in plain Python, by xprof_roctx.trace",
        capture: Capture::Itself("trace_without_jax.py"),
    },
    Example {
        run: "amd_client",
        about: "AMD's Python client of ROCTX, by xprof-roctx run",
        capture: Capture::PythonFromOutside("amd_client.py"),
    },
    Example {
        run: "roctx_dlopen",
        about: "C that dlopens ROCTX, by xprof-roctx run",
        capture: Capture::CFromOutside("roctx_dlopen.c"),
    },
    Example {
        run: "rust_program",
        about: "threads in Rust, by CaptureSession",
        capture: Capture::RustItself("xprof-roctx-session"),
    },
];

impl Example {
    /// The folder of its profile.
    pub(crate) fn directory(&self, logdir: &Path) -> PathBuf {
        logdir.join("plugins/profile").join(self.run)
    }

    /// Runs it and leaves its profile in `logdir`, in place of one that is there.
    ///
    /// # Errors
    ///
    /// If it cannot be built, fails, or leaves no profile.
    pub(crate) fn profile(&self, steps: &Steps, venv: &Venv, logdir: &Path) -> Result<()> {
        steps.step(&format!("Profile {}", self.about), |step| {
            let directory = self.directory(logdir);
            if directory.exists() {
                std::fs::remove_dir_all(&directory)
                    .with_context(|| format!("cannot remove {}", directory.display()))?;
            }
            let mut command = match self.capture {
                Capture::Itself(file) => {
                    let mut command = process::command(venv.python());
                    command.arg(source(file)).arg(logdir);
                    command
                }
                Capture::RustItself(package) => {
                    let mut command = process::cargo();
                    command
                        .args(["run", "--release", "--package", package])
                        .args(["--example", self.run, "--"])
                        .arg(logdir);
                    command
                }
                Capture::PythonFromOutside(file) => {
                    let mut command = self.captured_from_outside(venv, logdir);
                    command.arg(venv.python()).arg(source(file));
                    command
                }
                Capture::CFromOutside(file) => {
                    let program = repo::target().join("xtask").join(self.run);
                    step.run(
                        process::command("cc")
                            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
                            .arg(&program)
                            .arg(source(file))
                            .arg("-ldl"),
                    )?;
                    let mut command = self.captured_from_outside(venv, logdir);
                    command.arg(program);
                    command
                }
            };
            step.run(command.current_dir(repo::root()))?;
            xplane_in(&directory).map(drop)
        })
    }

    fn captured_from_outside(&self, venv: &Venv, logdir: &Path) -> Command {
        let mut command = process::command(venv.bin("xprof-roctx"));
        command
            .arg("run")
            .arg("--logdir")
            .arg(logdir)
            .args(["--run", self.run, "--"]);
        command
    }
}

/// The profile in a run's folder.
///
/// # Errors
///
/// If there is none.
pub(crate) fn xplane_in(directory: &Path) -> Result<PathBuf> {
    std::fs::read_dir(directory)
        .with_context(|| {
            format!(
                "no profile was written: cannot list {}",
                directory.display()
            )
        })?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().ends_with(".xplane.pb"))
        .with_context(|| format!("no profile was written: {} has none", directory.display()))
}

fn source(file: &str) -> PathBuf {
    repo::root().join("examples").join(file)
}
