//! The part of rocprofiler-sdk's C ABI that the GPU side needs: agents, kernels' names, streams,
//! buffers and their records.
//!
//! Sizes and offsets are those of AMD's headers of versions 0.5.0 and 1.0.0, printed by a C
//! compiler; `cc/layout_assertions.c` has the same numbers for whoever has the headers. A struct
//! here may be a prefix of AMD's: what is behind it is not read.

#![allow(non_camel_case_types)]

use super::abi::{CallbackFn, ContextId, rocprofiler_status_t};
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

// rocprofiler_buffer_category_t
pub(super) const ROCPROFILER_BUFFER_CATEGORY_TRACING: u32 = 1;

// rocprofiler_buffer_tracing_kind_t
pub(super) const ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API: c_int = 5;
pub(super) const ROCPROFILER_BUFFER_TRACING_MEMORY_COPY: c_int = 10;
pub(super) const ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH: c_int = 11;

// rocprofiler_callback_tracing_kind_t; HIP_STREAM came with 1.0
pub(super) const ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API: c_int = 5;
pub(super) const ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT: c_int = 10;
pub(super) const ROCPROFILER_CALLBACK_TRACING_HIP_STREAM: c_int = 20;

// rocprofiler_code_object_operation_t
pub(super) const ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER: c_int = 2;

// rocprofiler_hip_stream_operation_t
pub(super) const ROCPROFILER_HIP_STREAM_SET: c_int = 3;

// rocprofiler_external_correlation_id_request_kind_t
pub(super) const ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY: c_int = 10;
pub(super) const ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH: c_int = 11;

// rocprofiler_memory_copy_operation_t
pub(super) const ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE: c_int = 2;
pub(super) const ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST: c_int = 3;
pub(super) const ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE: c_int = 4;

// rocprofiler_buffer_policy_t
pub(super) const ROCPROFILER_BUFFER_POLICY_LOSSLESS: c_int = 2;

// rocprofiler_agent_version_t, rocprofiler_agent_type_t
pub(super) const ROCPROFILER_AGENT_INFO_VERSION_0: c_int = 1;
pub(super) const ROCPROFILER_AGENT_TYPE_GPU: c_int = 2;

// HSA_HEAPTYPE
pub(super) const HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC: c_int = 1;
pub(super) const HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE: c_int = 2;

/// `rocprofiler_buffer_id_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct BufferId {
    pub(super) handle: u64,
}

/// `rocprofiler_callback_thread_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CallbackThread {
    pub(super) handle: u64,
}

/// `rocprofiler_record_header_t`
#[repr(C)]
pub(super) struct RecordHeader {
    pub(super) category: u32,
    pub(super) kind: u32,
    pub(super) payload: *const c_void,
}
const _: () = assert!(size_of::<RecordHeader>() == 16 && offset_of!(RecordHeader, payload) == 8);

/// `rocprofiler_buffer_tracing_hip_api_record_t` with a correlation id of so many words: as that of
/// a callback record, two up to 0.6 and three from 1.0.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct HipApiRecord<const CORRELATION: usize> {
    pub(super) size: u64,
    pub(super) kind: c_int,
    pub(super) operation: c_int,
    pub(super) correlation: [u64; CORRELATION],
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) thread: u64,
}
const _: () = assert!(
    size_of::<HipApiRecord<2>>() == 56
        && offset_of!(HipApiRecord<2>, correlation) == 16
        && offset_of!(HipApiRecord<2>, start_ns) == 32
        && offset_of!(HipApiRecord<2>, thread) == 48
);
const _: () = assert!(
    size_of::<HipApiRecord<3>>() == 64
        && offset_of!(HipApiRecord<3>, start_ns) == 40
        && offset_of!(HipApiRecord<3>, thread) == 56
);

