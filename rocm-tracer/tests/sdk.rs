//! Hearing AMD's own ROCTX through rocprofiler-sdk: against the stand-in, in both layouts, by tables
//! and by callbacks; and against a real SDK where `XPROF_ROCTX_TEST_SDK` names its folder.
//!
//! A process configures the SDK once, so each scenario runs in a child: this test program, started
//! again for the test `child` alone.

#![allow(missing_docs)]

mod common;

use common::*;
use rocm_tracer::{RocmTracer, sdk};
use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROCTX: &str = "librocprofiler-sdk-roctx.so";

/// What the child prints: rows with their events, then warnings.
#[derive(Debug, PartialEq)]
struct Told {
    listening: String,
    version: String,
    events: Vec<String>,
    warnings: Vec<String>,
}

/// The events that `program` must give, whoever hears them. Lines of a row, in order of start.
const EVENTS: [&str; 6] = [
    "thread outer 0",
    "thread inner 1",
    "thread point 1",
    "thread after pause 1",
    "async io 0",
    "async open truncated 0",
];

/// A program that annotates itself with the ROCTX library at `roctx`.
struct Program {
    mark: unsafe extern "C" fn(*const c_char),
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    start: unsafe extern "C" fn(*const c_char) -> u64,
    stop: unsafe extern "C" fn(u64),
    pause: unsafe extern "C" fn(u64) -> c_int,
    resume: unsafe extern "C" fn(u64) -> c_int,
    name_thread: unsafe extern "C" fn(*const c_char) -> c_int,
}

impl Program {
    fn load(folder: &Path) -> Self {
        let name = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().contains(ROCTX))
            .max() // the one with the fullest version
            .expect("no ROCTX library in the folder");
        let handle = open(&name);
        Self {
            mark: symbol(handle, "roctxMarkA"),
            push: symbol(handle, "roctxRangePushA"),
            pop: symbol(handle, "roctxRangePop"),
            start: symbol(handle, "roctxRangeStartA"),
            stop: symbol(handle, "roctxRangeStop"),
            pause: symbol(handle, "roctxProfilerPause"),
            resume: symbol(handle, "roctxProfilerResume"),
            name_thread: symbol(handle, "roctxNameOsThread"),
        }
    }

    fn run(&self) {
        // SAFETY: the functions of roctx.h, with literals and ids that they gave.
        unsafe {
            assert_eq!((self.push)(c"outer".as_ptr()), 0);
            assert_eq!((self.push)(c"inner".as_ptr()), 1);
            assert_eq!((self.pop)(), 1);
            assert_eq!((self.push)(std::ptr::null()), 1);
            (self.mark)(c"point".as_ptr());
            assert_eq!((self.pop)(), 1);
            let io = (self.start)(c"io".as_ptr());
            (self.start)(c"open".as_ptr());
            (self.stop)(io);
            (self.pause)(0);
            (self.mark)(c"hidden".as_ptr());
            (self.resume)(0);
            (self.push)(c"after pause".as_ptr());
            (self.pop)();
            assert_eq!((self.pop)(), 0);
            assert_eq!((self.pop)(), -1);
            (self.name_thread)(c"main".as_ptr());
        }
    }
}

/// Another tool, which configures the SDK before this project could, and lets it listen.
mod other_tool {
    use super::{open, symbol};
    use rocm_tracer::sdk::guest::{self, ConfigureCallbackTracingService};
    use std::ffi::{c_char, c_int, c_void};
    use std::path::Path;
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The address of the SDK's handle, which is open for good.
    static SDK: OnceLock<usize> = OnceLock::new();
    static VERSION: AtomicU32 = AtomicU32::new(0);

    fn function<F: Copy>(name: &str) -> F {
        symbol(*SDK.get().unwrap() as *mut c_void, name)
    }

    #[repr(C)]
    struct ConfigureResult {
        size: usize,
        initialize: unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int,
        finalize: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    }

    unsafe extern "C" fn configure(
        version: u32,
        _runtime_version: *const c_char,
        _priority: u32,
        _client_id: *mut c_void,
    ) -> *mut ConfigureResult {
        VERSION.store(version, Ordering::Relaxed);
        // SAFETY: the SDK's function, within a tool's configure function.
        unsafe {
            let ask = function("rocprofiler_at_intercept_table_registration");
            guest::ask_for_tables(version, ask);
        }
        Box::leak(Box::new(ConfigureResult {
            size: size_of::<ConfigureResult>(),
            initialize,
            finalize,
            data: ptr::null_mut(),
        }))
    }

