//! What each ROCTX call becomes in the trace.

#![allow(missing_docs)]

mod common;

use common::*;
use embedded_roctx::*;
use rocm_tracer::clock::{ClockSource, boottime_ns};
use rocm_tracer::{CarrierPlane, CollectorOptions, EnableError, RocmTracer, RocmTracerOptions};
use std::ptr;

#[test]
fn marker_callback_push_pop_emits_roctx_range() {
    let _one = one_at_a_time();
    let mut times = [0; 4];
    let space = trace(|| {
        times[0] = boottime_ns().unwrap();
        push("step");
        times[1] = boottime_ns().unwrap();
        times[2] = boottime_ns().unwrap();
        pop();
        times[3] = boottime_ns().unwrap();
    });
    let row = the_row(&space);
    assert_eq!(row.name, format!("ROCTX Threads/{}", tid()));
    assert_eq!(row.id, tid() as i64);
    assert_eq!(row.labels(), ["step"]);
    assert_eq!(row.events[0].stat("nvtx_range"), Some("step"));
    assert_eq!(space.warnings, Vec::<String>::new());
    // The session's start is not known here, but what was measured inside the range is shorter
    // than it, and what was measured around it is longer.
    let duration = row.events[0].end_ps - row.events[0].start_ps;
    assert!(duration >= (times[2] - times[1]) as i64 * 1000);
    assert!(duration <= (times[3] - times[0]) as i64 * 1000);
}

#[test]
fn a_marker_lies_at_its_wall_clock_time() {
    let _one = one_at_a_time();
    let wall = || {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_nanos() as i64
    };
    let (mut before, mut after) = (0, 0);
    let space = trace(|| {
        before = wall();
        mark("here");
        after = wall();
    });
    let row = the_row(&space);
    let at = row.timestamp_ns + row.events[0].start_ps / 1000;
    // The anchors bound the error of the two clocks' relation.
    assert!(at > before - 50_000, "{at} {before}");
    assert!(at < after + 50_000, "{at} {after}");
}

#[test]
fn the_counter_and_the_boot_clock_time_alike() {
    let _one = one_at_a_time();
    let mut lengths = Vec::new();
    for clock in [ClockSource::Fastest, ClockSource::Boottime] {
        let options = RocmTracerOptions {
            clock,
            ..Default::default()
        };
        let mut spent = 0;
        let captured = capture(options, || {
            push("work");
            let start = boottime_ns().unwrap();
            while boottime_ns().unwrap() < start + 2_000_000 {}
            spent = boottime_ns().unwrap() - start;
            pop();
        });
        let row = the_row(&export(captured, Default::default()));
        let length = row.events[0].end_ps - row.events[0].start_ps;
        lengths.push((length / 1000 - spent as i64).abs());
    }
    // What lies between reading one clock and the other is far less than the range.
    assert!(
        lengths.iter().all(|&difference| difference < 100_000),
        "{lengths:?} ns"
    );
}

#[test]
fn nested_ranges_enclose_each_other() {
    let _one = one_at_a_time();
    let space = trace(|| {
        push("epoch");
        push("step");
        push("forward");
        pop();
        push("backward");
        pop();
        pop();
        pop();
    });
    let row = the_row(&space);
    assert_eq!(row.labels(), ["epoch", "step", "forward", "backward"]);
    let [epoch, step, forward, backward] = &row.events[..] else {
        panic!()
    };
    assert!(epoch.start_ps <= step.start_ps && step.end_ps <= epoch.end_ps);
    assert!(step.start_ps <= forward.start_ps && forward.end_ps <= backward.start_ps);
    assert!(backward.end_ps <= step.end_ps);
}

#[test]
fn marker_callback_mark_emits_instantaneous_event() {
    let _one = one_at_a_time();
    let space = trace(|| {
        mark("checkpoint");
        // SAFETY: null and a literal.
        unsafe {
            roctxMarkA(ptr::null());
            roctxMarkA(c"".as_ptr());
        }
    });
    let row = the_row(&space);
    assert_eq!(row.labels(), ["checkpoint"]);
    assert_eq!(row.events[0].start_ps, row.events[0].end_ps);
    assert_eq!(
        space.warnings,
        ["ROCTX: 2 markers dropped: null or empty label"]
    );
}

#[test]
fn marker_callback_unmatched_pop_is_ignored() {
    let _one = one_at_a_time();
    let space = trace(|| {
        assert_eq!(pop(), -1);
        push("after");
        pop();
        assert_eq!(pop(), -1);
    });
    assert_eq!(the_row(&space).labels(), ["after"]);
    assert_eq!(
        space.warnings,
        ["ROCTX: 2 markers dropped: pop without an open range on its thread"]
    );
}

