//! What a push does, seen from both ends: the annotation stack, and a listener on the embedded
//! ROCTX that records each call with the annotation stack as it was at that moment.

use annotation_stack::AnnotationStack;
use embedded_roctx::tables::{MarkFn, NameDeviceFn, NameHandleFn, NameThreadFn, PopFn, PushFn};
use nvtx_utils_interface::{ProfilerDomainHandle, RangeTitle, StreamHandle, StringHandle};
use roctx_utils_impl as nvtx_utils;
use roctx_utils_impl::provider::{LIBRARY_VARIABLE, ProviderKind};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// One call that reached ROCTX.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    what: &'static str,
    text: Vec<u8>,
    /// The annotation stack when the call arrived.
    annotation: Vec<u8>,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static LAST_POINTER: RefCell<*const c_char> = const { RefCell::new(std::ptr::null()) };
    static LAST_PAYLOAD: RefCell<Option<(u64, Vec<u8>)>> = const { RefCell::new(None) };
}

struct Originals {
    mark: MarkFn,
    push: PushFn,
    pop: PopFn,
}

static ORIGINALS: OnceLock<Originals> = OnceLock::new();

fn record(what: &'static str, text: *const c_char) {
    let text = if text.is_null() {
        Vec::new()
    } else {
        // SAFETY: a ROCTX message is NUL-terminated.
        unsafe { CStr::from_ptr(text) }.to_bytes().to_vec()
    };
    let annotation = AnnotationStack::with(|label, _| label.to_vec());
    let call = Call {
        what,
        text,
        annotation,
    };
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

unsafe extern "C" fn mark(text: *const c_char) {
    record("mark", text);
    // SAFETY: as called.
    unsafe { (ORIGINALS.get().unwrap().mark)(text) }
}

unsafe extern "C" fn push(text: *const c_char) -> c_int {
    LAST_POINTER.set(text);
    LAST_PAYLOAD.set(nvtx_utils::payload::with_current(|payload| {
        payload.map(|(schema_id, bytes)| (schema_id, bytes.to_vec()))
    }));
    record("push", text);
    // SAFETY: as called.
    unsafe { (ORIGINALS.get().unwrap().push)(text) }
}

unsafe extern "C" fn pop() -> c_int {
    record("pop", std::ptr::null());
    // SAFETY: as called.
    unsafe { (ORIGINALS.get().unwrap().pop)() }
}

unsafe extern "C" fn name_thread(text: *const c_char) -> c_int {
    record("name thread", text);
    0
}

unsafe extern "C" fn name_device(text: *const c_char, device: c_int) -> c_int {
    record(if device == 3 { "name device 3" } else { "?" }, text);
    0
}

unsafe extern "C" fn name_stream(text: *const c_char, stream: *const c_void) -> c_int {
    record(
        if stream.addr() == 0x10 {
            "name stream 0x10"
        } else {
            "?"
        },
        text,
    );
    0
}

/// One test at a time, since the annotation stack's state is the process's; with the recorder in
/// place.
struct Recorder {
    domain: ProfilerDomainHandle,
    _turn: MutexGuard<'static, ()>,
}

impl Recorder {
    fn new(annotations: bool) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        ORIGINALS.get_or_init(|| {
            // SAFETY: the first test to get its turn does this, and the others wait; what reads the
            // environment in this process does so through std, which locks.
            unsafe { std::env::set_var(LIBRARY_VARIABLE, "embedded") };
            assert_eq!(nvtx_utils::provider().kind, ProviderKind::Embedded);
            // SAFETY: the set and its tables live as long as the process.
            let (core, name) = unsafe {
                let tables = embedded_roctx::table_set();
                (&*tables.core, &*tables.name)
            };
            let originals = Originals {
                mark: core.mark.get().unwrap(),
                push: core.push.get().unwrap(),
                pop: core.pop.get().unwrap(),
            };
            core.mark.set(Some(mark as MarkFn));
            core.push.set(Some(push as PushFn));
            core.pop.set(Some(pop as PopFn));
            name.os_thread.set(Some(name_thread as NameThreadFn));
            name.hip_device.set(Some(name_device as NameDeviceFn));
            name.hip_stream.set(Some(name_stream as NameHandleFn));
            originals
        });
        AnnotationStack::enable(annotations);
        Self {
            domain: nvtx_utils::default_profiler_domain().expect("on unless switched off"),
            _turn: turn,
        }
    }

    /// What reached ROCTX on this thread since the last look.
    fn calls(&self) -> Vec<Call> {
        CALLS.take()
    }

    fn one_call(&self) -> Call {
        let calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls[0].clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        AnnotationStack::enable(false);
    }
}

