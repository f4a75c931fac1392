//! PJRT's profiler extension: makes a Rust profiler known to stock JAX.
//!
//! In: a type that implements [`Profiler`]. Out: a `PJRT_Api` whose only content is the profiler
//! extension, for `jaxlib._profiler.register_plugin_profiler`. It has no client and no devices, so
//! JAX's own back ends are untouched. From then on every JAX profiler session makes one profiler,
//! starts it, stops it and takes the serialized XSpace that it collected.
//!
//! | module | job |
//! |---|---|
//! | [`abi`] | the structs and their layout |
//! | [`error`] | what `PJRT_Error*` points at |
//! | `entry_points` | the C functions, none of which lets a panic out |

pub mod abi;
mod entry_points;
pub mod error;

pub use error::{Code, Error};

/// A profiler as JAX drives it: one value a session.
///
/// The host calls from its own threads, one call at a time for one value; start and stop may come
/// on different threads.
pub trait Profiler: Send + Sized + 'static {
    /// A profiler that is not started yet. `options` is a serialized `tensorflow.ProfileOptions`,
    /// possibly empty. It cannot fail: the host does not look at what a failed `create` returns.
    fn create(options: &[u8]) -> Self;

    /// Starts collecting. An error is logged by the host, which goes on without this profiler.
    fn start(&mut self) -> Result<(), Error>;

    /// Stops collecting. Called after a successful start, before [`Profiler::collect`].
    fn stop(&mut self) -> Result<(), Error>;

    /// The serialized `tensorflow.profiler.XSpace` of what was collected. Line timestamps in it are
    /// nanoseconds of `CLOCK_REALTIME`; the host makes them relative to its session's start.
    fn collect(&mut self) -> Result<Vec<u8>, Error>;
}

/// Makes the `PJRT_Api` for profiler `P`. It is never freed, since the host keeps its address for
/// good: call this once a process.
pub fn leak_api<P: Profiler>() -> &'static abi::PjrtApi {
    let profiler_api = Box::leak(Box::new(entry_points::profiler_api::<P>()));
    let extension = Box::leak(Box::new(abi::ProfilerExtension {
        struct_size: size_of::<abi::ProfilerExtension>(),
        kind: abi::EXTENSION_PROFILER,
        next: std::ptr::null_mut(),
        profiler_api,
        traceme_context_id: 0,
    }));
    Box::leak(Box::new(abi::PjrtApi {
        struct_size: size_of::<abi::PjrtApi>(),
        extension_start: extension,
        version: abi::PjrtApiVersion {
            struct_size: size_of::<abi::PjrtApiVersion>(),
            extension_start: std::ptr::null_mut(),
            major: abi::API_MAJOR,
            minor: abi::API_MINOR,
        },
    }))
}
