"""The protocol of lanes. A lane makes rooms; in a room stands one tree, and commands run on it, with limits.

    room (prepare) -> unpack into its tree (copy in) -> run, stream -> pack its tree (copy out) -> leave (destroy)

A room has two views of a path: where it is for evalkit, and where commands see it. In the local lane they are the same;
in the sandbox the tree is always `/workspace`. While no command of a room runs, nobody else touches its tree: evalkit
may read and write it then, by its own path, without following what links in it lead to.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from evalkit.execute.process import Dialogue, Finished
from evalkit.execute.toolchain import Installed

__all__ = ["LANES", "Lane", "Room", "Serve"]

LANES = ("local", "sandbox")

Serve = Callable[[socket.socket], AbstractContextManager[object]]
"""Answers what connects to a listening socket, for the time of a `with`."""


class Room(Protocol):
    """A place for one tree and the commands that run on it.

    tree: its folder, for evalkit; it need not be there yet. home: that of the commands' HOME. beside: a folder that
    commands can write and that is not in the tree. scratch: evalkit's own, for logs: no command looks for it. env: the
    environment of commands: the toolchains, nothing of the person's.
    """

    @property
    def tree(self) -> Path: ...
    @property
    def home(self) -> Path: ...
    @property
    def beside(self) -> Path: ...
    @property
    def scratch(self) -> Path: ...
    @property
    def env(self) -> dict[str, str]: ...

    @property
    def walls(self) -> bool:
        """Whether commands are kept from everything outside of the room."""
        ...

    def seen(self, path: Path) -> Path:
        """Where commands see a path of the room, or of a toolchain."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What a reader of a result should know of the room."""
        ...

    def show(self, path: Path) -> None:
        """Let commands read a file or folder outside of the room, by its own path."""
        ...

    def run(self, argv: Sequence[str], *, limit: float, log: Path, cwd: Path | None = None,
            env: Mapping[str, str] | None = None, errors: Path | None = None,
            tick: Callable[[float], None] | None = None) -> Finished:
        """Run a command to its end (see `process.run`). cwd: the tree where nothing is said; env: the room's."""
        ...

    def stream(self, argv: Sequence[str], *, limit: float, text: str, on_line: Callable[[bytes], None],
               on_error_line: Callable[[bytes], None], cwd: Path | None = None, env: Mapping[str, str] | None = None,
               stop: Callable[[], str] = lambda: "", tick: Callable[[float], None] | None = None) -> Finished:
        """Run a command and hand on its lines (see `process.stream`). cwd, env: as of `run`."""
        ...

    def converse(self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None
                 ) -> AbstractContextManager[Dialogue]:
        """Start a command that answers line by line (see `process.converse`), in the tree. env: as of `run`."""
        ...

    def reach(self, url: str, serve: Serve) -> str:
        """Let commands that are started from now on reach what listens at `url`. Returns where they find it.

        serve: answers in its place where they cannot get there.
        """
        ...


class Lane(Protocol):
    """Makes rooms. name: as results and keys have it."""

    @property
    def name(self) -> str: ...

    def room(self, folder: Path, installed: tuple[Installed, ...], environ: Mapping[str, str], *,
             nested: bool = False, image: Path | None = None, network: tuple[str, ...] = ()) -> Room:
        """A room in an empty folder; whoever removes the folder destroys it. environ: the person's.

        nested: commands see the folder around the tree too, and may make the tree's own. image: the root file system
        that they see in the place of this machine's, where the lane has walls. network: the `HOST:PORT`s that walls
        let commands reach.
        """
        ...
