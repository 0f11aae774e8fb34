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


@pytest.mark.parametrize(("lane", "works"), [("", None), ("auto", False), ("sandbox", False)])
@pytest.mark.parametrize(("folder", "cache", "hides"), [
    ("/workspace/evals", "/x", "/workspace/evals"), ("/home/agent", "/x", "/home/agent"),
    ("/evals", "/home/agent/.cache", "/home/agent/.cache")])
def test_what_the_sandbox_would_hide(folder: str, cache: str, hides: str, lane: str, works: bool | None,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """A project or toolchains where it has folders of its own: with the hint that the sandbox itself gives."""
    monkeypatch.setattr(doctor, "trouble", lambda path: None)
    environ = {"EVALKIT_CACHE": cache, "EVALKIT_LANE": lane, "HOME": "/x"}
    found = {finding.what: finding for finding in findings(Path(folder), environ)}["its folders"]
    assert found.told.startswith(f"the sandbox cannot show {hides}: a folder of its own")
    assert (works, True) == (found.works, "EVALKIT_CACHE=/another/folder" in found.hint)


def test_nothing_is_said_of_folders_that_it_does_not_hide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that only begin so are others."""
    monkeypatch.setattr(doctor, "trouble", lambda path: None)
    for folder in (tmp_path, Path("/workspaces/evals"), Path("/home/agents")):
        environ = {"EVALKIT_CACHE": "/x", "HOME": "/x"}
        assert "its folders" not in {finding.what for finding in findings(folder, environ)}