#[test]
fn marker_callback_null_message_safely_ignored() {
    let _one = one_at_a_time();
    let space = trace(|| {
        push("outer");
        // SAFETY: null and a literal.
        unsafe {
            assert_eq!(roctxRangePushA(ptr::null()), 1);
            assert_eq!(roctxRangePushA(c"".as_ptr()), 2);
        }
        push("inner");
        pop();
        pop();
        pop();
        pop();
    });
    let row = the_row(&space);
    assert_eq!(row.labels(), ["outer", "inner"]);
    assert!(row.events[0].end_ps >= row.events[1].end_ps);
    assert_eq!(
        space.warnings,
        ["ROCTX: 2 markers dropped: null or empty label"]
    );
}

#[test]
fn labels_are_bytes_kept_as_they_are() {
    let _one = one_at_a_time();
    let long = "x".repeat(64 << 10);
    let space = trace(|| {
        for label in [
            "train::step#step_num=3#".as_bytes(),
            b"_ZN3foo3barEv",
            b"\xff\xfe not \xc3( UTF-8",
            "名前".as_bytes(),
            long.as_bytes(),
            b"%s %n {}",
        ] {
            push_bytes(label);
            pop();
        }
    });
    assert_eq!(
        the_row(&space).labels(),
        [
            "train::step#step_num=3#",
            "_ZN3foo3barEv",
            "\u{fffd}\u{fffd} not \u{fffd}( UTF-8",
            "名前",
            long.as_str(),
            "%s %n {}",
        ]
    );
    assert_eq!(space.warnings, Vec::<String>::new());
}

#[test]
fn a_label_past_the_limit_is_cut_visibly_between_characters() {
    let _one = one_at_a_time();
    let long = "é".repeat(512 << 10); // 1 MiB of two-byte characters
    let space = trace(|| {
        push(&long);
        pop();
    });
    let row = the_row(&space);
    let label = &row.events[0].name;
    assert!(label.ends_with("é...[truncated]"), "{}", label.len());
    // 64 KiB less the 14 bytes of the ending is even, so no character is lost to the cut.
    assert_eq!(label.len(), 64 << 10);
    assert_eq!(
        space.warnings,
        [
            "ROCTX: 1 markers have labels longer than 65536 bytes, which were cut; raise \
          max_label_bytes to keep more"
        ]
    );
}

#[test]
fn start_and_stop_on_different_threads_is_one_range_on_a_lane() {
    let _one = one_at_a_time();
    let (mut stopper, mut second) = (0, 0);
    let space = trace(|| {
        let read = start("read");
        second = start("decode");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                stop(read);
                stopper = tid();
            });
        });
        stop(second);
        stop(second);
        stop(987_654_321);
    });
    let rows = roctx_rows(&space);
    let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["ROCTX Async/0", "ROCTX Async/1"]);
    let read = &rows[0].events[0];
    assert_eq!(read.name, "read");
    assert_eq!(read.stat("start_thread"), Some(tid().to_string().as_str()));
    assert_eq!(read.stat("stop_thread"), Some(stopper.to_string().as_str()));
    let decode = &rows[1].events[0];
    assert_eq!(decode.name, "decode");
    assert_eq!(decode.stat("range_id"), Some(second.to_string().as_str()));
    assert_eq!(decode.stat("nvtx_range"), Some("decode"));
    assert_eq!(
        space.warnings,
        ["ROCTX: 2 markers dropped: stop of a range id that was not open in this session"]
    );
}

#[test]
fn ranges_open_when_the_session_stops_extend_to_its_end() {
    let _one = one_at_a_time();
    let mut other = None;
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (ready_tx, ready) = std::sync::mpsc::channel::<()>();
    let captured = capture(RocmTracerOptions::default(), || {
        // A thread that never calls again while the session lasts.
        other = Some(std::thread::spawn(move || {
            push("waiting");
            ready_tx.send(()).unwrap();
            wait.recv().unwrap();
            pop();
        }));
        ready.recv().unwrap();
        push("outer");
        push("closed");
        pop();
        start("async");
    });
    go.send(()).unwrap();
    other.unwrap().join().unwrap();
    pop();
    let span = captured.span();
    let length_ps = ((span.length_ns()) * 1000) as i64;
    let space = export(captured, Default::default());
    let mut open: Vec<_> = roctx_rows(&space)
        .into_iter()
        .flat_map(|row| row.events)
        .filter(|event| event.stat("truncated") == Some("1"))
        .collect();
    open.sort_by(|a, b| a.name.cmp(&b.name));
    let names: Vec<_> = open.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["async", "outer", "waiting"]);
    for event in &open {
        assert_eq!(event.end_ps, length_ps);
    }
}

#[test]
fn names_given_before_the_session_reach_the_row() {
    let _one = one_at_a_time();
    let space = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                // The listener attaches to this copy of ROCTX at its first session.
                trace(|| ());
                // SAFETY: literals are NUL-terminated.
                unsafe { roctxNameOsThread(c"loader".as_ptr()) };
                trace(|| {
                    push("read");
                    pop();
                })
            })
            .join()
            .unwrap()
    });
    let row = the_row(&space);
    assert_eq!(row.name, format!("ROCTX Threads/{} loader", row.id));
}

