//! The functions put into an NVTX client's tables.
//!
//! Each is called on the thread that annotates, with what `nvToolsExt.h` asks of the caller: texts
//! are null or end in a null character, attributes are null or a struct of the size that it says.

use super::abi::{
    CALLBACKS, COLOR_ARGB, CORE, CORE2, Callbacks, DomainHandle, EventAttributes, GetExportTable,
    Text, WideText, message_type, payload_type,
};
use crate::listener::attributes::{Attributes, Payload};
use crate::listener::{names, nvtx as listener};
use std::borrow::Cow;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use tsl_profiler_lib::nvtx_utils;
use tsl_profiler_lib::{ProfilerDomainHandle, StringHandle};

/// Puts this module's functions into a client's tables; 1 if they are there, as NVTX has it.
///
/// # Safety
/// `get_export_table` is null or a client's function of that name.
pub unsafe fn initialize(get_export_table: Option<GetExportTable>) -> c_int {
    // SAFETY: this function's contract; the table of this number has this layout and lives as long
    // as the client.
    let callbacks = get_export_table
        .and_then(|get| unsafe { get(CALLBACKS).cast::<Callbacks>().as_ref() })
        .filter(|callbacks| callbacks.size >= size_of::<Callbacks>());
    let Some(module) = callbacks.and_then(|callbacks| callbacks.module) else {
        return 0;
    };
    let put = |number: c_int, functions: &[(usize, *const c_void)]| {
        let mut table = ptr::null_mut();
        let mut length: c_uint = 0;
        // SAFETY: places for the two results.
        let known = unsafe { module(number, &mut table, &mut length) };
        if known == 0 || table.is_null() {
            return false;
        }
        for &(index, function) in functions {
            // SAFETY: the table has so many entries, each null or the address of a pointer to the
            // function of this number, which has the signature of the one put there.
            unsafe {
                let entry = if index < length as usize {
                    *table.add(index)
                } else {
                    ptr::null_mut()
                };
                if let Some(entry) = NonNull::new(entry) {
                    entry.write(function);
                }
            }
        }
        true
    };
    // The numbers are those of nvtxTypes.h.
    let core = put(
        CORE,
        &[
            (1, mark_ex as *const c_void),
            (2, mark as *const c_void),
            (3, mark_wide as *const c_void),
            (4, start_ex as *const c_void),
            (5, start as *const c_void),
            (6, start_wide as *const c_void),
            (7, end as *const c_void),
            (8, push_ex as *const c_void),
            (9, push as *const c_void),
            (10, push_wide as *const c_void),
            (11, pop as *const c_void),
            (12, name_category as *const c_void),
            (13, name_category_wide as *const c_void),
            (14, name_thread as *const c_void),
            (15, name_thread_wide as *const c_void),
        ],
    );
    let core2 = put(
        CORE2,
        &[
            (1, domain_mark_ex as *const c_void),
            (2, domain_start_ex as *const c_void),
            (3, domain_end as *const c_void),
            (4, domain_push_ex as *const c_void),
            (5, domain_pop as *const c_void),
            (8, domain_name_category as *const c_void),
            (9, domain_name_category_wide as *const c_void),
            (10, register_string as *const c_void),
            (11, register_string_wide as *const c_void),
            (12, create_domain as *const c_void),
            (13, create_domain_wide as *const c_void),
        ],
    );
    c_int::from(core || core2)
}

const DEFAULT: u32 = 0;
const NONE: Attributes = Attributes {
    category: 0,
    color: None,
    payload: None,
};

fn number(domain: DomainHandle) -> u32 {
    domain.addr() as u32
}

/// # Safety
/// Null, or NUL-terminated for as long as the result is used.
unsafe fn bytes<'a>(text: Text) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: not null, and this function's contract.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// # Safety
/// Null, or ends in a null character.
unsafe fn narrow(text: WideText) -> Vec<u8> {
    if text.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, and this function's contract: no read goes past the null character.
    let characters = (0..).map(|index| unsafe { *text.add(index) });
    characters
        .take_while(|character| *character != 0)
        .map(|character| {
            let known = u32::try_from(character).ok().and_then(char::from_u32);
            known.unwrap_or(char::REPLACEMENT_CHARACTER)
        })
        .collect::<String>()
        .into_bytes()
}

/// Calls `record` with an event's text and attributes; null attributes are none.
///
/// # Safety
/// As this module's documentation says.
unsafe fn with_event<R>(
    event: *const EventAttributes,
    record: impl FnOnce(&[u8], &Attributes) -> R,
) -> R {
    // SAFETY: null or valid by this function's contract. A client whose struct is shorter is of
    // before NVTX 2, whose events have no text.
    let Some(event) = (unsafe { event.as_ref() })
        .filter(|event| usize::from(event.size) >= size_of::<EventAttributes>())
    else {
        return record(b"", &NONE);
    };
    let four = || event.payload.first_chunk().copied().unwrap_or_default();
    let payload = match event.payload_type {
        payload_type::U64 => Some(Payload::Unsigned(u64::from_ne_bytes(event.payload))),
        payload_type::I64 => Some(Payload::Signed(i64::from_ne_bytes(event.payload))),
        payload_type::F64 => Some(Payload::Float(f64::from_ne_bytes(event.payload))),
        payload_type::U32 => Some(Payload::Unsigned(u32::from_ne_bytes(four()).into())),
        payload_type::I32 => Some(Payload::Signed(i32::from_ne_bytes(four()).into())),
        payload_type::F32 => Some(Payload::Float(f32::from_ne_bytes(four()).into())),
        _ => None,
    };
    let attributes = Attributes {
        category: event.category,
        color: (event.color_type == COLOR_ARGB).then_some(event.color),
        payload,
    };
    // SAFETY: the type says what the message is, and this function's contract; registered strings
    // are of `register_string`.
    let text: Cow<'_, [u8]> = unsafe {
        match event.message_type {
            message_type::ASCII => bytes(event.message.cast()).into(),
            message_type::UNICODE => narrow(event.message.cast()).into(),
            message_type::REGISTERED => {
                nvtx_utils::registered_bytes(StringHandle::from_raw(event.message)).into()
            }
            _ => b"".into(),
        }
    };
    record(&text, &attributes)
}

