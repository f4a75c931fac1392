//! What stood on a thread when it called HIP: correlation id → annotation, innermost ROCTX label
//! and scope range id. GPU work gets its labels from here, since it runs later and elsewhere.
//!
//! Filled in the HIP API callback, on enter; read when the records of the call and of the work that
//! it started arrive. Names and rules are those of XLA's `AnnotationMap`, but a string that is held
//! already is also found when the map is full.

use crate::listener;
use annotation_stack::AnnotationStack;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use std::sync::Arc;

/// Labels of HIP calls, by correlation id. Any thread may call any function.
pub struct AnnotationMap {
    max_size: usize,
    maps: Mutex<Maps>,
}

#[derive(Default)]
struct Maps {
    /// Every distinct string once.
    strings: HashSet<Arc<[u8]>>,
    calls: HashMap<u64, Call>,
    /// Each scope range's parent.
    parents: HashMap<i64, i64>,
    refused: u64,
}

struct Call {
    annotation: Option<Arc<[u8]>>,
    roctx_range: Option<Arc<[u8]>>,
    scope_range_id: i64,
}

impl AnnotationMap {
    /// A map of at most so many distinct strings, calls and scope ranges, each.
    pub fn new(max_size: usize) -> Self {
        Self {
            max_size,
            maps: Mutex::default(),
        }
    }

    /// Remembers what stands around a call: the joined annotations, the label of the innermost
    /// ROCTX range, and the scope range ids, outermost first. Of two calls with one id, the later
    /// one counts. Nothing is remembered if both texts are empty.
    pub fn add(
        &self,
        correlation_id: u64,
        annotation: &[u8],
        roctx_range: &[u8],
        scope_range_ids: &[i64],
    ) {
        if annotation.is_empty() && roctx_range.is_empty() {
            return;
        }
        let mut maps = self.maps.lock();
        if maps.calls.len() >= self.max_size && !maps.calls.contains_key(&correlation_id) {
            maps.refused += 1;
            return;
        }
        let call = Call {
            annotation: maps.intern(annotation, self.max_size),
            roctx_range: maps.intern(roctx_range, self.max_size),
            scope_range_id: scope_range_ids.last().copied().unwrap_or_default(),
        };
        maps.calls.insert(correlation_id, call);
        for pair in scope_range_ids.windows(2).rev() {
            // A scope that is there already has its outer ones there too.
            if maps.parents.len() >= self.max_size || maps.parents.contains_key(&pair[1]) {
                break;
            }
            maps.parents.insert(pair[1], pair[0]);
        }
    }

    /// Remembers what stands around the calling thread's call. To be called in the HIP API
    /// callback, on enter.
    pub fn add_current(&self, correlation_id: u64) {
        listener::with_current_label(|roctx_range| {
            AnnotationStack::with(|annotation, scope_range_ids| {
                self.add(correlation_id, annotation, roctx_range, scope_range_ids);
            });
        });
    }

    /// All that is remembered of the call, at once: the joined annotations, the label of the
    /// innermost ROCTX range and the id of the innermost scope range.
    #[allow(clippy::type_complexity)] // three plain values
    pub(crate) fn look_up_all(
        &self,
        correlation_id: u64,
    ) -> Option<(Option<Arc<[u8]>>, Option<Arc<[u8]>>, i64)> {
        let maps = self.maps.lock();
        let call = maps.calls.get(&correlation_id)?;
        Some((
            call.annotation.clone(),
            call.roctx_range.clone(),
            call.scope_range_id,
        ))
    }

    /// The joined annotations around the call; `None` if there were none.
    pub fn look_up(&self, correlation_id: u64) -> Option<Arc<[u8]>> {
        self.maps
            .lock()
            .calls
            .get(&correlation_id)?
            .annotation
            .clone()
    }

    /// The label of the innermost ROCTX range around the call; `None` if there was none.
    pub fn look_up_roctx_range(&self, correlation_id: u64) -> Option<Arc<[u8]>> {
        self.maps
            .lock()
            .calls
            .get(&correlation_id)?
            .roctx_range
            .clone()
    }

    /// The id of the innermost scope range around the call; 0 if there was none.
    pub fn look_up_scope_range_id(&self, correlation_id: u64) -> i64 {
        self.maps
            .lock()
            .calls
            .get(&correlation_id)
            .map_or(0, |call| call.scope_range_id)
    }

    /// Takes out the tree of scope ranges: each one's parent.
    pub fn take_scope_range_id_tree(&self) -> HashMap<i64, i64> {
        std::mem::take(&mut self.maps.lock().parents)
    }

    /// Calls and strings that found the map full.
    pub fn refused(&self) -> u64 {
        self.maps.lock().refused
    }

