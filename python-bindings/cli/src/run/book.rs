//! Which processes captured and wrote nothing.
//!
//! Each capturing process has a file in a private folder, named by its pid, until its profile is
//! written. What is left at the end was killed, crashed, or still runs.

use super::child::Ended;
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use tempfile::TempDir;

pub(super) struct Book(TempDir);

impl Book {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("xprof-roctx-").tempdir();
        folder
            .map(Self)
            .context("cannot make a temporary folder (TMPDIR says where)")
    }

    pub(super) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// A line for each process that captured and has written no profile.
    pub(super) fn unwritten(&self, ended: &Ended) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut pids: Vec<u32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        pids.sort_unstable();
        pids.iter().map(|&pid| line(pid, ended)).collect()
    }
}

fn line(pid: u32, ended: &Ended) -> String {
    if pid == ended.pid && ended.status.signal().is_some() {
        return format!(
            "nothing was written of the program (process {pid}): it was ended by a signal ({}) \
             that leaves no time to write; SIGINT, SIGTERM and SIGHUP do",
            ended.status
        );
    }
    if pid != ended.pid && is_running(pid) {
        return format!("process {pid} still runs; it writes its profile when it ends");
    }
    format!(
        "nothing was written of process {pid}: it was killed (SIGKILL), crashed, or replaced itself \
         by another program"
    )
}

/// Whether a process of this pid runs; one that has ended and waits for its parent does not.
fn is_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        // The name in parentheses may have anything in it.
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.trim().chars().next());
        !matches!(state, Some('Z' | 'X') | None)
    })
}
