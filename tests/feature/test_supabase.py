"""The suite cases/supabase as text: it compiles and lints clean, its skill is valid, its words are our own."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import subprocess
import sys
import tomllib
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Case, HiddenTestsSpec
from evalkit.analysis.project import compile_project
from evalkit.authoring.check import check_project

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "cases/supabase"


@cache
def units() -> dict[str, list[Case]]:
    """The suite's cases, each on its arms."""
    compiled = compile_project(ROOT, "cases").units
    return {name: list(cases) for name, cases in compiled.items() if cases[0].suite.name == "supabase"}


def test_there_are_cases_with_two_arms() -> None:
    """At least twelve, with the skill and without; MCP reaches none of them."""
    assert len(units()) >= 12
    assert "auth-rls-new-project" in units()
    for cases in units().values():
        assert ["with-skill", "baseline"] == [case.arm for case in cases]
        assert [["supabase"], []] == [[skill.name for skill in case.setup.skills] for case in cases]
        assert {None} == {case.agent.mcp for case in cases}
        assert {"EVAL_MODEL"} == {case.model.variable for case in cases}


def test_every_case_is_proven_by_tests_that_it_names() -> None:
    """There is a right answer; each wrong one names the hidden tests that it fails; together they fail all of them."""
    for name, (case, _) in units().items():
        assert case.solution is not None
        assert len(case.wrongs) >= 8, name
        assert all(wrong.tests for wrong in case.wrongs), name
        spec = next(check.spec for check in case.checks if isinstance(check.spec, HiddenTestsSpec))
        files = [path for folder in (spec.path, *spec.more) for path in (ROOT / folder).glob("*.test.ts")]
        titles = [title for path in files for title in re.findall(r'^test\("(.*?)", ', path.read_text(), re.MULTILINE)]
        assert spec.collects == len(titles), name
        assert set(titles) == {test for wrong in case.wrongs for _, test in wrong.tests}, name


def test_hidden_tests_never_reach_a_workspace() -> None:
    """What a workspace is made of holds no test, no answer and no part of the harness."""
    for cases in units().values():
        for case in cases:
            given = [case.setup.starter, *(skill.folder for skill in case.setup.skills), "cases/supabase/skeleton"]
            files = [path for folder in given if folder for path in (ROOT / folder).rglob("*") if path.is_file()]
            assert files
            assert not [path for path in files if re.search(r"\.test\.|harness|engine|vitest", path.name)]


def test_nothing_is_to_be_said_of_the_suite() -> None:
    """No error and no warning."""
    found = [finding.diagnostic for finding in check_project(ROOT, "cases").findings]
    assert [] == [item for item in found if item.span and "cases/supabase" in str(item.span)]


def test_the_skill_is_valid() -> None:
    """By the reference validator; and what it refers to is there."""
    skill = SUITE / "skills/supabase"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validate: Any = importlib.import_module("skills_ref").validate
    assert [] == list(validate(skill))
    links = re.findall(r"\]\((references/[^)]+)\)", (skill / "SKILL.md").read_text())
    assert sorted(links) == sorted(f"references/{path.name}" for path in (skill / "references").iterdir())


def runs_of(text: str) -> set[str]:
    """Digests of each eight words in a row."""
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {hashlib.sha256(" ".join(words[at : at + 8]).encode()).hexdigest()[:10] for at in range(len(words) - 7)}


def test_no_sentence_is_taken_over() -> None:
    """Eight words in a row of the description that the suite was built from stand nowhere in it."""
    theirs = set((Path(__file__).parent / "supabase_seed.txt").read_text().split())
    assert len(theirs) > 300
    for path in SUITE.rglob("*"):
        if path.is_file():
            assert not runs_of(path.read_text()) & theirs, path


@pytest.mark.parametrize(("variables", "words", "line"), [
    ({}, [], "run suite:supabase"),
    ({"EVAL_SCENARIO": "realtime-rooms"}, [], "run case:realtime-rooms"),
    ({"EVAL_BASELINE": "true", "BRAINTRUST_UPLOAD": "true"}, ["trials=3"],
     "run suite:supabase arm=all upload=braintrust trials=3"),
    ({"EVAL_BASELINE": "false", "BRAINTRUST_UPLOAD": ""}, [], "run suite:supabase"),
    ({"EVAL_BASELINE": "1"}, ["arm=baseline"], "run suite:supabase arm=all arm=baseline"),  # the last one counts
])
def test_variables_choose_what_runs(variables: dict[str, str], words: list[str], line: str, tmp_path: Path) -> None:
    """As `mise run eval` has them; what else is typed goes on to doit."""
    doit = tmp_path / "doit"
    doit.write_text('#!/bin/sh\necho "$PWD: $*"\n')
    doit.chmod(0o755)
    task = tomllib.loads((ROOT / "mise.toml").read_text())["tasks"]["eval"]["run"]
    done = subprocess.run([*task.split(), *words], cwd=ROOT, env={"PATH": f"{tmp_path}:/usr/bin:/bin", **variables},
                          capture_output=True, text=True, check=True)
    assert f"{ROOT}: {line}\n" == done.stdout


def test_a_variable_that_is_neither_true_nor_false(tmp_path: Path) -> None:
    """Nothing runs on a guess."""
    done = subprocess.run(["sh", SUITE / "eval.sh"], env={"PATH": "/usr/bin:/bin", "EVAL_BASELINE": "maybe"},
                          capture_output=True, text=True, check=False)
    assert (2, "error: EVAL_BASELINE=maybe is neither true nor false\n") == (done.returncode, done.stderr)


def test_a_model_that_is_none_is_told_with_its_variable() -> None:
    """Who has it in a shell, and typed nothing of a model, has to know where it stands."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("EVAL")}
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", "plan", "case:prisma-pooling"], cwd=ROOT,
                          env={**environ, "EVAL_MODEL": "two words"}, capture_output=True, text=True, check=False)
    assert (2, "error: `two words` (from EVAL_MODEL) names no model") == (done.returncode, done.stderr.splitlines()[0])
