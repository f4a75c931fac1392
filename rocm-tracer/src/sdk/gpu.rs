//! The SDK's GPU services: three contexts and one buffer.
//!
//! | context | runs | services |
//! |---|---|---|
//! | utility | for the process's life | code objects: kernels' names |
//! | stream | for the process's life | HIP streams, so that work at a session's start has one |
//! | main | during sessions | HIP calls' labels, on enter; records of calls, kernels and copies |
//!
//! What can be done without (streams, in versions that do not tell them; labels) is done without,
//! with a warning.

use super::abi::*;
use super::gpu_abi::*;
use super::gpu_callbacks as callbacks;
use crate::gpu::records::{Device, MemoryBank};
use crate::gpu::streams;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Bytes of the buffer, and how full it is when it is delivered. Records have 56 to 184 bytes; with
/// the lossless policy a full buffer makes the program wait, so delivery starts well before.
const BUFFER_BYTES: usize = 1 << 20;
const WATERMARK_BYTES: usize = 256 << 10;

/// The configured services.
#[derive(Clone)]
struct Services {
    functions: Functions,
    gpu: GpuFunctions,
    main: ContextId,
    buffer: BufferId,
    devices: Arc<[Device]>,
    /// What was done without.
    warnings: Arc<[String]>,
}

static SERVICES: Mutex<Option<Result<Services, String>>> = Mutex::new(None);

/// Configures the services. To be called from the tool's initialization.
pub(super) fn configure(functions: &Functions, version: u32) {
    let result = match functions.gpu {
        Some(gpu) if version < FIRST_NEW_LAYOUT => services::<2>(functions, gpu),
        Some(gpu) => services::<3>(functions, gpu),
        None => Err(
            "this version of rocprofiler-sdk lacks functions for kernels and copies; 0.4 or newer \
             is needed"
                .to_owned(),
        ),
    };
    *SERVICES.lock() = Some(result);
}

/// Does without them, which is for good: a process configures the SDK once.
pub(super) fn leave_out() {
    let reason = "GPU tracing was off in the session that configured rocprofiler-sdk, which a process \
                  does once";
    *SERVICES.lock() = Some(Err(reason.to_owned()));
}

/// Whether the services were configured, or why not.
pub(crate) fn configured() -> Result<(), String> {
    match &*SERVICES.lock() {
        None => Err("rocprofiler-sdk did not initialize this tool".to_owned()),
        Some(Err(reason)) => Err(reason.clone()),
        Some(Ok(_)) => Ok(()),
    }
}

/// The GPUs, in the order of their numbers, and what was done without.
pub(crate) fn devices() -> (Arc<[Device]>, Arc<[String]>) {
    match &*SERVICES.lock() {
        Some(Ok(services)) => (services.devices.clone(), services.warnings.clone()),
        _ => (Arc::new([]), Arc::new([])),
    }
}

/// Lets calls and records come.
pub(crate) fn start() -> Result<(), String> {
    configured()?;
    if super::is_finalized() {
        return Err(super::ENDED.to_owned());
    }
    let Some(Ok(services)) = SERVICES.lock().clone() else {
        return Ok(());
    };
    // SAFETY: the context was created by this library.
    let status = unsafe { (services.functions.start_context)(services.main) };
    super::checked(&services.functions, "rocprofiler_start_context", status)
}

/// Stops them and has delivered what the buffer still holds. What was launched before is recorded
/// by the SDK when it ends; it is in the buffer if it has ended.
pub(crate) fn stop() -> Result<(), String> {
    let Some(Ok(services)) = SERVICES.lock().clone() else {
        return Ok(());
    };
    if super::is_finalized() {
        return Ok(());
    }
    // SAFETY: the context was created by this library.
    let stopped = unsafe { (services.functions.stop_context)(services.main) };
    let flushed = flush();
    super::checked(&services.functions, "rocprofiler_stop_context", stopped)?;
    flushed
}

/// Has delivered what the buffer holds.
pub(crate) fn flush() -> Result<(), String> {
    let Some(Ok(services)) = SERVICES.lock().clone() else {
        return Ok(());
    };
    if super::is_finalized() {
        return Ok(());
    }
    // SAFETY: the buffer was created by this library.
    let status = unsafe { (services.gpu.flush_buffer)(services.buffer) };
    super::checked(&services.functions, "rocprofiler_flush_buffer", status)
}

