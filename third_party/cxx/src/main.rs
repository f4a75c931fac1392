//! Generates the C++ side of a cxx bridge: `cxx_bridge_gen BRIDGE.rs HEADER SOURCE`.
//!
//! It is what cxx's own command does, over the same generator. That one is a package without a
//! library, and crate_universe takes in libraries only.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;

fn main() -> Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [bridge, header, source] = arguments.as_slice() else {
        bail!("usage: cxx_bridge_gen BRIDGE.rs HEADER SOURCE");
    };
    let bridge_name = bridge.display();
    let text = fs::read_to_string(bridge).with_context(|| format!("reading {bridge_name}"))?;
    let tokens: proc_macro2::TokenStream = text
        .parse()
        .map_err(|error| anyhow::anyhow!("{bridge_name} is not Rust: {error}"))?;
    let generated = cxx_gen::generate_header_and_cc(tokens, &cxx_gen::Opt::default())
        .with_context(|| format!("generating C++ for {bridge_name}"))?;
    for (path, content) in [
        (header, generated.header),
        (source, generated.implementation),
    ] {
        fs::write(path, content).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
