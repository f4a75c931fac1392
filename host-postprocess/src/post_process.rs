//! What TSL calls `PostProcessSingleHostXSpace`.

use crate::line_ids::{HostLineIds, make_rows_unique};
use xplane_schema::builder::XPlaneBuilder;
use xplane_schema::proto::{XPlane, XSpace};
use xplane_schema::schema::{
    CUPTI_NVTX_PLANE_NAME, HOST_PLANE_NAMES, HOST_THREADS_PLANE_NAME, ROCTX_PLANE_NAME,
    TASK_ENV_PLANE_NAME, TaskEnvStatType,
};
use xplane_schema::utils::{
    find_mut_plane_with_name, find_or_add_plane_with_name, find_plane_with_name,
    fuse_lines_of_same_id, merge_planes, remove_planes_with_name, sort_lines_by_name, sort_space,
};
use xplane_schema::visitor::XPlaneVisitor;

/// Makes a session's planes into what viewers show.
///
/// `start_ns` and `stop_ns` are the session's, in ns since the epoch. In this order:
///
/// 1. the host planes are merged into `/host:CPU`, where the first of them stood;
/// 2. `/host:NVTX-CUPTI` is merged into it, then `/host:ROCTX`, with line ids as
///    [`schema`](xplane_schema::schema) divides them;
/// 3. planes of the same name are merged, and `/host:CPU`'s lines sorted by name;
/// 4. lines count from `start_ns`, the session's start and stop are noted in `Task Environment`
///    (unless one of them is 0, as in TSL), and the events of each line are sorted.
///
/// Afterwards no two lines of a plane share an id or a viewer's row. A second call with the same
/// times changes nothing. No event is lost or doubled.
pub fn post_process_single_host_xspace(space: &mut XSpace, start_ns: u64, stop_ns: u64) {
    merge_host_planes(space);
    merge_marker_planes(space);
    merge_planes_of_same_name(space);
    for plane in &mut space.planes {
        fuse_lines_of_same_id(plane);
        make_rows_unique(plane);
    }
    if let Some(host) = find_mut_plane_with_name(space, HOST_THREADS_PLANE_NAME) {
        sort_lines_by_name(host);
    }
    normalize(space, start_ns, stop_ns);
    set_session_timestamps(space, start_ns, stop_ns);
    sort_space(space);
}

/// Merges what the host tracers recorded into the first plane of theirs.
fn merge_host_planes(space: &mut XSpace) {
    let is_host = |plane: &XPlane| HOST_PLANE_NAMES.contains(&plane.name.as_str());
    let Some(first) = space.planes.iter().position(is_host) else {
        return;
    };
    let others: Vec<XPlane> = space
        .planes
        .extract_if(first + 1.., |plane| is_host(plane))
        .collect();
    let host = &mut space.planes[first];
    HOST_THREADS_PLANE_NAME.clone_into(&mut host.name);
    for plane in others {
        merge_planes(plane, host);
    }
}

/// Merges the planes of markers into `/host:CPU`, each line under an id that is free.
fn merge_marker_planes(space: &mut XSpace) {
    let nvtx = one_plane(remove_planes_with_name(space, CUPTI_NVTX_PLANE_NAME));
    let roctx = one_plane(remove_planes_with_name(space, ROCTX_PLANE_NAME));
    if nvtx.is_none() && roctx.is_none() {
        return;
    }
    let host = find_or_add_plane_with_name(space, HOST_THREADS_PLANE_NAME);
    let mut ids = HostLineIds::of(host);
    if let Some(mut nvtx) = nvtx {
        ids.assign_nvtx(&mut nvtx);
        merge_planes(nvtx, host);
    }
    if let Some(mut roctx) = roctx {
        ids.assign_roctx(&mut roctx);
        merge_planes(roctx, host);
    }
}

/// Planes of one name as one plane; none if they hold nothing.
fn one_plane(planes: Vec<XPlane>) -> Option<XPlane> {
    let mut planes = planes.into_iter();
    let mut first = planes.next()?;
    for plane in planes {
        merge_planes(plane, &mut first);
    }
    fuse_lines_of_same_id(&mut first);
    (!first.lines.is_empty() || !first.stats.is_empty()).then_some(first)
}

fn merge_planes_of_same_name(space: &mut XSpace) {
    let mut merged: Vec<XPlane> = Vec::with_capacity(space.planes.len());
    for plane in std::mem::take(&mut space.planes) {
        match merged.iter_mut().find(|other| other.name == plane.name) {
            Some(same) => merge_planes(plane, same),
            None => merged.push(plane),
        }
    }
    space.planes = merged;
}

/// Times of a real clock: anything later than 13 days after the epoch, in ns.
const FIRST_WALL_CLOCK_NS: i64 = 1 << 50;

/// Lets lines count from the session's start, once.
///
/// As in TSL, a line that starts before the session counts from its start already. On a real clock
/// that tells the two apart for good. For a session that is said to start near the epoch, the note
/// of an earlier run does.
fn normalize(space: &mut XSpace, start_ns: u64, stop_ns: u64) {
    let Ok(start) = i64::try_from(start_ns) else {
        return;
    };
    let leaves_note = start_ns != 0 && stop_ns != 0;
    let end = if start >= FIRST_WALL_CLOCK_NS || !leaves_note {
        // Past this, a second run could not tell.
        start.saturating_mul(2)
    } else if noted_start_ns(space) == Some(start_ns) {
        return;
    } else {
        i64::MAX
    };
    for line in space.planes.iter_mut().flat_map(|plane| &mut plane.lines) {
        if (start..end).contains(&line.timestamp_ns) {
            line.timestamp_ns -= start;
        }
    }
}

fn noted_start_ns(space: &XSpace) -> Option<u64> {
    let plane = find_plane_with_name(space, TASK_ENV_PLANE_NAME)?;
    XPlaneVisitor::new(plane)
        .stat(TaskEnvStatType::ProfileStartTime.as_str())?
        .as_u64()
}

fn set_session_timestamps(space: &mut XSpace, start_ns: u64, stop_ns: u64) {
    if start_ns == 0 || stop_ns == 0 {
        return;
    }
    let plane = find_or_add_plane_with_name(space, TASK_ENV_PLANE_NAME);
    let mut builder = XPlaneBuilder::new(plane);
    for (stat, value) in [
        (TaskEnvStatType::ProfileStartTime, start_ns),
        (TaskEnvStatType::ProfileStopTime, stop_ns),
    ] {
        let id = builder.get_or_create_stat_metadata(stat.as_str());
        builder.set_stat_value(id, value);
    }
}
