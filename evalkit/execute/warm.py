"""Shared prewarm: what the set-up leaves behind when it has been built once, and clones of that.

    template + starter -> at /workspace, the prewarm's commands -> entry `warm` -> clone for an agent, for a grader, …

Only in a lane in which every tree stands at one and the same path: build tools record absolute paths in their caches,
and at another path a warm cache grades the other tree's sources (docs/sandbox.md). The entry holds the caches that the
case names, the home, and what else the prewarm changed; each clone gets copies of its own, so that no two trials share
what can be written. A grader's caches are never an agent's: nothing that an agent planted in them is believed.

A file that is the same in a clone as it was when the caches were made gets its old time back: tools that compare times
see what really changed.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import field, frozen

from evalkit.analysis.model import Setup
from evalkit.analysis.placeholders import expand_all
from evalkit.digest import digest
from evalkit.errors import HarnessError, UserError
from evalkit.execute.lanes import Room
from evalkit.execute.live_lane import Root, live_platform
from evalkit.execute.outcome import TREE
from evalkit.execute.overlay import lay_over
from evalkit.execute.pack import MAX_ENTRIES
from evalkit.execute.session import Session
from evalkit.execute.stages import carry_out, make_template
from evalkit.execute.store_entry import fits
from evalkit.execute.tree import entry_digest, unpack
from evalkit.plan.keys import Contents, template_inputs, warm_inputs
from evalkit.records import read_record, write_record
from evalkit.values import evolve

__all__ = ["Warm", "warm_for", "warm_live"]

_RECORD = "warm.json"
_TREE, _HOME, _ODD = "tree", "home", "odd"
"""Folders of an entry: of the tree the caches and what the prewarm made; the home; files whose names no entry may have.
"""


@frozen
class _Record:
    """files: those of the tree outside of its caches, by their paths: digest, and time in ns since 1970. made, gone:
    those that the prewarm wrote, and removed. links: by their places in the entry. odd: by the names that they have in
    the entry, where they belong.
    """

    files: dict[str, tuple[str, int]]
    made: tuple[str, ...]
    gone: tuple[str, ...]
    links: dict[str, str]
    odd: dict[str, str]


@frozen
class Warm:
    """A warm set-up, made when somebody first needs it. image: the root file system that it is made in."""

    session: Session = field(repr=False)
    setup: Setup
    lane: str
    contents: Contents = field(repr=False)
    image: Root | None = None

    def furnish(self, room: Room, files: Mapping[str, str], *, begins: bool = False) -> None:
        """Put a clone into a room whose tree is unpacked. files: the tree's, with their digests.

        begins: the tree is the one that agents start from: it gets what the prewarm changed in it, too. Raises
        HarnessError, and UserError where the prewarm fails.
        """
        entry = self._entry()
        record = read_record(entry / _RECORD, _Record)
        room.home.mkdir(exist_ok=True)
        if (entry / _HOME).is_dir():
            _clone(entry / _HOME, room.home)
        places = [*self.setup.caches, *(record.made if begins else ())]
        for name in places:
            if os.path.lexists(entry / _TREE / name) and _room_for(room.tree, name, replace=name in record.made):
                _clone(entry / _TREE / name, room.tree / name)
        for name in record.gone if begins else ():
            (room.tree / name).unlink(missing_ok=True)
        roots = {_TREE: room.tree, _HOME: room.home}
        for name, target in record.links.items():
            if (place := _place(roots, name)) is not None and not os.path.lexists(place):
                place.symlink_to(target)
        for held, name in record.odd.items():
            if (place := _place(roots, name)) is not None and not os.path.lexists(place):
                _clone(entry / _ODD / held, place)
        for name, (known, time) in record.files.items():
            if files.get(name) == known:
                os.utime(room.tree / name, ns=(time, time), follow_symlinks=False)

    def _entry(self) -> Path:
        """The entry, which is made if need be; who comes meanwhile waits."""
        store = self.session.store
        inputs = warm_inputs(self.setup, self.contents, self.lane)
        if self.image is not None:
            inputs["image"] = self.image.digest
        key = digest(inputs)
        if (found := store.open("warm", key)) is None:
            with store.claim("warm", key, waiting=lambda: self.session.say("waiting for the prewarm of another trial")):
                if (found := store.open("warm", key)) is None:
                    self._make(key, inputs)
                    found = store.open("warm", key)
        if found is None:
            raise HarnessError("the prewarm is not in the store any more", hint="run again: it is made again")
        return found

    def _template(self) -> Path:
        store = self.session.store
        inputs = template_inputs(self.setup, self.contents, self.lane)
        key = digest(inputs)
        if store.open("template", key) is None:
            with store.claim("template", key):
                if store.open("template", key) is None:
                    make_template(self.session, self.setup, inputs=inputs, lane=self.lane)
        found = store.open("template", key)
        if found is None:
            raise HarnessError("the template is not in the store any more", hint="run again: it is made again")
        return found

    def _make(self, key: str, inputs: Mapping[str, str]) -> None:
        template, setup, session = self._template(), self.setup, self.session
        with (session.room("warm", setup.toolchains, lane=self.lane,
                           image=self.image.folder if self.image else None, network=setup.network) as room,
              session.store.making("warm", key, durable=False, inputs=inputs) as entry):
            unpack(template / TREE, room.tree)
            if setup.starter is not None:
                lay_over(session.root / setup.starter, room.tree)
            before = dict(_files(room.tree, setup.caches))
            for command in setup.prewarm:
                session.say(f"prewarm, once for all trials: {' '.join(command.words)}")
                carry_out(session, room, command, {}, cwd=room.tree, log=room.scratch / "prewarm.log",
                          what="the prewarm", origin=setup.scaffold.origin)
            after = dict(_files(room.tree, setup.caches))
            made = tuple(name for name, (known, _) in after.items() if before.get(name, ("",))[0] != known)
            (entry / _TREE).mkdir()
            for name in [*setup.caches, *made]:
                if os.path.lexists(room.tree / name):
                    (entry / _TREE / name).parent.mkdir(parents=True, exist_ok=True)
                    _clone(room.tree / name, entry / _TREE / name)
            if room.home.is_dir():
                _clone(room.home, entry / _HOME)
            links, odd = _tidied(entry)
            gone = tuple(name for name in before if name not in after)
            write_record(entry / _RECORD, _Record(after, made, gone, links, odd), sync=False)


def warm_live(session: Session, setup: Setup, lane: str, image: Root | None,
              contents: Contents | None = None) -> Warm | None:
    """What live checks of a set-up share: its app, built once from what agents start from."""
    live = setup.live
    if lane == "local" or live is None or not (commands := live.prewarm or ((live.build,) if live.build else ())):
        return None
    values = {"platform": live_platform()}
    filled = tuple(evolve(command, words=tuple(expand_all(command.words, values))) for command in commands)
    return Warm(session, evolve(setup, prewarm=filled), lane, contents or session.contents, image)


def warm_for(session: Session, setup: Setup, lane: str, contents: Contents | None = None) -> Warm | None:
    """The warm set-up of trials in a lane; None where they have none to share."""
    return Warm(session, setup, lane, contents or session.contents) if lane != "local" and setup.prewarm else None


def _files(tree: Path, caches: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, int]]]:
    """The regular files below a folder, outside of caches, with digest and time. Raises UserError for too many."""
    count, waiting = 0, [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(tree / prefix) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                name = prefix + entry.name
                if name in caches:
                    continue
                count += 1
                if count > MAX_ENTRIES:
                    raise UserError(f"the prewarm makes a tree of over {MAX_ENTRIES} entries",
                                    hint="name what can be made again (dependencies, build output) in `caches`")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name + "/")
                elif entry.is_file(follow_symlinks=False):
                    info = entry.stat(follow_symlinks=False)
                    kind = b"program" if info.st_mode & stat.S_IXUSR else b"file"
                    yield name, (entry_digest(kind, Path(entry.path).read_bytes()), info.st_mtime_ns)


def _tidied(entry: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Take out of an entry what the store cannot hold: links, files with odd names; sockets and fifos for good."""
    links: dict[str, str] = {}
    odd: dict[str, str] = {}
    for folder, folders, names in os.walk(entry):
        for base in [*folders, *names]:
            path = Path(folder, base)
            name = path.relative_to(entry).as_posix()
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                links[name] = os.readlink(path)  # noqa: PTH115 - as it was written
                path.unlink()
            elif stat.S_ISREG(mode) and not fits(name):
                (entry / _ODD).mkdir(exist_ok=True)
                path.rename(entry / _ODD / str(len(odd)))
                odd[str(len(odd))] = name
            elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                path.unlink()
    return links, odd


