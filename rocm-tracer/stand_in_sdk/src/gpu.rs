//! The GPU services of `librocprofiler-sdk.so`, and a HIP runtime without GPUs that a test plays:
//! the functions `stand_in_*` say what happens, the tool under test hears of it as it would from
//! AMD's.
//!
//! Records wait in the buffer until the tool flushes it or the test delivers them, in the order and
//! from the thread that the environment says.

use crate::bytes::Bytes;
use crate::sdk::{call_back, is_locked, is_started, must_not_be_finalized};
use crate::status::{INCOMPATIBLE_ABI, OPERATION_NOT_FOUND, SUCCESS, configuration_locked};
use crate::{failure, version};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const TRACING: u32 = 1;
const HIP_RUNTIME_API: c_int = 5;
const MEMORY_COPY: c_int = 10;
const KERNEL_DISPATCH: c_int = 11;
const CODE_OBJECT: c_int = 10;
const KERNEL_SYMBOL: c_int = 2;
const HIP_STREAM: c_int = 20;
const STREAM_SET: c_int = 3;
const ENTER: c_int = 1;
const EXIT: c_int = 2;
const LOSSLESS: c_int = 2;

type BufferCallback = unsafe extern "C" fn(u64, u64, *const *const Header, usize, *mut c_void, u64);
type ExternalCallback =
    unsafe extern "C" fn(u64, u64, c_int, c_int, u64, *mut u64, *mut c_void) -> c_int;
type AgentsCallback =
    unsafe extern "C" fn(c_int, *const *const c_void, usize, *mut c_void) -> c_int;

#[repr(C)]
pub struct Header {
    category: u32,
    kind: u32,
    payload: *const c_void,
}

/// A record in the buffer: its category, kind and content, which can be missing.
struct Waiting {
    category: u32,
    kind: u32,
    content: Option<Bytes>,
    /// Deliver a null pointer in place of a header.
    null: bool,
}

struct Buffer {
    context: u64,
    callback: BufferCallback,
    data: usize,
    kinds: Vec<c_int>,
    own_thread: bool,
    waiting: Vec<Waiting>,
}

struct Agent {
    words: Bytes,
    /// What the words point to.
    _banks: Bytes,
}

struct Gpu {
    agents: Vec<Agent>,
    buffer: Option<Buffer>,
    external: Option<(u64, Vec<c_int>, ExternalCallback, usize)>,
}

static GPU: Mutex<Gpu> = Mutex::new(Gpu {
    agents: Vec::new(),
    buffer: None,
    external: None,
});
static CORRELATION: AtomicU64 = AtomicU64::new(0);

/// A HIP call that the thread is in.
struct Call {
    operation: c_int,
    correlation: u64,
    start_ns: u64,
    recorded: bool,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

fn new_layout() -> bool {
    version() >= 10_000
}

fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn tid() -> u64 {
    // SAFETY: takes nothing.
    unsafe { libc::gettid() as u64 }
}

// What the tool calls.

/// Exported as AMD's function of this name.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_query_available_agents(
    agent_version: c_int,
    callback: AgentsCallback,
    size: usize,
    data: *mut c_void,
) -> c_int {
    if let Some(status) = failure("rocprofiler_query_available_agents") {
        return status;
    }
    if size > agent_size() {
        return INCOMPATIBLE_ABI;
    }
    let mut gpu = GPU.lock().unwrap();
    if gpu.agents.is_empty() {
        gpu.agents = agents_of_the_machine();
    }
    let agents: Vec<_> = gpu
        .agents
        .iter()
        .map(|agent| agent.words.as_ptr())
        .collect();
    // SAFETY: the tool's callback, with agents of the version's layout.
    unsafe { callback(agent_version, agents.as_ptr(), agents.len(), data) }
}

/// Exported as AMD's function of this name.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_create_buffer(
    context: u64,
    size: usize,
    watermark: usize,
    policy: c_int,
    callback: BufferCallback,
    data: *mut c_void,
    buffer: *mut u64,
) -> c_int {
    if let Some(status) = failure("rocprofiler_create_buffer") {
        return status;
    }
    if is_locked() {
        return configuration_locked();
    }
    assert!(watermark <= size && policy == LOSSLESS);
    GPU.lock().unwrap().buffer = Some(Buffer {
        context,
        callback,
        data: data.addr(),
        kinds: Vec::new(),
        own_thread: false,
        waiting: Vec::new(),
    });
    // SAFETY: the tool gives a place for a buffer id.
    unsafe { buffer.write(1) };
    SUCCESS
}

