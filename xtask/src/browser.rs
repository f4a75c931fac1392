//! The trace viewer in headless Chromium: the test that its rows are there, and the picture of them.

use crate::apt;
use crate::demo;
use crate::examples;
use crate::process;
use crate::repo;
use crate::steps::Steps;
use crate::venv::Venv;
use crate::xprof::{self, Server};
use anyhow::Result;
use std::path::Path;

/// Debian's Chromium, and fonts for what it shows.
fn chromium() -> Option<apt::Missing> {
    apt::program(&["chromium"], &["chromium", "fonts-liberation"])
}

/// Profiles the training example and checks in a browser that XProf shows its ROCTX rows.
///
/// # Errors
///
/// If a step fails or a row is missing.
pub(crate) fn test(steps: &Steps) -> Result<()> {
    let folder = repo::target().join("xtask/browser");
    let logdir = folder.join("logs");
    let venv = set_up(steps)?;
    examples::TRAINING.profile(steps, &venv, &logdir)?;
    show(steps, &venv, &logdir, &folder.join("xprof.png"))
}

/// An environment with the examples' packages, the browser and what drives it.
///
/// # Errors
///
/// If a step fails.
pub(crate) fn set_up(steps: &Steps) -> Result<Venv> {
    apt::install(steps, &chromium().into_iter().collect::<Vec<_>>())?;
    let venv = demo::set_up(steps)?;
    venv.install_packages(steps, "playwright", &["playwright"])?;
    Ok(venv)
}

/// Opens the training example's profile in XProf, checks its rows, and writes a picture of them.
///
/// # Errors
///
/// If XProf or the browser cannot be started, or the page does not show the rows.
pub(crate) fn show(steps: &Steps, venv: &Venv, logdir: &Path, picture: &Path) -> Result<()> {
    steps.step("Open the profile in XProf in a browser", |step| {
        let server = Server::start(venv, logdir, xprof::free_port()?)?;
        step.run(
            process::command(venv.python())
                .arg(repo::root().join("xtask/python/trace_page.py"))
                .arg(server.trace_page(examples::TRAINING.run)?)
                .arg(picture),
        )
    })
}