def _room_for(tree: Path, name: str, *, replace: bool) -> bool:
    """Whether a part of a clone can be put at a place: its folder is, or becomes, a real one of the tree's.

    replace: a file that is there makes way.
    """
    place = tree / name
    parent = os.path.realpath(place.parent)
    if parent != os.path.join(os.path.realpath(tree), *Path(name).parts[:-1]):  # noqa: PTH118
        return False
    if os.path.lexists(parent) and not os.path.isdir(parent):  # noqa: PTH112
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(place):
        if not replace or (place.is_dir() and not place.is_symlink()):
            return False
        place.unlink()
    return True


def _place(roots: Mapping[str, Path], name: str) -> Path | None:
    """Where something of an entry belongs in a room; None where its folder is not there."""
    top, _, rest = name.partition("/")
    root = roots.get(top)
    if root is None or not rest:
        return None
    place = root / rest
    there = os.path.join(os.path.realpath(root), *Path(rest).parts[:-1])  # noqa: PTH118
    return place if os.path.realpath(place.parent) == there and os.path.isdir(there) else None  # noqa: PTH112


def _clone(source: Path, target: Path) -> None:
    """Copy a file or folder with modes and times; where the file system can, without copying its bytes.

    A folder that is there gets what the source holds. Raises HarnessError.
    """
    program = shutil.which("cp") or "/bin/cp"
    words = [f"{source}/.", str(target)] if source.is_dir() and not source.is_symlink() else [str(source), str(target)]
    if words[0].endswith("/."):
        target.mkdir(exist_ok=True)
    done = subprocess.run([program, "-a", "--reflink=auto", "--", *words], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise HarnessError(f"a warm tree cannot be copied: {said}", hint="is the disk full?")
