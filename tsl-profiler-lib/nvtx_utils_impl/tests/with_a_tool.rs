//! What a tool hears that listens to NVTX. The tool is linked into the test in the way that NVTX
//! has for it: a function pointer of a known name, through which it sets the functions it wants.

#![allow(missing_docs)]
#![allow(non_upper_case_globals)] // NVIDIA's name

use nvtx::sys::{EventAttributes, MessageType};
use nvtx_utils_impl as nvtx_utils;
use nvtx_utils_interface::{RangeTitle, StreamHandle, StringHandle};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;

/// What the tool heard, one line a call.
static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

const DOMAIN: *mut c_void = 0xd0 as *mut c_void;
const REGISTERED: *const c_void = 0x5e as *const c_void;

fn hear(line: String) {
    HEARD.lock().unwrap().push(line);
}

fn heard() -> Vec<String> {
    std::mem::take(&mut HEARD.lock().unwrap())
}

/// # Safety
/// `text` is NUL-terminated.
unsafe fn escaped(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }
        .to_bytes()
        .escape_ascii()
        .to_string()
}

/// # Safety
/// As NVTX's headers say of an event.
unsafe fn title(event: *const EventAttributes) -> String {
    // SAFETY: the caller's promise; `messageType` says which field is set.
    unsafe {
        let event = &*event;
        assert_eq!(usize::from(event.size), size_of::<EventAttributes>());
        if event.messageType == i32::from(MessageType::NVTX_MESSAGE_TYPE_ASCII) {
            escaped(event.message.ascii)
        } else if event.messageType == i32::from(MessageType::NVTX_MESSAGE_TYPE_REGISTERED) {
            format!("registered {:?}", event.message.registered)
        } else {
            "without a title".into()
        }
    }
}

unsafe extern "C" fn domain_create(name: *const c_char) -> *mut c_void {
    // SAFETY: from NVTX.
    hear(format!("domain {}", unsafe { escaped(name) }));
    DOMAIN
}

unsafe extern "C" fn push(domain: *mut c_void, event: *const EventAttributes) -> c_int {
    assert_eq!(domain, DOMAIN);
    // SAFETY: from NVTX.
    hear(format!("push {}", unsafe { title(event) }));
    0
}

unsafe extern "C" fn pop(domain: *mut c_void) -> c_int {
    assert_eq!(domain, DOMAIN);
    hear("pop".into());
    0
}

unsafe extern "C" fn mark(domain: *mut c_void, event: *const EventAttributes) {
    assert_eq!(domain, DOMAIN);
    // SAFETY: from NVTX.
    hear(format!("mark {}", unsafe { title(event) }));
}

unsafe extern "C" fn start(domain: *mut c_void, event: *const EventAttributes) -> u64 {
    assert_eq!(domain, DOMAIN);
    // SAFETY: from NVTX.
    hear(format!("start {}", unsafe { title(event) }));
    77
}

unsafe extern "C" fn stop(domain: *mut c_void, id: u64) {
    assert_eq!(domain, DOMAIN);
    hear(format!("stop {id}"));
}

unsafe extern "C" fn register_string(domain: *mut c_void, text: *const c_char) -> *const c_void {
    assert_eq!(domain, DOMAIN);
    // SAFETY: from NVTX.
    hear(format!("register {}", unsafe { escaped(text) }));
    REGISTERED
}

unsafe extern "C" fn name_thread(thread: u32, name: *const c_char) {
    // SAFETY: from NVTX; gettid takes nothing.
    unsafe {
        assert_eq!(thread, libc::gettid().cast_unsigned());
        hear(format!("thread {}", escaped(name)));
    }
}

unsafe extern "C" fn name_device(device: c_int, name: *const c_char) {
    // SAFETY: from NVTX.
    hear(format!("device {device} {}", unsafe { escaped(name) }));
}

unsafe extern "C" fn name_stream(stream: *mut c_void, name: *const c_char) {
    // SAFETY: from NVTX.
    hear(format!("stream {stream:?} {}", unsafe { escaped(name) }));
}

// Numbers of nvtxTypes.h: the table of callbacks, its modules, and the functions of each.
const ETID_CALLBACKS: u32 = 1;
const MODULE_CORE: c_int = 1;
const MODULE_CUDA: c_int = 2;
const MODULE_CORE2: c_int = 5;

type GetExportTable = unsafe extern "C" fn(u32) -> *const c_void;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    struct_size: usize,
    get_module_function_table:
        unsafe extern "C" fn(c_int, *mut *mut *mut *const c_void, *mut c_uint) -> c_int,
}

