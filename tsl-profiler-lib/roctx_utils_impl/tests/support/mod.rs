//! What the tests of this crate share: running one of them in a process of its own, and making
//! shared libraries.

#![allow(dead_code)] // each test binary uses a part

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CHILD: &str = "ROCTX_UTILS_TEST_CHILD";

/// Whether this process was started by [`run`]; if so, warnings go to its stderr.
pub(crate) fn is_child() -> bool {
    let is_child = std::env::var_os(CHILD).is_some();
    if is_child {
        println!(); // ends the test runner's line
        let _ = tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .try_init();
    }
    is_child
}

/// Runs one test of the calling binary in a process of its own, with this environment and nothing
/// that chooses a ROCTX library or switches ranges off.
pub(crate) fn run(test: &str, environment: &[(&str, &OsStr)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    for variable in ["XPROF_ROCTX_LIBRARY", "XLA_ROCM_ENABLE_ROCTX", "ROCM_PATH"] {
        command.env_remove(variable);
    }
    command.envs(environment.iter().copied()).env(CHILD, "1");
    command.output().unwrap()
}

/// As [`run`], and the test must pass there. Returns its stdout and its stderr.
pub(crate) fn pass(test: &str, environment: &[(&str, &OsStr)]) -> (String, String) {
    let output = run(test, environment);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{test} in a child, {}:\n{stdout}\n{stderr}",
        output.status
    );
    (stdout, stderr)
}

/// Compiles a shared library with the C compiler that the linker needs anyway.
pub(crate) fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let source_file = folder.join(format!("{name}.c"));
    let library = folder.join(name);
    std::fs::write(&source_file, source).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
    let output = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source_file])
        .args(options)
        .output()
        .unwrap_or_else(|error| panic!("{compiler:?}: {error}. The tests need a C compiler."));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    library
}
