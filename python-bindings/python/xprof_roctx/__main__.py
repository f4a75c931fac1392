"""The ``xprof-roctx`` command."""

import signal
import sys

from . import _native
from .paths import library_dir, point_to_rocm_wheels


def main() -> int:
    """Runs the command with the arguments of this process; returns its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C ends it as it ends a program without Python; while ignored it stays so.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    point_to_rocm_wheels()
    return _native.command_line(["xprof-roctx", *sys.argv[1:]], library_dir())


if __name__ == "__main__":
    sys.exit(main())
