//! Which library is chosen, with real shared libraries made by the C compiler, each case in a
//! process of its own.

mod support;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use roctx_utils_impl::provider::LIBRARY_VARIABLE;
use roctx_utils_impl::{self as nvtx_utils, provider, rejected};
use std::ffi::{CStr, OsStr, c_void};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use support::{compile, is_child, pass};

/// A ROCTX library that prints its calls.
const ROCTX: &str = r#"
#include <stdint.h>
#include <stdio.h>
static _Thread_local int depth;
uint32_t roctx_version_major(void) { return 9; }
uint32_t roctx_version_minor(void) { return 8; }
uint32_t roctx_version_patch(void) { return 7; }
int roctxRangePushA(const char* m) { printf("push %s\n", m); fflush(stdout); return depth++; }
int roctxRangePop(void) { printf("pop\n"); fflush(stdout); return --depth; }
uint64_t roctxRangeStartA(const char* m) { return 1; }
void roctxRangeStop(uint64_t id) {}
int roctxProfilerPause(uint64_t t) { printf("pause %llu\n", (unsigned long long)t); fflush(stdout); return 0; }
int roctxProfilerResume(uint64_t t) { printf("resume %llu\n", (unsigned long long)t); fflush(stdout); return 0; }
int roctxNameOsThread(const char* m) { printf("name %s\n", m); fflush(stdout); return 0; }
int roctxNameHipDevice(const char* m, int d) { return 0; }
int roctxNameHipStream(const char* m, const void* s) { return 0; }
#ifndef WITHOUT_MARK
void roctxMarkA(const char* m) { printf("mark %s\n", m); fflush(stdout); }
#endif
"#;

/// Only what a program cannot do without, as in old versions.
const ROCTX_WITHOUT_OTHERS: &str = r#"
#include <stdint.h>
void roctxMarkA(const char* m) {}
int roctxRangePushA(const char* m) { return 0; }
int roctxRangePop(void) { return 0; }
uint64_t roctxRangeStartA(const char* m) { return 1; }
void roctxRangeStop(uint64_t id) {}
"#;

const SONAME_1: &str = "librocprofiler-sdk-roctx.so.1";
const SONAME_0: &str = "librocprofiler-sdk-roctx.so.0";

/// In the child: annotates a little and says which library was chosen.
fn annotate_and_report() {
    let domain = nvtx_utils::default_profiler_domain().unwrap();
    nvtx_utils::range_push(domain, b"range");
    nvtx_utils::mark(domain, b"instant");
    nvtx_utils::range_pop(domain);
    nvtx_utils::name_current_thread(b"thread");
    nvtx_utils::profiler_pause();
    nvtx_utils::profiler_resume();
    let info = provider();
    println!("kind: {:?}", info.kind);
    println!(
        "path: {}",
        info.path.as_deref().unwrap_or(Path::new("none")).display()
    );
    println!("version: {:?}", info.version);
    println!("missing: {}", info.missing.join(" "));
    for rejection in rejected() {
        println!(
            "rejected: {}: {}",
            rejection.path.display(),
            rejection.reason
        );
    }
}

/// The line that begins so.
fn line<'a>(stdout: &'a str, key: &str) -> &'a str {
    let mut lines = stdout.lines().filter_map(|line| line.strip_prefix(key));
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no {key} in\n{stdout}"));
    assert_eq!(lines.next(), None, "{key}");
    line
}

fn reaches_the_fixture(stdout: &str) {
    let calls: Vec<&str> = stdout
        .lines()
        .filter(|line| {
            let call = line.split(' ').next().unwrap();
            ["push", "pop", "mark", "name", "pause", "resume"].contains(&call)
        })
        .collect();
    // ROCTX's thread 0 is every thread.
    let expected = [
        "push range",
        "mark instant",
        "pop",
        "name thread",
        "pause 0",
        "resume 0",
    ];
    assert_eq!(calls, expected);
}

