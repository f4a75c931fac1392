//! JAX's ROCm plug-in in this process, and whether it has a marker listener of its own.
//!
//! A version does not say: the wheels `jax-rocm7-pjrt` have had the listener since 0.11.2 (0.11.0
//! has not), and builds of one's own have whatever their checkout had. The library does: XLA's listener
//! warns of what it does not capture, in words that are in the file.

use rocm_tracer::embedded_roctx::modules;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How the messages of XLA's marker listener begin (`rocm_tracer.cc`), and no other text of the
/// plug-in: "ROCTX marker tracing unavailable", "ROCTX marker operation", "ROCTX marker event dropped".
const LISTENERS_WORDS: &[u8] = b"ROCTX marker";

/// By which JAX takes up a plug-in.
const ENTRY_POINT: &CStr = c"GetPjrtApi";

/// What is known of a ROCm plug-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocmPlugin {
    /// The library.
    pub path: PathBuf,
    /// Whether it captures ROCTX markers itself; `None` if its file could not be read.
    pub has_listener: Option<bool>,
}

impl RocmPlugin {
    /// Looks into a plug-in's file. Reads it to the end if there is no listener in it.
    pub fn of_file(path: &Path) -> Self {
        Self {
            has_listener: File::open(path)
                .and_then(|file| contains(file, LISTENERS_WORDS))
                .ok(),
            path: path.to_owned(),
        }
    }
}

/// The ROCm plug-ins that are loaded, by path.
pub fn loaded() -> Vec<PathBuf> {
    modules::loaded()
        .into_iter()
        .filter(|path| is_named_so(Path::new(OsStr::from_bytes(path.to_bytes()))))
        .filter(|path| modules::symbol_in(path, ENTRY_POINT).is_some())
        .map(|path| OsStr::from_bytes(path.to_bytes()).into())
        .collect()
}

/// Whether a file is named as XLA's plug-ins for AMD GPUs are: `xla_rocm_plugin.so` in JAX's wheels,
/// `pjrt_c_api_gpu_plugin.so` in a build of one's own.
fn is_named_so(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.contains("rocm") || name.contains("pjrt_c_api_gpu")
    })
}

/// Whether what is read contains these bytes.
fn contains(mut source: impl Read, bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let read = match source.read(&mut buffer[kept..]) {
            Ok(0) => return Ok(false),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = kept + read;
        if memchr::memmem::find(&buffer[..filled], bytes).is_some() {
            return Ok(true);
        }
        // The bytes may lie across two reads.
        kept = filled.min(bytes.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a few bytes a read.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn words_are_found_wherever_reads_cut_them() {
        let text = b"........ROCTX marker tracing unavailable";
        for step in 1..text.len() {
            assert!(contains(Slowly(text, step), LISTENERS_WORDS).unwrap());
            assert!(!contains(Slowly(text, step), b"ROCTX markers").unwrap());
            assert!(!contains(Slowly(b"", step), LISTENERS_WORDS).unwrap());
        }
    }

    #[test]
    fn a_plug_in_is_known_by_what_is_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("xla_rocm_plugin.so");
        assert_eq!(RocmPlugin::of_file(&path).has_listener, None);
        std::fs::write(&path, b"\x7fELF /host:NVTX-CUPTI roctxRangePushA").unwrap();
        assert_eq!(RocmPlugin::of_file(&path).has_listener, Some(false));
        std::fs::write(&path, b"\x7fELF\0ROCTX marker operation \0").unwrap();
        assert_eq!(RocmPlugin::of_file(&path).has_listener, Some(true));
    }

    #[test]
    fn names_of_plug_ins() {
        for name in [
            "/s/jax_plugins/xla_rocm7/xla_rocm_plugin.so",
            "/b/pjrt_c_api_gpu_plugin.so",
        ] {
            assert!(is_named_so(Path::new(name)), "{name}");
        }
        assert!(!is_named_so(Path::new("/rocm/libtpu.so")));
        assert!(loaded().is_empty());
    }
}
