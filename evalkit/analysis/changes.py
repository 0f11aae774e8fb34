"""What changed in a project since it was compiled, and which case files that concerns.

A path whose stamp changed is one of these:

* A folder. It is listed again. An editor that saves a file by renaming leaves the listing as it was: nothing depends
  on that. Else some entries came, went, or became another kind, and each of them concerns the cases that found
  something at it, above it or below it. (All of them found whatever they looked for: projects with errors are not
  kept. So an entry that is new can matter only within a folder that was found.)
* A case file, or a file that cases read: it concerns its own cases, or those.

There is no answer, and the whole project has to be compiled, where a suite may be concerned; where there is any link,
unless all folders stayed as they were; and where a folder's owner or permissions changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from evalkit.analysis.cache import KeptTrace, packed, unpacked
from evalkit.analysis.index import Index
from evalkit.analysis.survey import Listing, Stamp, list_folder, stamp
from evalkit.values import Value

__all__ = ["Changes", "find_changes"]

MOST_ENTRIES = 100
"""Entries that came or went, each of which is held against all that was found."""


class Changes(Value):
    """stamps, listings (packed): as they are now, of all that there is; fresh: those stamps that are new.

    files: the case files, in order. concerned: those that have to be compiled.
    """

    stamps: dict[str, Stamp]
    fresh: dict[str, Stamp]
    listings: bytes
    files: tuple[str, ...]
    concerned: frozenset[str]


class _Unclear(Exception):
    """All has to be compiled."""


def find_changes(root: Path, top: str, index: Index, trace: KeptTrace,
                 changed: Mapping[str, Stamp | None]) -> Changes | None:
    """Look at what changed of all that the index was made from. None: all has to be compiled.

    `top`: the folder of the cases. `changed`: see `changed_stamps`.
    """
    try:
        return _Finder(root, top, index, trace).find(changed)
    except (_Unclear, OSError):
        return None


class _Finder:
    def __init__(self, root: Path, top: str, index: Index, trace: KeptTrace) -> None:
        self.root = root
        self.top = top
        self.index = index
        self.trace = trace
        self.stamps = dict(index.stamps)
        self.fresh: dict[str, Stamp] = {}
        self.entries: set[str] = set()
        """Paths of entries that came, went, or became another kind."""

    @cached_property
    def listings(self) -> dict[str, Listing]:
        return unpacked(self.trace.listings)

    def find(self, changed: Mapping[str, Stamp | None]) -> Changes:
        for path, now in changed.items():
            del self.stamps[path]
            if now is not None:
                self._set(path, now)
        listings = self.trace.listings
        folders = [path for path in changed if path not in self.trace.files and path in self.listings]
        if folders:
            before = dict(self.listings)
            self._list_again(folders)
            listings = listings if self.listings == before else packed(self.listings)
        files = self._case_files() if self.entries else tuple(self.trace.files)
        concerned = self._concerned({*changed}, {*files})
        return Changes(self.stamps, self.fresh, listings, files, frozenset(concerned))

    def _set(self, path: str, now: Stamp) -> None:
        self.stamps[path] = self.fresh[path] = now

    # ---- folders ----
    def _list_again(self, todo: list[str]) -> None:
        gone = []
        while todo:
            folder = todo.pop()
            known = self.listings.pop(folder, None)
            try:
                now, listing = list_folder(folder)
            except FileNotFoundError:
                gone.append(folder)
                continue
            self._set(folder, now)
            self.listings[folder] = listing
            if known is None:
                came = {*listing[-1]}
            elif known[:-1] != listing[:-1]:
                raise _Unclear
            else:
                came = {*listing[-1]} - {*known[-1]}
                different = {*listing[-1]} ^ {*known[-1]}
                self.entries |= {f"{folder}/{entry[1:]}" for entry in different}
                if different and (self.index.leads or len(self.entries) > MOST_ENTRIES):
                    raise _Unclear
            todo += [f"{folder}/{entry[1:]}" for entry in came if entry[0] == "d"]
            if any(entry[0] == "l" for entry in came):
                raise _Unclear
        for folder in gone:
            parent, _, name = folder.rpartition("/")
            if folder == self.top or f"d{name}" in self.listings.get(parent, (0, 0, 0, ()))[-1]:
                raise _Unclear  # it went after its parent was looked at

    def _case_files(self) -> tuple[str, ...]:
        found = []
        for folder, listing in self.listings.items():
            for entry in listing[-1]:
                if entry.endswith(".eval"):
                    if entry[0] not in "fl":
                        raise _Unclear
                    found.append(f"{folder}/{entry[1:]}")
        return tuple(sorted(found, key=lambda path: path.split("/")))  # as paths are sorted

    # ---- case files ----
    def _concerned(self, changed: set[str], files: set[str]) -> set[str]:
        known = self.trace.files
        concerned = (files & changed) | (files - known.keys())
        if any(path not in self.stamps for path in concerned & changed):
            raise _Unclear
        for path in concerned - known.keys():
            self._set(path, stamp(path))
        if any(known[path].suites for path in (changed & known.keys()) | (known.keys() - files)):
            raise _Unclear
        entries = [self._relative(entry) for entry in self.entries]
        if _touches(entries, self.trace.looked):
            raise _Unclear
        for path, file in known.items():
            if not changed.isdisjoint(file.read) or (entries and _touches(entries, file.looked)):
                concerned.add(path)
        return concerned & files

    def _relative(self, path: str) -> str:
        return Path(path).relative_to(self.root).as_posix()


def _touches(entries: Iterable[str], looked: Iterable[str]) -> bool:
    """Whether any entry is one of the paths looked up, or above or below one."""
    return any(f"{entry}/".startswith(f"{path}/") or path.startswith(f"{entry}/") or path == "."
               for entry in entries for path in looked)
