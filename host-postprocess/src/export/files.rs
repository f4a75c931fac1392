//! Files that appear whole or not at all.

use super::ExportError;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// What any program asks for when it makes a file; the umask takes away from it.
const FILE_MODE: u32 = 0o666;

/// A file that is complete but does not have its name yet. Dropping it removes it.
pub(super) struct Unnamed {
    file: NamedTempFile,
}

impl Unnamed {
    /// Writes what will be `path`, beside it, down to the disk.
    pub(super) fn write(
        path: &Path,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Self, ExportError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = new_file_in(folder).and_then(|mut file| {
            write(file.as_file_mut())?;
            file.as_file().sync_all()?;
            Ok(file)
        });
        match written {
            Ok(file) => Ok(Self { file }),
            Err(source) => Err(write_error(path, source)),
        }
    }

    /// Gives the file its name, replacing one that has it.
    pub(super) fn replace(self, path: &Path) -> Result<(), ExportError> {
        match self.file.persist(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(write_error(path, error.error)),
        }
    }

    /// Gives the file its name, or itself back if a file has that name.
    pub(super) fn claim(self, path: &Path) -> Result<Option<Self>, ExportError> {
        let refused = match self.file.persist_noclobber(path) {
            Ok(_) => return Ok(None),
            Err(refused) => refused,
        };
        let this = Self { file: refused.file };
        if refused.error.kind() == io::ErrorKind::AlreadyExists || path.exists() {
            return Ok(Some(this));
        }
        // Some file systems can only rename over what is there.
        this.replace(path).map(|()| None)
    }
}

fn write_error(path: &Path, source: io::Error) -> ExportError {
    ExportError::Write {
        path: path.to_owned(),
        source,
    }
}

/// Makes an empty file that has an unpredictable name and that the umask decides the mode of.
fn new_file_in(folder: &Path) -> io::Result<NamedTempFile> {
    Builder::new()
        .prefix(".xprof-roctx-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(FILE_MODE))
        .tempfile_in(folder)
}

/// Whether a file can be made in `folder`, by making one.
pub(super) fn probe(folder: &Path) -> Result<(), ExportError> {
    let probed = new_file_in(folder).and_then(NamedTempFile::close);
    probed.map_err(|source| write_error(folder, source))
}

/// Makes `folder` and the folders that it is in.
pub(super) fn create_folder(folder: &Path) -> Result<(), ExportError> {
    for part in folder.ancestors() {
        match fs::metadata(part) {
            Ok(metadata) if metadata.is_dir() => break,
            Ok(_) => {
                return Err(ExportError::NotADirectory {
                    path: part.to_owned(),
                });
            }
            Err(_) => {}
        }
    }
    fs::create_dir_all(folder).map_err(|source| ExportError::CreateDirectory {
        path: folder.to_owned(),
        source,
    })
}

/// Makes new names in `folder` last through a power cut, where the file system can.
pub(super) fn sync_folder(folder: &Path) {
    // The files are complete in any case, and some file systems cannot sync a folder.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_disk_that_fills_up_leaves_no_half_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.xplane.pb");
        let written = Unnamed::write(&path, |file| {
            file.write_all(&[0; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let Err(error) = written else {
            panic!("written");
        };
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(text.contains("free some space"), "{text}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_without_its_name_yet_is_removed_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.xplane.pb");
        let unnamed = Unnamed::write(&path, |file| file.write_all(b"whole"))
            .ok()
            .unwrap();
        assert!(!path.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(unnamed);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_is_claimed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.xplane.pb");
        let unnamed = |text: &'static [u8]| {
            Unnamed::write(&path, move |file| file.write_all(text))
                .ok()
                .unwrap()
        };
        assert!(matches!(unnamed(b"first").claim(&path), Ok(None)));
        let second = unnamed(b"second").claim(&path).ok().unwrap().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        second.replace(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }
}
