"""Case files with errors stop what has to do with them, and nothing else: `doit run case:NAME` beside a broken file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.feature.project import CASE, KEY, Done, MiniProject, fake_claude

GREETING = "cases/mini/greeting/greeting.eval"
OTHER = "cases/mini/other/other.eval"
SUITE = "cases/mini/suite.eval"
SMALL = 'case other {{\n  use note\n  prompt """\n    Do it.\n    """\n  check exists "answer.txt"\n{}}}\n'
SYNTAX, MEANING = SMALL.format("  chek run\n"), SMALL.format("  use nothing\n")
ELSEWHERE = {
    "cases/more/suite.eval": 'suite more {\n  profile bare { scaffold copy "skeleton" }\n}\n',
    "cases/more/skeleton/a.txt": "",
    "cases/more/far/far.eval": 'case far {\n  use bare\n  prompt """\n    Do it.\n    """\n  check exists "a.txt"\n'
                               '  solution "solution"\n}\n',
    "cases/more/far/solution/b.txt": "",
}
WARNING = "warning: left out, as what was asked for does without: "


def put(project: MiniProject, **files: str) -> None:
    for name, text in {**ELSEWHERE, **files}.items():
        project.write(name, text)


def cases_of(project: MiniProject) -> list[str]:
    return sorted(line["case"] for line in json.loads(project.read("results/latest/summary.json"))["trials"])


@pytest.mark.parametrize("broken", [SYNTAX, MEANING, SMALL.format("").replace("use note", "use note\x00")])
def test_a_sound_case_runs_beside_a_broken_file(project: MiniProject, broken: str) -> None:
    """What is wrong there is told, once; a second run finds everything up to date, also after the file is mended."""
    put(project, **{OTHER: broken})
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err
    assert done.out.endswith("1 passed (self-check: reference answer, no model was called)\n")
    assert 1 == done.err.count(f"{WARNING}{OTHER}\n\nerror[E")
    again = project.doit("run", "case:greeting")
    assert (0, {}) == (again.status, again.ran)
    assert f"{WARNING}{OTHER}" in again.err
    project.write(OTHER, SMALL.format(""))
    mended = project.doit("run", "case:greeting")
    assert (0, {}, False) == (mended.status, mended.ran, "warning" in mended.err)


@pytest.mark.parametrize("names", [
    ["all"], ["suite:mini"], ["case:other"], ["case:*"], ["case:greeting", "case:other"], ["report:latest"], [],
    ["agent:latest/oracle/greeting/trial-1"], ["case:nosuch"], ["regrade:latest"]])
def test_whatever_may_have_to_do_with_it_stops(project: MiniProject, names: list[str]) -> None:
    """With all that is wrong, status 2, and nothing done."""
    put(project, **{OTHER: SYNTAX})
    done = project.doit("run", *names) if names else project.doit()
    assert (2, False) == (done.status, project.path("results").exists())
    assert "unknown keyword" in done.err or "error[E" in done.err
    assert "1 error in case files" in done.err
    assert WARNING not in done.err


@pytest.mark.parametrize("command", ["why", "plan"])
def test_what_would_run_is_told_too(project: MiniProject, command: str) -> None:
    """With the same warning; of what would stop, the same errors."""
    put(project, **{OTHER: SYNTAX})

    def asked(name: str) -> tuple[int, bool]:
        done = subprocess.run([sys.executable, "-m", "evalkit.cli", command, name], cwd=project.root, text=True,
                              env=project.environ, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        assert "unknown keyword" in done.stderr
        return done.returncode, f"{WARNING}{OTHER}\n" in done.stderr

    assert (0, True) == asked("case:greeting") == asked("greeting") == asked("suite:more")
    assert (2, False) == asked("all") == asked("other")


def test_a_suite_without_broken_members_runs(project: MiniProject) -> None:
    """And the case of another suite whose own file is broken is not one that can be asked for."""
    put(project, **{OTHER: SYNTAX})
    done = project.doit("run", "suite:more")
    assert 0 == done.status, done.err
    project.path(OTHER).unlink()
    project.edit(SUITE, "  profile note", "  profil note")
    assert 0 == project.doit("run", "case:far", "suite:more").status
    for name in ("case:greeting", "suite:mini"):
        assert 2 == project.doit("run", name).status


def test_a_check_that_a_suite_defines_is_needed(project: MiniProject) -> None:
    """It stands in the suite's file, which all of its cases need."""
    put(project)
    project.edit(SUITE, 'each "*.txt" run "test -s {file}"', 'each "*.txt" run "test -s {fil}"')
    done = project.doit("run", "case:greeting")
    assert (2, False) == (done.status, WARNING in done.err)


def test_a_name_that_stands_twice_is_nobodys(project: MiniProject) -> None:
    """Also where one of the two files has other errors, and nobody asked for that one."""
    put(project, **{"cases/more/again.eval": CASE})
    assert 2 == project.doit("run", "case:greeting").status
    assert 0 == project.doit("run", "case:far").status
    put(project, **{"cases/more/again.eval": CASE.replace("  about", "  abot")})
    assert 2 == project.doit("run", "case:greeting").status


