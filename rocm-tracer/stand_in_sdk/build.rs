//! Gives the shared library the soname under which rocprofiler-register is looked for.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librocprofiler-register.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
