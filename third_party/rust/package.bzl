"""A Cargo package of this workspace as Bazel targets, with Cargo's layout and Cargo's dependencies."""

load("@crates//:defs.bzl", "aliases", "all_crate_deps")
load("@rules_rust//rust:defs.bzl", "rust_library", "rust_shared_library", "rust_test")

_EDITION = "2024"
_VERSION = "0.1.0"

def rust_package(
        name,
        deps = [],
        dev_deps = [],
        crate_features = [],
        library_name = None,
        tests_of_it = True,
        tests_without_rocm = [],
        test_data = [],
        test_env = {},
        test_rustc_env = {},
        visibility = ["//visibility:public"]):
    """The library in src/, its unit tests, and one test for each file in tests/, called as the file is.

    Crates from the registry are those of Cargo.toml; dependencies on this workspace are named.

    Args:
        name: The package's name; with "-" for "_" the crate's.
        deps: Libraries of this workspace.
        dev_deps: Further ones, for tests only.
        crate_features: Cargo features of the package.
        library_name: Another name for the library's target, where the package has two.
        tests_of_it: Whether to make targets of its tests.
        tests_without_rocm: Files in tests/ about a process that AMD's ROCTX is not linked into; a build for ROCm
            skips them.
        test_data: Files that tests read, beside those in tests/data/.
        test_env: Environment of the tests.
        test_rustc_env: Environment in which they are compiled.
        visibility: Of the library.
    """
    library = library_name or name
    rust_library(
        name = library,
        srcs = native.glob(["src/**/*.rs"]),
        aliases = aliases(),
        crate_features = crate_features,
        crate_name = name.replace("-", "_"),
        edition = _EDITION,
        version = _VERSION,
        visibility = visibility,
        deps = all_crate_deps(normal = True) + deps,
    )
    if not tests_of_it:
        return

    common = {
        "crate_features": crate_features,
        "data": native.glob(["tests/data/**"], allow_empty = True) + test_data,
        "edition": _EDITION,
        "env": test_env,
        # Tests start in the folder that this is beneath, with their data as in the source tree.
        "rustc_env": {"CARGO_MANIFEST_DIR": native.package_name()} | test_rustc_env,
        "version": _VERSION,
    }
    rust_test(
        name = library + "_unit_tests",
        aliases = aliases(normal_dev = True),
        crate = ":" + library,
        deps = all_crate_deps(normal_dev = True) + dev_deps,
        **common
    )
    helpers = native.glob(["tests/*/**/*.rs"], allow_empty = True)
    not_on_rocm = select({
        "//:rocm": ["@platforms//:incompatible"],
        "//conditions:default": [],
    })
    for file in native.glob(["tests/*.rs"], allow_empty = True):
        rust_test(
            name = file[:-len(".rs")],
            srcs = [file] + helpers,
            aliases = aliases(normal = True, normal_dev = True),
            crate_root = file,
            target_compatible_with = not_on_rocm if file in tests_without_rocm else [],
            deps = all_crate_deps(normal = True, normal_dev = True) + [":" + library] + deps + dev_deps,
            **common
        )

def rust_cdylib(name, crate_name, deps = [], soname = None, visibility = ["//visibility:public"]):
    """The package in src/ as a shared library with a C interface.

    Args:
        name: The target's name.
        crate_name: The `[lib]` name in Cargo.toml, after which the file is called.
        deps: Libraries of this workspace.
        soname: The soname, where programs know the library by one.
        visibility: Of the target.
    """
    rust_shared_library(
        name = name,
        srcs = native.glob(["src/**/*.rs"]),
        aliases = aliases(),
        crate_name = crate_name,
        edition = _EDITION,
        rustc_flags = ["-Clink-arg=-Wl,-soname," + soname] if soname else [],
        version = _VERSION,
        visibility = visibility,
        deps = all_crate_deps(normal = True) + deps,
    )
