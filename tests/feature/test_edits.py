"""What runs again after an edit: exactly what reads what was edited; and what that costs: nothing, where it is grading.

Every edit of the table is made alone to a project that has settled, and taken back again. Two things are told each
time: the tasks that ran, from the run's own lines, and the agents that were started, from the agent's own count.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import field, frozen

from evalkit.cli import main
from evalkit.gateway import ScriptedGateway
from tests.feature.conftest import judged_project
from tests.feature.project import MiniProject
from tests.feature.warm import REPOSITORY

SUITE = "cases/mini/suite.eval"
CASE = "cases/mini/greeting/greeting.eval"

SUITE_TEXT = """\
suite mini {
  about "Small things that need no tools."
  toolchain words {
    env GREETED = "reader"
  }
  model       env MINI_MODEL else "anthropic/claude-sonnet-5"
  judge-model "anthropic/claude-opus-4.8"
  agent claude { allow "Bash(ls *)"; mcp none }
  limits { turns 5; time 30s }

  profile note {
    scaffold copy "skeleton"
    skills writing from "skills/writing"
    caches "cache"
  }
  profile letter extends note {
    prewarm "true"
  }

  arm plain  { about "As it is asked." }
  arm capped { limits { turns 4 } }

  define check not-empty "no text is empty" {
    each "*.txt" run "test -s {file}"
  }
}
"""

CASE_TEXT = """\
case greeting {
  about "Writes a greeting."
  use note
  starter "starter"
  prompt \"\"\"
    Write a greeting into answer.txt.
    \"\"\"
  check run "sh check.sh" as own "the workspace's own check passes"
  check run "false" as other-arm for arm capped advisory
  check hidden-tests "hidden" run "sh hidden.sh {report}" as hidden
  check grep "answer.txt" has /hello/i as greets "it says hello"
  check grep "answer.txt" lacks "TODO" as finished
  check exists "answer.*" as there
  check not-empty as not-empty
  judge "tone" as tone {
    files "answer.txt"
    pass at 6, advisory
    criterion "It is friendly."
  }
}
"""

HIDDEN = """\
grep -q Hello answer.txt && [ "$GREETED" ] || exit 1
echo '<testsuite><testcase classname="greeting" name="greets"/></testsuite>' > "$1"
"""

FILES = {
    SUITE: SUITE_TEXT,
    CASE: CASE_TEXT,
    "cases/mini/greeting/hidden/hidden.sh": HIDDEN,
    "cases/mini/letter/letter.eval": """\
case letter {
  use note
  prompt \"\"\"
    Write a letter into answer.txt.
    \"\"\"
  check grep "answer.txt" has /hello/i as greets
}
""",
}

RESULT = {"result", "report"}
IN_COPIES = {f"grade {check}" for check in ("own", "hidden", "not-empty")}
"""Checks that run commands in a copy of the final tree: any file of it is theirs."""
ON_ANSWER = {f"grade {check}" for check in ("greets", "finished", "there")} | {"judge tone"}
"""What reads the agent's answer and no other file."""
GRADES = IN_COPIES | ON_ANSWER
TRIAL = {"workspace", "agent", *GRADES, "grade other-arm", *RESULT}
"""All of a trial; one of its checks is skipped, and reads nothing."""
NOTHING: set[str] = set()


@frozen
class Edit:
    """An edit: of a file's text, or by a function (and another that takes it back).

    runs: the tasks that run because of it. back: those that run when it is taken back, where they are others. agents:
    how many agents are started because of it, asked: how often the judge is asked (never, when it is taken back).
    """

    what: str
    file: str
    old: str
    new: str
    runs: set[str]
    back: set[str] | None = field(default=None, kw_only=True)
    agents: int = field(default=0, kw_only=True)
    asked: int = field(default=0, kw_only=True)


