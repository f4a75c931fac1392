//! HIP calls and the work that they started, by their correlation ids.

use super::drops::{GpuDropCounts, GpuDropReason};
use super::recording::Recording;
use super::records::{Activity, ApiCall, NO_CORRELATION};
use hashbrown::HashMap;

/// What is to be exported, in order of start.
#[derive(Default)]
pub(crate) struct Joined {
    /// Each call, with the number in `activities` of the first work that it started, if any.
    pub(crate) calls: Vec<(ApiCall, Option<usize>)>,
    /// Each piece of work, with the number in `calls` of the call that started it, if it was kept.
    pub(crate) activities: Vec<(Activity, Option<usize>)>,
    pub(crate) drops: GpuDropCounts,
}

/// Joins a session's records. One call can start much work (a graph launch), and work comes in any
/// order.
///
/// As upstream has it, a call without work and work without a call are left out, with a count;
/// `keep_unmatched` keeps both.
pub(crate) fn join(recording: Recording, keep_unmatched: bool) -> Joined {
    let Recording {
        mut calls,
        mut activities,
        auxiliary,
        mut drops,
        ..
    } = recording;
    calls.sort_by_key(|call| (call.start_ns, call.correlation));
    activities.sort_by_key(|activity| (activity.start_ns, activity.end_ns, activity.correlation));

    let mut call_of: HashMap<u64, usize> = HashMap::with_capacity(calls.len());
    let before = calls.len();
    let mut kept = 0;
    calls.retain(|call| {
        let first = call.correlation == NO_CORRELATION
            || call_of.try_insert(call.correlation, kept).is_ok();
        kept += usize::from(first);
        first
    });
    drops.add(
        GpuDropReason::DuplicateCorrelation,
        (before - calls.len()) as u64,
    );

    let before = activities.len();
    if !keep_unmatched {
        activities.retain(|activity| {
            let id = activity.correlation;
            id != NO_CORRELATION && (call_of.contains_key(&id) || auxiliary.contains(&id))
        });
    }
    drops.add(GpuDropReason::NoApiCall, (before - activities.len()) as u64);

    let mut first_work: Vec<Option<usize>> = vec![None; calls.len()];
    let mut joined_activities = Vec::with_capacity(activities.len());
    for (number, activity) in activities.into_iter().enumerate() {
        let call = call_of.get(&activity.correlation).copied();
        if let Some(call) = call {
            first_work[call].get_or_insert(number);
        }
        joined_activities.push((activity, call));
    }

    let mut joined = Joined {
        calls: calls.into_iter().zip(first_work).collect(),
        activities: joined_activities,
        drops,
    };
    if !keep_unmatched {
        joined.leave_out_calls_without_work();
    }
    joined
}

impl Joined {
    fn leave_out_calls_without_work(&mut self) {
        let mut new_number = Vec::with_capacity(self.calls.len());
        let mut kept = 0;
        for (_, work) in &self.calls {
            new_number.push(kept);
            kept += usize::from(work.is_some());
        }
        let before = self.calls.len();
        self.calls.retain(|(_, work)| work.is_some());
        self.drops.add(
            GpuDropReason::NoActivity,
            (before - self.calls.len()) as u64,
        );
        for (_, call) in &mut self.activities {
            *call = call.map(|number| new_number[number]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{Kernel, Work};
    use super::*;
    use proptest::prelude::*;

    fn call((correlation, start_ns): (u64, u64)) -> ApiCall {
        ApiCall {
            correlation,
            operation: 0,
            tid: 1,
            start_ns,
            end_ns: start_ns + 1,
        }
    }

    fn activity((correlation, start_ns): (u64, u64)) -> Activity {
        Activity {
            correlation,
            stream: 0,
            start_ns,
            end_ns: start_ns + 1,
            work: Work::Kernel(Kernel {
                agent: 1,
                kernel: 1,
                private_segment_bytes: 0,
                group_segment_bytes: 0,
                workgroup: [1; 3],
                grid: [1; 3],
            }),
        }
    }

    proptest! {
        /// Whatever was recorded, in whatever order: all of it is either joined or counted once,
        /// and what is joined belongs together.
        #[test]
        fn everything_is_joined_or_counted(
            calls in prop::collection::vec((0u64..8, 0u64..100), 0..12),
            activities in prop::collection::vec((0u64..8, 0u64..100), 0..12),
            auxiliary in prop::collection::vec(1u64..8, 0..3),
            keep_unmatched: bool,
        ) {
            let recording = Recording {
                calls: calls.iter().copied().map(call).collect(),
                activities: activities.iter().copied().map(activity).collect(),
                auxiliary: auxiliary.iter().copied().collect(),
                ..Recording::default()
            };
            let joined = join(recording, keep_unmatched);
            let dropped = |reason| joined.drops.get(reason) as usize;

            let dropped_calls = dropped(GpuDropReason::NoActivity)
                + dropped(GpuDropReason::DuplicateCorrelation);
            prop_assert_eq!(joined.calls.len() + dropped_calls, calls.len());
            let orphans = dropped(GpuDropReason::NoApiCall);
            prop_assert_eq!(joined.activities.len() + orphans, activities.len());
            if keep_unmatched {
                prop_assert_eq!(orphans + dropped(GpuDropReason::NoActivity), 0);
            }

            for pair in joined.activities.windows(2) {
                prop_assert!(pair[0].0.start_ns <= pair[1].0.start_ns);
            }
            for (activity, call) in &joined.activities {
                let id = activity.correlation;
                match call {
                    Some(call) => prop_assert_eq!(joined.calls[*call].0.correlation, id),
                    None => prop_assert!(keep_unmatched || auxiliary.contains(&id)),
                }
                if id == NO_CORRELATION {
                    prop_assert_eq!(*call, None);
                }
            }
            for (call, work) in &joined.calls {
                let first = joined
                    .activities
                    .iter()
                    .position(|(activity, _)| activity.correlation == call.correlation);
                if call.correlation == NO_CORRELATION {
                    prop_assert_eq!(*work, None);
                } else {
                    prop_assert_eq!(*work, first);
                }
                prop_assert!(keep_unmatched || work.is_some());
            }
        }
    }
}