fn call(what: &'static str, text: &[u8], annotation: &[u8]) -> Call {
    Call {
        what,
        text: text.to_vec(),
        annotation: annotation.to_vec(),
    }
}

fn annotation() -> Vec<u8> {
    AnnotationStack::with(|label, _| label.to_vec())
}

/// Ranges open on this thread, by ROCTX's own return values.
fn roctx_depth() -> c_int {
    let originals = ORIGINALS.get().unwrap();
    // SAFETY: the text is NUL-terminated.
    let level = unsafe { (originals.push)(c"probe".as_ptr()) };
    // SAFETY: pops the probe.
    unsafe { (originals.pop)() };
    level
}

#[test]
fn push_and_pop_reach_the_annotation_stack_first() {
    let recorder = Recorder::new(true);
    nvtx_utils::range_push(recorder.domain, b"outer");
    nvtx_utils::range_push_cstr(recorder.domain, c"inner");
    assert_eq!(annotation(), b"outer::inner");
    nvtx_utils::range_pop(recorder.domain);
    nvtx_utils::range_pop(recorder.domain);
    assert_eq!(annotation(), b"");
    assert_eq!(
        recorder.calls(),
        [
            call("push", b"outer", b"outer"),
            call("push", b"inner", b"outer::inner"),
            call("pop", b"", b"outer"),
            call("pop", b"", b""),
        ]
    );
}

#[test]
fn without_a_profiler_for_annotations_only_ranges_are_made() {
    let recorder = Recorder::new(false);
    nvtx_utils::range_push(recorder.domain, b"range");
    assert_eq!(annotation(), b"");
    nvtx_utils::range_pop(recorder.domain);
    assert_eq!(
        recorder.calls(),
        [call("push", b"range", b""), call("pop", b"", b"")]
    );
}

#[test]
fn both_stacks_stay_balanced_when_annotations_are_switched_inside_a_range() {
    let recorder = Recorder::new(false);
    let before = roctx_depth();
    nvtx_utils::range_push(recorder.domain, b"before");
    AnnotationStack::enable(true);
    nvtx_utils::range_push(recorder.domain, b"during");
    assert_eq!(annotation(), b"during");
    nvtx_utils::range_pop(recorder.domain);
    nvtx_utils::range_pop(recorder.domain);
    nvtx_utils::range_push(recorder.domain, b"next");
    assert_eq!(annotation(), b"next");
    AnnotationStack::enable(false);
    nvtx_utils::range_pop(recorder.domain);
    AnnotationStack::enable(true);
    assert_eq!(annotation(), b"");
    assert_eq!(roctx_depth(), before);
}

#[test]
fn labels_arrive_whole() {
    let recorder = Recorder::new(true);
    let (long, longer) = (vec![b'l'; 64 << 10], vec![b'L'; 1 << 20]);
    for label in [
        &b""[..],
        b"\xff\xfe not UTF-8",
        b"a::b#k=v,w=x#",
        "\u{1f600}".as_bytes(),
        &long,
        &longer,
    ] {
        nvtx_utils::range_push(recorder.domain, label);
        assert!(annotation() == label);
        nvtx_utils::range_pop(recorder.domain);
        let calls = recorder.calls();
        assert!(
            calls[0] == call("push", label, label),
            "{:?}",
            calls[0].what
        );
    }
}

