//! `cargo xtask bench`: the criterion benchmarks of every crate.

use crate::process;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// Arguments of `cargo xtask bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Arguments for criterion, such as a filter or `--save-baseline main`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    criterion: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a benchmark does not build or fails.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode> {
    // Only benchmarks: the other targets' harness does not know criterion's arguments.
    process::run_shown(
        process::cargo()
            .args(["bench", "--workspace", "--bench", "*", "--"])
            .args(&args.criterion),
    )?;
    Ok(ExitCode::SUCCESS)
}
