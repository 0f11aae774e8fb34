"""What goes wrong around a run: damage, failures, cut output. Nothing is blamed on the agent, nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.project import KEY, MiniProject

CASE = "cases/mini/greeting/greeting.eval"
SUITE = "cases/mini/suite.eval"
TOOLS = '  toolchain tools { pip "six==1.17.0"; program tool = "{pip}/six.py" }\n  about "Small'


def test_a_damaged_toolchain_is_installed_again_and_blamed_on_nobody(project: MiniProject) -> None:
    """A program that went missing from the cache makes the toolchain's task run, and no check fail."""
    project.edit(SUITE, '  about "Small', TOOLS)
    project.edit(CASE, '"sh check.sh"', '"sh -c \'test -s $(command -v tool)\'"')
    assert 0 == project.doit("run", "case:greeting").status
    program = next((project.root.parent / "cache").rglob("six.py"))
    program.unlink()
    again = project.doit("run", "case:greeting", "run=second")
    assert 0 == again.status, again.err + again.out
    assert "its outcome is gone" == again.ran["toolchain"]


def test_a_failed_run_forgets_nothing(project: MiniProject) -> None:
    """A mistake that is put right runs nothing again."""
    assert 0 == project.doit("run", "case:greeting").status
    project.edit(SUITE, 'scaffold copy "skeleton"', 'scaffold run "sh -c \'exit 3\' {workspace}"')
    assert 2 == project.doit("run", "case:greeting").status
    project.edit(SUITE, 'scaffold run "sh -c \'exit 3\' {workspace}"', 'scaffold copy "skeleton"')
    assert {} == project.doit("run", "case:greeting").ran


def test_a_failing_task_of_ones_own_is_told(project: MiniProject) -> None:
    """Its output and a status that is not 0."""
    project.write("dodo.py", 'def task_x():\n    yield {"name": "a", "actions": ["echo said; exit 3"]}\n')
    done = project.doit("run", "x")
    assert 3 == done.status
    assert "x:a" in done.err
    assert "said" in done.err


def test_another_claude_of_the_same_version_is_another_agent(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """Its bytes are part of the key."""
    project, _ = judged
    project.doit("run", "case:greeting")
    program = project.root.parent / "fake/claude"
    program.write_text(program.read_text().replace("Hello. I was", "Hello! I was"))
    again = project.doit("run", "case:greeting")
    assert "agent version 9.9.9" in again.ran["agent"]


def test_a_key_in_a_name_stays_off_the_disk(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """A file or a link that an agent names by a key is left out of what is kept, and that is said."""
    project, _ = judged
    program = project.root.parent / "fake/claude"
    program.write_text(program.read_text().replace(
        'with open("answer.txt", "w") as file:',
        f'token = {KEY[:9]!r} + {KEY[9:]!r}\nopen(f"k-{{token}}.txt", "w").close()\nos.symlink(token, "link")\n'
        'with open("answer.txt", "w") as file:'))
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err
    assert [] == project.files_with(KEY)
    assert "k-[AI_GATEWAY_API_KEY redacted].txt: its name holds a key" in done.out


@pytest.mark.parametrize(("name", "damage"), [
    ("grades/greets.json", "gone"), ("grades/greets.json", "cut"), ("result.json", "gone"), ("result.json", "cut"),
    ("workspace.tar.zst", "gone"),
])
def test_damaged_results_are_made_again(project: MiniProject, name: str, damage: str) -> None:
    """Each by its own task, without a word from a person."""
    first = project.doit("run", "case:greeting")
    path = project.path("results/latest/oracle/greeting/trial-1") / name
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:40])
    again = project.doit("run", "case:greeting")
    assert 0 == again.status, again.err
    assert first.out == again.out
    assert "its outcome is gone" in again.ran.values()
    assert path.stat().st_size > 40


def shell(project: MiniProject, line: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EVALKIT_CACHE": str(project.root.parent / "cache"),
           "EVALKIT_WORK": str(project.root.parent / "work"), "PY": sys.executable, **more}
    return subprocess.run(["bash", "-c", line], cwd=project.root, env=env, capture_output=True, text=True, check=False,
                          timeout=60)


@pytest.mark.parametrize("redirect", ["| true", ">&-", "2>&-", "> /dev/full", "2> /dev/full"])
def test_cut_output_changes_no_verdict(project: MiniProject, redirect: str) -> None:
    """A closed or a full output is nobody's fail."""
    done = shell(project, f'set -o pipefail; "$PY" -m doit run case:greeting agent=oracle {redirect}')
    assert 0 == done.returncode, done.stderr
    assert "Traceback" not in done.stderr
    assert list(project.path("results").rglob("result.json"))


