"""Where evalkit keeps things on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from evalkit.digest import digest_bytes
from evalkit.errors import HarnessError
from evalkit.execute.folders import abandoned, adopted, claimed, lasting_name, remove_tree
from evalkit.execute.marks import end_orphans
from evalkit.execute.notes import spoken_for
from evalkit.kept import user_cache
from evalkit.values import Value

__all__ = ["TREE_NAME", "Places"]

TREE_NAME = "app"
"""Every workspace's folder has this name: SDKs bake the folder's name into files and cache keys."""
_CONTROL_GROUPS = Path("/sys/fs/cgroup/cgroup.controllers")
"""Is there where the system has control groups of version 2, by which the sandbox limits commands."""
_KEPT = "kept"
"""A file of this name in a scratch folder says that its owner wants it kept."""


class Places(Value):
    """The folders of a project and of this user.

    root: the project. results: what people read. state: evalkit's own (the store, doit's database).
    cache: toolchains, shared by all projects of the user. shared_store: a store outside the state, where several
    checkouts share one. work: trees while an agent or a grader works in them; outside
    the project, so that an agent that looks around finds no case, no answer, and no CLAUDE.md of a parent folder.
    """

    root: Path
    cache: Path
    work: Path
    shared_store: Path | None = None

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str], store: str | None = None) -> Places:
        """The places of a project. store: the choice of that name, where it was made: a path, also from the project."""
        shared = store or environ.get("EVALKIT_STORE")
        base = environ.get("EVALKIT_WORK") or Path("/var/tmp", f"evalkit-{os.getuid()}")
        project = digest_bytes(os.fsencode(root.resolve()))[:12]
        return cls(root.resolve(), user_cache(environ).absolute(), Path(base).absolute() / project,
                   Path(root.resolve(), Path(shared).expanduser()) if shared else None)

    @property
    def state(self) -> Path:
        return self.root / ".evalkit"

    @property
    def store(self) -> Path:
        return self.shared_store or self.state / "store"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def private(self) -> tuple[Path, ...]:
        """Folders in which no agent may look: what others answered is there."""
        return (self.results, self.state, *([self.shared_store] if self.shared_store else []))

    def make_work(self) -> None:
        """Make the work folder, private to this user. Raises HarnessError where it cannot serve."""
        hint = "name a folder of your own: EVALKIT_WORK=/some/folder"
        try:
            self.work.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.work.parent, self.work):
                # lstat: also a link of somebody else's is not ours to follow (/var/tmp is everybody's).
                if folder.lstat().st_uid != os.geteuid():
                    raise HarnessError(f"{folder} belongs to another user", hint=hint)
            if os.statvfs(self.work).f_flag & getattr(os, "ST_NOEXEC", 0):
                raise HarnessError(f"no program can be started in {self.work}: it is mounted noexec", hint=hint)
        except OSError as error:
            raise HarnessError(f"cannot make the work folder {self.work}: {error.strerror or error}",
                               hint=hint) from error

    @contextmanager
    def scratch(self, purpose: str, *, keep: bool = False, left: str = "") -> Iterator[Path]:
        """A new empty folder for the time of a `with`; kept for the person to look at where `keep` is set.

        left: the lasting name of a folder that a killed run left: that one is adopted instead.
        """
        self.make_work()
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(adopted(self.work, left) if left else claimed(self.work, purpose))
            except OSError as error:
                raise HarnessError(f"cannot write to the work folder {self.work}: {error.strerror or error}",
                                   hint="is the disk full? another folder: EVALKIT_WORK=/some/folder") from error
            stack.callback((folder / _KEPT).touch if keep else partial(remove_tree, folder))
            yield folder

    def sweep(self) -> int:
        """End and remove what killed processes left behind; returns how many folders.

        Kept workspaces stay, and so does what an agent left that finished (see finished.py).
        """
        end_orphans()
        if _CONTROL_GROUPS.exists():
            from evalkit.execute.lanes.limits import sweep_groups

            sweep_groups()
        removed, finished = 0, spoken_for(self.store, self.work)
        for folder in list(self.work.iterdir()) if self.work.is_dir() else ():
            if abandoned(folder) and lasting_name(folder) not in finished and not (folder / _KEPT).exists():
                remove_tree(folder)
                removed += 1
        return removed
