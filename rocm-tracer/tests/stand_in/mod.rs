//! The stand-in SDK as a HIP runtime that a test plays, and scenarios in processes of their own.
//!
//! A process configures the SDK once, so each scenario runs in a child: the test program, started
//! again for the test `child` alone, which writes the XSpace that it captured to a file.

#![allow(dead_code, missing_docs, unreachable_pub)] // each test file uses a part

use crate::common::{build, open, symbol};
use prost::Message;
use rocm_tracer::{GpuTracing, RocmTracerOptions};
use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use xplane_schema::proto::XSpace;
use xplane_schema::utils::find_plane_with_name;
use xplane_schema::visitor::{XEventVisitor, XPlaneVisitor};

pub const LAUNCH_KERNEL: c_int = 214;
pub const GRAPH_LAUNCH: c_int = 166;
pub const MALLOC: c_int = 215;
pub const MEMCPY: c_int = 259;
pub const MEMCPY_ASYNC: c_int = 268;

pub const HOST_TO_DEVICE: c_int = 2;
pub const DEVICE_TO_HOST: c_int = 3;
pub const DEVICE_TO_DEVICE: c_int = 4;

/// Agents: the machine's processor, and two GPUs.
pub const CPU: u64 = 70;
pub const GPU_0: u64 = 71;
pub const GPU_1: u64 = 72;

/// A HIP runtime on a machine with two GPUs.
#[derive(Clone, Copy)]
pub struct Hip {
    add_agent: unsafe extern "C" fn(u64, c_int, *const c_char),
    load_kernel: unsafe extern "C" fn(u64, *const c_char),
    enter: extern "C" fn(c_int, u64) -> u64,
    exit: extern "C" fn(),
    dispatch: extern "C" fn(u64, u64, u64, u64),
    copy: extern "C" fn(c_int, u64, u64, u64, u64, u64),
    raw_record: extern "C" fn(u32, u32, usize, u64),
    null_header: extern "C" fn(),
    delay_devices: extern "C" fn(u64),
    deliver: extern "C" fn(),
    finalize: extern "C" fn(),
}

impl Hip {
    pub fn load(folder: &Path) -> Self {
        let handle = open(&folder.join("librocprofiler-sdk.so.1"));
        let hip = Self {
            add_agent: symbol(handle, "stand_in_add_agent"),
            load_kernel: symbol(handle, "stand_in_load_kernel"),
            enter: symbol(handle, "stand_in_hip_enter"),
            exit: symbol(handle, "stand_in_hip_exit"),
            dispatch: symbol(handle, "stand_in_dispatch"),
            copy: symbol(handle, "stand_in_copy"),
            raw_record: symbol(handle, "stand_in_raw_record"),
            null_header: symbol(handle, "stand_in_null_header"),
            delay_devices: symbol(handle, "stand_in_delay_devices"),
            deliver: symbol(handle, "stand_in_deliver"),
            finalize: symbol(handle, "stand_in_finalize"),
        };
        // SAFETY: literals.
        unsafe {
            (hip.add_agent)(CPU, 1, c"AMD EPYC".as_ptr());
            (hip.add_agent)(GPU_0, 2, c"gfx942".as_ptr());
            (hip.add_agent)(GPU_1, 2, c"gfx942".as_ptr());
        }
        hip
    }

    pub fn load_kernel(&self, kernel: u64, name: &str) {
        let name = CString::new(name).unwrap();
        // SAFETY: NUL-terminated.
        unsafe { (self.load_kernel)(kernel, name.as_ptr()) };
    }

    /// A HIP call on a stream; what `work` launches belongs to it. Its correlation id.
    pub fn call(&self, operation: c_int, stream: u64, work: impl FnOnce()) -> u64 {
        let correlation = (self.enter)(operation, stream);
        work();
        (self.exit)();
        correlation
    }

    /// Launches a kernel that runs now, for at least a nanosecond.
    pub fn launch(&self, gpu: u64, kernel: u64, stream: u64) -> u64 {
        self.call(LAUNCH_KERNEL, stream, || {
            let start = now();
            self.dispatch(gpu, kernel, start, start + 1);
        })
    }