/// One warning, which names what it must.
fn warns_once(stderr: &str, parts: &[&str]) {
    assert_eq!(stderr.matches("WARN").count(), 1, "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    }
}

/// Whether this machine's own ROCm would be chosen where a test expects what comes after it.
fn has_rocm() -> bool {
    let has_rocm = Path::new("/opt/rocm/lib").join(SONAME_1).exists()
        || Path::new("/opt/rocm/lib").join(SONAME_0).exists();
    if has_rocm {
        println!("not tested: this machine has a ROCm of its own");
    }
    has_rocm
}

#[test]
fn the_environment_names_a_library() {
    if is_child() {
        return annotate_and_report();
    }
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path(), "libmine.so", ROCTX, &[]);
    let environment = [(LIBRARY_VARIABLE, library.as_os_str())];
    let (stdout, stderr) = pass("the_environment_names_a_library", &environment);
    reaches_the_fixture(&stdout);
    assert_eq!(line(&stdout, "kind: "), "Environment");
    assert_eq!(Path::new(line(&stdout, "path: ")), library);
    assert_eq!(line(&stdout, "version: "), "Some((9, 8, 7))");
    assert_eq!(line(&stdout, "missing: "), "");
    assert_eq!(stderr, "");
}

#[test]
fn the_environment_asks_for_the_embedded_one() {
    if is_child() {
        return annotate_and_report();
    }
    let folder = rocm_with(&[(SONAME_1, ROCTX)]);
    let environment = [
        (LIBRARY_VARIABLE, OsStr::new("embedded")),
        ("ROCM_PATH", folder.path().as_os_str()),
    ];
    let (stdout, stderr) = pass("the_environment_asks_for_the_embedded_one", &environment);
    assert_eq!(line(&stdout, "kind: "), "Embedded");
    assert_eq!(line(&stdout, "path: "), "none");
    assert_eq!(stderr, "");
}

#[test]
fn a_wrong_library_costs_one_warning_and_the_next_is_used() {
    if is_child() {
        return annotate_and_report();
    }
    let next = rocm_with(&[(SONAME_1, ROCTX)]);
    let folder = tempfile::tempdir().unwrap();
    let good = compile(folder.path(), "libgood.so", ROCTX, &[]);

    let no_mark = compile(folder.path(), "libnomark.so", ROCTX, &["-DWITHOUT_MARK"]);
    let text = folder.path().join("libtext.so");
    std::fs::write(
        &text,
        "not a library, but long enough to hold an ELF header".repeat(4),
    )
    .unwrap();
    let empty = folder.path().join("libempty.so");
    std::fs::write(&empty, "").unwrap();
    let other_processor = folder.path().join("libother.so");
    std::fs::copy(&good, &other_processor).unwrap();
    patch(&other_processor, 18, &243u16.to_ne_bytes()); // e_machine: RISC-V
    let search = format!("-L{}", folder.path().display());
    let needs_good = ["-Wl,--no-as-needed", &search, "-l:libgood.so"];
    let dangling = compile(folder.path(), "libdangling.so", ROCTX, &needs_good);
    std::fs::rename(&good, folder.path().join("libmoved.so")).unwrap();

    let not_there = folder.path().join("no/such.so");
    let cases: [(&Path, &str); 7] = [
        (&no_mark, "it has no function roctxMarkA"),
        (&text, "invalid ELF header"),
        (&empty, "file too short"),
        (
            &other_processor,
            "it is built for another processor (ELF machine 243",
        ),
        (&dangling, "libgood.so: cannot open shared object file"),
        (&not_there, "there is no such library"),
        (folder.path(), "the loader refuses it"),
    ];
    for (library, reason) in cases {
        let environment = [
            (LIBRARY_VARIABLE, library.as_os_str()),
            ("ROCM_PATH", next.path().as_os_str()),
        ];
        let test = "a_wrong_library_costs_one_warning_and_the_next_is_used";
        let (stdout, stderr) = pass(test, &environment);
        reaches_the_fixture(&stdout);
        assert_eq!(line(&stdout, "kind: "), "Rocm");
        let path = library.to_str().unwrap();
        let rejected = line(&stdout, "rejected: ");
        assert!(
            rejected.starts_with(path) && rejected.contains(reason),
            "{rejected}"
        );
        let what_to_do = "XPROF_ROCTX_LIBRARY names it: set that to the path of";
        warns_once(&stderr, &[path, reason, what_to_do]);
    }
}

#[test]
fn a_wrong_library_and_no_other_leaves_the_embedded_one() {
    if is_child() {
        return annotate_and_report();
    }
    if has_rocm() {
        return;
    }
    let environment = [(LIBRARY_VARIABLE, OsStr::new("/no/such.so"))];
    let (stdout, stderr) = pass(
        "a_wrong_library_and_no_other_leaves_the_embedded_one",
        &environment,
    );
    assert_eq!(line(&stdout, "kind: "), "Embedded");
    warns_once(&stderr, &["/no/such.so", "there is no such library"]);
}

