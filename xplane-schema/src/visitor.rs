//! Reading planes: ids become names, offsets become times.

use crate::builder::PS_PER_NS;
use crate::proto::{XEvent, XEventMetadata, XLine, XPlane, XStat, x_event, x_stat};
use std::borrow::Cow;

/// Reads one plane.
#[derive(Clone, Copy, Debug)]
pub struct XPlaneVisitor<'a> {
    plane: &'a XPlane,
}

impl<'a> XPlaneVisitor<'a> {
    /// Reads `plane`.
    pub fn new(plane: &'a XPlane) -> Self {
        Self { plane }
    }

    /// The plane's name.
    pub fn name(self) -> &'a str {
        &self.plane.name
    }

    /// The plane itself.
    pub fn plane(self) -> &'a XPlane {
        self.plane
    }

    /// The plane's lines.
    pub fn lines(self) -> impl ExactSizeIterator<Item = XLineVisitor<'a>> {
        self.plane.lines.iter().map(move |line| XLineVisitor {
            plane: self.plane,
            line,
        })
    }

    /// The line of this name, not of this display name.
    pub fn line_with_name(self, name: &str) -> Option<XLineVisitor<'a>> {
        self.lines().find(|line| line.name() == name)
    }

    /// The plane's own stats.
    pub fn stats(self) -> impl ExactSizeIterator<Item = XStatVisitor<'a>> {
        stats(self.plane, &self.plane.stats)
    }

    /// The plane's own stat of this name.
    pub fn stat(self, name: &str) -> Option<XStatVisitor<'a>> {
        self.stats().find(|stat| stat.name() == name)
    }

    /// The name of the stat metadata with this id, empty if there is none.
    pub fn stat_name(self, metadata_id: i64) -> &'a str {
        stat_name(self.plane, metadata_id)
    }
}

/// Reads one line.
#[derive(Clone, Copy, Debug)]
pub struct XLineVisitor<'a> {
    plane: &'a XPlane,
    line: &'a XLine,
}

impl<'a> XLineVisitor<'a> {
    /// The line itself.
    pub fn line(self) -> &'a XLine {
        self.line
    }

    /// The line's id.
    pub fn id(self) -> i64 {
        self.line.id
    }

    /// The line's name.
    pub fn name(self) -> &'a str {
        &self.line.name
    }

    /// What a viewer calls the line: its display name, else its name.
    pub fn display_name(self) -> &'a str {
        if self.line.display_name.is_empty() {
            &self.line.name
        } else {
            &self.line.display_name
        }
    }

    /// When the line starts, in ns.
    pub fn timestamp_ns(self) -> i64 {
        self.line.timestamp_ns
    }

    /// The line's events.
    pub fn events(self) -> impl ExactSizeIterator<Item = XEventVisitor<'a>> {
        self.line.events.iter().map(move |event| XEventVisitor {
            plane: self.plane,
            line: self.line,
            event,
        })
    }
}

/// Reads one event.
#[derive(Clone, Copy, Debug)]
pub struct XEventVisitor<'a> {
    plane: &'a XPlane,
    line: &'a XLine,
    event: &'a XEvent,
}

