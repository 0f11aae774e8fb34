"""Every code, as it is shown: the whole output for its wrong example, line and column and underlining included.

The expected outputs are in snapshots/CODE.txt. After a wanted change: SNAPSHOTS=write pytest tests/unit/diagnostics -n0
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.diagnostics import render_all
from evalkit.diagnostics.catalogue import CATALOGUE, Entry
from tests.unit.diagnostics.examples import findings_of

FOLDER = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.code) for entry in CATALOGUE.values()])
def test_the_whole_output(entry: Entry, tmp_path: Path) -> None:
    """What a person sees of the wrong example, to the letter."""
    shown = render_all(findings_of(tmp_path, entry.wrong)).replace(str(tmp_path), "PROJECT") + "\n"
    path = FOLDER / f"{entry.code}.txt"
    if os.environ.get("SNAPSHOTS") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown


def test_no_snapshot_is_left_over() -> None:
    """A code that went takes its snapshot along."""
    assert sorted(CATALOGUE) == sorted(path.stem for path in FOLDER.glob("*.txt"))
