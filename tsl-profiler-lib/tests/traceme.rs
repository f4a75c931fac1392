//! The recorder of host events: what gets into which session, from which thread.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use support::{Turn, Worker};
use tsl_profiler_lib::TraceMe;
use tsl_profiler_lib::traceme::{
    ActivityId, AlreadyRecording, Event, Level, Recording, TraceMeRecorder,
};

fn start() {
    TraceMeRecorder::start(Level::INFO).unwrap();
}

fn stop() -> Recording {
    TraceMeRecorder::stop().expect("a session records")
}

fn text(event: &Event) -> String {
    String::from_utf8(event.name.clone()).unwrap()
}

/// The names of all events, thread by thread.
fn names(recording: &Recording) -> Vec<Vec<String>> {
    let names =
        |thread: &tsl_profiler_lib::traceme::ThreadEvents| thread.events.iter().map(text).collect();
    recording.threads.iter().map(names).collect()
}

fn boottime_ns() -> u64 {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let seconds: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    (seconds * 1e9) as u64
}

#[test]
fn only_what_is_inside_the_session_is_recorded() {
    let _turn = Turn::new(false);
    drop(TraceMe::new("before"));
    assert!(!TraceMe::is_active(Level::CRITICAL));
    start();
    drop(TraceMe::new("during1"));
    drop(TraceMe::with(|| format!("during{}", 2)));
    let recording = stop();
    drop(TraceMe::new("after"));
    assert_eq!(names(&recording), [["during1", "during2"]]);
    assert_eq!(recording.open_at_stop, 0);
    start();
    assert_eq!(stop(), Recording::default(), "nothing left from before");
}

#[test]
fn starting_twice_and_stopping_twice() {
    let _turn = Turn::new(false);
    assert_eq!(TraceMeRecorder::stop(), None);
    start();
    assert_eq!(
        TraceMeRecorder::start(Level::VERBOSE),
        Err(AlreadyRecording)
    );
    TraceMe::instant(Level::VERBOSE, || "the first session's level holds");
    drop(TraceMe::new("kept"));
    assert_eq!(names(&stop()), [["kept"]]);
    assert_eq!(TraceMeRecorder::stop(), None);
    start();
    stop();
}

#[test]
fn times_nest_and_are_on_the_boot_clock() {
    let _turn = Turn::new(false);
    start();
    let before = boottime_ns();
    {
        let _outer = TraceMe::new("outer");
        drop(TraceMe::new("inner"));
        TraceMe::instant(Level::CRITICAL, || "instant");
    }
    let after = boottime_ns();
    let recording = stop();
    let [inner, instant, outer] = &recording.threads[0].events[..] else {
        panic!("{recording:?}");
    };
    assert_eq!(
        [inner, instant, outer].map(text),
        ["inner", "instant", "outer"]
    );
    assert!(outer.start_ns <= inner.start_ns && inner.start_ns <= inner.end_ns);
    assert!(inner.end_ns <= instant.start_ns && instant.end_ns <= outer.end_ns);
    assert_eq!(instant.start_ns, instant.end_ns);
    // The kernel's file is in steps of 10 ms.
    assert!(before <= outer.start_ns + 10_000_000 && outer.end_ns <= after + 10_000_000);
}

#[test]
fn levels() {
    let _turn = Turn::new(false);
    let all = || {
        for level in [Level::CRITICAL, Level::INFO, Level::VERBOSE, Level::new(9)] {
            drop(TraceMe::with_level(level, || format!("{level:?}")));
        }
    };
    TraceMeRecorder::start(Level::INFO).unwrap();
    assert!(TraceMe::is_active(Level::INFO) && !TraceMe::is_active(Level::VERBOSE));
    let skipped = TraceMe::with_level(Level::VERBOSE, || -> &str { unreachable!("not recorded") });
    assert!(!skipped.is_recorded());
    all();
    assert_eq!(names(&stop()), [["Level(1)", "Level(2)"]]);
    TraceMeRecorder::start(Level::new(0)).unwrap();
    all();
    assert_eq!(names(&stop()), [["Level(1)"]]);
    TraceMeRecorder::start(Level::new(u8::MAX)).unwrap();
    all();
    assert_eq!(names(&stop())[0].len(), 4);
}