/// How records of work on a device begin, in every version: their correlation id never had an
/// ancestor.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AsyncHead {
    pub(super) size: u64,
    pub(super) kind: c_int,
    pub(super) operation: c_int,
    pub(super) correlation: u64,
    /// What the tool answered when it was asked for an external correlation id.
    pub(super) external: u64,
    pub(super) thread: u64,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
}
const _: () = assert!(
    size_of::<AsyncHead>() == 56
        && offset_of!(AsyncHead, kind) == 8
        && offset_of!(AsyncHead, correlation) == 16
        && offset_of!(AsyncHead, thread) == 32
        && offset_of!(AsyncHead, start_ns) == 40
        && offset_of!(AsyncHead, end_ns) == 48
);

/// `rocprofiler_buffer_tracing_memory_copy_record_t`: all of 0.5's, a prefix of 1.0's.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MemoryCopyRecord {
    pub(super) head: AsyncHead,
    pub(super) dst_agent: u64,
    pub(super) src_agent: u64,
    pub(super) bytes: u64,
}
const _: () = assert!(
    size_of::<MemoryCopyRecord>() == 80
        && offset_of!(MemoryCopyRecord, dst_agent) == 56
        && offset_of!(MemoryCopyRecord, src_agent) == 64
        && offset_of!(MemoryCopyRecord, bytes) == 72
);

/// `rocprofiler_buffer_tracing_kernel_dispatch_record_t` without its reserved padding.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct KernelDispatchRecord {
    pub(super) head: AsyncHead,
    pub(super) dispatch: DispatchInfo,
}
const _: () = assert!(
    size_of::<KernelDispatchRecord>() == 128 && offset_of!(KernelDispatchRecord, dispatch) == 56
);

/// `rocprofiler_kernel_dispatch_info_t` without its reserved padding.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct DispatchInfo {
    pub(super) size: u64,
    pub(super) agent: u64,
    pub(super) queue: u64,
    pub(super) kernel: u64,
    pub(super) dispatch: u64,
    pub(super) private_segment_bytes: u32,
    pub(super) group_segment_bytes: u32,
    pub(super) workgroup: [u32; 3],
    pub(super) grid: [u32; 3],
}
const _: () = assert!(
    size_of::<DispatchInfo>() == 72
        && offset_of!(DispatchInfo, agent) == 8
        && offset_of!(DispatchInfo, queue) == 16
        && offset_of!(DispatchInfo, kernel) == 24
        && offset_of!(DispatchInfo, dispatch) == 32
        && offset_of!(DispatchInfo, private_segment_bytes) == 40
        && offset_of!(DispatchInfo, group_segment_bytes) == 44
        && offset_of!(DispatchInfo, workgroup) == 48
        && offset_of!(DispatchInfo, grid) == 60
);

/// `rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t`, a prefix.
#[repr(C)]
pub(super) struct KernelSymbol {
    size: u64,
    pub(super) kernel: u64,
    code_object: u64,
    pub(super) name: *const c_char,
}
const _: () =
    assert!(offset_of!(KernelSymbol, kernel) == 8 && offset_of!(KernelSymbol, name) == 24);

/// `rocprofiler_callback_tracing_hip_stream_data_t`
#[repr(C)]
pub(super) struct HipStreamData {
    size: u64,
    /// The SDK's own number of the stream.
    pub(super) stream: u64,
    /// The `hipStream_t`.
    pub(super) value: u64,
}
const _: () = assert!(
    size_of::<HipStreamData>() == 24
        && offset_of!(HipStreamData, stream) == 8
        && offset_of!(HipStreamData, value) == 16
);

