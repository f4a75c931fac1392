//! Merging planes: nothing that the source holds is lost, and nothing comes twice.
//!
//! Metadata are matched by name, so that an event keeps its name under another id; lines are
//! matched by id. The source is consumed, since its events are moved.

mod ids;
mod lines;

use crate::builder::names::NameIndex;
use crate::proto::{XEventMetadata, XPlane, XStat, XStatMetadata, x_stat};
use hashbrown::HashMap;
use ids::IdMap;
pub use lines::fuse_lines_of_same_id;
use lines::{LineIndex, add_line};
use std::collections::BTreeMap;

/// Moves all of `src` but its name and id into `dst`.
///
/// - Event and stat metadata are matched by name. What `dst` has of one stays: a description,
///   display name, serialized metadata or stats of `src` go where `dst` has none. Event metadata
///   that say something else under the same name stay apart, with ids of their own.
/// - All ids are rewritten: of events, of stats and their values by reference, of the stats and
///   children of event metadata. An id that `src` has no metadata for gets metadata without a
///   name.
/// - A stat of the plane replaces `dst`'s of the same name.
/// - A line whose id `dst` has extends that line. The earlier start becomes the line's, and the
///   offsets of the side that started later move by the difference. Names, display name and
///   display id of `dst`'s line stay where they are set.
/// - Lines whose starts are too far apart for offsets in ps (106 days) are not put into one: the
///   line of `src` gets an id that no line has.
pub fn merge_planes(src: XPlane, dst: &mut XPlane) {
    let XPlane {
        id: _,
        name: _,
        lines,
        event_metadata,
        stat_metadata,
        stats,
        unknown_fields,
    } = src;
    dst.unknown_fields.append(unknown_fields);

    let mut stat_ids = merge_stat_metadata(stat_metadata, &mut dst.stat_metadata);
    for mut stat in stats {
        stat_ids.rewrite(&mut stat, &mut dst.stat_metadata);
        let same = |other: &&mut XStat| other.metadata_id == stat.metadata_id;
        match dst.stats.iter_mut().find(same) {
            Some(other) => *other = stat,
            None => dst.stats.push(stat),
        }
    }
    let mut event_ids = merge_event_metadata(event_metadata, &mut stat_ids, dst);

    let mut index = LineIndex::new(&dst.lines);
    for mut line in lines {
        for event in &mut line.events {
            event.metadata_id = event_ids.get(event.metadata_id, &mut dst.event_metadata);
            for stat in &mut event.stats {
                stat_ids.rewrite(stat, &mut dst.stat_metadata);
            }
        }
        add_line(line, &mut dst.lines, &mut index);
    }
}

impl IdMap<XStatMetadata> {
    /// Gives a stat of the source the ids of the destination.
    #[inline]
    fn rewrite(&mut self, stat: &mut XStat, dst: &mut BTreeMap<i64, XStatMetadata>) {
        stat.metadata_id = self.get(stat.metadata_id, dst);
        if let Some(x_stat::Value::RefValue(text_id)) = &mut stat.value {
            *text_id = self.get(*text_id as i64, dst) as u64;
        }
    }
}

fn merge_stat_metadata(
    src: BTreeMap<i64, XStatMetadata>,
    dst: &mut BTreeMap<i64, XStatMetadata>,
) -> IdMap<XStatMetadata> {
    let mut names = NameIndex::of(dst, |metadata| &metadata.name);
    let mut ids = IdMap::for_keys_of(&src, |id| XStatMetadata {
        id,
        ..Default::default()
    });
    for (src_id, mut metadata) in src {
        let found = names.find(dst, &metadata.name, |metadata| &metadata.name);
        let id = found.unwrap_or_else(|| names.take_id(dst));
        ids.insert(src_id, id);
        match dst.get_mut(&id) {
            Some(known) => {
                fill_text(&mut known.description, metadata.description);
                if known.unknown_fields.is_empty() {
                    known.unknown_fields = metadata.unknown_fields;
                }
            }
            None => {
                metadata.id = id;
                names.insert(&metadata.name, id);
                dst.insert(id, metadata);
            }
        }
    }
    ids
}

