//! The layouts of the boundary against AMD's own headers, where they are: in the `include` folder
//! that `XPROF_ROCTX_TEST_HEADERS` names, else in that of `$ROCM_PATH` or `/opt/rocm`.

#![allow(missing_docs)]

use std::path::PathBuf;
use std::process::Command;

#[test]
fn layouts_are_those_of_the_headers() {
    let named = std::env::var_os("XPROF_ROCTX_TEST_HEADERS").map(PathBuf::from);
    let rocm = std::env::var_os("ROCM_PATH").map(PathBuf::from);
    let folders = [
        named.clone(),
        rocm.map(|root| root.join("include")),
        Some(PathBuf::from("/opt/rocm/include")),
    ];
    let has_headers = |folder: &PathBuf| folder.join("rocprofiler-sdk/agent.h").exists();
    let Some(include) = folders.into_iter().flatten().find(has_headers) else {
        assert!(named.is_none(), "no rocprofiler-sdk in {named:?}");
        println!("skipped: no rocprofiler-sdk headers in $ROCM_PATH or /opt/rocm");
        return;
    };
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler)
        .args(["-std=c11", "-fsyntax-only", "-D__HIP_PLATFORM_AMD__", "-I"])
        .arg(&include)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/cc/layout_assertions.c"
        ))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
