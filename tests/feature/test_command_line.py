"""The command line: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import re

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.project import KEY, MiniProject

CASE = "cases/mini/greeting/greeting.eval"
SUITE = "cases/mini/suite.eval"


def test_a_bare_doit_prints_help_and_the_list_and_runs_nothing(project: MiniProject) -> None:
    """Neither `doit` nor `doit run` pays for everything."""
    for args in ((), ("run",)):
        done = project.doit(*args)
        assert 0 == done.status
        assert "doit run case:NAME" in done.out
        assert "case:greeting   Writes a greeting." in done.out
        assert {} == done.ran
    assert not project.path("results").exists()


def test_the_list_shows_cases_and_suites(project: MiniProject) -> None:
    """Inner tasks only with --all."""
    listed = project.doit("list").out
    assert ["all", "case:greeting", "suite:mini"] == [line.split()[0] for line in listed.splitlines()]
    inner = project.doit("list", "--all").out
    assert "grade:latest/oracle/greeting/trial-1:greets" in inner


@pytest.mark.parametrize(
    "name", ["case:greeting", "suite:mini", "all", "case:gr*", "result:latest/oracle/greeting/trial-1"])
def test_every_way_to_ask_for_a_case_prints_its_table(project: MiniProject, name: str) -> None:
    """By case, suite, all, wildcard and result."""
    done = project.doit("run", name)
    assert 0 == done.status, done.err
    assert done.out.startswith("self-check: reference answer, no model was called\n")
    assert "1 passed" in done.out


def test_statuses_follow_the_verdicts(project: MiniProject) -> None:
    """0 passed, 1 failed; a wrong answer fails the check that it names and no other."""
    assert 0 == project.doit("run", "case:greeting").status
    nothing = project.doit("run", "case:greeting", "agent=nop")
    assert 1 == nothing.status
    wrong = project.doit("run", "case:greeting", "agent=wrong:rude")
    assert 1 == wrong.status
    assert ["greets"] == re.findall(r"^  ✗ (\S+)", wrong.out, re.MULTILINE)
    assert "a known wrong answer: greets must fail, and that is so" in wrong.out
    project.edit(CASE, "fails greets", "fails own")
    missed = project.doit("run", "case:greeting", "agent=wrong:rude")
    assert "a known wrong answer: own must fail, but: own (pass)" in missed.out


@pytest.mark.parametrize(("args", "said"), [
    (["run", "case:greetin"], ["there is no task `case:greetin`", "did you mean `case:greeting`?"]),
    (["run", "greeting"], ["did you mean `case:greeting`?"]),
    (["greting"], ["there is no task `greting`"]),
    (["list", "case:nosuch"], ["there is no task `case:nosuch`"]),
    (["info", "case:nosuch"], ["there is no task `case:nosuch`"]),
    (["forget", "case:nosuch"], ["there is no task `case:nosuch`"]),
    (["run", "case:x*"], ["no task matches `case:x*`"]),
    (["run", "case:greeting", "agnt=nop"], ["`agnt` is not a choice", "did you mean `agent`?"]),
    (["run", "case:greeting", "agent=clod"], ["`agent=clod` (from the command line) is not valid", "wrong:NAME"]),
    (["run", "case:greeting", "trials=0"], ["trials is a whole number from 1 to 1000"]),
    (["run", "case:greeting", "agent=wrong:nice"], ["has no wrong answer `nice`", "`rude`"]),
    (["run", "case:greeting", "agent=claude"], [
        "agent=claude needs the model `anthropic/claude-sonnet-5`, and no key for it is set",
        "export AI_GATEWAY_API_KEY=…"]),
    (["run", "case:greeting", "judge=on"], [
        "judge=on needs the model `anthropic/claude-opus-4.8`, and no key for it is set"]),
    (["run", "case:greeting", "--nosuch"], ["--nosuch"]),
    (["run", "case:greeting", "run=dry"], ["`dry` and `prove` are evalkit's own"]),
])
def test_mistakes_on_the_command_line(project: MiniProject, args: list[str], said: list[str]) -> None:
    """A short error with what to do, status 2, nothing done, no traceback."""
    done = project.doit(*args)
    assert 2 == done.status, done.err
    for words in said:
        assert words in done.err
    assert "" == done.out
    assert len(done.err.splitlines()) <= 4
    assert not project.path("results").exists()


def test_a_missing_claude_program_stops_before_any_work(project: MiniProject) -> None:
    """claude=PATH that is nothing, or not Claude Code, is the person's mistake."""
    project.env["AI_GATEWAY_API_KEY"] = KEY
    missing = project.doit("run", "case:greeting", "agent=claude", "claude=/nonexistent/claude")
    assert 2 == missing.status
    assert "there is no program that can be started at /nonexistent/claude" in missing.err
    other = project.doit("run", "case:greeting", "agent=claude", "claude=/bin/true")
    assert 2 == other.status
    assert "/bin/true is not Claude Code" in other.err
    assert not project.path("results").exists()


