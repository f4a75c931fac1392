//! What went wrong, in words: what C++ gets in place of errors and panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result, or in words why there is none; a panic's own message is on stderr.
pub(crate) fn guarded<T, E: ToString>(
    what: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!(
            "{what} failed with a panic, which is a bug of xprof_roctx"
        )),
    }
}

/// What went wrong; empty if nothing did.
pub(crate) fn problem<E: ToString>(result: Result<(), E>) -> String {
    result
        .err()
        .map_or(String::new(), |error| error.to_string())
}

/// Shows warnings, unless the program has a place for them already: a C++ program has none.
pub(crate) fn warn_on_stderr() {
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_words() {
        let result = guarded("testing", || -> Result<(), String> { panic!("inside") });
        assert_eq!(
            result.unwrap_err(),
            "testing failed with a panic, which is a bug of xprof_roctx"
        );
        assert_eq!(guarded("testing", || Ok::<_, String>(3)), Ok(3));
        assert_eq!(problem(Err("why")), "why");
        assert_eq!(problem(Ok::<_, String>(())), "");
    }
}