/// Exported as AMD's function of this name.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_configure_buffer_tracing_service(
    _context: u64,
    kind: c_int,
    _operations: *const c_int,
    _count: usize,
    _buffer: u64,
) -> c_int {
    if let Some(status) = failure("rocprofiler_configure_buffer_tracing_service") {
        return status;
    }
    let mut gpu = GPU.lock().unwrap();
    gpu.buffer.as_mut().unwrap().kinds.push(kind);
    SUCCESS
}

/// Exported as AMD's function of this name.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_configure_external_correlation_id_request_service(
    context: u64,
    kinds: *const c_int,
    count: usize,
    callback: ExternalCallback,
    data: *mut c_void,
) -> c_int {
    let function = "rocprofiler_configure_external_correlation_id_request_service";
    if let Some(status) = failure(function) {
        return status;
    }
    // SAFETY: `count` kinds are there.
    let kinds = unsafe { std::slice::from_raw_parts(kinds, count) }.to_vec();
    GPU.lock().unwrap().external = Some((context, kinds, callback, data.addr()));
    SUCCESS
}

/// Exported as AMD's function of this name.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_create_callback_thread(thread: *mut u64) -> c_int {
    if let Some(status) = failure("rocprofiler_create_callback_thread") {
        return status;
    }
    // SAFETY: the tool gives a place for a thread's id.
    unsafe { thread.write(1) };
    SUCCESS
}

/// Exported as AMD's function of this name.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_assign_callback_thread(_buffer: u64, _thread: u64) -> c_int {
    if let Some(status) = failure("rocprofiler_assign_callback_thread") {
        return status;
    }
    let mut gpu = GPU.lock().unwrap();
    gpu.buffer.as_mut().unwrap().own_thread = true;
    SUCCESS
}

/// Exported as AMD's function of this name.
#[unsafe(no_mangle)]
pub extern "C" fn rocprofiler_flush_buffer(_buffer: u64) -> c_int {
    must_not_be_finalized();
    if std::env::var_os("STAND_IN_LATE").is_none() {
        stand_in_deliver();
    }
    failure("rocprofiler_flush_buffer").unwrap_or(SUCCESS)
}

/// Exported as AMD's function of this name.
///
/// # Safety
/// As AMD's header asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocprofiler_query_buffer_tracing_kind_operation_name(
    kind: c_int,
    operation: c_int,
    name: *mut *const c_char,
    _length: *mut u64,
) -> c_int {
    must_not_be_finalized();
    assert_eq!(kind, HIP_RUNTIME_API);
    let text = match operation {
        166 => c"hipGraphLaunch",
        214 => c"hipLaunchKernel",
        215 => c"hipMalloc",
        259 => c"hipMemcpy",
        268 => c"hipMemcpyAsync",
        _ => return OPERATION_NOT_FOUND,
    };
    // SAFETY: the tool gives a place for a pointer.
    unsafe { name.write(text.as_ptr()) };
    SUCCESS
}

// What the test calls.

fn agent_size() -> usize {
    if new_layout() { 312 } else { 296 }
}

/// Adds an agent, of kind 1 (CPU) or 2 (GPU), with a bank of its own memory and one of the host's.
///
/// # Safety
/// The name is NUL-terminated and stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stand_in_add_agent(id: u64, kind: c_int, name: *const c_char) {
    GPU.lock().unwrap().agents.push(agent(id, kind, name));
}

/// Those that `STAND_IN_GPUS` says: GPUs from 71 on.
fn agents_of_the_machine() -> Vec<Agent> {
    let count = std::env::var("STAND_IN_GPUS").map_or(0, |count| count.parse().unwrap());
    (0..count)
        .map(|nth| agent(71 + nth, 2, c"gfx942".as_ptr()))
        .collect()
}

/// The name must stay.
fn agent(id: u64, kind: c_int, name: *const c_char) -> Agent {
    let mut banks = Bytes::sized(48);
    banks
        .put_u64(0, 0)
        .put_u32(0, 0) // system memory
        .put_u32(8, 64)
        .put_u32(12, 3000)
        .put_u64(16, 512 << 30)
        .put_u32(24, 1) // public frame buffer
        .put_u32(32, 8192)
        .put_u32(36, 1300)
        .put_u64(40, 192 << 30);
    let mut words = Bytes::sized(agent_size());
    words
        .put_u64(8, id)
        .put_u32(16, kind as u32)
        .put_u32(28, 2) // memory banks
        .put_u32(72, 304) // compute units
        .put_u32(100, 90_402) // gfx942
        .put_u32(140, 2100) // MHz
        .put_u64(224, banks.as_ptr().addr() as u64)
        .put_u64(248, name.addr() as u64);
    Agent {
        words,
        _banks: banks,
    }
}