#[test]
fn open_at_stop_is_counted_and_never_reaches_the_next_session() {
    let _turn = Turn::new(false);
    start();
    let mut open = TraceMe::new("open");
    let activity = TraceMe::activity_start(Level::CRITICAL, || "activity");
    drop(TraceMe::new("ended"));
    let first = stop();
    assert_eq!(names(&first), [["ended"]]);
    assert_eq!(first.open_at_stop, 2);

    start();
    open.append_metadata(|| "#k=v#");
    open.stop();
    TraceMe::activity_end(activity);
    drop(TraceMe::new("second"));
    let second = stop();
    assert_eq!(names(&second), [["second"]]);
    assert_eq!(second.open_at_stop, 0);

    let outside = TraceMe::new("begun while nothing records");
    start();
    drop(outside);
    assert_eq!(stop(), Recording::default());
}

#[test]
fn stop_counts_once_and_metadata_joins_the_name() {
    let _turn = Turn::new(false);
    start();
    let mut event = TraceMe::new("step#step_num=1#");
    event.append_metadata(|| "#_r=1#");
    event.append_metadata(String::new);
    event.stop();
    event.append_metadata(|| -> &str { unreachable!("it has been recorded") });
    event.stop();
    drop(event);
    assert_eq!(names(&stop()), [["step#step_num=1,_r=1#"]]);
}

#[test]
fn names_are_bytes() {
    let _turn = Turn::new(false);
    start();
    let long = vec![0xff; 1 << 20];
    drop(TraceMe::new(&b"a\0\xfe"[..]));
    drop(TraceMe::new(&long));
    drop(TraceMe::new(""));
    let recording = stop();
    let names: Vec<&[u8]> = recording.threads[0]
        .events
        .iter()
        .map(|e| &e.name[..])
        .collect();
    assert!(names == [&b"a\0\xfe"[..], &long, b""]);
}

#[test]
fn activities_pair_up_across_threads() {
    let _turn = Turn::new(false);
    let other = Worker::new();
    assert_eq!(
        TraceMe::activity_start(Level::CRITICAL, || -> &str { unreachable!("idle") }),
        ActivityId::UNTRACED
    );
    start();
    let here = TraceMe::activity_start(Level::CRITICAL, || "ended here");
    let there = TraceMe::activity_start(Level::INFO, || "ended there");
    let back = other.run(|| TraceMe::activity_start(Level::CRITICAL, || "begun there"));
    TraceMe::activity_start(Level::CRITICAL, || "never ended");
    other.run(move || TraceMe::activity_end(there));
    TraceMe::activity_end(here);
    TraceMe::activity_end(here); // twice: the second has no start any more
    TraceMe::activity_end(back);
    TraceMe::activity_end(ActivityId::UNTRACED);
    let recording = stop();
    let mut names = names(&recording);
    names.sort();
    assert_eq!(
        names,
        [&["ended here", "begun there"][..], &["ended there"]]
    );
    assert_eq!(recording.open_at_stop, 1);
    for event in recording.threads.iter().flat_map(|thread| &thread.events) {
        assert!(event.start_ns <= event.end_ns);
    }
}

#[test]
fn threads_have_their_ids_and_names_and_keep_their_events_after_they_end() {
    let _turn = Turn::new(false);
    start();
    let ended = |name: &'static str, label: &'static str| {
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                drop(TraceMe::new(label));
                std::fs::read_link("/proc/thread-self").unwrap()
            });
        let link = thread.unwrap().join().unwrap();
        link.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .parse::<i64>()
            .unwrap()
    };
    let first = ended("loader-1", "from the first");
    let second = ended("a name that is too long for the kernel", "from the second");
    let mut moved = TraceMe::new("begun here");
    let third = std::thread::Builder::new().name("third".into());
    third.spawn(move || moved.stop()).unwrap().join().unwrap();
    let recording = stop();
    let threads: Vec<_> = recording
        .threads
        .iter()
        .map(|thread| (thread.name.as_str(), text(&thread.events[0])))
        .collect();
    assert_eq!(
        threads,
        [
            ("loader-1", "from the first".into()),
            ("a name that is ", "from the second".into()),
            ("third", "begun here".into()),
        ]
    );
    assert_eq!(recording.threads[0].tid, first);
    assert_eq!(recording.threads[1].tid, second);
    assert_eq!(recording.open_at_stop, 0);
}

