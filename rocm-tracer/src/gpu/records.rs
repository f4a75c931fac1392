//! What rocprofiler-sdk reports, as plain data. Times are ns of `CLOCK_BOOTTIME`.

/// Stands for no correlation: `ROCPROFILER_CORRELATION_ID_INTERNAL_NONE`.
pub(crate) const NO_CORRELATION: u64 = 0;

/// A call of the HIP runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ApiCall {
    pub(crate) correlation: u64,
    /// AMD's number of the function, which differs between versions.
    pub(crate) operation: i32,
    pub(crate) tid: u32,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// Work on a device that a HIP call started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    pub(crate) correlation: u64,
    /// The SDK's number of the stream, or where the SDK tells none, the queue's.
    pub(crate) stream: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) work: Work,
}

/// What a device did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Kernel(Kernel),
    Copy(Copy),
}

/// A kernel's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub(crate) agent: u64,
    pub(crate) kernel: u64,
    pub(crate) private_segment_bytes: u32,
    pub(crate) group_segment_bytes: u32,
    pub(crate) workgroup: [u32; 3],
    /// In work items.
    pub(crate) grid: [u32; 3],
}

/// A copy of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) direction: Direction,
    pub(crate) source_agent: u64,
    pub(crate) destination_agent: u64,
    pub(crate) bytes: u64,
}

/// From where to where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Other,
}

impl Work {
    /// TSL's name of the event's type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "Kernel",
            Self::Copy(copy) => match copy.direction {
                Direction::HostToDevice => "MemcpyH2D",
                Direction::DeviceToHost => "MemcpyD2H",
                Direction::DeviceToDevice => "MemcpyD2D",
                Direction::Other => "MemcpyOther",
            },
        }
    }
}

/// What the SDK tells of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Device {
    /// The id by which records name it.
    pub(crate) agent: u64,
    /// The architecture: `gfx942`, say.
    pub(crate) name: String,
    pub(crate) clock_mhz: u32,
    pub(crate) compute_units: u32,
    /// `major * 10000 + minor * 100 + stepping`
    pub(crate) gfx_target_version: u32,
    /// The frame buffer's banks; other memory is not the device's own.
    pub(crate) memory: Vec<MemoryBank>,
}

/// A bank of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryBank {
    pub(crate) bytes: u64,
    pub(crate) clock_mhz: u32,
    pub(crate) width_bits: u32,
}
