"""Solves for the heat in a plate, annotated through AMD's own Python client of ROCTX.

    xprof-roctx run --logdir LOGDIR -- python examples/amd_client.py

Knows nothing of this project: ``rocm.bindings.roctx`` (PyPI: rocm-bindings-systems,
rocm-bindings-core, rocm-bindings-hip) opens whatever ``libroctx64.so`` there is, which
``xprof-roctx run`` provides where no ROCm is installed.
"""

import contextlib
import threading

import numpy as np
from rocm.bindings import roctx

SIDE = 768
SWEEPS = 120
SWEEPS_PER_CHECK = 20
TOLERANCE = 0.02


@contextlib.contextmanager
def range_of(label):
    roctx.roctxRangePushA(label)
    try:
        yield
    finally:
        roctx.roctxRangePop()


def relax(old, new, first, last):
    """One Jacobi sweep over some rows of the plate."""
    new[first:last, 1:-1] = 0.25 * (
        old[first - 1 : last - 1, 1:-1]
        + old[first + 1 : last + 1, 1:-1]
        + old[first:last, :-2]
        + old[first:last, 2:]
    )


def sweep_half(half, plates, barrier):
    """One of two threads, each with half of the plate."""
    first, last = (1, SIDE // 2) if half == 0 else (SIDE // 2, SIDE - 1)
    old, new = plates
    for sweep in range(SWEEPS):
        with range_of("sweep"):
            with range_of("relax"):
                relax(old, new, first, last)
            with range_of("exchange"):
                barrier.wait()
        if half == 0 and (sweep + 1) % SWEEPS_PER_CHECK == 0:
            with range_of("check convergence"):
                change = float(np.max(np.abs(new - old)))
                roctx.roctxMarkA("converged" if change < TOLERANCE else f"change {change:.4f}")
        with range_of("wait for the other half"):
            barrier.wait()
        old, new = new, old


def main():
    (solve,) = roctx.roctxRangeStartA("solve")
    with range_of("set up"):
        plate = np.zeros((SIDE, SIDE))
        plate[0, :] = 1.0
        plates = plate, plate.copy()
    barrier = threading.Barrier(2)
    other = threading.Thread(target=sweep_half, args=(1, plates, barrier))
    other.start()
    sweep_half(0, plates, barrier)
    other.join()
    roctx.roctxRangeStop(solve)
    print(f"mean heat after {SWEEPS} sweeps: {plates[SWEEPS % 2].mean():.5f}")


if __name__ == "__main__":
    main()
