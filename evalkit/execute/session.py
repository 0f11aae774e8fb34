"""What the stages of one run share: places, the store, the environment, secrets, and somebody to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.analysis.model import Toolchain
from evalkit.errors import HarnessError
from evalkit.execute.asking import Models
from evalkit.execute.budget import Budget
from evalkit.execute.contents import FolderContents
from evalkit.execute.places import Places
from evalkit.execute.secrets import Redactor
from evalkit.execute.store import Store
from evalkit.plan.choices import secret_names
from evalkit.values import State, field

if TYPE_CHECKING:
    from evalkit.execute.lanes import Lane, Room
    from evalkit.execute.models.prices import Price, Prices
    from evalkit.execute.toolchain import Installed
    from evalkit.execute.tree import Manifest

__all__ = ["Session"]


class Session(State):
    """One run's view of the machine.

    cases: the folder of the case files, which no agent may look into. say: is told what happens, a line at a time.
    tick: is told that a long step still works, with its seconds. budget: what may be spent, and what was.
    own_prices: what models cost that the project tells a price of. models: how they are asked.
    """

    places: Places
    environ: Mapping[str, str] = field(repr=False)
    say: Callable[[str], None] = field(repr=False)
    tick: Callable[[float], None] = field(repr=False, default=lambda _: None)
    keep_workspaces: bool = False
    cases: str = "cases"
    budget: Budget = field(factory=Budget, repr=False)
    own_prices: Mapping[str, Price] = field(factory=dict, repr=False)
    models: Models = field(factory=Models, repr=False)
    redactor: Redactor = field(init=False, repr=False)
    store: Store = field(init=False)
    last_tree: tuple[Manifest, dict[str, bytes]] | None = field(default=None, init=False, eq=False, repr=False)
    """The final tree that was read last, and its files."""
    last_made: tuple[str, bytes, Manifest] | None = field(default=None, init=False, eq=False, repr=False)
    """The small workspace that was put together last: its key, its archive, and what that holds."""
    _folders: FolderContents = field(init=False, repr=False)
    _linked: tuple[Path, ...] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._folders = FolderContents(self.places.state / "cache" / "contents")
        self.redactor = Redactor.of(self.environ, secret_names(self.places.root))
        self.store = Store(self.places.store, lambda line: self.say(line))

    @property
    def root(self) -> Path:
        return self.places.root

    @property
    def prices(self) -> Prices:
        """What models cost: few runs ask."""
        from evalkit.execute.models.prices import Prices

        return Prices(self.own_prices)

    def off_limits(self, private: Iterable[Path]) -> tuple[Path, ...]:
        """The folder of the cases, by all its names, and these; links below it are looked for once in a run."""
        from evalkit.execute.off_limits import linked, off_limits

        cases = self.root / self.cases
        if self._linked is None:
            self._linked = linked(cases)
        return off_limits(cases, private, self._linked)

    def contents(self, path: str) -> str:
        """The digest of a file or folder of the project as it is now."""
        try:
            return self._folders.digest(self.root / path)
        except OSError as error:
            raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error

    def held(self, digest: str) -> dict[str, str] | None:
        """What a folder of the project held when its contents had this digest; None where that is not known (any more).
        """
        return self._folders.held(digest)

    def installed(self, toolchains: Iterable[Toolchain]) -> tuple[Installed, ...]:
        """The toolchains on this machine. Raises HarnessError where one is missing (its task makes it)."""
        from evalkit.execute.toolchain import find_installed

        found = []
        for toolchain in toolchains:
            ready = find_installed(self.places.cache, toolchain)
            if ready is None:
                raise HarnessError(f"toolchain `{toolchain.name}` is not installed",
                                   hint=f"doit run toolchain:{toolchain.name}")
            found.append(ready)
        return tuple(found)

    @contextmanager
    def desk(self, purpose: str, toolchains: Iterable[Toolchain], *,
             keep: bool = False) -> Iterator[tuple[Path, dict[str, str]]]:
        """A scratch folder, and the environment of commands that run in it: its own home, these toolchains."""
        with self.room(purpose, toolchains, keep=keep) as room:
            yield room.scratch, room.env

    @contextmanager
    def room(self, purpose: str, toolchains: Iterable[Toolchain], *, lane: str = "local", keep: bool = False,
             nested: bool = False, image: Path | None = None, network: tuple[str, ...] = ()) -> Iterator[Room]:
        """A room of a lane for the time of a `with`: in a scratch folder, with its own home and these toolchains.

        keep: it stays for the person to look at. nested, image, network: as of `Lane.room`.
        """
        installed = self.installed(toolchains)
        with self.places.scratch(purpose, keep=keep) as folder:
            yield self._lane(lane).room(folder, installed, self.environ, nested=nested, image=image, network=network)

    def _lane(self, name: str) -> Lane:
        if name == "local":
            from evalkit.execute.lanes import Local

            return Local()
        from evalkit.execute.lanes.choose import lane_of

        return lane_of(name, self.environ)
