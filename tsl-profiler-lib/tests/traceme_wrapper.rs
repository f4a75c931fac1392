//! Annotations that objects own: whatever the order and the thread in which they end, each ends
//! its own range and no other.

mod support;

use proptest::prelude::*;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use support::{Turn, Worker, annotation, expected_ranges, is_child, pass_without_ranges, ranges};
use tsl_profiler_lib::scoped_annotation::{pop_annotation, push_annotation};
use tsl_profiler_lib::traceme::{Level, TraceMeRecorder};
use tsl_profiler_lib::{AnnotationStack, ScopedAnnotation, TraceMeWrapper, nvtx_utils};

/// What is open on this thread, seen from both ends.
#[track_caller]
fn open(labels: &[&str]) {
    assert_eq!(annotation(), labels.join("::"));
    assert_eq!(ranges(), expected_ranges(labels));
}

/// Runs a test here, and in a process where ranges are off.
fn in_both_modes(test: &str, run: impl FnOnce()) {
    {
        let _turn = Turn::new(true);
        run();
        open(&[]);
    }
    if !is_child() {
        pass_without_ranges(test);
    }
}

#[test]
fn in_order() {
    in_both_modes("in_order", || {
        let outer = TraceMeWrapper::new("outer");
        open(&["outer"]);
        {
            let _inner = TraceMeWrapper::new("inner");
            open(&["outer", "inner"]);
        }
        open(&["outer"]);
        outer.stop();
        open(&[]);
    });
}

#[test]
fn stopped_twice_and_dropped() {
    in_both_modes("stopped_twice_and_dropped", || {
        let _outer = TraceMeWrapper::new("outer");
        let inner = TraceMeWrapper::new("inner");
        inner.stop();
        inner.stop();
        open(&["outer"]);
        let next = TraceMeWrapper::new("next");
        inner.stop();
        drop(inner);
        open(&["outer", "next"]);
        drop(next);
        open(&["outer"]);
    });
}

#[test]
fn out_of_order() {
    in_both_modes("out_of_order", || {
        let [a, b, c] = ["a", "b", "c"].map(TraceMeWrapper::new);
        a.stop();
        open(&["a", "b", "c"]);
        c.stop();
        open(&["a", "b"]);
        b.stop();
        open(&[]);

        let [a, b, c] = ["a", "b", "c"].map(TraceMeWrapper::new);
        drop(b);
        let d = TraceMeWrapper::new("d");
        open(&["a", "b", "c", "d"]);
        drop(c);
        drop(d);
        open(&["a"]);
        drop(a);
    });
}

#[test]
fn mixed_with_scopes() {
    in_both_modes("mixed_with_scopes", || {
        let object = TraceMeWrapper::new("object");
        {
            let _scope = ScopedAnnotation::new("scope");
            object.stop();
            open(&["object", "scope"]);
        }
        open(&[]);

        let scope = ScopedAnnotation::new("scope");
        let object = TraceMeWrapper::new("object");
        drop(scope);
        open(&["scope", "object"]);
        let next = ScopedAnnotation::new("next");
        open(&["scope", "object", "next"]);
        drop(next);
        object.stop();
        open(&[]);

        // Several scopes that ended beneath objects.
        push_annotation("s1");
        let a = TraceMeWrapper::new("a");
        push_annotation("s2");
        let b = TraceMeWrapper::new("b");
        pop_annotation();
        pop_annotation();
        open(&["s1", "a", "s2", "b"]);
        pop_annotation(); // nothing left but what objects own
        open(&["s1", "a", "s2", "b"]);
        drop(a);
        drop(b);
        open(&[]);
    });
}

#[test]
fn stopped_on_another_thread() {
    in_both_modes("stopped_on_another_thread", || {
        let other = Worker::new();
        let object = Arc::new(TraceMeWrapper::new("object"));
        let also = Arc::clone(&object);
        other.run(move || {
            let theirs = TraceMeWrapper::new("theirs");
            also.stop();
            open(&["theirs"]);
            drop(theirs);
            open(&[]);
        });
        open(&["object"]); // until this thread annotates again
        let next = TraceMeWrapper::new("next");
        open(&["next"]);
        object.stop();
        drop(object);
        open(&["next"]);
        let also = next;
        other.run(move || drop(also));
        open(&["next"]);
        drop(ScopedAnnotation::new("scope"));
        open(&[]);

        // A scope that encloses an object which ended elsewhere pops its own range.
        let scope = ScopedAnnotation::new("scope");
        let object = TraceMeWrapper::new("object");
        other.run(move || drop(object));
        open(&["scope", "object"]);
        drop(scope);
        open(&[]);
    });
}

