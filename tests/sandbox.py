"""A sandbox for tests: where it does not work, they fail and say what to type."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from attrs import frozen

from evalkit.execute.lanes import Room
from evalkit.execute.lanes.choose import trouble
from evalkit.execute.lanes.limits import Limits
from evalkit.execute.lanes.sandbox import Sandbox
from evalkit.execute.process import Finished

__all__ = ["PYTHON", "Inside", "bwrap"]

PYTHON = Path(sys.executable).resolve()
"""What runs Python inside: the tests' own, wherever it is."""


def bwrap() -> str:
    """bubblewrap's program. Fails the test where the sandbox does not work."""
    found = trouble(os.environ.get("PATH"))
    if found is not None:
        pytest.fail(f"THE SANDBOX IS NOT TESTED: {found.reason}\n{found.hint}", pytrace=False)
    from evalkit.execute.lanes.bwrap import find_bwrap

    return find_bwrap() or ""


@frozen
class Inside:
    """A room in the sandbox, and what was said in it."""

    room: Room

    @classmethod
    def of(cls, folder: Path, limits: Limits | None = None) -> Inside:
        folder.mkdir(exist_ok=True)
        room = Sandbox(bwrap(), limits or Limits()).room(folder, (), {})
        room.show(Path(sys.base_prefix))
        return cls(room)

    def run(self, *argv: str, limit: float = 60) -> tuple[Finished, str]:
        """Run a command; how it ended, and all that it printed."""
        log = self.room.scratch / "log"
        log.unlink(missing_ok=True)
        finished = self.room.run(argv, limit=limit, log=log)
        return finished, log.read_text("utf-8", "replace")

    def python(self, code: str, limit: float = 60) -> tuple[Finished, str]:
        return self.run(str(PYTHON), "-I", "-S", "-c", code, limit=limit)
