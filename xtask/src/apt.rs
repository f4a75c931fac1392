//! Debian packages that a command needs: installed when this process may, named in the error else.

use crate::process;
use crate::steps::{Step, Steps};
use anyhow::{Result, bail};
use std::process::Command;

/// A package that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What is missing, in words.
    pub(crate) what: String,
    /// The Debian packages that bring it.
    pub(crate) packages: Vec<String>,
}

/// What is missing if none of these programs is on `PATH`.
pub(crate) fn program(names: &[&str], packages: &[&str]) -> Option<Missing> {
    (!names.iter().any(|name| process::on_path(name))).then(|| Missing {
        what: format!("`{}`", names.join("` or `")),
        packages: packages.iter().map(|&package| package.to_owned()).collect(),
    })
}

/// A C compiler, if there is none. It is also the linker of the Rust toolchain.
pub(crate) fn c_compiler() -> Option<Missing> {
    program(&["cc"], &["gcc", "libc6-dev"])
}

/// A C++ compiler, if there is none: for the bridges to C++.
pub(crate) fn cxx_compiler() -> Option<Missing> {
    program(&["c++"], &["g++"])
}

/// Installs what is missing with `apt-get`, if this is root's process on a system that has it.
///
/// # Errors
///
/// If it cannot; the error names what is missing and the command to install it.
pub(crate) fn install(steps: &Steps, missing: &[Missing]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing
        .iter()
        .flat_map(|missing| &missing.packages)
        .map(String::as_str)
        .collect();
    if !process::on_path("apt-get") || !is_root() {
        bail!("{}", how_to_install(missing));
    }
    steps.step(&format!("Install {}", packages.join(" ")), |step| {
        // The package lists of a new machine are missing or old.
        install_now(step, &packages).or_else(|_| {
            step.run(apt_get().args(["update", "-q"]))?;
            install_now(step, &packages)
        })
    })
}

fn how_to_install(missing: &[Missing]) -> String {
    let what: Vec<&str> = missing
        .iter()
        .map(|missing| missing.what.as_str())
        .collect();
    let packages: Vec<String> = missing
        .iter()
        .map(|missing| missing.packages.join(" "))
        .collect();
    format!(
        "needed and not found: {}. On Debian or Ubuntu: sudo apt-get install {}",
        what.join(", "),
        packages.join(" ")
    )
}

fn install_now(step: &Step, packages: &[&str]) -> Result<()> {
    step.run(
        apt_get()
            .args(["install", "-q", "-y", "--no-install-recommends"])
            .args(packages),
    )
}

fn apt_get() -> Command {
    let mut command = process::command("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Why a Debian root of the project's own cannot be made here; `None` if it can.
pub(crate) fn why_not_debian_root() -> Option<&'static str> {
    if !process::on_path("apt-get") {
        Some("this is not a Debian system")
    } else if !is_root() {
        Some("only root can set up Debian's Bazel")
    } else {
        None
    }
}

fn is_root() -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_programs_is_enough() {
        assert_eq!(program(&["no-such-program", "sh"], &["dash"]), None);
        let missing = program(&["no-such-program", "nor-this"], &["a", "b"]).unwrap();
        assert_eq!(missing.what, "`no-such-program` or `nor-this`");
        assert_eq!(missing.packages, ["a", "b"]);
    }

    #[test]
    fn the_error_names_everything_and_one_command() {
        let missing = [
            Missing {
                what: "`cc`".into(),
                packages: vec!["gcc".into(), "libc6-dev".into()],
            },
            Missing {
                what: "`chromium`".into(),
                packages: vec!["chromium".into()],
            },
        ];
        assert_eq!(
            how_to_install(&missing),
            "needed and not found: `cc`, `chromium`. On Debian or Ubuntu: \
             sudo apt-get install gcc libc6-dev chromium"
        );
    }
}