def test_errors_behind_errors(project: MiniProject) -> None:
    """Names are looked up where every other file parses: files that are wrong only then are left out too."""
    put(project, **{OTHER: SYNTAX, "cases/more/third.eval": MEANING.replace("other", "third")})
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err
    assert f"{WARNING}{OTHER}, cases/more/third.eval\n" in done.err
    assert 2 == project.doit("run", "suite:more").status


def test_more_errors_than_a_look_finds(project: MiniProject) -> None:
    """A hundred are looked for at a time."""
    names = [f"other{number}" for number in range(60)]
    put(project, **{f"cases/mini/{name}.eval": MEANING.replace("other", name) for name in names})
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err
    assert f"cases/mini/{names[-1]}.eval" in done.err.partition("\n")[0]


def test_the_page_tells_what_agents_were_asked(project: MiniProject, tmp_path: Path) -> None:
    """Of a case that ran beside a broken file."""
    put(project, **{OTHER: SYNTAX})
    program, _ = fake_claude(tmp_path / "bin")
    project.env |= {"AI_GATEWAY_API_KEY": KEY}
    done = project.doit("run", "case:greeting", "judge=off", f"claude={program}", "gateway=direct")
    assert 0 == done.status, done.err
    [data] = project.path("results/latest/report-data/claude").rglob("*.js")
    assert "Write a greeting into answer.txt." in data.read_text(encoding="utf-8").partition('"talk"')[2]


def test_tracks_of_a_case_that_is_left_out(project: MiniProject) -> None:
    """A check of the suite may be for a track that only such a case has."""
    put(project, **{OTHER: SMALL.format('  track zig { limits { turns 3 } }\n  use nothing\n')})
    project.edit(SUITE, "  profile note", '  check exists "*" as any for track zig\n  profile note')
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err


def test_results_of_broken_cases_stay_in_the_summary(project: MiniProject) -> None:
    """A run beside them drops nothing; once they are mended nothing of them runs again."""
    put(project, **{OTHER: SMALL.format('  check absent "x"\n')})
    first = project.doit("run", "all", "agent=nop")
    assert (1, ["far", "greeting", "other"]) == (first.status, cases_of(project)), first.err
    sound = project.read(OTHER)
    project.write(OTHER, sound.replace("check absent", "chek absent"))
    project.edit(GREETING, "/hello/i", "/hallo/i")
    done = project.doit("run", "case:greeting", "agent=nop")
    assert (1, True) == (done.status, "grade greets" in done.ran), done.err
    assert ["far", "greeting", "other"] == cases_of(project)
    assert "other" in project.read("results/latest/summary.md")
    project.write(OTHER, sound)
    last = project.doit("run", "all", "agent=nop")
    assert (1, {}) == (last.status, last.ran)


def test_reports_keep_the_order_of_what_is_left_out(project: MiniProject) -> None:
    """Arms stand as they are declared, also where a run beside the broken file adds results."""
    put(project, **{OTHER: SMALL.format("")})
    project.edit(SUITE, "  profile note", '  arm with-skill { about "Both." }\n  arm baseline { skills none }\n'
                 "  profile note")
    project.doit("run", "all", "agent=nop", "arm=all", "judge=off")

    def units() -> list[str]:
        return [line["unit"] for line in json.loads(project.read("results/latest/summary.json"))["trials"]
                if line["agent"] == "nop"]

    before = units()
    assert ["greeting+with-skill", "greeting+baseline", "other+with-skill", "other+baseline"] == before[1:]
    project.write(OTHER, SYNTAX)
    assert 0 == project.doit("run", "case:far", "agent=oracle").status
    assert before == units()
    assert 0 == project.doit("run", "case:greeting", "agent=oracle", "arm=all", "judge=off").status
    assert before == units()


def test_an_edit_beside_a_broken_file_runs_what_it_changes(project: MiniProject) -> None:
    """Nothing is kept of what is compiled then; what settled before does not hide the edit."""
    put(project)
    assert 0 == project.doit("run", "case:greeting").status
    project.write(OTHER, SYNTAX)
    project.edit(GREETING, "/hello/i", "/nowhere/i")
    done = project.doit("run", "case:greeting")
    assert (1, True) == (done.status, "grade greets" in done.ran)
    project.edit(GREETING, "/nowhere/i", "/hello/i")
    project.path(OTHER).unlink()
    back: Done = project.doit("run", "case:greeting")
    assert 0 == back.status, back.err


def test_a_task_of_ones_own_that_leans_on_a_broken_case(project: MiniProject) -> None:
    """It could not be made: so the run stops. One that leans on a sound case does not."""
    put(project, **{OTHER: SYNTAX})
    own = "def task_own():\n    return {'actions': [], 'task_dep': ['case:%s']}\n"
    project.write("dodo.py", own % "far")
    assert 0 == project.doit("run", "case:greeting").status
    project.write("dodo.py", own % "other")
    assert 2 == project.doit("run", "case:greeting").status
