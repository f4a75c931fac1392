//! The clock of host events: the one that ROCTX markers are stamped with.

/// Nanoseconds of `CLOCK_BOOTTIME`.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a place for a timespec. Linux has this clock since 2.6.39, so the call
    // cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
