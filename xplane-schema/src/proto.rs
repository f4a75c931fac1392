//! The messages of `tensorflow.profiler` (xplane.proto), by field number.
//!
//! prost's derive drops fields that it does not know, so the messages implement
//! [`prost::Message`] through the table at the end of this file instead. Reading replaces what is
//! not UTF-8 in string fields by U+FFFD rather than refusing the file; a known field with another
//! wire type is kept as an unknown field.

mod field;
mod oneof;
mod unknown;

use field::{Submessage, message};
use prost::DecodeError;
use std::collections::BTreeMap;
pub use unknown::UnknownFields;

pub use oneof::{x_event, x_stat};

/// What one or more profiling sources recorded: planes side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XSpace {
    /// The planes.
    pub planes: Vec<XPlane>,
    /// What went wrong while the planes were made.
    pub errors: Vec<String>,
    /// What a reader should know about the planes: events dropped, say.
    pub warnings: Vec<String>,
    /// The hosts that the planes come from.
    pub hostnames: Vec<String>,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

/// Timelines of one source or device, and the names that their events share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XPlane {
    /// Tells planes of devices apart.
    pub id: i64,
    /// One of the names in [`schema`](crate::schema), which decides what a viewer makes of it.
    pub name: String,
    /// The timelines.
    pub lines: Vec<XLine>,
    /// What events refer to, by [`XEventMetadata::id`].
    pub event_metadata: BTreeMap<i64, XEventMetadata>,
    /// What stats refer to, by [`XStatMetadata::id`].
    pub stat_metadata: BTreeMap<i64, XStatMetadata>,
    /// Facts about the whole plane, such as a device's capabilities.
    pub stats: Vec<XStat>,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

/// A timeline: events that nest but do not otherwise overlap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XLine {
    /// Lines of one plane with the same id are one timeline.
    pub id: i64,
    /// The row in the viewer; 0: [`id`](Self::id). Viewers cut it to 32 bits.
    pub display_id: i64,
    /// The line's name.
    pub name: String,
    /// The row's name in the viewer; empty: [`name`](Self::name).
    pub display_name: String,
    /// Where the events' offsets count from: ns since the epoch, or since the session's start
    /// once normalised.
    pub timestamp_ns: i64,
    /// How long the line was recorded, in ps.
    pub duration_ps: i64,
    /// The events.
    pub events: Vec<XEvent>,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

/// An event of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XEvent {
    /// Key in [`XPlane::event_metadata`].
    pub metadata_id: i64,
    /// When it started, or how often it happened.
    pub data: Option<x_event::Data>,
    /// How long it took, in ps; 0 for an instant.
    pub duration_ps: i64,
    /// What else is known about it, each with a metadata id of its own.
    pub stats: Vec<XStat>,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

/// A named value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XStat {
    /// Key in [`XPlane::stat_metadata`].
    pub metadata_id: i64,
    /// The value.
    pub value: Option<x_stat::Value>,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

/// What events with the same `metadata_id` have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XEventMetadata {
    /// Its key in [`XPlane::event_metadata`], from 1.
    pub id: i64,
    /// The events' name.
    pub name: String,
    /// Anything else, serialized.
    pub metadata: Vec<u8>,
    /// The events' name in the viewer; empty: [`name`](Self::name).
    pub display_name: String,
    /// Stats that hold of each of the events.
    pub stats: Vec<XStat>,
    /// Keys in [`XPlane::event_metadata`] of the events within.
    pub child_id: Vec<i64>,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

/// What stats with the same `metadata_id` have in common. Also the text of values by reference
/// ([`x_stat::Value::RefValue`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XStatMetadata {
    /// Its key in [`XPlane::stat_metadata`], from 1.
    pub id: i64,
    /// The stats' name; no two of a plane have the same.
    pub name: String,
    /// What the stat means.
    pub description: String,
    /// Fields of newer versions of this message.
    pub unknown_fields: UnknownFields,
}

message!(XSpace { planes = 1, errors = 2, warnings = 3, hostnames = 4 });
message!(XPlane { id = 1, name = 2, lines = 3, event_metadata = 4, stat_metadata = 5, stats = 6 });
message!(XLine {
    id = 1,
    name = 2,
    timestamp_ns = 3,
    events = 4,
    duration_ps = 9,
    display_id = 10,
    display_name = 11,
});
message!(XEvent { metadata_id = 1, data = 2 | 5, duration_ps = 3, stats = 4 });
message!(XStat { metadata_id = 1, value = 2 | 3 | 4 | 5 | 6 | 7 });
message!(XEventMetadata {
    id = 1,
    name = 2,
    metadata = 3,
    display_name = 4,
    stats = 5,
    child_id = 6,
});
message!(XStatMetadata { id = 1, name = 2, description = 3 });
