//! A forked child and the recorder. In a process of its own: a fork while other tests record would
//! see their session.

use tsl_profiler_lib::traceme::Level;
use tsl_profiler_lib::{TraceMe, TraceMeRecorder};

#[test]
fn a_forked_child_has_no_part_in_its_parents_session() {
    TraceMeRecorder::start(Level::CRITICAL).unwrap();
    drop(TraceMe::new("parent"));
    let open = TraceMe::new("open across the fork");
    // SAFETY: the child only does what follows here, and ends by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let ok = std::panic::catch_unwind(|| {
            assert!(!TraceMe::is_active(Level::CRITICAL));
            assert_eq!(TraceMeRecorder::stop(), None);
            TraceMeRecorder::start(Level::CRITICAL).unwrap();
            drop(TraceMe::new("child"));
            let recording = TraceMeRecorder::stop().unwrap();
            assert_eq!(recording.threads.len(), 1);
            // SAFETY: takes nothing and cannot fail.
            let tid = unsafe { libc::gettid() };
            assert_eq!(recording.threads[0].tid, i64::from(tid));
            let names: Vec<_> = recording.threads[0]
                .events
                .iter()
                .map(|e| &e.name)
                .collect();
            assert_eq!(names, [b"child"]);
        });
        // SAFETY: ends the child without running what belongs to the parent.
        unsafe { libc::_exit(i32::from(ok.is_err())) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child's own assertions hold");
    drop(open);
    let recording = TraceMeRecorder::stop().unwrap();
    assert_eq!(recording.threads[0].events.len(), 2);
    assert_eq!(recording.open_at_stop, 0);
}
