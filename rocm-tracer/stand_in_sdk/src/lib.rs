//! A stand-in for AMD's rocprofiler-sdk, ROCTX and rocprofiler-register, for tests: one shared
//! object with the C ABI of all three, whose behaviour is chosen by environment variables.
//!
//! It behaves as the real libraries were observed to: ROCTX hands its tables over at its first
//! call, to whoever has configured the SDK by then and to nobody later, until the hand-over is
//! repeated; markers come by tables or by callbacks in the layout of the version it claims. There
//! are no GPUs: the test plays the HIP runtime by the functions `stand_in_*`.
//!
//! | variable | meaning |
//! |---|---|
//! | `STAND_IN_VERSION` | the version, `major * 10000 + minor * 100 + patch`; 10000 unless given |
//! | `STAND_IN_FAIL` | `function=status,…`: what these functions return instead of working |
//! | `STAND_IN_MUTE` | accept the configuration and never call back |
//! | `STAND_IN_GPUS` | so many GPUs are there from the start, in place of those that the test adds |
//! | `STAND_IN_REVERSED` | deliver a buffer's records last first |
//! | `STAND_IN_LATE` | a flush delivers nothing; the test does, later |

#![allow(non_snake_case)] // AMD's names
#![allow(unreachable_pub)] // reached from C

mod bytes;
mod gpu;
mod roctx;
mod sdk;
mod status;

use std::ffi::c_int;

/// The status that the test wants this function to fail with.
fn failure(function: &str) -> Option<c_int> {
    let failures = std::env::var("STAND_IN_FAIL").ok()?;
    failures.split(',').find_map(|failure| {
        let (name, status) = failure.split_once('=')?;
        (name == function).then(|| status.parse().ok()).flatten()
    })
}

fn version() -> u32 {
    std::env::var("STAND_IN_VERSION")
        .ok()
        .and_then(|version| version.parse().ok())
        .unwrap_or(10_000)
}

fn mute() -> bool {
    std::env::var_os("STAND_IN_MUTE").is_some()
}
