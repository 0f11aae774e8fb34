"""Which lane a run takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.execute.lanes import choose
from evalkit.execute.lanes.choose import Trouble, chosen

ENVIRON = {"EVALKIT_CACHE": "/x", "HOME": "/x"}


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "trouble", lambda path: None)


@pytest.mark.usefixtures("works")
def test_auto_takes_the_sandbox_where_it_shows_everything() -> None:
    assert ("sandbox", "") == chosen("auto", ENVIRON, Path("/evals"))


@pytest.mark.usefixtures("works")
@pytest.mark.parametrize(("root", "environ", "hides"), [
    ("/workspace", ENVIRON, "/workspace"), ("/home/agent/evals", ENVIRON, "/home/agent/evals"),
    ("/evals", {**ENVIRON, "EVALKIT_CACHE": "/workspace/.cache"}, "/workspace/.cache")])
def test_auto_takes_the_local_lane_where_the_sandbox_hides_something(root: str, environ: dict[str, str],
                                                                    hides: str) -> None:
    """It says what, and what to do. Who asks for the sandbox gets it: not every case needs what is hidden."""
    lane, told = chosen("auto", environ, Path(root))
    assert ("local", True) == (lane, f"the sandbox cannot show {hides}" in told)
    assert "EVALKIT_CACHE=/another/folder" in told
    assert ("sandbox", "") == chosen("sandbox", environ, Path(root))


@pytest.mark.usefixtures("works")
def test_a_python_that_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a virtual environment in the project."""
    monkeypatch.setattr("sys.prefix", "/workspace/.venv")
    assert "/workspace/.venv" in chosen("auto", ENVIRON, Path("/evals"))[1]


def test_a_sandbox_that_does_not_work_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "trouble", lambda path: Trouble("there is none", "type this"))
    assert ("local", "lane=auto takes the local lane: there is none. type this") == chosen(
        "auto", ENVIRON, Path("/workspace"))
