"""What would become of tasks, before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from doit.dependency import Dependency
from doit.task import Task

from evalkit.dag.state import StateDB
from evalkit.dag.uptodate import GONE, GroupUpToDate, UpToDate
from evalkit.dag.why import Outlook, Why, foresee
from evalkit.errors import HarnessError

FIRST = "(it may come out the same)"
RAN: dict[str, Any] = {"inputs": {"a": "1"}}
"""What is known of a task whose input `a` was 1."""


def unknown() -> dict[str, str]:
    raise HarnessError("the agent has not run yet")


def inputs(**values: str) -> Any:
    return lambda: {name.replace("_", " "): value for name, value in values.items()}


@define
class Known:
    """What doit knows of earlier runs."""

    values: dict[str, dict[str, Any]]
    ignored: set[str] = field(factory=set)

    def status_is_ignore(self, task: Task) -> bool:
        return task.name in self.ignored

    def get_values(self, name: str) -> dict[str, Any]:
        return self.values.get(name, {})


@define
class Graph:
    """Tasks to ask about."""

    tasks: dict[str, Task] = field(factory=dict)
    values: dict[str, dict[str, Any]] = field(factory=dict)
    ignored: set[str] = field(factory=set)

    def add(self, name: str, *after: str, now: Any = inputs(a="1"), lacks: str = "",  # noqa: B008 - of no state
            values: dict[str, Any] | None = RAN, targets: tuple[Path, ...] = ()) -> None:
        self.tasks[name] = Task(name, [lambda: None], task_dep=list(after), targets=[*map(str, targets)],
                                uptodate=[UpToDate(now, lambda _: lacks)])
        if values is not None:
            self.values[name] = values

    def group(self, name: str, *parts: str) -> None:
        self.tasks[name] = Task(name, None, task_dep=list(parts), has_subtask=True, uptodate=[GroupUpToDate()])

    def of(self, name: str) -> tuple[str, str]:
        why = Outlook(self.tasks, Known(self.values, self.ignored)).of(name)
        return why.status, why.reason


@pytest.fixture
def graph() -> Graph:
    """A trial that is up to date, but for its agent, which has a new prompt and no outcome."""
    made = Graph()
    made.add("workspace:t")
    made.add("agent:t", "workspace:t", now=inputs(a="1", prompt="2"), values={"inputs": {"a": "1", "prompt": "1"}})
    made.add("grade:t:one", "agent:t", now=unknown)
    made.add("grade:t:two", "agent:t", now=unknown)
    made.add("result:t", "agent:t", "grade:t:one", "grade:t:two", now=unknown)
    made.group("case:c", "result:t")
    return made


def test_a_task_of_known_inputs() -> None:
    """Its own check tells."""
    graph = Graph()
    graph.add("same")
    graph.add("other", now=inputs(a="2"))
    graph.add("new", values=None)
    graph.add("lost", lacks=GONE)
    graph.add("failed", values={**RAN, "status": "error"})
    assert [("up to date", ""), ("runs", "a 1 → 2"), ("runs", "never run"), ("runs", GONE),
            ("runs", "it ended in an error last time")] == [*map(graph.of, graph.tasks)]


def test_a_lost_file_makes_its_task_run(tmp_path: Path) -> None:
    """doit runs a task whose target is not there."""
    graph = Graph()
    graph.add("made", targets=(tmp_path / "a",))
    assert ("runs", GONE) == graph.of("made")
    (tmp_path / "a").touch()
    assert ("up to date", "") == graph.of("made")


def test_what_reads_an_outcome_that_there_is_not_yet_waits(graph: Graph) -> None:
    """It is told for whom; nobody knows what will come of it."""
    assert ("runs", "prompt 1 → 2") == graph.of("agent:t")
    waits = ("waits", f"because agent:t runs first {FIRST}")
    assert [waits, waits, waits] == [*map(graph.of, ("grade:t:one", "grade:t:two", "result:t"))]


def test_what_runs_in_any_case_does_not_wait(graph: Graph, tmp_path: Path) -> None:
    """What never ran, what ended in an error, and what lost its outcome."""
    graph.add("judge:t:new", "agent:t", now=unknown, values=None)
    graph.add("grade:t:failed", "agent:t", now=unknown, values={**RAN, "status": "error"})
    graph.add("grade:t:lost", "agent:t", now=unknown, targets=(tmp_path / "lost",))
    assert [("runs", "never run"), ("runs", "it ended in an error last time"), ("runs", GONE)] == [
        *map(graph.of, ("judge:t:new", "grade:t:failed", "grade:t:lost"))]


def test_an_outcome_that_is_kept_is_read_before_its_task_runs(graph: Graph) -> None:
    """The agent's task runs, and finds its outcome in the store: then its graders' inputs are known already."""
    graph.add("grade:t:one", "agent:t")
    graph.add("grade:t:two", "agent:t", now=inputs(a="2"))
    assert [("up to date", ""), ("runs", "a 1 → 2")] == [*map(graph.of, ("grade:t:one", "grade:t:two"))]


def test_a_result_waits_for_its_grades(graph: Graph) -> None:
    """What the last verdicts were says nothing; another input that differs makes it run in any case."""
    graph.add("agent:t", "workspace:t")
    graph.add("grade:t:one", "agent:t", now=inputs(a="2"))
    graph.add("grade:t:two", "agent:t")
    before = {"inputs": {"check one": "1", "verdict of one": "1"}}
    result: dict[str, Any] = {"values": before, "now": inputs(check_one="1", verdict_of_one="1")}
    graph.add("result:t", "agent:t", "grade:t:one", "grade:t:two", **result)
    assert ("waits", f"because grade:t:one runs first {FIRST}") == graph.of("result:t")

    graph.add("grade:t:two", "agent:t", now=inputs(a="3"))
    assert ("waits", f"because grade:t:one and 1 more run first {FIRST}") == graph.of("result:t")

    graph.add("result:t", "agent:t", "grade:t:one", **result | {"now": inputs(check_one="2", verdict_of_one="0")})
    assert ("runs", "check one 1 → 2") == graph.of("result:t")


def test_inputs_that_cannot_be_read_are_told() -> None:
    """Nothing that runs before would help."""
    graph = Graph()
    graph.add("agent:t")
    graph.add("grade:t:one", "agent:t", now=unknown)
    assert ("runs", "the agent has not run yet") == graph.of("grade:t:one")


def test_ignored_tasks_and_what_needs_them(graph: Graph) -> None:
    """doit leaves both out."""
    graph.ignored = {"grade:t:two"}
    assert [("ignored", "`doit ignore` said so"), ("ignored", "it needs grade:t:two, which is ignored")] == [
        *map(graph.of, ("grade:t:two", "result:t"))]
    assert "waits" == graph.of("grade:t:one")[0]


def test_what_is_needed_comes_first(graph: Graph) -> None:
    """Each task once, groups left out, in an order in which they could run."""
    outlook = Outlook(graph.tasks)
    assert ["workspace:t", "agent:t", "grade:t:one", "grade:t:two", "result:t"] == outlook.needed(["case:c", "agent:t"])
    assert ["workspace:t", "agent:t"] == outlook.needed(["agent:t"])


def test_doits_own_commands_say_the_same(graph: Graph, tmp_path: Path) -> None:
    """`list --status` and `info` ask doit, which asks the outlook."""
    state = Dependency(StateDB, str(tmp_path / "state.db"))
    for name, values in graph.values.items():
        state._set(name, "_values_:", values)
    graph.tasks["result:t"].uptodate = [(UpToDate(inputs(a="1")), [], {})]  # its own check would say: up to date
    outlook = Outlook(graph.tasks, state)
    said = {name: outlook.of(name) for name in outlook.checks}

    foresee(graph.tasks)
    found = {}
    for name in outlook.checks:
        status = state.get_status(graph.tasks[name], graph.tasks, get_log=True)
        found[name] = (status.status, str(graph.tasks[name].uptodate[0][0]))
    assert {name: ("run" if why.stale else "up-to-date", why.reason or "up to date")
            for name, why in said.items()} == found
    assert Why("result:t", "waits", f"because agent:t runs first {FIRST}") == said["result:t"]
    assert "run" == state.get_status(graph.tasks["case:c"], graph.tasks).status
    state.close()
