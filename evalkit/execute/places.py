"""Where evalkit keeps things on this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from evalkit.digest import digest_bytes
from evalkit.errors import HarnessError

__all__ = ["TREE_NAME", "Places", "alive", "remove_tree"]

TREE_NAME = "app"
"""Every workspace's folder has this name: SDKs bake the folder's name into files and cache keys."""


@frozen
class Places:
    """The folders of a project and of this user.

    root: the project. results: what people read. state: evalkit's own (the store, doit's database).
    cache: toolchains, shared by all projects of the user. work: trees while an agent or a grader works in them; outside
    the project, so that an agent that looks around finds no case, no answer, and no CLAUDE.md of a parent folder.
    """

    root: Path
    cache: Path
    work: Path

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> Places:
        home = Path(environ.get("HOME") or Path("~").expanduser())
        cache = environ.get("EVALKIT_CACHE") or Path(environ.get("XDG_CACHE_HOME") or home / ".cache", "evalkit")
        base = environ.get("EVALKIT_WORK") or Path("/var/tmp", f"evalkit-{os.getuid()}")
        project = digest_bytes(os.fsencode(root.resolve()))[:12]
        return cls(root.resolve(), Path(cache).absolute(), Path(base).absolute() / project)

    @property
    def state(self) -> Path:
        return self.root / ".evalkit"

    @property
    def store(self) -> Path:
        return self.state / "store"

    @property
    def results(self) -> Path:
        return self.root / "results"

    def make_work(self) -> None:
        """Make the work folder, private to this user. Raises HarnessError where somebody else owns it."""
        try:
            self.work.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.work.parent, self.work):
                if folder.stat().st_uid != os.getuid():
                    raise HarnessError(f"{folder} belongs to another user",
                                       hint="name a folder of your own: EVALKIT_WORK=/some/folder")
        except OSError as error:
            raise HarnessError(f"cannot make the work folder {self.work}: {error.strerror or error}",
                               hint="name another one: EVALKIT_WORK=/some/folder") from error

    @contextmanager
    def scratch(self, purpose: str, *, keep: bool = False) -> Iterator[Path]:
        """A new empty folder for the time of a `with`; its name starts with the process id, for `sweep`."""
        self.make_work()
        folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-{purpose}-", dir=self.work))
        try:
            yield folder
        finally:
            if keep:
                (folder / "kept").touch()
            else:
                remove_tree(folder)

    def sweep(self) -> int:
        """Remove what killed processes left behind; returns how many folders. Kept workspaces stay."""
        removed = 0
        for folder in self.work.iterdir() if self.work.is_dir() else ():
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not alive(int(owner)) and not (folder / "kept").exists():
                remove_tree(folder)
                removed += 1
        return removed


def remove_tree(folder: Path) -> None:
    """Remove a folder, also where its writer took the permissions of folders in it away."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for place, folders, _ in os.walk(folder):
            for name in folders:
                inner = Path(place, name)
                if not inner.is_symlink():
                    inner.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def alive(pid: int) -> bool:
    """Whether a process with this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
