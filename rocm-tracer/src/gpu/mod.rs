//! The GPU side: HIP calls and the work that they start on devices.
//!
//! In: what `sdk` read from rocprofiler-sdk's callbacks and records, as the plain data
//! of `records`. Out: device planes, the plane of HIP calls and the tree of scope ranges, in which
//! each kernel and copy carries the labels that stood when it was launched.
//!
//! ```text
//! HIP call, on enter ──► AnnotationMap ────────────────────────┐
//! records, from the SDK's buffer ──► recording ──► join ──► export ──► planes
//! code objects ──► kernels (names) ────────────────────────────┘
//! ```
//!
//! | module | job |
//! |---|---|
//! | `records` | a HIP call, a kernel, a copy, a device: plain data |
//! | `recording` | the session's records, with limits; closed between sessions |
//! | `kernels` | kernels' names, by the id that records carry |
//! | `streams` | the stream that a thread is launching on |
//! | `labels` | what stood around each HIP call |
//! | `join` | HIP calls and the work they started, by correlation id |
//! | `devices` | what a device's plane tells of the device |
//! | `events` | events with their stats |
//! | `export` | the planes |
//! | `drops` | what was not kept, by reason |

pub(crate) mod devices;
pub(crate) mod drops;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod join;
pub(crate) mod kernels;
pub(crate) mod labels;
pub(crate) mod recording;
pub(crate) mod records;
pub(crate) mod streams;

use crate::sdk;
use crate::tracer::RocmTracerOptions;
use export::GpuCapture;

/// A session starts: records and labels are kept from now on.
///
/// # Errors
/// Why there will be none.
pub(crate) fn start(options: &RocmTracerOptions) -> Result<(), String> {
    sdk::gpu::configured()?;
    recording::begin(options.max_activity_api_events);
    labels::begin(
        options
            .max_annotation_strings
            .try_into()
            .unwrap_or(usize::MAX),
    );
    sdk::gpu::start().inspect_err(|_| {
        recording::take();
        labels::take();
    })
}

/// A session stops: takes what it captured. From now on nothing is kept.
pub(crate) fn stop() -> GpuCapture {
    let mut warnings = Vec::new();
    if let Err(reason) = sdk::gpu::stop() {
        tracing::warn!("{reason}");
        warnings.push(format!("GPU: the last records may be missing: {reason}"));
    }
    let recording = recording::take();
    let (devices, done_without) = sdk::gpu::devices();
    if !recording.activities.is_empty() {
        warnings.extend(done_without.iter().map(|reason| format!("GPU: {reason}")));
    }
    let operations = recording
        .calls
        .iter()
        .map(|call| call.operation)
        .collect::<hashbrown::HashSet<_>>()
        .into_iter()
        .filter_map(|operation| Some((operation, sdk::gpu::operation_name(operation)?)))
        .collect();
    GpuCapture {
        recording,
        labels: labels::take(),
        devices,
        kernels: kernels::names(),
        operations,
        streams: streams::handles(),
        warnings,
    }
}

/// Forgets, in a child process, that its parent had a session.
pub(crate) fn abandon_in_child() {
    recording::take();
    labels::take();
}
