"""A toolchain of the Rust that is installed: $RUSTC, else the rustc on PATH.

For machines that cannot download one. It is used where `--extra_toolchains=@local_rust//:toolchain` says so.
"""

_BUILD = """\
load("@rules_rust//rust:toolchain.bzl", "rust_stdlib_filegroup", "rust_toolchain")

filegroup(
    name = "rustc_lib",
    srcs = glob(
        [
            "lib/*.so",
            "lib/rustlib/{triple}/bin/rust-lld",
            "lib/rustlib/{triple}/lib/*.so",
        ],
        allow_empty = True,
    ),
)

rust_stdlib_filegroup(
    name = "rust_std",
    srcs = glob([
        "lib/rustlib/{triple}/lib/*.rlib",
        "lib/rustlib/{triple}/lib/*.rmeta",
        "lib/rustlib/{triple}/lib/*.so",
        "lib/rustlib/{triple}/lib/*.a",
    ], allow_empty = True),
)

rust_toolchain(
    name = "rust_toolchain",
    binary_ext = "",
    default_edition = "2024",
    dylib_ext = ".so",
    exec_triple = "{triple}",
    rust_doc = "bin/rustdoc",
    rust_std = ":rust_std",
    rustc = "bin/rustc",
    rustc_lib = ":rustc_lib",
    staticlib_ext = ".a",
    stdlib_linkflags = ["-ldl", "-lpthread"],
    target_triple = "{triple}",
)

toolchain(
    name = "toolchain",
    exec_compatible_with = ["@platforms//cpu:x86_64", "@platforms//os:linux"],
    target_compatible_with = ["@platforms//cpu:x86_64", "@platforms//os:linux"],
    toolchain = ":rust_toolchain",
    toolchain_type = "@rules_rust//rust:toolchain",
)
"""

_TRIPLE = "x86_64-unknown-linux-gnu"

def _run(repository_ctx, arguments):
    result = repository_ctx.execute(arguments)
    if result.return_code != 0:
        fail("{} failed: {}".format(" ".join([str(a) for a in arguments]), result.stderr))
    return result.stdout.strip()

def _local_rust_toolchain_impl(repository_ctx):
    rustc = repository_ctx.getenv("RUSTC") or repository_ctx.which("rustc")
    if not rustc:
        fail("no Rust is installed: set RUSTC or put rustc on PATH, or drop --extra_toolchains=@local_rust//:toolchain")
    sysroot = repository_ctx.path(_run(repository_ctx, [rustc, "--print", "sysroot"]))
    for tool in ["rustc", "rustdoc"]:
        repository_ctx.symlink(sysroot.get_child("bin", tool), "bin/" + tool)
    repository_ctx.symlink(sysroot.get_child("lib", "rustlib", _TRIPLE), "lib/rustlib/" + _TRIPLE)

    # A toolchain of rustup keeps the compiler's own libraries beside it; a distribution has them among the system's.
    for library in sysroot.get_child("lib").readdir():
        if library.basename.startswith("librustc_driver") or library.basename.startswith("libLLVM"):
            repository_ctx.symlink(library, "lib/" + library.basename)
    repository_ctx.file("BUILD.bazel", _BUILD.format(triple = _TRIPLE))

_local_rust_toolchain = repository_rule(
    implementation = _local_rust_toolchain_impl,
    doc = "Declares :toolchain for the Rust that is installed.",
    local = True,
)

local_rust = module_extension(
    implementation = lambda _: _local_rust_toolchain(name = "local_rust"),
)
