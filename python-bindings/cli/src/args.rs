//! The arguments and their help.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use regex_lite::Regex;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

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
  xprof-roctx run --start-after 30s --duration 10s -- python train.py

The program is not changed. It is given this package's ROCTX library, which
works with no AMD GPU and no ROCm, through LD_LIBRARY_PATH and LD_PRELOAD. Every
process of it that calls ROCTX writes a profile of its own, forked children too.

A profile is written when its process ends: by itself, by _exit, by Ctrl-C
(SIGINT), SIGTERM, SIGHUP or SIGPIPE, whether the program handles them or not.
Signals to xprof-roctx go to the program. SIGKILL and crashes leave no time to
write; a line on stderr says so. A second Ctrl-C does not wait for the profile.

Exit codes: the program's; 128 + the signal's number if a signal ended it; 127
if the program is not found, 126 if it cannot be executed; 1 if the profile
could not be begun, 2 if the arguments are wrong.")]
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
    /// Capture for this long, then write; the program goes on. "10", "1.5s", "500ms", "2m", "1h".
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Begin this long after the program's start.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) start_after: Option<Duration>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// A length of time: seconds, or a number with a unit.
fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit_s = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{unit:?} is none of the units ms, s, m, h")),
    };
    let seconds = number
        .parse::<f64>()
        .map_err(|_| "a number of seconds, or one with a unit as in 500ms, is needed".to_owned())?
        * unit_s;
    // More than a century is a mistake, and would overflow a clock.
    if seconds > 3.2e9 {
        return Err("that is more than a hundred years".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units_or_are_seconds() {
        for (text, ms) in [
            ("10", 10_000),
            ("1.5", 1_500),
            ("2 s", 2_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "1d", "-1", "1e3", "1..2", "inf", "99999999999"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
