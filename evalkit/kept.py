"""What is kept to save time: files that are made again where they are missing, outdated, damaged or somebody else's.

A kept file is one part or several: a line with the file's key (a digest of all that it was made from), the length of
the part's data, and a digest of these data and of the line before; then the data. Reading one gives the parts whose
lines are right, up to the first that is not. So a file that was made by another version is as good as none, and one
that was cut off tells what it did before. What changes a little again and again is appended to: what a part means,
whoever keeps it knows. Where two append at once, the part of the later one does not follow from what it had read, and
counts for nothing.

Writing replaces the whole file at once, and does nothing where it cannot: no work depends on it. It does not wait for
the disk either, as records.py does for what cannot be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["Kept", "append_kept", "keep_step", "read_kept", "read_parts", "replace_file", "user_cache", "write_kept"]

_MOST = 64
"""Parts after which a file is to be written whole again."""


class Kept(NamedTuple):
    """The parts of a kept file, and which file that was: its inode, where the parts end, the line of the last one."""

    parts: list[bytes]
    inode: int
    end: int
    line: bytes


def read_parts(path: Path, key: str) -> Kept | None:
    """What is kept under a key; None where it has to be made again."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        held = path.read_bytes()
    except OSError:
        return None
    parts: list[bytes] = []
    start, last = 0, b""
    while start < len(held):
        line = held[start : held.find(b"\n", start)]
        length = line[len(key) + 1 :].partition(b" ")[0]
        begin = start + len(line) + 1
        data = held[begin : begin + int(length)] if length.isdigit() else b""
        if line != _line(key, last, data):
            break
        parts.append(data)
        start, last = begin + len(data), line
    return Kept(parts, found.st_ino, start, last) if parts else None


def read_kept(path: Path, key: str) -> bytes | None:
    """The data of a file that is never appended to; None where it has to be made again."""
    kept = read_parts(path, key)
    return kept.parts[0] if kept is not None and len(kept.parts) == 1 else None


def write_kept(path: Path, key: str, data: bytes) -> bool:
    """Keep data, if the disk lets us: whether it did. It replaces what was kept there under another key."""
    return replace_file(path, _line(key, b"", data) + b"\n" + data)


def keep_step(path: Path, key: str, kept: Kept | None, part: bytes, whole: Callable[[], bytes]) -> bool:
    """Keep what changed since that was read: as a part more, or else all of it. Whether that could be done."""
    return append_kept(path, key, kept, part) or write_kept(path, key, whole())


def append_kept(path: Path, key: str, kept: Kept | None, data: bytes) -> bool:
    """Add a part to what was read. False where it is not added, and all is to be written whole.

    That is where the file is another one by now, where what follows the parts is none, and where they are many.
    """
    if kept is None or len(kept.parts) >= _MOST:
        return False
    part = _line(key, kept.line, data) + b"\n" + data
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            now = os.fstat(file)
            return (now.st_ino, now.st_size) == (kept.inode, kept.end) and os.write(file, part) == len(part)
        finally:
            os.close(file)
    return False


def replace_file(path: Path, data: bytes) -> bool:
    """Write a whole file or nothing: whether it could. After a crash of the system it may hold anything."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        try:
            temporary.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(data)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        return False
    return True


def _line(key: str, before: bytes, data: bytes) -> bytes:
    """What stands before a part. before: the line of the part before it."""
    state = hashlib.sha256(before)
    state.update(data)
    return f"{key} {len(data)} {state.hexdigest()}".encode()


def user_cache(environ: Mapping[str, str]) -> Path:
    """The folder of what all projects of this user share."""
    home = Path(environ.get("HOME") or Path("~").expanduser())
    return Path(environ.get("EVALKIT_CACHE") or Path(environ.get("XDG_CACHE_HOME") or home / ".cache", "evalkit"))
