//! Planes as a reader sees them: by name, whatever the ids.

#![allow(dead_code, missing_docs, unreachable_pub)] // each test file uses a part

use xplane_schema::proto::{XLine, XPlane, XStat, x_event, x_stat};

/// An event without the ids that a merge may change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub line_id: i64,
    /// Start in ps on the line's clock, or the occurrences.
    pub start_ps: Result<i128, i64>,
    pub duration_ps: i64,
    pub name: String,
    pub display_name: String,
    pub metadata: Vec<u8>,
    pub stats: Vec<(String, String)>,
    pub metadata_stats: Vec<(String, String)>,
}

pub fn stats(plane: &XPlane, stats: &[XStat]) -> Vec<(String, String)> {
    let name = |id: i64| {
        let metadata = plane.stat_metadata.get(&id);
        metadata.map_or(String::new(), |metadata| metadata.name.clone())
    };
    stats
        .iter()
        .map(|stat| {
            let value = match &stat.value {
                Some(x_stat::Value::RefValue(id)) => format!("text {:?}", name(*id as i64)),
                Some(x_stat::Value::StrValue(text)) => format!("text {text:?}"),
                other => format!("{other:?}"),
            };
            (name(stat.metadata_id), value)
        })
        .collect()
}

fn seen(plane: &XPlane, line: &XLine) -> impl Iterator<Item = Seen> {
    line.events.iter().map(move |event| {
        let metadata = plane.event_metadata.get(&event.metadata_id);
        let start_ps = match event.data {
            Some(x_event::Data::NumOccurrences(number)) => Err(number),
            Some(x_event::Data::OffsetPs(offset)) => Ok(offset),
            None => Ok(0),
        };
        let line_ps = i128::from(line.timestamp_ns) * 1000;
        Seen {
            line_id: line.id,
            start_ps: start_ps.map(|offset| line_ps + i128::from(offset)),
            duration_ps: event.duration_ps,
            name: metadata.map_or(String::new(), |metadata| metadata.name.clone()),
            display_name: metadata.map_or(String::new(), |metadata| metadata.display_name.clone()),
            metadata: metadata.map_or(Vec::new(), |metadata| metadata.metadata.clone()),
            stats: stats(plane, &event.stats),
            metadata_stats: stats(plane, metadata.map_or(&[], |metadata| &metadata.stats)),
        }
    })
}

/// All events of a plane, sorted.
pub fn events(plane: &XPlane) -> Vec<Seen> {
    let mut events: Vec<Seen> = plane
        .lines
        .iter()
        .flat_map(|line| seen(plane, line))
        .collect();
    events.sort();
    events
}

/// Panics unless metadata ids are keys, from 1, and every event and stat finds its metadata.
pub fn assert_ids_are_sound(plane: &XPlane) {
    for (&key, metadata) in &plane.event_metadata {
        assert_eq!(metadata.id, key, "{metadata:?}");
        assert!(key >= 1, "{metadata:?}");
        assert_stats_are_sound(plane, &metadata.stats);
        for child in &metadata.child_id {
            assert!(plane.event_metadata.contains_key(child), "{metadata:?}");
        }
    }
    for (&key, metadata) in &plane.stat_metadata {
        assert_eq!(metadata.id, key, "{metadata:?}");
        assert!(key >= 1, "{metadata:?}");
    }
    assert_stats_are_sound(plane, &plane.stats);
    for event in plane.lines.iter().flat_map(|line| &line.events) {
        assert!(
            plane.event_metadata.contains_key(&event.metadata_id),
            "{event:?}"
        );
        assert_stats_are_sound(plane, &event.stats);
    }
}

fn assert_stats_are_sound(plane: &XPlane, stats: &[XStat]) {
    for stat in stats {
        assert!(
            plane.stat_metadata.contains_key(&stat.metadata_id),
            "{stat:?}"
        );
        if let Some(x_stat::Value::RefValue(id)) = stat.value {
            assert!(plane.stat_metadata.contains_key(&(id as i64)), "{stat:?}");
        }
    }
}

/// Panics if two lines have the same id.
pub fn assert_line_ids_are_unique(plane: &XPlane) {
    let mut ids: Vec<i64> = plane.lines.iter().map(|line| line.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), plane.lines.len());
}