#[test]
fn what_ends_with_its_thread_is_recorded() {
    struct Late(#[allow(dead_code)] TraceMe);
    impl Drop for Late {
        fn drop(&mut self) {
            drop(TraceMe::new("made while the thread ends"));
        }
    }
    thread_local! {
        static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
    }
    let _turn = Turn::new(false);
    start();
    std::thread::spawn(|| {
        LATE.set(None); // its destructor is registered first, so it runs after the recorder's
        LATE.set(Some(Late(TraceMe::new("as long as the thread"))));
    })
    .join()
    .unwrap();
    let recording = stop();
    let names: BTreeSet<String> = names(&recording).concat().into_iter().collect();
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        ["as long as the thread", "made while the thread ends"]
    );
    assert_eq!(recording.open_at_stop, 0);
}

/// TSL's Multithreaded test: threads record while sessions come and go. Every session has an
/// unbroken run of each thread's events, no event is in two, and none is lost but at the edges,
/// where it is counted.
#[test]
fn sessions_over_threads_that_never_stop() {
    const THREADS: usize = 4;
    const SESSIONS: usize = 10;
    let _turn = Turn::new(false);
    let done = Arc::new(AtomicBool::new(false));
    let ready = Arc::new(Barrier::new(THREADS + 1));
    let counts: Arc<Vec<AtomicU64>> = Arc::new((0..THREADS).map(|_| AtomicU64::new(0)).collect());
    let threads: Vec<_> = (0..THREADS)
        .map(|index| {
            let (done, ready, counts) = (done.clone(), ready.clone(), counts.clone());
            std::thread::spawn(move || {
                ready.wait();
                let mut next = 0u64;
                while !done.load(Ordering::Relaxed) {
                    let event = TraceMe::with(|| {
                        next += 1;
                        format!("{index}:{next}")
                    });
                    if event.is_recorded() {
                        drop(event);
                        counts[index].fetch_add(1, Ordering::Release);
                    } else {
                        std::thread::yield_now();
                    }
                }
                next
            })
        })
        .collect();
    ready.wait();
    let mut seen: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    let mut open = 0;
    for _ in 0..SESSIONS {
        let before: Vec<u64> = counts
            .iter()
            .map(|count| count.load(Ordering::Acquire))
            .collect();
        start();
        while counts
            .iter()
            .zip(&before)
            .any(|(count, before)| count.load(Ordering::Acquire) < before + 3)
        {
            std::thread::yield_now();
        }
        let recording = stop();
        open += recording.open_at_stop;
        assert_eq!(recording.threads.len(), THREADS);
        for thread in &recording.threads {
            let ids: Vec<(usize, u64)> = thread
                .events
                .iter()
                .map(|event| {
                    let name = text(event);
                    let (thread, id) = name.split_once(':').unwrap();
                    (thread.parse().unwrap(), id.parse().unwrap())
                })
                .collect();
            assert!(
                ids.windows(2)
                    .all(|pair| { pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1 })
            );
            for (thread, id) in ids {
                assert!(
                    seen.entry(thread).or_default().insert(id),
                    "{thread}:{id} came twice"
                );
            }
        }
    }
    done.store(true, Ordering::Relaxed);
    let begun: u64 = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    let recorded: u64 = seen.values().map(|ids| ids.len() as u64).sum();
    // One that begins while the session is being stopped may be counted nowhere: a thread a stop.
    let uncounted = begun - recorded - open;
    assert!(
        uncounted <= (SESSIONS * THREADS) as u64,
        "{begun} {recorded} {open}"
    );
}
