//! Gives the shared library the soname by which programs know AMD's.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libroctx64.so.4");
    println!("cargo:rerun-if-changed=build.rs");
}