#[test]
fn dropped_after_its_thread_has_ended() {
    in_both_modes("dropped_after_its_thread_has_ended", || {
        let _mine = TraceMeWrapper::new("mine");
        let orphan = std::thread::spawn(|| TraceMeWrapper::new("orphan"))
            .join()
            .unwrap();
        orphan.stop();
        drop(orphan);
        open(&["mine"]);
    });
}

#[test]
fn dropped_while_its_thread_ends() {
    thread_local! {
        static LAST: RefCell<Option<TraceMeWrapper>> = const { RefCell::new(None) };
    }
    in_both_modes("dropped_while_its_thread_ends", || {
        for opened_first in [true, false] {
            std::thread::spawn(move || {
                let outer = opened_first.then(|| TraceMeWrapper::new("outer"));
                LAST.set(None); // registers its destructor after or before the crate's own
                LAST.set(Some(TraceMeWrapper::new("last")));
                drop(outer);
            })
            .join()
            .unwrap();
        }
    });
}

#[test]
fn many_nested() {
    in_both_modes("many_nested", || {
        let mut objects: Vec<_> = (0..10_000).map(|_| TraceMeWrapper::new("x")).collect();
        AnnotationStack::with(|_, ids| assert_eq!(ids.len(), 10_000));
        // Outermost first: nothing can end until the innermost does.
        let innermost = objects.pop().unwrap();
        objects.into_iter().for_each(drop);
        AnnotationStack::with(|_, ids| assert_eq!(ids.len(), 10_000));
        drop(innermost);
    });
}

#[test]
fn ranges_that_others_popped_are_not_popped_again() {
    let _turn = Turn::new(true);
    let Some(domain) = nvtx_utils::default_profiler_domain() else {
        return;
    };
    let outer = TraceMeWrapper::new("outer");
    let inner = TraceMeWrapper::new("inner");
    nvtx_utils::range_pop(domain); // not through this crate, which would have left it alone
    open(&["outer"]);
    inner.stop();
    open(&["outer"]);
    outer.stop();
    open(&[]);
}

#[test]
fn annotations_switched_meanwhile() {
    in_both_modes("annotations_switched_meanwhile", || {
        let old = TraceMeWrapper::new("old");
        AnnotationStack::enable(false);
        let silent = TraceMeWrapper::new("silent");
        AnnotationStack::enable(true);
        let new = TraceMeWrapper::new("new");
        assert_eq!(annotation(), "new");
        silent.stop();
        old.stop();
        assert_eq!(annotation(), "new");
        assert_eq!(ranges(), expected_ranges(&["old", "silent", "new"]));
        new.stop();
    });
}

#[test]
fn metadata_and_the_host_event() {
    let _turn = Turn::new(true);
    let idle = TraceMeWrapper::new("idle");
    idle.set_metadata(|| -> &str { unreachable!("nothing is recorded") });
    drop(idle);

    TraceMeRecorder::start(Level::INFO).unwrap();
    let object = Arc::new(TraceMeWrapper::new("step#step_num=1#"));
    // What makes the metadata may touch the object itself, as Python code can.
    object.set_metadata(|| {
        object.set_metadata(|| "#inner=1#");
        "#outer=2#"
    });
    open(&["step#step_num=1#"]);
    object.stop();
    object.set_metadata(|| -> &str { unreachable!("it has been recorded") });
    object.stop();
    let recording = TraceMeRecorder::stop().unwrap();
    let names: Vec<_> = recording
        .threads
        .iter()
        .flat_map(|thread| &thread.events)
        .collect();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].name, b"step#step_num=1,inner=1,outer=2#");
    assert_eq!(recording.open_at_stop, 0);
    open(&[]);
}

#[test]
fn stopped_by_many_threads_at_once() {
    in_both_modes("stopped_by_many_threads_at_once", || {
        let _outer = TraceMeWrapper::new("outer");
        for _ in 0..200 {
            let object = TraceMeWrapper::new("object");
            let barrier = std::sync::Barrier::new(3);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        barrier.wait();
                        object.stop();
                    });
                }
                barrier.wait();
                object.stop();
            });
            drop(object);
            drop(ScopedAnnotation::new("next"));
            open(&["outer"]);
        }
    });
}

