//! How many bytes a kept marker takes, counted at the allocator: while the session runs, and after
//! it, when nothing may be left.

use embedded_roctx::{roctxRangePop, roctxRangePushA};
use rocm_tracer::{RocmTracer, RocmTracerOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::CString;
use std::sync::Barrier;
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: hands every request to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn held() -> isize {
    HELD.load(Ordering::Relaxed)
}

/// Bytes held a marker, with so many threads and ranges each; and those held after the session.
fn measure(threads: usize, ranges: usize, labels: &[CString]) -> (f64, isize) {
    let ready = Barrier::new(threads + 1);
    let measured = Barrier::new(threads + 1);
    let tracer = RocmTracer::singleton();
    let (mut during, mut kept) = (0, 0);
    let before = std::thread::scope(|scope| {
        for thread in 0..threads {
            let (ready, measured) = (&ready, &measured);
            scope.spawn(move || {
                ready.wait();
                ready.wait();
                for range in 0..ranges {
                    let label = &labels[(thread * ranges + range) % labels.len()];
                    // SAFETY: NUL-terminated.
                    unsafe {
                        roctxRangePushA(label.as_ptr());
                        roctxRangePop();
                    }
                }
                measured.wait();
                measured.wait();
            });
        }
        ready.wait();
        let before = held();
        tracer.enable(RocmTracerOptions::default()).unwrap();
        ready.wait();
        measured.wait();
        during = held() - before;
        let captured = tracer.disable().unwrap();
        kept = captured.marker_count();
        drop(captured);
        measured.wait();
        before
    });
    (during as f64 / kept as f64, held() - before)
}

fn main() {
    let one = [CString::new("train_step/forward").unwrap()];
    let hundred: Vec<_> = (0..100)
        .map(|number| CString::new(format!("train_step/forward/{number}")).unwrap())
        .collect();
    let unique: Vec<_> = (0..1_000_000)
        .map(|number| CString::new(format!("train_step/forward/{number:06}")).unwrap())
        .collect();
    // The first session makes what lasts as long as the process.
    measure(2, 10, &one);
    println!("{:<46} {:>16} {:>12}", "", "bytes a marker", "bytes left");
    for (what, threads, ranges, labels) in [
        (
            "1,000,000 ranges, 1 thread, 1 label",
            1,
            1_000_000,
            &one[..],
        ),
        (
            "1,000,000 ranges, 64 threads, 100 labels",
            64,
            15_625,
            &hundred[..],
        ),
        (
            "1,000,000 ranges, 1 thread, each label once",
            1,
            1_000_000,
            &unique[..],
        ),
        ("2,000 ranges, 1,000 threads, 1 label", 1_000, 2, &one[..]),
    ] {
        let (bytes, left) = measure(threads, ranges, labels);
        println!("{what:<46} {bytes:>16.1} {left:>12}");
    }
}
