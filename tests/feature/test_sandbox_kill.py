"""A run in the sandbox that is killed (SIGKILL) at any moment leaves nothing after the next start.

The moments are random times, and right before or after the start of a child: there the sandbox is half made.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.feature.project import MiniProject, on_path
from tests.processes import proc_files
from tests.sandbox import bwrap

_AT_START = '''\
import itertools, os, signal, subprocess, threading, time

starts = itertools.count(1)
last, after = int(os.environ["KILL_AT_START"]), float(os.environ["KILL_AFTER"])
plain = subprocess.Popen.__init__

def popen(self, args, *rest, **options):
    if "bwrap" in " ".join(map(str, args)) and next(starts) == last:
        threading.Thread(target=lambda: (time.sleep(after), os.kill(os.getpid(), signal.SIGKILL))).start()
    plain(self, args, *rest, **options)

subprocess.Popen.__init__ = popen
'''
AGENT = """\
setsid sleep 7{token} &
env -i setsid sleep 7{token} &
echo Hello >answer.txt
sleep 0.4
"""


def project_of(folder: Path, token: str) -> MiniProject:
    project = MiniProject.make(folder)
    project.env["EVALKIT_LANE"] = "sandbox"
    project.edit("cases/mini/suite.eval", '    caches "cache"',
                 '    prewarm "sh -c \'mkdir cache; date >cache/made\'"\n    caches "cache"')
    project.write("agent.sh", AGENT.format(token=token))
    return project


def command(project: MiniProject, *more: str) -> list[str]:
    return [sys.executable, "-m", "doit", "run", "case:greeting", "agent=command:sh {project}/agent.sh", "judge=off",
            "fresh=1", *more]


def alive(token: str) -> list[str]:
    """The command lines of processes that sleep for the token's seconds."""
    found = []
    for path in proc_files("cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if token in text:
            found.append(text)
    return found


def killed(project: MiniProject, env: dict[str, str], after: float | None) -> None:
    """A run that is killed: after some seconds, or by itself."""
    process = subprocess.Popen(command(project), cwd=project.root, env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        process.wait(timeout=60 if after is None else after)
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()


def check_nothing_is_left(project: MiniProject, folder: Path, token: str) -> None:
    """After the next start: no process, no mount, no tree."""
    done = project.doit(*command(project)[3:])
    assert 0 == done.status, done.err + done.out
    assert [] == alive(token)
    assert str(folder) not in Path("/proc/self/mountinfo").read_text()
    assert [] == list((folder / "work").glob("*/*"))
    assert [] == list(project.path(".evalkit/store/making").iterdir())


@pytest.mark.slow
def test_killed_at_random_times(tmp_path: Path) -> None:
    """Ten kills, one after the other, and then one look."""
    bwrap()
    token, chance = str(uuid4().int)[:15], random.Random(7)
    project = project_of(tmp_path, token)
    for _ in range(10):
        killed(project, dict(project.environ), 0.2 + 1.5 * chance.random())
    check_nothing_is_left(project, tmp_path, token)


@pytest.mark.parametrize("start", [1, 2, 3])
def test_killed_while_a_sandbox_is_made(start: int, tmp_path: Path) -> None:
    """Of the prewarm, the agent and a check: right at the start, and some moments later."""
    bwrap()
    token = str(uuid4().int)[:15]
    project = project_of(tmp_path, token)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(_AT_START)
    for after in ("0", "0.004", "0.01", "0.03"):
        env = {"PYTHONPATH": on_path(hooks), "KILL_AT_START": str(start), "KILL_AFTER": after}
        killed(project, {**project.environ, **env}, None)
    check_nothing_is_left(project, tmp_path, token)


def test_what_a_killed_run_began_ends_without_a_next_one(tmp_path: Path) -> None:
    """The sandbox ends with evalkit: an agent that nobody waits for costs nothing."""
    bwrap()
    token = str(uuid4().int)[:15]
    project = project_of(tmp_path, token)
    project.write("agent.sh", AGENT.format(token=token) + "sleep 60\n")
    process = subprocess.Popen(command(project), cwd=project.root, env=project.environ, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(alive(f"sleep 7{token}")) < 2:
        assert time.monotonic() < until, "the agent did not start"
        time.sleep(0.05)
    process.kill()
    process.wait()
    until = time.monotonic() + 10
    while alive(f"sleep 7{token}"):
        assert time.monotonic() < until, "the agent outlives evalkit"
        time.sleep(0.05)
