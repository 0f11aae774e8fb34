"""Which edit makes which tasks run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.analysis import load_project
from evalkit.analysis.model import Case, Check
from evalkit.digest import digest, digest_path
from evalkit.plan.keys import (
    Contents,
    Inputs,
    agent_inputs,
    changes,
    grade_inputs,
    judge_inputs,
    template_inputs,
    toolchain_inputs,
    workspace_inputs,
)
from evalkit.plan.trials import AgentTraits, Subject, Trial
from evalkit.values import evolve
from tests.unit.language.project import write

SUITE = """suite s {
  about "A suite."
  toolchain t { npm "a@1" }
  scaffold run "make {workspace}"
  limits { turns 5; time 1m }
  agent claude { allow Read; suffix "Stop." }
  define check steps(file-name) { put "{case}/{file-name}" as "a"; run "true" }
}
""".replace("file-name", "name")
CASE = """case it {
  about "A case."
  prompt "PROMPT.md"
  starter "skeleton"
  skills writing from "skills"
  prewarm "warm"
  check grep "*.txt" has "x" as found "It is found."
  check steps "empty.md" as steps
  judge "taste" as taste { files "*.md"; pass at 6; criterion "Good." }
  solution "solution"
}
"""
TREE = {"a.txt": "1", "b.md": "2"}
CLAUDE = AgentTraits("2.0", frozenset({"prompt", "model", "tools", "limits"}), sampled=True, builds=True)
NOP = AgentTraits("1", frozenset(), sampled=False, builds=False)


class Setting:
    """A project that tests edit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        write(root, {"cases/s/it.eval": CASE}, suite=SUITE)

    @property
    def case(self) -> Case:
        return load_project(self.root).cases["it"]

    @property
    def contents(self) -> Contents:
        return lambda path: digest_path(self.root / path)

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / "cases/s" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def inputs(self) -> dict[str, Inputs]:
        case, contents = self.case, self.contents
        found, steps = case.checks
        claude = Trial(case, Subject("claude", "a/b"), CLAUDE, 1, "latest")
        oracle = Trial(case, Subject("oracle"), NOP, 1, "latest")
        return {
            "template": template_inputs(case.setup, contents),
            "workspace": workspace_inputs(case.setup, contents),
            "agent": agent_inputs(claude, contents),
            "oracle": agent_inputs(oracle, contents),
            "grep": grade_inputs(case, found, TREE, "grep 1", "local", contents),
            "steps": grade_inputs(case, steps, TREE, "run 1", "local", contents),
            "judge": judge_inputs(case, case.judges[0], TREE, ("c/d",), "judge 1", "on"),
        }


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


EDITS: list[tuple[str, str, str, str, dict[str, str]]] = [
    ("the case's about", "it.eval", "A case.", "Some case.", {}),
    ("the suite's about", "suite.eval", "A suite.", "Some suite.", {}),
    ("a comment", "it.eval", "  prompt", "  # new\n\n  prompt", {}),
    ("a description", "it.eval", "It is found.", "It was found.", {}),
    ("a check's name", "it.eval", "as found", "as seen", {}),
    ("the prewarm", "it.eval", '  prewarm "warm"\n', "", {"agent": "prewarm changed"}),
    ("the order of statements", "it.eval", '  starter "skeleton"\n  skills writing from "skills"\n',
     '  skills writing from "skills"\n  starter "skeleton"\n', {}),
    ("the prompt", "PROMPT.md", "Do it.", "Do that.", {"agent": "prompt changed", "judge": "prompt changed"}),
    ("the suffix", "suite.eval", "Stop.", "Go on.", {"agent": "prompt suffix changed"}),
    ("the turns", "suite.eval", "turns 5", "turns 6", {"agent": "turn limit 5 → 6"}),
    ("the time", "suite.eval", "time 1m", "time 2m", {"agent": "time limit 60 → 120"}),
    ("a limit's spelling", "suite.eval", "time 1m", "time 60s", {}),
    ("an allow rule", "suite.eval", "allow Read", "allow Write", {"agent": "allow list changed"}),
    ("a starter file", "skeleton/note.txt", "n", "m", {
        "workspace": "starter cases/s/skeleton changed", "agent": "workspace changed", "oracle": "workspace changed"}),
    ("a skill", "skills/writing/SKILL.md", "w", "W", {
        "workspace": "skill writing changed", "agent": "workspace changed", "oracle": "workspace changed"}),
    ("another skill of the folder", "skills/reading/SKILL.md", "r", "R", {}),
    ("the answer", "solution/note.txt", "s", "S", {"oracle": "answer cases/s/solution changed"}),
    ("a wrong answer", "wrong/one/note.txt", "1", "2", {}),
    ("a pattern", "it.eval", 'has "x"', 'has "y"', {"grep": "check changed"}),
    ("has and lacks", "it.eval", "has", "lacks", {"grep": "check changed"}),
    ("a file that a check puts", "empty.md", " ", "  ", {"steps": "cases/s/empty.md changed"}),
    ("a criterion", "it.eval", "Good.", "Better.", {"judge": "rubric changed"}),
    ("votes", "it.eval", 'criterion "Good."', 'criterion "Good."; votes 3', {"judge": "votes 1 → 3"}),
    ("a threshold", "it.eval", "pass at 6", "pass at 7", {}),
    ("the scaffold", "suite.eval", "make {workspace}", "make -j {workspace}", {
        "template": "scaffold command changed", "workspace": "template changed", "agent": "workspace changed",
        "oracle": "workspace changed"}),
    ("a pin", "suite.eval", "a@1", "a@2", {
        "template": "toolchain t changed", "workspace": "template changed", "oracle": "workspace changed",
        "agent": "workspace changed, toolchain t changed", "steps": "toolchain t changed"}),
]