    pub fn dispatch(&self, gpu: u64, kernel: u64, start_ns: u64, end_ns: u64) {
        (self.dispatch)(gpu, kernel, start_ns, end_ns);
    }

    pub fn copy(&self, direction: c_int, from: u64, to: u64, bytes: u64, start: u64, end: u64) {
        (self.copy)(direction, from, to, bytes, start, end);
    }

    pub fn raw_record(&self, category: u32, kind: u32, size: usize, said: u64) {
        (self.raw_record)(category, kind, size, said);
    }

    pub fn null_header(&self) {
        (self.null_header)();
    }

    /// Makes the kernels and copies launched so far begin so much later.
    pub fn delay_devices(&self, ns: u64) {
        (self.delay_devices)(ns);
    }

    pub fn deliver(&self) {
        (self.deliver)();
    }

    /// Ends the SDK, as at the process's exit.
    pub fn finalize(&self) {
        (self.finalize)();
    }
}

/// Loads a library of the folder, which others see by the name that it was first loaded by.
pub fn load_library(folder: &Path, name: &str) {
    let path = folder.join(name);
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: NUL-terminated.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?}");
}

pub fn now() -> u64 {
    rocm_tracer::clock::boottime_ns().unwrap()
}

/// Returns when the clock is past this time.
pub fn wait_until(ns: u64) {
    while now() <= ns {
        std::hint::spin_loop();
    }
}

/// The stand-in, built once a process.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| build("libstand_in_sdk.so", "stand_in_sdk"))
}

/// A folder with the stand-in under the names of AMD's libraries.
pub fn folder() -> tempfile::TempDir {
    let library = library();
    let folder = tempfile::tempdir().unwrap();
    for name in ["librocprofiler-sdk.so.1", "librocprofiler-sdk-roctx.so"] {
        std::os::unix::fs::symlink(library, folder.path().join(name)).unwrap();
    }
    folder
}

/// In the child: where the stand-in is.
pub fn folder_in_child() -> PathBuf {
    PathBuf::from(std::env::var_os("SDK_FOLDER").unwrap())
}

/// In the child: options of a session that records GPU work.
pub fn gpu_options() -> RocmTracerOptions {
    RocmTracerOptions {
        gpu: GpuTracing::On,
        sdk_folders: vec![folder_in_child()],
        ..RocmTracerOptions::default()
    }
}

/// In the child: hands the space to the test.
pub fn tell(space: &XSpace) {
    std::fs::write(std::env::var_os("TELL").unwrap(), space.encode_to_vec()).unwrap();
}

/// Runs a scenario in a child; the space that it told.
pub fn run(folder: &Path, scenario: &str, environment: &[(&str, &str)]) -> XSpace {
    let told = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env("SDK_FOLDER", folder)
        .env("SCENARIO", scenario)
        .env("TELL", told.path())
        .env_remove("ROCM_PATH")
        .env_remove("XPROF_ROCTX_SDK_PATH")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{scenario} {environment:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    XSpace::decode(std::fs::read(told.path()).unwrap().as_slice()).unwrap()
}

/// The plane of this name.
pub fn plane<'a>(space: &'a XSpace, name: &str) -> XPlaneVisitor<'a> {
    let names: Vec<_> = space.planes.iter().map(|plane| &plane.name).collect();
    let plane = find_plane_with_name(space, name);
    XPlaneVisitor::new(plane.unwrap_or_else(|| panic!("{name} is not among {names:?}")))
}

/// The plane's events, in order of lines, each with its line's name.
pub fn events<'a>(plane: XPlaneVisitor<'a>) -> Vec<(&'a str, XEventVisitor<'a>)> {
    plane
        .lines()
        .flat_map(|line| line.events().map(move |event| (line.name(), event)))
        .collect()
}

/// A stat of an event as text; empty if it has none of this name.
pub fn stat(event: XEventVisitor<'_>, name: &str) -> String {
    event
        .stat(name)
        .map_or_else(String::new, |stat| stat.to_text().into_owned())
}

/// A stat of a plane as text; empty if it has none of this name.
pub fn plane_stat(plane: XPlaneVisitor<'_>, name: &str) -> String {
    plane
        .stat(name)
        .map_or_else(String::new, |stat| stat.to_text().into_owned())
}
