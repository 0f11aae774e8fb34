"""`evalkit doctor`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.authoring import doctor
from evalkit.authoring.doctor import findings
from evalkit.execute.lanes.choose import Trouble

KEY = "sk-a-key-that-must-not-show"


def told(folder: Path, **env: str) -> dict[str, doctor.Finding]:
    environ = {"PATH": os.environ["PATH"], "EVALKIT_WORK": str(folder / "work"), "EVALKIT_CACHE": str(folder / "cache")}
    return {finding.what: finding for finding in findings(folder, {**environ, **env})}


def test_a_sandbox_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and how to choose it."""
    monkeypatch.setattr(doctor, "trouble", lambda path: None)
    found = told(tmp_path)
    assert found["sandbox lane"].works
    assert "lane=sandbox" in found["sandbox lane"].told


@pytest.mark.parametrize(("lane", "works"), [("", None), ("auto", False), ("sandbox", False)])
def test_a_sandbox_that_does_not_work(lane: str, works: bool | None, tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """The line to type; it is a fault only where somebody wants it."""
    monkeypatch.setattr(doctor, "trouble", lambda path: Trouble("there is none", "type this"))
    finding = told(tmp_path, EVALKIT_LANE=lane)["sandbox lane"]
    assert ("there is none", works, "type this") == (finding.told, finding.works, finding.hint)


def test_keys_are_named_and_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is anything else of them."""
    monkeypatch.setattr(doctor, "trouble", lambda path: None)
    found = told(tmp_path, ANTHROPIC_API_KEY=KEY)
    assert "ANTHROPIC_API_KEY" == found["keys"].told
    assert KEY not in str(found)


def test_a_choice_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told with the others."""
    monkeypatch.setattr(doctor, "trouble", lambda path: None)
    assert told(tmp_path, EVALKIT_LANE="moon")["choices"].works is False
