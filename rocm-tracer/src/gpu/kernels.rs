//! Kernels' names, by the id that dispatch records carry.
//!
//! The SDK tells a kernel's name once, when its code object is loaded, which can be long before a
//! session; a kernel can run, and its record come, after its code object was unloaded. So names are
//! kept for the process's life, each id being given once.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::fmt::{self, Write};
use std::sync::{Arc, LazyLock};

static NAMES: LazyLock<Mutex<HashMap<u64, Arc<[u8]>>>> = LazyLock::new(Mutex::default);

/// Remembers the name of a kernel, as it stands in the code object.
pub(crate) fn name(kernel: u64, symbol: &[u8]) {
    NAMES.lock().insert(kernel, symbol.into());
}

/// The names so far.
pub(crate) fn names() -> HashMap<u64, Arc<[u8]>> {
    NAMES.lock().clone()
}

/// Demangled names longer than this are not worth having: the mangled one is shown.
const LONGEST_NAME: usize = 16 << 10;

/// A kernel's name as people know it: a C++ symbol demangled, without the suffix of its descriptor.
pub(crate) fn display_name(symbol: &[u8]) -> String {
    let symbol = symbol.strip_suffix(b".kd").unwrap_or(symbol);
    demangled(symbol).unwrap_or_else(|| xplane_schema::lossy_utf8(symbol).into_owned())
}

fn demangled(symbol: &[u8]) -> Option<String> {
    // Only names of the Itanium C++ ABI; the parser would also take the name of a type.
    if !symbol.starts_with(b"_Z") {
        return None;
    }
    let parsed = cpp_demangle::BorrowedSymbol::new(symbol).ok()?;
    let mut name = Bounded(String::new());
    let options = cpp_demangle::DemangleOptions::default();
    parsed.structured_demangle(&mut name, &options).ok()?;
    Some(name.0)
}

/// Text up to [`LONGEST_NAME`]: a short symbol can stand for a name of gigabytes.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::display_name;

    #[test]
    fn names_are_shown_as_c_plus_plus_has_them() {
        for (symbol, expected) in [
            ("_Z6vecaddPfS_S_.kd", "vecadd(float*, float*, float*)"),
            ("_Z6vecaddPfS_S_", "vecadd(float*, float*, float*)"),
            (
                "_ZN2at6native18elementwise_kernelILi512ELi1EEEvi.kd",
                "void at::native::elementwise_kernel<512, 1>(int)",
            ),
            ("Cijk_Ailk_Bljk_SB_MT64x64.kd", "Cijk_Ailk_Bljk_SB_MT64x64"),
            ("loop_add_fusion_3", "loop_add_fusion_3"),
            ("i", "i"), // also the mangled name of a type
            ("_Z", "_Z"),
            ("_ZN9nonsense", "_ZN9nonsense"),
            ("", ""),
        ] {
            assert_eq!(display_name(symbol.as_bytes()), expected, "{symbol}");
        }
        assert_eq!(display_name(b"_Z3\xff\xfe"), "_Z3\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_symbol_that_stands_for_an_endless_name_stays_mangled() {
        // Each template argument doubles what the one before it stands for.
        let mut symbol = "_Z1fI1AIiE".to_owned();
        for substitution in 0..40 {
            let id = if substitution == 0 {
                "S0_".to_owned()
            } else {
                let digit = char::from_digit(substitution as u32 % 36, 36).unwrap();
                format!("S{}_", digit.to_ascii_uppercase())
            };
            symbol.push_str(&format!("1AI{id}{id}E"));
        }
        symbol.push_str("Evv");
        let name = display_name(symbol.as_bytes());
        assert!(name.len() <= super::LONGEST_NAME || name == symbol);
    }
}
