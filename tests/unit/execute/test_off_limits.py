"""The folders that no agent may look into: by all the names that they have."""

from __future__ import annotations

from pathlib import Path

from evalkit.execute.off_limits import linked, off_limits


def test_each_is_named_as_it_is_called_and_as_it_is(tmp_path: Path) -> None:
    """Through a link to the project, the real folders too."""
    real = tmp_path / "real"
    (real / "cases").mkdir(parents=True)
    (tmp_path / "project").symlink_to(real)
    project = tmp_path / "project"

    assert (real / "cases", real / "results") == off_limits(real / "cases", (real / "results",), ())
    assert (project / "cases", real / "cases", project / "results", real / "results") == off_limits(
        project / "cases", (project / "results",), ())


def test_where_links_below_the_cases_lead(tmp_path: Path) -> None:
    """A suite, or what a case uses, may lie elsewhere; what lies below what is named already is not named again."""
    cases = tmp_path / "cases"
    for name in ("cases/own/case", "elsewhere/suite", "elsewhere/data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "elsewhere/notes.md").write_text("x")
    (cases / "linked").symlink_to(tmp_path / "elsewhere/suite")
    (cases / "own/case/data").symlink_to(tmp_path / "elsewhere/data")
    (cases / "own/case/notes.md").symlink_to(tmp_path / "elsewhere/notes.md")
    (cases / "own/again").symlink_to(cases / "own/case")
    (cases / "own/circle").symlink_to("circle")

    assert {cases, tmp_path / "elsewhere/suite", tmp_path / "elsewhere/data", tmp_path / "elsewhere/notes.md"} == set(
        off_limits(cases, (), linked(cases)))


def test_folders_that_are_not_there_yet(tmp_path: Path) -> None:
    """An agent may make them, or somebody else may."""
    assert (tmp_path / "cases", tmp_path / "store") == off_limits(tmp_path / "cases", (tmp_path / "store",), ())
