"""The suite `viewer`: its counts, and that each of its cases takes what is right and nothing that is wrong.

No model is called. The models are scripts with the answers of viewer_answers.py; they go all the way: through the
gateway, the agent `tools`, the real commands, and the graders.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from viewer import tool_definitions
from viewer.schema import problems

from evalkit.analysis import load_project
from evalkit.analysis.model_calls import AnyOrder, CallsSpec, Either, Expected
from evalkit.analysis.model_calls import Call as ExpectedCall
from tests.feature.project import MiniProject
from tests.feature.viewer_answers import LOOKS, RIGHT, WRONG, Call
from tests.feature.viewer_models import ROOT, viewer_project, write_script

CASES = {case.name: case for case in load_project(ROOT, "cases/viewer").cases_of("viewer")}
COMMANDS = {one["name"]: one for one in tool_definitions()}
SPATIAL = {"selectBox", "setSection", "lookAlong", "setCameraReal", "measureDistance"}
PROMPTS = {name: case.prompt.strip() for name, case in CASES.items()}


# ---- the set ----
def test_the_counts() -> None:
    assert 69 == len(CASES)
    assert {"deterministic": 29, "spatial": 13, "guarded": 13, "read": 14} == Counter(
        case.tier for case in CASES.values())
    assert {"det": 29, "read": 12, "sp": 13, "gd": 5, "fd": 10} == Counter(name.partition("-")[0] for name in CASES)


def test_prefixes_are_those_of_the_tiers() -> None:
    """Findings are in two tiers."""
    tiers = {"det": {"deterministic"}, "read": {"read"}, "sp": {"spatial"}, "gd": {"guarded"},
             "fd": {"guarded", "read"}}
    assert tiers == {prefix: {case.tier for name, case in CASES.items() if name.startswith(prefix + "-")}
                     for prefix in tiers}


def test_no_prompt_comes_twice_and_none_names_a_command() -> None:
    """Zoom is a word, too."""
    assert 69 == len({prompt.casefold() for prompt in PROMPTS.values()})
    names = [one["name"] for one in tool_definitions() if one["name"] != "zoom"]
    assert not [(name, prompt) for prompt in PROMPTS.values() for name in names if name.casefold() in prompt.casefold()]


def calls(expected: Iterable[Expected]) -> Iterator[ExpectedCall]:
    """The calls of a sequence, of all branches and items."""
    for one in expected:
        if isinstance(one, Either):
            for branch in one.branches:
                yield from calls(branch)
        elif isinstance(one, AnyOrder):
            yield from calls(one.items)
        else:
            yield one


@pytest.mark.parametrize("name", CASES)
def test_what_is_expected_exists(name: str) -> None:
    """Commands, their arguments and values, and what the tier says of them; `evalkit check` says it of any suite."""
    specs = [check.spec for check in CASES[name].checks if isinstance(check.spec, CallsSpec)]
    expected = [call for spec in specs for sequence in spec.sequences for call in calls(sequence)]
    forbidden = {name for spec in specs for name in (*spec.never, *(call.name for call in spec.never_calls))}
    assert expected
    assert forbidden <= set(COMMANDS)
    for call in expected:
        known = COMMANDS[call.name]["input_schema"]["properties"]
        for test in call.arguments:
            assert test.key in known
            for value in test.values if test.test in ("is", "one of") else ():
                assert [] == list(problems(value, known[test.key]))
    hints = {hint: {command for command, one in COMMANDS.items() if one["annotations"][hint]}
             for hint in ("readOnlyHint", "destructiveHint")}
    named = {call.name for call in expected}
    assert {"deterministic": not named & hints["destructiveHint"], "read": named <= hints["readOnlyHint"],
            "spatial": bool(named & SPATIAL), "guarded": bool((named | forbidden) & hints["destructiveHint"]),
            }[CASES[name].tier or ""]


FAULTS = [  # the case's tier and what it says; where the fault is, and its code
    ("deterministic", 'expect setColourMode(mode: "rgb")', "setColourMode", "E081"),
    ("deterministic", 'expect zoom(factor > 1); never deleteAll', "deleteAll", "E081"),
    ("deterministic", 'expect either { fitAll } or { fitSome }', "fitSome", "E081"),
    ("deterministic", 'expect setColorMode(mode: "height")', "mode", "E082"),
    ("deterministic", 'expect setColorMode(colour: "rgb")', "colour", "E082"),
    ("deterministic", "expect setColorMode(mode: 1)", "mode", "E082"),
    ("deterministic", 'expect setPointSize(px: "4")', "px", "E082"),
    ("deterministic", "expect setPointSize(px > 20)", "px", "E082"),
    ("deterministic", "expect setPointSize(px in 21..30)", "px", "E082"),
    ("deterministic", "expect setPointSize(px string)", "px", "E082"),
    ("deterministic", "expect setGrid(visible: 1)", "visible", "E082"),
    ("deterministic", 'expect setLayerVisible(layer one of "mesh", "roof")', "layer", "E082"),
    ("deterministic", "expect setLayerOpacity(opacity: 50)", "opacity", "E082"),
    ("deterministic", "expect measureDistance(from any)", "measureDistance", "E083"),
    ("read", "expect fitAll", "fitAll", "E083"),
    ("read", "expect either { getState } or { clearSelection }", "clearSelection", "E083"),
    ("spatial", "expect fitAll", "spatial", "E083"),
    ("guarded", 'expect createFinding(kind: "crack")', "guarded", "E083"),
    ("spatial", "expect measureDistance(from: [1, 2])", "from", "E082"),
    ("spatial", "expect measureDistance(to approx 4 within 1)", "to ", "E082"),
    ("guarded", 'expect publishFinding(id: 2) confirmed', "id", "E082"),
]


def test_planted_faults_are_found_where_they_are(tmp_path: Path) -> None:
    project = viewer_project(tmp_path)
    lines = [f'case fault-{number} {tier} "Fault {number}" {{ {says} }}' for number, (tier, says, *_) in
             enumerate(FAULTS, 1)]
    project.write("cases/viewer/faults.eval", "\n".join(lines) + "\n")
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", "check"], cwd=project.root, env=project.environ,
                          capture_output=True, text=True, check=False, timeout=120)
    found = re.findall(r"^error\[(E\d+)\].*\n *--> cases/viewer/faults\.eval:(\d+):(\d+)$", done.stdout + done.stderr,
                       re.MULTILINE)
    wanted = []
    for number, (line, (tier, _, where, code)) in enumerate(zip(lines, FAULTS, strict=True), 1):
        column = line.index(where, 0 if where == tier else line.index("{")) + 1
        wanted.append((code, str(number), str(column)))
    assert sorted(wanted) == sorted(found)


def test_each_case_has_a_right_and_a_wrong_answer() -> None:
    assert set(CASES) == set(RIGHT) == set(WRONG)
    assert not [name for name in RIGHT if RIGHT[name] == WRONG[name]]


def test_every_command_that_acts_is_asked_for() -> None:
    """But for what undoes others."""
    called = {name for calls in RIGHT.values() for name, _ in calls}
    undo = {"clearSelection", "clearSection", "clearMeasurements"}
    unused = {one["name"] for one in tool_definitions()} - called
    assert undo | {"listFindingKinds"} == unused


# ---- models of all kinds ----
@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> MiniProject:
    return viewer_project(tmp_path_factory.mktemp("viewer"))


def passed(project: MiniProject, run: str, *choices: str, cases: Sequence[str] = ()) -> dict[str, bool]:
    """Which cases passed, of all or of these. Each must have been graded: an error is no fail."""
    selected = [f"case:{name}" for name in cases] or ["suite:viewer"]
    done = project.doit("run", *selected, "judge=off", f"run={run}", *choices, timeout=600)
    assert done.status in (0, 1), done.err + done.out
    found = {}
    for path in project.path(f"results/{run}").rglob("result.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        verdicts = [check["verdict"] for check in result["checks"]]
        assert all(verdict["status"] in ("pass", "fail") for verdict in verdicts), (path, verdicts)
        found[result["case"]] = all(verdict["status"] == "pass" for verdict in verdicts)
    assert set(cases or CASES) == set(found)
    return found


def played(project: MiniProject, name: str, answers: Mapping[str, Sequence[Call]]) -> set[str]:
    """The cases that a scripted model passes, of those that it has answers for."""
    choice = write_script(project, name, PROMPTS, answers)
    found = passed(project, name, "agent=tools", choice, cases=[] if set(answers) == set(CASES) else list(answers))
    return {case for case, ok in found.items() if ok}


def test_right_answers_pass(project: MiniProject) -> None:
    """Whatever their style: another command that does the same, other numbers in the range, a try that is rejected."""
    assert set(CASES) == played(project, "right", RIGHT)


def test_who_looks_first_passes(project: MiniProject) -> None:
    """Reads before, between and after cost nothing."""
    looking = {name: [*LOOKS, *(call for act in calls for call in (act, ("getState", {})))]
               for name, calls in RIGHT.items()}
    assert set(CASES) == played(project, "looking", looking)


def test_wrong_answers_fail(project: MiniProject) -> None:
    assert set() == played(project, "wrong", WRONG)


def test_who_publishes_on_their_own_fails_where_only_filing_was_asked_for(project: MiniProject) -> None:
    """Who does everything right and publishes what was filed: three cases forbid that, and no other one fails."""
    eager: dict[str, list[Call]] = {}
    for name, calls in RIGHT.items():
        did = {command for command, _ in calls}
        files = "createFinding" in did and "publishFinding" not in did
        if CASES[name].tier == "guarded":
            eager[name] = [*calls, ("publishFinding", {"id": "F-5"})] if files else calls
    eager["fd-no-autopublish"] = WRONG["fd-no-autopublish"]
    assert {"fd-no-autopublish", "fd-crack-width", "fd-no-made-up-value"} == set(eager) - played(
        project, "eager", eager)


def test_the_reference_answer_passes(project: MiniProject) -> None:
    assert {True} == set(passed(project, "oracle", "agent=oracle").values())


def test_who_does_nothing_fails(project: MiniProject) -> None:
    assert {False} == set(passed(project, "nop", "agent=nop").values())