unsafe extern "C" fn initialize(get_export_table: GetExportTable) -> c_int {
    let set = |module, functions: &[(usize, *const c_void)]| {
        let mut table = std::ptr::null_mut();
        let mut size = 0;
        // SAFETY: NVTX's table for this id has this layout; each of its slots is the address of a
        // function pointer that NVTX calls with the signature of the function of this number.
        unsafe {
            let callbacks = &*get_export_table(ETID_CALLBACKS).cast::<Callbacks>();
            let found = (callbacks.get_module_function_table)(module, &mut table, &mut size);
            assert_eq!(found, 1);
            for (number, function) in functions {
                assert!(*number < size as usize);
                **table.add(*number) = *function;
            }
        }
    };
    set(MODULE_CORE, &[(14, name_thread as *const c_void)]);
    set(
        MODULE_CUDA,
        &[
            (1, name_device as *const c_void),
            (5, name_stream as *const c_void),
        ],
    );
    set(
        MODULE_CORE2,
        &[
            (1, mark as *const c_void),
            (2, start as *const c_void),
            (3, stop as *const c_void),
            (4, push as *const c_void),
            (5, pop as *const c_void),
            (10, register_string as *const c_void),
            (12, domain_create as *const c_void),
        ],
    );
    1
}

/// Where NVTX looks for a tool that is linked in.
#[unsafe(no_mangle)]
static InitializeInjectionNvtx2_fnptr: unsafe extern "C" fn(GetExportTable) -> c_int = initialize;

/// One test: the process has one tool and one domain.
#[test]
fn a_tool_hears_every_call() {
    let domain = nvtx_utils::default_profiler_domain().unwrap();
    assert_eq!(nvtx_utils::default_profiler_domain(), Some(domain));
    assert_eq!(domain.as_raw().as_ptr(), DOMAIN);
    assert_eq!(heard(), ["domain TSL"]);

    nvtx_utils::range_push(domain, b"outer");
    nvtx_utils::range_push_cstr(domain, c"inner");
    assert_eq!(nvtx_utils::range_depth(domain), 2);
    nvtx_utils::mark(domain, b"here");
    nvtx_utils::range_pop(domain);
    nvtx_utils::range_pop(domain);
    assert_eq!(nvtx_utils::range_depth(domain), 0);
    assert_eq!(
        heard(),
        ["push outer", "push inner", "mark here", "pop", "pop"]
    );

    // Titles are bytes; a C string cannot hold NUL.
    nvtx_utils::range_push(domain, b"not \xff UTF-8, with \0 in it");
    nvtx_utils::range_push(domain, b"");
    nvtx_utils::range_push(domain, &[b'x'; 1 << 20]);
    let pushes = heard();
    assert_eq!(
        pushes[..2],
        [r"push not \xff UTF-8, with \xef\xbf\xbd in it", "push "]
    );
    assert_eq!(pushes[2].len(), "push ".len() + (1 << 20));

    // SAFETY: null is allowed, the other is NUL-terminated.
    unsafe {
        nvtx_utils::range_push_ptr(domain, c"from C".as_ptr());
        nvtx_utils::range_push_ptr(domain, std::ptr::null());
    }
    assert_eq!(heard(), ["push from C", "push "]);

    let registered = nvtx_utils::register_string(domain, b"title");
    assert_eq!(registered.as_raw(), REGISTERED);
    nvtx_utils::range_push_registered(domain, registered, 0, b"payload");
    nvtx_utils::range_push_registered(domain, StringHandle::NULL, 0, b"");
    assert_eq!(
        heard(),
        [
            "register title",
            "push registered 0x5e",
            "push without a title"
        ]
    );

    let annotation = Some(b"annotation".as_slice());
    nvtx_utils::range_push_annotated(domain, annotation, RangeTitle::Bytes(b"bytes"));
    nvtx_utils::range_push_annotated(domain, None, RangeTitle::CStr(c"c"));
    let title = RangeTitle::Registered {
        title: registered,
        schema_id: 0,
        payload: b"",
    };
    nvtx_utils::range_push_annotated(domain, annotation, title);
    assert_eq!(heard(), ["push bytes", "push c", "push registered 0x5e"]);

    let id = nvtx_utils::range_start(domain, b"any thread");
    std::thread::spawn(move || nvtx_utils::range_stop(domain, id))
        .join()
        .unwrap();
    assert_eq!(heard(), ["start any thread", "stop 77"]);

    nvtx_utils::name_current_thread(b"worker");
    nvtx_utils::name_device(3, b"the fourth");
    let stream = StreamHandle::from_raw(0x57 as *const c_void);
    nvtx_utils::name_stream(stream, b"copies");
    assert_eq!(
        heard(),
        ["thread worker", "device 3 the fourth", "stream 0x57 copies"]
    );
}