fn merge_event_metadata(
    src: BTreeMap<i64, XEventMetadata>,
    stat_ids: &mut IdMap<XStatMetadata>,
    dst: &mut XPlane,
) -> IdMap<XEventMetadata> {
    let names = &mut NameIndex::of(&dst.event_metadata, |metadata| &metadata.name);
    let mut namesakes = Namesakes::of(&dst.event_metadata, names);
    let mut ids = IdMap::for_keys_of(&src, |id| XEventMetadata {
        id,
        ..Default::default()
    });
    let mut children = Vec::new();
    for (src_id, mut metadata) in src {
        for stat in &mut metadata.stats {
            stat_ids.rewrite(stat, &mut dst.stat_metadata);
        }
        let child_id = std::mem::take(&mut metadata.child_id);
        let all = &mut dst.event_metadata;
        let first = names.find(all, &metadata.name, |metadata| &metadata.name);
        let agreeing = first.and_then(|first| {
            let mut same_name = namesakes.with(first);
            same_name.find(|id| all.get(id).is_some_and(|known| agree(known, &metadata)))
        });
        let id = agreeing.unwrap_or_else(|| names.take_id(all));
        ids.insert(src_id, id);
        match all.get_mut(&id) {
            Some(known) => fill(known, metadata),
            None => {
                metadata.id = id;
                match first {
                    Some(first) => namesakes.add(first, id),
                    None => names.insert(&metadata.name, id),
                }
                all.insert(id, metadata);
            }
        }
        if !child_id.is_empty() {
            children.push((id, child_id));
        }
    }
    // Once every child has its id.
    for (id, child_id) in children {
        for child in child_id {
            let child = ids.get(child, &mut dst.event_metadata);
            if let Some(parent) = dst.event_metadata.get_mut(&id)
                && !parent.child_id.contains(&child)
            {
                parent.child_id.push(child);
            }
        }
    }
    ids
}

/// Event metadata of the same name as others that came before.
struct Namesakes(HashMap<i64, Vec<i64>>);

impl Namesakes {
    fn of(all: &BTreeMap<i64, XEventMetadata>, names: &NameIndex) -> Self {
        let mut namesakes = Self(HashMap::new());
        if names.len() < all.len() {
            for (&id, metadata) in all {
                match names.find(all, &metadata.name, |metadata| &metadata.name) {
                    Some(first) if first != id => namesakes.add(first, id),
                    _ => {}
                }
            }
        }
        namesakes
    }

    fn add(&mut self, first: i64, id: i64) {
        self.0.entry(first).or_default().push(id);
    }

    /// `first` and those of its name.
    fn with(&self, first: i64) -> impl Iterator<Item = i64> {
        let others = self.0.get(&first).map_or(&[][..], Vec::as_slice);
        std::iter::once(first).chain(others.iter().copied())
    }
}

/// Whether two metadata of the same name can be one.
fn agree(known: &XEventMetadata, other: &XEventMetadata) -> bool {
    fn either<T: PartialEq>(known: &[T], other: &[T]) -> bool {
        known.is_empty() || other.is_empty() || known == other
    }
    either(known.display_name.as_bytes(), other.display_name.as_bytes())
        && either(&known.metadata, &other.metadata)
        && either(&known.stats, &other.stats)
        && either(
            known.unknown_fields.as_bytes(),
            other.unknown_fields.as_bytes(),
        )
}

/// Takes over from `other` what `known` lacks.
fn fill(known: &mut XEventMetadata, other: XEventMetadata) {
    fill_text(&mut known.display_name, other.display_name);
    if known.metadata.is_empty() {
        known.metadata = other.metadata;
    }
    if known.stats.is_empty() {
        known.stats = other.stats;
    }
    if known.unknown_fields.is_empty() {
        known.unknown_fields = other.unknown_fields;
    }
}

/// Takes over a text that is not there yet.
fn fill_text(known: &mut String, other: String) {
    if known.is_empty() {
        *known = other;
    }
}
