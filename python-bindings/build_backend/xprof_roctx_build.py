"""Builds the wheel: the shared libraries that it carries, then the extension by maturin.

A wheel holds four shared libraries beside the extension module. They are Cargo packages of the
same workspace, built first with the same profile and target directory, so that what they share
with the extension is compiled once.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import maturin

_HERE = pathlib.Path(__file__).resolve().parent.parent
_LIB = _HERE / "python" / "xprof_roctx" / "lib"

# Cargo package -> the names under which programs look for its library.
_LIBRARIES = {
    "roctx_sdk_shared": ["librocprofiler-sdk-roctx.so.1"],
    # AMD's Python client opens the name without a version.
    "roctx64_shared": ["libroctx64.so.4", "libroctx64.so"],
    "xprof-roctx-tool": ["libxprof_roctx_tool.so"],
}


# Debug information would be nine tenths of the wheel. Set these to build one with it.
os.environ.setdefault("CARGO_PROFILE_RELEASE_DEBUG", "none")
os.environ.setdefault("CARGO_PROFILE_RELEASE_STRIP", "symbols")


def _build_libraries() -> None:
    command = ["cargo", "build", "--release", "--message-format", "json-render-diagnostics"]
    for package in _LIBRARIES:
        command += ["--package", package]
    build = subprocess.run(
        command, cwd=_HERE.parent, stdout=subprocess.PIPE, text=True, check=False
    )
    if build.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed (exit code {build.returncode}); see above")

    built = {}
    for line in build.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and "cdylib" in message["target"]["kind"]:
            manifest = pathlib.Path(message["manifest_path"])
            built[manifest] = message["filenames"][0]
    _LIB.mkdir(exist_ok=True)
    for package, manifest in _manifests().items():
        for name in _LIBRARIES[package]:
            # Aside and renamed: a process may have the old one open.
            aside = _LIB / f".{name}.new"
            shutil.copyfile(built[manifest], aside)
            aside.chmod(0o755)
            aside.replace(_LIB / name)


def _manifests() -> dict:
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"],
        cwd=_HERE.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    return {
        package["name"]: pathlib.Path(package["manifest_path"])
        for package in json.loads(metadata.stdout)["packages"]
        if package["name"] in _LIBRARIES
    }


get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_libraries()
    config_settings = dict(config_settings or {})
    if "MATURIN_PEP517_ARGS" not in os.environ:
        # Left to itself maturin tags what pip builds as plain Linux, which no index takes.
        config_settings.setdefault("build-args", "--compatibility pypi")
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_libraries()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    sys.exit(
        "xprof-roctx has no source distribution: its shared libraries are built from the whole "
        "workspace. Build a wheel from a checkout instead: pip wheel ./python-bindings"
    )
