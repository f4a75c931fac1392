//! Files in a log directory.

mod common;

use common::{plane, space, strangers_space};
use host_postprocess::export::ExportError;
use host_postprocess::export::tensorboard::{check_log_dir, write_run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

/// Every file below a folder, with its folders.
fn tree(folder: &Path) -> Vec<String> {
    fn walk(root: &Path, folder: &Path, into: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, into);
            } else {
                into.push(
                    path.strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    let mut files = Vec::new();
    walk(folder, folder, &mut files);
    files.sort();
    files
}

fn read(path: &Path) -> XSpace {
    XSpace::decode(&fs::read(path).unwrap()[..]).unwrap()
}

#[test]
fn a_run_is_where_viewers_look() {
    let logdir = tempfile::tempdir().unwrap();
    let space = strangers_space();
    let written = write_run(&logdir.path().join("a/b"), "2026_01_02", "node.1", &space).unwrap();
    let dir = logdir.path().join("a/b/plugins/profile/2026_01_02");
    assert_eq!(written.dir, dir);
    assert_eq!(written.xplane, dir.join("node.1.xplane.pb"));
    assert_eq!(written.trace_json, dir.join("node.1.trace.json.gz"));
    assert_eq!(tree(&dir), ["node.1.trace.json.gz", "node.1.xplane.pb"]);
    assert_eq!(read(&written.xplane), space);
    let mut json = Vec::new();
    host_postprocess::export::trace_json::write_gzip(&space, &mut json).unwrap();
    assert_eq!(fs::read(&written.trace_json).unwrap(), json);
}

#[test]
fn hosts_share_a_run() {
    let logdir = tempfile::tempdir().unwrap();
    for host in ["a", "b"] {
        write_run(logdir.path(), "run", host, &strangers_space()).unwrap();
    }
    let dir = logdir.path().join("plugins/profile/run");
    assert_eq!(
        tree(&dir),
        [
            "a.trace.json.gz",
            "a.xplane.pb",
            "b.trace.json.gz",
            "b.xplane.pb"
        ]
    );
}

#[test]
fn a_second_profile_of_a_run_does_not_replace_the_first() {
    let logdir = tempfile::tempdir().unwrap();
    let spaces: Vec<XSpace> = ["one", "two", "three"]
        .iter()
        .map(|label| space(vec![plane("/host:CPU", &[(1, label)])]))
        .collect();
    for (space, run) in spaces.iter().zip(["run", "run-2", "run-3"]) {
        let written = write_run(logdir.path(), "run", "host", space).unwrap();
        assert_eq!(written.dir, logdir.path().join("plugins/profile").join(run));
        assert_eq!(tree(&written.dir), ["host.trace.json.gz", "host.xplane.pb"]);
    }
    for (space, run) in spaces.iter().zip(["run", "run-2", "run-3"]) {
        let path = logdir
            .path()
            .join("plugins/profile")
            .join(run)
            .join("host.xplane.pb");
        assert_eq!(&read(&path), space);
    }
}

#[test]
fn profiles_written_at_once_are_all_kept() {
    let logdir = tempfile::tempdir().unwrap();
    let labels: Vec<String> = (0..8).map(|number| format!("process {number}")).collect();
    let barrier = std::sync::Barrier::new(labels.len());
    let mut written: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> = labels
            .iter()
            .map(|label| {
                scope.spawn(|| {
                    let space = space(vec![plane("/host:CPU", &[(1, label)])]);
                    barrier.wait();
                    let written = write_run(logdir.path(), "run", "host", &space).unwrap();
                    assert_eq!(read(&written.xplane), space);
                    written.xplane
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    written.sort();
    written.dedup();
    assert_eq!(written.len(), labels.len());
    let files = tree(logdir.path());
    assert_eq!(files.len(), 2 * labels.len(), "{files:?}");
}

#[test]
fn files_have_the_mode_that_the_umask_leaves() {
    let logdir = tempfile::tempdir().unwrap();
    let plain = logdir.path().join("plain");
    fs::write(&plain, "").unwrap();
    let expected = fs::metadata(&plain).unwrap().permissions().mode();
    let written = write_run(logdir.path(), "run", "host", &XSpace::default()).unwrap();
    for path in [&written.xplane, &written.trace_json] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode(), expected);
    }
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    let logdir = tempfile::tempdir().unwrap();
    let long = "x".repeat(201);
    for name in ["", ".", "..", "a/b", "/etc", "a\\b", "a\0b", &long] {
        for (what, run, host) in [("run", name, "host"), ("host", "run", name)] {
            let error = write_run(logdir.path(), run, host, &XSpace::default()).unwrap_err();
            assert!(matches!(error, ExportError::BadName { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.starts_with(&format!("{what} name {name:?}")), "{text}");
        }
    }
    assert_eq!(fs::read_dir(logdir.path()).unwrap().count(), 0);
    let longest = "x".repeat(200);
    write_run(logdir.path(), &longest, &longest, &XSpace::default()).unwrap();
    write_run(logdir.path(), "…", "a b:c=d", &XSpace::default()).unwrap();
}

#[test]
fn a_log_directory_that_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("logs");
    fs::write(&file, "mine").unwrap();
    for logdir in [file.clone(), file.join("below")] {
        let checked = check_log_dir(&logdir).unwrap_err();
        let written = write_run(&logdir, "run", "host", &XSpace::default()).unwrap_err();
        for error in [checked, written] {
            let ExportError::NotADirectory { path } = &error else {
                panic!("{error:?}")
            };
            assert_eq!(path, &file);
            assert!(
                error.to_string().contains("choose another log directory"),
                "{error}"
            );
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_plugins_folder_that_is_a_file() {
    for part in ["plugins", "plugins/profile"] {
        let logdir = tempfile::tempdir().unwrap();
        let file = logdir.path().join(part);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        let error = check_log_dir(logdir.path()).unwrap_err();
        let ExportError::NotADirectory { path } = error else {
            panic!("{error:?}")
        };
        assert_eq!(path, file);
    }
}

#[test]
fn a_log_directory_that_cannot_be_made_or_written() {
    // Not even root makes folders or files in /proc.
    let error = check_log_dir(Path::new("/proc/xprof-logs")).unwrap_err();
    assert!(
        matches!(error, ExportError::CreateDirectory { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("/proc/xprof-logs"), "{error}");
    let error = check_log_dir(Path::new("/proc")).unwrap_err();
    assert!(matches!(error, ExportError::Write { .. }), "{error:?}");
    let error = write_run(Path::new("/proc"), "run", "host", &XSpace::default()).unwrap_err();
    assert!(
        matches!(error, ExportError::CreateDirectory { .. }),
        "{error:?}"
    );
}

#[test]
fn a_check_makes_the_log_directory_and_leaves_nothing_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let logdir = folder.path().join("new/logs");
    check_log_dir(&logdir).unwrap();
    assert!(logdir.is_dir());
    assert_eq!(fs::read_dir(&logdir).unwrap().count(), 0);
    write_run(&logdir, "run", "host", &XSpace::default()).unwrap();
    check_log_dir(&logdir).unwrap();
    assert_eq!(tree(&logdir).len(), 2);
}

#[test]
fn a_failed_write_leaves_nothing() {
    // A folder that has the name of the JSON.
    let logdir = tempfile::tempdir().unwrap();
    let dir = logdir.path().join("plugins/profile/run");
    let in_the_way = dir.join("host.trace.json.gz");
    fs::create_dir_all(&in_the_way).unwrap();
    let error = write_run(logdir.path(), "run", "host", &XSpace::default()).unwrap_err();
    let ExportError::Write { path, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(path, &in_the_way);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "{:?}", tree(&dir));
}
