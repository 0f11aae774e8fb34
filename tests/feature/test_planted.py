"""What an agent plants in the sandbox for those who come after it: copies, archives, graders, clean-up. And limits.

Each is stopped, harmless or reported, and the verdict is right all the same.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from evalkit.execute.lanes.limits import Limits
from tests.feature.project import Done, MiniProject
from tests.sandbox import Inside, bwrap

MB = 1024 * 1024
ANSWER = "echo Hello >answer.txt"
PLANTS: dict[str, tuple[str, str]] = {
    "links that lead out": ("ln -s /etc/passwd leak; ln -s {outside} cases; ln -s ../../../.. up",
                            "a link that leads outside or in a circle"),
    "a link in the answer's folder": ("mkdir -p a/b; ln -s / a/b/root; ln -s /proc/self/root/etc a/b/etc",
                                      "a link that leads outside or in a circle"),
    "a fifo": ("mkfifo pipe", "neither a file nor a folder"),
    "a socket": ("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
                 "neither a file nor a folder"),
    "a sparse file of 2 GB": ("dd if=/dev/null of=hole bs=1 seek=2000000000 2>&1", "over 128 MB for a file"),
    "a file name with a line end": ("touch \"$(printf 'a\\nb')\"", ""),
    "a file name that is not UTF-8": ("touch \"$(printf 'a\\377b')\"", "its name is not UTF-8"),
    "folders without permissions": ("mkdir -p shut/in; touch shut/in/x; chmod 0 shut/in shut", ""),
    "folders in folders": ("i=0; while [ $i -lt 150 ]; do mkdir d; cd d; i=$((i+1)); done", "over 100 folders deep"),
    "a home full of links": ("ln -s / ~/root; mkfifo ~/pipe; mkdir ~/shut; chmod 0 ~/shut", ""),
}


@pytest.fixture
def sandboxed(tmp_path: Path) -> MiniProject:
    """The small project in the sandbox lane."""
    bwrap()
    project = MiniProject.make(tmp_path)
    project.env["EVALKIT_LANE"] = "sandbox"
    return project


def play(project: MiniProject, script: str) -> tuple[Done, dict[str, Any]]:
    """Run an agent that is a shell script; how the run ended, and the trial's result."""
    project.write("agent.sh", script + "\n")
    done = project.doit("run", "case:greeting", "agent=command:sh {project}/agent.sh", "judge=off")
    found = list(project.path("results/latest").glob("command*/greeting/trial-1/result.json"))
    assert found, done.err + done.out
    return done, json.loads(found[0].read_text())


@pytest.mark.parametrize("name", PLANTS)
def test_what_is_planted_reaches_nobody(name: str, sandboxed: MiniProject, tmp_path: Path) -> None:
    """The answer passes, what was left out is said, nothing outside changed, and no trace of the trial is left."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    script, said = PLANTS[name]
    done, result = play(sandboxed, f"{ANSWER}; {script.format(outside=shlex.quote(str(outside)))}")
    assert 0 == done.status, done.err + done.out
    assert "sandbox" == result["lane"]
    assert said in json.dumps(result, ensure_ascii=False)
    assert ["kept"] == [path.name for path in outside.iterdir()]
    assert [] == list((tmp_path / "work").rglob("*-agent-*"))


def test_two_hundred_thousand_files(sandboxed: MiniProject) -> None:
    """The cap on entries holds before anything is hashed or copied: what follows is left out, and said."""
    code = "import os; [open(f'many-{n}', 'w').close() for n in range(200000)]"
    _, result = play(sandboxed, f"{ANSWER}; python3 -c {shlex.quote(code)}")
    assert "the tree has over 20000 entries" in json.dumps(result)
    statuses = {check["id"]: check["verdict"]["status"] for check in result["checks"]}
    assert "pass" == statuses["greets"]


def test_a_report_that_is_a_link_is_none(sandboxed: MiniProject, tmp_path: Path) -> None:
    """Code of the agent's that runs while it is graded can put nothing of this machine's in a report's place."""
    (tmp_path / "passing.json").write_text(json.dumps({"testResults": [
        {"name": "x", "assertionResults": [{"fullName": "x", "status": "passed"}]}]}))
    sandboxed.write("cases/mini/greeting/hidden/t.txt", "a test\n")
    sandboxed.edit("cases/mini/greeting/greeting.eval", '  judge "tone"',
                   '  check hidden-tests "hidden" run "sh run.sh {report}" as hidden\n  judge "tone"')
    _, result = play(sandboxed, f"{ANSWER}; echo 'ln -s {tmp_path}/passing.json \"$1\"' >run.sh")
    verdict = next(check["verdict"] for check in result["checks"] if check["id"] == "hidden")
    assert "error" == verdict["status"]
    assert "there is no report" in verdict["summary"]


def test_an_agent_that_ends_all_it_can(sandboxed: MiniProject) -> None:
    """It ends itself, and nobody else."""
    done, result = play(sandboxed, f"{ANSWER}; trap '' TERM; kill -TERM -1; sleep 0.1; exit 0")
    assert 0 == done.status, done.err
    assert "completed" == result["ending"]["status"]


# ---- limits ----
SMALL = Limits(memory=200 * MB, processes=40, file=20 * MB, disk=60 * MB, shared=10 * MB)
STRUCK: dict[str, tuple[str, str]] = {
    "memory": ("memory limit of 200 MB", "x = bytearray(400 << 20); import time; time.sleep(20)"),
    "processes": ("limit of 40 processes", "import os, time\nfor _ in range(300):\n    os.fork() or time.sleep(20)\n"
                                           "time.sleep(20)"),
    "a bomb": ("limit of 40 processes", "import os, time\nfor _ in range(9):\n    os.fork()\ntime.sleep(20)"),
    "file": ("file limit of 20 MB", "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
                                    "open('big', 'wb').write(bytes(30 << 20))"),
    "disk": ("disk limit of 60 MB", "for n in range(8): open(f'f{n}', 'wb').write(bytes(10 << 20))\n"
                                    "import time; time.sleep(20)"),
}


@pytest.mark.parametrize("name", STRUCK)
def test_a_limit_says_that_it_struck(name: str, tmp_path: Path) -> None:
    """What goes over is ended, all of it, and its ending names the limit."""
    limit, code = STRUCK[name]
    inside = Inside.of(tmp_path / "room", SMALL)
    finished, _ = inside.python(code)
    assert limit == finished.ended_by
    assert finished.exit_code != 0


def test_what_is_in_memory_is_limited(tmp_path: Path) -> None:
    """A full /tmp is the command's own trouble."""
    finished, said = Inside.of(tmp_path / "room", SMALL).run("dd", "if=/dev/zero", "of=/tmp/x", "bs=1M", "count=15")
    assert 1 == finished.exit_code
    assert "No space left on device" in said


def test_what_leaves_its_session_ends_with_the_command(tmp_path: Path) -> None:
    """Also where it emptied its environment: nothing writes into a tree that is being graded."""
    inside = Inside.of(tmp_path / "room")
    finished, _ = inside.run("sh", "-c", "env -i /usr/bin/setsid /bin/sh -c 'while :; do /bin/echo x >>grows; done' "
                                         ">/dev/null 2>&1 & sleep 0.3")
    assert finished.ok
    size = (inside.room.tree / "grows").stat().st_size
    assert size > 0
    inside.run("sleep", "0.3")
    assert size == (inside.room.tree / "grows").stat().st_size
