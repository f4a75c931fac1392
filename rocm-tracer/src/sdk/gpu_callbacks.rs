//! What the SDK calls: on the threads that make HIP calls, and with full buffers.
//!
//! Each reads AMD's structs and hands plain data on. Nothing here calls the SDK, and nothing panics.

use super::abi::*;
use super::gpu_abi::*;
use crate::gpu::drops::GpuDropReason;
use crate::gpu::recording::{self, Recording};
use crate::gpu::records::{Activity, ApiCall, Copy, Direction, Kernel, Work};
use crate::gpu::{kernels, labels, streams};
use std::ffi::{CStr, c_int, c_void};

/// A HIP call, on the thread that makes it: what is launched in it belongs to the ranges that are
/// open now, whenever it runs.
pub(super) unsafe extern "C" fn on_hip_call<const CORRELATION: usize>(
    record: Record<CORRELATION>,
    _user_data: *mut c_void,
    _data: *mut c_void,
) {
    if record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API
        && record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER
    {
        labels::remember(record.correlation[0]);
    }
}

/// A code object is loaded: its kernels' names.
pub(super) unsafe extern "C" fn on_code_object<const CORRELATION: usize>(
    record: Record<CORRELATION>,
    _user_data: *mut c_void,
    _data: *mut c_void,
) {
    if record.kind != ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT
        || record.operation != ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER
        || record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER
    {
        return;
    }
    // SAFETY: null or the payload of a record of this kind and operation.
    let Some(symbol) = (unsafe { record.payload.cast::<KernelSymbol>().as_ref() }) else {
        return;
    };
    if !symbol.name.is_null() {
        // SAFETY: the SDK's names are NUL-terminated.
        let name = unsafe { CStr::from_ptr(symbol.name) };
        kernels::name(symbol.kernel, name.to_bytes());
    }
}

/// A HIP call on a stream begins or ends.
pub(super) unsafe extern "C" fn on_stream<const CORRELATION: usize>(
    record: Record<CORRELATION>,
    _user_data: *mut c_void,
    _data: *mut c_void,
) {
    if record.kind != ROCPROFILER_CALLBACK_TRACING_HIP_STREAM
        || record.operation != ROCPROFILER_HIP_STREAM_SET
    {
        return;
    }
    match record.phase {
        ROCPROFILER_CALLBACK_PHASE_ENTER => {
            // SAFETY: null or the payload of a record of this kind.
            let data = unsafe { record.payload.cast::<HipStreamData>().as_ref() };
            // One that says nothing is entered all the same: its end will be told.
            let (stream, handle) = data.map_or((0, 0), |data| (data.stream, data.value));
            streams::enter(stream, handle);
        }
        ROCPROFILER_CALLBACK_PHASE_EXIT => streams::leave(),
        _ => {}
    }
}

/// A kernel or copy is about to be launched: the answer comes back in its record.
pub(super) unsafe extern "C" fn on_external_correlation(
    _thread: u64,
    _context: ContextId,
    _kind: c_int,
    _operation: c_int,
    _correlation: u64,
    external: *mut u64,
    _data: *mut c_void,
) -> c_int {
    if !external.is_null() {
        // SAFETY: the SDK's place for the answer.
        unsafe { external.write(streams::current()) };
    }
    0
}

/// The buffer's records.
pub(super) unsafe extern "C" fn on_buffer<const CORRELATION: usize>(
    _context: ContextId,
    _buffer: BufferId,
    headers: *const *const RecordHeader,
    count: usize,
    _data: *mut c_void,
    dropped: u64,
) {
    recording::with(count, |recording| {
        recording.drop(GpuDropReason::DroppedBySdk, dropped);
        if headers.is_null() {
            return recording.drop(GpuDropReason::Malformed, count as u64);
        }
        for index in 0..count {
            // SAFETY: `count` pointers are there, each null or to a header.
            match unsafe { (*headers.add(index)).as_ref() } {
                // SAFETY: a header of the SDK's version, whose payload is what it says.
                Some(header) => unsafe { add::<CORRELATION>(recording, header) },
                None => recording.drop(GpuDropReason::Malformed, 1),
            }
        }
    });
}

/// Adds a record, or counts why not.
///
/// # Safety
/// The payload is null, or begins with its size and is of the header's category and kind.
unsafe fn add<const CORRELATION: usize>(recording: &mut Recording, header: &RecordHeader) {
    if header.category != ROCPROFILER_BUFFER_CATEGORY_TRACING {
        return recording.drop(GpuDropReason::UnknownKind, 1);
    }
    // SAFETY: this function's contract, and the kind's type.
    unsafe {
        match header.kind as c_int {
            ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API => {
                match read::<HipApiRecord<CORRELATION>>(header.payload) {
                    Some(record) => recording.add_call(call(&record)),
                    None => recording.drop(GpuDropReason::Malformed, 1),
                }
            }
            ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH => {
                match read::<KernelDispatchRecord>(header.payload) {
                    Some(record) => recording.add_activity(kernel(&record)),
                    None => recording.drop(GpuDropReason::Malformed, 1),
                }
            }
            ROCPROFILER_BUFFER_TRACING_MEMORY_COPY => {
                match read::<MemoryCopyRecord>(header.payload) {
                    Some(record) => recording.add_activity(copy(&record)),
                    None => recording.drop(GpuDropReason::Malformed, 1),
                }
            }
            _ => recording.drop(GpuDropReason::UnknownKind, 1),
        }
    }
}

/// The record, if there is one and it is as long as its type.
///
/// # Safety
/// `payload` is null, or to a `u64` with the size of the readable record that begins with it, whose
/// type `T` is or begins with.
unsafe fn read<T: std::marker::Copy>(payload: *const c_void) -> Option<T> {
    if payload.is_null() {
        return None;
    }
    // SAFETY: this function's contract.
    unsafe {
        let size = payload.cast::<u64>().read_unaligned();
        (size >= size_of::<T>() as u64).then(|| payload.cast::<T>().read_unaligned())
    }
}

fn call<const CORRELATION: usize>(record: &HipApiRecord<CORRELATION>) -> ApiCall {
    ApiCall {
        correlation: record.correlation[0],
        operation: record.operation,
        tid: record.thread as u32,
        start_ns: record.start_ns,
        end_ns: record.end_ns,
    }
}

fn kernel(record: &KernelDispatchRecord) -> Activity {
    let dispatch = &record.dispatch;
    activity(
        &record.head,
        dispatch.queue,
        Work::Kernel(Kernel {
            agent: dispatch.agent,
            kernel: dispatch.kernel,
            private_segment_bytes: dispatch.private_segment_bytes,
            group_segment_bytes: dispatch.group_segment_bytes,
            workgroup: dispatch.workgroup,
            grid: dispatch.grid,
        }),
    )
}

fn copy(record: &MemoryCopyRecord) -> Activity {
    let direction = match record.head.operation {
        ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE => Direction::HostToDevice,
        ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST => Direction::DeviceToHost,
        ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE => Direction::DeviceToDevice,
        _ => Direction::Other,
    };
    let work = Work::Copy(Copy {
        direction,
        source_agent: record.src_agent,
        destination_agent: record.dst_agent,
        bytes: record.bytes,
    });
    activity(&record.head, 0, work)
}

fn activity(head: &AsyncHead, queue: u64, work: Work) -> Activity {
    Activity {
        correlation: head.correlation,
        stream: if streams::are_told() {
            head.external
        } else {
            queue
        },
        start_ns: head.start_ns,
        end_ns: head.end_ns,
        work,
    }
}
