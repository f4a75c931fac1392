//! A program, captured from its start to its end.

mod book;
mod child;

use crate::args::RunArgs;
use anyhow::{Context, Result, bail};
use book::Book;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{SystemTime, UNIX_EPOCH};
use xprof_roctx_session::check_log_dir;
use xprof_roctx_session::options::MAX_EVENTS_VARIABLE;
use xprof_roctx_session::write::run_name;

const TOOL: &str = "libxprof_roctx_tool.so";

/// What NVTX's clients load at their first call; somebody else's tool keeps its place.
const NVTX_INJECTION: &str = "NVTX_INJECTION64_PATH";

/// Exit codes of shells for a program that is not there, and one that cannot be executed.
const NOT_FOUND: i32 = 127;
const NOT_EXECUTABLE: i32 = 126;

pub(crate) fn run(args: &RunArgs, library_dir: &Path) -> Result<i32> {
    let tool = library_dir.join(TOOL);
    if !tool.is_file() {
        bail!(
            "{} is missing: this installation of xprof-roctx is incomplete; reinstall it",
            tool.display()
        );
    }
    let logdir = std::path::absolute(&args.logdir)
        .with_context(|| format!("the log directory {}", args.logdir.display()))?;
    check_log_dir(&logdir)?;
    let run = args.run.clone().unwrap_or_else(|| run_name(now_ns()));
    let run_dir = logdir.join("plugins").join("profile").join(&run);
    let book = Book::new()?;

    let mut program = Command::new(&args.program[0]);
    program
        .args(&args.program[1..])
        .env("LD_LIBRARY_PATH", list(library_dir, "LD_LIBRARY_PATH"))
        .env("XPROF_ROCTX_TOOL", &tool)
        .env("XPROF_ROCTX_LOGDIR", &logdir)
        .env("XPROF_ROCTX_RUN", &run)
        .env("XPROF_ROCTX_BOOK", book.folder());
    if tool
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|byte| b" :".contains(byte))
    {
        say(&format!(
            "{} cannot be preloaded, since its path has a space or a colon in it: a process that \
             ends by _exit writes no profile",
            tool.display()
        ));
    } else {
        program.env("LD_PRELOAD", list(&tool, "LD_PRELOAD"));
    }
    if env::var_os(NVTX_INJECTION).is_none() {
        program.env(NVTX_INJECTION, &tool);
    }
    if let Some(window) = window(args) {
        program.env("XPROF_ROCTX_WINDOW", window);
    }
    if let Some(max_events) = args.max_events {
        program.env(MAX_EVENTS_VARIABLE, max_events.to_string());
    }
    let before = profiles(&run_dir);
    let ended = match child::run(&mut program) {
        Ok(ended) => ended,
        Err(error) => {
            say(&format!("cannot run {:?}: {error}", args.program[0]));
            return Ok(match error.kind() {
                io::ErrorKind::NotFound => NOT_FOUND,
                _ => NOT_EXECUTABLE,
            });
        }
    };
    let unwritten = book.unwritten(&ended);
    for line in &unwritten {
        say(line);
    }
    if unwritten.is_empty() && profiles(&run_dir) <= before {
        say(&nothing_captured(ended.status, args));
    }
    Ok(ended
        .status
        .code()
        .unwrap_or_else(|| 128 + ended.status.signal().unwrap_or(0)))
}

/// The time to capture, as the tool takes it: from now on, on a clock that all processes of this
/// machine share, so that they all capture the same time.
fn window(args: &RunArgs) -> Option<String> {
    if args.start_after.is_none() && args.duration.is_none() {
        return None;
    }
    let now = boot_ns();
    let start = args.start_after.map(|after| now + after.as_nanos() as u64);
    let stop = args
        .duration
        .map(|duration| start.unwrap_or(now) + duration.as_nanos() as u64);
    let text = |time: Option<u64>| time.map_or_else(String::new, |time| time.to_string());
    Some(format!("{}:{}", text(start), text(stop)))
}

fn nothing_captured(status: ExitStatus, args: &RunArgs) -> String {
    if status.signal().is_some() {
        format!(
            "nothing was captured: the program was ended by a signal ({status}) before it called \
             ROCTX"
        )
    } else if args.start_after.is_some() || args.duration.is_some() {
        "nothing was captured: the program made no ROCTX call in the time between --start-after \
         and the end of --duration, or ended before it"
            .to_owned()
    } else {
        "nothing was captured: the program called no ROCTX function of this package's library. \
         Programs that are linked statically, that load ROCTX by an absolute path, or that find \
         ROCm's own first are not captured"
            .to_owned()
    }
}

/// A list of paths for the loader: `first`, then what the variable has.
fn list(first: &Path, variable: &str) -> OsString {
    let mut list = first.as_os_str().to_owned();
    if let Some(old) = env::var_os(variable).filter(|old| !old.is_empty()) {
        list.push(OsStr::new(":"));
        list.push(old);
    }
    list
}

/// How many profiles a run's folder has.
fn profiles(run_dir: &Path) -> usize {
    std::fs::read_dir(run_dir).map_or(0, |entries| {
        entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".xplane.pb"))
            .count()
    })
}

fn now_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos() as u64)
}

/// Nanoseconds of `CLOCK_BOOTTIME`.
fn boot_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a place for a timespec. Linux has this clock, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// In one piece, since the program writes there too.
fn say(line: &str) {
    let _ = io::stderr().write_all(format!("xprof-roctx: {line}\n").as_bytes());
}