#[test]
fn nul_is_kept_in_the_annotation_and_replaced_for_roctx() {
    let recorder = Recorder::new(true);
    nvtx_utils::range_push(recorder.domain, b"a\0b");
    assert_eq!(
        recorder.one_call(),
        call("push", "a\u{fffd}b".as_bytes(), b"a\0b")
    );
    nvtx_utils::range_pop(recorder.domain);
}

#[test]
fn a_c_string_is_passed_on_without_a_copy() {
    let recorder = Recorder::new(true);
    let title = c"as it lies in memory";
    nvtx_utils::range_push_cstr(recorder.domain, title);
    assert_eq!(LAST_POINTER.take(), title.as_ptr());
    nvtx_utils::range_pop(recorder.domain);
    let title = RangeTitle::CStr(title);
    nvtx_utils::range_push_annotated(recorder.domain, None, title);
    assert_eq!(
        recorder.calls().last(),
        Some(&call("push", b"as it lies in memory", b""))
    );
    nvtx_utils::range_pop(recorder.domain);
}

#[test]
fn a_title_as_c_has_it() {
    for annotations in [true, false] {
        let recorder = Recorder::new(annotations);
        for title in [c"", c"bytes \xff\xfe"] {
            // SAFETY: NUL-terminated.
            unsafe { nvtx_utils::range_push_ptr(recorder.domain, title.as_ptr()) };
            assert_eq!(LAST_POINTER.take(), title.as_ptr());
            let annotation = if annotations { title.to_bytes() } else { b"" };
            assert_eq!(
                recorder.one_call(),
                call("push", title.to_bytes(), annotation)
            );
            nvtx_utils::range_pop(recorder.domain);
            recorder.calls();
        }
        // SAFETY: null is allowed.
        unsafe { nvtx_utils::range_push_ptr(recorder.domain, std::ptr::null()) };
        assert_eq!(nvtx_utils::range_depth(recorder.domain), 1);
        assert!(!LAST_POINTER.take().is_null(), "ROCTX gets an empty text");
        assert_eq!(recorder.one_call(), call("push", b"", b""));
        nvtx_utils::range_pop(recorder.domain);
        recorder.calls();
    }
}

#[test]
fn an_annotation_of_its_own() {
    let recorder = Recorder::new(true);
    nvtx_utils::range_push_annotated(
        recorder.domain,
        Some(b"loss#step=3#"),
        RangeTitle::Bytes(b"loss"),
    );
    assert_eq!(recorder.one_call(), call("push", b"loss", b"loss#step=3#"));
    nvtx_utils::range_pop(recorder.domain);
    assert_eq!(annotation(), b"");
}

#[test]
fn registered_titles_push_both_and_carry_their_payload() {
    let recorder = Recorder::new(true);
    let title = nvtx_utils::register_string(recorder.domain, b"Thunk:#hlo_op=fusion.3#");
    nvtx_utils::range_push_registered(recorder.domain, title, 5, b"\x01\x02");
    let text = &b"Thunk:#hlo_op=fusion.3#"[..];
    assert_eq!(recorder.one_call(), call("push", text, text));
    assert_eq!(LAST_PAYLOAD.take(), Some((5, vec![1, 2])));

    let registered = RangeTitle::Registered {
        title,
        schema_id: 6,
        payload: b"\x03",
    };
    nvtx_utils::range_push_annotated(recorder.domain, Some(b"full"), registered);
    let both = [text, b"::full"].concat();
    assert_eq!(recorder.one_call(), call("push", text, &both));
    assert_eq!(LAST_PAYLOAD.take(), Some((6, vec![3])));

    nvtx_utils::range_push(recorder.domain, b"plain");
    assert_eq!(LAST_PAYLOAD.take(), None);
    for _ in 0..3 {
        nvtx_utils::range_pop(recorder.domain);
    }
    assert_eq!(annotation(), b"");
}

