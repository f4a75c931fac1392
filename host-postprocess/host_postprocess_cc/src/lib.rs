//! Post-processing for C++: the bridge beneath `xprof_roctx/post_process.h`.
//!
//! In: an XSpace as bytes, of whatever producer. Out: the post-processed XSpace as bytes, or in words
//! why there is none. A panic ends here, and no exception can come from the other side, since Rust
//! calls nothing there.

use host_postprocess::post_process_single_host_xspace;
use std::panic::catch_unwind;
use xplane_schema::Message;
use xplane_schema::proto::XSpace;

#[cxx::bridge(namespace = "xprof_roctx::post_process_bridge")]
#[allow(unreachable_pub)] // what the macro makes of a struct
mod bridge {
    struct Outcome {
        xspace: Vec<u8>,
        /// Empty if nothing went wrong.
        problem: String,
    }

    extern "Rust" {
        fn post_process(serialized: &[u8], start_ns: u64, stop_ns: u64) -> Outcome;
    }
}

fn post_process(serialized: &[u8], start_ns: u64, stop_ns: u64) -> bridge::Outcome {
    outcome(|| {
        let mut space = XSpace::decode(serialized)
            .map_err(|error| format!("{} bytes are no XSpace: {error}", serialized.len()))?;
        post_process_single_host_xspace(&mut space, start_ns, stop_ns);
        Ok(space.encode_to_vec())
    })
}

/// What came of the work; a panic's own message is on stderr.
fn outcome(
    work: impl FnOnce() -> Result<Vec<u8>, String> + std::panic::UnwindSafe,
) -> bridge::Outcome {
    let result = catch_unwind(work).unwrap_or_else(|_| {
        Err("post-processing failed with a panic, which is a bug of xprof_roctx".to_owned())
    });
    let (xspace, problem) = match result {
        Ok(xspace) => (xspace, String::new()),
        Err(problem) => (Vec::new(), problem),
    };
    bridge::Outcome { xspace, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_words() {
        let outcome = outcome(|| panic!("inside"));
        assert_eq!(outcome.xspace, b"");
        assert_eq!(
            outcome.problem,
            "post-processing failed with a panic, which is a bug of xprof_roctx"
        );
    }
}
