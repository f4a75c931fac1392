//! Finding, removing, merging and sorting planes.

use crate::proto::{XEvent, XLine, XPlane, XSpace};
use crate::visitor::offset_ps;
use std::cmp::Reverse;

pub use crate::merge::{fuse_lines_of_same_id, merge_planes};

/// The first plane of this name.
pub fn find_plane_with_name<'a>(space: &'a XSpace, name: &str) -> Option<&'a XPlane> {
    space.planes.iter().find(|plane| plane.name == name)
}

/// The first plane of this name.
pub fn find_mut_plane_with_name<'a>(space: &'a mut XSpace, name: &str) -> Option<&'a mut XPlane> {
    space.planes.iter_mut().find(|plane| plane.name == name)
}

/// The planes whose names start with `prefix`.
pub fn find_planes_with_prefix<'a>(
    space: &'a XSpace,
    prefix: &str,
) -> impl Iterator<Item = &'a XPlane> {
    space
        .planes
        .iter()
        .filter(move |plane| plane.name.starts_with(prefix))
}

/// The first plane of this name, added at the end if there is none.
pub fn find_or_add_plane_with_name<'a>(space: &'a mut XSpace, name: &str) -> &'a mut XPlane {
    let index = space
        .planes
        .iter()
        .position(|plane| plane.name == name)
        .unwrap_or_else(|| {
            space.planes.push(XPlane {
                name: name.to_owned(),
                ..Default::default()
            });
            space.planes.len() - 1
        });
    &mut space.planes[index]
}

/// Takes the planes of which `remove` is true out of the space.
pub fn remove_planes(space: &mut XSpace, remove: impl FnMut(&mut XPlane) -> bool) -> Vec<XPlane> {
    space.planes.extract_if(.., remove).collect()
}

/// Takes the planes of this name out of the space.
pub fn remove_planes_with_name(space: &mut XSpace, name: &str) -> Vec<XPlane> {
    remove_planes(space, |plane| plane.name == name)
}

/// Drops planes that hold nothing: no line and no stat of their own.
pub fn remove_empty_planes(space: &mut XSpace) {
    space
        .planes
        .retain(|plane| !plane.lines.is_empty() || !plane.stats.is_empty());
}

/// Drops lines without events.
pub fn remove_empty_lines(plane: &mut XPlane) {
    plane.lines.retain(|line| !line.events.is_empty());
}

/// Sorts the lines by what a viewer calls them; lines of the same name keep their order.
pub fn sort_lines_by_name(plane: &mut XPlane) {
    fn shown(line: &XLine) -> &str {
        if line.display_name.is_empty() {
            &line.name
        } else {
            &line.display_name
        }
    }
    plane.lines.sort_by(|a, b| shown(a).cmp(shown(b)));
}

/// Sorts the events by start, longer ones first, so that an event comes before those within it;
/// events of the same span keep their order.
pub fn sort_line_events(line: &mut XLine) {
    let key = |event: &XEvent| (offset_ps(event), Reverse(event.duration_ps));
    if !line.events.is_sorted_by_key(key) {
        line.events.sort_by_cached_key(key);
    }
}

/// [`sort_line_events`] for each line of each plane.
pub fn sort_space(space: &mut XSpace) {
    for plane in &mut space.planes {
        for line in &mut plane.lines {
            sort_line_events(line);
        }
    }
}
