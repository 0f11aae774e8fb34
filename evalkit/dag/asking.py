"""`gateway=`: how the models of a run are asked -> the endpoints that are open, and the gateway that is started for it.

    (nothing)        evalkit's own gateway, with the provider that the keys are of behind it
    URL              the same, with another address behind it
    direct           no gateway: agents and judges hold the provider's key
    PATH             the same gateway, with a script or a cassette behind it: no model is called, and no key is needed
    record:PATH      the same gateway, and what passes is kept in a cassette (record:PATH@URL: from another address)

What is played must never be taken for a model's: the file is an input of agent runs and of judges' answers, and a
played trial is a subject's of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import UserError
from evalkit.execute.asking import Models
from evalkit.execute.models.provider import Endpoints, missing_key
from evalkit.plan.choices import DIRECT, RECORD
from evalkit.plan.keys import PLAYED_BY
from evalkit.values import State, field

if TYPE_CHECKING:
    from evalkit.execute.models.prices import Price
    from evalkit.gateway.live import LiveGateway

__all__ = ["Asking"]


class Asking(State):
    """How the models of a run are asked. choice: what was said with `gateway=`, None for nothing. own_prices: those
    that the project tells.

    said: after `close`, lines for the person on what was played or recorded. errors: bugs in the gateway.
    """

    choice: str | None
    root: Path
    environ: Mapping[str, str] = field(repr=False)
    own_prices: Mapping[str, Price] = field(repr=False)
    said: list[str] = field(factory=list, init=False)
    errors: list[BaseException] = field(factory=list, init=False, repr=False)
    models: Models = field(init=False)
    _open: ExitStack = field(factory=ExitStack, init=False, repr=False)

    def __post_init__(self) -> None:
        self.models = Models(self.endpoints, None if self.choice == DIRECT else self._start, self.played)

    @property
    def _file(self) -> str:
        """The path that was given, "" where none was."""
        choice = self.choice or ""
        return "" if choice == DIRECT or choice.startswith((RECORD, "http://", "https://")) else choice

    @property
    def played(self) -> str:
        """The file that plays the models' part, relative to the project where it is in it; "" where none does."""
        if not self._file:
            return ""
        path = Path(self.root, Path(self._file).expanduser()).resolve()
        root = self.root.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """What runs and answers hang on beside what is asked: as `Trial.given`."""
        return ((PLAYED_BY, self.played),) if self.played else ()

    @property
    def endpoints(self) -> Endpoints:
        if self.played:
            from evalkit.execute.models.replayed import Replayed, ways_in

            return Replayed({}, None, self.played, cache(partial(ways_in, self.root / self.played)))
        choice = self.choice or ""
        _, at, address = choice.partition("@http") if choice.startswith(RECORD) else ("", "", "")
        other = f"http{address}" if at else choice if choice.startswith(("http://", "https://")) else None
        return Endpoints(self.environ, other)

    # ---- the gateway ----
    def check(self) -> None:
        """Raise UserError where the file that is to be played, or written, cannot be."""
        if self.played:
            from evalkit.gateway.play import open_play

            open_play(self.root / self.played)
        elif (self.choice or "").startswith(RECORD):
            if self._cassette.exists():
                raise UserError(f"{self._cassette} is there already",
                                hint="a cassette is never overwritten: name another, or delete it")
            if self._provider is None:
                raise missing_key(f"gateway={RECORD}PATH")

    @property
    def _cassette(self) -> Path:
        path = (self.choice or "").removeprefix(RECORD).partition("@http")[0]
        return Path(self.root, Path(path).expanduser())

    @property
    def _provider(self) -> str | None:
        """The address of the provider that a key is there for, without a version; None without one."""
        found = (self.endpoints.find(model) for model in (None, "openai/any", "google/any", "any"))
        return next((each.url.removesuffix("/v1") for each in found if each is not None), None)

    def _start(self) -> LiveGateway:
        from evalkit.execute.models.prices import Prices
        from evalkit.gateway.live import LiveGateway

        return self._open.enter_context(
            LiveGateway(Prices(self.own_prices), instead=self._behind(), on_error=self.errors.append))

    def _behind(self) -> str:
        """Start what stands behind the gateway in the provider's place; its address, "" where nothing does."""
        from evalkit.gateway.server import Server

        if self.played:
            from evalkit.gateway.play import open_play

            player = open_play(self.root / self.played)
            server = self._open.enter_context(Server(player, on_error=self.errors.append))

            def tell() -> None:
                self.said += [f"{self.played}: {note}" for note in player.notes()]
                self.said += [f"{self.played} has no answer: {line}" for line in player.unknown()]

            self._open.callback(tell)
            return server.url
        if (self.choice or "").startswith(RECORD):
            from evalkit.gateway.cassette import CassetteWriter
            from evalkit.gateway.record import Recorder

            writer = CassetteWriter(self._cassette)
            recorder = Recorder(self._provider or "", writer, self.environ)

            def finish() -> None:
                recorder.close()
                self.said += [f"not recorded: {line}" for line in recorder.troubles()]
                self.said.append(f"{writer.written} exchanges recorded in {self._cassette}" if writer.written
                                 else f"nothing was recorded in {self._cassette}")

            self._open.callback(finish)
            return self._open.enter_context(Server(recorder, on_error=self.errors.append)).url
        return ""

    def close(self) -> None:
        """End the gateway and what is behind it, if they were started. A second call does nothing."""
        self._open.close()
        self.said += [f"a bug in evalkit's gateway: {type(error).__name__}: {error}" for error in self.errors]
        self.errors.clear()
