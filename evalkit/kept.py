"""What is kept to save time: files that are made again where they are missing, outdated, damaged or somebody else's.

A kept file is a line with its key (a digest of all that it was made from) and the digest of its data, then the data.
Reading one gives the data only where both are right, so a file that was cut off, or that was made by another version,
is as good as none. Writing replaces the whole file at once, and does nothing where it cannot: no work depends on it.
"""

from __future__ import annotations

import contextlib
import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

__all__ = ["read_kept", "user_cache", "write_kept"]


def read_kept(path: Path, key: str) -> bytes | None:
    """The data that is kept under a key; None where it has to be made again."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        head, _, data = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return data if head == _head(key, data) else None


def write_kept(path: Path, key: str, data: bytes) -> None:
    """Keep data, if the disk lets us. It replaces what was kept there under another key."""
    from evalkit.errors import HarnessError  # only here: reading must be quick, and this imports much
    from evalkit.records import write_bytes

    with contextlib.suppress(HarnessError):
        write_bytes(path, _head(key, data) + b"\n" + data)


def _head(key: str, data: bytes) -> bytes:
    return f"{key} {hashlib.sha256(data).hexdigest()}".encode()


def user_cache(environ: Mapping[str, str]) -> Path:
    """The folder of what all projects of this user share."""
    home = Path(environ.get("HOME") or Path("~").expanduser())
    return Path(environ.get("EVALKIT_CACHE") or Path(environ.get("XDG_CACHE_HOME") or home / ".cache", "evalkit"))
