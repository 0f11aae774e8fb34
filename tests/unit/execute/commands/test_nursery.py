"""Sessions that are forks of a process which imported the application: each is alone, and ends with all it started."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalkit.analysis.model import AgentConfig
from evalkit.errors import HarnessError, UserError
from evalkit.execute.commands import CommandLayer, open_layer
from evalkit.execute.commands import nursery as module
from evalkit.execute.running import begin

APP = '''
import os, random, subprocess, sys, time
counter = []
imported_by = os.getpid()

class Session:
    def __init__(self, state):
        self.shown = state

    def call(self, name, arguments):
        if name == "count":
            counter.append(1)
            return {"count": len(counter), "home": os.environ.get("HOME"), "pid": os.getpid(), "by": imported_by}
        if name == "random":
            return random.random()
        if name == "crash":
            os._exit(7)
        if name == "hang":
            time.sleep(60)
        if name == "leave":
            print("left", file=sys.stderr, flush=True)
            return str(subprocess.Popen(["sleep", "300"], start_new_session=True).pid)
        if name == "large":
            return "x" * 1_000_000
        raise KeyError(name)

    def state(self):
        return self.shown

class Registry:
    commands = {name: {"type": "object"} for name in ("count", "random", "crash", "hang", "leave", "large")}
    def start(self, state):
        return Session(state)

registry = Registry()
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    begin()
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "state.json").write_text('{"mode": "rgb"}')
    (tmp_path / "home").mkdir()
    return tmp_path


@contextmanager
def opened(project: Path, name: str = "home", *, often: bool = True) -> Iterator[CommandLayer]:
    home = project / name
    home.mkdir(exist_ok=True)
    with open_layer(AgentConfig("tools", registry="app:registry", state="state.json"), root=project, suite=project,
                    env={"PATH": "/usr/bin:/bin", "HOME": str(home)}, home=home, often=often) as layer:
        yield layer


def test_each_session_is_alone(project: Path) -> None:
    """Its modules are as they were imported, its environment is its own, its random numbers are others."""
    told = []
    for number in range(3):
        with opened(project, f"home{number}") as layer:
            assert {"mode": "rgb"} == layer.state(10)
            told.append((layer.call("count", {}, 10).text, layer.call("random", {}, 10).text))
    counts = [json.loads(count) for count, _ in told]
    assert [1, 1, 1] == [one["count"] for one in counts]
    assert [f"{project}/home{number}" for number in range(3)] == [one["home"] for one in counts]
    assert 1 == len({one["by"] for one in counts}), "it was imported once"
    assert 3 == len({one["pid"] for one in counts})
    assert 3 == len({number for _, number in told})


def test_sessions_at_a_time(project: Path) -> None:
    """As agents run, in threads."""
    found: list[str] = []

    def work(number: int) -> None:
        with opened(project, f"home{number}") as layer:
            found.extend(layer.call("count", {}, 20).text for _ in range(3))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [1] * 6 + [2] * 6 + [3] * 6 == sorted(json.loads(text)["count"] for text in found)


def test_what_a_session_started_ends_with_it(project: Path) -> None:
    """Also what left its group; what it said on standard error is in its own log."""
    with opened(project) as layer:
        left = Path("/proc", layer.call("leave", {}, 10).text, "stat")
        assert " S " in left.read_text() or " R " in left.read_text()
    until = time.monotonic() + 20  # the signal is sent; a busy machine takes its time to act on it
    while left.exists() and " Z " not in left.read_text():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert "left" in (project / "home/commands.log").read_text()


def test_a_session_that_dies_or_hangs_takes_no_other_along(project: Path) -> None:
    with opened(project) as layer, pytest.raises(HarnessError, match="it ended"):
        layer.call("crash", {}, 10)
    with opened(project) as layer, pytest.raises(HarnessError, match=r"did not answer within 0\.5 s"):
        layer.call("hang", {}, 0.5)
    with opened(project) as layer:
        assert 1_000_000 == len(layer.call("large", {}, 10).text)


@pytest.mark.parametrize("change", ["import threading, time; threading.Thread(target=time.sleep, args=(9,), "
                                    "daemon=True).start()\n", ""])
def test_an_application_with_threads_is_started_each_time(project: Path, change: str) -> None:
    """A fork would have only one of them."""
    (project / "app.py").write_text(change + APP)
    with opened(project) as layer:
        told = json.loads(layer.call("count", {}, 10).text)
    assert (told["pid"] == told["by"]) is bool(change)


def test_an_application_that_cannot_be_imported(project: Path) -> None:
    """It is told as for any session."""
    (project / "app.py").write_text("raise ValueError('no licence')\n")
    with pytest.raises(UserError, match="registry `app:registry` cannot be started: ValueError: no licence"), \
            opened(project):
        pass


def test_a_nursery_that_died_is_no_trouble(project: Path) -> None:
    """Sessions are started as others are."""
    with opened(project):
        pass
    for nursery in module._nurseries.values():
        nursery._process.kill()
        nursery._process.wait()
    with opened(project) as layer:
        told = json.loads(layer.call("count", {}, 10).text)
    assert told["pid"] == told["by"]
