"""Files of a checkout: read all of them, then write all of them or none."""

import os
import pathlib
import stat
import tempfile

from insertion import Refusal


def read(root: pathlib.Path, name: str) -> str:
    """The file's text with the line ends that it has."""
    try:
        return (root / name).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{name}: cannot be read: {error}") from error


def write_all(root: pathlib.Path, texts: dict[str, str]) -> None:
    """Writes each file in one step. If one cannot be written, those before it get their old texts back."""
    for name in texts:
        _refuse_unless_writable(root, name)
    written: dict[str, bytes] = {}
    try:
        for name, text in texts.items():
            before = (root / name).read_bytes()
            _replace(root / name, text.encode())
            written[name] = before
    except OSError as error:
        for done, before in written.items():
            _replace(root / done, before)
        raise Refusal(f"{name}: cannot be written: {error}") from error


def _refuse_unless_writable(root: pathlib.Path, name: str) -> None:
    path = (root / name).resolve()
    # The mode is looked at too: root may write everything, but read-only files are so on purpose.
    if not path.stat().st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise Refusal(f"{name}: is read-only")
    if not os.access(path.parent, os.W_OK):
        raise Refusal(f"{name}: its folder is read-only")


def _replace(path: pathlib.Path, content: bytes) -> None:
    path = path.resolve()
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
