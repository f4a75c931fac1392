//! Behaviour of the stack on real threads: TSL's `annotation_stack_test`, the edges of its
//! semantics, and a model.
//!
//! The generation is one for the process, so the tests take turns.

use annotation_stack::AnnotationStack;
use proptest::prelude::*;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, mpsc};
use std::thread;

/// One test at a time, with the stack enabled while it runs.
struct Enabled(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Enabled {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        AnnotationStack::enable(true);
        Self(turn)
    }
}

impl Drop for Enabled {
    fn drop(&mut self) {
        AnnotationStack::enable(false);
    }
}

fn label() -> String {
    AnnotationStack::with(|label, _| String::from_utf8(label.to_vec()).unwrap())
}

fn ids() -> Vec<i64> {
    AnnotationStack::with(|_, ids| ids.to_vec())
}

#[test]
fn labels_join_and_pop_restores_what_was_before() {
    let _enabled = Enabled::new();
    AnnotationStack::push(b"foo");
    assert_eq!(label(), "foo");
    AnnotationStack::push(b"bar");
    assert_eq!(label(), "foo::bar");
    AnnotationStack::push(b"a::b");
    assert_eq!(label(), "foo::bar::a::b");
    AnnotationStack::pop();
    assert_eq!(label(), "foo::bar");
    AnnotationStack::pop();
    AnnotationStack::push(b"baz");
    assert_eq!(label(), "foo::baz");
    AnnotationStack::pop();
    AnnotationStack::pop();
    assert_eq!(label(), "");
    assert_eq!(ids(), []);
}

#[test]
fn empty_labels_count_as_pushes() {
    let _enabled = Enabled::new();
    AnnotationStack::push(b"");
    assert_eq!((label().as_str(), ids().len()), ("", 1));
    AnnotationStack::push(b"x");
    assert_eq!(label(), "x", "nothing stands before the first text");
    AnnotationStack::push(b"");
    assert_eq!((label().as_str(), ids().len()), ("x::", 3));
    AnnotationStack::pop();
    AnnotationStack::pop();
    assert_eq!((label().as_str(), ids().len()), ("", 1));
    AnnotationStack::pop();
    assert_eq!(ids(), []);
}

#[test]
fn labels_are_bytes() {
    let _enabled = Enabled::new();
    AnnotationStack::push(b"\xff\0#k=v#");
    AnnotationStack::push("\u{e9}".as_bytes());
    AnnotationStack::with(|label, _| assert_eq!(label, b"\xff\0#k=v#::\xc3\xa9"));
    AnnotationStack::pop();
    AnnotationStack::pop();
    let long = vec![b'x'; 1 << 20];
    AnnotationStack::push(&long);
    AnnotationStack::with(|label, _| assert_eq!(label, long));
    AnnotationStack::pop();
}

#[test]
fn pop_on_an_empty_stack_leaves_it_usable() {
    let _enabled = Enabled::new();
    AnnotationStack::pop();
    AnnotationStack::pop();
    AnnotationStack::push(b"after");
    assert_eq!((label().as_str(), ids().len()), ("after", 1));
    AnnotationStack::pop();
    assert_eq!((label().as_str(), ids().len()), ("", 0));
}

#[test]
fn a_change_of_state_empties_the_stack_and_a_repetition_does_not() {
    let _enabled = Enabled::new();
    AnnotationStack::push(b"old");
    let old = AnnotationStack::position();
    AnnotationStack::enable(true);
    assert!(AnnotationStack::is_enabled());
    assert_eq!(
        (label().as_str(), AnnotationStack::position()),
        ("old", old)
    );

    AnnotationStack::enable(false);
    assert!(!AnnotationStack::is_enabled());
    assert_eq!((label().as_str(), ids().len()), ("", 0));
    let off = AnnotationStack::position();
    AnnotationStack::enable(false);
    assert_eq!(AnnotationStack::position(), off);

    AnnotationStack::enable(true);
    assert_eq!(AnnotationStack::position().depth, 0);
    assert_ne!(AnnotationStack::position().generation, old.generation);
    AnnotationStack::pop(); // of "old": nothing is left of it
    AnnotationStack::push(b"new");
    assert_eq!(label(), "new");
    AnnotationStack::pop();
}

