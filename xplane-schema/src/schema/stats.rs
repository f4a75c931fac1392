//! The names of stats.

macro_rules! stat_names {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$item])* $variant,)*
        }

        impl $name {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in a plane's stat metadata.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The one of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

stat_names! {
    /// Stats of events and planes. Names are TSL's, except for those marked as this project's.
    StatType {
        /// The step's number in the program.
        StepNum = "step_num",
        /// The step that the event belongs to, found by XProf.
        GroupId = "group_id",
        /// The name of a step, shown instead of the event's.
        StepName = "step_name",
        /// Whether the event is the root of a step.
        IsRoot = "_r",
        /// Whether the event is asynchronous.
        IsAsync = "_a",
        /// Links between a producer and its consumers.
        ProducerType = "_pt",
        /// Links between a producer and its consumers.
        ProducerId = "_p",
        /// Links between a producer and its consumers.
        ConsumerType = "_ct",
        /// Links between a producer and its consumers.
        ConsumerId = "_c",
        /// The process that a plane comes from.
        ProcessId = "process_id",
        /// The GPU of an API call.
        DeviceId = "device_id",
        /// The context of an API call.
        ContextId = "context_id",
        /// Joins an API call and the GPU work that it started.
        CorrelationId = "correlation_id",
        /// The innermost scope range around a launch.
        ScopeRangeId = "scope_range_id",
        /// The label of the NVTX or ROCTX range around a launch, or of the marker itself.
        NvtxRange = "nvtx_range",
        /// The label of the ROCTX range around a launch (this project's).
        RoctxRange = "roctx_range",
        /// 1 on a range that was open when the session stopped (this project's).
        Truncated = "truncated",
        /// The thread that started a start/stop range (this project's).
        StartThread = "start_thread",
        /// The thread that stopped it (this project's).
        StopThread = "stop_thread",
        /// Its id, as `roctxRangeStartA` returned it (this project's).
        RangeId = "range_id",
        /// The domain of a marker (this project's).
        Domain = "domain",
        /// The schema of a marker's payload (this project's).
        SchemaId = "schema_id",
        /// A marker's payload: a number, or text.
        MarkerPayload = "marker_payload",
        /// The category of an NVTX event, by name or number (this project's).
        Category = "category",
        /// The colour of an NVTX event, `#AARRGGBB` (this project's).
        Color = "color",
        /// Size and kind of a copy.
        MemcpyDetails = "memcpy_details",
        /// Size and kind of an allocation.
        MemallocDetails = "memalloc_details",
        /// Size and kind of what was freed.
        MemFreeDetails = "MemFree_details",
        /// Size and kind of what was set.
        MemsetDetails = "Memset_details",
        /// Grid, block and memory of a kernel.
        KernelDetails = "kernel_details",
        /// The stream of a kernel or copy.
        Stream = "stream",
        /// The operation of the framework that launched the kernel.
        TfOp = "tf_op",
        /// The HLO operation of a kernel.
        HloOp = "hlo_op",
        /// The HLO module of a kernel.
        HloModule = "hlo_module",
        /// The program of a kernel.
        ProgramId = "program_id",
        /// A symbol's number.
        SymbolId = "symbol_id",
        /// Floating point operations.
        Flops = "flops",
        /// The start of a flow arrow.
        Flow = "flow",
        /// An HLO module, serialized.
        HloProto = "Hlo Proto",
        /// A device's clock, in kHz.
        DevCapClockRateKhz = "clock_rate",
        /// A device's compute units.
        DevCapCoreCount = "core_count",
        /// A device's memory bandwidth, in bytes a second.
        DevCapMemoryBandwidth = "memory_bandwidth",
        /// A device's memory, in bytes.
        DevCapMemorySize = "memory_size",
        /// A device's major version.
        DevCapComputeCapMajor = "compute_cap_major",
        /// A device's minor version.
        DevCapComputeCapMinor = "compute_cap_minor",
        /// A device's vendor.
        DevVendor = "device_vendor",
        /// A GPU's name.
        GpuDeviceName = "gpu_device_name",
        /// Events that a collector dropped.
        DroppedTraces = "dropped_traces",
    }
}

impl StatType {
    /// Whether viewers leave the stat out of an event's arguments (TSL's `IsInternalStat`).
    pub const fn is_internal(self) -> bool {
        matches!(
            self,
            Self::ProducerType
                | Self::ProducerId
                | Self::ConsumerType
                | Self::ConsumerId
                | Self::IsRoot
                | Self::Flops
                | Self::ProgramId
                | Self::SymbolId
        )
    }
}

stat_names! {
    /// Stats of the plane [`TASK_ENV_PLANE_NAME`](super::TASK_ENV_PLANE_NAME).
    TaskEnvStatType {
        /// When the session started, in ns since the epoch.
        ProfileStartTime = "profile_start_time",
        /// When the session stopped, in ns since the epoch.
        ProfileStopTime = "profile_stop_time",
        /// The session's options, serialized.
        ProfileOptions = "profile_options",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        for &stat in StatType::ALL {
            assert_eq!(StatType::from_name(stat.as_str()), Some(stat));
        }
        assert_eq!(StatType::from_name("nvtx_range"), Some(StatType::NvtxRange));
        assert_eq!(StatType::from_name("NVTX_range"), None);
    }
}
