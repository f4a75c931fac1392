//! Loading a shared library as the ROCTX library, and saying what is wrong with one that does not
//! serve.

use super::candidates::is_named;
use super::table::Table;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL};
use std::error::Error;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why a library does not serve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RejectReason {
    /// The file, or for a bare name any file of that name on the loader's path, does not exist.
    #[error("there is no such library")]
    NotFound,
    /// It is for another kind of processor: the `e_machine` numbers of both ELF headers.
    #[error("it is built for another processor (ELF machine {library}, this process is {process})")]
    OtherProcessor {
        /// What the library is for.
        library: u16,
        /// What this process is.
        process: u16,
    },
    /// The loader's own words.
    #[error("the loader refuses it ({0})")]
    Refused(String),
    /// It loads, but it is not a ROCTX library.
    #[error("it has no function {0}")]
    NoFunction(&'static str),
}

/// A library that serves. It stays loaded for the life of the process.
pub(super) struct Found {
    pub(super) table: Table,
    pub(super) path: PathBuf,
    pub(super) version: Option<(u32, u32, u32)>,
    pub(super) missing: Vec<&'static str>,
}

/// Loads a library by its path or by a name for the loader to find, and makes its symbols visible
/// in the whole process, as AMD's asks for.
pub(super) fn open(name: &Path) -> Result<Found, RejectReason> {
    // Not visible at first: what turns out to be no ROCTX library shall not stand in the way of
    // other libraries' symbols.
    // SAFETY: runs the library's constructors. That is what whoever put it in this place wants.
    let library = unsafe { Library::open(Some(name), RTLD_LAZY | RTLD_LOCAL) }
        .map_err(|error| explain(name, &error))?;
    let library = Symbols(library);
    let found = library.found(name);
    // Never closed: its functions are called until the process ends, it may have registered itself
    // with a profiler, and unloading a rejected one would run destructors for no gain.
    std::mem::forget(library);
    if found.is_ok() {
        make_visible(name);
    }
    found
}

/// Makes the symbols of every loaded module of this name visible in the whole process.
pub(super) fn promote_loaded(prefix: &[u8]) {
    for path in loaded(prefix) {
        make_visible(&path);
    }
}

fn make_visible(name: &Path) {
    let flags = RTLD_LAZY | RTLD_GLOBAL | libc::RTLD_NOLOAD;
    // SAFETY: with RTLD_NOLOAD nothing is loaded and no constructor runs.
    if let Ok(library) = unsafe { Library::open(Some(name), flags) } {
        std::mem::forget(library);
    }
}

/// The paths of the loaded modules whose file name begins so.
pub(super) fn loaded(prefix: &[u8]) -> Vec<PathBuf> {
    unsafe extern "C" fn collect(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        paths: *mut c_void,
    ) -> c_int {
        // SAFETY: dl_iterate_phdr passes on the pointer given to it, which is to the Vec below,
        // and an info whose name is null or NUL-terminated.
        unsafe {
            if !(*info).dlpi_name.is_null() {
                (*paths.cast::<Vec<PathBuf>>()).push(path_of((*info).dlpi_name));
            }
        }
        0
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    // SAFETY: the callback has the signature asked for, and `paths` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut paths).cast()) };
    paths.retain(|path| is_named(path, prefix));
    paths
}

/// # Safety
/// `name` is NUL-terminated.
unsafe fn path_of(name: *const c_char) -> PathBuf {
    // SAFETY: the caller's promise.
    OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()).into()
}

struct Symbols(Library);

impl Symbols {
    /// A function by its name, which ends in NUL.
    ///
    /// # Safety
    /// `F` is the type of the function that has this name in AMD's headers.
    unsafe fn function<F: Copy>(&self, name: &'static CStr) -> Option<F> {
        // Catches an F inferred from something else than the field it is for.
        const { assert!(size_of::<F>() == size_of::<*const c_void>()) }
        // SAFETY: the caller's promise.
        unsafe { self.0.get::<F>(name.to_bytes_with_nul()) }
            .ok()
            .map(|function| *function)
    }

    /// # Safety
    /// As of [`function`](Self::function).
    unsafe fn required<F: Copy>(&self, name: &'static CStr) -> Result<F, RejectReason> {
        // SAFETY: the caller's promise.
        unsafe { self.function(name) }
            .ok_or(RejectReason::NoFunction(name.to_str().unwrap_or_default()))
    }

    /// Marks and ranges must be there; a library that lacks others serves all the same.
    fn found(&self, name: &Path) -> Result<Found, RejectReason> {
        // SAFETY: the fields of Table have the types of the functions of these names.
        let table = unsafe {
            Table {
                mark: self.required(c"roctxMarkA")?,
                push: self.required(c"roctxRangePushA")?,
                pop: self.required(c"roctxRangePop")?,
                start: self.required(c"roctxRangeStartA")?,
                stop: self.required(c"roctxRangeStop")?,
                pause: self.function(c"roctxProfilerPause"),
                resume: self.function(c"roctxProfilerResume"),
                name_os_thread: self.function(c"roctxNameOsThread"),
                name_hip_device: self.function(c"roctxNameHipDevice"),
                name_hip_stream: self.function(c"roctxNameHipStream"),
            }
        };
        let optional = [
            ("roctxProfilerPause", table.pause.is_none()),
            ("roctxProfilerResume", table.resume.is_none()),
            ("roctxNameOsThread", table.name_os_thread.is_none()),
            ("roctxNameHipDevice", table.name_hip_device.is_none()),
            ("roctxNameHipStream", table.name_hip_stream.is_none()),
        ];
        Ok(Found {
            path: file_of(table.push as *const c_void).unwrap_or_else(|| name.to_owned()),
            version: self.version(),
            table,
            missing: optional
                .iter()
                .filter(|(_, missing)| *missing)
                .map(|(name, _)| *name)
                .collect(),
        })
    }

    fn version(&self) -> Option<(u32, u32, u32)> {
        let part = |name| {
            // SAFETY: AMD's headers declare these three as `uint32_t f()`.
            let function: unsafe extern "C" fn() -> u32 = unsafe { self.function(name) }?;
            // SAFETY: it takes nothing and returns a constant.
            Some(unsafe { function() })
        };
        Some((
            part(c"roctx_version_major")?,
            part(c"roctx_version_minor")?,
            part(c"roctx_version_patch").unwrap_or(0),
        ))
    }
}

/// The file that a function is in.
fn file_of(function: *const c_void) -> Option<PathBuf> {
    // SAFETY: a Dl_info of zeros is a valid one; dladdr fills it for any address.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(function, &mut info) != 0 && !info.dli_fname.is_null())
            .then(|| path_of(info.dli_fname))
    }
}

/// What is wrong with a library that the loader did not load. The loader says "no such file" also
/// of one for another processor, so that is looked at first.
fn explain(name: &Path, error: &libloading::Error) -> RejectReason {
    if let (Some(library), Some(process)) =
        (elf_machine(name), elf_machine("/proc/self/exe".as_ref()))
        && library != process
    {
        return RejectReason::OtherProcessor { library, process };
    }
    let message = error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string);
    // A library that it depends on is named instead where that is what is not there.
    let not_found = format!("{}: cannot open shared object file", name.display());
    if message.starts_with(&not_found) && File::open(name).is_err() {
        return RejectReason::NotFound;
    }
    RejectReason::Refused(message)
}

/// `e_machine` of an ELF file in this process's byte order.
fn elf_machine(path: &Path) -> Option<u16> {
    let mut header = [0; 20];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    header
        .starts_with(b"\x7fELF")
        .then(|| u16::from_ne_bytes([header[18], header[19]]))
}
