//! What the calls return, as AMD's library was observed to.

use embedded_roctx::*;
use std::ptr;

#[test]
fn push_returns_the_level_before_and_pop_the_level_after() {
    // SAFETY: literals are NUL-terminated.
    unsafe {
        assert_eq!(roctxRangePop(), -1);
        assert_eq!(roctxRangePushA(c"outer".as_ptr()), 0);
        assert_eq!(roctxRangePushA(ptr::null()), 1);
        assert_eq!(roctxRangePushA(c"".as_ptr()), 2);
        assert_eq!(roctxRangePop(), 2);
        assert_eq!(roctxRangePop(), 1);
        assert_eq!(roctxRangePop(), 0);
        assert_eq!(roctxRangePop(), -1);
        assert_eq!(roctxRangePushA(c"again".as_ptr()), 0);
        assert_eq!(roctxRangePop(), 0);
    }
}

#[test]
fn each_thread_has_its_own_level() {
    // SAFETY: literals are NUL-terminated.
    unsafe { assert_eq!(roctxRangePushA(c"here".as_ptr()), 0) };
    std::thread::spawn(|| {
        // SAFETY: as above.
        unsafe {
            assert_eq!(roctxRangePop(), -1);
            assert_eq!(roctxRangePushA(c"there".as_ptr()), 0);
        }
    })
    .join()
    .unwrap();
    // SAFETY: takes nothing.
    unsafe { assert_eq!(roctxRangePop(), 0) };
}

#[test]
fn range_ids_are_unique_in_the_process() {
    let ids: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..1000)
                        // SAFETY: literals are NUL-terminated.
                        .map(|_| unsafe { roctxRangeStartA(c"io".as_ptr()) })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 4000);
    assert!(!distinct.contains(&0));
}

#[test]
fn the_thread_id_is_the_kernel_s() {
    let mut tid = 0;
    // SAFETY: a place for a u64, and null, which the call must bear.
    unsafe {
        assert_eq!(roctxGetThreadId(&raw mut tid), 0);
        assert_eq!(roctxGetThreadId(ptr::null_mut()), -1);
    }
    let kernel = std::fs::read_link("/proc/thread-self").unwrap();
    assert_eq!(
        kernel.file_name().unwrap().to_str().unwrap(),
        tid.to_string()
    );
}

#[test]
fn naming_pausing_and_marking_succeed_without_a_listener() {
    // SAFETY: literals are NUL-terminated; handles are not dereferenced.
    unsafe {
        roctxMarkA(c"here".as_ptr());
        roctxMarkA(ptr::null());
        roctxRangeStop(12_345_678);
        assert_eq!(roctxProfilerPause(0), 0);
        assert_eq!(roctxProfilerResume(0), 0);
        assert_eq!(roctxNameOsThread(c"worker".as_ptr()), 0);
        assert_eq!(roctxNameHsaAgent(c"agent".as_ptr(), ptr::null()), 0);
        assert_eq!(roctxNameHipDevice(c"gpu".as_ptr(), 0), 0);
        assert_eq!(roctxNameHipStream(c"stream".as_ptr(), ptr::null()), 0);
    }
}
