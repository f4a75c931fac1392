//! Where things are in the checkout.

use std::path::{Path, PathBuf};

/// The root of the checkout.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the checkout")
}

/// The folder of the Python package.
pub(crate) fn python_bindings() -> PathBuf {
    root().join("python-bindings")
}

/// The folder that Cargo and these commands write into; git ignores it.
pub(crate) fn target() -> PathBuf {
    root().join("target")
}

/// `path` as a person would type it from the root of the checkout.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
