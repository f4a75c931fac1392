//! The marker clock and its relation to the wall clock.
//!
//! Markers carry no time of their own, so the listener reads a clock at each. Where the kernel
//! itself keeps time by the processor's time-stamp counter, the listener reads that counter, which
//! takes a third of the time; elsewhere it reads `CLOCK_BOOTTIME`, the clock that
//! `rocprofiler_get_timestamp` returns. Either way the reading is kept as *ticks*, and a session
//! takes an [`Anchor`] at both ends, between which ticks are mapped to time linearly. So a wall
//! clock that is being slewed during a long session moves no marker against the host's events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What markers are timed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockSource {
    /// The time-stamp counter where the kernel trusts it, else `CLOCK_BOOTTIME`.
    #[default]
    Fastest,
    /// `CLOCK_BOOTTIME`.
    Boottime,
}

/// Whether [`ticks`] reads the time-stamp counter. Changes only while no session is active.
static COUNTER: AtomicBool = AtomicBool::new(false);

/// The marker clock's reading; `None` if the clock cannot be read.
#[inline]
pub fn ticks() -> Option<u64> {
    if COUNTER.load(Ordering::Relaxed) {
        Some(counter())
    } else {
        boottime_ns()
    }
}

/// Decides what [`ticks`] reads; `true` if it is the time-stamp counter.
pub(crate) fn choose(source: ClockSource) -> bool {
    let counter = source == ClockSource::Fastest && kernel_trusts_counter();
    COUNTER.store(counter, Ordering::Relaxed);
    counter
}

/// Whether the kernel keeps time by the counter: then it runs at one rate, in step on all
/// processors, and user code may read it.
fn kernel_trusts_counter() -> bool {
    cfg!(all(target_arch = "x86_64", not(miri)))
        && std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .is_ok_and(|source| source.trim_ascii() == b"tsc")
}

#[inline]
fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("kernel_trusts_counter says so only on x86-64")
}

/// Nanoseconds of `CLOCK_BOOTTIME`; `None` if the clock cannot be read.
#[inline]
pub fn boottime_ns() -> Option<u64> {
    read(libc::CLOCK_BOOTTIME)
}

#[inline]
fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec to the place given.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// One instant on all clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The marker clock.
    pub ticks: u64,
    /// `CLOCK_BOOTTIME`, ns.
    pub boot_ns: u64,
    /// `CLOCK_REALTIME`, ns since the epoch.
    pub wall_ns: u64,
}

impl Anchor {
    /// Reads the clocks at, as nearly as can be, the same instant.
    pub fn now() -> Option<Self> {
        // Readings of one clock before and after bound the error by their distance; an
        // interruption in between makes it large, so the best of a few is taken.
        let mut best: Option<(u64, Self)> = None;
        for _ in 0..8 {
            let before = ticks()?;
            let boot_ns = boottime_ns()?;
            let wall_ns = read(libc::CLOCK_REALTIME)?;
            let gap = ticks()?.saturating_sub(before);
            if best.is_none_or(|(smallest, _)| gap < smallest) {
                let ticks = before + gap / 2;
                let anchor = Self {
                    ticks,
                    boot_ns,
                    wall_ns,
                };
                best = Some((gap, anchor));
            }
        }
        best.map(|(_, anchor)| anchor)
    }
}

/// A wall clock that ran this much faster or slower than the boot clock was stepped, not slewed:
/// the kernel slews by at most 500 ppm.
const LARGEST_SLEW: f64 = 1e-3;
/// Two anchors may differ by this much however short the session is.
const ANCHOR_ERROR: Duration = Duration::from_micros(50);

/// The session's span on all clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When the session started.
    pub start: Anchor,
    /// When it stopped.
    pub stop: Anchor,
}

impl Span {
    /// Whether the wall clock was set to another time during the session. Markers then follow the
    /// boot clock from the session's start.
    pub fn wall_clock_stepped(&self) -> bool {
        let wall = self.stop.wall_ns as f64 - self.start.wall_ns as f64;
        let boot = self.boot_length_ns() as f64;
        (wall - boot).abs() > boot * LARGEST_SLEW + ANCHOR_ERROR.as_nanos() as f64
    }

    fn boot_length_ns(&self) -> u64 {
        self.stop.boot_ns.saturating_sub(self.start.boot_ns)
    }

