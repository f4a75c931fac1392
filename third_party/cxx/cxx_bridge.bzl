"""Rust crates with a cxx bridge, as libraries for C++."""

load("@crates//:defs.bzl", "aliases", "all_crate_deps")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_rust//rust:defs.bzl", "rust_static_library")

def cxx_bridge_sources(bridge = "src/lib.rs"):
    """The C++ side of a bridge: its header BRIDGE.h and its source BRIDGE.cc, in this package.

    Args:
        bridge: The Rust file with the bridge.
    """
    native.genrule(
        name = "bridge_sources",
        srcs = [bridge],
        outs = [
            bridge + ".h",
            bridge + ".cc",
        ],
        cmd = "$(execpath //third_party/cxx:cxx_bridge_gen) $(SRCS) $(OUTS)",
        tools = ["//third_party/cxx:cxx_bridge_gen"],
    )

def cxx_bridge_library(
        name,
        crate_name,
        deps,
        crate_features = [],
        bridge = "src/lib.rs",
        visibility = ["//visibility:public"]):
    """The crate in src/ and the C++ side of its bridge, to be called from C++ by the header PACKAGE/BRIDGE.h.

    A program may link several of them. Each is a static library that holds all the Rust beneath it; what two of them
    have in common is compiled once, so the linker takes it from one of them.

    Args:
        name: The target's name.
        crate_name: The crate's; the target's name is added to it, so that one package can have several.
        deps: Libraries of this workspace.
        crate_features: Cargo features of the package.
        bridge: The Rust file with the bridge; see cxx_bridge_sources().
        visibility: Of the target.
    """
    rust_static_library(
        name = name + "_rust",
        srcs = native.glob(["src/**/*.rs"]),
        aliases = aliases(),
        crate_features = crate_features,
        crate_name = "{}_{}".format(crate_name, name),
        edition = "2024",
        version = "0.1.0",
        deps = all_crate_deps(normal = True) + deps,
    )
    cc_library(
        name = name,
        srcs = [bridge + ".cc"],
        hdrs = [bridge + ".h"],
        linkstatic = True,
        visibility = visibility,
        # In this order: cxx's C++ calls its Rust, and the linker goes through them once.
        deps = [
            "@crates//:cxx_cc",
            ":" + name + "_rust",
        ],
    )
