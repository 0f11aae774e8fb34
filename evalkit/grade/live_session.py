"""An app that is shown: asks the script inside (`live_inside.py`), and tells whose fault it is where something fails.

The app's: it cannot be started, ends, crashes, does not answer: `AppFailed`. A tool's: there is no display, a command
that drives the app is missing, the script itself fails: HarnessError.
"""

from __future__ import annotations

import base64
import binascii
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from attrs import define, field

from evalkit.errors import HarnessError
from evalkit.execute.lanes import Room
from evalkit.execute.process import Dialogue, LimitPassed

__all__ = ["AppFailed", "Ran", "Shown", "shown"]

INSIDE = Path(__file__).with_name("live_inside.py")
SCREEN = "1280x1024x24"
"""Pixels and bits of the display that apps are shown on."""
_DISPLAY = ("Xvfb", "-displayfd", "{fd}", "-ac", "-nolisten", "tcp", "-noreset", "-screen", "0", SCREEN)
_DISPLAY_LIMIT = 60.0
_SLACK = 30.0
"""Seconds that an answer may come later than the command that it tells of could take."""


class AppFailed(Exception):
    """What the app did wrong, in a line, and what it printed."""

    def __init__(self, summary: str, evidence: str = "") -> None:
        super().__init__(summary)
        self.summary, self.evidence = summary, evidence


@define
class Ran:
    """How a command ended that looks at the app or drives it."""

    status: int
    output: str
    errors: str
    over: bool = False

    @property
    def ok(self) -> bool:
        return self.status == 0 and not self.over


@define
class Shown:
    """The app, while it is shown. until: when (time.monotonic) it may be shown no longer, from its launch on.

    clean: takes keys out of what is told.
    """

    talk: Dialogue
    limit: float
    clean: Callable[[str], str] = field(repr=False)
    until: float = 0.0

    def launch(self, argv: Sequence[str], env: Mapping[str, str], *, own: bool) -> None:
        """own: the program is one that the agent should have made."""
        self.until = time.monotonic() + self.limit
        told = self._ask({"do": "start", "argv": list(argv), "env": dict(env)}, 10)
        if "error" in told:
            if own:
                raise AppFailed(f"the app cannot be started: {argv[0]}: {told['error']}")
            raise HarnessError(f"cannot start `{argv[0]}`: {told['error']}")

    def run(self, argv: Sequence[str], limit: float) -> Ran:
        """Run a command beside the app. Raises AppFailed where the app has ended, or its time is over."""
        left = self.left()
        told = self._ask({"do": "run", "argv": list(argv), "limit": min(limit, left)}, min(limit, left))
        if "missing" in told:
            raise HarnessError(f"cannot start `{argv[0]}`: {told['missing']}",
                               hint="does the suite's toolchain install that program?")
        ran = Ran(int(told["status"]), self.clean(str(told["out"])), self.clean(str(told["err"])),
                  bool(told.get("over")))
        self.check(told)
        if ran.over:
            self.left()
        return ran

    def left(self) -> float:
        """Seconds that are left. Raises AppFailed where there are none."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise AppFailed(f"it was not done within the time limit of {self.limit:g} s", self.said())
        return left

    def check(self, told: Mapping[str, Any] | None = None) -> None:
        """Raise AppFailed where the app has ended."""
        ended = (told or self._ask({"do": "said"}, 10))["ended"]
        if "display" in ended:
            raise HarnessError(f"the display ended while the app was shown ({_how(ended['display'])})",
                               hint="run again; is the machine out of memory?")
        if "app" in ended:
            raise AppFailed(f"the app {_how(ended['app'])} while it was looked at", self.said())

    def said(self) -> str:
        """What the app printed."""
        return self.clean(str(self._ask({"do": "said"}, 10)["out"]))

    def read(self, path: str, most: int) -> bytes | None:
        """A file's bytes; None where it cannot be read, or is larger."""
        told = self._ask({"do": "read", "path": path, "most": most}, 30)
        try:
            return base64.b64decode(str(told["data"])) if told.get("whole") else None
        except (KeyError, binascii.Error):
            return None

    def _ask(self, question: Mapping[str, object], limit: float) -> dict[str, Any]:
        try:
            told: dict[str, Any] = orjson.loads(self.talk.ask(orjson.dumps(question), limit + _SLACK))
        except LimitPassed as error:
            raise AppFailed(f"the app {error.message}") from error
        except orjson.JSONDecodeError as error:
            raise AppFailed("the app wrote where its driver answers") from error
        return told


@contextmanager
def shown(room: Room, *, python: str, limit: float, log: Path, display: bool,
          clean: Callable[[str], str]) -> Iterator[Shown]:
    """Where an app can be shown, for the time of a `with`. python: a program of that name there. limit: as of `Shown`.

    display: it needs one of its own. Raises HarnessError where it cannot be made.
    """
    room.beside.mkdir(exist_ok=True)
    script = Path(shutil.copy(INSIDE, room.beside / "live_inside.py"))
    with room.converse([python, "-I", "-S", str(room.seen(script))], log=log) as talk:
        found = Shown(talk, limit, clean)
        if display:
            try:
                told = found._ask({"do": "display", "argv": list(_DISPLAY), "limit": _DISPLAY_LIMIT}, _DISPLAY_LIMIT)
            except (HarnessError, AppFailed) as error:
                said = log.read_text("utf-8", "replace").strip()[-500:] if log.is_file() else ""
                raise HarnessError(f"apps cannot be shown here: {said or error}", hint="`evalkit doctor`") from error
            if "error" in told:
                raise HarnessError(f"the display does not start: {told['error']}", hint="`evalkit doctor`")
        yield found


def _how(status: int) -> str:
    """How a process ended, by its status."""
    number = -status if status < 0 else status - 128 if 128 < status < 160 else 0
    if number:
        try:
            return f"died of {signal.Signals(number).name}"
        except ValueError:
            return f"died of signal {number}"
    return f"ended with status {status}"
