//! Which metadata id a name has, without a second copy of the names.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// Ids of a plane's metadata by name, and the next free id.
pub(crate) struct NameIndex {
    /// The id with its name's hash, which spares most comparisons.
    ids: HashTable<(u64, i64)>,
    hasher: DefaultHashBuilder,
    next_id: i64,
}

impl NameIndex {
    /// The index of what a plane has; the lowest id of a name wins.
    pub(crate) fn of<M>(all: &BTreeMap<i64, M>, name_of: impl Fn(&M) -> &str) -> Self {
        let mut index = Self {
            ids: HashTable::with_capacity(all.len()),
            hasher: DefaultHashBuilder::default(),
            next_id: first_free_id(all),
        };
        for (&id, metadata) in all {
            let hash = index.hasher.hash_one(name_of(metadata));
            let same = |&(other_hash, other): &(u64, i64)| {
                other_hash == hash && name_of(&all[&other]) == name_of(metadata)
            };
            if index.ids.find(hash, same).is_none() {
                index.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
            }
        }
        index
    }

    /// The id of `name`.
    pub(crate) fn find<M>(
        &self,
        all: &BTreeMap<i64, M>,
        name: &str,
        name_of: impl Fn(&M) -> &str,
    ) -> Option<i64> {
        let hash = self.hasher.hash_one(name);
        let same = |&(other_hash, other): &(u64, i64)| {
            other_hash == hash && all.get(&other).is_some_and(|other| name_of(other) == name)
        };
        self.ids.find(hash, same).map(|&(_, id)| id)
    }

    /// The id of `name`, under which `make` makes metadata if there is none.
    pub(crate) fn get_or_create<M>(
        &mut self,
        all: &mut BTreeMap<i64, M>,
        name: &str,
        name_of: impl Fn(&M) -> &str,
        make: impl FnOnce(i64, String) -> M,
    ) -> i64 {
        if let Some(id) = self.find(all, name, name_of) {
            return id;
        }
        let hash = self.hasher.hash_one(name);
        let id = self.take_id(all);
        all.insert(id, make(id, name.to_owned()));
        self.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// An id that no metadata has.
    pub(crate) fn take_id<M>(&mut self, all: &BTreeMap<i64, M>) -> i64 {
        self.next_id = free_id_from(self.next_id, all);
        self.next_id += 1;
        self.next_id - 1
    }

    /// Lets `name`, which is new, be found as `id`.
    pub(crate) fn insert(&mut self, name: &str, id: i64) {
        let hash = self.hasher.hash_one(name);
        self.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// An id that no metadata has.
pub(crate) fn free_id<M>(all: &BTreeMap<i64, M>) -> i64 {
    free_id_from(first_free_id(all), all)
}

fn free_id_from<M>(id: i64, all: &BTreeMap<i64, M>) -> i64 {
    (id..).find(|id| !all.contains_key(id)).unwrap_or(id)
}

/// Where free ids start: past the last, or at 1 in a plane whose ids go to the very end.
fn first_free_id<M>(all: &BTreeMap<i64, M>) -> i64 {
    let last = all.last_key_value().map_or(0, |(&last, _)| last);
    if last < i64::MAX / 2 {
        last.max(0) + 1
    } else {
        1
    }
}
