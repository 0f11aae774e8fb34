"""`evalkit import` as a person calls it: what it prints and writes, and that the cases compile to what they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis import load_project
from evalkit.analysis.model import Case
from evalkit.authoring.printer import format_text
from evalkit.cli import main
from evalkit.diagnostics import CaseErrors, render_all
from tests.unit.authoring.importers.sets import GUIDANCE, NATIVE, SKILLS, native_case, put
from tests.unit.authoring.importers.test_commands import CASES as COMMANDS

SETS: dict[str, dict[str, str]] = {
    "native-evals": NATIVE, "skill-evals": SKILLS, "guidance-evals": GUIDANCE,
    "commands": {"home.json": json.dumps(COMMANDS)},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the current folder, with the sources beside it."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for form, files in SETS.items():
        put(tmp_path / form, files)
    return tmp_path / "project"


def compiled(here: Path) -> dict[str, Case]:
    """The cases of the project; what is wrong in them fails the test."""
    try:
        return load_project(here).cases
    except CaseErrors as error:
        pytest.fail(render_all(error.diagnostics))


REPORT = """\
# Import of native-evals

1 case converted, 1 case not converted, 2 things not carried over, 1 thing to look at.

## the whole set

→ `suite.eval`

- look at: suite.eval: toolchain, agent, profiles and checks say what the source's runner is known to do; compare them \
with it

## broken

`broken/eval.json` → not converted

- NOT CARRIED: eval.json: it is not JSON: line 1, column 2: Expecting property name enclosed in double quotes

## shelf

`shelf/eval.json` → `shelf/shelf.eval`

- changed: checks[1].pattern: /\\w+\\b/ is written /[A-Za-z0-9_]+(?a:\\b)/
- NOT CARRIED: colour: the format has no such field, so that nobody knows what it asks for
- carried: prompt; checks: 2, judges: 0, files beside it: 0
"""


def test_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report names every case with what became of it, on the screen and in the suite's folder."""
    put(here.parent / "mixed", {"broken/eval.json": "{", "shelf/eval.json": native_case(
        {"type": "file_grep", "files": "src/*", "pattern": r"\w+\b", "expect": True}, colour=1)})
    assert 2 == main(["import", "native-evals", "../mixed"])
    printed = capsys.readouterr().out
    assert printed == (here / "cases/mixed/import-report.md").read_text(encoding="utf-8")
    assert REPORT == printed


def test_files_that_are_there_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second import names them and writes nothing; `--force` overwrites them."""
    command = ["import", "commands", "../commands/home.json", "--into", "cases/x", "--suite", "x"]
    assert 0 == main(command)
    (here / "cases/x/plain.eval").write_text("mine\n")
    (here / "cases/x/careful.eval").unlink()
    assert 2 == main(command)
    error = capsys.readouterr().err
    assert ("error: nothing was written: home.eval, import-report.md, plain.eval, suite.eval are in cases/x already"
            in error)
    assert "mine\n" == (here / "cases/x/plain.eval").read_text()
    assert not (here / "cases/x/careful.eval").exists()
    assert 0 == main([*command, "--force"])
    assert "case lamp-on" in (here / "cases/x/plain.eval").read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (["native-evals", "../nowhere"], "error: there is no file or folder `../nowhere`"),
    (["native-evals", "../commands/home.json"], "error: `../commands/home.json` is a file; native-evals are folders"),
    (["skill-evals", "../guidance-evals"], "error: no case of the format skill-evals was found in ../guidance-evals"),
    (["commands", "../commands", "--suite", "a b"], "error: `a b` is no name of a suite"),
])
def test_wrong_call_is_told(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """Nothing is written, and the status is that of a wrong call."""
    assert 2 == main(["import", *arguments])
    assert message == capsys.readouterr().err.splitlines()[0]
    assert [] == list(here.iterdir())


def test_nothing_of_the_source_is_changed(here: Path) -> None:
    """Its files are the same before and after."""
    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for form in SETS for path in sorted((here.parent / form).rglob("*"))
                if path.is_file()}

    before = state()
    for form in SETS:
        main(["import", form, f"../{form}"])
    assert before == state()


@pytest.mark.parametrize("form", SETS)
def test_converted_set_compiles(here: Path, form: str) -> None:
    """A whole set converts without a loss, compiles without an error, and is in the canonical form already."""
    assert 0 == main(["import", form, f"../{form}"])
    assert compiled(here)
    for path in here.rglob("*.eval"):
        text = path.read_text(encoding="utf-8")
        assert text == format_text(text)


@pytest.mark.parametrize("form", SETS)
def test_sets_with_losses_compile(here: Path, form: str) -> None:
    """Also what is left of an incomplete set compiles."""
    odd = {
        "native-evals": {"x/eval.json": native_case({"type": "none"}, frontend="qt", name="Odd Name", maxTurns=-1),
                         "y/eval.json": native_case(name="two", frontend="app-dual", prompt='a """ b')},
        "skill-evals": {"x/PROMPT.md": "Do.\n", "x/EVAL.tsx": "//\n"},
        "guidance-evals": {"x/prompt.md": "Do",
                           "x/spec.json": '{"skill": "none", "template": "t", "edit_file": "a.js"}',
                           "y/prompt.md": "Do\nit", "y/spec.json": "{}"},
        "commands": {"a.yaml": "- {id: a b, prompt: \"x\\ny\", expect: [{name: c, check: f, args: {d: {}, e: 1}}]}\n"},
    }
    put(here.parent / "odd", odd[form])
    main(["import", form, "../odd"])
    assert compiled(here)


