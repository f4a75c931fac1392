//! `cargo xtask test`: every check and every test, whatever fails on the way.

use crate::apt;
use crate::browser;
use crate::process;
use crate::python::{self, Python};
use crate::repo;
use crate::steps::Steps;
use crate::venv::Venv;
use crate::wheel::Wheel;
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Arguments of `cargo xtask test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Only this check; may be given several times.
    #[arg(long, value_name = "STEP", value_enum)]
    only: Vec<Check>,
}

/// One row of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    /// The formatting of the Rust sources.
    Fmt,
    /// clippy on all targets.
    Clippy,
    /// The Rust tests.
    CargoTest,
    /// rustdoc.
    Doc,
    /// The Python tests, with the machine's python3.
    Pytest,
    /// The Python tests with the newest Python and so the newest JAX.
    PytestNewest,
    /// The overlay's tests, on checkouts made up for them.
    Overlay,
    /// The trace viewer in a browser.
    Browser,
    /// The Bazel build of every platform, with its tests.
    Bazel,
}

/// How a check ended.
enum Outcome {
    Passed,
    Skipped(String),
}

/// Runs the command.
///
/// # Errors
///
/// If nothing could be run; a check that fails is in the summary and the exit code.
pub(crate) fn test(args: &TestArgs) -> Result<ExitCode> {
    let steps = Steps::new("test")?;
    apt::install(
        &steps,
        &[apt::c_compiler(), apt::cxx_compiler()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>(),
    )?;
    let mut summary = Vec::new();
    for &check in Check::value_variants() {
        if args.only.is_empty() || args.only.contains(&check) {
            println!("\n━━ {}", check.name());
            let start = Instant::now();
            let result = check.run(&steps);
            match &result {
                Err(error) => eprintln!("error: {error:#}"),
                Ok(Outcome::Skipped(why)) => println!("skipped: {why}"),
                Ok(Outcome::Passed) => {}
            }
            summary.push((check, result, start.elapsed()));
        }
    }
    Ok(print_summary(&summary))
}

impl Check {
    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn run(self, steps: &Steps) -> Result<Outcome> {
        match self {
            Self::Fmt => run(process::cargo().args(["fmt", "--all", "--check"])),
            Self::Clippy => run(process::cargo().args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ])),
            Self::CargoTest => {
                run(process::cargo().args(["test", "--workspace", "--no-fail-fast"]))
            }
            Self::Doc => run(process::cargo()
                .args(["doc", "--workspace", "--no-deps"])
                .env("RUSTDOCFLAGS", "-D warnings")),
            Self::Pytest => pytest(steps, &python::system()?),
            Self::PytestNewest => match python::newer_than(python::system()?.version) {
                Some(python) => pytest(steps, &python),
                None => Ok(Outcome::Skipped(format!(
                    "no Python newer than {} on PATH or under pyenv, so the newest JAX is not tested",
                    python::system()?.version_text()
                ))),
            },
            Self::Overlay => run(process::command(&python::system()?.path)
                .args(["-m", "unittest"])
                .current_dir(repo::root().join("third_party/xla"))),
            Self::Browser => {
                browser::test(steps)?;
                Ok(Outcome::Passed)
            }
            Self::Bazel => match apt::why_not_debian_root() {
                None => {
                    run(Command::new(repo::root().join("third_party/bazel/debian.sh")).arg("test"))
                }
                Some(why) => Ok(Outcome::Skipped(format!(
                    "{why}; with Bazel 7.7 or newer run third_party/bazel/test.sh"
                ))),
            },
        }
    }
}

fn run(command: &mut Command) -> Result<Outcome> {
    process::run_shown(command)?;
    Ok(Outcome::Passed)
}

fn pytest(steps: &Steps, python: &Python) -> Result<Outcome> {
    let venv = Venv::make(steps, python)?;
    let wheel = Wheel::build(steps, &venv)?;
    venv.install(steps, &wheel, "test")?;
    run(process::command(venv.python())
        .args(["-m", "pytest", "-p", "no:cacheprovider", "-ra"])
        .current_dir(repo::python_bindings()))
}

fn print_summary(summary: &[(Check, Result<Outcome>, Duration)]) -> ExitCode {
    println!("\n{:<14} {:<8} {:>9}", "step", "result", "time");
    let mut code = ExitCode::SUCCESS;
    for (check, result, time) in summary {
        let word = match result {
            Ok(Outcome::Passed) => "passed",
            Ok(Outcome::Skipped(_)) => "skipped",
            Err(_) => {
                code = ExitCode::FAILURE;
                "FAILED"
            }
        };
        println!(
            "{:<14} {word:<8} {:>7.1} s",
            check.name(),
            time.as_secs_f64()
        );
    }
    code
}
