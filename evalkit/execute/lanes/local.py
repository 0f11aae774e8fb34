"""The lane `local`: plain processes. Commands run in folders of this machine, held by nothing but their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from evalkit.execute.lanes.base import Serve
from evalkit.execute.places import TREE_NAME
from evalkit.execute.process import Dialogue, Finished, converse, run, stream
from evalkit.execute.toolchain import Installed, command_environment
from evalkit.values import Value, field

__all__ = ["Local", "LocalRoom"]


class LocalRoom(Value):
    tree: Path
    home: Path
    scratch: Path
    env: dict[str, str] = field(factory=dict)
    walls: bool = False

    @property
    def beside(self) -> Path:
        return self.scratch

    def seen(self, path: Path) -> Path:
        return path

    def notes(self) -> tuple[str, ...]:
        return ()

    def show(self, path: Path) -> None:
        pass  # all can be read

    def run(self, argv: Sequence[str], *, limit: float, log: Path, cwd: Path | None = None,
            env: Mapping[str, str] | None = None, errors: Path | None = None,
            tick: Callable[[float], None] | None = None) -> Finished:
        return run(argv, cwd=cwd or self.tree, env=self.env if env is None else env, limit=limit, log=log,
                   errors=errors, tick=tick)

    def stream(self, argv: Sequence[str], *, limit: float, text: str, on_line: Callable[[bytes], None],
               on_error_line: Callable[[bytes], None], cwd: Path | None = None, env: Mapping[str, str] | None = None,
               stop: Callable[[], str] = lambda: "", tick: Callable[[float], None] | None = None) -> Finished:
        return stream(argv, cwd=cwd or self.tree, env=self.env if env is None else env, limit=limit, text=text,
                      on_line=on_line, on_error_line=on_error_line, stop=stop, tick=tick)

    def converse(self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None
                 ) -> AbstractContextManager[Dialogue]:
        return converse(argv, cwd=self.tree, env=self.env if env is None else env, log=log)

    def reach(self, url: str, serve: Serve) -> str:
        return url


class Local(Value):
    name: str = "local"

    def room(self, folder: Path, installed: tuple[Installed, ...], environ: Mapping[str, str], *,
             nested: bool = False, image: Path | None = None, network: tuple[str, ...] = ()) -> LocalRoom:
        home = folder / "home"
        return LocalRoom(folder / TREE_NAME, home, folder, command_environment(installed, environ, home))
