"""Replaces a file that a person keeps: whole or not at all, with its permissions, through links."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from uuid import uuid4

from evalkit.errors import HarnessError

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Write a file that exists. Raises `HarnessError` where it cannot be written; the old one is still there then."""
    target = path.resolve()  # a link stays a link
    temporary = target.with_name(f".{target.name}.{uuid4().hex[:8]}.tmp")
    try:
        if not os.access(target, os.W_OK):  # a rename would not ask
            raise PermissionError(13, "the file is read-only")
        with temporary.open("xb") as file:
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise HarnessError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # it is there only where something went wrong
            temporary.unlink()