def test_a_list_can_be_cut(project: MiniProject) -> None:
    """`doit list | head -1` says no word of a broken pipe."""
    done = shell(project, '"$PY" -m doit list --all | head -1')
    assert done.stdout.startswith("agent:latest/oracle/greeting/trial-1 ")
    assert "" == done.stderr


def test_an_encoding_without_the_marks(project: MiniProject) -> None:
    """The table is printed with question marks rather than not at all."""
    done = shell(project, '"$PY" -m doit run case:greeting agent=oracle', PYTHONIOENCODING="ascii")
    assert 0 == done.returncode, done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(("args", "said"), [
    (["run", "case:greeting", "-n", "2"], "option -n not recognized"),
    (["run", "case:greeting", "--bogus"], "option --bogus not recognized"),
])
def test_options_that_mean_nothing_here_are_refused(project: MiniProject, args: list[str], said: str) -> None:
    """Shortly, and not accepted to be ignored."""
    done = project.doit(*args)
    assert 2 == done.status
    assert said in done.err
    assert len(done.err.splitlines()) <= 3


def test_statuses_of_cases_are_those_of_their_parts(project: MiniProject) -> None:
    """`doit list --status` says what would run; `doit clean` and `doit forget` take a case."""
    def status() -> list[str]:
        return [line.split()[0] for line in project.doit("list", "--status").out.splitlines()]

    assert ["R", "R", "R"] == status()
    project.doit("run", "case:greeting")
    assert ["U", "U", "U"] == status()
    assert 0 == project.doit("forget").status
    project.doit("clean", "case:greeting")
    assert not list(project.path("results").rglob("result.json"))
    assert ["R", "R", "R"] == status()


@pytest.mark.parametrize("command", ["run", "list --status", "info", "forget"])
def test_a_state_that_is_no_database_is_told(project: MiniProject, command: str) -> None:
    """What to do, and no traceback, by every command."""
    project.write(".evalkit/state.db", "junk " * 500)
    done = project.doit(*command.split(), "case:greeting")
    assert done.status in (2, 3)
    assert "Delete it to start anew" in done.err


def test_mistyped_variables_are_refused(project: MiniProject) -> None:
    """As on the command line."""
    project.env["EVALKIT_AGNET"] = "nop"
    done = project.doit("run", "case:greeting")
    assert 2 == done.status
    assert "did you mean `agent`?" in done.err


def test_agents_do_not_work_inside_the_project(project: MiniProject) -> None:
    """There they would find the answers."""
    project.env["EVALKIT_WORK"] = str(project.path("work"))
    done = project.doit("run", "case:greeting")
    assert 2 == done.status
    assert "is inside the project" in done.err


def test_known_answers_are_judged_only_when_asked(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """What is said of a self-check is true: no model is called, or the judge alone."""
    project, gateway = judged
    quiet = project.doit("run", "case:greeting", "agent=oracle")
    assert quiet.out.startswith("self-check: reference answer, no model was called\n")
    assert [] == gateway.requests
    asked = project.doit("run", "case:greeting", "agent=oracle", "judge=on")
    assert asked.out.startswith("self-check: reference answer, no model was called but the judge\n")
    assert 1 == len(gateway.main_requests)


def test_another_folder_of_state_can_be_removed(project: MiniProject) -> None:
    """Without `.evalkit` everything is made again."""
    first = project.doit("run", "case:greeting")
    shutil.rmtree(project.path(".evalkit"))
    assert first.out == project.doit("run", "case:greeting").out
    assert Path(project.path(".evalkit/state.db")).exists()


def test_a_target_of_ones_own_tasks_can_be_asked_for(project: MiniProject) -> None:
    """As in any dodo.py: by its file name."""
    project.write("dodo.py", 'def task_x():\n'
                  '    return {"actions": ["echo made > made.txt"], "targets": ["made.txt"]}\n')
    done = project.doit("run", "made.txt")
    assert (0, {"x"}) == (done.status, set(done.ran)), done.err
    assert "made\n" == project.read("made.txt")


def test_the_case_files_are_off_limits_whatever_their_folder_is_called(
    judged: tuple[MiniProject, ScriptedGateway]
) -> None:
    """The deny rules of the agent name the folder that the project chose."""
    project, _ = judged
    project.path("cases").rename(project.path("evals"))
    project.write("pyproject.toml", project.read("pyproject.toml") + '\n[tool.evalkit]\ncases = "evals"\n')
    done = project.doit("run", "case:greeting", "dry=1")
    assert 0 == done.status, done.err
    for tool in ("Read", "Edit"):
        assert f"{tool}(/{project.path('evals')}/**)" in done.err