#[test]
fn what_with_shows_stays_where_it_is_until_the_next_push_or_pop() {
    let _enabled = Enabled::new();
    AnnotationStack::push(b"here");
    let first = AnnotationStack::with(|label, ids| (label.as_ptr(), ids.as_ptr()));
    AnnotationStack::is_enabled();
    AnnotationStack::position();
    let again = AnnotationStack::with(|label, ids| (label.as_ptr(), ids.as_ptr()));
    assert_eq!(first, again);
    AnnotationStack::pop();
}

#[test]
fn a_panic_while_reading_leaves_the_stack_usable() {
    let _enabled = Enabled::new();
    AnnotationStack::push(b"outer");
    let push_inside = std::panic::catch_unwind(|| {
        AnnotationStack::with(|_, _| AnnotationStack::push(b"inner"));
    });
    assert!(push_inside.is_err(), "documented to panic");
    assert_eq!(label(), "outer");
    AnnotationStack::pop();
    assert_eq!(label(), "");
}

/// What TSL's test checks, on six threads of which three use the stack: the thread number stays
/// the same over generations, and no id comes twice.
fn threads_in_two_generations(uses_the_stack: [bool; 6]) {
    let _enabled = Enabled::new();
    let barrier = Arc::new(Barrier::new(7));
    let mut starts = Vec::new();
    let mut threads = Vec::new();
    for active in uses_the_stack {
        let barrier = Arc::clone(&barrier);
        let (start, started) = mpsc::channel();
        let (first_push, pushed) = mpsc::channel();
        starts.push((start, pushed));
        threads.push(thread::spawn(move || {
            started.recv().unwrap();
            let mut seen = Vec::new();
            if active {
                AnnotationStack::push(b"level1");
                first_push.send(()).unwrap();
                AnnotationStack::push(b"level2-1");
                AnnotationStack::pop();
                AnnotationStack::push(b"level2-2");
                assert_eq!(label(), "level1::level2-2");
                seen.extend(ids());
                AnnotationStack::pop();
            } else {
                first_push.send(()).unwrap();
            }
            barrier.wait(); // everybody is inside the first generation
            barrier.wait(); // the second one has begun
            if active {
                AnnotationStack::push(b"v2-level-1");
                AnnotationStack::push(b"v2-level-2");
                assert_eq!(label(), "v2-level-1::v2-level-2", "nothing left of level1");
                seen.extend(ids());
                AnnotationStack::pop();
                AnnotationStack::pop();
            }
            seen
        }));
    }
    // One after the other, so that thread numbers are handed out in this order.
    for (start, pushed) in &starts {
        start.send(()).unwrap();
        pushed.recv().unwrap();
    }
    barrier.wait();
    AnnotationStack::enable(false);
    AnnotationStack::enable(true);
    barrier.wait();
    let seen: Vec<Vec<i64>> = threads.into_iter().map(|t| t.join().unwrap()).collect();

    let mut numbers = Vec::new();
    for (ids, active) in seen.iter().zip(uses_the_stack) {
        if !active {
            assert!(ids.is_empty());
            continue;
        }
        let number = ids[0] >> 48;
        // level1, level2-2 (level2-1 took a number between them), then two of the next generation.
        let counters: Vec<i64> = ids.iter().map(|id| id & ((1 << 48) - 1)).collect();
        assert_eq!(counters, [1, 3, 4, 5]);
        assert!(ids.iter().all(|id| id >> 48 == number), "{ids:x?}");
        numbers.push(number);
    }
    assert!(
        numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "{numbers:?}"
    );
}

#[test]
fn multi_thread_sequence_users_first() {
    threads_in_two_generations([true, true, true, false, false, false]);
}

#[test]
fn multi_thread_sequence_users_last() {
    threads_in_two_generations([false, false, false, true, true, true]);
}

#[test]
fn multi_thread_sequence_interleaved() {
    threads_in_two_generations([true, false, true, false, true, false]);
}