@pytest.mark.parametrize(("file", "old", "new", "expected"), [edit[1:] for edit in EDITS],
                         ids=[edit[0] for edit in EDITS])
def test_an_edit_changes_the_inputs_that_read_it(file: str, old: str, new: str, expected: dict[str, str],
                                                 setting: Setting) -> None:
    """Each task's inputs change where it reads what was edited, and say so by name; no other's do."""
    before = setting.inputs()
    setting.edit(file, old, new)
    after = setting.inputs()

    assert expected == {name: changes(before[name], after[name]) for name in before if before[name] != after[name]}


def trial(setting: Setting, *, agent: str = "claude", model: str | None = "a/b", traits: AgentTraits = CLAUDE,
          number: int = 1, run: str = "latest", dry: bool = False) -> Inputs:
    return agent_inputs(Trial(setting.case, Subject(agent, model), traits, number, run, dry=dry), setting.contents)


@pytest.mark.parametrize(("change", "expected"), [
    (lambda s: trial(s), ""),
    (lambda s: trial(s, model="c/d"), "model a/b → c/d"),
    (lambda s: trial(s, number=2), "trial 1 → 2"),
    (lambda s: trial(s, run="other"), "run is new"),
    (lambda s: trial(s, dry=True), "dry is new"),
    (lambda s: trial(s, traits=AgentTraits("2.1", CLAUDE.reads, sampled=True, builds=True)), "agent version 2.0 → 2.1"),
])
def test_a_choice_changes_the_agents_inputs(change: Callable[[Setting], Inputs], expected: str,
                                            setting: Setting) -> None:
    """Another model, trial, run or version asks for another sample; the same ones do not."""
    assert expected == changes(trial(setting), change(setting))


def test_an_agent_that_reads_nothing_is_one_sample(setting: Setting) -> None:
    """Its key has no trial, no run, no prompt and no limit."""
    inputs = trial(setting, agent="nop", model=None, traits=NOP)

    assert {"workspace", "agent", "agent version", "lane"} == set(inputs)
    assert inputs == trial(setting, agent="nop", model=None, traits=NOP, number=2, run="other")


def test_where_an_agent_looks_for_skills_is_its_workspaces(setting: Setting) -> None:
    """Another folder is another workspace; the usual one is no part of a key."""
    other = evolve(CLAUDE, skills_folder=".other/skills")
    usual = workspace_inputs(setting.case.setup, setting.contents)
    moved = workspace_inputs(setting.case.setup, setting.contents, ".other/skills")

    assert {"skills folder": ".other/skills"} == {name: moved[name] for name in moved if name not in usual}
    assert "workspace changed" == changes(trial(setting), trial(setting, traits=other))


def test_a_grep_reads_only_the_files_that_it_matches(setting: Setting) -> None:
    """Another file of the tree, or the lane, is nothing to it; a command reads the whole tree."""
    case, contents = setting.case, setting.contents
    found, steps = case.checks

    def inputs(tree: dict[str, str], lane: str = "local") -> list[str]:
        return [digest(grade_inputs(case, check, tree, "1", lane, contents)) for check in (found, steps)]

    same, other_file = inputs(TREE), inputs({**TREE, "b.md": "3"})
    assert (same[0], False) == (other_file[0], same[1] == other_file[1])
    assert same[0] != inputs({**TREE, "c.txt": "3"})[0]
    assert (same[0], False) == (inputs(TREE, "sandbox")[0], same[1] == inputs(TREE, "sandbox")[1])


def test_a_check_of_some_lanes_reads_the_lane(setting: Setting) -> None:
    """Whether it is skipped depends on it."""
    setting.edit("it.eval", "as found", "as found on sandbox")
    case = setting.case

    def inputs(lane: str) -> Inputs:
        return grade_inputs(case, case.checks[0], TREE, "1", lane, setting.contents)

    assert "lane local → sandbox" == changes(inputs("local"), inputs("sandbox"))


def test_a_judge_that_does_not_judge_reads_nothing(setting: Setting) -> None:
    """Its key is the reason alone."""
    case = setting.case

    assert {"grader": "1", "judging": "judge=off"} == judge_inputs(case, case.judges[0], TREE, ("m",), "1", "judge=off")


