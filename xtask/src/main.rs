//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! Each command does its own set-up: Debian packages where it may install them ([`apt`]), a virtual
//! environment a Python version ([`python`], [`venv`]) and the wheel ([`wheel`]), all under
//! `target/`. What is there already and current is kept. Set-up steps show their progress
//! ([`steps`]) and write their output to `target/xtask/`; the tools that a command is about (test
//! runners, the report) print for themselves.

mod apt;
mod bench;
mod browser;
mod demo;
mod examples;
mod fingerprint;
mod process;
mod python;
mod repo;
mod screenshot;
mod steps;
mod test;
mod venv;
mod wheel;
mod xprof;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 80)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set up, profile the example programs, and print what was captured.
    Demo(demo::DemoArgs),
    /// Set up and run every check and every test.
    Test(test::TestArgs),
    /// Run the benchmarks.
    Bench(bench::BenchArgs),
    /// Take the README's picture: the demo's ROCTX rows in XProf's trace viewer.
    Screenshot(screenshot::ScreenshotArgs),
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Demo(args) => demo::demo(&args),
        Command::Test(args) => test::test(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Screenshot(args) => screenshot::screenshot(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
