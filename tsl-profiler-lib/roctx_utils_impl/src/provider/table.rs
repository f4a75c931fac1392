//! The ROCTX functions that this crate calls.

use super::{ProviderInfo, ProviderKind};
use embedded_roctx::tables::{
    ControlFn, MarkFn, NameDeviceFn, NameHandleFn, NameThreadFn, PopFn, PushFn, StartFn, StopFn,
};

/// One function pointer a call; a library may lack those for names and control.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    pub(crate) mark: MarkFn,
    pub(crate) push: PushFn,
    pub(crate) pop: PopFn,
    pub(crate) start: StartFn,
    pub(crate) stop: StopFn,
    pub(crate) pause: Option<ControlFn>,
    pub(crate) resume: Option<ControlFn>,
    pub(crate) name_os_thread: Option<NameThreadFn>,
    pub(crate) name_hip_device: Option<NameDeviceFn>,
    pub(crate) name_hip_stream: Option<NameHandleFn>,
}

/// The embedded ROCTX.
pub(crate) static EMBEDDED: Table = Table {
    mark: embedded_roctx::roctxMarkA,
    push: embedded_roctx::roctxRangePushA,
    pop: embedded_roctx::roctxRangePop,
    start: embedded_roctx::roctxRangeStartA,
    stop: embedded_roctx::roctxRangeStop,
    pause: Some(embedded_roctx::roctxProfilerPause),
    resume: Some(embedded_roctx::roctxProfilerResume),
    name_os_thread: Some(embedded_roctx::roctxNameOsThread),
    name_hip_device: Some(embedded_roctx::roctxNameHipDevice),
    name_hip_stream: Some(embedded_roctx::roctxNameHipStream),
};

/// What there is to say about it.
pub(super) fn embedded_info() -> &'static ProviderInfo {
    static INFO: ProviderInfo = ProviderInfo {
        kind: ProviderKind::Embedded,
        path: None,
        version: Some(embedded_roctx::VERSION),
        missing: Vec::new(),
    };
    &INFO
}