def test_a_copied_scaffold_needs_no_toolchain(setting: Setting) -> None:
    """The template is the folder's contents."""
    setting.edit("suite.eval", 'scaffold run "make {workspace}"', 'scaffold copy "skeleton"')

    assert {"layout", "scaffold cases/s/skeleton"} == set(template_inputs(setting.case.setup, setting.contents))


def test_a_toolchain_is_its_pins_and_the_platform(setting: Setting) -> None:
    """Its name and its place in the file do not count."""
    before = toolchain_inputs(setting.case.setup.toolchains[0])
    setting.edit("suite.eval", "toolchain t", "\n\ntoolchain tools")

    assert before == toolchain_inputs(setting.case.setup.toolchains[0])
    assert {"layout", "npm pins", "pip pins", "programs", "environment", "platform"} == set(before)


@pytest.mark.parametrize(("before", "now", "expected"), [
    (None, {"a": "1"}, "never run"),
    ({"a": "1"}, {"a": "1"}, ""),
    ({"a": "1"}, {"a": "2"}, "a 1 → 2"),
    ({"a": "x" * 64}, {"a": "y" * 64}, "a changed"),
    ({"a": "x" * 64}, {"a": "y"}, "a changed"),
    ({}, {"a": "1"}, "a is new"),
    ({"a": "1"}, {}, "a is gone"),
    ({"b": "1", "a": "1"}, {"a": "2", "c": "3"}, "a 1 → 2, c is new, b is gone"),
])
def test_changes_in_words(before: Inputs | None, now: Inputs, expected: str) -> None:
    """Each input that differs is named; short values are shown, digests are not."""
    assert expected == changes(before, now)


MORE: list[tuple[str, str, dict[str, str]]] = [
    ("guidance", 'guidance "PROMPT.md"', {"agent": "guidance cases/s/PROMPT.md is new"}),
    ("a contract", 'contract "PROMPT.md"', {"agent": "contract cases/s/PROMPT.md is new"}),
    ("a temperature", "temperature 0.5", {"agent": "temperature is new"}),
    ("a cost limit", "limits { cost $2 }", {"agent": "cost limit is new"}),
    ("a token limit", "limits { tokens 5 }", {"agent": "token limit is new"}),
    ("permissions", "agent claude { permissions skip }", {"agent": "permissions is new"}),
    ("an MCP configuration", 'agent claude { mcp "PROMPT.md" }', {"agent": "mcp cases/s/PROMPT.md is new"}),
    ("tags", "tags quick", {}),
    ("trials", "trials 3", {}),
    ("an allowed warning", 'allow W001 "meant"', {}),
]


@pytest.mark.parametrize(("statement", "expected"), [more[1:] for more in MORE], ids=[more[0] for more in MORE])
def test_what_a_case_says_more_is_an_input_more(statement: str, expected: dict[str, str], setting: Setting) -> None:
    """Statements that came later have a part in a key only where they stand."""
    before = setting.inputs()
    setting.edit("it.eval", '  prompt "PROMPT.md"', f'  {statement}\n  prompt "PROMPT.md"')
    after = setting.inputs()

    assert expected == {name: changes(before[name], after[name]) for name in before if before[name] != after[name]}


def test_what_new_checks_read(setting: Setting) -> None:
    """A check of the transcript reads no tree; hidden tests read their own files; a score, the answer."""
    setting.edit("it.eval", "  prompt", """
        answer "a.txt"
        check transcript has "x" as seen
        check exists "*.md" as there
        check hidden-tests "empty.md" run "t {report}" as hidden
        score code as score { language python; apis "x" }
        prompt""")
    case = setting.case
    seen, there, hidden, score = (next(check for check in case.checks if check.id == name)
                                  for name in ("seen", "there", "hidden", "score"))

    def inputs(check: Check, tree: dict[str, str]) -> set[str]:
        return set(grade_inputs(case, check, tree, "1", "local", setting.contents, "digest"))

    assert {"grader", "check", "transcript"} == inputs(seen, TREE)
    assert {"grader", "check", "matching files"} == inputs(there, TREE)
    assert {"grader", "check", "answer"} == inputs(score, TREE)
    assert {"grader", "check", "final tree", "lane", "toolchain t", "cases/s/empty.md"} == inputs(hidden, TREE)


def test_an_arm_is_a_sample_of_its_own(setting: Setting) -> None:
    """Two arms that ask the same do not share their samples."""
    setting.edit("suite.eval", '  about "A suite."', '  arm a { }\n  arm b { }\n  about "A suite."')
    first, second = load_project(setting.root).units["it"]

    one, other = (agent_inputs(Trial(unit, Subject("claude", "m"), CLAUDE, 1, "latest"), setting.contents)
                  for unit in (first, second))
    assert "arm a → b" == changes(one, other)