    /// Forgets everything.
    pub fn clear(&self) {
        // What is dropped is dropped without the lock.
        let old = std::mem::take(&mut *self.maps.lock());
        drop(old);
    }
}

impl Maps {
    fn intern(&mut self, text: &[u8], max_strings: usize) -> Option<Arc<[u8]>> {
        if text.is_empty() {
            return None;
        }
        if let Some(known) = self.strings.get(text) {
            return Some(Arc::clone(known));
        }
        if self.strings.len() >= max_strings {
            self.refused += 1;
            return None;
        }
        let text: Arc<[u8]> = text.into();
        self.strings.insert(Arc::clone(&text));
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(map: &AnnotationMap, id: u64) -> (Vec<u8>, Vec<u8>) {
        let bytes = |text: Option<Arc<[u8]>>| text.map_or(Vec::new(), |text| text.to_vec());
        (bytes(map.look_up(id)), bytes(map.look_up_roctx_range(id)))
    }

    #[test]
    fn annotation_map_works() {
        let map = AnnotationMap::new(1024);
        map.add(42, b"op", b"", &[]);
        map.add(43, b"op", b"", &[7]);
        assert_eq!(texts(&map, 42).0, b"op");
        assert_eq!(map.look_up_scope_range_id(42), 0);
        assert_eq!(map.look_up_scope_range_id(43), 7);
        assert_eq!(map.look_up_scope_range_id(44), 0);
        let (one, other) = (map.look_up(42).unwrap(), map.look_up(43).unwrap());
        assert!(Arc::ptr_eq(&one, &other), "equal strings are one");
        map.add(42, b"later", b"", &[]);
        assert_eq!(texts(&map, 42).0, b"later");
        map.clear();
        assert_eq!(map.look_up(42), None);
        assert_eq!(map.look_up_scope_range_id(43), 0);
        assert_eq!(&*one, b"op", "what was looked up outlives it");
    }

    #[test]
    fn annotation_map_stores_roctx_range() {
        let map = AnnotationMap::new(1024);
        map.add(99, b"my_annotation", b"my_roctx_label", &[]);
        let expected = (b"my_annotation".to_vec(), b"my_roctx_label".to_vec());
        assert_eq!(texts(&map, 99), expected);
        assert_eq!(map.look_up_roctx_range(100), None);
        map.clear();
        assert_eq!(map.look_up_roctx_range(99), None);
    }

    #[test]
    fn annotation_map_roctx_range_empty_when_not_provided() {
        let map = AnnotationMap::new(1024);
        map.add(42, b"some_op", b"", &[]);
        assert_eq!(texts(&map, 42), (b"some_op".to_vec(), Vec::new()));
    }

    #[test]
    fn annotation_map_stores_roctx_range_when_annotation_empty() {
        let map = AnnotationMap::new(1024);
        map.add(77, b"", b"roctx_only_label", &[5]);
        assert_eq!(texts(&map, 77), (Vec::new(), b"roctx_only_label".to_vec()));
        assert_eq!(map.look_up_scope_range_id(77), 5);
        map.add(78, b"", b"", &[6]);
        assert_eq!(map.look_up_scope_range_id(78), 0, "nothing to remember");
    }

    #[test]
    fn the_tree_has_each_scope_once() {
        let map = AnnotationMap::new(1024);
        map.add(1, b"a", b"", &[10]);
        map.add(2, b"a::b::c", b"", &[10, 11, 12]);
        map.add(3, b"a::b::d", b"", &[10, 11, 13]);
        let tree = map.take_scope_range_id_tree();
        assert_eq!(tree, HashMap::from([(11, 10), (12, 11), (13, 11)]));
        assert!(map.take_scope_range_id_tree().is_empty());
        assert_eq!(map.look_up_scope_range_id(2), 12, "calls are still there");
    }

    #[test]
    fn a_full_map_still_finds_the_strings_that_it_holds() {
        let map = AnnotationMap::new(3);
        map.add(1, b"a", b"r", &[1, 2]);
        map.add(2, b"b", b"new", &[1, 3]);
        assert_eq!(texts(&map, 2), (b"b".to_vec(), Vec::new()));
        assert_eq!(map.refused(), 1);
        map.add(3, b"a", b"r", &[1, 4, 5]);
        assert_eq!(texts(&map, 3), (b"a".to_vec(), b"r".to_vec()));
        map.add(4, b"a", b"", &[]);
        assert_eq!(map.look_up(4), None, "no room for a fourth call");
        assert_eq!(map.refused(), 2);
        map.add(3, b"b", b"", &[]);
        assert_eq!(texts(&map, 3), (b"b".to_vec(), Vec::new()));
        assert_eq!(map.take_scope_range_id_tree().len(), 3);
    }
}
