"""What is kept to save time: files that are made again where they are missing, outdated, damaged or somebody else's.

A kept file is a line with its key (a digest of all that it was made from) and the digest of its data, then the data.
Reading one gives the data only where both are right, so a file that was cut off, or that was made by another version,
is as good as none. Writing replaces the whole file at once, and does nothing where it cannot: no work depends on it. It
does not wait for the disk either, as records.py does for what cannot be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

__all__ = ["read_kept", "replace_file", "user_cache", "write_kept"]


def read_kept(path: Path, key: str) -> bytes | None:
    """The data that is kept under a key; None where it has to be made again."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        head, _, data = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return data if head == _head(key, data) else None


def write_kept(path: Path, key: str, data: bytes) -> bool:
    """Keep data, if the disk lets us: whether it did. It replaces what was kept there under another key."""
    return replace_file(path, _head(key, data) + b"\n" + data)


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


def _head(key: str, data: bytes) -> bytes:
    return f"{key} {hashlib.sha256(data).hexdigest()}".encode()


def user_cache(environ: Mapping[str, str]) -> Path:
    """The folder of what all projects of this user share."""
    home = Path(environ.get("HOME") or Path("~").expanduser())
    return Path(environ.get("EVALKIT_CACHE") or Path(environ.get("XDG_CACHE_HOME") or home / ".cache", "evalkit"))
