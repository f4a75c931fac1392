//! The environment: what to capture, when, and where to write it.

use std::env;
use std::path::PathBuf;
use xprof_roctx_session::check_log_dir;
use xprof_roctx_session::options::host_name;

const LOGDIR_VARIABLE: &str = "XPROF_ROCTX_LOGDIR";
const RUN_VARIABLE: &str = "XPROF_ROCTX_RUN";
const HOST_VARIABLE: &str = "XPROF_ROCTX_HOST";
const WINDOW_VARIABLE: &str = "XPROF_ROCTX_WINDOW";
const BOOK_VARIABLE: &str = "XPROF_ROCTX_BOOK";

/// What the environment says.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) logdir: PathBuf,
    pub(crate) run: Option<String>,
    /// This process's name in the run.
    pub(crate) host: String,
    /// When to begin; none: at once.
    pub(crate) start_ns: Option<u64>,
    /// When to finish at the latest.
    pub(crate) stop_ns: Option<u64>,
    /// Where this process has a file while it captures.
    pub(crate) book: Option<PathBuf>,
}

/// Whether a ROCTX library will say when it is called first.
pub(crate) fn waits_for_first_call() -> bool {
    let variable = embedded_variable();
    env::var_os(variable).is_some_and(|value| !value.is_empty()) && was_preloaded()
}

/// Whether the environment says where to write.
pub(crate) fn is_wanted() -> bool {
    env::var_os(LOGDIR_VARIABLE).is_some_and(|value| !value.is_empty())
}

fn embedded_variable() -> &'static str {
    rocm_tracer::embedded_roctx::TOOL_VARIABLE
        .to_str()
        .unwrap_or_default()
}

/// Whether the loader was asked for this object, before the program's start.
fn was_preloaded() -> bool {
    env::var_os("LD_PRELOAD").is_some_and(|list| {
        list.to_string_lossy()
            .split([':', ' '])
            .any(|object| object.ends_with("libxprof_roctx_tool.so"))
    })
}

impl Config {
    /// None if nothing is to be captured.
    pub(crate) fn from_env() -> Result<Option<Self>, String> {
        let Some(logdir) = env::var_os(LOGDIR_VARIABLE).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        // Absolute now: the program may change its directory before it exits.
        let logdir = std::path::absolute(&logdir)
            .map_err(|error| format!("{LOGDIR_VARIABLE} is {logdir:?}: {error}"))?;
        let (start_ns, stop_ns) = match text(WINDOW_VARIABLE) {
            None => (None, None),
            Some(window) => parse_window(&window).ok_or_else(|| {
                format!(
                    "{WINDOW_VARIABLE} is {window:?}, which is not <start>:<stop> in nanoseconds \
                     of CLOCK_BOOTTIME"
                )
            })?,
        };
        let own = || format!("{}-{}", host_name(), std::process::id());
        Ok(Some(Self {
            logdir,
            run: text(RUN_VARIABLE),
            host: text(HOST_VARIABLE).unwrap_or_else(own),
            start_ns,
            stop_ns,
            book: env::var_os(BOOK_VARIABLE)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from),
        }))
    }

    /// Whether the log directory can be written to.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_log_dir(&self.logdir).map_err(|error| error.to_string())
    }

    /// The same for a child made by `fork`, under a name of its own.
    pub(crate) fn of_child(&self) -> Self {
        let host = text(HOST_VARIABLE).unwrap_or_else(host_name);
        Self {
            host: format!("{host}-{}", std::process::id()),
            ..self.clone()
        }
    }

    /// Whether the time to capture is over.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        self.stop_ns.is_some_and(|stop_ns| now_ns >= stop_ns)
    }

    /// Whether the time to capture has come.
    pub(crate) fn has_begun(&self, now_ns: u64) -> bool {
        self.start_ns.is_none_or(|start_ns| now_ns >= start_ns)
    }

    /// This process's file in the book.
    pub(crate) fn book_entry(&self) -> Option<PathBuf> {
        let book = self.book.as_ref()?;
        Some(book.join(std::process::id().to_string()))
    }
}

fn text(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

fn parse_window(window: &str) -> Option<(Option<u64>, Option<u64>)> {
    let bound = |text: &str| match text {
        "" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let (start, stop) = window.split_once(':')?;
    Some((bound(start)?, bound(stop)?))
}

/// Nanoseconds of `CLOCK_BOOTTIME`.
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a place for a timespec. May be called in a signal handler.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