# ---- the values come back ----
def test_native_evals_come_back(here: Path) -> None:
    """Prompt, description, limits, patterns, globs, lanes, criteria and thresholds are those of the source."""
    main(["import", "native-evals", "../native-evals"])
    cases = compiled(here)
    for name in ("book-shelf", "clock-core", "two-ways"):
        source = json.loads(NATIVE[f"evals/cases/{name}/eval.json"])
        case = cases[name]
        assert (source["description"], source["prompt"], source["maxTurns"], source["timeoutMs"] / 1000) == \
            (case.about, case.prompt, case.limits.turns, case.limits.time)
    shelf = cases["book-shelf"]
    checks: dict[str, Any] = {check.id: check for check in shelf.checks}
    assert ["own-tests", "markup", "books-come-from-a-loop", "nothing-is-left-to-do", "live"] == list(checks)
    assert ("native", "test", "-Dplatform=null") == checks["own-tests"].spec.command.words
    loop, left, live = checks["books-come-from-a-loop"], checks["nothing-is-left-to-do"], checks["live"]
    assert ("books come from a loop", ("src/*.native",), "has", r"<for\s+[A-Za-z0-9_]+", True) == \
        (loop.description, loop.spec.globs, loop.spec.expect, loop.spec.patterns[0].text, loop.spec.patterns[0].regex)
    assert (("src/*.zig", "src/*.native"), "lacks", "TODO", False) == \
        (left.spec.globs, left.spec.expect, left.spec.patterns[0].text, left.spec.patterns[0].regex)
    assert ["role=list", 'name="(Lend|Give)"'] == [pattern.text for pattern in live.spec.patterns]
    assert ("macos-local",) == live.lanes
    units = {unit.track: unit for unit in load_project(here).units["two-ways"]}
    assert {"ts": "cases/native-evals/two-ways/starter-ts", "zig": "cases/native-evals/two-ways/starter-zig"} == \
        {track: unit.setup.starter for track, unit in units.items()}
    assert {"ts": ["own-tests", "ts-harness"], "zig": ["own-tests", "zig-harness"]} == \
        {track: [check.id for check in unit.checks] for track, unit in units.items()}
    judge = shelf.judges[0]
    assert ("craft", ("src/main.zig",), 7, False, ("Lending is one message.", 'Says "why".')) == \
        (judge.title, judge.files, judge.threshold, judge.advisory, judge.criteria)


def test_skill_evals_come_back(here: Path) -> None:
    """The prompt is the file's text; the skeleton and the hidden tests are the source's files."""
    main(["import", "skill-evals", "../skill-evals"])
    case: Any = compiled(here)["add-table"]
    assert SKILLS["evals/add-table/PROMPT.md"] == case.prompt
    assert "cases/skill-evals/add-table/skeleton" == case.setup.scaffold.folder
    assert ["behaviour"] == [check.id for check in case.checks]
    assert SKILLS["evals/add-table/EVAL.ts"] == \
        (here / "cases/skill-evals/add-table/hidden/EVAL.test.ts").read_text(encoding="utf-8")


