//! Lines of the same id become one.

use crate::builder::PS_PER_NS;
use crate::proto::{XEvent, XLine, XPlane, x_event};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// Where lines are, by id.
pub(super) struct LineIndex(HashMap<i64, usize>);

impl LineIndex {
    /// Of lines that have an id several times it finds the first.
    pub(super) fn new(lines: &[XLine]) -> Self {
        let mut index = HashMap::with_capacity(lines.len());
        for (position, line) in lines.iter().enumerate() {
            index.entry(line.id).or_insert(position);
        }
        Self(index)
    }

    /// The next id from `id` that no line has.
    fn free_id_after(&self, id: i64) -> i64 {
        let mut id = id;
        while self.0.contains_key(&id) {
            id = id.wrapping_add(1);
        }
        id
    }
}

/// Lets lines of the same id, which are one timeline, be one line: the first is extended as by
/// [`merge_planes`](super::merge_planes). Other lines stay as they are.
pub fn fuse_lines_of_same_id(plane: &mut XPlane) {
    let index = LineIndex::new(&plane.lines);
    if index.0.len() == plane.lines.len() {
        return;
    }
    // Ids of all lines are known from the start, so that a line which has to move takes none.
    let mut index = index;
    let mut lines = Vec::with_capacity(plane.lines.len());
    let mut seen = LineIndex::new(&[]);
    for line in std::mem::take(&mut plane.lines) {
        if let Some(moved) = add(line, &mut lines, &mut seen) {
            add_with_free_id(moved, &mut lines, &mut index);
        }
    }
    plane.lines = lines;
}

/// Adds a line, or extends the one that has its id.
pub(super) fn add_line(line: XLine, lines: &mut Vec<XLine>, index: &mut LineIndex) {
    if let Some(moved) = add(line, lines, index) {
        add_with_free_id(moved, lines, index);
    }
}

fn add_with_free_id(mut line: XLine, lines: &mut Vec<XLine>, index: &mut LineIndex) {
    line.id = index.free_id_after(line.id);
    index.0.insert(line.id, lines.len());
    lines.push(line);
}

/// Adds a line, or extends the one that has its id. Gives the line back if it can be neither.
fn add(line: XLine, lines: &mut Vec<XLine>, index: &mut LineIndex) -> Option<XLine> {
    match index.0.entry(line.id) {
        Entry::Vacant(entry) => {
            entry.insert(lines.len());
            lines.push(line);
            None
        }
        Entry::Occupied(entry) => extend(&mut lines[*entry.get()], line).err(),
    }
}

/// Puts the events of `src` into `dst`, or gives `src` back if the two start too far apart.
fn extend(dst: &mut XLine, mut src: XLine) -> Result<(), XLine> {
    if src.events.is_empty() {
        dst.duration_ps = dst.duration_ps.max(src.duration_ps);
    } else if dst.events.is_empty() {
        dst.duration_ps = dst.duration_ps.max(src.duration_ps);
        dst.timestamp_ns = src.timestamp_ns;
        dst.events = src.events;
    } else {
        let (earlier, later) = if src.timestamp_ns <= dst.timestamp_ns {
            (&mut src, &mut *dst)
        } else {
            (&mut *dst, &mut src)
        };
        let Some(shift_ps) = shift_ps(earlier, later) else {
            return Err(src);
        };
        if shift_ps != 0 {
            for event in &mut later.events {
                shift(event, shift_ps);
            }
        }
        let later_end_ps = match later.duration_ps {
            0 => 0,
            duration_ps => duration_ps.saturating_add(shift_ps),
        };
        let duration_ps = earlier.duration_ps.max(later_end_ps);
        let timestamp_ns = earlier.timestamp_ns;
        dst.duration_ps = duration_ps;
        dst.timestamp_ns = timestamp_ns;
        dst.events.append(&mut src.events);
    }
    if dst.name.is_empty() {
        dst.name = src.name;
    }
    if dst.display_name.is_empty() {
        dst.display_name = src.display_name;
    }
    if dst.display_id == 0 {
        dst.display_id = src.display_id;
    }
    dst.unknown_fields.append(src.unknown_fields);
    Ok(())
}

/// How far the events of `later` move when they count from `earlier`'s start, in ps; none if an
/// offset would leave 64 bits.
fn shift_ps(earlier: &XLine, later: &XLine) -> Option<i64> {
    let shift_ns = later.timestamp_ns.checked_sub(earlier.timestamp_ns)?;
    let shift_ps = shift_ns.checked_mul(PS_PER_NS)?;
    let fits = later.events.iter().all(|event| match event.data {
        Some(x_event::Data::OffsetPs(offset_ps)) => offset_ps.checked_add(shift_ps).is_some(),
        Some(x_event::Data::NumOccurrences(_)) | None => true,
    });
    fits.then_some(shift_ps)
}

/// Moves an event, unless it is an aggregate, which has no start.
fn shift(event: &mut XEvent, shift_ps: i64) {
    match &mut event.data {
        Some(x_event::Data::OffsetPs(offset_ps)) => *offset_ps += shift_ps,
        Some(x_event::Data::NumOccurrences(_)) => {}
        None => event.data = Some(x_event::Data::OffsetPs(shift_ps)),
    }
}