def test_an_unreachable_gateway_is_no_fail_of_the_agent(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """A judge that cannot be reached is an error of an advisory check: shown, and tried again the next time."""
    project, gateway = judged
    project.edit(CASE, "pass at 6, advisory", "pass at 6")
    project.env["EVALKIT_GATEWAY"] = "http://127.0.0.1:9"
    done = project.doit("run", "case:greeting")
    assert 3 == done.status, done.err
    assert "could not be graded: tone" in project.read(
        next(path.relative_to(project.root).as_posix() for path in project.path("results").rglob("result.json")))
    project.env["EVALKIT_GATEWAY"] = gateway.url
    again = project.doit("run", "case:greeting")
    assert 0 == again.status, again.err
    assert {"judge tone", "result", "report"} == set(again.ran)
    assert "it ended in an error last time" == again.ran["judge tone"]


def test_case_errors_are_drawn_all_at_once(project: MiniProject) -> None:
    """An unknown keyword, an unknown check and a missing file: each with its place, in one go where they can be."""
    project.edit(CASE, "  starter", "  startr")
    project.edit(SUITE, "  limits", "  limts")
    done = project.doit("run", "case:greeting")
    assert 2 == done.status
    assert "unknown keyword `startr`\n --> cases/mini/greeting/greeting.eval:4:3\n" in done.err
    assert "did you mean `starter`?" in done.err
    assert "unknown keyword `limts`" in done.err
    assert "2 errors in case files" in done.err

    project.edit(CASE, "  startr", "  starter")
    project.edit(SUITE, "  limts", "  limits")
    project.edit(CASE, 'starter "starter"', 'starter "startr"')
    project.edit(CASE, "check not-empty as", "check not-empti as")
    done = project.doit("list")
    assert 2 == done.status
    assert "`startr` does not exist" in done.err
    assert "did you mean `starter`?" in done.err
    assert "there is no check `not-empti`" in done.err
    assert "2 errors in case files" in done.err


def test_a_toolchain_that_cannot_be_installed(project: MiniProject) -> None:
    """The installer's own words, the place of the pin, status 3; half of it is never taken for the whole."""
    project.edit(SUITE, '  about "Small', '  toolchain tools { pip "no-such-package-of-evalkit==1.0" }\n  about "Small')
    for _ in range(2):
        done = project.doit("run", "case:greeting")
        assert 3 == done.status, done.err
        assert "toolchain `tools` could not be installed: pip failed" in done.err
        assert "no-such-package-of-evalkit" in done.err
        assert "declared at cases/mini/suite.eval:2:3" in done.err
        assert "greeting: no result" in done.out
    assert not list((project.root.parent / "cache").rglob("installed.json"))


def test_a_missing_tool_is_an_error_and_not_a_fail(project: MiniProject) -> None:
    """A check whose own program is not there tells nothing of the agent."""
    project.edit(CASE, "sh check.sh", "no-such-tool-of-evalkit --now")
    done = project.doit("run", "case:greeting")
    assert 3 == done.status
    assert "! own" in done.out
    assert "`no-such-tool-of-evalkit` is not installed" in done.out


def test_a_failing_scaffold_command_is_the_cases_mistake(project: MiniProject) -> None:
    """Its output and its place are shown."""
    project.edit(SUITE, 'scaffold copy "skeleton"', 'scaffold run "sh -c \'echo cannot scaffold; exit 3\' {workspace}"')
    done = project.doit("run", "case:greeting")
    assert 2 == done.status, done.err
    assert "the scaffold command failed (exit status 3), declared at cases/mini/suite.eval:7:5" in done.err
    assert "| cannot scaffold" in done.err


def test_no_key_reaches_the_disk_or_the_screen(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """The agent prints its token and writes its environment: neither is kept. The judge's key neither."""
    project, _ = judged
    program = project.root.parent / "fake/claude"
    program.write_text(program.read_text().replace(
        'with open("answer.txt", "w") as file:',
        'open("leak.txt", "w").write(json.dumps(dict(os.environ)))\nprint("noise", os.environ["ANTHROPIC_AUTH_TOKEN"], '
        'file=sys.stderr)\nwith open("answer.txt", "w") as file:'))
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err
    assert KEY not in done.out + done.err
    assert [] == project.files_with(KEY)
    assert project.files_with("ANTHROPIC_AUTH_TOKEN")  # what it wrote is there: it holds a token of the gateway's


def test_a_dry_run_calls_no_model(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """It prints the environment and the command line, grades the untouched workspace, and exits with 0."""
    project, gateway = judged
    done = project.doit("run", "case:greeting", "dry=1")
    assert 0 == done.status, done.err
    assert "dry run: no model was called; fails are expected" in done.out
    assert "✗ own" in done.out
    assert "ANTHROPIC_AUTH_TOKEN=[EVALKIT_TOKEN]" in done.err
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:PORT" in done.err
    assert [] == gateway.requests
    assert "" == (project.root.parent / "fake/runs").read_text()
    assert project.path("results/dry").is_dir()
    assert not project.path("results/latest").exists()


def test_a_project_of_ones_own_needs_only_its_pyproject(project: MiniProject) -> None:
    """Tasks of the person's own in dodo.py are listed and run beside the cases."""
    project.write("dodo.py", 'def task_hello():\n    """says hello"""\n    return {"actions": ["echo hello"]}\n')
    assert "hello" in project.doit("list").out
    done = project.doit("run", "hello")
    assert 0 == done.status, done.err
    assert {"hello"} == set(done.ran)


def test_the_model_comes_from_the_nearest_place(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """Command line, EVALKIT_MODEL, the suite's own variable, pyproject.toml, the suite's default: in this order."""
    project, _ = judged

    def model(*args: str) -> str:
        done = project.doit("list", "--all", *args)
        assert 0 == done.status, done.err
        found = re.search(r"agent:latest/claude/(\S+?)/greeting", done.out)
        assert found is not None
        return found.group(1).replace("%2F", "/")

    assert "anthropic/claude-sonnet-5" == model()
    project.edit(SUITE, '  about "Small', '  model env MINI_MODEL else "of/suite"\n  about "Small')
    assert "of/suite" == model()
    project.write("pyproject.toml", project.read("pyproject.toml") + '\n[tool.evalkit]\nmodel = "of/pyproject"\n')
    assert "of/pyproject" == model()
    project.env["MINI_MODEL"] = "of/variable"
    assert "of/variable" == model()
    project.env["EVALKIT_MODEL"] = "of/evalkit"
    assert "of/evalkit" == model()
    assert "of/command-line" == model("model=of/command-line")