impl<'a> XEventVisitor<'a> {
    /// The event itself.
    pub fn event(self) -> &'a XEvent {
        self.event
    }

    /// What the event shares with others of its kind.
    pub fn metadata(self) -> Option<&'a XEventMetadata> {
        self.plane.event_metadata.get(&self.event.metadata_id)
    }

    /// The event's name, empty if the plane does not have it.
    pub fn name(self) -> &'a str {
        self.metadata().map_or("", |metadata| &metadata.name)
    }

    /// The event's name in the viewer, if it has one of its own there.
    pub fn display_name(self) -> Option<&'a str> {
        let name = self
            .metadata()
            .map_or("", |metadata| &metadata.display_name);
        (!name.is_empty()).then_some(name)
    }

    /// Start in ps after the line's; 0 for an aggregate.
    pub fn offset_ps(self) -> i64 {
        offset_ps(self.event)
    }

    /// Start in ps on the clock of the line's timestamp: wider than an offset, since times since
    /// the epoch do not fit 64 bits of ps.
    pub fn timestamp_ps(self) -> i128 {
        i128::from(self.line.timestamp_ns) * i128::from(PS_PER_NS) + i128::from(self.offset_ps())
    }

    /// Length in ps.
    pub fn duration_ps(self) -> i64 {
        self.event.duration_ps
    }

    /// The event's own stats.
    pub fn stats(self) -> impl ExactSizeIterator<Item = XStatVisitor<'a>> {
        stats(self.plane, &self.event.stats)
    }

    /// The stats that the event shares with others of its kind.
    pub fn metadata_stats(self) -> impl ExactSizeIterator<Item = XStatVisitor<'a>> {
        stats(
            self.plane,
            self.metadata().map_or(&[], |metadata| &metadata.stats),
        )
    }

    /// The stat of this name, the event's own before a shared one.
    pub fn stat(self, name: &str) -> Option<XStatVisitor<'a>> {
        self.stats()
            .chain(self.metadata_stats())
            .find(|stat| stat.name() == name)
    }
}

/// Start of an event in ps after its line's; 0 for an aggregate.
#[inline]
pub fn offset_ps(event: &XEvent) -> i64 {
    match event.data {
        Some(x_event::Data::OffsetPs(offset_ps)) => offset_ps,
        Some(x_event::Data::NumOccurrences(_)) | None => 0,
    }
}

/// Reads one stat.
#[derive(Clone, Copy, Debug)]
pub struct XStatVisitor<'a> {
    plane: &'a XPlane,
    stat: &'a XStat,
}

impl<'a> XStatVisitor<'a> {
    /// The stat itself.
    pub fn stat(self) -> &'a XStat {
        self.stat
    }

    /// The stat's name, empty if the plane does not have it.
    pub fn name(self) -> &'a str {
        stat_name(self.plane, self.stat.metadata_id)
    }

    /// The value as text: bytes as TSL words them; nothing for no value.
    pub fn to_text(self) -> Cow<'a, str> {
        match &self.stat.value {
            Some(x_stat::Value::DoubleValue(value)) => Cow::Owned(value.to_string()),
            Some(x_stat::Value::Uint64Value(value)) => Cow::Owned(value.to_string()),
            Some(x_stat::Value::Int64Value(value)) => Cow::Owned(value.to_string()),
            Some(x_stat::Value::StrValue(value)) => Cow::Borrowed(value),
            Some(x_stat::Value::BytesValue(_)) => Cow::Borrowed("<opaque bytes>"),
            Some(x_stat::Value::RefValue(id)) => Cow::Borrowed(stat_name(self.plane, *id as i64)),
            None => Cow::Borrowed(""),
        }
    }

    /// The value if it is text, given or by reference.
    pub fn as_str(self) -> Option<&'a str> {
        match &self.stat.value {
            Some(x_stat::Value::StrValue(value)) => Some(value),
            Some(x_stat::Value::RefValue(id)) => Some(stat_name(self.plane, *id as i64)),
            _ => None,
        }
    }

    /// The value if it is a whole number that is not negative.
    pub fn as_u64(self) -> Option<u64> {
        match self.stat.value {
            Some(x_stat::Value::Uint64Value(value)) => Some(value),
            Some(x_stat::Value::Int64Value(value)) => u64::try_from(value).ok(),
            _ => None,
        }
    }
}

fn stats<'a>(
    plane: &'a XPlane,
    stats: &'a [XStat],
) -> impl ExactSizeIterator<Item = XStatVisitor<'a>> {
    stats.iter().map(move |stat| XStatVisitor { plane, stat })
}

fn stat_name(plane: &XPlane, metadata_id: i64) -> &str {
    plane
        .stat_metadata
        .get(&metadata_id)
        .map_or("", |metadata| &metadata.name)
}
