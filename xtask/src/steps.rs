//! Steps of a command, shown as they go: a spinner with the time on a terminal, plain lines elsewhere.

use crate::{process, repo};
use anyhow::{Context, Result};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The steps of one command.
pub(crate) struct Steps {
    logs: PathBuf,
    terminal: bool,
}

impl Steps {
    /// Steps whose output goes to files in `target/xtask/<command>/`.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made.
    pub(crate) fn new(command: &str) -> Result<Self> {
        let logs = repo::target().join("xtask").join(command);
        std::fs::create_dir_all(&logs)
            .with_context(|| format!("cannot make the folder {}", logs.display()))?;
        Ok(Self {
            logs,
            terminal: std::io::stderr().is_terminal(),
        })
    }

    /// Runs one step and shows its name, then its time or that there was nothing to do.
    ///
    /// # Errors
    ///
    /// Those of `work`, with the step's name.
    pub(crate) fn step<T>(&self, name: &str, work: impl FnOnce(&Step) -> Result<T>) -> Result<T> {
        let file: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let log = self.logs.join(format!("{file}.log"));
        match std::fs::remove_file(&log) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", log.display()));
            }
            _ => {}
        }
        let bar = self.terminal.then(|| spinner(name));
        let step = Step {
            log,
            bar,
            plain: !self.terminal,
            name,
            announced: Cell::new(false),
        };
        let start = Instant::now();
        let result = work(&step);
        if let Some(bar) = &step.bar {
            bar.finish_and_clear();
        }
        let end = match &result {
            Ok(_) if step.announced.get() => format!("{:.1} s", start.elapsed().as_secs_f64()),
            Ok(_) => "up to date".to_owned(),
            Err(_) => format!("FAILED after {}", HumanDuration(start.elapsed())),
        };
        let mark = if result.is_ok() { '✓' } else { '✗' };
        eprintln!("{mark} {name:<66} {end:>11}");
        result.with_context(|| format!("step \"{name}\""))
    }
}

/// One step that is under way.
pub(crate) struct Step<'a> {
    log: PathBuf,
    bar: Option<ProgressBar>,
    plain: bool,
    name: &'a str,
    announced: Cell<bool>,
}

impl Step<'_> {
    /// Runs a program as part of this step; its output goes to the step's log.
    ///
    /// # Errors
    ///
    /// Those of [`process::run_logged`].
    pub(crate) fn run(&self, command: &mut Command) -> Result<()> {
        self.working();
        process::run_logged(command, &self.log, |line| {
            if let (Some(bar), false) = (&self.bar, line.is_empty()) {
                bar.set_message(line.to_owned());
            }
        })
    }

    /// Says that this step has something to do. A step that never does was up to date.
    pub(crate) fn working(&self) {
        if !self.announced.replace(true) && self.plain {
            eprintln!("· {} …", self.name);
        }
    }
}

fn spinner(name: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix} {elapsed:.dim}  {wide_msg:.dim}")
        .expect("the template is valid");
    let bar = ProgressBar::new_spinner()
        .with_style(style)
        .with_prefix(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
