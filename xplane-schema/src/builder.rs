//! Building planes: names become metadata ids, lines are found by id.
//!
//! A builder borrows its plane and keeps an index of the plane's names for as long as it lives, so
//! one builder a plane is what is cheap. Events borrow the line: an [`XLineBuilder`] gives one
//! [`XEventBuilder`] at a time. Producers of many events build [`XEvent`]s themselves and hand
//! them over with [`XLineBuilder::push`] or [`XLineBuilder::extend_events`].

pub(crate) mod names;

use crate::proto::{
    UnknownFields, XEvent, XEventMetadata, XLine, XPlane, XStat, XStatMetadata, x_event, x_stat,
};
use hashbrown::HashMap;
use names::NameIndex;

/// Picoseconds in a nanosecond.
pub const PS_PER_NS: i64 = 1_000;

/// Builds one plane.
pub struct XPlaneBuilder<'a> {
    plane: &'a mut XPlane,
    event_names: NameIndex,
    stat_names: NameIndex,
    lines: HashMap<i64, usize>,
}

impl<'a> XPlaneBuilder<'a> {
    /// A builder that adds to `plane`.
    ///
    /// Where the plane has several metadata of one name, or several lines of one id, the builder
    /// finds the first.
    pub fn new(plane: &'a mut XPlane) -> Self {
        let event_names = NameIndex::of(&plane.event_metadata, |metadata| &metadata.name);
        let stat_names = NameIndex::of(&plane.stat_metadata, |metadata| &metadata.name);
        let mut lines = HashMap::with_capacity(plane.lines.len());
        for (index, line) in plane.lines.iter().enumerate() {
            lines.entry(line.id).or_insert(index);
        }
        Self {
            plane,
            event_names,
            stat_names,
            lines,
        }
    }

    /// The plane as built so far.
    pub fn plane(&self) -> &XPlane {
        self.plane
    }

    /// Sets the plane's name, one of those in [`schema`](crate::schema).
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.plane.name);
    }

    /// Sets the plane's id.
    pub fn set_id(&mut self, id: i64) {
        self.plane.id = id;
    }

    /// The id of the event metadata of this name, which is made if there is none.
    pub fn get_or_create_event_metadata(&mut self, name: &str) -> i64 {
        let all = &mut self.plane.event_metadata;
        self.event_names.get_or_create(
            all,
            name,
            |metadata| &metadata.name,
            |id, name| XEventMetadata {
                id,
                name,
                ..Default::default()
            },
        )
    }

    /// The id of the stat metadata of this name, which is made if there is none. Also gives the id
    /// of a text that stats refer to by [`x_stat::Value::RefValue`].
    pub fn get_or_create_stat_metadata(&mut self, name: &str) -> i64 {
        let all = &mut self.plane.stat_metadata;
        self.stat_names.get_or_create(
            all,
            name,
            |metadata| &metadata.name,
            |id, name| XStatMetadata {
                id,
                name,
                ..Default::default()
            },
        )
    }

    /// The event metadata of an id, to set its display name, say. Its id and name must stay.
    pub fn event_metadata_mut(&mut self, id: i64) -> Option<&mut XEventMetadata> {
        self.plane.event_metadata.get_mut(&id)
    }

    /// The stat metadata of an id, to set its description, say. Its id and name must stay.
    pub fn stat_metadata_mut(&mut self, id: i64) -> Option<&mut XStatMetadata> {
        self.plane.stat_metadata.get_mut(&id)
    }

    /// Adds a stat of the plane, or gives the one of the same metadata another value.
    pub fn set_stat_value(&mut self, metadata_id: i64, value: impl Into<x_stat::Value>) {
        let value = Some(value.into());
        match self
            .plane
            .stats
            .iter_mut()
            .find(|stat| stat.metadata_id == metadata_id)
        {
            Some(stat) => stat.value = value,
            None => self.plane.stats.push(XStat {
                metadata_id,
                value,
                unknown_fields: UnknownFields::default(),
            }),
        }
    }

    /// The line of this id, which is made if there is none.
    pub fn get_or_create_line(&mut self, id: i64) -> XLineBuilder<'_> {
        let lines = &mut self.plane.lines;
        let index = *self.lines.entry(id).or_insert_with(|| {
            lines.push(XLine {
                id,
                ..Default::default()
            });
            lines.len() - 1
        });
        XLineBuilder {
            line: &mut lines[index],
        }
    }

    /// Makes room for `lines` more lines.
    pub fn reserve_lines(&mut self, lines: usize) {
        self.plane.lines.reserve(lines);
        self.lines.reserve(lines);
    }
}

