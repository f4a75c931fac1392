//! The libraries that may answer, in the order in which they are tried.

use super::{LIBRARY_VARIABLE, ProviderKind, library};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// AMD's library, newest major version first.
const SONAMES: [&str; 2] = [
    "librocprofiler-sdk-roctx.so.1",
    "librocprofiler-sdk-roctx.so.0",
];

/// How the file names of AMD's library begin.
const ROCTX_PREFIX: &[u8] = b"librocprofiler-sdk-roctx.so";

/// How the file names of rocprofiler-sdk itself begin.
pub(super) const SDK_PREFIX: &[u8] = b"librocprofiler-sdk.so";

/// What [`LIBRARY_VARIABLE`] says for the embedded ROCTX.
const EMBEDDED: &str = "embedded";

/// Where ROCm is installed unless `$ROCM_PATH` says otherwise.
const DEFAULT_ROCM: &str = "/opt/rocm";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) kind: ProviderKind,
    pub(super) place: Place,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A path, or a name for the loader to find.
    Library(PathBuf),
    Embedded,
}

pub(super) fn of_this_process() -> Vec<Candidate> {
    in_order(
        std::env::var_os(LIBRARY_VARIABLE),
        std::env::var_os("ROCM_PATH"),
        library::loaded(ROCTX_PREFIX),
    )
}

/// The last one is always the embedded ROCTX.
fn in_order(
    setting: Option<OsString>,
    rocm_path: Option<OsString>,
    loaded: Vec<PathBuf>,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut add = |kind, path: PathBuf| {
        candidates.push(Candidate {
            kind,
            place: Place::Library(path),
        });
    };
    let setting = setting.filter(|setting| !setting.is_empty());
    if setting.as_deref() != Some(OsStr::new(EMBEDDED)) {
        if let Some(path) = setting {
            add(ProviderKind::Environment, path.into());
        }
        for path in loaded {
            add(ProviderKind::Loaded, path);
        }
        let mut folders = vec![PathBuf::from(DEFAULT_ROCM)];
        if let Some(rocm) = rocm_path.filter(|rocm| !rocm.is_empty())
            && Path::new(&rocm) != Path::new(DEFAULT_ROCM)
        {
            folders.insert(0, rocm.into());
        }
        for folder in folders {
            for soname in SONAMES {
                add(ProviderKind::Rocm, folder.join("lib").join(soname));
            }
        }
        for soname in SONAMES {
            add(ProviderKind::LoaderPath, soname.into());
        }
    }
    candidates.push(Candidate {
        kind: ProviderKind::Embedded,
        place: Place::Embedded,
    });
    candidates
}

/// Whether a module's file name begins so.
pub(super) fn is_named(path: &Path, prefix: &[u8]) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(candidates: &[Candidate]) -> Vec<(ProviderKind, &str)> {
        candidates
            .iter()
            .map(|candidate| match &candidate.place {
                Place::Library(path) => (candidate.kind, path.to_str().unwrap()),
                Place::Embedded => (candidate.kind, "embedded"),
            })
            .collect()
    }

    use ProviderKind::{Embedded, Environment, Loaded, LoaderPath, Rocm};

    const BY_DEFAULT: [(ProviderKind, &str); 5] = [
        (Rocm, "/opt/rocm/lib/librocprofiler-sdk-roctx.so.1"),
        (Rocm, "/opt/rocm/lib/librocprofiler-sdk-roctx.so.0"),
        (LoaderPath, "librocprofiler-sdk-roctx.so.1"),
        (LoaderPath, "librocprofiler-sdk-roctx.so.0"),
        (Embedded, "embedded"),
    ];

    #[test]
    fn nothing_said() {
        assert_eq!(paths(&in_order(None, None, vec![])), BY_DEFAULT);
        let empty = in_order(Some("".into()), Some("".into()), vec![]);
        assert_eq!(paths(&empty), BY_DEFAULT);
        let same = in_order(None, Some("/opt/rocm/".into()), vec![]);
        assert_eq!(paths(&same), BY_DEFAULT);
    }

    #[test]
    fn everything_said() {
        let all = in_order(
            Some("/my/roctx.so".into()),
            Some("/rocm".into()),
            vec!["/wheel/librocprofiler-sdk-roctx.so.1.0".into()],
        );
        let mut expected = vec![
            (Environment, "/my/roctx.so"),
            (Loaded, "/wheel/librocprofiler-sdk-roctx.so.1.0"),
            (Rocm, "/rocm/lib/librocprofiler-sdk-roctx.so.1"),
            (Rocm, "/rocm/lib/librocprofiler-sdk-roctx.so.0"),
        ];
        expected.extend(BY_DEFAULT);
        assert_eq!(paths(&all), expected);
    }

    #[test]
    fn embedded_is_tried_alone_when_asked_for() {
        let loaded = vec!["/wheel/librocprofiler-sdk-roctx.so.1".into()];
        let only = in_order(Some("embedded".into()), Some("/rocm".into()), loaded);
        assert_eq!(paths(&only), [(Embedded, "embedded")]);
    }

    #[test]
    fn the_sdk_and_its_roctx_are_told_apart() {
        let roctx = Path::new("/opt/rocm/lib/librocprofiler-sdk-roctx.so.1.0.0");
        let sdk = Path::new("librocprofiler-sdk.so.1");
        assert!(is_named(roctx, ROCTX_PREFIX) && !is_named(roctx, SDK_PREFIX));
        assert!(is_named(sdk, SDK_PREFIX) && !is_named(sdk, ROCTX_PREFIX));
        assert!(!is_named(Path::new("/librocprofiler-sdk.so/x"), SDK_PREFIX));
        assert!(!is_named(Path::new(""), SDK_PREFIX));
    }
}
