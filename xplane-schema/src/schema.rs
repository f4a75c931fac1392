//! The names and numbers by which producers, post-processing and viewers know each other.
//!
//! Those of TSL are as in `xla/tsl/profiler/utils/xplane_schema.cc` and `trace_utils.h`; those of
//! ROCTX are this project's.

mod line_ids;
mod stats;

pub use line_ids::{
    LineOrigin, NVTX_LINE_ID_BASE, ROCTX_LINE_ID_BASE, ROCTX_LINE_ID_END, ROCTX_ROW_BASE,
    line_origin, roctx_line_id, row_id,
};
pub use stats::{StatType, TaskEnvStatType};

use crate::proto::XLine;

/// The plane of the host's threads, into which the other host planes are merged.
pub const HOST_THREADS_PLANE_NAME: &str = "/host:CPU";
/// ROCTX markers before post-processing. No stock reader knows it.
pub const ROCTX_PLANE_NAME: &str = "/host:ROCTX";
/// NVTX markers; stock jaxlib merges the first plane of this name into `/host:CPU`.
pub const CUPTI_NVTX_PLANE_NAME: &str = "/host:NVTX-CUPTI";
/// CUDA driver API calls.
pub const CUPTI_DRIVER_API_PLANE_NAME: &str = "/host:CUPTI";
/// HIP API calls.
pub const ROCTRACER_API_PLANE_NAME: &str = "/host:ROCTRACER";
/// Calls of the TPU runtime.
pub const TPU_RUNTIME_PLANE_NAME: &str = "/host:TPU-runtime";
/// Python calls.
pub const PYTHON_TRACER_PLANE_NAME: &str = "/host:python-tracer";
/// HLO modules, as event metadata.
pub const METADATA_PLANE_NAME: &str = "/host:metadata";
/// The tree of scope ranges.
pub const SCOPE_RANGE_ID_TREE_PLANE_NAME: &str = "/host:__ScopeRangeCallStack__";
/// Facts about the session.
pub const TASK_ENV_PLANE_NAME: &str = "Task Environment";
/// Planes of GPUs; the device's number follows.
pub const GPU_PLANE_PREFIX: &str = "/device:GPU:";
/// Planes of TPUs; the device's number follows.
pub const TPU_PLANE_PREFIX: &str = "/device:TPU:";
/// Planes of other devices.
pub const CUSTOM_PLANE_PREFIX: &str = "/device:CUSTOM:";

/// The planes that are merged into [`HOST_THREADS_PLANE_NAME`] as they are, itself among them.
pub const HOST_PLANE_NAMES: [&str; 5] = [
    TPU_RUNTIME_PLANE_NAME,
    CUPTI_DRIVER_API_PLANE_NAME,
    PYTHON_TRACER_PLANE_NAME,
    ROCTRACER_API_PLANE_NAME,
    HOST_THREADS_PLANE_NAME,
];

/// The device vendor of AMD GPUs.
pub const DEVICE_VENDOR_AMD: &str = "AMD";
/// The device vendor of NVIDIA GPUs.
pub const DEVICE_VENDOR_NVIDIA: &str = "Nvidia";

/// Rows of host threads; the thread's id follows.
pub const HOST_THREADS_LINE_PREFIX: &str = "Host Threads/";
/// Rows of ROCTX ranges and marks; the thread's id follows.
pub const ROCTX_THREADS_LINE_PREFIX: &str = "ROCTX Threads/";
/// Rows of start/stop ranges; the lane's number follows.
pub const ROCTX_ASYNC_LINE_PREFIX: &str = "ROCTX Async/";
/// Rows of NVTX ranges and marks; the thread's id follows, then a slash and the domain's name, if it
/// is not the default one.
pub const NVTX_THREADS_LINE_PREFIX: &str = "NVTX Threads/";
/// Rows of NVTX's start/end ranges; the lane's number follows.
pub const NVTX_ASYNC_LINE_PREFIX: &str = "NVTX Async/";
/// How rows of ROCTX ranges and marks end in upstream's form, `Host Threads/<tid>/ROCTX`.
pub const ROCTX_LINE_SUFFIX: &str = "/ROCTX";
/// The row of what is missing from the ROCTX rows, in profiles whose warnings do not survive: one
/// mark a warning.
pub const ROCTX_WARNINGS_LINE_NAME: &str = "ROCTX Warnings";

/// Process ids in trace-viewer JSON: a device's is this plus its plane's id.
pub const FIRST_DEVICE_PID: u32 = 1;
/// Process ids in trace-viewer JSON of planes that are neither host nor device.
pub const FIRST_CUSTOM_PLANE_PID: u32 = 501;
/// Process id in trace-viewer JSON of the host threads.
pub const HOST_THREADS_PID: u32 = 701;

/// Whether a line holds markers, ROCTX's or NVTX's, in this project's form of names, or ROCTX's in
/// upstream's, with or without a thread's name after the id.
pub fn is_marker_line(line: &XLine) -> bool {
    let name = &line.name;
    let prefixes = [
        ROCTX_THREADS_LINE_PREFIX,
        ROCTX_ASYNC_LINE_PREFIX,
        NVTX_THREADS_LINE_PREFIX,
        NVTX_ASYNC_LINE_PREFIX,
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || name
            .strip_prefix(HOST_THREADS_LINE_PREFIX)
            .is_some_and(|rest| {
                let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
                rest.strip_prefix(ROCTX_LINE_SUFFIX)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        || name.ends_with(ROCTX_LINE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_lines_are_known_by_their_names() {
        for (name, expected) in [
            ("ROCTX Threads/17", true),
            ("ROCTX Threads/17 loader", true),
            ("ROCTX Async/0", true),
            ("NVTX Threads/17", true),
            ("NVTX Threads/17/domain loader", true),
            ("NVTX Async/0", true),
            ("Host Threads/17/ROCTX", true),
            ("Host Threads/17/ROCTX loader", true),
            ("python3/ROCTX", true),
            ("Host Threads/17/ROCTXX", false),
            ("Host Threads/17", false),
            ("Host Threads/17/NVTX", false),
            ("ROCTX", false),
            ("", false),
        ] {
            let line = XLine {
                name: name.to_owned(),
                ..Default::default()
            };
            assert_eq!(is_marker_line(&line), expected, "{name}");
        }
    }
}
