"""A model that somebody asks for by name, and that no key opens, stops a run: the reference answer is none to that."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.authoring import doctor
from evalkit.dag.plan import Plan
from evalkit.dag.progress import Progress
from evalkit.errors import UserError
from tests.feature.project import KEY, MiniProject

CASE = "cases/mini/greeting/greeting.eval"
SUITE = "cases/mini/suite.eval"
VARIABLES = '''  model       env MINI_MODEL else "anthropic/claude-sonnet-5"
  judge-model env MINI_JUDGE else "anthropic/claude-opus-4.8"
  about "Small'''


def a_project(tmp_path: Path, case: str = "") -> MiniProject:
    """The suite reads variables for its models. case: put before the case's solution."""
    project = MiniProject.make(tmp_path)
    project.edit(SUITE, '  about "Small', VARIABLES)
    project.edit(CASE, "\n  solution", f"{case}\n  solution")
    return project


def planned(project: MiniProject, environ: dict[str, str], **choices: str) -> set[tuple[str, str | None]]:
    """Who is measured in a run of the case."""
    plan = Plan(project.root, {"HOME": str(project.root), **environ}, choices, Progress())
    try:
        plan.build(["greeting"], asked={"greeting"}, named={"greeting"})
        return {(one.trial.subject.agent, one.trial.subject.model)
                for of_unit in plan.graph.trials.values() for one in of_unit}
    finally:
        plan.close()


def test_where_no_model_is_asked_for_the_reference_answer_is_played(tmp_path: Path) -> None:
    """Without any key, with another vendor's, and where the project itself names a model."""
    project = a_project(tmp_path)
    for environ in ({}, {"OPENAI_API_KEY": KEY}):
        assert {("oracle", None)} == planned(project, environ)
    project.write("pyproject.toml", project.read("pyproject.toml") + '\n[tool.evalkit]\nmodel = "openai/gpt-x"\n')
    assert {("oracle", None)} == planned(project, {"ANTHROPIC_API_KEY": KEY})


@pytest.mark.parametrize(("environ", "choices", "variable"), [
    ({"MINI_MODEL": "openai/gpt-x", "ANTHROPIC_API_KEY": KEY}, {}, "AI_GATEWAY_API_KEY"),
    ({"MINI_MODEL": "anthropic/claude-x"}, {}, "ANTHROPIC_API_KEY"),
    ({"EVALKIT_MODEL": "anthropic/claude-x", "OPENAI_API_KEY": KEY}, {}, "ANTHROPIC_API_KEY"),
    ({"GEMINI_API_KEY": KEY}, {"model": "anthropic/claude-x"}, "ANTHROPIC_API_KEY"),
    ({"ANTHROPIC_API_KEY": KEY}, {"model": "acme/own"}, "AI_GATEWAY_API_KEY"),
    ({"ANTHROPIC_API_KEY": KEY}, {"model": "anthropic/claude-x,google/gemini-x"}, "AI_GATEWAY_API_KEY"),
])
def test_a_model_that_is_asked_for_by_name(environ: dict[str, str], choices: dict[str, str], variable: str,
                                           tmp_path: Path) -> None:
    """Which variable is missing, and how to ask for the self-check; that is one, and dry runs need no key."""
    project = a_project(tmp_path)
    with pytest.raises(UserError) as raised:
        planned(project, environ, **choices)
    assert f"export {variable}=…" in raised.value.hint or f"or {variable}" in raised.value.hint
    assert "agent=oracle plays the reference answer" in raised.value.hint
    assert ("with MINI_MODEL" in raised.value.message) == ("MINI_MODEL" in environ)
    assert {("oracle", None)} == planned(project, environ, agent="oracle", **choices)
    assert {"claude"} == {agent for agent, _ in planned(project, environ, dry="1", **choices)}


@pytest.mark.parametrize(("model", "variable"), [("openai/gpt-x", "OPENAI_API_KEY"), ("google/g", "GEMINI_API_KEY"),
                                                 ("anthropic/claude-x", "ANTHROPIC_API_KEY")])
def test_the_key_of_each_vendor(model: str, variable: str, tmp_path: Path) -> None:
    """An agent that speaks to all of them is told which one; with that key the model is asked."""
    project = a_project(tmp_path, "\n  use agent api\n  skills none\n  answer \"answer.txt\"")
    others = {name: KEY for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY") if name != variable}
    with pytest.raises(UserError, match=f"agent=api with MINI_MODEL needs the model `{model}`, and no key") as raised:
        planned(project, {"MINI_MODEL": model, **others})
    assert f"or {variable})" in raised.value.hint
    assert {("api", model)} == planned(project, {"MINI_MODEL": model, variable: KEY})


@pytest.mark.parametrize(("environ", "choices"), [({"MINI_JUDGE": "openai/j"}, {}), ({}, {"judge_model": "openai/j"})])
def test_the_model_of_a_judge(environ: dict[str, str], choices: dict[str, str], tmp_path: Path) -> None:
    """Where it would judge: a known answer is judged on request alone."""
    project = a_project(tmp_path)
    environ = {"ANTHROPIC_API_KEY": KEY, **environ}
    with pytest.raises(UserError, match="needs the model `openai/j`, and no key for it is set") as raised:
        planned(project, environ, **choices)
    assert "OPENAI_API_KEY" in raised.value.hint
    assert "judge=off" in raised.value.hint
    for more in ({"judge": "off"}, {"dry": "1"}):
        assert {"claude"} == {agent for agent, _ in planned(project, environ, **choices, **more)}
    assert {("oracle", None)} == planned(project, environ, agent="oracle", **choices)


def test_the_doctor_foresees_it(tmp_path: Path) -> None:
    """A line a model: which variable asks for it, and what to export."""
    project = a_project(tmp_path)
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "ANTHROPIC_API_KEY": KEY}

    def told(**more: str) -> list[str]:
        found = doctor.findings(project.root, {**environ, **more})
        return [finding.told for finding in found if finding.what == "model" and finding.works is False]

    assert [] == told(MINI_MODEL="anthropic/claude-x")
    assert ["MINI_MODEL asks for `openai/a`, and no key for it is set",
            "MINI_JUDGE asks for `google/b`, and no key for it is set"] == told(
                MINI_MODEL="openai/a,anthropic/x", MINI_JUDGE="google/b")
    assert ["EVALKIT_MODEL asks for `openai/a`, and no key for it is set"] == told(EVALKIT_MODEL="openai/a")


def test_cases_are_listed_without_a_key(tmp_path: Path) -> None:
    """A variable that is set in a shell hides no case from `doit list`; running one is the mistake."""
    project = a_project(tmp_path)
    project.env["MINI_MODEL"] = "openai/gpt-x"
    assert "case:greeting" in project.doit("list").out
    assert "task_dep" in project.doit("info", "case:greeting").out
    assert 2 == project.doit("run", "case:greeting").status