/// `rocprofiler_agent_v0_t`, a prefix. In between are words that are not used here.
#[repr(C)]
pub(super) struct AgentV0 {
    pub(super) size: u64,
    pub(super) id: u64,
    pub(super) kind: c_int,
    unused_1: [u32; 2],
    pub(super) memory_bank_count: u32,
    unused_2: [u32; 10],
    pub(super) compute_units: u32,
    unused_3: [u32; 6],
    pub(super) gfx_target_version: u32,
    unused_4: [u32; 9],
    pub(super) max_engine_clock_mhz: u32,
    unused_5: [u64; 10],
    pub(super) memory_banks: *const MemoryBank,
    unused_6: [*const c_void; 2],
    pub(super) name: *const c_char,
    vendor_name: *const c_char,
    pub(super) product_name: *const c_char,
}
const _: () = assert!(
    size_of::<AgentV0>() == 272
        && offset_of!(AgentV0, id) == 8
        && offset_of!(AgentV0, kind) == 16
        && offset_of!(AgentV0, memory_bank_count) == 28
        && offset_of!(AgentV0, compute_units) == 72
        && offset_of!(AgentV0, gfx_target_version) == 100
        && offset_of!(AgentV0, max_engine_clock_mhz) == 140
        && offset_of!(AgentV0, memory_banks) == 224
        && offset_of!(AgentV0, name) == 248
        && offset_of!(AgentV0, product_name) == 264
);

/// `rocprofiler_agent_mem_bank_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MemoryBank {
    pub(super) heap: c_int,
    flags: u32,
    pub(super) width_bits: u32,
    pub(super) max_clock_mhz: u32,
    pub(super) bytes: u64,
}
const _: () = assert!(
    size_of::<MemoryBank>() == 24
        && offset_of!(MemoryBank, width_bits) == 8
        && offset_of!(MemoryBank, max_clock_mhz) == 12
        && offset_of!(MemoryBank, bytes) == 16
);

/// `rocprofiler_buffer_tracing_cb_t`
pub(super) type BufferFn =
    unsafe extern "C" fn(ContextId, BufferId, *const *const RecordHeader, usize, *mut c_void, u64);

/// `rocprofiler_external_correlation_id_request_cb_t`
pub(super) type ExternalCorrelationFn =
    unsafe extern "C" fn(u64, ContextId, c_int, c_int, u64, *mut u64, *mut c_void) -> c_int;

/// `rocprofiler_query_available_agents_cb_t`
pub(super) type AgentsFn =
    unsafe extern "C" fn(c_int, *const *const c_void, usize, *mut c_void) -> rocprofiler_status_t;

/// A callback of the layout that `CORRELATION` words make.
pub(super) type TracingFn<const CORRELATION: usize> = CallbackFn<super::abi::Record<CORRELATION>>;

/// What the GPU side calls in `librocprofiler-sdk.so`, by AMD's names.
#[derive(Clone, Copy)]
pub(super) struct GpuFunctions {
    pub(super) query_available_agents:
        unsafe extern "C" fn(c_int, AgentsFn, usize, *mut c_void) -> rocprofiler_status_t,
    pub(super) create_buffer: unsafe extern "C" fn(
        ContextId,
        usize,
        usize,
        c_int,
        BufferFn,
        *mut c_void,
        *mut BufferId,
    ) -> rocprofiler_status_t,
    pub(super) flush_buffer: unsafe extern "C" fn(BufferId) -> rocprofiler_status_t,
    pub(super) configure_buffer_tracing_service: unsafe extern "C" fn(
        ContextId,
        c_int,
        *const c_int,
        usize,
        BufferId,
    ) -> rocprofiler_status_t,
    pub(super) configure_external_correlation_id_request_service:
        unsafe extern "C" fn(
            ContextId,
            *const c_int,
            usize,
            ExternalCorrelationFn,
            *mut c_void,
        ) -> rocprofiler_status_t,
    pub(super) create_callback_thread:
        unsafe extern "C" fn(*mut CallbackThread) -> rocprofiler_status_t,
    pub(super) assign_callback_thread:
        unsafe extern "C" fn(BufferId, CallbackThread) -> rocprofiler_status_t,
    pub(super) query_buffer_tracing_kind_operation_name:
        unsafe extern "C" fn(c_int, c_int, *mut *const c_char, *mut u64) -> rocprofiler_status_t,
}