unsafe extern "C" fn mark_ex(event: *const EventAttributes) {
    // SAFETY: from NVTX, as this module's documentation says; so too in all below.
    unsafe { domain_mark_ex(ptr::null(), event) }
}

unsafe extern "C" fn mark(text: Text) {
    // SAFETY: as above.
    listener::mark(DEFAULT, unsafe { bytes(text) }, &NONE);
}

unsafe extern "C" fn mark_wide(text: WideText) {
    // SAFETY: as above.
    listener::mark(DEFAULT, &unsafe { narrow(text) }, &NONE);
}

unsafe extern "C" fn start_ex(event: *const EventAttributes) -> u64 {
    // SAFETY: as above.
    unsafe { domain_start_ex(ptr::null(), event) }
}

unsafe extern "C" fn start(text: Text) -> u64 {
    // SAFETY: as above.
    listener::start(DEFAULT, unsafe { bytes(text) }, &NONE)
}

unsafe extern "C" fn start_wide(text: WideText) -> u64 {
    // SAFETY: as above.
    listener::start(DEFAULT, &unsafe { narrow(text) }, &NONE)
}

unsafe extern "C" fn end(id: u64) {
    listener::end(id);
}

unsafe extern "C" fn push_ex(event: *const EventAttributes) -> c_int {
    // SAFETY: as above.
    unsafe { domain_push_ex(ptr::null(), event) }
}

unsafe extern "C" fn push(text: Text) -> c_int {
    // SAFETY: as above.
    listener::push(DEFAULT, unsafe { bytes(text) }, &NONE)
}

unsafe extern "C" fn push_wide(text: WideText) -> c_int {
    // SAFETY: as above.
    listener::push(DEFAULT, &unsafe { narrow(text) }, &NONE)
}

unsafe extern "C" fn pop() -> c_int {
    listener::pop(DEFAULT)
}

unsafe extern "C" fn name_category(category: u32, name: Text) {
    // SAFETY: as above.
    unsafe { domain_name_category(ptr::null(), category, name) }
}

unsafe extern "C" fn name_category_wide(category: u32, name: WideText) {
    // SAFETY: as above.
    unsafe { domain_name_category_wide(ptr::null(), category, name) }
}

unsafe extern "C" fn name_thread(thread: u32, name: Text) {
    // SAFETY: as above.
    names::set_thread(thread, unsafe { bytes(name) });
}

unsafe extern "C" fn name_thread_wide(thread: u32, name: WideText) {
    // SAFETY: as above.
    names::set_thread(thread, &unsafe { narrow(name) });
}

unsafe extern "C" fn domain_mark_ex(domain: DomainHandle, event: *const EventAttributes) {
    // SAFETY: as above.
    unsafe {
        with_event(event, |text, attributes| {
            listener::mark(number(domain), text, attributes);
        });
    }
}

unsafe extern "C" fn domain_start_ex(domain: DomainHandle, event: *const EventAttributes) -> u64 {
    // SAFETY: as above.
    unsafe {
        with_event(event, |text, attributes| {
            listener::start(number(domain), text, attributes)
        })
    }
}

unsafe extern "C" fn domain_end(_domain: DomainHandle, id: u64) {
    listener::end(id);
}

unsafe extern "C" fn domain_push_ex(domain: DomainHandle, event: *const EventAttributes) -> c_int {
    // SAFETY: as above.
    unsafe {
        with_event(event, |text, attributes| {
            listener::push(number(domain), text, attributes)
        })
    }
}

unsafe extern "C" fn domain_pop(domain: DomainHandle) -> c_int {
    listener::pop(number(domain))
}

unsafe extern "C" fn domain_name_category(domain: DomainHandle, category: u32, name: Text) {
    // SAFETY: as above.
    names::set_category(number(domain), category, unsafe { bytes(name) });
}

unsafe extern "C" fn domain_name_category_wide(
    domain: DomainHandle,
    category: u32,
    name: WideText,
) {
    // SAFETY: as above.
    names::set_category(number(domain), category, &unsafe { narrow(name) });
}

/// The pool of registered strings is shared with ROCTX's, and bounded; it looks at no domain.
fn registered(text: &[u8]) -> *const c_void {
    // SAFETY: the implementation on ROCTX accepts any address, since it looks at none.
    let domain = unsafe { ProfilerDomainHandle::from_raw(NonNull::dangling()) };
    nvtx_utils::register_string(domain, text).as_raw()
}

unsafe extern "C" fn register_string(_domain: DomainHandle, text: Text) -> *const c_void {
    // SAFETY: as above.
    registered(unsafe { bytes(text) })
}

unsafe extern "C" fn register_string_wide(_domain: DomainHandle, text: WideText) -> *const c_void {
    // SAFETY: as above.
    registered(&unsafe { narrow(text) })
}

unsafe extern "C" fn create_domain(name: Text) -> DomainHandle {
    // SAFETY: as above.
    ptr::without_provenance(names::domain(unsafe { bytes(name) }) as usize)
}

unsafe extern "C" fn create_domain_wide(name: WideText) -> DomainHandle {
    // SAFETY: as above.
    ptr::without_provenance(names::domain(&unsafe { narrow(name) }) as usize)
}
