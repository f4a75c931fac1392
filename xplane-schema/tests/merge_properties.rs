//! Merging planes of any shape: no event is lost, doubled or renamed.

mod common;

use common::{Seen, assert_ids_are_sound, assert_line_ids_are_unique, events};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;
use xplane_schema::Message;
use xplane_schema::proto::{
    XEvent, XEventMetadata, XLine, XPlane, XStat, XStatMetadata, x_event, x_stat,
};
use xplane_schema::utils::{fuse_lines_of_same_id, merge_planes};

/// Few names, so that planes share them, an empty one among them.
fn name() -> impl Strategy<Value = String> {
    select(vec!["", "a", "b", "c", "a::b", "é"]).prop_map(str::to_owned)
}

/// Ids as builders give them, or as a stranger's file may have them.
fn key() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1..8i64, 1 => 1..5000i64, 1 => 1..=i64::MAX]
}

/// A stat that refers to metadata by position in the plane's.
type StatDraft = (Index, Result<Index, i64>);

/// Metadata, offset, whether it is an aggregate, and stats.
type EventDraft = (Index, i64, bool, Vec<StatDraft>);

/// Name, display name, stats and children.
type MetadataDraft = (String, String, Vec<StatDraft>, Vec<Index>);

fn stats() -> impl Strategy<Value = Vec<StatDraft>> {
    let value = prop_oneof![
        any::<Index>().prop_map(Ok::<Index, i64>),
        any::<i64>().prop_map(Err::<Index, i64>)
    ];
    vec((any::<Index>(), value), 0..3)
}

#[derive(Clone, Debug)]
struct PlaneDraft {
    event_metadata: BTreeMap<i64, MetadataDraft>,
    /// Names are distinct, as xplane.proto asks.
    stat_metadata: BTreeMap<i64, String>,
    lines: Vec<(i64, i64, Vec<EventDraft>)>,
}

fn plane() -> impl Strategy<Value = XPlane> {
    let event = (any::<Index>(), 0..1_000_000i64, any::<bool>(), stats());
    let line = (0..6i64, 0..1_000i64, vec(event, 0..5));
    let metadata = (name(), name(), stats(), vec(any::<Index>(), 0..3));
    (
        btree_map(key(), metadata, 1..5),
        btree_map(key(), name(), 1..5),
        vec(line, 0..5),
    )
        .prop_map(|(event_metadata, mut stat_metadata, lines)| {
            let mut names = std::collections::HashSet::new();
            stat_metadata.retain(|_, name| names.insert(name.clone()));
            PlaneDraft {
                event_metadata,
                stat_metadata,
                lines,
            }
            .build()
        })
}

impl PlaneDraft {
    fn build(&self) -> XPlane {
        let event_keys: Vec<i64> = self.event_metadata.keys().copied().collect();
        let stat_keys: Vec<i64> = self.stat_metadata.keys().copied().collect();
        let stats = |drafts: &[StatDraft]| -> Vec<XStat> {
            drafts
                .iter()
                .map(|(id, value)| XStat {
                    metadata_id: *id.get(&stat_keys),
                    value: Some(match value {
                        Ok(text) => x_stat::Value::RefValue(*text.get(&stat_keys) as u64),
                        Err(number) => x_stat::Value::Int64Value(*number),
                    }),
                    ..Default::default()
                })
                .collect()
        };
        let event_metadata = |(&id, draft): (&i64, &MetadataDraft)| {
            let (name, display_name, of, children) = draft;
            let metadata = XEventMetadata {
                id,
                name: name.clone(),
                display_name: display_name.clone(),
                stats: stats(of),
                child_id: children
                    .iter()
                    .map(|child| *child.get(&event_keys))
                    .collect(),
                ..Default::default()
            };
            (id, metadata)
        };
        let stat_metadata = |(&id, name): (&i64, &String)| {
            let metadata = XStatMetadata {
                id,
                name: name.clone(),
                ..Default::default()
            };
            (id, metadata)
        };
        let line = |(id, timestamp_ns, events): &(i64, i64, Vec<EventDraft>)| XLine {
            id: *id,
            timestamp_ns: *timestamp_ns,
            events: events
                .iter()
                .map(|(metadata, offset, aggregate, of): &EventDraft| XEvent {
                    metadata_id: *metadata.get(&event_keys),
                    data: Some(if *aggregate {
                        x_event::Data::NumOccurrences(*offset)
                    } else {
                        x_event::Data::OffsetPs(*offset)
                    }),
                    duration_ps: offset % 7,
                    stats: stats(of),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        };
        XPlane {
            event_metadata: self.event_metadata.iter().map(event_metadata).collect(),
            stat_metadata: self.stat_metadata.iter().map(stat_metadata).collect(),
            lines: self.lines.iter().map(line).collect(),
            ..Default::default()
        }
    }
}

/// What no merge may change: not what metadata are filled in with.
fn essence(events: Vec<Seen>) -> Vec<Seen> {
    let mut events: Vec<Seen> = events
        .into_iter()
        .map(|seen| Seen {
            display_name: String::new(),
            metadata_stats: Vec::new(),
            ..seen
        })
        .collect();
    events.sort();
    events
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled(mut dst in plane(), sources in vec(plane(), 1..4)) {
        let mut expected = events(&dst);
        for src in &sources {
            expected.extend(events(src));
        }
        for src in sources {
            merge_planes(src, &mut dst);
        }
        prop_assert_eq!(essence(events(&dst)), essence(expected));
        assert_ids_are_sound(&dst);
    }

    #[test]
    fn display_names_and_stats_of_events_survive(mut dst in plane(), src in plane()) {
        let expected: Vec<Seen> = events(&dst).into_iter().chain(events(&src)).collect();
        merge_planes(src, &mut dst);
        let mut found = events(&dst);
        for event in expected {
            let position = found.iter().position(|seen| {
                let fits = |was: bool, is: bool| was || is;
                fits(event.display_name.is_empty(), event.display_name == seen.display_name)
                    && fits(event.metadata_stats.is_empty(), event.metadata_stats == seen.metadata_stats)
                    && essence(vec![seen.clone()]) == essence(vec![event.clone()])
            });
            prop_assert!(position.is_some(), "{:?} in {:?}", event, found);
            found.remove(position.unwrap());
        }
    }

    #[test]
    fn a_merge_into_nothing_is_the_plane(src in plane()) {
        let mut dst = XPlane::default();
        merge_planes(src.clone(), &mut dst);
        prop_assert_eq!(essence(events(&dst)), essence(events(&src)));
        assert_ids_are_sound(&dst);
        assert_line_ids_are_unique(&dst);
        // From 1 without gaps.
        let ids: Vec<i64> = dst.stat_metadata.keys().copied().collect();
        prop_assert_eq!(ids, (1..=src.stat_metadata.len() as i64).collect::<Vec<_>>());
    }

    #[test]
    fn fusing_lines_keeps_events_and_does_nothing_twice(mut plane in plane()) {
        let before = events(&plane);
        fuse_lines_of_same_id(&mut plane);
        prop_assert_eq!(events(&plane), before);
        assert_line_ids_are_unique(&plane);
        let once = plane.encode_to_vec();
        fuse_lines_of_same_id(&mut plane);
        prop_assert_eq!(plane.encode_to_vec(), once);
    }
}
