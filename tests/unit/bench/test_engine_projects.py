"""What the engine's benchmark compares is the same graph, whoever runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.engine_projects import CHECKS, TASKS, edit_check, edit_input, ninja_of, write_cases, write_doit, write_ninja
from evalkit.analysis import load_project

CASES = 3


def of_ninja() -> dict[str, list[str]]:
    """The files that each file is made from."""
    lines = [line.removeprefix("build ") for line in ninja_of(CASES).splitlines() if line.startswith("build ")]
    return {target: sources.removeprefix("copy ").split() for target, sources in (line.split(": ") for line in lines)}


def of_doit(folder: Path) -> dict[str, list[str]]:
    write_doit(folder, CASES)
    dodo: dict[str, Any] = {}
    exec((folder / "dodo.py").read_text(encoding="utf-8"), dodo)
    tasks = [task for name, make in dodo.items() if name.startswith("task_") for task in make()]
    return {target: task["file_dep"] for task in tasks for target in task["targets"]}


def test_doit_and_ninja_have_the_same_graph(tmp_path: Path) -> None:
    """Eight tasks a case; what nothing makes is there."""
    graph = of_ninja()
    assert CASES * TASKS == len(graph)
    assert graph == of_doit(tmp_path / "doit")
    write_ninja(tmp_path / "ninja", CASES)
    for folder in ("doit", "ninja"):
        inputs = {source for sources in graph.values() for source in sources if source not in graph}
        assert inputs == {path.relative_to(tmp_path / folder).as_posix()
                          for path in (tmp_path / folder / "cases").rglob("*") if path.is_file()}
        assert all((tmp_path / folder / target).parent.is_dir() for target in graph)


def test_an_edit_of_an_input_reaches_three_tasks(tmp_path: Path) -> None:
    """A grade, its result and its case."""
    write_ninja(tmp_path, CASES)
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    edit_input(tmp_path, 1, "mark")
    reached = {path.relative_to(tmp_path).as_posix() for path in before if path.read_text() != before[path]}
    assert {"cases/1/three"} == reached
    for _ in range(3):
        reached |= {target for target, sources in of_ninja().items() if reached & set(sources)}
    assert {"cases/1/three", "out/1/three", "out/1/result", "out/1/case"} == reached


def test_cases(tmp_path: Path) -> None:
    """A case has as many checks as the other graphs have grades; an edit changes one check of one case."""
    write_cases(tmp_path, CASES)
    before = load_project(tmp_path).cases
    assert CASES == len(before)
    assert all(CHECKS == tuple(check.id for check in case.checks) for case in before.values())
    for mark in ("e1e", "e2e"):
        edit_check(tmp_path, 1, mark)
        after = load_project(tmp_path).cases
        changed = [(name, check.id) for name, case in after.items()
                   for check, was in zip(case.checks, before[name].checks, strict=True) if check.spec != was.spec]
        assert [("c1", "three")] == changed
        before = after
