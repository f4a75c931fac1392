//! Drives the tables by offsets in raw memory, as a C++ host does, with garbage where jaxlib leaves
//! garbage.

use pjrt_profiler::{Code, Error, Profiler, leak_api};
use std::ffi::c_void;

struct Fake {
    options: Vec<u8>,
    started: bool,
}

impl Profiler for Fake {
    fn create(options: &[u8]) -> Self {
        assert!(options != b"panic in create");
        Self {
            options: options.to_vec(),
            started: false,
        }
    }
    fn start(&mut self) -> Result<(), Error> {
        match self.options.as_slice() {
            b"fail" => Err(Error::new(Code::FailedPrecondition, "already running")),
            b"panic" => panic!("at start"),
            _ => {
                self.started = true;
                Ok(())
            }
        }
    }
    fn stop(&mut self) -> Result<(), Error> {
        self.started = false;
        Ok(())
    }
    fn collect(&mut self) -> Result<Vec<u8>, Error> {
        assert!(!self.started);
        Ok(self.options.repeat(2))
    }
}

type Call = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// The table of profiler functions, found as the host finds it.
fn table() -> *const usize {
    let api: *const usize = std::ptr::from_ref(leak_api::<Fake>()).cast();
    // SAFETY: reads the words at the offsets that the C headers give.
    unsafe {
        assert_eq!(*api, 40);
        let extension = *api.add(1) as *const usize;
        assert_eq!(*extension, 40);
        assert_eq!(*extension.add(1) as i32, 1, "the profiler's type");
        assert_eq!(*extension.add(2), 0, "no other extension");
        let table = *extension.add(3) as *const usize;
        assert_eq!(*table, 80, "larger sizes crash older hosts");
        table
    }
}

/// Calls the function in the table's byte `offset` with `args`.
fn call(table: *const usize, offset: usize, args: &mut [usize]) -> usize {
    // SAFETY: the offsets in these tests are those of functions of one pointer argument.
    unsafe {
        let function = std::mem::transmute::<usize, Call>(*table.add(offset / 8));
        function(args.as_mut_ptr().cast()) as usize
    }
}

const GARBAGE: usize = 0x5a5a_5a5a_5a5a_5a5a;
const ERROR_DESTROY: usize = 16;
const ERROR_MESSAGE: usize = 24;
const ERROR_GET_CODE: usize = 32;
const CREATE: usize = 40;
const DESTROY: usize = 48;
const START: usize = 56;
const STOP: usize = 64;
const COLLECT_DATA: usize = 72;

fn create(table: *const usize, options: &[u8]) -> usize {
    let mut args = [GARBAGE, options.as_ptr() as usize, options.len(), GARBAGE];
    assert_eq!(call(table, CREATE, &mut args), 0, "create never fails");
    args[3]
}

fn bytes(address: usize, size: usize) -> Vec<u8> {
    // SAFETY: the address and size come from the functions under test.
    unsafe { std::slice::from_raw_parts(address as *const u8, size).to_vec() }
}

/// Code and message of an error, which is freed.
fn take_error(table: *const usize, error: usize) -> (i32, String) {
    assert_ne!(error, 0);
    let mut message = [GARBAGE, 0, error, 0, 0];
    call(table, ERROR_MESSAGE, &mut message);
    let text = String::from_utf8(bytes(message[3], message[4])).unwrap();
    let mut code = [GARBAGE, 0, error, 0];
    assert_eq!(call(table, ERROR_GET_CODE, &mut code), 0);
    call(table, ERROR_DESTROY, &mut [GARBAGE, 0, error]);
    (code[3] as i32, text)
}

#[test]
fn a_session_from_create_to_destroy() {
    let table = table();
    let profiler = create(table, b"options");
    assert_eq!(call(table, START, &mut [GARBAGE, profiler]), 0);
    assert_eq!(call(table, STOP, &mut [GARBAGE, profiler]), 0);

    let mut args = [GARBAGE, profiler, 0, GARBAGE];
    assert_eq!(call(table, COLLECT_DATA, &mut args), 0);
    assert_eq!(bytes(args[2], args[3]), b"optionsoptions");

    let mut place = [0u8; 20];
    let mut args = [GARBAGE, profiler, place.as_mut_ptr() as usize, place.len()];
    assert_eq!(call(table, COLLECT_DATA, &mut args), 0);
    assert_eq!((args[2], args[3]), (place.as_ptr() as usize, 14));
    assert_eq!(&place[..14], b"optionsoptions");

    assert_eq!(call(table, DESTROY, &mut [GARBAGE, profiler]), 0);
}

#[test]
fn nothing_collected_is_an_empty_space() {
    let table = table();
    let profiler = create(table, b"");
    let mut args = [GARBAGE, profiler, 0, GARBAGE];
    assert_eq!(call(table, COLLECT_DATA, &mut args), 0);
    assert_eq!(args[3], 0);
    call(table, DESTROY, &mut [GARBAGE, profiler]);
}

#[test]
fn errors_have_code_and_message() {
    let table = table();
    let profiler = create(table, b"fail");
    let error = call(table, START, &mut [GARBAGE, profiler]);
    let expected = (9, "already running".to_owned());
    assert_eq!(take_error(table, error), expected);
    call(table, DESTROY, &mut [GARBAGE, profiler]);
}

#[test]
fn a_panic_becomes_an_error() {
    let table = table();
    let profiler = create(table, b"panic");
    let error = call(table, START, &mut [GARBAGE, profiler]);
    let (code, message) = take_error(table, error);
    assert_eq!(code, 13);
    assert!(message.contains("at start"), "{message}");
    call(table, DESTROY, &mut [GARBAGE, profiler]);
}

#[test]
fn create_that_panics_still_makes_something_to_destroy() {
    let table = table();
    let profiler = create(table, b"panic in create");
    assert_ne!(profiler, 0);
    let error = call(table, START, &mut [GARBAGE, profiler]);
    assert_eq!(take_error(table, error).0, 14);
    assert_eq!(call(table, DESTROY, &mut [GARBAGE, profiler]), 0);
}