/// Loads a code object with one kernel.
///
/// # Safety
/// The name is NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stand_in_load_kernel(kernel: u64, name: *const c_char) {
    // AMD's name is only there during the callback.
    // SAFETY: this function's contract.
    let name = unsafe { CStr::from_ptr(name) }.to_owned();
    let mut symbol = Bytes::sized(if new_layout() { 88 } else { 72 });
    symbol
        .put_u64(8, kernel)
        .put_u64(16, 1)
        .put_u64(24, name.as_ptr().addr() as u64);
    call_back(CODE_OBJECT, KERNEL_SYMBOL, ENTER, 0, symbol.as_ptr());
}

/// The calling thread enters a HIP call on a stream; its correlation id.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_hip_enter(operation: c_int, stream: u64) -> u64 {
    let start_ns = now();
    let correlation = CORRELATION.fetch_add(1, Ordering::Relaxed) + 1;
    // Ids past 32 bits are as good as any other.
    let correlation = correlation << 33 | correlation;
    let recorded = is_recording();
    call_back(
        HIP_RUNTIME_API,
        operation,
        ENTER,
        correlation,
        std::ptr::null(),
    );
    let mut data = Bytes::sized(24);
    data.put_u64(8, stream).put_u64(16, handle(stream));
    call_back(HIP_STREAM, STREAM_SET, ENTER, correlation, data.as_ptr());
    CALLS.with(|calls| {
        calls.borrow_mut().push(Call {
            operation,
            correlation,
            start_ns,
            recorded,
        });
    });
    correlation
}

/// The `hipStream_t` of a stream.
fn handle(stream: u64) -> u64 {
    stream * 0x1000
}

/// The calling thread leaves the HIP call that it entered last.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_hip_exit() {
    let call = CALLS.with(|calls| calls.borrow_mut().pop()).unwrap();
    let Call {
        operation,
        correlation,
        start_ns,
        recorded,
    } = call;
    call_back(HIP_STREAM, STREAM_SET, EXIT, correlation, std::ptr::null());
    call_back(
        HIP_RUNTIME_API,
        operation,
        EXIT,
        correlation,
        std::ptr::null(),
    );
    if recorded {
        let (size, times) = if new_layout() { (64, 40) } else { (56, 32) };
        let mut record = Bytes::sized(size);
        record
            .put_u32(8, HIP_RUNTIME_API as u32)
            .put_u32(12, operation as u32)
            .put_u64(16, correlation)
            .put_u64(24, 0xDEAD)
            .put_u64(times, start_ns)
            .put_u64(times + 8, now())
            .put_u64(times + 16, tid());
        wait(HIP_RUNTIME_API, record);
    }
}

/// The innermost call of the calling thread launches a kernel that runs from `start_ns` to `end_ns`.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_dispatch(agent: u64, kernel: u64, start_ns: u64, end_ns: u64) {
    if let Some(mut record) = launched(KERNEL_DISPATCH, 2, 184, start_ns, end_ns) {
        record
            .put_u64(56, 72) // the size of what follows
            .put_u64(64, agent)
            .put_u64(72, agent * 100) // queue
            .put_u64(80, kernel)
            .put_u64(88, 1) // dispatch
            .put_u32(96, 16) // private segment
            .put_u32(100, 1024) // group segment
            .put_u32(104, 256)
            .put_u32(108, 2)
            .put_u32(112, 1)
            .put_u32(116, 256 * 64)
            .put_u32(120, 2 * 3)
            .put_u32(124, 1);
        wait(KERNEL_DISPATCH, record);
    }
}

/// The innermost call of the calling thread starts a copy.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_copy(
    direction: c_int,
    source: u64,
    destination: u64,
    bytes: u64,
    start_ns: u64,
    end_ns: u64,
) {
    let size = if new_layout() { 96 } else { 80 };
    if let Some(mut record) = launched(MEMORY_COPY, direction, size, start_ns, end_ns) {
        record
            .put_u64(56, destination)
            .put_u64(64, source)
            .put_u64(72, bytes);
        wait(MEMORY_COPY, record);
    }
}