/// Builds one line.
pub struct XLineBuilder<'a> {
    line: &'a mut XLine,
}

impl<'a> XLineBuilder<'a> {
    /// A builder that adds to `line`.
    pub fn new(line: &'a mut XLine) -> Self {
        Self { line }
    }

    /// The line's id.
    pub fn id(&self) -> i64 {
        self.line.id
    }

    /// Sets the line's name.
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.line.name);
    }

    /// Sets the name of the line's row.
    pub fn set_display_name(&mut self, name: &str) {
        name.clone_into(&mut self.line.display_name);
    }

    /// Sets the line's row.
    pub fn set_display_id(&mut self, id: i64) {
        self.line.display_id = id;
    }

    /// When the line starts, in ns.
    pub fn timestamp_ns(&self) -> i64 {
        self.line.timestamp_ns
    }

    /// Sets when the line starts, in ns. Offsets of events that are there stay as they are.
    pub fn set_timestamp_ns(&mut self, timestamp_ns: i64) {
        self.line.timestamp_ns = timestamp_ns;
    }

    /// Sets how long the line was recorded, in ps.
    pub fn set_duration_ps(&mut self, duration_ps: i64) {
        self.line.duration_ps = duration_ps;
    }

    /// Makes room for `events` more events.
    pub fn reserve(&mut self, events: usize) {
        self.line.events.reserve(events);
    }

    /// Adds an event, at the line's start and of no duration until it is told otherwise.
    pub fn add_event(&mut self, metadata_id: i64) -> XEventBuilder<'_> {
        let line_start_ns = self.line.timestamp_ns;
        self.line.events.push(XEvent {
            metadata_id,
            data: Some(x_event::Data::OffsetPs(0)),
            ..Default::default()
        });
        let last = self.line.events.len() - 1;
        XEventBuilder {
            event: &mut self.line.events[last],
            line_start_ns,
        }
    }

    /// Adds an event that is built already.
    #[inline]
    pub fn push(&mut self, event: XEvent) {
        self.line.events.push(event);
    }

    /// Adds events that are built already; a whole vector is taken over where the line has none.
    pub fn extend_events(&mut self, mut events: Vec<XEvent>) {
        if self.line.events.is_empty() {
            self.line.events = events;
        } else {
            self.line.events.append(&mut events);
        }
    }

    /// The line's events.
    pub fn events_mut(&mut self) -> &mut Vec<XEvent> {
        &mut self.line.events
    }
}

/// Builds one event.
pub struct XEventBuilder<'a> {
    event: &'a mut XEvent,
    line_start_ns: i64,
}

impl<'a> XEventBuilder<'a> {
    /// Sets when the event starts, in ns on the clock of the line's timestamp, which must be set.
    ///
    /// A start more than 106 days from the line's, which no offset in ps can hold, becomes the
    /// nearest that can.
    pub fn set_timestamp_ns(&mut self, timestamp_ns: i64) {
        let offset_ns = timestamp_ns.saturating_sub(self.line_start_ns);
        self.set_offset_ps(offset_ns.saturating_mul(PS_PER_NS));
    }

    /// Sets when the event starts, in ps after the line.
    pub fn set_offset_ps(&mut self, offset_ps: i64) {
        self.event.data = Some(x_event::Data::OffsetPs(offset_ps));
    }

    /// Makes the event an aggregate, which has no start.
    pub fn set_num_occurrences(&mut self, occurrences: i64) {
        self.event.data = Some(x_event::Data::NumOccurrences(occurrences));
    }

    /// Sets how long the event took, in ps.
    pub fn set_duration_ps(&mut self, duration_ps: i64) {
        self.event.duration_ps = duration_ps;
    }

    /// Sets how long the event took, in ns; past 106 days, the most that ps can hold.
    pub fn set_duration_ns(&mut self, duration_ns: i64) {
        self.event.duration_ps = duration_ns.saturating_mul(PS_PER_NS);
    }

    /// Makes room for exactly `stats` more stats.
    pub fn reserve_stats(&mut self, stats: usize) {
        self.event.stats.reserve_exact(stats);
    }

    /// Adds a stat.
    pub fn add_stat_value(&mut self, metadata_id: i64, value: impl Into<x_stat::Value>) {
        self.event.stats.push(XStat {
            metadata_id,
            value: Some(value.into()),
            unknown_fields: UnknownFields::default(),
        });
    }

    /// Adds a stat whose text is the name of the stat metadata `text_id`.
    pub fn add_ref_stat(&mut self, metadata_id: i64, text_id: i64) {
        self.add_stat_value(metadata_id, x_stat::Value::RefValue(text_id as u64));
    }
}
