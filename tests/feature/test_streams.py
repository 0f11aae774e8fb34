"""`evalkit` on streams that are closed, cut, or take other characters."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.feature.project import MiniProject

BAD = "case é {\n  prompt \"a.md\"\n"


def shell(project: MiniProject, line: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "E": f'"{sys.executable}" -m evalkit.cli', **more}
    return subprocess.run(["bash", "-c", line.replace("EVALKIT", f'"{sys.executable}" -m evalkit.cli')],
                          cwd=project.root, env=env, capture_output=True, check=False, timeout=60)


def test_formatted_text_is_utf_8_whatever_the_terminal_takes(project: MiniProject) -> None:
    """An editor reads it back as UTF-8."""
    project.write("cases/mini/u.eval", 'case u {\n  about "é"\n}\n')
    done = shell(project, "EVALKIT fmt - < cases/mini/u.eval", PYTHONIOENCODING="latin-1")
    assert (0, 'case u {\n  about "é"\n}\n'.encode()) == (done.returncode, done.stdout)


@pytest.mark.parametrize("command", ["check", "show greeting", "list", "explain E012"])
def test_an_encoding_that_lacks_a_character(project: MiniProject, command: str) -> None:
    """Question marks instead of a traceback."""
    project.edit("cases/mini/greeting/greeting.eval", "Writes a greeting.", "Écrit.")
    done = shell(project, f"EVALKIT {command}", PYTHONIOENCODING="ascii")
    assert b"Traceback" not in done.stderr
    assert 0 == done.returncode


def test_a_bad_case_in_an_encoding_that_lacks_a_character(project: MiniProject) -> None:
    """The diagnostics are shown all the same."""
    project.write("cases/mini/u.eval", BAD)
    done = shell(project, "EVALKIT check", PYTHONIOENCODING="ascii")
    assert (1, b"") == (done.returncode, done.stderr)
    assert b"error[" in done.stdout


@pytest.mark.parametrize("line", ["EVALKIT fmt - < /dev/null >&-", "EVALKIT list >&-", "EVALKIT list | true",
                                  "EVALKIT check 2>&- >&-"])
def test_closed_streams(project: MiniProject, line: str) -> None:
    """Output that nobody reads is no error."""
    done = shell(project, line)
    assert (0, b"") == (done.returncode, done.stderr)


@pytest.mark.parametrize("command", ["store ls --json", "plan", "choices", "list --json", "check", "show greeting"])
@pytest.mark.parametrize("buffered", ["", "1"])
def test_output_that_there_is_no_room_for(project: MiniProject, command: str, buffered: str) -> None:
    """It is told, since it was all that the command was for."""
    done = shell(project, f"EVALKIT {command} > /dev/full", PYTHONUNBUFFERED=buffered)
    assert (3, b"harness error: the output cannot be written: No space left on device\n") == (
        done.returncode, done.stderr)


@pytest.mark.parametrize("command", ["why", "choices", "store ls", "fmt", "check", "init", "list", "plan"])
def test_a_folder_that_is_gone(project: MiniProject, command: str) -> None:
    """The person is told where they are."""
    done = shell(project, f"mkdir gone; cd gone; rmdir ../gone; EVALKIT {command}")
    assert (2, b"error: the current folder is not there any more\n  change to one that is: cd ..\n") == (
        done.returncode, done.stderr)


@pytest.mark.parametrize("errors", ["2> /dev/full", "2>&-", "2< /dev/null", "2> >(true)"])
@pytest.mark.parametrize(("command", "status"), [("run all agent=nop", 1), ("run case:nope", 2), ("run all -x", 2)])
def test_messages_that_nobody_can_read(project: MiniProject, errors: str, command: str, status: int) -> None:
    """They are dropped: the work is done, the table printed, and the exit status is that of the verdicts."""
    done = shell(project, f'sleep 0.1; exec "{sys.executable}" -m doit {command} {errors}', **project.environ)
    assert (status, b"") == (done.returncode, done.stderr)
    assert (status == 1) == (b"greeting" in done.stdout)


def test_a_reader_of_all_that_goes_away(project: MiniProject) -> None:
    """Work goes on to its end: the results are there."""
    done = shell(project, f'"{sys.executable}" -m doit run all agent=nop 2>&1 | head -1; exit ${{PIPESTATUS[0]}}',
                 **project.environ)
    assert 1 == done.returncode
    assert project.path("results/latest/nop/greeting/trial-1/result.json").exists()


@pytest.mark.parametrize("command", ["run all agent=nop", "run", "run --help"])
def test_a_run_whose_output_there_is_no_room_for(project: MiniProject, command: str) -> None:
    """It is told, once; the status is that of the verdicts, and nothing is said of it at Python's end."""
    done = shell(project, f'"{sys.executable}" -m doit {command} > /dev/full', **project.environ)
    assert int("agent" in command) == done.returncode
    assert 1 == done.stderr.count(b"cannot be written: No space left on device")
    assert b"Exception" not in done.stderr
    assert b"Traceback" not in done.stderr
