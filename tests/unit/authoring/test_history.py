"""`evalkit history` in a pipe: 80 columns, and names that drive no terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.cli import main
from tests.golden.run import write_run


def history(root: Path, run: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    write_run(root, run)
    (root / "cases").mkdir()
    (root / "pyproject.toml").write_text("[tool.evalkit]\n")
    monkeypatch.chdir(root)
    assert 0 == main(["history", "board"])
    return capsys.readouterr().out.splitlines()


def test_it_fits_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room for the agents' versions beside the numbers, they stand below them."""
    lines = history(tmp_path, "a-longer-label", capsys, monkeypatch)
    assert 80 >= max(map(len, lines))
    assert "  agent: 2.1" in lines


def test_a_run_of_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                           monkeypatch: pytest.MonkeyPatch) -> None:
    """A label is a folder's name, and may hold anything."""
    assert all(line.isprintable() for line in history(tmp_path, "a\x1b[31mb", capsys, monkeypatch))
