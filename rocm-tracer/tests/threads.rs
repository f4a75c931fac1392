//! Many threads, short threads, sessions that stop while threads write, children of a fork.

#![allow(missing_docs)]

mod common;

use common::*;
use rocm_tracer::RocmTracerOptions;
use rocm_tracer::drops::DropReason;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[test]
fn threads_that_end_before_the_session_hand_over_their_markers() {
    let _one = one_at_a_time();
    const THREADS: usize = 2000;
    let space = trace(|| {
        for _ in 0..THREADS / 20 {
            std::thread::scope(|scope| {
                for _ in 0..20 {
                    scope.spawn(|| {
                        push("short");
                        mark("inside");
                        pop();
                    });
                }
            });
        }
    });
    let rows = roctx_rows(&space);
    let events: usize = rows.iter().map(|row| row.events.len()).sum();
    assert_eq!(events, 2 * THREADS);
    // The kernel reuses thread ids: a row can hold several threads' markers, in order of time.
    let ids: std::collections::HashSet<_> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), rows.len());
    for row in &rows {
        assert!(
            row.events.is_sorted_by_key(|event| event.start_ps),
            "{row:?}"
        );
    }
}

#[test]
fn each_thread_has_a_row_of_its_own() {
    let _one = one_at_a_time();
    const THREADS: usize = 8;
    const RANGES: usize = 5000;
    let barrier = Barrier::new(THREADS);
    let mut expected: Vec<(i64, String)> = Vec::new();
    let space = trace(|| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        let label = format!("worker {number}");
                        barrier.wait();
                        for _ in 0..RANGES {
                            push(&label);
                            push("inner");
                            pop();
                            pop();
                        }
                        (tid() as i64, label)
                    })
                })
                .collect();
            expected = threads.into_iter().map(|t| t.join().unwrap()).collect();
        });
    });
    let rows = roctx_rows(&space);
    assert_eq!(rows.len(), THREADS);
    for (id, label) in expected {
        let row = rows.iter().find(|row| row.id == id).unwrap();
        assert_eq!(row.events.len(), 2 * RANGES);
        let mine = row.events.iter().filter(|event| event.name == label);
        assert_eq!(mine.count(), RANGES);
        // Properly nested: each event lies in the one before it or begins after its end.
        for pair in row.events.windows(2) {
            assert!(
                pair[1].end_ps <= pair[0].end_ps || pair[1].start_ps >= pair[0].end_ps,
                "{pair:?}"
            );
        }
    }
    assert_eq!(space.warnings, Vec::<String>::new());
}

#[test]
fn the_cap_holds_exactly_and_says_so() {
    let _one = one_at_a_time();
    let options = RocmTracerOptions {
        max_callback_api_events: 5,
        ..Default::default()
    };
    let captured = capture(options, || {
        push("outermost");
        for _ in 0..9 {
            push("step");
            mark("point");
            pop();
        }
        pop();
    });
    assert_eq!(captured.marker_count(), 5);
    assert_eq!(captured.drops().get(DropReason::Capacity), 19 - 5);
    let space = export(captured, Default::default());
    let row = the_row(&space);
    assert_eq!(
        row.labels(),
        ["outermost", "step", "point", "step", "point"]
    );
    // The outermost range was kept, and closed by its own pop only.
    assert!(
        row.events
            .iter()
            .all(|event| event.end_ps <= row.events[0].end_ps)
    );
    assert_eq!(row.events[0].stat("truncated"), None);
    assert_eq!(
        space.warnings,
        [
            "ROCTX: 14 markers dropped: the session's event limit was reached (5 events; raise \
          max_callback_api_events to keep more)"
        ]
    );
}

#[test]
fn the_cap_holds_over_threads() {
    let _one = one_at_a_time();
    const THREADS: u64 = 4;
    const MARKS: u64 = 10_000;
    const CAP: u64 = 7_000;
    let options = RocmTracerOptions {
        max_callback_api_events: CAP,
        ..Default::default()
    };
    let captured = capture(options, || {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..MARKS).for_each(|_| mark("m")));
            }
        });
        let id = start("async");
        stop(id);
    });
    let kept = captured.marker_count() as u64;
    assert!(kept <= CAP, "{kept}");
    assert_eq!(kept + captured.drops().total(), THREADS * MARKS + 1);
    // What ended threads had reserved and not used is given back.
    assert!(kept > CAP - CAP / 32, "{kept}");
}

#[test]
fn label_memory_is_bounded_and_a_placeholder_stands_for_the_rest() {
    let _one = one_at_a_time();
    let options = RocmTracerOptions {
        max_label_memory: 4096,
        ..Default::default()
    };
    let captured = capture(options, || {
        for number in 0..1000 {
            mark(&format!("a label like no other, number {number}"));
        }
    });
    assert_eq!(captured.marker_count(), 1000);
    let space = export(captured, Default::default());
    let row = the_row(&space);
    assert_eq!(row.labels()[0], "a label like no other, number 0");
    let lost = row
        .labels()
        .iter()
        .filter(|label| **label == "[label memory limit reached]")
        .count();
    assert!((850..950).contains(&lost), "{lost}");
    assert_eq!(
        space.warnings,
        [format!(
            "ROCTX: {lost} markers lost their labels: the session's label memory was used up; \
             raise max_label_memory to keep more"
        )]
    );
}

#[test]
fn sessions_that_stop_while_threads_write_lose_and_double_nothing() {
    let _one = one_at_a_time();
    let stop_all = AtomicBool::new(false);
    let made = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop_all.load(Ordering::Relaxed) {
                    push("outer");
                    push("inner");
                    pop();
                    pop();
                    made.fetch_add(2, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..100 {
            let before = made.load(Ordering::Relaxed);
            let captured = capture(RocmTracerOptions::default(), || {
                while made.load(Ordering::Relaxed) < before + 50 {
                    std::hint::spin_loop();
                }
            });
            let space = export(captured, Default::default());
            for row in roctx_rows(&space) {
                for pair in row.events.windows(2) {
                    assert!(
                        pair[1].end_ps <= pair[0].end_ps || pair[1].start_ps >= pair[0].end_ps,
                        "{pair:?}"
                    );
                }
                // At most the two ranges that were open at the stop are truncated.
                let truncated = row
                    .events
                    .iter()
                    .filter(|event| event.stat("truncated").is_some());
                assert!(truncated.count() <= 2);
            }
            for warning in &space.warnings {
                assert!(warning.contains("opened before the session"), "{warning}");
            }
        }
        stop_all.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_forked_child_starts_clean_and_the_parent_s_session_goes_on() {
    let _one = one_at_a_time();
    let mut child_said = 0;
    let space = trace(|| {
        push("parent");
        // SAFETY: the child calls nothing that another of the parent's threads could have locked,
        // and leaves by _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            pop();
            let fresh = std::panic::catch_unwind(|| {
                let space = trace(|| {
                    push("child");
                    pop();
                });
                let row = the_row(&space);
                row.labels() == ["child"] && row.id == i64::from(std::process::id())
            });
            // SAFETY: ends the child.
            unsafe { libc::_exit(if fresh.unwrap_or(false) { 42 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        child_said = libc::WEXITSTATUS(status);
        pop();
    });
    assert_eq!(child_said, 42);
    assert_eq!(the_row(&space).labels(), ["parent"]);
}
