//! The switch, each value in a process of its own, since it is read once.

mod support;

use roctx_utils_impl::{DOMAIN_VARIABLE, default_profiler_domain};
use std::ffi::OsStr;
use support::{is_child, pass};

/// In the child: says what the domain is, and that nothing changes it any more.
fn report() {
    let first = default_profiler_domain();
    for value in ["0", "1", "nonsense"] {
        // SAFETY: this process has one thread that reads or writes the environment.
        unsafe { std::env::set_var(DOMAIN_VARIABLE, value) };
        assert_eq!(default_profiler_domain(), first);
        assert_eq!(
            std::thread::spawn(default_profiler_domain).join().unwrap(),
            first
        );
    }
    println!("domain: {}", if first.is_some() { "on" } else { "off" });
}

#[test]
fn the_environment_decides_once() {
    if is_child() {
        return report();
    }
    let run = |value: Option<&str>| {
        let environment: Vec<_> = value
            .iter()
            .map(|value| (DOMAIN_VARIABLE, OsStr::new(*value)))
            .collect();
        let (stdout, stderr) = pass("the_environment_decides_once", &environment);
        let on = stdout.contains("domain: on");
        assert_ne!(on, stdout.contains("domain: off"));
        (on, stderr)
    };
    for on in [None, Some("1"), Some("true"), Some("True")] {
        assert_eq!(run(on), (true, String::new()), "{on:?}");
    }
    for off in ["0", "false", "FALSE"] {
        assert_eq!(run(Some(off)), (false, String::new()), "{off}");
    }
    for unknown in ["yes", "", "2"] {
        let (on, warning) = run(Some(unknown));
        assert!(on, "{unknown:?}");
        assert_eq!(warning.matches("WARN").count(), 1, "{warning}");
        let said =
            format!("{DOMAIN_VARIABLE} is {unknown:?}, which is none of 0, false, 1 and true");
        assert!(warning.contains(&said), "{warning}");
    }
}