/// Makes the waiting kernels and copies begin and end so much later: what a test launched without
/// knowing when its devices would get to it.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_delay_devices(ns: u64) {
    let mut gpu = GPU.lock().unwrap();
    for record in &mut gpu.buffer.as_mut().unwrap().waiting {
        if let Some(content) = &mut record.content
            && [KERNEL_DISPATCH, MEMORY_COPY].contains(&(record.kind as c_int))
        {
            for time in [40, 48] {
                let at = content.u64(time);
                content.put_u64(time, at + ns);
            }
        }
    }
}

/// Puts a record of any kind into the buffer: `size` bytes that say they are `said`; none for 0.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_raw_record(category: u32, kind: u32, size: usize, said: u64) {
    let mut gpu = GPU.lock().unwrap();
    let content = (size > 0).then(|| {
        let mut content = Bytes::sized(size);
        content.put_u64(0, said);
        content
    });
    gpu.buffer.as_mut().unwrap().waiting.push(Waiting {
        category,
        kind,
        content,
        null: false,
    });
}

/// Puts a null pointer where a header should be.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_null_header() {
    let mut gpu = GPU.lock().unwrap();
    gpu.buffer.as_mut().unwrap().waiting.push(Waiting {
        category: 0,
        kind: 0,
        content: None,
        null: true,
    });
}

/// Delivers the waiting records.
#[unsafe(no_mangle)]
pub extern "C" fn stand_in_deliver() {
    let mut gpu = GPU.lock().unwrap();
    let Some(buffer) = &mut gpu.buffer else {
        return;
    };
    let mut waiting = std::mem::take(&mut buffer.waiting);
    let (context, callback, data) = (buffer.context, buffer.callback, buffer.data);
    let own_thread = buffer.own_thread;
    drop(gpu);
    if std::env::var_os("STAND_IN_REVERSED").is_some() {
        waiting.reverse();
    }
    let deliver = move || {
        let headers: Vec<Header> = waiting
            .iter()
            .map(|record| Header {
                category: record.category,
                kind: record.kind,
                payload: record
                    .content
                    .as_ref()
                    .map_or(std::ptr::null(), Bytes::as_ptr),
            })
            .collect();
        let pointers: Vec<*const Header> = headers
            .iter()
            .zip(&waiting)
            .map(|(header, record)| {
                if record.null {
                    std::ptr::null()
                } else {
                    &raw const *header
                }
            })
            .collect();
        // SAFETY: the tool's callback; so many headers, as AMD's library gives them.
        unsafe {
            callback(
                context,
                1,
                pointers.as_ptr(),
                pointers.len(),
                data as *mut c_void,
                0,
            );
        }
    };
    if own_thread {
        std::thread::spawn(deliver).join().unwrap();
    } else {
        deliver();
    }
}

fn is_recording() -> bool {
    let gpu = GPU.lock().unwrap();
    gpu.buffer
        .as_ref()
        .is_some_and(|buffer| is_started(buffer.context))
}

/// The record of work that the thread's innermost call starts, with its head filled, if that call
/// is recorded. Outside of a call, of correlation id 0.
fn launched(
    kind: c_int,
    operation: c_int,
    size: usize,
    start_ns: u64,
    end_ns: u64,
) -> Option<Bytes> {
    let call = CALLS.with(|calls| {
        let calls = calls.borrow();
        calls.last().map(|call| (call.correlation, call.recorded))
    });
    let (correlation, recorded) = call.unwrap_or_else(|| (0, is_recording()));
    if !recorded {
        return None;
    }
    let mut external = 0xDEAD;
    let ask = GPU.lock().unwrap().external.clone();
    if let Some((context, kinds, callback, data)) = ask
        && kinds.contains(&kind)
        && is_started(context)
    {
        // SAFETY: the tool's callback, with a place for its answer.
        unsafe {
            callback(
                tid(),
                context,
                kind,
                operation,
                correlation,
                &raw mut external,
                data as *mut c_void,
            );
        }
    }
    let mut record = Bytes::sized(size);
    record
        .put_u32(8, kind as u32)
        .put_u32(12, operation as u32)
        .put_u64(16, correlation)
        .put_u64(24, external)
        .put_u64(32, tid())
        .put_u64(40, start_ns)
        .put_u64(48, end_ns);
    Some(record)
}

fn wait(kind: c_int, record: Bytes) {
    let mut gpu = GPU.lock().unwrap();
    if let Some(buffer) = &mut gpu.buffer
        && buffer.kinds.contains(&kind)
    {
        buffer.waiting.push(Waiting {
            category: TRACING,
            kind: kind as u32,
            content: Some(record),
            null: false,
        });
    }
}
