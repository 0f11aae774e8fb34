"""What the stages of a run share."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import HarnessError

from .make import session, toolchain


def test_contents_are_digests_of_the_project_as_it_is(tmp_path: Path) -> None:
    """They follow what is on disk, for files and folders; an absent path has a digest of its own."""
    here = session(tmp_path)
    assert "absent" == here.contents("answer")
    (here.root / "answer").mkdir()
    empty = here.contents("answer")
    (here.root / "answer/file").write_text("x")
    filled = here.contents("answer")
    assert 3 == len({"absent", empty, filled})
    assert here.contents("answer/file") not in ("absent", filled)


def test_a_toolchain_that_is_not_installed(tmp_path: Path) -> None:
    """The hint is the line to type."""
    with pytest.raises(HarnessError, match="toolchain `tools` is not installed") as raised:
        session(tmp_path).installed((toolchain(npm=("x@1",)),))
    assert "doit run toolchain:tools" == raised.value.hint


def test_a_desk_has_a_home_of_its_own(tmp_path: Path) -> None:
    """The environment of its commands lies within the scratch folder, which is gone afterwards."""
    with session(tmp_path, environ={"ANTHROPIC_API_KEY": "sk-12345678"}).desk("grade", ()) as (folder, env):
        assert str(folder / "home") == env["HOME"]
        assert (folder / "home").is_dir()
        assert "ANTHROPIC_API_KEY" not in env
    assert not folder.exists()


def test_its_repr_shows_no_key(tmp_path: Path) -> None:
    """A session that is printed shows neither the environment nor what the redactor knows."""
    here = session(tmp_path, environ={"ANTHROPIC_API_KEY": "sk-12345678"})
    assert "sk-12345678" not in repr(here)
    assert "[ANTHROPIC_API_KEY redacted]" == here.redactor.text("sk-12345678")
