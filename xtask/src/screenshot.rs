//! `cargo xtask screenshot`: the README's picture.

use crate::browser;
use crate::demo;
use crate::examples;
use crate::repo;
use crate::steps::Steps;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `cargo xtask screenshot`.
#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    /// The log directory to show; the demo's by default. The training example is profiled if it
    /// has none.
    #[arg(long, value_name = "DIR")]
    logdir: Option<PathBuf>,
    /// Where the picture is written [default: docs/xprof.png].
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// If a step fails.
pub(crate) fn screenshot(args: &ScreenshotArgs) -> Result<ExitCode> {
    let logdir = std::path::absolute(args.logdir.clone().unwrap_or_else(demo::default_logdir))?;
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| repo::root().join("docs/xprof.png"));
    let output = std::path::absolute(output)?;
    if let Some(folder) = output.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let steps = Steps::new("screenshot")?;
    let venv = browser::set_up(&steps)?;
    let training = examples::TRAINING;
    if examples::xplane_in(&training.directory(&logdir)).is_err() {
        training.profile(&steps, &venv, &logdir)?;
    }
    browser::show(&steps, &venv, &logdir, &output)?;
    println!("{}", repo::shown(&output));
    Ok(ExitCode::SUCCESS)
}