# The agent that runs again because of its limits, say, leaves an equal tree: then nothing that reads the tree has to.
EDITS = [
    # ---- what nothing reads ----
    Edit("a comment", CASE, "case greeting {", "# a comment\ncase greeting {", NOTHING),
    Edit("about", CASE, "Writes a greeting.", "Writes some greeting.", NOTHING),
    Edit("the suite's about", SUITE, "Small things", "Little things", NOTHING),
    Edit("an arm's about", SUITE, "As it is asked.", "As asked.", NOTHING),
    Edit("the order of statements", CASE, '  use note\n  starter "starter"\n', '  starter "starter"\n  use note\n',
         NOTHING),
    Edit("the order of checks", CASE, 'exists "answer.*" as there\n  check not-empty as not-empty\n',
         'not-empty as not-empty\n  check exists "answer.*" as there\n', NOTHING),
    # ---- grading alone ----
    Edit("a judge's criterion", CASE, "It is friendly.", "It is very friendly.", {"judge tone", *RESULT}, asked=1),
    Edit("a judge's title", CASE, 'judge "tone"', 'judge "its tone"', {"judge tone", *RESULT}, asked=1),
    Edit("a judge's threshold", CASE, "pass at 6", "pass at 7", RESULT),
    Edit("the judge's model", SUITE, "claude-opus-4.8", "claude-opus-4.9", {"judge tone", *RESULT}, asked=1),
    Edit("a grep's pattern", CASE, "/hello/i", "/hell+o/i", {"grade greets", *RESULT}),
    Edit("an exists' glob", CASE, '"answer.*"', '"answer.t*"', {"grade there", *RESULT}),
    Edit("a check's command", CASE, "sh check.sh", "sh ./check.sh", {"grade own", *RESULT}),
    Edit("a check's description", CASE, "it says hello", "it greets", RESULT),
    Edit("a hidden test", "cases/mini/greeting/hidden/hidden.sh", "grep -q", "grep -s -q", {"grade hidden", *RESULT}),
    Edit("a hidden test's command", CASE, "sh hidden.sh", "sh ./hidden.sh", {"grade hidden", *RESULT}),
    Edit("a defined check", SUITE, "test -s {file}", "test -r {file}", {"grade not-empty", *RESULT}),
    Edit("a check more", CASE, '  check exists "answer.*" as there\n',
         '  check exists "answer.*" as there\n  check exists "notes.txt" as notes\n', {"grade notes", *RESULT},
         back=RESULT),
    Edit("an id of a check", CASE, "as finished", "as done", {"grade done", *RESULT}, back=RESULT),
    # ---- the agent ----
    Edit("the prompt", CASE, "Write a greeting into", "Put a greeting into", {"agent", *GRADES, *RESULT}, agents=1,
         asked=1),
    Edit("the turn limit", SUITE, "turns 5", "turns 6", {"agent", *RESULT}, agents=1),
    Edit("the time limit", SUITE, "time 30s", "time 31s", {"agent", *RESULT}, agents=1),
    Edit("the allow list", SUITE, "Bash(ls *)", "Bash(cat *)", {"agent", *RESULT}, agents=1),
    # ---- what the agent starts from ----
    Edit("a skill", "cases/mini/skills/writing/SKILL.md", "Be brief.", "Be short.",
         {"workspace", "agent", *IN_COPIES, *RESULT}, agents=1),
    Edit("the starter", "cases/mini/greeting/starter/notes.txt", "Greet", "Do greet",
         {"workspace", "agent", *IN_COPIES, *RESULT}, agents=1),
    Edit("the scaffold", "cases/mini/skeleton/README.txt", "checks it", "proves it",
         {"template", "workspace", "agent", *IN_COPIES, *RESULT}, agents=1),
    Edit("the caches", SUITE, 'caches "cache"', 'caches "cache", "tmp"', NOTHING),
    Edit("the profile", CASE, "use note", "use letter", {"template", "agent", *RESULT}, back={"agent", *RESULT},
         agents=1),
    Edit("a toolchain's pin", SUITE, '"reader"', '"all"', {"toolchain", "agent", *IN_COPIES, *RESULT}, agents=1),
    # ---- other trials: the earlier ones stay as they are, and are not asked for ----
    Edit("the suite's default model", SUITE, "claude-sonnet-5", "claude-sonnet-6", TRIAL, back=NOTHING, agents=1),
]


