"""Packs data into checked, compressed blocks on several threads, and profiles it without JAX.

    python examples/trace_without_jax.py LOGDIR

Uses Python's standard library and xprof_roctx, and nothing else.
"""

import hashlib
import pathlib
import queue
import random
import sys
import tempfile
import threading
import zlib

import xprof_roctx
from xprof_roctx import TraceAnnotation, annotate_function

BLOCKS = 24
BLOCK_BYTES = 1 << 20
WORKERS = 3


@annotate_function(name="make block")
def make_block(generator, number):
    """A block that compresses about as well as a log file."""
    words = [generator.randbytes(6) for _ in range(500)]
    block = b" ".join(generator.choices(words, k=BLOCK_BYTES // 7))
    return number, block


def pack(number, blocks, folder, sizes):
    """A worker thread: packs blocks until it is given None."""
    xprof_roctx.name_current_thread(f"packer {number}")
    while True:
        with TraceAnnotation("wait"):
            item = blocks.get()
        if item is None:
            return
        block_number, block = item
        with TraceAnnotation("pack block", block=block_number):
            with TraceAnnotation("checksum"):
                checksum = hashlib.sha256(block).digest()
            with TraceAnnotation("compress") as annotation:
                packed = zlib.compress(block, level=6)
                annotation.set_metadata(ratio=f"{len(block) / len(packed):.2f}")
            with TraceAnnotation("write", bytes=len(packed)):
                (folder / f"{block_number:03}.zz").write_bytes(checksum + packed)
        sizes[block_number] = len(packed)


def verify(folder):
    """Reads every block back and compares its checksum."""
    with TraceAnnotation("verify"):
        for path in sorted(folder.iterdir()):
            with TraceAnnotation("verify block", file=path.name):
                data = path.read_bytes()
                if hashlib.sha256(zlib.decompress(data[32:])).digest() != data[:32]:
                    raise SystemExit(f"{path} is damaged")


def main():
    logdir = sys.argv[1]
    generator = random.Random(7)
    blocks, sizes = queue.Queue(2), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with xprof_roctx.trace(logdir, run="trace_without_jax"):
            workers = [
                threading.Thread(target=pack, args=(number, blocks, folder, sizes))
                for number in range(WORKERS)
            ]
            for worker in workers:
                worker.start()
            for number in range(BLOCKS):
                blocks.put(make_block(generator, number))
            xprof_roctx.mark("all blocks made")
            for _ in workers:
                blocks.put(None)
            for worker in workers:
                worker.join()
            verify(folder)
    packed = sum(sizes.values())
    print(f"packed {BLOCKS} blocks, {BLOCKS * BLOCK_BYTES / packed:.1f} times smaller; all verified")


if __name__ == "__main__":
    main()