/// The name of a HIP function, by AMD's number.
pub(crate) fn operation_name(operation: i32) -> Option<String> {
    let Some(Ok(services)) = SERVICES.lock().clone() else {
        return None;
    };
    if super::is_finalized() {
        return None;
    }
    let mut name: *const c_char = ptr::null();
    let mut length = 0u64;
    // SAFETY: places for a pointer and a length.
    let status = unsafe {
        (services.gpu.query_buffer_tracing_kind_operation_name)(
            ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
            operation,
            &raw mut name,
            &raw mut length,
        )
    };
    if status != ROCPROFILER_STATUS_SUCCESS || name.is_null() {
        return None;
    }
    // SAFETY: a string literal of the SDK, NUL-terminated.
    let name = unsafe { CStr::from_ptr(name) };
    Some(name.to_string_lossy().into_owned())
}

fn services<const CORRELATION: usize>(
    functions: &Functions,
    gpu: GpuFunctions,
) -> Result<Services, String> {
    let check = |call, status| super::checked(functions, call, status);
    let mut warnings = Vec::new();
    let devices = query_devices(functions, &gpu)?;

    let utility = create_context(functions)?;
    let operations = [ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER];
    let kernels_told = listen::<CORRELATION>(
        functions,
        utility,
        ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
        &operations,
        callbacks::on_code_object::<CORRELATION>,
    )
    .and_then(|()| start_context(functions, utility));
    if let Err(reason) = kernels_told {
        warnings.push(format!("kernels have numbers in place of names: {reason}"));
    }

    let streams_told = create_context(functions).and_then(|stream| {
        listen::<CORRELATION>(
            functions,
            stream,
            ROCPROFILER_CALLBACK_TRACING_HIP_STREAM,
            &[],
            callbacks::on_stream::<CORRELATION>,
        )?;
        start_context(functions, stream)
    });

    let main = create_context(functions)?;
    let mut buffer = BufferId { handle: 0 };
    // SAFETY: a place for a buffer id; the callback has the type asked for and needs no data.
    let status = unsafe {
        (gpu.create_buffer)(
            main,
            BUFFER_BYTES,
            WATERMARK_BYTES,
            ROCPROFILER_BUFFER_POLICY_LOSSLESS,
            callbacks::on_buffer::<CORRELATION>,
            ptr::null_mut(),
            &raw mut buffer,
        )
    };
    check("rocprofiler_create_buffer", status)?;
    for kind in [
        ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
        ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
        ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
    ] {
        // SAFETY: both were just created; no operations named means all of the kind.
        let status =
            unsafe { (gpu.configure_buffer_tracing_service)(main, kind, ptr::null(), 0, buffer) };
        check("rocprofiler_configure_buffer_tracing_service", status)?;
    }

    if let Err(reason) = streams_told.and_then(|()| ask_for_streams(functions, &gpu, main)) {
        warnings.push(format!(
            "kernels and copies are on rows by queue, not by stream: {reason}"
        ));
    } else {
        streams::set_told();
    }
    if let Err(reason) = listen::<CORRELATION>(
        functions,
        main,
        ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
        &[],
        callbacks::on_hip_call::<CORRELATION>,
    ) {
        warnings.push(format!(
            "kernels and copies carry no labels of ranges: {reason}"
        ));
    }
    if let Err(reason) = deliver_on_own_thread(functions, &gpu, buffer) {
        // The SDK then delivers on the threads that it has.
        tracing::debug!("{reason}");
    }
    Ok(Services {
        functions: *functions,
        gpu,
        main,
        buffer,
        devices: devices.into(),
        warnings: warnings.into(),
    })
}

pub(super) fn create_context(functions: &Functions) -> Result<ContextId, String> {
    let mut context = ContextId { handle: 0 };
    // SAFETY: a place for one context id, which is 0 as the SDK asks.
    let status = unsafe { (functions.create_context)(&raw mut context) };
    super::checked(functions, "rocprofiler_create_context", status)?;
    Ok(context)
}

fn start_context(functions: &Functions, context: ContextId) -> Result<(), String> {
    // SAFETY: the context was created by this library.
    let status = unsafe { (functions.start_context)(context) };
    super::checked(functions, "rocprofiler_start_context", status)
}

