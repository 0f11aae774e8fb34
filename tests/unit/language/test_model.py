"""Compiled units as data: they survive JSON, tell where their values came from, and keep old keys."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from evalkit.analysis import load_project
from evalkit.analysis import model as m
from evalkit.digest import canonical, digest
from evalkit.records import structure, unstructure
from tests.unit.language.project import compile_case, write
from tests.unit.language.test_expressible import FILES, ITEMS


@pytest.mark.parametrize("item", ITEMS, ids=[item[0] for item in ITEMS])
def test_a_unit_survives_json(item: tuple[str, str, str, object, object], tmp_path: Path) -> None:
    """What is read back is equal: every check is of the class that it was."""
    _, suite, case, *_ = item
    prompt = "" if "prompt" in case else '"Do it." '
    files = {**FILES, "cases/s/it.eval": f"case it {prompt}{{\n{case}\n}}"}
    unit = load_project(write(tmp_path, files, suite=f"suite s {{\n{suite}\n}}")).cases["it"]

    assert unit == structure(orjson.loads(orjson.dumps(unstructure(unit))), m.Case)


def test_specs_of_equal_fields_are_told_apart() -> None:
    """Two kinds of check may say the same."""
    specs: list[m.CheckSpec] = [m.SnapshotSpec("has", (m.Pattern("a"),)), m.TranscriptSpec("has", (m.Pattern("a"),))]
    checks = [m.Check("i", "k", spec, (), False, "", "") for spec in specs]

    assert checks == [structure(orjson.loads(orjson.dumps(unstructure(check))), m.Check) for check in checks]


ORIGINS = """suite s {
  scaffold copy "skeleton"
  limits { turns 3 }
  agent claude { allow Read, "Bash(native *)" }
  skills writing from "skills"
  env A = "b"
  arm x { temperature 1 }
  profile app {
    limits { time 1m }
    prewarm "one", "two"
  }
}
"""


def test_values_tell_where_they_came_from(tmp_path: Path) -> None:
    """Each by the path of its field; what nobody wrote has no place."""
    case = """case it {
  prompt "PROMPT.md"
  use app
  tags quick
  check run "x" as loop
  track t { solution "solution" }
}
"""
    [unit] = load_project(write(tmp_path, {"cases/s/it.eval": case}, suite=ORIGINS)).units["it"]
    suite, own = "cases/s/suite.eval", "cases/s/it.eval"

    assert {
        "name": f"{own}:1:6", "suite": f"{suite}:1:1", "track": f"{own}:6:3", "arm": f"{suite}:7:3",
        "profile": f"{own}:3:3", "prompt": f"{own}:2:10", "setup.scaffold": f"{suite}:2:3",
        "limits.turns": f"{suite}:3:18", "limits.time": f"{suite}:9:19", "agent.allow.Read": f"{suite}:4:24",
        "agent.allow.Bash(native *)": f"{suite}:4:30", "agent.env.A": f"{suite}:6:3",
        "agent.temperature": f"{suite}:7:11", "setup.skills": f"{suite}:5:3", "setup.skills.writing": f"{suite}:5:10",
        "setup.prewarm": f"{suite}:10:5", "setup.prewarm.0": f"{suite}:10:13", "setup.prewarm.1": f"{suite}:10:20",
        "tags.quick": f"{own}:4:8", "checks.loop": f"{own}:5:3", "solution": f"{own}:6:13",
    } == unit.origins


def test_places_and_silenced_findings_are_in_no_key(tmp_path: Path) -> None:
    """Moving a statement, or silencing a warning, changes nothing that is stored."""
    plain = compile_case(tmp_path, "")
    moved = compile_case(tmp_path, '\n\nallow W001 "meant"')

    assert plain != moved
    assert digest(plain) == digest(moved)


def test_a_case_that_says_nothing_new_has_the_keys_that_it_had(tmp_path: Path) -> None:
    """Fields that came later are in no key while they are at their default; these are the fields of the first keys."""
    unit = compile_case(tmp_path, 'check grep "a" has "b"\njudge { files "a"; criterion "b" }')
    fields = {
        m.RunSpec: {"command"}, m.GrepSpec: {"globs", "expect", "patterns"}, m.Limits: {"turns", "time"},
        m.AgentConfig: {"name", "allow", "deny", "suffix", "env"},
        m.Setup: {"toolchains", "scaffold", "starter", "skills", "prewarm", "caches"},
        m.Check: {"id", "kind", "spec", "lanes", "advisory", "description"},
        m.Judge: {"id", "title", "files", "threshold", "advisory", "criteria", "context"},
    }

    for value in (unit.checks[0].spec, unit.checks[1].spec, unit.limits, unit.agent, unit.setup, unit.checks[0],
                  unit.judges[0]):
        assert fields[type(value)] == set(canonical(value)) - {""}
    assert {"turns", "time", "cost"} == set(canonical(compile_case(tmp_path, "limits { cost $1 }").limits)) - {""}


@pytest.mark.parametrize(("value", "expected"), [
    (m.RunSpec(m.Command(("native", "test", "-Dplatform=null"), 600)),
     "769a475217970718699a18a43d7d6005cbaf5cbc53c1c0143398a5cd180f7a5e"),
    (m.GrepSpec(("src/**/*.native",), "has", (m.Pattern("global-key="),)),
     "1aae5e2a954a35ae7c5fd3fe7ef485708b4aecbaf3ab3cdc42a66f5482bb5b95"),
    (m.StepsSpec((m.Each("src/**/*.native", m.Command(("native", "markup", "check", "{file}"), 600)),)),
     "c5ab82ec20c9627b8d06263b7b2da81e94c5a8cfc333e21bc77e8b241b36115f"),
    (m.Limits(80, 1200), "d6e20c609091d01b6d1d5a4b0fcb4708e224061106bbb54b1872d97ee51d9ef2"),
])
def test_stored_runs_stay(value: object, expected: str) -> None:
    """Digests that the first version computed for the kanban board: its agent runs were paid for."""
    assert expected == digest(value)
