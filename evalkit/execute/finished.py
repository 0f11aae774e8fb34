"""Agent runs that came to their ending, and whose keeping a kill cut off: what was paid for is not paid for again.

Between the ending of an agent and its entry in the store lies the packing of its tree. So right after the ending a note
is written, `<store>/finished/<key>.json`: all that the record needs beside the tree, in which scratch folder the tree
lies, in which folder of the store the transcript, and how large that is. The note goes when the entry has its name.
Where it is found later, its folders are left alone by sweeps, and who is about to start the agent adopts them instead.

A note is believed only whole (it is written in one piece), under the key for which it was made, in the project's own
work folder, and while the processes that own its folders are gone. A kill loses nothing that a process wrote; a loss of
power may, so a note is of the time since the machine was started. Its keys (secrets) must be those of the run that
adopts, for only what is known can be taken out of a tree.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit.errors import HarnessError
from evalkit.execute.folders import abandoned, lasting_name
from evalkit.execute.secrets import Redactor
from evalkit.records import BadRecord, read_json, write_json
from evalkit.values import Value

__all__ = ["Finished", "kept_by", "noted"]

_LAYOUT = 1
"""Of notes. Others are swept."""
_LONGEST = 30 * 86_400.0
"""Seconds for which a note is kept that nobody asks for."""


class Finished(Value):
    """An agent run that was not kept yet.

    work, desk: its work folder, and the lasting name of its scratch folder there. making: that of its folder in the
    store. files: what lies there, with its size. boot: the start of the machine. salt, secrets: which keys were known,
    as a digest. record: an `AgentRecord` without its tree, as plain data.
    """

    key: str
    work: str
    desk: str
    making: str
    files: dict[str, int]
    boot: str
    salt: str
    secrets: str
    record: dict[str, Any]

    @classmethod
    def of(cls, key: str, folder: Path, entry: Path, redactor: Redactor, record: dict[str, Any]) -> Finished:
        """folder: the scratch folder. entry: the folder that becomes the entry, with the transcript alone."""
        salt = os.urandom(16).hex()
        files = {path.name: path.stat().st_size for path in entry.iterdir()}
        return cls(key, str(folder.parent), lasting_name(folder), lasting_name(entry), files, _boot(), salt,
                   redactor.fingerprint(salt), record)

    @classmethod
    def left(cls, store: Path, key: str, work: Path, redactor: Redactor) -> Finished | None:
        """What a killed run left of this key in this work folder, if it can be adopted; its claim should be held."""
        note = _read(_place(store, key))
        if note is None or not note.boot or (note.key, note.work, note.boot) != (key, str(work), _boot()):
            return None
        folder, entry = _found(work, note.desk), _found(store / "making", note.making)
        if folder is None or entry is None or not (abandoned(folder) and abandoned(entry)):
            return None
        if note.secrets != redactor.fingerprint(note.salt):
            return None
        try:
            whole = all((entry / name).lstat().st_size == size for name, size in note.files.items())
        except OSError:
            return None
        return note if whole else None

    def write(self, store: Path) -> None:
        """Write the note, in one piece. Raises HarnessError."""
        write_json(_place(store, self.key), {
            "layout": _LAYOUT, **{name: getattr(self, name) for name in _FIELDS}}, sync=False)


_FIELDS = {"key": str, "work": str, "desk": str, "making": str, "files": dict, "boot": str, "salt": str,
           "secrets": str, "record": dict}


@contextmanager
def noted(store: Path, key: str) -> Iterator[None]:
    """Around the making of the entry: when it ended, by an error as well, there is no note any more."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            _place(store, key).unlink()


def kept_by(places: Iterable[Path], store: Path, work: Path | None) -> set[str]:
    """What the notes at these places speak for: see `spoken_for` (notes.py)."""
    names: set[str] = set()
    for place in places:
        note = _read(place)
        if note is not None and _place(store, note.key) == place and not _is_stale(note, place, store, work):
            names |= {note.desk, note.making}
        elif place.suffix == ".json":
            with contextlib.suppress(OSError):
                place.unlink()
    return names


def _is_stale(note: Finished, place: Path, store: Path, work: Path | None) -> bool:
    """Whether a note serves nobody: its run is kept, nobody asked for long, or its tree is gone or not to be relied on.
    """
    try:
        old = time.time() - place.stat().st_mtime > _LONGEST
    except OSError:
        return True
    if old or store.joinpath("agent", note.key[:2], note.key).is_dir():
        return True
    return note.work == str(work) and (note.boot != _boot() or _found(Path(note.work), note.desk) is None)


def _place(store: Path, key: str) -> Path:
    return store / "finished" / f"{key}.json"


def _read(place: Path) -> Finished | None:
    """A note; None where there is none, or one that is damaged or of another layout."""
    try:
        data = read_json(place)
    except (FileNotFoundError, BadRecord, HarnessError):
        return None
    if not isinstance(data, dict) or data.get("layout") != _LAYOUT:
        return None
    if not all(isinstance(data.get(name), kind) for name, kind in _FIELDS.items()):
        return None
    if not all(isinstance(size, int) and "/" not in name for name, size in data["files"].items()):
        return None
    return Finished(**{name: data[name] for name in _FIELDS})


def _found(parent: Path, lasting: str) -> Path | None:
    """The folder of that lasting name, whoever owns it."""
    try:
        return next((path for path in parent.iterdir() if lasting and lasting_name(path) == lasting), None)
    except OSError:
        return None


def _boot() -> str:
    """What tells one start of the machine from another; "" where it is not known (no Linux): nothing is adopted."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
