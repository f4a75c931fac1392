#!/usr/bin/env python3
"""Makes an XLA checkout use this repository's targets where it is built for ROCm, and undoes it.

    apply.py PATH_TO_XLA            put the blocks in; again, or over a half-applied state, it makes them complete
    apply.py PATH_TO_XLA --check    change nothing; say what the former would change
    apply.py PATH_TO_XLA --revert   take the blocks out: every file is what it was, byte for byte

Exit status: 0 done, or with --check: applied; 1 only with --check: something would change; 2 refused, nothing changed.
"""

import argparse
import pathlib
import sys
from collections.abc import Callable

import checkout
import places
from insertion import Refusal, with_blocks, without_blocks

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def changes_to_apply(root: pathlib.Path) -> dict[str, str]:
    """The new text of each file that lacks something."""
    edits = {edit.name: edit for edit in places.file_edits(root, _REPOSITORY)}

    def with_all(name: str, bare: str) -> str:
        return with_blocks(bare, name, edits[name].insertions, edits[name].comment)

    return _changes(root, list(edits), with_all)


def changes_to_revert(root: pathlib.Path) -> dict[str, str]:
    """The new text of each file that has something of this."""
    return _changes(root, places.edited_files(root), lambda _, bare: bare)


def _changes(root: pathlib.Path, names: list[str], wanted: Callable[[str, str], str]) -> dict[str, str]:
    """The files whose text is not what is wanted of their text without blocks; or every problem at once."""
    result = {}
    problems = []
    for name in names:
        try:
            now = checkout.read(root, name)
            new = wanted(name, without_blocks(now, name))
        except Refusal as problem:
            problems.append(str(problem))
            continue
        if new != now:
            result[name] = new
    if problems:
        raise Refusal("\n".join(problems))
    return result


def run(root: pathlib.Path, check: bool, revert: bool) -> int:
    """Does what the command line asks for; returns the exit status."""
    if not places.is_checkout(root):
        raise Refusal(f"{root}: is no checkout of XLA with a profiler for ROCm")
    todo = changes_to_revert(root) if revert else changes_to_apply(root)
    if not check:
        checkout.write_all(root, todo)
    done = "would change" if check else "changed"
    for name in todo:
        print(f"{done}: {name}")
    if not todo:
        print("not applied: nothing to take out" if revert else "applied: nothing to change")
    return 1 if check and todo else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Makes an XLA checkout use xprof-roctx for ROCm, and undoes it.")
    parser.add_argument("path", metavar="PATH_TO_XLA", type=pathlib.Path)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="change nothing; exit 0 if applied, 1 if not")
    mode.add_argument("--revert", action="store_true", help="take out again what was put in")
    options = parser.parse_args(arguments)
    try:
        return run(options.path.resolve(), options.check, options.revert)
    except Refusal as problem:
        print(f"refused, and nothing was changed:\n{problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