    /// The session's length, ns: by the wall clock unless that was set meanwhile.
    pub fn length_ns(&self) -> u64 {
        if self.wall_clock_stepped() {
            self.boot_length_ns()
        } else {
            self.stop.wall_ns.saturating_sub(self.start.wall_ns)
        }
    }

    /// The session's stop, ns since the epoch.
    pub fn stop_wall_ns(&self) -> u64 {
        self.start.wall_ns + self.length_ns()
    }

    /// How to turn ticks into time since the session's start.
    pub(crate) fn scale(&self) -> Scale {
        self.scale_of(self.start.ticks, self.stop.ticks)
    }

    /// How to turn `CLOCK_BOOTTIME` into time since the session's start.
    pub(crate) fn boot_scale(&self) -> Scale {
        self.scale_of(self.start.boot_ns, self.stop.boot_ns)
    }

    fn scale_of(&self, start: u64, stop: u64) -> Scale {
        let length_ps = self.length_ns() * 1000;
        let ticks = stop.saturating_sub(start);
        Scale {
            start,
            stop,
            length_ps,
            ps_per_tick: if ticks == 0 {
                0.0
            } else {
                length_ps as f64 / ticks as f64
            },
        }
    }
}

/// Ticks as time since the session's start.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    start: u64,
    stop: u64,
    length_ps: u64,
    ps_per_tick: f64,
}

impl Scale {
    /// Picoseconds from the session's start; `None` if that is outside the session. Never
    /// decreases from one tick to the next, so that what is nested stays nested.
    #[inline]
    pub(crate) fn offset_ps(&self, ticks: u64) -> Option<u64> {
        if ticks < self.start || ticks > self.stop {
            return None;
        }
        let offset = (ticks - self.start) as f64 * self.ps_per_tick;
        Some((offset as u64).min(self.length_ps))
    }

    /// The session's length, ps.
    pub(crate) fn length_ps(&self) -> u64 {
        self.length_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of so many ticks and ns.
    fn span(ticks: u64, boot: u64, wall: u64) -> Span {
        let start = Anchor {
            ticks: 700,
            boot_ns: 1_000,
            wall_ns: 5_000_000_000_000,
        };
        Span {
            start,
            stop: Anchor {
                ticks: start.ticks + ticks,
                boot_ns: start.boot_ns + boot,
                wall_ns: start.wall_ns.wrapping_add(wall),
            },
        }
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn ticks_are_spread_over_the_wall_clock_s_length() {
        // 10 s of a 3 GHz counter, during which the wall clock gained 400 ppm, 4 ms.
        let span = span(30 * SECOND, 10 * SECOND, 10_004_000_000);
        assert!(!span.wall_clock_stepped());
        let scale = span.scale();
        assert_eq!(scale.offset_ps(700), Some(0));
        assert_eq!(scale.offset_ps(700 + 15 * SECOND), Some(5_002_000_000_000));
        assert_eq!(scale.offset_ps(700 + 30 * SECOND), Some(10_004_000_000_000));
        assert_eq!(span.stop_wall_ns(), 5_000_000_000_000 + 10_004_000_000);
    }

    #[test]
    fn a_stepped_wall_clock_leaves_the_times_alone() {
        for wall in [3_610 * SECOND, 0, 0u64.wrapping_sub(3_600 * SECOND)] {
            let span = span(10 * SECOND, 10 * SECOND, wall);
            assert!(span.wall_clock_stepped());
            assert_eq!(span.scale().offset_ps(700 + 4_000), Some(4_000_000));
            assert_eq!(span.stop_wall_ns(), 5_000_000_000_000 + 10 * SECOND);
        }
    }

    #[test]
    fn times_outside_the_session_have_no_offset() {
        let scale = span(100, 100, 100).scale();
        assert_eq!(scale.offset_ps(699), None);
        assert_eq!(scale.offset_ps(801), None);
        assert_eq!(scale.offset_ps(800), Some(100_000));
        // A session in which the clock did not move holds the one instant.
        let scale = span(0, 0, 0).scale();
        assert_eq!(scale.offset_ps(700), Some(0));
        assert_eq!(scale.offset_ps(701), None);
    }

    #[test]
    fn the_boot_clock_is_the_kernel_s_uptime() {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        let now = boottime_ns().unwrap() as f64 / 1e9;
        assert!(
            (now - uptime).abs() < 60.0,
            "{now} s, /proc/uptime {uptime} s"
        );
    }
}
