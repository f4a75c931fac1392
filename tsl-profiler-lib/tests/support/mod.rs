//! What the tests of this crate share.

#![allow(dead_code)] // each test binary uses a part

use std::process::Command;
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard};
use std::thread::JoinHandle;
use tsl_profiler_lib::{AnnotationStack, nvtx_utils};

const CHILD: &str = "TSL_PROFILER_LIB_TEST_CHILD";

/// Whether this process is one that [`pass_without_ranges`] started.
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one test of the calling binary in a process where ranges are switched off; it must pass
/// there.
pub(crate) fn pass_without_ranges(test: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env("XLA_ROCM_ENABLE_ROCTX", "0")
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{test} without ranges, {}:\n{stdout}\n{stderr}",
        output.status
    );
}

/// One test at a time: the annotation stack's state and the recorder are the process's.
pub(crate) struct Turn(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Turn {
    pub(crate) fn new(annotations: bool) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        listener::install();
        AnnotationStack::enable(annotations);
        Self(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        AnnotationStack::enable(false);
    }
}

/// The joined label of this thread's annotation stack.
pub(crate) fn annotation() -> String {
    AnnotationStack::with(|label, _| String::from_utf8(label.to_vec()).unwrap())
}

/// The ranges that are open on this thread, outermost first; none where ranges are off.
pub(crate) fn ranges() -> Vec<String> {
    listener::ranges()
}

/// Listens on the embedded ROCTX: which ranges are open on the calling thread.
#[cfg(feature = "roctx")]
mod listener {
    use super::nvtx_utils;
    use embedded_roctx::tables::{PopFn, PushFn};
    use std::cell::RefCell;
    use std::ffi::{CStr, c_char, c_int};
    use std::sync::OnceLock;

    thread_local! {
        static RANGES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    static ORIGINALS: OnceLock<(PushFn, PopFn)> = OnceLock::new();

    unsafe extern "C" fn push(text: *const c_char) -> c_int {
        // SAFETY: a ROCTX message is NUL-terminated; this project passes no null.
        let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
        RANGES.with_borrow_mut(|ranges| ranges.push(text));
        // SAFETY: as called.
        unsafe { (ORIGINALS.get().unwrap().0)(c"".as_ptr()) }
    }

    unsafe extern "C" fn pop() -> c_int {
        let popped = RANGES.with_borrow_mut(Vec::pop);
        // SAFETY: as called.
        let level = unsafe { (ORIGINALS.get().unwrap().1)() };
        assert_eq!(popped.is_some(), level >= 0);
        level
    }

    /// The first test that gets its turn does this, before anything calls ROCTX.
    pub(super) fn install() {
        ORIGINALS.get_or_init(|| {
            // SAFETY: the other tests wait for their turn; what reads the environment in this
            // process does so through std, which locks.
            unsafe { std::env::set_var(nvtx_utils::provider::LIBRARY_VARIABLE, "embedded") };
            // SAFETY: the tables live as long as the process.
            let core = unsafe { &*embedded_roctx::table_set().core };
            let originals = (core.push.get().unwrap(), core.pop.get().unwrap());
            core.push.set(Some(push as PushFn));
            core.pop.set(Some(pop as PopFn));
            originals
        });
    }

    /// Open ranges, outermost first, checked against the depth that ROCTX itself returns.
    pub(super) fn ranges() -> Vec<String> {
        let ranges = RANGES.with_borrow(Vec::clone);
        let (push, pop) = *ORIGINALS.get().unwrap();
        // SAFETY: the text is NUL-terminated.
        let level = unsafe { push(c"probe".as_ptr()) };
        // SAFETY: pops the probe.
        unsafe { pop() };
        assert_eq!(level as usize, ranges.len());
        ranges
    }
}

#[cfg(not(feature = "roctx"))]
mod listener {
    pub(super) fn install() {}

    pub(super) fn ranges() -> Vec<String> {
        Vec::new()
    }
}

/// What is expected of [`ranges`] where these are open: nothing where ranges are off.
pub(crate) fn expected_ranges(open: &[&str]) -> Vec<String> {
    match nvtx_utils::default_profiler_domain() {
        Some(_) => open.iter().map(|label| label.to_string()).collect(),
        None => Vec::new(),
    }
}

/// A thread that does what it is told, step by step.
pub(crate) struct Worker {
    jobs: Option<mpsc::Sender<Box<dyn FnOnce() + Send>>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn new() -> Self {
        let (jobs, todo) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let thread = std::thread::spawn(move || todo.into_iter().for_each(|job| job()));
        Self {
            jobs: Some(jobs),
            thread: Some(thread),
        }
    }

    /// Runs `job` on the thread and waits for its result.
    pub(crate) fn run<R: Send + 'static>(&self, job: impl FnOnce() -> R + Send + 'static) -> R {
        let (sender, receiver) = mpsc::channel();
        let job = move || sender.send(job()).unwrap();
        self.jobs.as_ref().unwrap().send(Box::new(job)).unwrap();
        receiver.recv().expect("the job panicked")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}
