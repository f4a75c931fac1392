//! Fingerprints of inputs, and the stamps that say with which inputs something was made.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A fingerprint of the contents of files and folders. Build outputs, caches, tests and benchmarks
/// in the folders do not count.
///
/// # Errors
///
/// If one cannot be read.
pub(crate) fn of_paths(paths: &[PathBuf]) -> Result<String> {
    let mut files = BTreeSet::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    let mut hasher = DefaultHasher::new();
    for file in &files {
        file.hash(&mut hasher);
        std::fs::read(file)
            .with_context(|| format!("cannot read {}", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    const SKIPPED: [&str; 5] = ["target", "tests", "benches", "lib", "__pycache__"];
    if !path.is_dir() {
        files.insert(path.to_owned());
        return Ok(());
    }
    let entries =
        std::fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let skipped = name.starts_with('.')
            || name.ends_with(".so")
            || (SKIPPED.contains(&name.as_str()) && path.is_dir());
        if !skipped {
            collect(&path, files)?;
        }
    }
    Ok(())
}

/// A file that remembers with which inputs something was made.
pub(crate) struct Stamp {
    path: PathBuf,
    inputs: String,
}

impl Stamp {
    /// The stamp `name` in `folder` for something made of `inputs`.
    pub(crate) fn new(folder: &Path, name: &str, inputs: impl Into<String>) -> Self {
        Self {
            path: folder.join(format!(".{name}.stamp")),
            inputs: inputs.into(),
        }
    }

    /// Whether it was made, of the same inputs.
    pub(crate) fn is_current(&self) -> bool {
        std::fs::read_to_string(&self.path).is_ok_and(|inputs| inputs == self.inputs)
    }

    /// Says that it is not made, before it is made anew.
    ///
    /// # Errors
    ///
    /// If an old stamp cannot be removed.
    pub(crate) fn clear(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Says that it is made.
    ///
    /// # Errors
    ///
    /// If the stamp cannot be written.
    pub(crate) fn set(&self) -> Result<()> {
        std::fs::write(&self.path, &self.inputs)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn contents_names_and_new_files_count_outputs_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("crate");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/lib.rs"), "one").unwrap();
        let of = || of_paths(std::slice::from_ref(&root)).unwrap();
        let first = of();

        for output in [
            "target/x.rs",
            "python/__pycache__/x.pyc",
            "python/lib/libx.so.1",
            "_native.so",
        ] {
            let output = root.join(output);
            fs::create_dir_all(output.parent().unwrap()).unwrap();
            fs::write(output, "made").unwrap();
        }
        assert_eq!(of(), first);

        fs::write(root.join("src/lib.rs"), "two").unwrap();
        let changed = of();
        assert_ne!(changed, first);
        fs::write(root.join("src/lib.rs"), "one").unwrap();
        assert_eq!(of(), first);
        fs::write(root.join("src/new.rs"), "").unwrap();
        let added = of();
        assert_ne!(added, first);
        fs::rename(root.join("src/new.rs"), root.join("src/other.rs")).unwrap();
        assert_ne!(of(), added);
    }

    #[test]
    fn a_stamp_is_current_for_its_own_inputs_only() {
        let dir = tempfile::tempdir().unwrap();
        let stamp = Stamp::new(dir.path(), "wheel", "a");
        assert!(!stamp.is_current());
        stamp.clear().unwrap();
        stamp.set().unwrap();
        assert!(stamp.is_current());
        assert!(!Stamp::new(dir.path(), "wheel", "b").is_current());
        assert!(!Stamp::new(dir.path(), "other", "a").is_current());
        stamp.clear().unwrap();
        assert!(!stamp.is_current());
    }
}