/// What two threads do, in turns.
#[derive(Clone, Debug)]
enum Step {
    Open,
    /// Of any object, opened on either thread.
    Stop(prop::sample::Index),
    Drop(prop::sample::Index),
    PushScope,
    PopScope,
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = prop_oneof![
        3 => Just(Step::Open),
        2 => any::<prop::sample::Index>().prop_map(Step::Stop),
        2 => any::<prop::sample::Index>().prop_map(Step::Drop),
        2 => Just(Step::PushScope),
        2 => Just(Step::PopScope),
    ];
    prop::collection::vec((any::<bool>(), step), 1..50)
}

/// The obvious stack: entries that are marked closed leave once they are on top and their thread
/// does something.
#[derive(Default)]
struct Model {
    stack: Vec<(String, Option<usize>)>,
}

impl Model {
    fn settle(&mut self, closed: &[bool], scopes_closed: &[bool]) {
        while let Some((label, owner)) = self.stack.last() {
            let is_closed = match owner {
                Some(object) => closed[*object],
                None => scopes_closed[label[1..].parse::<usize>().unwrap()],
            };
            if !is_closed {
                break;
            }
            self.stack.pop();
        }
    }
}

fn check(steps: Vec<(bool, Step)>) {
    let _turn = Turn::new(true);
    let threads = [Worker::new(), Worker::new()];
    let objects: Arc<Mutex<Vec<Option<TraceMeWrapper>>>> = Arc::default();
    let mut models = [Model::default(), Model::default()];
    let (mut closed, mut scopes_closed) = (Vec::new(), Vec::new());
    for (thread, step) in steps {
        let (thread, worker) = (usize::from(thread), &threads[usize::from(thread)]);
        let model = &mut models[thread];
        match step {
            Step::Open => {
                model.settle(&closed, &scopes_closed);
                let label = format!("o{}", closed.len());
                model.stack.push((label.clone(), Some(closed.len())));
                closed.push(false);
                let objects = Arc::clone(&objects);
                worker.run(move || {
                    objects
                        .lock()
                        .unwrap()
                        .push(Some(TraceMeWrapper::new(label)));
                });
            }
            Step::Stop(index) | Step::Drop(index) if closed.is_empty() => {
                let _ = index;
            }
            Step::Stop(index) => {
                let index = index.index(closed.len());
                let first = !std::mem::replace(&mut closed[index], true);
                let objects = Arc::clone(&objects);
                worker.run(move || {
                    if let Some(object) = &objects.lock().unwrap()[index] {
                        object.stop();
                    }
                });
                if first {
                    model.settle(&closed, &scopes_closed);
                }
            }
            Step::Drop(index) => {
                let index = index.index(closed.len());
                let first = !std::mem::replace(&mut closed[index], true);
                let objects = Arc::clone(&objects);
                worker.run(move || drop(objects.lock().unwrap()[index].take()));
                if first {
                    model.settle(&closed, &scopes_closed);
                }
            }
            Step::PushScope => {
                model.settle(&closed, &scopes_closed);
                let label = format!("s{}", scopes_closed.len());
                model.stack.push((label.clone(), None));
                scopes_closed.push(false);
                worker.run(move || push_annotation(&label));
            }
            Step::PopScope => {
                model.settle(&closed, &scopes_closed);
                let innermost = model.stack.iter().rev().find_map(|(label, owner)| {
                    let scope = label[1..].parse::<usize>().unwrap();
                    (owner.is_none() && !scopes_closed[scope]).then_some(scope)
                });
                if let Some(scope) = innermost {
                    scopes_closed[scope] = true;
                }
                model.settle(&closed, &scopes_closed);
                worker.run(pop_annotation);
            }
        }
        for (model, worker) in models.iter().zip(&threads) {
            let expected: Vec<String> =
                model.stack.iter().map(|(label, _)| label.clone()).collect();
            worker.run(move || {
                let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
                open(&expected);
            });
        }
    }
}

proptest! {
    #[test]
    fn behaves_as_a_stack_with_marks(steps in steps()) {
        check(steps);
    }
}

#[test]
fn behaves_as_a_stack_with_marks_without_ranges() {
    if is_child() {
        proptest!(|(steps in steps())| check(steps));
    } else {
        pass_without_ranges("behaves_as_a_stack_with_marks_without_ranges");
    }
}
