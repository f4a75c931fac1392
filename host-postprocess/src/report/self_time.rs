//! How long each range of a line took without the ranges within it.

use std::cmp::Reverse;
use xplane_schema::proto::XLine;
use xplane_schema::visitor::offset_ps;

/// A range around those that are looked at.
struct Open {
    event: usize,
    end_ps: i64,
}

/// For each event of a line, in the line's order, its duration less that of the events directly
/// within it, in ps. Of two events with the same span the later one is within the earlier.
pub(super) fn self_times_ps(line: &XLine) -> Vec<u64> {
    let events = &line.events;
    let span = |event: usize| {
        let start = offset_ps(&events[event]);
        (
            start,
            start.saturating_add(events[event].duration_ps.max(0)),
        )
    };
    let mut order: Vec<usize> = (0..events.len()).collect();
    let key = |&event: &usize| {
        let (start, end) = span(event);
        (start, Reverse(end))
    };
    if !order.is_sorted_by_key(key) {
        order.sort_by_key(key);
    }
    let mut self_times: Vec<u64> = events
        .iter()
        .map(|event| event.duration_ps.max(0) as u64)
        .collect();
    let mut open: Vec<Open> = Vec::new();
    for event in order {
        let (_, end_ps) = span(event);
        // Starts ascend, so that what ends no earlier is around.
        while open.pop_if(|around| around.end_ps < end_ps).is_some() {}
        if let Some(around) = open.last() {
            let duration = events[event].duration_ps.max(0) as u64;
            let left = &mut self_times[around.event];
            *left = left.saturating_sub(duration);
        }
        open.push(Open { event, end_ps });
    }
    self_times
}