#[test]
fn a_library_without_the_rest_serves_all_the_same() {
    if is_child() {
        return annotate_and_report();
    }
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path(), "libold.so", ROCTX_WITHOUT_OTHERS, &[]);
    let environment = [(LIBRARY_VARIABLE, library.as_os_str())];
    let (stdout, _) = pass(
        "a_library_without_the_rest_serves_all_the_same",
        &environment,
    );
    assert_eq!(line(&stdout, "kind: "), "Environment");
    assert_eq!(line(&stdout, "version: "), "None");
    assert_eq!(
        line(&stdout, "missing: "),
        "roctxProfilerPause roctxProfilerResume roctxNameOsThread roctxNameHipDevice \
         roctxNameHipStream"
    );
}

/// A folder laid out as a ROCm with these libraries.
fn rocm_with(libraries: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lib = folder.path().join("lib");
    std::fs::create_dir(&lib).unwrap();
    for (name, source) in libraries {
        compile(&lib, name, source, &[]);
    }
    folder
}

fn patch(file: &Path, offset: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn rocm_path_and_the_newer_version_come_first() {
    if is_child() {
        return annotate_and_report();
    }
    let test = "rocm_path_and_the_newer_version_come_first";
    let rocm = rocm_with(&[(SONAME_0, ROCTX_WITHOUT_OTHERS), (SONAME_1, ROCTX)]);
    let environment = [("ROCM_PATH", rocm.path().as_os_str())];
    let (stdout, stderr) = pass(test, &environment);
    reaches_the_fixture(&stdout);
    assert_eq!(line(&stdout, "kind: "), "Rocm");
    let newer = rocm.path().join("lib").join(SONAME_1);
    assert_eq!(Path::new(line(&stdout, "path: ")), newer);
    assert_eq!(stderr, "");

    std::fs::write(&newer, "broken").unwrap();
    let (stdout, stderr) = pass(test, &environment);
    let older = rocm.path().join("lib").join(SONAME_0);
    assert_eq!(Path::new(line(&stdout, "path: ")), older);
    warns_once(&stderr, &[newer.to_str().unwrap(), "Reinstall ROCm's"]);
}

#[test]
fn the_loader_finds_it_by_soname() {
    if is_child() {
        return annotate_and_report();
    }
    if has_rocm() {
        return;
    }
    let rocm = rocm_with(&[(SONAME_0, ROCTX)]);
    let lib = rocm.path().join("lib");
    let environment = [("LD_LIBRARY_PATH", lib.as_os_str())];
    let (stdout, stderr) = pass("the_loader_finds_it_by_soname", &environment);
    reaches_the_fixture(&stdout);
    assert_eq!(line(&stdout, "kind: "), "LoaderPath");
    assert_eq!(Path::new(line(&stdout, "path: ")), lib.join(SONAME_0));
    assert_eq!(stderr, "");
}

/// Loads a library as a Python module or a plug-in does: its symbols are its own.
fn load_hidden(path: &Path) {
    // SAFETY: the fixtures' constructors do nothing, or what the test wants.
    let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) }.unwrap();
    std::mem::forget(library);
}

fn is_visible(symbol: &CStr) -> bool {
    // SAFETY: the name is NUL-terminated.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }.is_null()
}

const FOLDER: &str = "ROCTX_UTILS_TEST_FOLDER";

fn folder_of_the_test() -> PathBuf {
    std::env::var_os(FOLDER).unwrap().into()
}