    unsafe extern "C" fn initialize(_finalize: *const c_void, _data: *mut c_void) -> c_int {
        let create: unsafe extern "C" fn(*mut u64) -> c_int =
            function("rocprofiler_create_context");
        let start: unsafe extern "C" fn(u64) -> c_int = function("rocprofiler_start_context");
        let service: ConfigureCallbackTracingService =
            function("rocprofiler_configure_callback_tracing_service");
        let mut context = 0;
        // SAFETY: the SDK's functions, within a tool's initialization.
        unsafe {
            create(&raw mut context);
            let version = VERSION.load(Ordering::Relaxed);
            if let Err(problem) = guest::configure_marker_service(version, context, service, None) {
                println!("problem {problem}");
            }
            start(context)
        }
    }

    unsafe extern "C" fn finalize(_data: *mut c_void) {}

    pub(super) fn configure_sdk(folder: &Path) {
        SDK.get_or_init(|| open(&folder.join("librocprofiler-sdk.so.1")) as usize);
        type Configure =
            unsafe extern "C" fn(u32, *const c_char, u32, *mut c_void) -> *mut ConfigureResult;
        let force: unsafe extern "C" fn(Configure) -> c_int =
            function("rocprofiler_force_configure");
        // SAFETY: a configure function of the type that the SDK asks for.
        assert_eq!(unsafe { force(configure) }, 0);
    }
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn child() {
    let folder = PathBuf::from(std::env::var_os("SDK_FOLDER").unwrap());
    let scenario = std::env::var("SCENARIO").unwrap();
    let program = Program::load(&folder);
    if scenario == "guest" {
        other_tool::configure_sdk(&folder);
    }
    if scenario == "late" {
        program.run();
    }
    let mut space = trace(|| {
        program.run();
        if scenario == "handed over twice" {
            let handle = open(&folder.join(ROCTX));
            symbol::<extern "C" fn()>(handle, "stand_in_repeat_hand_over")();
        }
    });
    if scenario == "two sessions" || scenario == "handed over twice" {
        program.run();
        space = trace(|| program.run());
    }
    println!("listening {:?}", sdk::listening());
    println!("version {}", sdk::version());
    for row in roctx_rows(&space) {
        let kind = if row.name.starts_with("ROCTX Async/") {
            "async"
        } else {
            assert!(row.name.ends_with(" main"), "{}", row.name);
            "thread"
        };
        for event in &row.events {
            let outside = |other: &&Event| {
                *other != event && other.start_ps <= event.start_ps && other.end_ps >= event.end_ps
            };
            let depth = row.events.iter().filter(outside).count();
            let truncated = event.stat("truncated").map_or("", |_| " truncated");
            println!("event {kind} {}{truncated} {depth}", event.name);
        }
    }
    for warning in &space.warnings {
        println!("warning {warning}");
    }
    assert!(RocmTracer::singleton().is_available());
}

fn run(folder: &Path, scenario: &str, environment: &[(&str, &str)]) -> Told {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env("SDK_FOLDER", folder)
        .env("SCENARIO", scenario)
        .env_remove("ROCM_PATH")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{scenario} {environment:?}: {}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = |key: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
            .map(str::to_owned)
            .collect()
    };
    Told {
        listening: lines("listening").remove(0),
        version: lines("version").remove(0),
        events: lines("event"),
        warnings: lines("warning"),
    }
}

/// A folder with the stand-in under the names of AMD's libraries.
fn stand_in() -> tempfile::TempDir {
    let library = build("libstand_in_sdk.so", "stand_in_sdk");
    let folder = tempfile::tempdir().unwrap();
    for name in [ROCTX, "librocprofiler-sdk.so.1"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).unwrap();
    }
    folder
}

/// The drops of `Program::run`, which is the same however it is heard.
const DROPS: [&str; 3] = [
    "ROCTX: 1 markers dropped: null or empty label",
    "ROCTX: 1 markers dropped: pop without an open range on its thread",
    "ROCTX: 1 markers dropped: made while roctxProfilerPause was in force",
];

const WITHOUT_TABLES: (&str, &str) = (
    "STAND_IN_FAIL",
    "rocprofiler_at_intercept_table_registration=1",
);