@frozen
class Settled:
    """A project that has run until nothing ran any more, with a count of the agents that were started."""

    project: MiniProject
    gateway: ScriptedGateway
    count: Path

    def run(self, *args: str) -> tuple[set[str], int, int]:
        """Run the case: the tasks that ran, how many agents were started, and how many times the judge was asked."""
        agents, asked = self._counted()
        done = self.project.doit("run", "case:greeting", *args)
        assert 0 == done.status, done.err + done.out
        now = self._counted()
        return set(done.ran), now[0] - agents, now[1] - asked

    def _counted(self) -> tuple[int, int]:
        return self.count.read_text().count("run"), len(self.gateway.main_requests)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settled]:
    """Settled for one module's tests: each leaves it as it was."""
    folder = tmp_path_factory.mktemp("edits")
    with judged_project(folder) as (project, gateway):
        project.warm = True
        for name, text in FILES.items():
            project.write(name, text)
        made = Settled(project, gateway, folder / "fake/runs")
        ran, agents, asked = made.run()
        assert ({"toolchain", "template", *TRIAL}, 1, 1) == (
            ran, agents, asked)
        for _ in range(2):  # the first of them looks at every task, the second at none
            assert (NOTHING, 0, 0) == made.run()
        yield made


@pytest.mark.parametrize("edit", EDITS, ids=[edit.what for edit in EDITS])
def test_an_edit_runs_exactly_what_reads_it(settled: Settled, edit: Edit) -> None:
    """The tasks that run are those of the table. Taken back, they run again, but no agent is started, nor a judge
    asked: what they said to the earlier version is in the store.
    """
    settled.project.edit(edit.file, edit.old, edit.new)
    edited = settled.run()
    settled.project.edit(edit.file, edit.new, edit.old)
    back = settled.run()
    assert (edit.runs, edit.agents, edit.asked) == edited
    assert (edit.runs if edit.back is None else edit.back, 0, 0) == back


