//! A plane's names as JSON, each escaped once.

use hashbrown::HashMap;
use std::io;
use xplane_schema::proto::{XPlane, XStat};
use xplane_schema::schema::StatType;

/// A text as a JSON string.
fn quoted(text: &str) -> io::Result<Box<str>> {
    Ok(serde_json::to_string(text)?.into())
}

/// What event metadata contribute to an event's JSON.
pub(super) struct EventNames<'a> {
    /// The name to show, quoted.
    pub(super) name: Box<str>,
    /// The full name where another is shown, quoted.
    pub(super) long_name: Option<Box<str>>,
    /// Stats of each such event.
    pub(super) stats: &'a [XStat],
}

struct StatNames {
    /// The name, quoted, for where a stat refers to it as a text.
    text: Box<str>,
    /// The name, quoted, with a colon, for where it is the stat's own; none if viewers leave the
    /// stat out.
    key: Option<Box<str>>,
}

/// The names of one plane.
pub(super) struct PlaneNames<'a> {
    events: HashMap<i64, EventNames<'a>>,
    stats: HashMap<i64, StatNames>,
    step_name: Option<i64>,
}

impl<'a> PlaneNames<'a> {
    pub(super) fn of(plane: &'a XPlane) -> io::Result<Self> {
        let mut names = Self {
            events: HashMap::with_capacity(plane.event_metadata.len()),
            stats: HashMap::with_capacity(plane.stat_metadata.len()),
            step_name: None,
        };
        for (&id, metadata) in &plane.event_metadata {
            let name = quoted(&metadata.name)?;
            let (name, long_name) = if metadata.display_name.is_empty() {
                (name, None)
            } else {
                (quoted(&metadata.display_name)?, Some(name))
            };
            let stats = &metadata.stats;
            names.events.insert(
                id,
                EventNames {
                    name,
                    long_name,
                    stats,
                },
            );
        }
        for (&id, metadata) in &plane.stat_metadata {
            let kind = StatType::from_name(&metadata.name);
            if kind == Some(StatType::StepName) {
                names.step_name = Some(id);
            }
            let text = quoted(&metadata.name)?;
            let shown = !kind.is_some_and(StatType::is_internal);
            let key = shown.then(|| format!("{text}:").into_boxed_str());
            names.stats.insert(id, StatNames { text, key });
        }
        Ok(names)
    }

    pub(super) fn event(&self, metadata_id: i64) -> Option<&EventNames<'a>> {
        self.events.get(&metadata_id)
    }

    /// The key of a stat with its colon; none if it is not shown or has no name.
    pub(super) fn stat_key(&self, metadata_id: i64) -> Option<&str> {
        self.stats.get(&metadata_id)?.key.as_deref()
    }

    /// The text that a value refers to, quoted.
    pub(super) fn text(&self, id: u64) -> &str {
        self.stats
            .get(&(id as i64))
            .map_or("\"\"", |stat| &stat.text)
    }

    pub(super) fn is_step_name(&self, metadata_id: i64) -> bool {
        self.step_name == Some(metadata_id)
    }
}
