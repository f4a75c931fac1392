//! More threads than there are thread numbers. Alone in its process, since it uses them up.

use annotation_stack::AnnotationStack;
use std::collections::HashSet;
use std::thread;

#[test]
fn ids_stay_unique_past_32767_threads() {
    const NUMBERED: usize = 32_767;
    AnnotationStack::enable(true);
    let mut ids = HashSet::new();
    for nth in 0..NUMBERED + 3 {
        let made: Vec<i64> = thread::spawn(|| {
            AnnotationStack::push(b"a");
            AnnotationStack::push(b"b");
            AnnotationStack::with(|_, ids| ids.to_vec())
        })
        .join()
        .unwrap();
        let tops: Vec<u64> = made.iter().map(|id| *id as u64 >> 62).collect();
        if nth < NUMBERED {
            assert_eq!((made[0] as u64) >> 48, nth as u64 + 1);
            assert!(tops.iter().all(|top| *top < 2), "{made:x?}");
        } else {
            assert_eq!(tops, [0b10, 0b10], "thread {nth}: {made:x?}");
        }
        ids.extend(made);
    }
    assert_eq!(ids.len(), 2 * (NUMBERED + 3));
    AnnotationStack::enable(false);
}