def test_guidance_evals_come_back(here: Path) -> None:
    """Imports, apis, patterns, answer and template are those of the spec."""
    main(["import", "guidance-evals", "../guidance-evals"])
    case: Any = compiled(here)["throw-ball"]
    spec = json.loads(GUIDANCE["evals/tasks/throw-ball/spec.json"])
    assert GUIDANCE["evals/tasks/throw-ball/prompt.md"] == case.prompt
    score = next(check.spec for check in case.checks if check.id == "code")
    assert (tuple(spec["expected_imports"]), tuple(spec["expected_apis"])) == (score.imports, score.apis)
    assert ["from ['\"]https?:", r"\Aeval"] == [pattern.text for pattern in score.forbid]
    assert (spec["edit_file"], "javascript") == (score.answer, score.language)
    home = "cases/guidance-evals"
    assert f"{home}/{spec['template']}" == case.setup.scaffold.folder
    assert [f"{home}/skills/{spec['skill']}/SKILL.md", f"{home}/references/{spec['reference_files'][0]}"] == \
        [guidance.path for guidance in case.setup.guidance]


def test_commands_come_back(here: Path) -> None:
    """Prompts, tiers, calls with their arguments and what must never be called are those of the list."""
    main(["import", "commands", "../commands"])
    cases = compiled(here)
    assert {case["id"]: case["prompt"] for case in COMMANDS} == {name: case.prompt for name, case in cases.items()}
    assert {case["id"]: case.get("tier") for case in COMMANDS} == {name: case.tier for name, case in cases.items()}
    for source in COMMANDS:
        spec: Any = cases[source["id"]].checks[0].spec
        calls = [{"name": call.name, "args": {test.key: test.values[0] for test in call.arguments}}
                 for sequence in spec.sequences for call in sequence]
        never = source.get("never", ())
        assert [{"args": {}, **call} for call in source.get("expect", [])] == calls
        assert ((never,) if isinstance(never, str) else tuple(never)) == spec.never


def test_large_numbers_compile(here: Path) -> None:
    """Arguments go as far as JSON holds whole numbers exactly; one beyond is reported, and what is left compiles."""
    args = {"n": 12345678, "m": -2000000, "at": 1700000000000, "f": 1e7, "l": [9007199254740991, -9007199254740991]}
    expect = [{"name": "a", "args": args}]
    put(here.parent / "large", {"it.json": json.dumps([{"id": "it", "prompt": "Do", "expect": expect}])})
    assert 0 == main(["import", "commands", "../large/it.json"])
    spec: Any = compiled(here)["it"].checks[0].spec
    assert args == {test.key: test.values[0] for test in spec.sequences[0][0].arguments}

    args["n"] = 2**53
    put(here.parent / "large", {"it.json": json.dumps([{"id": "it", "prompt": "Do", "expect": expect}])})
    assert 2 == main(["import", "commands", "../large/it.json", "--force"])
    spec = compiled(here)["it"].checks[0].spec
    assert ["m", "at", "f", "l"] == [test.key for test in spec.sequences[0][0].arguments]


# ---- where it is run ----
def test_subfolder_of_a_project(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused with the place to run it in, as by other commands; `--into` says where, from anywhere."""
    put(here, {"pyproject.toml": "[tool.evalkit]\n", "cases/x/note.md": ""})
    monkeypatch.chdir(here / "cases/x")
    assert 2 == main(["import", "commands", "../../../commands"])
    assert ("error: this folder lies in a project, but is not its root\n"
            f"  run this in {here}\n") == capsys.readouterr().err
    assert ["note.md"] == [path.name for path in (here / "cases/x").iterdir()]
    assert 0 == main(["import", "commands", "../../../commands", "--into", "../home"])
    assert "--into" not in capsys.readouterr().out
    assert compiled(here)


def test_default_is_the_cases_folder_of_the_project(here: Path) -> None:
    """As pyproject.toml names it."""
    put(here, {"pyproject.toml": '[tool.evalkit]\ncases = "evals"\n'})
    assert 0 == main(["import", "commands", "../commands"])
    assert (here / "evals/commands/suite.eval").is_file()


@pytest.mark.parametrize("into", ["elsewhere", "../outside"])
def test_suite_outside_the_cases_folder(here: Path, capsys: pytest.CaptureFixture[str], into: str) -> None:
    """The report says that the project will not see it."""
    put(here, {"pyproject.toml": "[tool.evalkit]\n"})
    assert 0 == main(["import", "commands", "../commands", "--into", into])
    line = (f"- look at: --into: {into} is outside the project's cases folder, `cases`: the project will not see the "
            "suite unless it is moved there\n")
    assert line in capsys.readouterr().out
    assert line in (here / into / "import-report.md").read_text(encoding="utf-8")
