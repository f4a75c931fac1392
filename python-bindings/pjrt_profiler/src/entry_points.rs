//! The C functions, none of which lets a panic out.

use crate::abi::{
    CollectDataArgs, CreateArgs, ErrorDestroyArgs, ErrorGetCodeArgs, ErrorMessageArgs, Opaque,
    PROFILER_API_SIZE, ProfilerApi, ProfilerArgs,
};
use crate::{Code, Error, Profiler};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// What `PLUGIN_Profiler*` points at.
struct Handle<P> {
    /// None if making it panicked.
    profiler: Option<P>,
    /// What `collect_data` gave out, alive until `destroy`.
    data: Vec<u8>,
}

pub(crate) fn profiler_api<P: Profiler>() -> ProfilerApi {
    ProfilerApi {
        struct_size: PROFILER_API_SIZE,
        priv_: null_mut(),
        error_destroy,
        error_message,
        error_get_code,
        create: create::<P>,
        destroy: destroy::<P>,
        start: start::<P>,
        stop: stop::<P>,
        collect_data: collect_data::<P>,
    }
}

/// Runs `body`; what it returns or throws becomes null or a `PJRT_Error*`.
fn guarded(what: &str, body: impl FnOnce() -> Result<(), Error>) -> *mut Error {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let reason = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no reason given".to_owned());
        Err(Error::new(
            Code::Internal,
            format!(
                "xprof_roctx: the profiler's {what} failed unexpectedly ({reason}); this trace \
                 has no ROCTX rows"
            ),
        ))
    });
    match result {
        Ok(()) => null_mut(),
        Err(error) => Box::into_raw(Box::new(error)),
    }
}

/// # Safety
/// `profiler` is null or what [`create`] put out for the same `P`, not yet destroyed, and no other
/// call on it is running.
unsafe fn with_handle<P: Profiler>(
    what: &str,
    profiler: *mut Opaque,
    body: impl FnOnce(&mut P, &mut Vec<u8>) -> Result<(), Error>,
) -> *mut Error {
    guarded(what, || {
        // SAFETY: the caller's contract.
        let handle = unsafe { profiler.cast::<Handle<P>>().as_mut() };
        match handle {
            Some(Handle {
                profiler: Some(profiler),
                data,
            }) => body(profiler, data),
            _ => Err(Error::new(
                Code::Unavailable,
                format!("xprof_roctx: {what} of a profiler that could not be created"),
            )),
        }
    })
}

unsafe extern "C" fn create<P: Profiler>(args: *mut CreateArgs) -> *mut Error {
    // The host goes on with an uninitialised profiler if this returns an error: never do.
    let made = catch_unwind(|| {
        // SAFETY: the host passes its arguments, with `options` null or `options_size` bytes.
        let options = unsafe {
            let args = &*args;
            if args.options.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(args.options, args.options_size)
            }
        };
        P::create(options)
    });
    let handle = Box::new(Handle {
        profiler: made.ok(),
        data: Vec::new(),
    });
    // SAFETY: as above.
    unsafe { (*args).profiler = Box::into_raw(handle).cast() };
    null_mut()
}

unsafe extern "C" fn destroy<P: Profiler>(args: *mut ProfilerArgs) -> *mut Error {
    guarded("destroy", || {
        // SAFETY: the host passes its arguments, with what `create` put out, for the last time.
        unsafe {
            let profiler = (*args).profiler;
            if !profiler.is_null() {
                drop(Box::from_raw(profiler.cast::<Handle<P>>()));
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn start<P: Profiler>(args: *mut ProfilerArgs) -> *mut Error {
    // SAFETY: the host passes its arguments, with what `create` put out.
    unsafe {
        with_handle("start", (*args).profiler, |profiler: &mut P, _| {
            profiler.start()
        })
    }
}

unsafe extern "C" fn stop<P: Profiler>(args: *mut ProfilerArgs) -> *mut Error {
    // SAFETY: the host passes its arguments, with what `create` put out.
    unsafe {
        with_handle("stop", (*args).profiler, |profiler: &mut P, _| {
            profiler.stop()
        })
    }
}

unsafe extern "C" fn collect_data<P: Profiler>(args: *mut CollectDataArgs) -> *mut Error {
    // SAFETY: the host passes its arguments, with what `create` put out.
    let (profiler, args) = unsafe { ((*args).profiler, &mut *args) };
    let collect = |profiler: &mut P, data: &mut Vec<u8>| {
        // A host that comes a second time, with a place of its own, gets the same data.
        if data.is_empty() {
            *data = profiler.collect()?;
        }
        if !args.buffer.is_null() && args.buffer_size >= data.len() {
            // SAFETY: the host says that its place has room for buffer_size bytes.
            unsafe {
                args.buffer
                    .copy_from_nonoverlapping(data.as_ptr(), data.len())
            };
        } else {
            args.buffer = data.as_mut_ptr();
        }
        args.buffer_size = data.len();
        Ok(())
    };
    // SAFETY: as above.
    unsafe { with_handle("collect_data", profiler, collect) }
}

unsafe extern "C" fn error_destroy(args: *mut ErrorDestroyArgs) {
    guarded("error_destroy", || {
        // SAFETY: the host passes its arguments, with an error from here, for the last time.
        unsafe {
            let error = (*args).error;
            if !error.is_null() {
                drop(Box::from_raw(error));
            }
        }
        Ok(())
    });
}

unsafe extern "C" fn error_message(args: *mut ErrorMessageArgs) {
    // SAFETY: the host passes its arguments, with an error from here.
    unsafe {
        let args = &mut *args;
        let message = args.error.as_ref().map_or("", |error| &error.message);
        args.message = message.as_ptr().cast();
        args.message_size = message.len();
    }
}

unsafe extern "C" fn error_get_code(args: *mut ErrorGetCodeArgs) -> *mut Error {
    // SAFETY: the host passes its arguments, with an error from here.
    unsafe {
        let args = &mut *args;
        let code = args
            .error
            .as_ref()
            .map_or(Code::Internal, |error| error.code);
        args.code = code as i32;
    }
    null_mut()
}
