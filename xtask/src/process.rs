//! Running other programs: quietly into a log, or with their output in sight.

use crate::repo;
use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines of a failed program's output that go into its error.
const LINES_SHOWN: usize = 40;

/// A command with the environment of the person who typed `cargo xtask`: without what Cargo puts
/// into `LD_LIBRARY_PATH` for the programs that it runs, among which are debug builds of this
/// project's own ROCTX libraries.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        match without_cargos_folders(&path) {
            Some(rest) => command.env("LD_LIBRARY_PATH", rest),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
    }
    command
}

/// `cargo`, the one that runs this.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(repo::root());
    cargo
}

/// A library path without folders of a Rust toolchain and of the build; none if no other is left.
fn without_cargos_folders(path: &OsStr) -> Option<OsString> {
    let target = repo::target();
    let rest: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|folder| {
            let of_toolchain = folder
                .components()
                .any(|part| part.as_os_str() == "rustlib" || part.as_os_str() == "toolchains");
            !folder.as_os_str().is_empty() && !folder.starts_with(&target) && !of_toolchain
        })
        .collect();
    if rest.is_empty() {
        None
    } else {
        std::env::join_paths(rest).ok()
    }
}

/// Runs `command` with both its outputs appended to the file `log`, and each line given to `on_line`.
///
/// # Errors
///
/// If it cannot be started or fails; the error has the end of its output.
pub(crate) fn run_logged(
    command: &mut Command,
    log: &Path,
    mut on_line: impl FnMut(&str),
) -> Result<()> {
    let shown = shown(command);
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(log)
        .with_context(|| format!("cannot write {}", log.display()))?;
    writeln!(file, "$ {shown}")?;

    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{shown}`"))?;
    // The command holds the pipe's writing end, which must be closed for the reading end to end.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let mut last = VecDeque::with_capacity(LINES_SHOWN);
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        writeln!(file, "{line}")?;
        on_line(line.trim());
        if last.len() == LINES_SHOWN {
            last.pop_front();
        }
        last.push_back(line.into_owned());
    }
    let status = child.wait()?;
    if !status.success() {
        bail!(
            "`{shown}` failed ({status}). The end of {}:\n{}",
            log.display(),
            Vec::from(last).join("\n")
        );
    }
    Ok(())
}

/// Runs `command` with this process's own outputs.
///
/// # Errors
///
/// If it cannot be started or fails.
pub(crate) fn run_shown(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// The program and arguments of `command`, as one would type them.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = if Some(program.as_os_str()) == std::env::var_os("CARGO").as_deref() {
        "cargo".to_owned()
    } else {
        repo::shown(program)
    };
    std::iter::once(program)
        .chain(
            command
                .get_args()
                .map(|part| part.to_string_lossy().into_owned()),
        )
        .map(|part| {
            if part.is_empty()
                || part.contains(|c: char| c.is_whitespace() || "'\"$;&|".contains(c))
            {
                format!("'{}'", part.replace('\'', r"'\''"))
            } else {
                part
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a program of this name is on `PATH`.
pub(crate) fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_person_set_stays_in_the_library_path() {
        let target = repo::target();
        let set_by_cargo = [
            target.join("debug/deps"),
            "/home/me/.rustup/toolchains/stable/lib".into(),
            "/usr/lib/rustlib/x86_64-unknown-linux-gnu/lib".into(),
        ];
        let cargos = std::env::join_paths(&set_by_cargo).unwrap();
        assert_eq!(without_cargos_folders(&cargos), None);
        let both = std::env::join_paths(
            set_by_cargo
                .iter()
                .chain([&"/opt/rocm/lib".into(), &"/opt/x".into()]),
        );
        assert_eq!(
            without_cargos_folders(&both.unwrap()),
            Some("/opt/rocm/lib:/opt/x".into())
        );
    }

    #[test]
    fn both_outputs_reach_the_log_and_the_listener() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut lines = Vec::new();
        run_logged(
            Command::new("sh").args(["-c", "echo out; echo err >&2; printf end"]),
            &log,
            |line| lines.push(line.to_owned()),
        )
        .unwrap();
        assert_eq!(lines, ["out", "err", "end"]);
        assert_eq!(
            std::fs::read_to_string(log).unwrap(),
            "$ sh -c 'echo out; echo err >&2; printf end'\nout\nerr\nend\n"
        );
    }

    #[test]
    fn a_failure_shows_the_command_the_status_and_the_end_of_the_output() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let error = run_logged(
            Command::new("sh").args(["-c", "seq 100; exit 3"]),
            &log,
            |_| (),
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.starts_with("`sh -c 'seq 100; exit 3'` failed (exit status: 3)"),
            "{error}"
        );
        assert!(error.ends_with("\n98\n99\n100"), "{error}");
        assert!(!error.contains("\n60\n"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = run_logged(
            &mut Command::new("no-such-program"),
            &dir.path().join("log"),
            |_| (),
        );
        assert!(format!("{:#}", error.unwrap_err()).contains("cannot start `no-such-program`"));
    }
}
