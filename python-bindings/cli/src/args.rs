//! The arguments and their help.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use regex_lite::Regex;
use std::ffi::OsString;
use std::path::PathBuf;

/// ROCTX ranges in XProf and TensorBoard profiles.
#[derive(Debug, Parser)]
#[command(name = "xprof-roctx", version, max_term_width = 80)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print what a profile has: ROCTX rows, busiest labels, and what is missing.
    #[command(after_help = "\
Examples:
  xprof-roctx report /tmp/profile              the newest run in a log directory
  xprof-roctx report host.xplane.pb --top 50
  xprof-roctx report /tmp/profile --sort p99 --filter '^load/'
  xprof-roctx report /tmp/profile --json | jq '.labels[0]'")]
    Report(ReportArgs),
    /// Run a program and capture the ROCTX ranges that it makes.
    #[command(after_help = "\
Examples:
  xprof-roctx run -- python train.py
  xprof-roctx run --logdir /tmp/profile -- ./simulate --steps 100

The program is not changed. It is given this package's ROCTX library, which
works with no AMD GPU and no ROCm, through LD_LIBRARY_PATH. The exit code is the
program's, or 128 and the signal's number if a signal ended it. The profile is
written when the program exits; one that a signal kills writes none.")]
    Run(RunArgs),
    /// Print the folder of the ROCTX libraries, for LD_LIBRARY_PATH.
    Libdir,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// A profile (.xplane.pb), a run's folder, or a log directory.
    pub(crate) path: PathBuf,
    /// Labels to print; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// What to order the labels by, largest first.
    #[arg(long, value_name = "KEY", value_enum, default_value_t = SortKey::Total)]
    pub(crate) sort: SortKey,
    /// Only labels that match this regular expression.
    #[arg(long, value_name = "REGEX")]
    pub(crate) filter: Option<Regex>,
    /// Print JSON instead of tables. Times are in nanoseconds.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    /// Time in the label's ranges.
    Total,
    /// The same without the ranges inside them.
    #[value(name = "self")]
    SelfTime,
    /// Ranges and marks.
    Count,
    /// Median length.
    P50,
    /// Length that one in a hundred exceeds.
    P99,
    /// Longest range.
    Longest,
    /// Threads that used the label.
    Threads,
    /// The label, A to Z.
    Label,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// Where the profile is written; give it to XProf as its --logdir.
    #[arg(long, value_name = "DIR", default_value = "roctx-profile")]
    pub(crate) logdir: PathBuf,
    /// Name of the run [default: the time].
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Option<String>,
    /// Events that each process keeps [default: 4194304].
    #[arg(long, value_name = "N")]
    pub(crate) max_events: Option<u64>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}
