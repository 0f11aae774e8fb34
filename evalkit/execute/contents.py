"""The digests of the project's files and folders, and what folders held: so that a change is told by the files' names.

A folder is an input of a task by one digest, that of the list of its files (digest.folder_record). The list is kept in
a file that is named by the digest, when the digest is taken and the list is not known yet. So a list needs no other
proof: the digest of its bytes is its name. All of it can be deleted at any time; where it cannot be written, changes
are told without the names of files.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import orjson

from evalkit.digest import digest_bytes, digest_file, folder_record
from evalkit.kept import replace_file
from evalkit.plan.keys import ABSENT
from evalkit.values import State, field

__all__ = ["FolderContents"]

_LARGEST = 1_000_000
"""Bytes of a list that is kept: about ten thousand files."""
_MOST = 20_000
"""Lists that are kept; beyond that the older half goes."""


class FolderContents(State):
    """Takes digests, and keeps below `kept` what folders held. Any thread may ask."""

    kept: Path
    _room: int | None = field(default=None, init=False)
    """How many more lists may be written; None: not yet counted."""

    def digest(self, path: Path) -> str:
        """The digest of a file or a folder; `ABSENT` where there is none. Raises OSError."""
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - of thousands
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT
        except OSError as error:
            if error.errno == errno.ELOOP:
                return ABSENT
            raise
        if stat.S_ISREG(mode):
            return digest_file(path)
        record = folder_record(path)
        name = digest_bytes(record)
        if len(record) <= _LARGEST and self._room != 0 and not os.path.exists(f"{self.kept}/{name}"):  # noqa: PTH110
            self._keep(name, record)
        return name

    def held(self, digest: str) -> dict[str, str] | None:
        """The files of a folder that had this digest, each with what tells contents apart; None: not known."""
        try:
            record = (self.kept / digest).read_bytes()
        except (OSError, ValueError):
            return None
        if digest_bytes(record) != digest:
            return None
        return {_name(text): f"{content} {executable}" for text, executable, content in orjson.loads(record)}

    def _keep(self, name: str, record: bytes) -> None:
        if self._room is None:
            self._room = self._make_room()
        self._room = self._room - 1 if replace_file(self.kept / name, record) else 0

    def _make_room(self) -> int:
        """How many lists may be written in this process; of too many the older half is deleted."""
        try:
            with os.scandir(self.kept) as found:
                lists = sorted((entry.stat().st_mtime_ns, entry.path) for entry in found)
            if len(lists) < _MOST:
                return _MOST - len(lists)
            for _, path in lists[: -_MOST // 2]:
                os.unlink(path)  # noqa: PTH108 - of thousands
        except FileNotFoundError:  # nothing is kept yet; or somebody else makes room
            return _MOST
        except OSError:
            return 0
        return _MOST // 2


def _name(text: str) -> str:
    """A file's name as it is; the digest's form of one that is not UTF-8 is its bytes in hex (digest.canonical)."""
    return bytes.fromhex(text[1:]).decode("utf-8", "surrogatepass") if text.startswith("\0") else text
