//! Kernels of a program that knows nothing of this project and loads HIP itself, on a stand-in of
//! rocprofiler-sdk: the tool, which the loader puts into the process, must have configured the SDK
//! before the program loads code for a GPU.

#![allow(missing_docs)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;
use xplane_schema::utils::find_plane_with_name;
use xplane_schema::visitor::XPlaneVisitor;

/// The first GPU of the stand-in.
const GPU: u64 = 71;
const LAUNCH_KERNEL: c_int = 214;

/// The program: it takes no part in its capture.
#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn child() {
    let folder = PathBuf::from(std::env::var_os("SDK_FOLDER").unwrap());
    let hip = open(&folder.join("libamdhip64.so.6"));
    let roctx = open(&folder.join("librocprofiler-sdk-roctx.so.1"));
    // SAFETY: the functions have these types, and are given literals and numbers.
    unsafe {
        let load_kernel: unsafe extern "C" fn(u64, *const c_char) =
            symbol(hip, "stand_in_load_kernel");
        let enter: extern "C" fn(c_int, u64) -> u64 = symbol(hip, "stand_in_hip_enter");
        let dispatch: extern "C" fn(u64, u64, u64, u64) = symbol(hip, "stand_in_dispatch");
        let leave: extern "C" fn() = symbol(hip, "stand_in_hip_exit");
        let push: unsafe extern "C" fn(*const c_char) -> c_int = symbol(roctx, "roctxRangePushA");
        let pop: extern "C" fn() -> c_int = symbol(roctx, "roctxRangePop");
        load_kernel(5, c"_Z6vecaddPfS_S_.kd".as_ptr());
        push(c"forward".as_ptr());
        push(c"dense".as_ptr());
        enter(LAUNCH_KERNEL, 1);
        let start = now();
        dispatch(GPU, 5, start, start + 1);
        leave();
        pop();
        pop();
    }
}

fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn open(path: &Path) -> *mut c_void {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: NUL-terminated.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?}");
    handle
}

/// # Safety
/// The function of this name has the type asked for.
unsafe fn symbol<F: Copy>(handle: *mut c_void, name: &str) -> F {
    let symbol = CString::new(name).unwrap();
    // SAFETY: the handle is open; and this function's contract.
    unsafe {
        let address = libc::dlsym(handle, symbol.as_ptr());
        assert!(!address.is_null(), "{name}");
        std::mem::transmute_copy(&address)
    }
}

/// Builds the library, for Cargo does not build another package's shared library for a test.
fn build(file: &str, package: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success());
    profile.join(file)
}

/// Runs the program under the tool, with AMD's libraries by these names, if any; what the tool wrote.
fn capture(names: &[&str], sdk_path: &str) -> (XSpace, Output) {
    let tool = build("libxprof_roctx_tool.so", "xprof-roctx-tool");
    let stand_in = build("libstand_in_sdk.so", "stand_in_sdk");
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        symlink(&stand_in, folder.path().join(name)).unwrap();
    }
    let program_folder = tempfile::tempdir().unwrap();
    for name in ["libamdhip64.so.6", "librocprofiler-sdk-roctx.so.1"] {
        symlink(&stand_in, program_folder.path().join(name)).unwrap();
    }
    let logdir = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env("LD_PRELOAD", tool)
        .env("XPROF_ROCTX_LOGDIR", logdir.path())
        .env("XPROF_ROCTX_RUN", "run")
        .env("XPROF_ROCTX_HOST", "host")
        .env("STAND_IN_GPUS", "1")
        .env(sdk_path, folder.path())
        .env("SDK_FOLDER", program_folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let profile = logdir.path().join("plugins/profile/run/host.xplane.pb");
    let bytes = std::fs::read(&profile).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (XSpace::decode(bytes.as_slice()).unwrap(), output)
}

#[test]
fn kernels_have_names_and_the_ranges_of_their_launch() {
    let sdk = ["librocprofiler-sdk.so.1"];
    let (space, output) = capture(&sdk, "XPROF_ROCTX_SDK_PATH");
    assert_eq!(space.warnings, Vec::<String>::new(), "{output:?}");
    let device = find_plane_with_name(&space, "/device:GPU:0").expect("no device");
    let kernels: Vec<_> = XPlaneVisitor::new(device)
        .lines()
        .flat_map(|line| line.events().collect::<Vec<_>>())
        .map(|kernel| {
            let stat = |name| kernel.stat(name).unwrap().to_text().into_owned();
            [
                kernel.name().to_owned(),
                stat("nvtx_range"),
                stat("roctx_path"),
            ]
        })
        .collect();
    assert_eq!(
        kernels,
        [["vecadd(float*, float*, float*)", "dense", "forward::dense"]]
    );
    let host = find_plane_with_name(&space, "/host:CPU").expect("no host");
    let labels: Vec<_> = XPlaneVisitor::new(host)
        .lines()
        .filter(|line| line.name().starts_with("ROCTX Threads/"))
        .flat_map(|line| {
            line.events()
                .map(|event| event.name().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(labels, ["forward", "dense"]);
}

#[test]
fn a_program_whose_hip_has_no_sdk_beside_it_is_told_what_is_missing() {
    let (space, output) = capture(&[], "NOT_LOOKED_AT");
    assert!(find_plane_with_name(&space, "/device:GPU:0").is_none());
    let [gpu] = space.warnings.as_slice() else {
        panic!("{:?} {output:?}", space.warnings)
    };
    assert!(
        gpu.starts_with("GPU: kernels and copies are not in this trace: ")
            && gpu.contains("$XPROF_ROCTX_SDK_PATH"),
        "{gpu}"
    );
}