#[test]
fn what_is_made_while_paused_is_not_recorded_and_stacks_stay_whole() {
    let _one = one_at_a_time();
    let space = trace(|| {
        push("outer");
        // SAFETY: takes any thread id.
        unsafe { roctxProfilerPause(0) };
        let hidden = start("hidden");
        stop(hidden);
        push("hidden");
        mark("hidden");
        // Pauses do not stack: one resume ends two of them.
        // SAFETY: as above.
        unsafe { roctxProfilerPause(0) };
        // SAFETY: as above.
        unsafe { roctxProfilerResume(0) };
        push("inner");
        pop();
        pop(); // hidden
        pop();
    });
    assert_eq!(the_row(&space).labels(), ["outer", "inner"]);
    assert_eq!(
        space.warnings,
        ["ROCTX: 3 markers dropped: made while roctxProfilerPause was in force"]
    );
}

#[test]
fn a_pause_ends_with_its_session() {
    let _one = one_at_a_time();
    trace(|| {
        // SAFETY: takes any thread id.
        unsafe { roctxProfilerPause(0) };
    });
    let space = trace(|| mark("next"));
    assert_eq!(the_row(&space).labels(), ["next"]);
}

#[test]
fn disable_isolates_next_session() {
    let _one = one_at_a_time();
    let first = trace(|| {
        push("first, closed");
        pop();
        push("opened in the first");
    });
    pop(); // closed between the sessions
    push("opened between");
    let second = trace(|| {
        push("second");
        pop();
        pop(); // closes what was opened between
    });
    let third = trace(|| ());
    assert_eq!(
        the_row(&first).labels(),
        ["first, closed", "opened in the first"]
    );
    assert_eq!(the_row(&second).labels(), ["second"]);
    assert_eq!(
        second.warnings,
        ["ROCTX: 1 markers dropped: range opened before the session and closed in it"]
    );
    assert_eq!(roctx_rows(&third), []);
    assert_eq!(third.warnings, Vec::<String>::new());
}

#[test]
fn a_second_enable_is_refused_and_the_first_goes_on() {
    let _one = one_at_a_time();
    let tracer = RocmTracer::singleton();
    assert!(tracer.is_available());
    assert!(tracer.disable().is_err());
    let space = trace(|| {
        assert!(!tracer.is_available());
        push("kept");
        let error = tracer.enable(RocmTracerOptions::default()).unwrap_err();
        assert!(matches!(error, EnableError::AlreadyRunning));
        assert!(error.to_string().contains("already running"));
        pop();
    });
    assert_eq!(the_row(&space).labels(), ["kept"]);
    assert!(tracer.disable().is_err());
    assert!(tracer.is_available());
}

#[test]
fn a_session_enables_the_annotation_stack() {
    let _one = one_at_a_time();
    use tsl_profiler_lib::AnnotationStack;
    assert!(!AnnotationStack::is_enabled());
    trace(|| assert!(AnnotationStack::is_enabled()));
    assert!(!AnnotationStack::is_enabled());
}

#[test]
fn a_plane_for_a_stock_jaxlib_has_final_ids_and_carries_the_warnings() {
    let _one = one_at_a_time();
    for (carrier, name) in [
        (CarrierPlane::NvtxCupti, "/host:NVTX-CUPTI"),
        (CarrierPlane::HostCpu, "/host:CPU"),
    ] {
        let options = CollectorOptions {
            carrier,
            ..Default::default()
        };
        let captured = capture(RocmTracerOptions::default(), || {
            push("step");
            pop();
            pop();
        });
        let length_ps = (captured.span().length_ns() * 1000) as i64;
        let space = export(captured, options);
        let [plane] = space.planes.as_slice() else {
            panic!("{:?}", space.planes)
        };
        assert_eq!(plane.name, name);
        let [markers, warnings] = &rows(plane)[..] else {
            panic!("{plane:?}")
        };
        assert_eq!(
            (markers.id, warnings.id),
            ((2 << 32) + (1 << 30), (2 << 32) + (1 << 30) + 1)
        );
        assert_eq!(warnings.name, "ROCTX Warnings");
        assert_eq!(warnings.labels(), space.warnings);
        assert_eq!(warnings.labels().len(), 1);
        assert_eq!(warnings.events[0].start_ps, length_ps);
        // Nothing but a warning: the plane is there for it.
        let space = export(
            capture(RocmTracerOptions::default(), || {
                pop();
            }),
            options,
        );
        assert_eq!(rows(&space.planes[0])[0].labels(), space.warnings);
        assert_eq!(
            export(capture(RocmTracerOptions::default(), || ()), options).planes,
            []
        );
    }
}