#[test]
fn tables_and_callbacks_of_either_layout_give_the_same_events() {
    let folder = stand_in();
    for version in ["600", "10000"] {
        let version_variable = ("STAND_IN_VERSION", version);
        for (variables, listening) in [
            (vec![version_variable], "Some(InterceptTable)"),
            (
                vec![version_variable, WITHOUT_TABLES],
                "Some(CallbackService)",
            ),
        ] {
            let scenarios = ["once", "two sessions", "late", "handed over twice", "guest"];
            for scenario in scenarios {
                let told = run(folder.path(), scenario, &variables);
                let expected = Told {
                    listening: listening.to_owned(),
                    version: version.to_owned(),
                    events: EVENTS.map(str::to_owned).to_vec(),
                    warnings: DROPS.map(str::to_owned).to_vec(),
                };
                assert_eq!(told, expected, "{scenario} {variables:?}");
            }
        }
    }
}

#[test]
fn a_guest_without_services_says_so_in_the_trace() {
    let folder = stand_in();
    let refused = (
        "STAND_IN_FAIL",
        "rocprofiler_at_intercept_table_registration=1,\
         rocprofiler_configure_callback_tracing_service=15",
    );
    let told = run(folder.path(), "guest", &[refused]);
    assert_eq!(told.listening, "None");
    assert_eq!(told.events, Vec::<String>::new());
    let expected = "ROCTX: ranges that go to AMD's library are not in this trace: \
                    rocprofiler_configure_callback_tracing_service for markers returned 15";
    assert!(
        told.warnings[0].starts_with(expected),
        "{:?}",
        told.warnings
    );
}

#[test]
fn an_sdk_that_refuses_costs_the_rows_and_says_why() {
    let folder = stand_in();
    let all_of = |failure: &str| format!("{failure},{}", WITHOUT_TABLES.1);
    for (variable, value, says) in [
        (
            "STAND_IN_FAIL",
            "rocprofiler_force_configure=16".to_owned(),
            "another profiler of this process has configured it already",
        ),
        (
            "STAND_IN_FAIL",
            "rocprofiler_force_configure=21".to_owned(),
            "rocprofiler_force_configure returned 21: the process is about to end",
        ),
        (
            "STAND_IN_FAIL",
            all_of("rocprofiler_create_context=3"),
            "rocprofiler_create_context returned 3",
        ),
        (
            "STAND_IN_FAIL",
            all_of("rocprofiler_configure_callback_tracing_service=15"),
            "rocprofiler_configure_callback_tracing_service returned 15",
        ),
        (
            "STAND_IN_FAIL",
            all_of("rocprofiler_start_context=13"),
            "rocprofiler_start_context returned 13",
        ),
    ] {
        let told = run(folder.path(), "once", &[(variable, &value)]);
        assert_eq!(told.events, Vec::<String>::new(), "{value}");
        let [warning] = told.warnings.as_slice() else {
            panic!("{value}: {:?}", told.warnings)
        };
        assert!(
            warning.starts_with("ROCTX: ranges that go to AMD's library are not in this trace: ")
                && warning.contains(says),
            "{warning}"
        );
    }
}

#[test]
fn an_sdk_that_is_not_there_is_named_with_the_places_looked_at() {
    let folder = stand_in();
    std::fs::remove_file(folder.path().join("librocprofiler-sdk.so.1")).unwrap();
    let told = run(folder.path(), "once", &[]);
    let [warning] = told.warnings.as_slice() else {
        panic!("{:?}", told.warnings)
    };
    assert!(
        warning.contains("was not found") && warning.contains("/opt/rocm/lib"),
        "{warning}"
    );
    // A file that is no library is named with the loader's reason.
    std::fs::write(folder.path().join("librocprofiler-sdk.so.1"), "no library").unwrap();
    let told = run(folder.path(), "once", &[]);
    assert!(
        told.warnings[0].contains("librocprofiler-sdk.so.1 cannot be loaded: "),
        "{told:?}"
    );
}

#[test]
fn real_roctx_calls_produce_nvtx_range_in_xspace() {
    let Some(folder) = std::env::var_os("XPROF_ROCTX_TEST_SDK") else {
        println!("skipped: XPROF_ROCTX_TEST_SDK names no folder with a real rocprofiler-sdk");
        return;
    };
    for scenario in ["once", "two sessions", "late"] {
        let told = run(Path::new(&folder), scenario, &[]);
        assert_ne!(told.version, "0");
        assert_eq!(told.events, EVENTS, "{scenario}: {told:?}");
        assert_eq!(told.warnings, DROPS, "{scenario}");
    }
}
