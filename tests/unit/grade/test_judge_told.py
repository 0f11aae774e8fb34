"""What a judge is told: the unit's own guidance and contract on every arm, and what a command prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.analysis.model import Case, Command, Toolchain
from evalkit.analysis.project import load_project
from evalkit.digest import digest, digest_path
from evalkit.errors import HarnessError
from evalkit.execute.places import Places
from evalkit.execute.session import Session
from evalkit.grade.judge_facts import LARGEST, facts
from evalkit.grade.judge_question import question
from evalkit.plan.keys import Inputs, changes, judge_inputs
from evalkit.values import evolve
from tests.unit.grade.trees import a_case, a_judge
from tests.unit.language.project import diagnose, write

SUITE = """suite s {
  profile app {
    use agent api
    answer "a.js"
    judge "fit" as fit {
      files "a.js"; criterion "It fits."; pass at 5
      context guidance; context contract; context run "printf 'one: %s' {project}/cases/s/note.md"
    }
  }
  arm with { }
  arm without { guidance none; contract none }
  arm cut { ablate guidance by section }
}
"""
CASE = 'case it { use app; prompt "PROMPT.md"; contract "contract.md"; guidance "guide", "more.md" }\n'
FILES = {"cases/s/it.eval": CASE, "cases/s/contract.md": "One file.\n", "cases/s/more.md": "# More\n",
         "cases/s/note.md": "n\n", "cases/s/guide/SKILL.md": "# G\n## A\na\n## B\nb\n", "cases/s/guide/other.md": "o\n"}
GUIDE = ("cases/s/guide/SKILL.md", "cases/s/guide/other.md", "cases/s/more.md")


def units(root: Path, suite: str = SUITE, case: str = CASE) -> dict[str, Case]:
    write(root, FILES | {"cases/s/it.eval": case}, suite=suite)
    return {str(unit.arm): unit for unit in load_project(root).units["it"]}


def session_of(root: Path) -> Session:
    return Session(Places(root, root / "cache", root / "work"), {"PATH": "/usr/bin:/bin"}, say=lambda _: None)


def test_every_arm_is_judged_by_the_same_documents(tmp_path: Path) -> None:
    """Whatever it makes of the guidance: those are what all outputs are held to."""
    found = units(tmp_path)
    assert ["with", "without", "cut.a", "cut.b"] == list(found)
    assert {(*GUIDE, "cases/s/contract.md")} == {unit.judges[0].documents for unit in found.values()}
    assert () == found["without"].setup.guidance


def test_guidance_that_only_an_arm_has(tmp_path: Path) -> None:
    """The first arm that has some tells what all are held to."""
    suite = SUITE.replace("arm with { }", 'arm bare { }\n  arm with { guidance "more.md"; contract "contract.md" }')
    found = units(tmp_path, suite, 'case it { use app; prompt "PROMPT.md" }\n')
    assert {("cases/s/more.md", "cases/s/contract.md")} == {unit.judges[0].documents for unit in found.values()}


def test_there_must_be_something_to_tell(tmp_path: Path) -> None:
    """A judge that was meant to be told and is not would judge by something else."""
    write(tmp_path, FILES | {"cases/s/it.eval": 'case it { use app; prompt "PROMPT.md" }\n'},
          suite=SUITE.replace("note.md", "gone.md"))
    assert {"there is no guidance to tell the judge", "there is no contract to tell the judge",
            "`cases/s/gone.md` does not exist"} == {found.message for found in diagnose(tmp_path)}


def inputs_of(root: Path, unit: Case) -> Inputs:
    return judge_inputs(unit, unit.judges[0], {"a.js": "1"}, ("c/d",), "judge 2", "on",
                        contents=lambda path: digest_path(root / path))


def test_what_is_told_is_an_input(tmp_path: Path) -> None:
    """The documents, the command and the files that it names; that an arm leaves guidance out is none."""
    found = units(tmp_path)
    before = inputs_of(tmp_path, found["with"])
    assert before == inputs_of(tmp_path, found["without"])
    for name in ("guide/SKILL.md", "contract.md", "note.md"):
        path = tmp_path / "cases/s" / name
        kept = path.read_text()
        path.write_text("changed")
        told = f"cases/s/{name} changed" if name == "note.md" else f"document cases/s/{name} changed"
        assert told == changes(before, inputs_of(tmp_path, found["with"]))
        path.write_text(kept)
    with_tools = evolve(found["with"], setup=evolve(found["with"].setup, toolchains=(Toolchain("sdk", npm=("x@1",)),)))
    assert "toolchain sdk is new" == changes(before, inputs_of(tmp_path, with_tools))
    other = units(tmp_path, SUITE.replace("one: ", "two: "))["with"]
    assert "commands that tell changed" == changes(before, inputs_of(tmp_path, other))


def test_a_judge_that_is_told_nothing_has_the_key_that_it_had() -> None:
    """Answers that were paid for before judges could be told are found again."""
    case, judge = a_case(), a_judge()
    assert {"grader", "rubric", "prompt", "judged files", "judge model", "judging"} == set(
        judge_inputs(case, judge, {"a": "1"}, ("c/d",), "judge 2", "on"))
    assert digest(judge) == digest(evolve(judge, documents=(), told_by=()))


def test_what_is_told_stands_before_the_files(tmp_path: Path) -> None:
    """Outside of the fences, each with its name."""
    unit = units(tmp_path)["without"]
    told = facts(unit, unit.judges[0], session_of(tmp_path))
    line = "what `printf 'one: %s' '{project}/cases/s/note.md'` prints"
    assert [*GUIDE, "cases/s/contract.md", line] == [name for name, _ in told]
    assert f"one: {tmp_path}/cases/s/note.md" == told[-1][1]
    (turn,) = question(unit, unit.judges[0], ([("a.js", "x()")], []), "m", "k", told).turns
    text = str(getattr(turn, "text", ""))
    assert "# To take as given: cases/s/contract.md\n\nOne file.\n\n" in text
    assert text.index("One file.") < text.index("begin file 1") < text.index("It fits.")


def told_by(root: Path, line: tuple[str, ...], *, toolchains: tuple[Toolchain, ...] = (), limit: int = 20) -> str:
    case = a_case()
    case = evolve(case, setup=evolve(case.setup, toolchains=toolchains))
    (found,) = facts(case, evolve(a_judge(), told_by=(Command(line, limit),)), session_of(root))
    return found[1]


def test_a_command_is_run_once_for_all_judges(tmp_path: Path) -> None:
    """While nothing that it hangs on changed; a file that it names is such a thing."""
    (tmp_path / "tell.sh").write_text("echo run >> $1/count; echo told")
    line = ("sh", "{project}/tell.sh", "{project}")
    assert ["told\n"] * 3 == [told_by(tmp_path, line) for _ in range(3)]
    assert 1 == len((tmp_path / "count").read_text().splitlines())
    (tmp_path / "tell.sh").write_text("echo told otherwise")
    assert "told otherwise\n" == told_by(tmp_path, line)


@pytest.mark.parametrize(("line", "told"), [
    (("sh", "-c", "echo half; echo why >&2; exit 3"), "status 3\nwhy"),
    (("sh", "-c", "sleep 60"), "time limit"),
    (("no-such-program",), "no-such-program"),
    (("echo", "{npm}"), "no toolchain has a folder {npm}"),
    (("head", "-c", str(LARGEST + 1), "/dev/zero"), "more than a judge can be told"),
])
def test_a_command_that_tells_nothing(tmp_path: Path, line: tuple[str, ...], told: str) -> None:
    """It is the harness's trouble, never the agent's: half of what should be told would be judged by."""
    with pytest.raises(HarnessError) as caught:
        told_by(tmp_path, line, limit=1)
    assert told in str(caught.value)


def test_a_document_that_is_gone(tmp_path: Path) -> None:
    """It is told by its name."""
    with pytest.raises(HarnessError, match=r"cannot read cases/gone\.md"):
        facts(a_case(), evolve(a_judge(), documents=("cases/gone.md",)), session_of(tmp_path))