#[test]
fn one_that_is_loaded_already_is_used_and_made_visible() {
    if is_child() {
        load_hidden(&folder_of_the_test().join("librocprofiler-sdk-roctx.so.1.0.0"));
        assert!(!is_visible(c"roctxRangePushA"));
        annotate_and_report();
        assert!(is_visible(c"roctxRangePushA"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "librocprofiler-sdk-roctx.so.1.0.0";
    let library = compile(folder.path(), name, ROCTX, &[]);
    let rocm = rocm_with(&[(SONAME_1, ROCTX_WITHOUT_OTHERS)]);
    let environment = [
        (FOLDER, folder.path().as_os_str()),
        ("ROCM_PATH", rocm.path().as_os_str()),
    ];
    let test = "one_that_is_loaded_already_is_used_and_made_visible";
    let (stdout, stderr) = pass(test, &environment);
    reaches_the_fixture(&stdout);
    assert_eq!(line(&stdout, "kind: "), "Loaded");
    assert_eq!(Path::new(line(&stdout, "path: ")), library);
    assert_eq!(stderr, "");
}

#[test]
fn a_rejected_library_stays_invisible() {
    if is_child() {
        annotate_and_report();
        assert!(!is_visible(c"i_am_no_roctx"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source =
        "int i_am_no_roctx(void) { return 1; } int roctxRangePushA(const char* m) { return 0; }";
    let library = compile(folder.path(), "libother.so", source, &[]);
    let environment = [(LIBRARY_VARIABLE, library.as_os_str())];
    let (_, stderr) = pass("a_rejected_library_stays_invisible", &environment);
    warns_once(&stderr, &["it has no function roctxMarkA"]);
}

/// What AMD's library does at its first call, in short: with the SDK in the process but its
/// symbols out of sight, it aborts.
const ROCTX_THAT_ABORTS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
static void look(void) { if (!dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table")) abort(); }
void roctxMarkA(const char* m) { look(); }
int roctxRangePushA(const char* m) { look(); return 0; }
int roctxRangePop(void) { look(); return 0; }
uint64_t roctxRangeStartA(const char* m) { look(); return 1; }
void roctxRangeStop(uint64_t id) { look(); }
"#;

#[test]
fn the_first_call_finds_an_sdk_that_was_loaded_out_of_sight() {
    if is_child() {
        let folder = folder_of_the_test();
        load_hidden(&folder.join("librocprofiler-sdk.so.1"));
        assert!(!is_visible(c"rocprofiler_set_api_table"));
        return annotate_and_report();
    }
    let folder = tempfile::tempdir().unwrap();
    let sdk = "int rocprofiler_set_api_table(void) { return 0; }";
    compile(folder.path(), "librocprofiler-sdk.so.1", sdk, &[]);
    let library = compile(folder.path(), "libaborts.so", ROCTX_THAT_ABORTS, &[]);
    let environment = [
        (FOLDER, folder.path().as_os_str()),
        (LIBRARY_VARIABLE, library.as_os_str()),
    ];
    let test = "the_first_call_finds_an_sdk_that_was_loaded_out_of_sight";
    let (stdout, _) = pass(test, &environment);
    assert_eq!(line(&stdout, "kind: "), "Environment");
}

/// A library whose constructor annotates, as a tool's might.
const ROCTX_WITH_CONSTRUCTOR: &str = r#"
#include <stdlib.h>
__attribute__((constructor)) static void constructor(void) {
  void (*callback)(void) = (void (*)(void))strtoull(getenv("ROCTX_UTILS_TEST_CALLBACK"), 0, 10);
  callback();
}
"#;

#[test]
fn a_constructor_may_annotate_while_the_choice_is_being_made() {
    extern "C" fn callback() {
        let domain = nvtx_utils::default_profiler_domain().unwrap();
        nvtx_utils::range_push(domain, b"in a constructor");
        println!("meanwhile: {:?}", provider().kind);
        assert!(rejected().is_empty());
        nvtx_utils::range_pop(domain);
    }
    if is_child() {
        let address = (callback as *const c_void).addr().to_string();
        // SAFETY: this process has one thread that reads or writes the environment.
        unsafe { std::env::set_var("ROCTX_UTILS_TEST_CALLBACK", address) };
        return annotate_and_report();
    }
    let folder = tempfile::tempdir().unwrap();
    let source = [ROCTX, ROCTX_WITH_CONSTRUCTOR].concat();
    let library = compile(folder.path(), "libconstructor.so", &source, &[]);
    let environment = [(LIBRARY_VARIABLE, library.as_os_str())];
    let test = "a_constructor_may_annotate_while_the_choice_is_being_made";
    let (stdout, stderr) = pass(test, &environment);
    assert_eq!(line(&stdout, "meanwhile: "), "Embedded");
    assert_eq!(line(&stdout, "kind: "), "Environment");
    reaches_the_fixture(&stdout);
    assert_eq!(stderr, "");
}

#[test]
fn many_threads_make_one_choice() {
    if is_child() {
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let domain = nvtx_utils::default_profiler_domain().unwrap();
                    nvtx_utils::range_push(domain, b"at once");
                    nvtx_utils::range_pop(domain);
                });
            }
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path(), "libmine.so", ROCTX, &[]);
    let environment = [
        (LIBRARY_VARIABLE, library.as_os_str()),
        ("ROCM_PATH", OsStr::new("/no/such")),
    ];
    let (stdout, stderr) = pass("many_threads_make_one_choice", &environment);
    assert_eq!(stdout.matches("push at once\n").count(), 8);
    assert_eq!(stdout.matches("pop\n").count(), 8);
    assert_eq!(stderr, "");
}
