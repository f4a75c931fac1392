//! NVTX calls, through the tables of a client as NVTX's headers describe one.

#![allow(missing_docs)]

mod common;

use common::{capture, export, one_at_a_time, tid};
use rocm_tracer::{CollectorOptions, RocmTracerOptions, nvtx};
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::thread;
use xplane_schema::proto::{XPlane, XSpace, x_event, x_stat};

type Table<const N: usize> = UnsafeCell<[*const c_void; N]>;

/// A client's function pointers, by number; 0 is no function.
struct Client {
    core: Table<16>,
    core2: Table<16>,
}

// SAFETY: written by `initialize` on one thread before the calls.
unsafe impl Sync for Client {}

static CLIENT: Client = Client {
    core: UnsafeCell::new([ptr::null(); 16]),
    core2: UnsafeCell::new([ptr::null(); 16]),
};

#[repr(C)]
struct Callbacks {
    size: usize,
    module: unsafe extern "C" fn(c_int, *mut *mut *mut *const c_void, *mut c_uint) -> c_int,
}

/// The addresses of a table's entries, as NVTX hands them out: 0 is null, and so is the end.
fn entries<const N: usize>(table: &Table<N>) -> *mut *mut *const c_void {
    let first: *mut *const c_void = table.get().cast();
    let mut entries = vec![ptr::null_mut(); N + 1];
    for (number, entry) in entries.iter_mut().enumerate().take(N).skip(1) {
        *entry = first.wrapping_add(number);
    }
    Box::leak(entries.into_boxed_slice()).as_mut_ptr()
}

unsafe extern "C" fn module(
    number: c_int,
    table: *mut *mut *mut *const c_void,
    length: *mut c_uint,
) -> c_int {
    let entries = match number {
        1 => entries(&CLIENT.core),
        5 => entries(&CLIENT.core2),
        _ => return 0,
    };
    // SAFETY: places for the results.
    unsafe {
        *table = entries;
        *length = 16;
    }
    1
}

unsafe extern "C" fn tables(number: c_uint) -> *const c_void {
    static CALLBACKS: Callbacks = Callbacks {
        size: size_of::<Callbacks>(),
        module,
    };
    match number {
        1 => (&raw const CALLBACKS).cast(),
        _ => ptr::null(),
    }
}

fn attach() {
    // SAFETY: a client as NVTX describes it.
    assert_eq!(unsafe { nvtx::initialize(Some(tables)) }, 1);
}

macro_rules! call {
    ($table:ident[$number:expr] as ($($type:ty),*) $(-> $result:ty)?; $($argument:expr),*) => {{
        // SAFETY: the function of this number has this signature in nvtxTypes.h, and the arguments
        // are what nvToolsExt.h asks for.
        unsafe {
            let function = (*CLIENT.$table.get())[$number];
            assert!(!function.is_null());
            let function: unsafe extern "C" fn($($type),*) $(-> $result)? =
                std::mem::transmute(function);
            function($($argument),*)
        }
    }};
}

/// `nvtxEventAttributes_v2` of nvToolsExt.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_void,
}

const EVENT: Attributes = Attributes {
    version: 3,
    size: size_of::<Attributes>() as u16,
    category: 0,
    color_type: 0,
    color: 0,
    payload_type: 0,
    reserved: 0,
    payload: 0,
    message_type: 0,
    message: ptr::null(),
};

impl Attributes {
    fn ascii(text: &'static std::ffi::CStr) -> Self {
        Self {
            message_type: 1,
            message: text.as_ptr().cast(),
            ..EVENT
        }
    }
}

type Domain = *const c_void;

fn domain(name: &str) -> Domain {
    let name = CString::new(name).unwrap();
    call!(core2[12] as (*const c_char) -> Domain; name.as_ptr())
}

fn push(domain: Domain, event: &Attributes) -> c_int {
    call!(core2[4] as (Domain, *const Attributes) -> c_int; domain, event)
}

