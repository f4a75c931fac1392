//! Whether ranges are on.

use nvtx_utils_interface::ProfilerDomainHandle;
use std::ffi::{OsStr, OsString};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The environment variable that switches ranges off (`0`, `false`) or on (`1`, `true`, unset).
/// The name is XLA's.
pub const DOMAIN_VARIABLE: &str = "XLA_ROCM_ENABLE_ROCTX";

/// ROCTX has no domains, so an address of ours stands for the only one. It is never dereferenced.
static SENTINEL: u8 = 0;

/// The domain of TSL's ranges, or `None` if [`DOMAIN_VARIABLE`] switches them off.
///
/// Decided at the first call and kept for the life of the process: were it to change between a
/// push and its pop, the two would act on different stacks.
#[inline]
pub fn default_profiler_domain() -> Option<ProfilerDomainHandle> {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    let enabled = match ENABLED.get() {
        Some(enabled) => *enabled,
        None => latch(&ENABLED),
    };
    // SAFETY: the functions of this crate accept any address, since they look at none.
    enabled.then(|| unsafe { ProfilerDomainHandle::from_raw(NonNull::from(&SENTINEL).cast()) })
}

#[cold]
fn latch(enabled: &OnceLock<bool>) -> bool {
    let mut unknown = None;
    let enabled = *enabled.get_or_init(|| {
        parse(std::env::var_os(DOMAIN_VARIABLE).as_deref()).unwrap_or_else(|value| {
            unknown = Some(value);
            true
        })
    });
    // After the latch, since whoever receives the warning may itself ask for the domain.
    if let Some(Unknown(value)) = unknown {
        tracing::warn!(
            "{DOMAIN_VARIABLE} is {value:?}, which is none of 0, false, 1 and true. ROCTX ranges \
             stay on; set it to 0 to switch them off."
        );
    }
    enabled
}

/// A value that is neither on nor off.
#[derive(Debug, PartialEq, Eq)]
struct Unknown(OsString);

/// What the variable's value says; letters in any case, as TSL reads such variables.
fn parse(value: Option<&OsStr>) -> Result<bool, Unknown> {
    let Some(value) = value else { return Ok(true) };
    if value == "1" || value.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if value == "0" || value.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(Unknown(value.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn accepted_values() {
        assert_eq!(parse(None), Ok(true));
        for on in ["1", "true", "TRUE", "True"] {
            assert_eq!(parse(Some(on.as_ref())), Ok(true), "{on}");
        }
        for off in ["0", "false", "FALSE", "fAlse"] {
            assert_eq!(parse(Some(off.as_ref())), Ok(false), "{off}");
        }
    }

    #[test]
    fn everything_else_is_named() {
        for other in [
            &b""[..],
            b"yes",
            b"on",
            b" 1",
            b"00",
            b"10",
            b"truE ",
            b"\xff",
        ] {
            let other = OsStr::from_bytes(other);
            assert_eq!(parse(Some(other)), Err(Unknown(other.to_owned())));
        }
    }
}