#[test]
fn a_null_title_opens_a_range_without_a_name() {
    let recorder = Recorder::new(true);
    let before = roctx_depth();
    nvtx_utils::range_push_registered(recorder.domain, StringHandle::NULL, 0, b"");
    assert_eq!(recorder.one_call(), call("push", b"", b""));
    assert_eq!(roctx_depth(), before + 1);
    nvtx_utils::range_pop(recorder.domain);
    assert_eq!(roctx_depth(), before);
}

#[test]
fn depth_counts_this_threads_ranges() {
    let recorder = Recorder::new(false);
    let domain = recorder.domain;
    assert_eq!(nvtx_utils::range_depth(domain), 0);
    nvtx_utils::range_push(domain, b"a");
    nvtx_utils::range_push_cstr(domain, c"b");
    assert_eq!(nvtx_utils::range_depth(domain), 2);
    assert_eq!(roctx_depth(), 2);
    let elsewhere = std::thread::spawn(move || {
        nvtx_utils::range_push(domain, b"c");
        let depth = nvtx_utils::range_depth(domain);
        nvtx_utils::range_pop(domain);
        depth
    });
    assert_eq!(elsewhere.join().unwrap(), 1);
    nvtx_utils::range_pop(domain);
    nvtx_utils::range_pop(domain);
    assert_eq!(nvtx_utils::range_depth(domain), 0);
    recorder.calls();
    nvtx_utils::range_pop(domain);
    assert_eq!(nvtx_utils::range_depth(domain), 0, "an unmatched pop");
    assert_eq!(
        recorder.one_call().what,
        "pop",
        "ROCTX hears of it all the same"
    );
    nvtx_utils::range_push(domain, b"after");
    assert_eq!((nvtx_utils::range_depth(domain), roctx_depth()), (1, 1));
    nvtx_utils::range_pop(domain);
}

#[test]
fn marks_and_free_ranges_leave_the_annotation_stack_alone() {
    let recorder = Recorder::new(true);
    nvtx_utils::mark(recorder.domain, b"here\0now");
    assert_eq!(
        recorder.one_call(),
        call("mark", "here\u{fffd}now".as_bytes(), b"")
    );
    let first = nvtx_utils::range_start(recorder.domain, b"one");
    let second = nvtx_utils::range_start(recorder.domain, b"two");
    assert!(first >= 1 && second > first);
    assert_eq!(nvtx_utils::range_depth(recorder.domain), 0);
    nvtx_utils::range_stop(recorder.domain, first);
    nvtx_utils::range_stop(recorder.domain, second);
    nvtx_utils::range_stop(recorder.domain, u64::MAX);
}

#[test]
fn names_reach_roctx() {
    let recorder = Recorder::new(false);
    nvtx_utils::name_current_thread(b"worker");
    nvtx_utils::name_device(3, b"device");
    nvtx_utils::name_stream(StreamHandle::from_raw(0x10 as *const c_void), b"stream");
    assert_eq!(
        recorder.calls(),
        [
            call("name thread", b"worker", b""),
            call("name device 3", b"device", b""),
            call("name stream 0x10", b"stream", b""),
        ]
    );
}

#[test]
fn schemas_are_not_described_and_memory_hints_do_nothing() {
    let recorder = Recorder::new(false);
    // SAFETY: this implementation reads no schema.
    let id = unsafe { nvtx_utils::register_schema(recorder.domain, std::ptr::null()) };
    assert_eq!(id, 0);
    nvtx_utils::mark_memory_initialized(
        std::ptr::null(),
        1,
        StreamHandle::from_raw(std::ptr::null()),
    );
    assert_eq!(recorder.calls(), []);
}
