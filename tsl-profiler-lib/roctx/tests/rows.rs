//! Rows of a session in which a program annotates itself, in Rust and through `tracing`.

#![allow(missing_docs)]

use roctx::{LocalRange, Range, encode, mark};
use std::fmt;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use tracing::{error, info, info_span, warn};
use tracing_subscriber::prelude::*;
use xplane_schema::proto::{XLine, XPlane, x_event, x_stat};
use xprof_roctx_session::{CaptureSession, SessionOptions};

/// An event: its name, and its start and end in ps.
#[derive(Debug)]
struct Row {
    name: String,
    events: Vec<(String, u64, u64)>,
}

impl Row {
    fn of(plane: &XPlane, line: &XLine) -> Self {
        let events = line.events.iter().map(|event| {
            let Some(x_event::Data::OffsetPs(start)) = event.data else {
                panic!("an event without a time");
            };
            let name = plane.event_metadata[&event.metadata_id].name.clone();
            (name, start as u64, (start + event.duration_ps) as u64)
        });
        Self {
            name: line.name.clone(),
            events: events.collect(),
        }
    }

    fn labels(&self) -> Vec<&str> {
        self.events.iter().map(|(name, ..)| name.as_str()).collect()
    }

    fn span(&self, label: &str) -> (u64, u64) {
        let event = self.events.iter().find(|(name, ..)| name == label);
        event.map(|(_, start, end)| (*start, *end)).unwrap()
    }
}

/// The plane of a session around `work`.
fn plane(work: impl FnOnce()) -> XPlane {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let session = CaptureSession::start(SessionOptions::default()).unwrap();
    work();
    let mut planes = session.stop().unwrap().space.planes;
    let index = planes.iter().position(|plane| plane.name == "/host:CPU");
    planes.swap_remove(index.expect("something was annotated"))
}

/// Its ROCTX rows, in the order in which viewers show them.
fn rows(work: impl FnOnce()) -> Vec<Row> {
    let plane = plane(work);
    let roctx = plane
        .lines
        .iter()
        .filter(|line| line.name.contains("ROCTX"));
    roctx.map(|line| Row::of(&plane, line)).collect()
}

/// The only row, of the thread that runs `work` with this layer installed.
fn traced(layer: roctx::RoctxLayer, work: impl FnOnce()) -> Row {
    let mut rows = rows(|| {
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    });
    assert_eq!(rows.len(), 1, "{rows:#?}");
    rows.remove(0)
}

#[test]
fn ranges_marks_and_names_are_rows() {
    let rows = rows(|| {
        let worker = thread::spawn(|| {
            roctx::name_current_thread("loader");
            let _outer = LocalRange::new("outer");
            let _inner = LocalRange::with(|| encode("inner", &[("shard", &3)]));
            mark("here");
            Range::new("transfer")
        });
        let transfer = worker.join().unwrap();
        assert!(transfer.id().is_some());
        let other = Range::new("other");
        drop(transfer);
        drop(other);
    });
    let [first, second, thread] = &rows[..] else {
        panic!("{rows:#?}");
    };
    assert!(thread.name.ends_with(" loader"), "{}", thread.name);
    assert_eq!(thread.labels(), ["outer", "inner#shard=3#", "here"]);
    assert_eq!(
        (first.name.as_str(), first.labels()),
        ("ROCTX Async/0", vec!["transfer"])
    );
    assert_eq!(
        (second.name.as_str(), second.labels()),
        ("ROCTX Async/1", vec!["other"])
    );
}

#[test]
fn nothing_is_recorded_between_pause_and_resume() {
    let rows = rows(|| {
        mark("before");
        roctx::pause();
        mark("meanwhile");
        roctx::resume();
        mark("after");
    });
    let thread = rows
        .iter()
        .find(|row| row.name.starts_with("ROCTX Threads/"));
    let labels = thread.unwrap().labels();
    assert!(
        labels.contains(&"before") && labels.contains(&"after"),
        "{labels:?}"
    );
    assert!(!labels.contains(&"meanwhile"), "{labels:?}");
}

#[test]
fn spans_are_ranges_and_events_are_marks_with_their_fields() {
    let row = traced(roctx::layer(), || {
        let step = info_span!(
            "step",
            number = 3,
            kind = "train, warm",
            late = tracing::field::Empty
        );
        step.in_scope(|| {
            info_span!("plain").in_scope(|| warn!(queue = 12, "the loader is late"));
            info!(name: "named", answer = ?Some(42));
            error!("issue #12");
        });
        step.record("late", true);
        step.record("number", 4);
        step.in_scope(|| error!(number = 12, "issue #12"));
    });
    assert_eq!(
        row.labels(),
        [
            "step#number=3,kind=\"train, warm\"#",
            "plain",
            "the loader is late#queue=12#",
            "named#answer=Some(42)#",
            "issue #12",
            "step#number=4,kind=\"train, warm\",late=true#",
            "issue \u{ff03}12#number=12#",
        ]
    );
    let (start, end) = row.span("plain");
    let mark = row.span("the loader is late#queue=12#");
    assert!(start <= mark.0 && mark.1 <= end && mark.0 == mark.1);
}

