"""Blocks of whole lines, put into a text beside lines that are known by a part of them, and taken out again."""

import dataclasses
import enum
import re

BEGIN = "xprof-roctx begin"
END = "xprof-roctx end"


class Refusal(Exception):
    """Why nothing is changed: which file, what was looked for, and what was found."""


class Where(enum.Enum):
    """Where a block goes, seen from its anchor."""

    BEFORE = enum.auto()
    AFTER = enum.auto()
    AT_END = enum.auto()


@dataclasses.dataclass(frozen=True)
class Insertion:
    """Lines, and the place where they belong.

    The anchor is a part of a line. With `within`, only the lines count that follow the one line with that part in it,
    up to the next line that is ")": the rest of a target in a BUILD file. `times` is how often the anchor must be
    there. The block is indented as its anchor is, and `deeper` by so many spaces.
    """

    lines: tuple[str, ...]
    anchor: str = ""
    where: Where = Where.AFTER
    within: str = ""
    times: int = 1
    deeper: int = 0


def without_blocks(text: str, file: str) -> str:
    """The text as it was before with_blocks(), byte for byte."""
    kept = []
    begun = 0
    for number, line in enumerate(_lines(text), 1):
        if _is_marker(line, BEGIN):
            if begun:
                raise Refusal(f"{file}:{number}: '{BEGIN}' within the block that begins in line {begun}")
            begun = number
        elif _is_marker(line, END):
            if not begun:
                raise Refusal(f"{file}:{number}: '{END}', and no block has begun")
            begun = 0
        elif not begun:
            kept.append(line)
    if begun:
        raise Refusal(f"{file}:{begun}: '{BEGIN}', and the block does not end")
    return "".join(kept)


def with_blocks(text: str, file: str, insertions: list[Insertion], comment: str) -> str:
    """The text, which has no blocks yet, with all of them; `comment` begins a comment in its language."""
    lines = _lines(text)
    blocks: dict[int, list[str]] = {}
    for insertion in insertions:
        for index, indent in _places(lines, file, insertion):
            blocks.setdefault(index, []).append(_block(insertion.lines, indent, comment))
    result = []
    for index in range(len(lines) + 1):
        result += blocks.get(index, [])
        result += lines[index : index + 1]
    return "".join(result)


def _lines(text: str) -> list[str]:
    """Lines with their ends. Not splitlines(): that ends lines at form feeds and others too."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _is_marker(line: str, marker: str) -> bool:
    return line.strip() in (f"# {marker}", f"// {marker}")


def _block(lines: tuple[str, ...], indent: str, comment: str) -> str:
    marked = [f"{comment} {BEGIN}", *lines, f"{comment} {END}"]
    # Preprocessor lines stay at the margin.
    return "".join((line if line.startswith("#") and comment != "#" else indent + line) + "\n" for line in marked)


def _places(lines: list[str], file: str, insertion: Insertion) -> list[tuple[int, str]]:
    """Before which lines the block goes, each with its indentation."""
    if lines and not lines[-1].endswith("\n"):
        raise Refusal(f"{file}: the last line has no end")
    if insertion.where is Where.AT_END:
        return [(len(lines), "")]
    start, end = _region(lines, file, insertion.within)
    found = [index for index in range(start, end) if insertion.anchor in lines[index]]
    if len(found) != insertion.times:
        raise Refusal(_mismatch(file, insertion.anchor, insertion.within, insertion.times, found))
    step = 1 if insertion.where is Where.AFTER else 0
    return [(index + step, _indent(lines[index]) + " " * insertion.deeper) for index in found]


def _region(lines: list[str], file: str, within: str) -> tuple[int, int]:
    if not within:
        return 0, len(lines)
    found = [index for index, line in enumerate(lines) if within in line]
    if len(found) != 1:
        raise Refusal(_mismatch(file, within, "", 1, found))
    start = found[0]
    end = next((index for index in range(start, len(lines)) if lines[index].rstrip() == ")"), len(lines))
    return start, end


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _mismatch(file: str, anchor: str, within: str, times: int, found: list[int]) -> str:
    place = f" in what follows `{within}`" if within else ""
    numbers = ", ".join(str(index + 1) for index in found)
    there = f"{len(found)} (lines {numbers})" if found else "none"
    return f"{file}: looked for {times} line{'s' * (times > 1)} with `{anchor}`{place}, found {there}"
