//! Gives the shared library the soname by which programs know AMD's.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librocprofiler-sdk-roctx.so.1");
    println!("cargo:rerun-if-changed=build.rs");
}
