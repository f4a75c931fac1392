//! `cargo xtask demo`: everything set up, the examples profiled, and what was captured printed.

use crate::apt;
use crate::examples::{self, Example};
use crate::process;
use crate::python;
use crate::repo;
use crate::steps::Steps;
use crate::venv::Venv;
use crate::wheel::Wheel;
use crate::xprof::{self, Server};
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Labels that the report of each example shows.
const LABELS_SHOWN: &str = "8";

/// AMD's Python client of ROCTX, and what it needs.
const AMD_CLIENT: [&str; 3] = [
    "rocm-bindings-core",
    "rocm-bindings-hip",
    "rocm-bindings-systems",
];

/// Arguments of `cargo xtask demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where the profiles are written [default: target/demo/logs].
    #[arg(long, value_name = "DIR")]
    logdir: Option<PathBuf>,
    /// Start XProf on the profiles at the end, on 127.0.0.1 only, until Ctrl-C.
    #[arg(long)]
    serve: bool,
    /// The port of XProf.
    #[arg(long, value_name = "N", default_value_t = 8791)]
    port: u16,
}

/// Runs the command.
///
/// # Errors
///
/// If a step fails.
pub(crate) fn demo(args: &DemoArgs) -> Result<ExitCode> {
    if args.serve {
        xprof::check_port(args.port)?;
    }
    let logdir = match &args.logdir {
        Some(logdir) => std::path::absolute(logdir)
            .with_context(|| format!("cannot use the log directory {}", logdir.display()))?,
        None => default_logdir(),
    };
    let steps = Steps::new("demo")?;
    let venv = set_up(&steps)?;
    for example in &examples::ALL {
        example.profile(&steps, &venv, &logdir)?;
    }
    for example in &examples::ALL {
        report(&venv, &logdir, example)?;
    }

    let xprof = repo::shown(&venv.require("xprof")?);
    println!("\nOpen it in XProf (its server listens on every interface of this machine):");
    println!(
        "  {xprof} --logdir {} --port {}",
        repo::shown(&logdir),
        args.port
    );
    if !args.serve {
        println!("Or on 127.0.0.1 only: cargo xtask demo --serve");
        return Ok(ExitCode::SUCCESS);
    }
    let mut server = Server::start(&venv, &logdir, args.port)?;
    println!(
        "\nXProf is at {} (Ctrl-C ends it)",
        server.trace_page(examples::TRAINING.run)?
    );
    server.wait()?;
    Ok(ExitCode::SUCCESS)
}

/// Where the profiles are unless the command says otherwise.
pub(crate) fn default_logdir() -> PathBuf {
    repo::target().join("demo/logs")
}

/// An environment in which every example runs.
///
/// # Errors
///
/// If a step fails.
pub(crate) fn set_up(steps: &Steps) -> Result<Venv> {
    let missing: Vec<_> = apt::c_compiler().into_iter().collect();
    apt::install(steps, &missing)?;
    let venv = Venv::make(steps, &python::system()?)?;
    let wheel = Wheel::build(steps, &venv)?;
    venv.install(steps, &wheel, "jax,xprof")?;
    venv.install_packages(steps, "AMD's Python client", &AMD_CLIENT)?;
    Ok(venv)
}

fn report(venv: &Venv, logdir: &Path, example: &Example) -> Result<()> {
    println!("\n{}: {}", example.run, example.about);
    process::run_shown(
        process::command(venv.bin("xprof-roctx"))
            .arg("report")
            .arg(example.directory(logdir))
            .args(["--top", LABELS_SHOWN]),
    )
}
