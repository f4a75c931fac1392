//! What of the GPU side was not kept, and why: counted here, told in the trace.

/// Why a HIP call, a kernel or a copy is not in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum GpuDropReason {
    /// HIP calls past the session's event limit.
    ApiCapacity,
    /// Kernels and copies past the session's limit.
    ActivityCapacity,
    /// HIP calls that started no work on a device.
    NoActivity,
    /// Work on a device whose HIP call was not recorded.
    NoApiCall,
    /// A second HIP call with the correlation id of another.
    DuplicateCorrelation,
    /// Work on a device that the SDK did not list.
    UnknownDevice,
    /// Not within the session's start and stop, or an end before the start.
    OutsideSession,
    /// A record without content, or shorter than its kind.
    Malformed,
    /// A record of a kind that was not asked for.
    UnknownKind,
    /// Delivered when the session it belongs to had stopped.
    Late,
    /// Dropped by the SDK itself.
    DroppedBySdk,
}

impl GpuDropReason {
    /// Every reason.
    pub(crate) const ALL: [Self; 11] = [
        Self::ApiCapacity,
        Self::ActivityCapacity,
        Self::NoActivity,
        Self::NoApiCall,
        Self::DuplicateCorrelation,
        Self::UnknownDevice,
        Self::OutsideSession,
        Self::Malformed,
        Self::UnknownKind,
        Self::Late,
        Self::DroppedBySdk,
    ];

    /// The reason as the trace tells it, after the count.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::ApiCapacity => {
                "HIP calls dropped: the session's event limit was reached (raise \
                 max_callback_api_events to keep more)"
            }
            Self::ActivityCapacity => {
                "kernels and copies dropped: the session's limit was reached (raise \
                 max_activity_api_events to keep more)"
            }
            Self::NoActivity => "HIP calls left out: they started no kernel or copy",
            Self::NoApiCall => "kernels and copies dropped: their HIP call was not recorded",
            Self::DuplicateCorrelation => "HIP calls dropped: another had their correlation id",
            Self::UnknownDevice => "kernels and copies dropped: on a device that is not listed",
            Self::OutsideSession => "GPU events dropped: time outside the session",
            Self::Malformed => "GPU records dropped: empty or too short",
            Self::UnknownKind => "GPU records dropped: of a kind that was not asked for",
            Self::Late => "GPU records dropped: delivered after their session had stopped",
            Self::DroppedBySdk => "GPU records dropped by rocprofiler-sdk itself",
        }
    }
}

/// Counts by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GpuDropCounts([u64; GpuDropReason::ALL.len()]);

impl GpuDropCounts {
    /// Counts so many more.
    pub(crate) fn add(&mut self, reason: GpuDropReason, count: u64) {
        self.0[reason as usize] += count;
    }

    /// How many were dropped for this reason.
    pub(crate) fn get(&self, reason: GpuDropReason) -> u64 {
        self.0[reason as usize]
    }

    /// What the trace tells of them.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        GpuDropReason::ALL
            .into_iter()
            .filter(|&reason| self.get(reason) > 0)
            .map(|reason| format!("GPU: {} {}", self.get(reason), reason.describe()))
    }
}