def test_the_formatter_moves_nothing(settled: Settled, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another layout is another text and the same case, before it is formatted and after."""
    kept = settled.project.read(CASE)
    monkeypatch.chdir(settled.project.root)
    settled.project.write(CASE, kept.replace("  ", "\t ").replace('" as ', '"    as '))
    try:
        assert (NOTHING, 0, 0) == settled.run()
        assert 0 == main(["fmt", CASE])
        assert kept != settled.project.read(CASE).replace("\n", "")
        assert (NOTHING, 0, 0) == settled.run()
    finally:
        settled.project.write(CASE, kept)
    assert (NOTHING, 0, 0) == settled.run()


def test_a_case_more_is_no_business_of_the_others(settled: Settled) -> None:
    """Another case, an edit of one, and its end: nothing of this one runs."""
    other = "cases/mini/other/other.eval"
    settled.project.write(other, settled.project.read("cases/mini/letter/letter.eval").replace("letter", "other"))
    assert (NOTHING, 0, 0) == settled.run()
    settled.project.edit(other, "/hello/i", "/hullo/i")
    assert (NOTHING, 0, 0) == settled.run()
    settled.project.path(other).unlink()
    assert (NOTHING, 0, 0) == settled.run()


def test_a_run_of_the_suite_runs_the_other_case_alone(settled: Settled) -> None:
    """What one case settled is settled for every selection that it is part of."""
    done = settled.project.doit("run", "suite:mini")
    assert 0 == done.status, done.err
    assert {"workspace", "agent", "grade greets", *RESULT} == set(done.ran)
    assert NOTHING == set(settled.project.doit("run", "all").ran)
    assert (NOTHING, 0, 0) == settled.run()


def test_a_case_with_another_name_is_measured_anew_but_not_paid_for(settled: Settled) -> None:
    """Its trial has another name: all of its tasks are new. What the agent did to equal inputs is in the store."""
    project = settled.project
    project.edit(CASE, "case greeting {", "case welcome {")
    try:
        agents = settled.count.read_text()
        renamed = project.doit("run", "case:welcome")
        assert 0 == renamed.status, renamed.err
        assert TRIAL == set(renamed.ran)
        assert agents == settled.count.read_text()
    finally:
        project.edit(CASE, "case welcome {", "case greeting {")
    ran, started, asked = settled.run()
    assert (0, 0) == (started, asked)
    assert ran <= {"report"}


def test_a_trial_more_runs_that_trial(settled: Settled) -> None:
    """From one trial to two one agent is started; back at one nothing runs."""
    ran, agents, _ = settled.run("trials=2")
    assert TRIAL == ran
    assert 1 == agents
    ran, agents, _ = settled.run()
    assert (0, True) == (agents, ran <= {"report"})
    assert (NOTHING, 0, 0) == settled.run("trials=2")


def test_another_arm_is_a_unit_of_its_own(settled: Settled) -> None:
    """Switching to it runs its own tasks, an edit of it those that it changes, switching back none."""
    ran, agents, _ = settled.run("arm=capped")
    assert TRIAL == ran
    assert 1 == agents
    assert (NOTHING, 0, 0) == settled.run("arm=plain")
    settled.project.edit(SUITE, "turns 4", "turns 3")
    try:
        assert (NOTHING, 0, 0) == settled.run("arm=plain")
        assert ({"agent", *RESULT}, 1, 0) == settled.run("arm=capped")
    finally:
        settled.project.edit(SUITE, "turns 3", "turns 4")
    assert ({"agent", *RESULT}, 0, 0) == settled.run("arm=all")


def test_another_model_on_the_command_line(settled: Settled) -> None:
    """It is a subject of its own, with an agent run of its own; without it nothing runs."""
    ran, agents, _ = settled.run("model=anthropic/claude-haiku-5")
    assert TRIAL == ran
    assert 1 == agents
    assert (NOTHING, 0, 0) == settled.run()


def test_the_graders_own_code_is_an_input_of_what_it_graded(settled: Settled, tmp_path: Path) -> None:
    """Another evalkit looks at every task. Its greps run again where they are of another version, and nothing else;
    back at the first evalkit the same.
    """
    def run(code: Path) -> set[str]:
        done = MiniProject(settled.project.root, {**settled.project.env, "PYTHONPATH": str(code)}).doit(
            "run", "case:greeting")
        assert 0 == done.status, done.err
        return set(done.ran)

    agents = settled.count.read_text()
    for part in ("evalkit", "grammar"):
        shutil.copytree(REPOSITORY / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    assert NOTHING == run(tmp_path)
    grep = tmp_path / "evalkit/grade/grep.py"
    grep.write_text(re.sub(r'^VERSION = ".*"', 'VERSION = "grep of tomorrow"', grep.read_text(), flags=re.MULTILINE))
    assert {"grade greets", "grade finished", *RESULT} == run(tmp_path)
    assert {"grade greets", "grade finished", *RESULT} == settled.run()[0]
    assert agents == settled.count.read_text()


@pytest.mark.slow
def test_a_pinned_package_is_installed_once_a_version(settled: Settled, tmp_path: Path) -> None:
    """A pin of a package (here from a folder: no registry is asked) is the toolchain's, and all that works with it."""
    for version in ("1.0", "1.1"):
        make_wheel(tmp_path, "evalkit_words", version)
    project, kept = settled.project, settled.project.read(SUITE)
    project.env |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    after = {"toolchain", "agent", *IN_COPIES, *RESULT}
    try:
        project.edit(SUITE, 'env GREETED = "reader"', 'pip "evalkit-words==1.0"\n    env GREETED = "reader"')
        assert (after, 1, 0) == settled.run()
        project.edit(SUITE, "words==1.0", "words==1.1")
        assert (after, 1, 0) == settled.run()
        installed = {path.name for path in project.root.parent.glob("cache/toolchains/words-*/python/lib/*/site-*/ev*")}
        assert {"evalkit_words-1.0.dist-info", "evalkit_words-1.1.dist-info"} == installed
        project.edit(SUITE, "words==1.1", "words==1.0")
        assert (after, 0, 0) == settled.run()
    finally:
        project.write(SUITE, kept)
        del project.env["PIP_NO_INDEX"], project.env["PIP_FIND_LINKS"]
    assert (after, 0, 0) == settled.run()


def make_wheel(folder: Path, name: str, version: str) -> None:
    """A package without any module."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
                                        "Tag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
