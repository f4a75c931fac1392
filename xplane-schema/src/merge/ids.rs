//! Which id of the destination an id of the source becomes.

use crate::builder::names::free_id;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// Ids of the source with those of the destination. Looked up twice or more an event, so ids that
/// lie close together, as nearly all do, are in an array.
pub(super) struct IdMap<M> {
    dense: Vec<i64>,
    sparse: HashMap<i64, i64>,
    nameless: fn(i64) -> M,
}

/// In [`IdMap::dense`]: not here. Builders count from 1, so that this loses nothing.
const NONE: i64 = 0;

impl<M> IdMap<M> {
    /// A map for the keys of `src`. Metadata for ids that `src` has none for are made by
    /// `nameless`.
    pub(super) fn for_keys_of(src: &BTreeMap<i64, M>, nameless: fn(i64) -> M) -> Self {
        // At most four words an id, whatever ids a file comes with.
        let limit = 4 * src.len() as i64 + 1024;
        let last = src.range(..limit).next_back().map_or(0, |(&id, _)| id);
        Self {
            dense: vec![NONE; usize::try_from(last + 1).unwrap_or(0)],
            sparse: HashMap::new(),
            nameless,
        }
    }

    /// Lets `src_id` become `id`.
    pub(super) fn insert(&mut self, src_id: i64, id: i64) {
        match self.dense_slot(src_id) {
            Some(slot) if id != NONE => *slot = id,
            _ => {
                self.sparse.insert(src_id, id);
            }
        }
    }

    /// What `src_id` becomes.
    #[inline]
    pub(super) fn get(&mut self, src_id: i64, dst: &mut BTreeMap<i64, M>) -> i64 {
        match self.dense.get(src_id as usize) {
            Some(&id) if id != NONE => id,
            _ => self.get_sparse(src_id, dst),
        }
    }

    #[cold]
    fn get_sparse(&mut self, src_id: i64, dst: &mut BTreeMap<i64, M>) -> i64 {
        if let Some(&id) = self.sparse.get(&src_id) {
            return id;
        }
        let id = free_id(dst);
        dst.insert(id, (self.nameless)(id));
        self.insert(src_id, id);
        id
    }

    fn dense_slot(&mut self, src_id: i64) -> Option<&mut i64> {
        self.dense.get_mut(usize::try_from(src_id).ok()?)
    }
}