#[test]
fn the_parts_of_a_label_are_what_viewers_show() {
    let plane = plane(|| {
        let layer = tracing_subscriber::registry().with(roctx::layer());
        tracing::subscriber::with_default(layer, || {
            info_span!("load", shard = 3, file = "a, b").in_scope(|| {});
        });
    });
    let whole = "load#shard=3,file=\"a, b\"#";
    let mut metadata = plane.event_metadata.values();
    let metadata = metadata.find(|metadata| metadata.name == whole).unwrap();
    assert_eq!(metadata.display_name, "load");
    let text = |id| plane.stat_metadata[&id].name.as_str();
    let stats: Vec<_> = metadata
        .stats
        .iter()
        .map(|stat| match stat.value.as_ref().unwrap() {
            x_stat::Value::Int64Value(number) => (text(stat.metadata_id), number.to_string()),
            x_stat::Value::RefValue(id) => (text(stat.metadata_id), text(*id as i64).to_owned()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [("shard", "3".to_owned()), ("file", "\"a, b\"".to_owned())];
    assert_eq!(stats, expected);
}

#[test]
fn spans_that_do_not_nest_become_ranges_that_do() {
    let row = traced(roctx::layer(), || {
        let first = info_span!("first").entered();
        let second = info_span!("second").entered();
        drop(first);
        mark("the second goes on");
        drop(second);
        mark("both are over");
    });
    let (first, second) = (row.span("first"), row.span("second"));
    let (during, after) = (row.span("the second goes on"), row.span("both are over"));
    assert!(first.0 <= second.0 && second.1 <= first.1);
    assert!(during.0 <= second.1 && first.1 <= after.0);
}

#[test]
fn a_span_entered_twice_is_two_ranges_and_on_each_thread_its_own() {
    let rows = rows(|| {
        let subscriber = tracing_subscriber::registry().with(roctx::layer());
        let dispatch = tracing::Dispatch::new(subscriber);
        tracing::dispatcher::with_default(&dispatch, || {
            let span = info_span!("shared");
            span.in_scope(|| span.in_scope(|| {}));
            let (entered, wait) = mpsc::channel();
            let other = thread::spawn({
                let (span, dispatch) = (span.clone(), dispatch.clone());
                move || {
                    tracing::dispatcher::with_default(&dispatch, || {
                        let inside = span.entered();
                        entered.send(()).unwrap();
                        drop(inside);
                    });
                }
            });
            let _inside = span.enter();
            wait.recv().unwrap();
            other.join().unwrap();
        });
    });
    let mut labels: Vec<_> = rows.iter().map(Row::labels).collect();
    labels.sort_by_key(Vec::len);
    assert_eq!(labels, [vec!["shared"], vec!["shared"; 3]]);
    // All are closed: none has been cut by the session's end, so the next session is empty.
    let next = self::rows(|| mark("alone"));
    assert_eq!(next[0].labels(), ["alone"]);
}

#[test]
fn an_async_span_is_one_range_from_creation_to_close() {
    let rows = rows(|| {
        let layer = roctx::layer().with_async_spans(|span| span.target() == "server");
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let by_field = info_span!("request", id = 17, roctx.async = true);
            let by_target = info_span!(target: "server", "connection");
            let neither = info_span!(target: "server", "poll", roctx.async = false);
            for _ in 0..2 {
                by_field.in_scope(|| by_target.in_scope(|| neither.in_scope(|| {})));
            }
            thread::spawn(move || drop(by_field)).join().unwrap();
        });
    });
    let [first, second, thread] = &rows[..] else {
        panic!("{rows:#?}");
    };
    assert_eq!(thread.labels(), ["poll", "poll"]);
    assert_eq!(first.labels(), ["request#id=17#"]);
    assert_eq!(second.labels(), ["connection"]);
    let polls = (thread.events[0].1, thread.events[1].2);
    for lane in [first, second] {
        let (_, start, end) = &lane.events[0];
        assert!(*start <= polls.0 && polls.1 <= *end, "{rows:#?}");
    }
}

#[test]
fn events_can_be_left_out() {
    let row = traced(roctx::layer().with_events(false), || {
        info_span!("range").in_scope(|| info!("not a mark"));
    });
    assert_eq!(row.labels(), ["range"]);
}

/// A value whose own formatting is traced.
struct Traced;

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        info_span!("formatting").in_scope(|| info!("inside"));
        f.write_str("traced")
    }
}

#[test]
fn what_the_layer_itself_causes_is_not_annotated() {
    let row = traced(roctx::layer(), || {
        let span = info_span!("span", value = ?Traced, later = tracing::field::Empty);
        span.record("later", tracing::field::debug(Traced));
        span.in_scope(|| info!(value = ?Traced, "event"));
        mark("after");
    });
    assert_eq!(
        row.labels(),
        [
            "span#value=traced,later=traced#",
            "event#value=traced#",
            "after"
        ]
    );
}

#[test]
fn a_panic_in_a_field_leaves_the_layer_working() {
    struct Panics;
    impl fmt::Debug for Panics {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("while formatting")
        }
    }
    let row = traced(roctx::layer(), || {
        let unwound = std::panic::catch_unwind(|| info!(value = ?Panics, "lost"));
        assert!(unwound.is_err());
        info!("kept");
    });
    assert_eq!(row.labels(), ["kept"]);
}
