//! What sessions allocate they free, with the sizes they asked for, and nothing stays.

#![allow(missing_docs)]

mod common;

use common::*;
use rocm_tracer::RocmTracerOptions;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};

/// Puts each block's layout before the block, and compares it when the block is freed.
struct Checking;

static HELD: AtomicIsize = AtomicIsize::new(0);
static MISMATCHES: AtomicUsize = AtomicUsize::new(0);
static CHECKED: AtomicBool = AtomicBool::new(false);

const HEADER: usize = 16;

fn with_header(layout: Layout) -> (Layout, usize) {
    let offset = HEADER.max(layout.align());
    let size = layout.size() + offset;
    (Layout::from_size_align(size, offset).unwrap(), offset)
}

// SAFETY: hands every request to the system's allocator, enlarged by a header of its own.
unsafe impl GlobalAlloc for Checking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        let (whole, offset) = with_header(layout);
        // SAFETY: the block has room for the header and is aligned to it.
        unsafe {
            let memory = System.alloc(whole).add(offset);
            memory.cast::<usize>().sub(1).write(layout.align());
            memory.cast::<usize>().sub(2).write(layout.size());
            memory
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `alloc` wrote the header.
        let (align, size) = unsafe {
            (
                memory.cast::<usize>().sub(1).read(),
                memory.cast::<usize>().sub(2).read(),
            )
        };
        if (size, align) != (layout.size(), layout.align()) {
            MISMATCHES.fetch_add(1, Ordering::Relaxed);
        }
        CHECKED.store(true, Ordering::Relaxed);
        HELD.fetch_sub(size as isize, Ordering::Relaxed);
        let layout = Layout::from_size_align(size, align).unwrap();
        let (whole, offset) = with_header(layout);
        // SAFETY: the block that `alloc` took.
        unsafe { System.dealloc(memory.sub(offset), whole) };
    }
}

#[global_allocator]
static ALLOCATOR: Checking = Checking;

/// A session with labels of all sizes, some repeated, some too long, on threads that live and
/// threads that end.
fn session(number: usize) {
    let options = RocmTracerOptions {
        max_label_bytes: 1000,
        ..Default::default()
    };
    let captured = capture(options, || {
        std::thread::scope(|scope| {
            for thread in 0..3 {
                scope.spawn(move || {
                    for length in (0..1200).step_by(97) {
                        push(&format!("{number} {thread} {}", "x".repeat(length)));
                        mark("repeated");
                        pop();
                    }
                    push("open at the end");
                });
            }
        });
        push("here");
        let id = start("started");
        start("never stopped");
        stop(id);
        pop();
    });
    assert_eq!(captured.marker_count(), 3 * (13 * 2 + 1) + 3);
    drop(export(captured, Default::default()));
}

#[test]
fn a_thousand_sessions_leave_memory_as_it_was() {
    let _one = one_at_a_time();
    session(0);
    session(1);
    let before = HELD.load(Ordering::Relaxed);
    for number in 2..1000 {
        session(number);
    }
    let left = HELD.load(Ordering::Relaxed) - before;
    // The test runner and the threads' own bookkeeping may hold a little more or less.
    assert!(left.abs() < 4096, "{left} bytes");
    assert!(CHECKED.load(Ordering::Relaxed));
    assert_eq!(MISMATCHES.load(Ordering::Relaxed), 0);
}