fn pop(domain: Domain) -> c_int {
    call!(core2[5] as (Domain) -> c_int; domain)
}

fn wide(text: &str) -> Vec<i32> {
    text.chars().map(|c| c as i32).chain([0]).collect()
}

/// The capture's XSpace of `work`.
fn trace(work: impl FnOnce()) -> XSpace {
    attach();
    export(
        capture(RocmTracerOptions::default(), work),
        CollectorOptions::default(),
    )
}

/// Rows by name, each with its events' names.
fn rows(space: &XSpace) -> Vec<(String, Vec<&str>)> {
    let lines = space.planes[0].lines.iter();
    lines
        .map(|line| {
            let events = line.events.iter();
            let name = |id| space.planes[0].event_metadata[id].name.as_str();
            (
                line.name.clone(),
                events.map(|event| name(&event.metadata_id)).collect(),
            )
        })
        .collect()
}

/// The stats of the event of this name, as text.
fn stats(plane: &XPlane, name: &str) -> Vec<(String, String)> {
    let mut events = plane.lines.iter().flat_map(|line| &line.events);
    let event = events
        .find(|event| plane.event_metadata[&event.metadata_id].name == name)
        .unwrap();
    let text = |id: i64| plane.stat_metadata[&id].name.clone();
    let stats = event.stats.iter().map(|stat| {
        let value = match stat.value.as_ref().unwrap() {
            x_stat::Value::RefValue(id) => text(*id as i64),
            x_stat::Value::Int64Value(number) => number.to_string(),
            x_stat::Value::Uint64Value(number) => number.to_string(),
            x_stat::Value::DoubleValue(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        (text(stat.metadata_id), value)
    });
    stats.filter(|(name, _)| name != "nvtx_range").collect()
}

#[test]
fn every_call_of_a_domain_and_without_one_is_an_event() {
    let _one = one_at_a_time();
    let space = trace(|| {
        let io = domain("io");
        assert_eq!(push(io, &Attributes::ascii(c"outer")), 0);
        assert_eq!(push(io, &Attributes::ascii(c"inner")), 1);
        call!(core2[1] as (Domain, *const Attributes); io, &Attributes::ascii(c"mark"));
        let id =
            call!(core2[2] as (Domain, *const Attributes) -> u64; io, &Attributes::ascii(c"async"));
        assert_ne!(id, 0);
        thread::spawn(move || call!(core2[3] as (Domain, u64); ptr::null(), id))
            .join()
            .unwrap();
        assert_eq!(pop(io), 1);
        assert_eq!(pop(io), 0);

        call!(core[9] as (*const c_char) -> c_int; c"A".as_ptr());
        call!(core[10] as (*const i32) -> c_int; wide("wide é").as_ptr());
        call!(core[8] as (*const Attributes) -> c_int; &Attributes::ascii(c"Ex"));
        call!(core[2] as (*const c_char); c"mark A".as_ptr());
        call!(core[3] as (*const i32); wide("mark W").as_ptr());
        call!(core[1] as (*const Attributes); &Attributes::ascii(c"mark Ex"));
        assert_eq!(call!(core[11] as () -> c_int;), 2);
        assert_eq!(call!(core[11] as () -> c_int;), 1);
        assert_eq!(call!(core[11] as () -> c_int;), 0);
        for id in [
            call!(core[5] as (*const c_char) -> u64; c"start A".as_ptr()),
            call!(core[6] as (*const i32) -> u64; wide("start W").as_ptr()),
            call!(core[4] as (*const Attributes) -> u64; &Attributes::ascii(c"start Ex")),
        ] {
            call!(core[7] as (u64); id);
        }
    });
    let tid = tid();
    let [default, io, lanes @ ..] = &rows(&space)[..] else {
        panic!("{:?}", rows(&space));
    };
    assert_eq!(default.0, format!("NVTX Threads/{tid}"));
    assert_eq!(
        default.1,
        ["A", "wide é", "Ex", "mark A", "mark W", "mark Ex"]
    );
    assert_eq!(io.0, format!("NVTX Threads/{tid}/io"));
    assert_eq!(io.1, ["outer", "inner", "mark"]);
    let expected = [
        ("NVTX Async/0".to_owned(), vec!["async", "start A"]),
        ("NVTX Async/1".to_owned(), vec!["start W"]),
        ("NVTX Async/2".to_owned(), vec!["start Ex"]),
    ];
    assert_eq!(lanes, expected);
    assert_eq!(space.warnings, [""; 0]);
}

#[test]
fn attributes_are_stats() {
    let _one = one_at_a_time();
    let space = trace(|| {
        let io = domain("io");
        call!(core2[8] as (Domain, u32, *const c_char); io, 7, c"reads".as_ptr());
        call!(core[13] as (u32, *const i32); 7, wide("others").as_ptr());
        let mark = |domain, event: Attributes| call!(core2[1] as (Domain, *const Attributes); domain, &event);
        let all = Attributes {
            category: 7,
            color_type: 1,
            color: 0xff00_8040,
            payload_type: 2,
            payload: (-5i64).cast_unsigned(),
            ..Attributes::ascii(c"all")
        };
        mark(io, all);
        mark(
            ptr::null(),
            Attributes {
                category: 7,
                ..Attributes::ascii(c"default domain")
            },
        );
        mark(
            io,
            Attributes {
                category: 8,
                ..Attributes::ascii(c"unnamed category")
            },
        );
        let payload = |text, kind, payload| Attributes {
            payload_type: kind,
            payload,
            ..Attributes::ascii(text)
        };
        mark(ptr::null(), payload(c"u64", 1, u64::MAX));
        mark(ptr::null(), payload(c"f64", 3, 0.1f64.to_bits()));
        mark(ptr::null(), payload(c"u32", 4, 0xffff_ffff_0000_0001));
        mark(ptr::null(), payload(c"i32", 5, 0xffff_fffe));
        mark(ptr::null(), payload(c"f32", 6, 0.5f32.to_bits().into()));
        mark(ptr::null(), payload(c"unknown", 99, 1));
        let string = call!(core2[10] as (Domain, *const c_char) -> *const c_void; io, c"registered".as_ptr());
        mark(
            io,
            Attributes {
                message_type: 3,
                message: string,
                ..EVENT
            },
        );
    });
    let plane = &space.planes[0];
    let stats = |name| {
        let stats = stats(plane, name);
        let stats = stats.iter().map(|(name, value)| format!("{name}={value}"));
        stats.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        stats("all"),
        "domain=io category=reads color=#FF008040 marker_payload=-5"
    );
    assert_eq!(stats("default domain"), "category=others");
    assert_eq!(stats("unnamed category"), "domain=io category=8");
    assert_eq!(stats("u64"), format!("marker_payload={}", u64::MAX));
    assert_eq!(stats("f64"), "marker_payload=0.1");
    assert_eq!(stats("u32"), "marker_payload=1");
    assert_eq!(stats("i32"), "marker_payload=-2");
    assert_eq!(stats("f32"), "marker_payload=0.5");
    assert_eq!(stats("unknown"), "");
    assert_eq!(stats("registered"), "domain=io");
}

#[test]
fn each_domain_has_a_stack_of_its_own() {
    let _one = one_at_a_time();
    let space = trace(|| {
        let [a, b] = ["a", "b"].map(domain);
        assert_eq!(domain("a"), a);
        push(a, &Attributes::ascii(c"of a"));
        push(b, &Attributes::ascii(c"of b"));
        common::push("of ROCTX");
        assert_eq!(pop(a), 0);
        common::mark("a is over");
        assert_eq!(pop(b), 0);
        common::pop();
    });
    let ends = |row: &str| {
        let lines = &space.planes[0].lines;
        let line = lines.iter().find(|line| line.name.ends_with(row)).unwrap();
        let event = &line.events[0];
        let Some(x_event::Data::OffsetPs(start)) = event.data else {
            panic!("no time");
        };
        start + event.duration_ps
    };
    let roctx = format!("ROCTX Threads/{}", tid());
    assert!(ends("/a") < ends("/b") && ends("/b") <= ends(&roctx));
}

#[test]
fn what_cannot_be_kept_is_counted() {
    let _one = one_at_a_time();
    attach();
    let before = domain("before");
    push(before, &Attributes::ascii(c"opened before"));
    let capture = capture(RocmTracerOptions::default(), || {
        pop(before);
        assert_eq!(pop(before), -1);
        push(before, &EVENT);
        pop(before);
        let old = Attributes {
            size: 8,
            ..Attributes::ascii(c"of an older struct")
        };
        push(before, &old);
        pop(before);
        call!(core2[4] as (Domain, *const Attributes) -> c_int; before, ptr::null());
        pop(before);
        call!(core[7] as (u64); u64::MAX);
        push(before, &Attributes::ascii(c"open at the stop"));
    });
    let drops: Vec<_> = capture
        .drops()
        .iter()
        .map(|(reason, count)| (format!("{reason:?}"), count))
        .collect();
    let expected = [
        ("Unlabelled", 3),
        ("UnmatchedPop", 1),
        ("OpenedBeforeSession", 1),
        ("UnknownRangeId", 1),
    ];
    let mut expected: Vec<_> = expected
        .map(|(reason, count)| (reason.to_owned(), count))
        .into();
    expected.sort();
    let mut drops = drops;
    drops.sort();
    assert_eq!(drops, expected);
    let space = export(capture, CollectorOptions::default());
    assert_eq!(
        stats(&space.planes[0], "open at the stop"),
        [
            ("domain".to_owned(), "before".to_owned()),
            ("truncated".to_owned(), "1".to_owned())
        ]
    );
    pop(before);
}

#[test]
fn threads_that_end_leave_their_rows_under_the_names_they_were_given() {
    let _one = one_at_a_time();
    let space = trace(|| {
        let worker = thread::spawn(|| {
            let domain = domain("d");
            call!(core[14] as (u32, *const c_char); tid() as u32, c"worker".as_ptr());
            push(domain, &Attributes::ascii(c"work"));
            pop(domain);
            tid()
        });
        let tid = worker.join().unwrap();
        common::mark(&format!("it was {tid}"));
    });
    let rows = rows(&space);
    let row = rows
        .iter()
        .find(|(name, _)| name.starts_with("NVTX"))
        .unwrap();
    assert!(row.0.ends_with("/d worker"), "{}", row.0);
    assert_eq!(row.1, ["work"]);
}

#[test]
fn a_client_without_tables_is_refused() {
    unsafe extern "C" fn nothing(_: c_uint) -> *const c_void {
        ptr::null()
    }
    unsafe extern "C" fn older(_: c_uint) -> *const c_void {
        static OLDER: usize = size_of::<usize>();
        (&raw const OLDER).cast()
    }
    unsafe extern "C" fn no_modules(number: c_uint) -> *const c_void {
        unsafe extern "C" fn none(
            _: c_int,
            _: *mut *mut *mut *const c_void,
            _: *mut c_uint,
        ) -> c_int {
            0
        }
        static CALLBACKS: Callbacks = Callbacks {
            size: size_of::<Callbacks>(),
            module: none,
        };
        assert_eq!(number, 1);
        (&raw const CALLBACKS).cast()
    }
    // SAFETY: as a client might call it.
    unsafe {
        assert_eq!(nvtx::initialize(None), 0);
        assert_eq!(nvtx::initialize(Some(nothing)), 0);
        assert_eq!(nvtx::initialize(Some(older)), 0);
        assert_eq!(nvtx::initialize(Some(no_modules)), 0);
    }
}
