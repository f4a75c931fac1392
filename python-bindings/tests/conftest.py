"""Fixtures for all tests. Most captures run in an interpreter of their own: a process has one
tracer, and a library once loaded stays."""

import os
import pathlib

import pytest

# Whatever the environment of the tests says, it is not to steer the captures.
for name in list(os.environ):
    if name.startswith("XPROF_ROCTX_") or name == "XLA_ROCM_ENABLE_ROCTX":
        del os.environ[name]
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path, monkeypatch) -> pathlib.Path:
    """Where captures are saved that cannot be written elsewhere."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def logdir(tmp_path) -> pathlib.Path:
    return tmp_path / "log"


@pytest.fixture
def library_dir() -> pathlib.Path:
    import xprof_roctx

    return xprof_roctx.library_dir()
