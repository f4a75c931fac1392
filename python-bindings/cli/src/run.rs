//! A program, captured from its start to its end.

use crate::args::RunArgs;
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use xprof_roctx_session::check_log_dir;
use xprof_roctx_session::options::MAX_EVENTS_VARIABLE;
use xprof_roctx_session::write::run_name;

const TOOL: &str = "libxprof_roctx_tool.so";

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

    let mut program = Command::new(&args.program[0]);
    program
        .args(&args.program[1..])
        .env("LD_LIBRARY_PATH", library_path(library_dir))
        .env("XPROF_ROCTX_TOOL", &tool)
        .env("XPROF_ROCTX_LOGDIR", &logdir)
        .env("XPROF_ROCTX_RUN", &run);
    if let Some(max_events) = args.max_events {
        program.env(MAX_EVENTS_VARIABLE, max_events.to_string());
    }
    let before = profiles(&run_dir);
    let status = match wait_for(&mut program) {
        Ok(status) => status,
        Err(error) => {
            say(&format!("cannot run {:?}: {error}", args.program[0]));
            return Ok(match error.kind() {
                io::ErrorKind::NotFound => NOT_FOUND,
                _ => NOT_EXECUTABLE,
            });
        }
    };
    if profiles(&run_dir) <= before {
        say(nothing_captured(status));
    }
    Ok(status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

fn nothing_captured(status: ExitStatus) -> &'static str {
    if status.signal().is_some() {
        "nothing was captured: the program was ended by a signal, and a profile is written when a \
         program exits"
    } else {
        "nothing was captured: the program called no ROCTX function of this package's library. \
         Programs that are linked statically, that load ROCTX by an absolute path, or that find \
         ROCm's own first are not captured"
    }
}

fn library_path(library_dir: &Path) -> OsString {
    let mut path = library_dir.as_os_str().to_owned();
    if let Some(old) = env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(OsStr::new(":"));
        path.push(old);
    }
    path
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

fn say(line: &str) {
    let _ = writeln!(io::stderr(), "xprof-roctx: {line}");
}

/// The program that signals are passed on to; 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Runs the program to its end. Signals that ask this process to end go to the program, which is
/// the one to answer; Ctrl-C reaches it from the terminal anyway.
fn wait_for(program: &mut Command) -> io::Result<ExitStatus> {
    extern "C" fn pass_on(signal: libc::c_int) {
        let child = CHILD.load(Ordering::Relaxed);
        if child > 0 {
            // SAFETY: kill may be called in a signal handler; the child is not reaped before
            // CHILD is 0 again.
            unsafe { libc::kill(child, signal) };
        }
    }
    extern "C" fn leave_to_child(_signal: libc::c_int) {}
    let handlers: [(libc::c_int, extern "C" fn(libc::c_int)); 4] = [
        (libc::SIGTERM, pass_on),
        (libc::SIGHUP, pass_on),
        // Handlers, not SIG_IGN: an ignored signal would be ignored in the program too.
        (libc::SIGINT, leave_to_child),
        (libc::SIGQUIT, leave_to_child),
    ];
    let mut before = Vec::new();
    for (signal, handler) in handlers {
        // SAFETY: the handlers only load an atomic and call kill.
        let old = unsafe { libc::signal(signal, handler as libc::sighandler_t) };
        if old == libc::SIG_IGN {
            // Whoever started this wants it ignored (nohup does), by the program too.
            // SAFETY: puts back what was there; so too below.
            unsafe { libc::signal(signal, old) };
        }
        before.push(old);
    }
    let result = program.spawn().and_then(|mut child| {
        CHILD.store(child.id() as i32, Ordering::Relaxed);
        wait_unreaped(child.id());
        CHILD.store(0, Ordering::Relaxed);
        child.wait()
    });
    for ((signal, _), before) in handlers.into_iter().zip(before) {
        // SAFETY: as above.
        unsafe { libc::signal(signal, before) };
    }
    result
}

/// Waits until the child has ended, and leaves it to be reaped: till then nobody else has its id.
fn wait_unreaped(child: u32) {
    loop {
        // SAFETY: a zeroed siginfo_t is one to be written over.
        let result = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}
