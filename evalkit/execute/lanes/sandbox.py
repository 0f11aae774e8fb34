"""The lane `sandbox`: commands run under bubblewrap, the tree always at `/workspace` (bwrap.py says what is inside)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import define, field, frozen

from evalkit.execute.lanes.base import Serve
from evalkit.execute.lanes.bwrap import HOME, HOST_PATH, WORKSPACE, Plan
from evalkit.execute.lanes.limits import Cgroup, Limits, Watch
from evalkit.execute.lanes.proxy import Proxy
from evalkit.execute.lanes.walls import PORT, PROXY_PORT, Walls
from evalkit.execute.places import TREE_NAME
from evalkit.execute.process import Dialogue, Finished, converse, run, stream
from evalkit.execute.toolchain import Installed, toolchain_environment

__all__ = ["Sandbox", "SandboxRoom"]

_PROXY = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), f"http://127.0.0.1:{PROXY_PORT}"),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1"),
}
"""How programs are told of a proxy, by a custom of theirs. The gateway is on loopback, and needs none."""
_SAID = 2_000
"""Bytes of a log in which bubblewrap's own last words are looked for."""


@define
class SandboxRoom:
    """A room behind walls. mounted: the folder that is /workspace inside. readable: what can be read beside it.

    hidden: folders of that which are empty inside.
    """

    program: str
    tree: Path
    home: Path
    scratch: Path
    mounted: Path
    env: dict[str, str]
    limits: Limits
    root: Path | None = None
    readable: list[Path] = field(factory=list)
    hidden: tuple[Path, ...] = ()
    walls: bool = True
    proxy: Proxy | None = None
    """Leads to what its case asks for."""
    _serve: Serve | None = field(default=None, init=False)

    @property
    def beside(self) -> Path:
        return self.home

    def seen(self, path: Path) -> Path:
        for here, there in ((self.mounted, WORKSPACE), (self.home, HOME)):
            if path.is_relative_to(here):
                return there / path.relative_to(here)
        return path

    def notes(self) -> tuple[str, ...]:
        return self.proxy.notes() if self.proxy is not None else ()

    def show(self, path: Path) -> None:
        self.readable.append(path)

    @contextmanager
    def converse(self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None) -> Iterator[Dialogue]:
        with (self._walls(None, env) as walls,
              converse(walls.command(argv), cwd=self.scratch, env={}, log=log, walls=walls) as dialogue):
            yield dialogue

    def reach(self, url: str, serve: Serve) -> str:
        self._serve = serve
        return f"http://127.0.0.1:{PORT}"

    def run(self, argv: Sequence[str], *, limit: float, log: Path, cwd: Path | None = None,
            env: Mapping[str, str] | None = None, errors: Path | None = None,
            tick: Callable[[float], None] | None = None) -> Finished:
        with self._walls(cwd, env) as walls:
            walls.last_words = lambda: _end_of(errors or log)
            finished = run(walls.command(argv), cwd=self.scratch, env={}, limit=limit, log=log, errors=errors,
                           tick=tick, walls=walls)
            return walls.settled(finished, argv[0])

    def stream(self, argv: Sequence[str], *, limit: float, text: str, on_line: Callable[[bytes], None],
               on_error_line: Callable[[bytes], None], cwd: Path | None = None, env: Mapping[str, str] | None = None,
               stop: Callable[[], str] = lambda: "", tick: Callable[[float], None] | None = None) -> Finished:
        last = b""

        def error_line(line: bytes) -> None:
            nonlocal last
            last = line
            on_error_line(line)

        with self._walls(cwd, env) as walls:
            walls.last_words = lambda: last[-_SAID:].decode("utf-8", "replace")
            finished = stream(walls.command(argv), cwd=self.scratch, env={}, limit=limit, text=text, on_line=on_line,
                              on_error_line=error_line, stop=stop, tick=tick, walls=walls)
            return walls.settled(finished, argv[0])

    def _walls(self, cwd: Path | None, env: Mapping[str, str] | None) -> Walls:
        self.home.mkdir(exist_ok=True)
        self.mounted.mkdir(exist_ok=True)
        group = Cgroup.make(self.limits)
        ways = ((PORT, self._serve), (PROXY_PORT, self.proxy.serve if self.proxy is not None else None))
        serve = {port: each for port, each in ways if each is not None}
        plan = Plan(
            binds=((self.mounted, WORKSPACE), (self.home, HOME)), readable=tuple(self.readable),
            env=self.env if env is None else env, cwd=self.seen(cwd or self.tree), limits=self.limits,
            net=not serve, root=self.root, hidden=self.hidden)
        watch = Watch(self.limits, (self.mounted, self.home), counts=group is None)
        return Walls(self.program, plan, watch, serve, group)


@frozen
class Sandbox:
    """program: bubblewrap's. root: the folder of another root file system than this machine's /usr."""

    program: str
    limits: Limits = field(factory=Limits)
    root: Path | None = None
    name: str = "sandbox"

    def room(self, folder: Path, installed: tuple[Installed, ...], environ: Mapping[str, str], *,
             nested: bool = False, image: Path | None = None, network: tuple[str, ...] = ()) -> SandboxRoom:
        home = folder / "home"
        mounted = folder / "around" if nested else folder / TREE_NAME
        env = toolchain_environment(installed, os.pathsep.join(HOST_PATH), HOME, Path("/tmp"))
        if network:
            env |= _PROXY
        readable = [path for toolchain in installed
                    for path in (toolchain.folder, *toolchain.python, *toolchain.shown)]
        hidden = tuple(path for toolchain in installed for path in toolchain.hidden)
        return SandboxRoom(self.program, mounted / TREE_NAME if nested else mounted, home, folder, mounted, env,
                           self.limits, image or self.root, readable, hidden,
                           proxy=Proxy.to(network) if network else None)


def _end_of(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _SAID))
        return file.read().decode("utf-8", "replace")
