//! What `PJRT_Error*` points at.

/// Codes of `absl::StatusCode` that a profiler has use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The state does not allow it: another session is running, say.
    FailedPrecondition = 9,
    /// A fault in the profiler itself.
    Internal = 13,
    /// Something it needs is not there.
    Unavailable = 14,
}

/// An error that the host shows to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its kind.
    pub code: Code,
    /// What failed and what to do, for a person.
    pub message: String,
}

impl Error {
    /// An error of this kind and text.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
