//! What a session keeps, from code or from the environment.

use rocm_tracer::{RocmTracerOptions, RowStyle};

/// Environment variable: events kept a session; later ones are counted and dropped.
pub const MAX_EVENTS_VARIABLE: &str = "XPROF_ROCTX_MAX_EVENTS";

/// What a session keeps and how it shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Limits of the marker listener.
    pub tracer: RocmTracerOptions,
    /// How the ROCTX rows are named.
    pub row_style: RowStyle,
    /// Name of this host in the profile; the machine's if none is given.
    pub host: Option<String>,
}

impl SessionOptions {
    /// The defaults with what the environment says. A value that is not a number is reported and
    /// the default taken: a program must not fail for it.
    pub fn from_env() -> Self {
        let mut options = Self::default();
        if let Some(value) = std::env::var_os(MAX_EVENTS_VARIABLE) {
            match value.to_str().and_then(|value| value.parse().ok()) {
                Some(number) => options.tracer.max_callback_api_events = number,
                None => tracing::warn!(
                    "{MAX_EVENTS_VARIABLE} is {value:?}, which is not a number of events; the \
                     default of {} is used",
                    options.tracer.max_callback_api_events
                ),
            }
        }
        options
    }
}

/// The machine's name, as `gethostname` has it, with what a file name cannot hold replaced.
pub fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is as long as is said.
    let result = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    let name = String::from_utf8_lossy(&name[..length]).replace('/', "_");
    if result != 0 || name.is_empty() {
        "localhost".to_owned()
    } else {
        name
    }
}