#[test]
fn calls_while_the_thread_ends_do_nothing() {
    struct CallsWhenDropped(mpsc::Sender<(Vec<u8>, usize)>);
    impl Drop for CallsWhenDropped {
        fn drop(&mut self) {
            AnnotationStack::push(b"late");
            AnnotationStack::pop();
            let seen = AnnotationStack::with(|label, ids| (label.to_vec(), ids.len()));
            self.0.send(seen).unwrap();
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<Option<CallsWhenDropped>> = const { std::cell::RefCell::new(None) };
    }
    let _enabled = Enabled::new();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Registered before the stack's own destructor, so it runs after it.
        LAST.set(Some(CallsWhenDropped(sender)));
        AnnotationStack::push(b"left open");
    })
    .join()
    .unwrap();
    let (label, depth) = receiver.recv().unwrap();
    assert!(
        depth <= 1,
        "whichever destructor ran first, nothing was added"
    );
    assert!(label.is_empty() || label == b"left open");
}

#[test]
fn the_mirror_ends_where_the_generation_does_however_many_threads_change_it() {
    static MIRROR: AtomicI32 = AtomicI32::new(-1);
    let _enabled = Enabled::new();
    AnnotationStack::mirror_generation(&MIRROR);
    let first = MIRROR.load(Ordering::Acquire);
    assert_eq!(first & 1, 1, "enabled when the mirror was set up");
    AnnotationStack::enable(true);
    assert_eq!(MIRROR.load(Ordering::Acquire), first, "no change of state");
    AnnotationStack::enable(false);
    assert_eq!(MIRROR.load(Ordering::Acquire), first + 1);

    let barrier = Barrier::new(4);
    for _ in 0..200 {
        thread::scope(|scope| {
            for nth in 0..4 {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    AnnotationStack::enable(nth % 2 == 0);
                });
            }
        });
        let mirrored = MIRROR.load(Ordering::Acquire) & 1 == 1;
        assert_eq!(mirrored, AnnotationStack::is_enabled());
        assert_eq!(
            MIRROR.load(Ordering::Acquire),
            AnnotationStack::position().generation
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(Vec<u8>),
    Pop,
    ReplaceLast(Vec<u8>),
    Enable(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => prop::collection::vec(any::<u8>(), 0..8).prop_map(Step::Push),
        5 => Just(Step::Pop),
        1 => prop::collection::vec(any::<u8>(), 0..8).prop_map(Step::ReplaceLast),
        1 => any::<bool>().prop_map(Step::Enable),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    /// The stack against the obvious one: a list of labels, emptied when the state changes.
    #[test]
    fn behaves_as_a_list_of_labels(steps in steps()) {
        let _enabled = Enabled::new();
        let mut enabled = true;
        let mut model: Vec<Vec<u8>> = Vec::new();
        let mut last_id = 0;
        AnnotationStack::with(|label, ids| {
            assert!(label.is_empty() && ids.is_empty());
        });
        for step in steps {
            match step {
                Step::Push(name) => {
                    AnnotationStack::push(&name);
                    model.push(name);
                    let id = ids()[model.len() - 1];
                    prop_assert!(id > last_id, "ids of a thread grow");
                    last_id = id;
                }
                Step::Pop => {
                    AnnotationStack::pop();
                    model.pop();
                }
                Step::ReplaceLast(name) => {
                    let before = ids();
                    AnnotationStack::replace_last(&name);
                    if let Some(last) = model.last_mut() {
                        *last = name;
                    }
                    prop_assert_eq!(ids(), before);
                }
                Step::Enable(enable) => {
                    AnnotationStack::enable(enable);
                    if enable != enabled {
                        model.clear();
                    }
                    enabled = enable;
                }
            }
            let mut joined: Vec<u8> = Vec::new();
            for name in &model {
                if !joined.is_empty() {
                    joined.extend(b"::");
                }
                joined.extend(name);
            }
            AnnotationStack::with(|label, ids| {
                assert_eq!(label, joined);
                assert_eq!(ids.len(), model.len());
                assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
            });
            prop_assert_eq!(AnnotationStack::is_enabled(), enabled);
        }
        AnnotationStack::enable(true); // a new generation, should it not be on already
        AnnotationStack::enable(false);
    }
}
