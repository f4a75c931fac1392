//! The stack of each thread, and the generation that they all follow.

use crate::scope_id::{IdSource, LastId};
use std::cell::RefCell;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// What stands between two labels (TSL's choice: TensorFlow's op names do not use it).
const SEPARATOR: &[u8] = b"::";

/// Odd: enabled. Every change of state makes a new generation; `enable(true)` twice is one.
static GENERATION: AtomicI32 = AtomicI32::new(0);

/// What [`AnnotationStack::mirror_generation`] was given.
static MIRROR: AtomicPtr<AtomicI32> = AtomicPtr::new(ptr::null_mut());

static IDS: IdSource = IdSource::new();

/// One thread's stack.
struct Stack {
    /// What the rest belongs to; of another generation than the process's, it counts as empty.
    generation: i32,
    /// The labels, joined.
    label: Vec<u8>,
    /// Per push, the length of `label` before it.
    lengths: Vec<usize>,
    /// Per push, its scope range id.
    ids: Vec<i64>,
    last_id: LastId,
}

thread_local! {
    static STACK: RefCell<Stack> = const {
        RefCell::new(Stack {
            generation: 0,
            label: Vec::new(),
            lengths: Vec::new(),
            ids: Vec::new(),
            last_id: LastId::NONE,
        })
    };
}

impl Stack {
    /// Empties a stack of an earlier generation.
    #[inline]
    fn follow(&mut self, generation: i32) {
        if self.generation != generation {
            self.generation = generation;
            self.clear();
        }
    }

    #[cold]
    fn clear(&mut self) {
        self.label.clear();
        self.lengths.clear();
        self.ids.clear();
    }

    #[inline]
    fn push(&mut self, name: &[u8]) {
        self.lengths.push(self.label.len());
        if !self.label.is_empty() {
            self.label.extend_from_slice(SEPARATOR);
        }
        self.label.extend_from_slice(name);
        self.ids.push(IDS.next(&mut self.last_id));
    }

    /// Gives the last label another text, and leaves its id.
    fn replace_last(&mut self, name: &[u8]) {
        if let Some(&length) = self.lengths.last() {
            self.label.truncate(length);
            if length > 0 {
                self.label.extend_from_slice(SEPARATOR);
            }
            self.label.extend_from_slice(name);
        }
    }

    #[inline]
    fn pop(&mut self) {
        match self.lengths.pop() {
            Some(length) => {
                self.label.truncate(length);
                self.ids.pop();
            }
            None => self.clear(),
        }
    }
}

/// How far a thread's stack reaches. Two equal positions: the same push is on top, unless it was
/// popped in between and another one took its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The process's generation when it was read. Another one: the stack has been emptied since.
    pub generation: i32,
    /// Pushes not popped yet.
    pub depth: usize,
}

/// The stack of nested labels of the calling thread.
///
/// All functions act on the calling thread's stack, except [`enable`](Self::enable) and
/// [`is_enabled`](Self::is_enabled), which are for the whole process. After a thread has destroyed
/// its thread-local values, its stack is empty and pushes on it do nothing.
pub struct AnnotationStack(());

impl AnnotationStack {
    /// Whether a profiler wants annotations. One atomic load: callers check this before they make
    /// a label. [`push`](Self::push) and [`pop`](Self::pop) do not check it.
    #[inline]
    pub fn is_enabled() -> bool {
        GENERATION.load(Ordering::Acquire) & 1 == 1
    }

    /// Switches annotations on or off in the whole process. A change empties every thread's stack,
    /// each at its next call; saying again what already holds changes nothing.
    pub fn enable(enable: bool) {
        let next = |generation: i32| {
            Some(if enable {
                generation | 1
            } else {
                generation.wrapping_add(1) & !1
            })
        };
        // The closure always returns a value, so this cannot fail.
        let _ = GENERATION.fetch_update(Ordering::SeqCst, Ordering::Relaxed, next);
        update_mirror();
    }

    /// Keeps `word` equal to the generation from now on, which is odd while annotations are on: for
    /// code of another language, which reads it inline in place of
    /// [`is_enabled`](Self::is_enabled). One word in a process; a later one takes its place.
    pub fn mirror_generation(word: &'static AtomicI32) {
        MIRROR.store(ptr::from_ref(word).cast_mut(), Ordering::SeqCst);
        update_mirror();
    }

    /// Adds a label, of any bytes, and gives it a scope range id. It is joined to those below it
    /// by `::`; beneath nothing or beneath empty labels only, it stands alone.
    ///
    /// # Panics
    /// Inside [`with`](Self::with) on the same thread.
    #[inline]
    pub fn push(name: &[u8]) {
        Self::update(|stack| stack.push(name));
    }

    /// Puts another text in the place of the last label; its scope range id stays. On an empty
    /// stack, does nothing.
    ///
    /// # Panics
    /// Inside [`with`](Self::with) on the same thread.
    pub fn replace_last(name: &[u8]) {
        Self::update(|stack| stack.replace_last(name));
    }

    /// Takes the last label off; on an empty stack, does nothing.
    ///
    /// # Panics
    /// Inside [`with`](Self::with) on the same thread.
    #[inline]
    pub fn pop() {
        Self::update(Stack::pop);
    }

    /// Shows the joined label and the scope range ids, outermost first, without copying them.
    ///
    /// The memory that they lie in stays put and unchanged until the thread's next push or pop, or
    /// its next call after [`enable`](Self::enable) changed the state.
    pub fn with<R>(read: impl FnOnce(&[u8], &[i64]) -> R) -> R {
        if !Self::update(|_| {}) {
            return read(&[], &[]);
        }
        STACK.with(|stack| {
            let stack = stack.borrow();
            read(&stack.label, &stack.ids)
        })
    }

    /// How far the calling thread's stack reaches.
    pub fn position() -> Position {
        let mut position = Position {
            generation: 0,
            depth: 0,
        };
        Self::update(|stack| {
            position = Position {
                generation: stack.generation,
                depth: stack.ids.len(),
            };
        });
        position
    }

    /// Brings the stack into the current generation and changes it; `false` if the thread is
    /// ending and has none any more.
    #[inline]
    fn update(change: impl FnOnce(&mut Stack)) -> bool {
        let generation = GENERATION.load(Ordering::Acquire);
        STACK
            .try_with(|stack| {
                let mut stack = stack.borrow_mut();
                stack.follow(generation);
                change(&mut stack);
            })
            .is_ok()
    }
}

/// Brings the mirror up to the generation.
fn update_mirror() {
    let word = MIRROR.load(Ordering::SeqCst);
    // SAFETY: null, or from the reference that `mirror_generation` was given.
    if let Some(word) = unsafe { word.as_ref() } {
        // Whoever writes last has seen the newest generation, since it looks again afterwards.
        loop {
            let generation = GENERATION.load(Ordering::SeqCst);
            word.store(generation, Ordering::SeqCst);
            if GENERATION.load(Ordering::SeqCst) == generation {
                return;
            }
        }
    }
}