/// Has a context call back at events of a kind; no operations means all of it.
fn listen<const CORRELATION: usize>(
    functions: &Functions,
    context: ContextId,
    kind: c_int,
    operations: &[c_int],
    callback: TracingFn<CORRELATION>,
) -> Result<(), String> {
    let list = if operations.is_empty() {
        ptr::null()
    } else {
        operations.as_ptr()
    };
    // SAFETY: the context was created by this library; the callback's record has the layout of its
    // version, which is what `CORRELATION` says.
    let status = unsafe {
        (functions.configure_callback_tracing_service)(
            context,
            kind,
            list,
            operations.len(),
            callback as *const c_void,
            ptr::null_mut(),
        )
    };
    let call = "rocprofiler_configure_callback_tracing_service";
    super::checked(functions, call, status)
}

fn ask_for_streams(
    functions: &Functions,
    gpu: &GpuFunctions,
    context: ContextId,
) -> Result<(), String> {
    let kinds = [
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY,
    ];
    // SAFETY: the context was created by this library; the callback has the type asked for.
    let status = unsafe {
        (gpu.configure_external_correlation_id_request_service)(
            context,
            kinds.as_ptr(),
            kinds.len(),
            callbacks::on_external_correlation,
            ptr::null_mut(),
        )
    };
    let call = "rocprofiler_configure_external_correlation_id_request_service";
    super::checked(functions, call, status)
}

fn deliver_on_own_thread(
    functions: &Functions,
    gpu: &GpuFunctions,
    buffer: BufferId,
) -> Result<(), String> {
    let mut thread = CallbackThread { handle: 0 };
    // SAFETY: a place for a thread's id.
    let status = unsafe { (gpu.create_callback_thread)(&raw mut thread) };
    super::checked(functions, "rocprofiler_create_callback_thread", status)?;
    // SAFETY: both were created by this library.
    let status = unsafe { (gpu.assign_callback_thread)(buffer, thread) };
    super::checked(functions, "rocprofiler_assign_callback_thread", status)
}

fn query_devices(functions: &Functions, gpu: &GpuFunctions) -> Result<Vec<Device>, String> {
    let mut devices: Vec<Device> = Vec::new();
    // SAFETY: the callback has the type asked for and gets the vector, during the call only. The
    // size is of the part that is read, which no version's struct is shorter than.
    let status = unsafe {
        (gpu.query_available_agents)(
            ROCPROFILER_AGENT_INFO_VERSION_0,
            on_agents,
            size_of::<AgentV0>(),
            (&raw mut devices).cast(),
        )
    };
    super::checked(functions, "rocprofiler_query_available_agents", status)?;
    Ok(devices)
}

unsafe extern "C" fn on_agents(
    version: c_int,
    agents: *const *const c_void,
    count: usize,
    data: *mut c_void,
) -> rocprofiler_status_t {
    if version != ROCPROFILER_AGENT_INFO_VERSION_0 || agents.is_null() {
        return ROCPROFILER_STATUS_SUCCESS;
    }
    // SAFETY: the vector that `query_devices` passed.
    let devices = unsafe { &mut *data.cast::<Vec<Device>>() };
    for index in 0..count {
        // SAFETY: `count` pointers to agents of this version are there; null is skipped.
        let agent = unsafe { (*agents.add(index)).cast::<AgentV0>().as_ref() };
        if let Some(agent) = agent.filter(|agent| agent.kind == ROCPROFILER_AGENT_TYPE_GPU) {
            // SAFETY: an agent as the SDK describes it.
            devices.push(unsafe { device(agent) });
        }
    }
    ROCPROFILER_STATUS_SUCCESS
}

/// # Safety
/// The agent's pointers are null or valid.
unsafe fn device(agent: &AgentV0) -> Device {
    let banks = if agent.memory_banks.is_null() {
        &[]
    } else {
        // SAFETY: this function's contract; the agent says how many.
        unsafe { std::slice::from_raw_parts(agent.memory_banks, agent.memory_bank_count as usize) }
    };
    let own_memory = [
        HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC,
        HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
    ];
    Device {
        agent: agent.id,
        name: if agent.name.is_null() {
            String::new()
        } else {
            // SAFETY: this function's contract; the SDK's names are NUL-terminated.
            unsafe { CStr::from_ptr(agent.name) }
                .to_string_lossy()
                .into_owned()
        },
        clock_mhz: agent.max_engine_clock_mhz,
        compute_units: agent.compute_units,
        gfx_target_version: agent.gfx_target_version,
        memory: banks
            .iter()
            .filter(|bank| own_memory.contains(&bank.heap))
            .map(|bank| MemoryBank {
                bytes: bank.bytes,
                clock_mhz: bank.max_clock_mhz,
                width_bits: bank.width_bits,
            })
            .collect(),
    }
}
