"""A project of many small units, measured by a stand-in agent that asks a scripted gateway; and what came of them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard
from attrs import define

from evalkit.execute.store import Store
from evalkit.gateway import Reply, ScriptedGateway, Text
from tests.feature.conftest import scores
from tests.feature.project import KEY, MiniProject
from tests.feature.stand_in import StandIn
from tests.processes import proc_files

__all__ = ["Units", "is_at_work", "units"]

_CASE = """\
case UNIT {
  use note
  prompt \"\"\"
    Write a greeting into answer.txt. [UNIT]
    \"\"\"
  check grep "answer.txt" has "[UNIT]" as greets
  check exists "answer.txt" as there
}
"""
_MORE = """\
  check run "sh check.sh" as own
  judge "tone" as tone {
    files "answer.txt"
    pass at 6
    criterion "It is friendly."
  }
}
"""
_TIMES = frozenset({"seconds", "finished_at", "prewarm_seconds", "duration", "time", "at", "logs", "facts", "spans"})
"""Fields of results, and of the page's data, that differ from run to run."""


@define
class Units:
    """A project with its agent and its gateway. The cases are `unit-01`, …; every fourth has a judge, too."""

    project: MiniProject
    agent: StandIn
    gateway: ScriptedGateway
    names: list[str]

    @property
    def store(self) -> Store:
        return Store(self.project.root / ".evalkit/store")

    def kept(self, kind: str = "agent") -> set[str]:
        """The keys of what is in the store."""
        return {key for of_kind, key in self.store.entries() if of_kind == kind}

    def finished(self) -> set[str]:
        """The keys of agent runs that ended and are not in the store yet."""
        return {path.stem for path in (self.store.root / "finished").glob("*.json")}

    def keys(self, judge: str = "") -> dict[str, str]:
        """The agent run's key of every unit that has a result; or that of a judge's answer."""
        results = [json.loads(path.read_bytes()) for path in self.project.path("results").rglob("result.json")]
        if not judge:
            return {result["unit"]: result["agent_key"] for result in results}
        return {result["unit"]: check["key"] for result in results for check in result["checks"]
                if check["id"] == judge}

    def requests(self) -> tuple[Counter[str], Counter[str]]:
        """How often the provider was asked, by agents and by judges, for each unit."""
        agents: Counter[str] = Counter()
        judges: Counter[str] = Counter()
        for body in self.gateway.main_requests:
            found = re.search(r"\[(unit-\d+)\]", json.dumps(body["messages"]))
            assert found is not None
            (agents if body["tools"][0]["name"] == "Write" else judges)[found.group(1)] += 1
        return agents, judges

    def outcome(self) -> dict[str, Any]:
        """All files of the results, without times: every record whole, every tree and transcript with its contents."""
        root = self.project.path("results")
        return {path.relative_to(root).as_posix(): _contents(path) for path in sorted(root.rglob("*"))
                if path.is_file() and "logs" not in path.relative_to(root).parts}


def table(out: str) -> list[str]:
    """A printed table without its column of times."""
    return [re.sub(r"\s+([\d.]+ ?(s|min)|—)?\s*$", "", line) for line in out.splitlines()]


def _contents(path: Path) -> Any:
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_bytes()))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).replace(b"\0", b"")
    if path.suffix == ".tmp":
        return "half-written"
    if path.suffix == ".js":  # the page's data of a trial
        return _timeless(json.loads(path.read_text().removeprefix("evalkit(").removesuffix(");\n")))
    if path.suffix == ".csv":
        return _timeless(list(csv.DictReader(io.StringIO(path.read_text()))))
    if path.suffix == ".html":  # how long trials took is in its index, and in sums
        return re.sub(r'"seconds":[\d.]+', "", path.read_text())
    return re.sub(r"[\d.]+ ?s\b|time=\"[\d.]+\"|\d{4}-\d\d-\d\dT[\d:+]+", "", path.read_text())


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(part) for name, part in value.items() if name not in _TIMES}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


@contextmanager
def units(folder: Path, count: int, *, delay: float = 0.0, judged: bool = True, **manners: Any) -> Iterator[Units]:
    """A project of `count` units. delay: seconds that the provider takes to answer the agent."""
    project = MiniProject.make(folder)
    project.warm = True
    shutil.rmtree(project.path("cases/mini/greeting"))
    names = [f"unit-{number:02d}" for number in range(1, count + 1)]
    for number, name in enumerate(names):
        text = _CASE.removesuffix("}\n") + _MORE if judged and number % 4 == 0 else _CASE
        project.write(f"cases/mini/{name}.eval", text.replace("UNIT", name))

    def answer(request: dict[str, Any]) -> Reply:
        return Reply((Text("Done."),), delay=delay) if request["tools"][0]["name"] == "Write" else scores(request)

    agent = StandIn.make(folder / "agent", asks=True, **manners)
    with ScriptedGateway([answer] * 5_000) as gateway:
        project.env |= {"AI_GATEWAY_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url,
                        "EVALKIT_CLAUDE": str(agent.program)}
        time.sleep(0.05)  # what is as young as a tick of the clock is not settled
        yield Units(project, agent, gateway, names)


def is_at_work(agent: StandIn) -> bool:
    """Whether a process of the agent runs."""
    needle = str(agent.program).encode()
    for entry in proc_files("cmdline"):
        try:
            if needle in entry.read_bytes().split(b"\0"):
                return os.getpid() != int(entry.parent.name)
        except OSError:  # it ended meanwhile
            continue
    return False
