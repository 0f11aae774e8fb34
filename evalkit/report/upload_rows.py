"""What is uploaded of a run: a row for each trial, made from summary.json and each trial's result.json; pure but for
reading them.

Scores go from 0 to 1: `passed` is the trial's own verdict, each check is 1 or 0, a judge its score divided by 10, and a
check's measures stand as `CHECK: NAME`; of hidden tests that is the share that passed (`CHECK: tests`). A check that
was skipped or could not be graded has no score. Neither has a contaminated trial, or one in error: they say nothing of
who is measured, and their row has the reason as its error. A trial that a budget kept from running is no row.

A row's id is made from the run and the trial's place in it, so that the same trial is the same row however often it is
uploaded, regraded or sampled anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen

from evalkit.digest import digest
from evalkit.errors import HarnessError, UserError

__all__ = ["Experiment", "experiment_of"]


@frozen
class Experiment:
    """A run as an experiment. rows: what the SDK's `log` takes, each with its id."""

    name: str
    metadata: dict[str, Any]
    rows: tuple[dict[str, Any], ...]


def experiment_of(root: Path, run: str) -> Experiment:
    """Raises UserError where there is no such run, or nothing of it to upload, HarnessError for one that is damaged."""
    folder = root / "results" / run
    lines = _lines(folder, run)
    rows = tuple(_row(run, line, _result(folder / line["place"] / "result.json")) for line in lines
                 if line["status"] != "not run")
    if not rows:
        raise UserError(f"run `{run}` has no trial that ran", hint="doit run case:NAME makes one")
    if any(line["dry"] for line in lines):
        raise UserError(f"run `{run}` is a dry one: nothing in it measures anything", hint="choose another run")
    return Experiment(run, {"run": run, "suites": sorted({line["suite"] for line in lines}),
                            "agents": sorted({line["agent"] for line in lines}),
                            "models": sorted({line["model"] for line in lines if line["model"]})}, rows)


def _lines(folder: Path, run: str) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = orjson.loads((folder / "summary.json").read_bytes())["trials"]
    except FileNotFoundError:
        raise UserError(f"there is no run `{run}` under results/", hint="doit run … makes it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HarnessError(f"{folder / 'summary.json'} cannot be read: {error}",
                           hint=f"doit run report:{run}") from None
    return found


def _result(path: Path) -> Mapping[str, Any]:
    """A trial's result; nothing for one that has none."""
    try:
        found: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HarnessError(f"{path} cannot be read: {error}", hint="run the case again: its result is made anew") \
            from None
    return found


def _row(run: str, line: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    known = line["status"] in ("pass", "fail")
    row: dict[str, Any] = {
        "id": digest(["upload", run, line["place"]])[:32],
        "input": {"case": line["case"], "unit": line["unit"]},
        "output": {"status": line["status"], "reason": line["reason"], "ended": line["ended"]},
        "scores": _scores(line, result) if known else {},
        "metadata": _metadata(line, result),
        "metrics": _metrics(line),
        "tags": _tags(line),
    }
    if not known:
        row["error"] = f"{line['status']}: {line['reason']}"
    return row


def _scores(line: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, float]:
    scores = {"passed": float(line["status"] == "pass")}
    for check, status in line["checks"].items():
        if check in line["scores"]:
            scores[check] = line["scores"][check] / 10
        elif status in ("pass", "fail"):
            scores[check] = float(status == "pass")
    for check, measures in line.get("measures", {}).items():
        scores |= {f"{check}: {name}": float(value) for name, value in measures.items()}
    for check in result.get("checks", ()):
        ran = [test for test in check["verdict"].get("tests") or () if test["status"] != "skipped"]
        if ran:
            scores[f"{check['id']}: tests"] = sum(test["status"] == "passed" for test in ran) / len(ran)
    return {name: min(1.0, max(0.0, score)) for name, score in scores.items()}


def _metadata(line: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    unit, _, arm = line["unit"].partition("+")
    found = {name: line[name] for name in ("suite", "case", "agent", "model", "trial", "lane", "self_check", "note",
                                           "played", "tier", "retries", "checks") if line.get(name) not in ("", None)}
    found |= {name: value for name, value in (("arm", arm), ("track", unit.partition("@")[2])) if value}
    found |= {name: result[name] for name in ("agent_version", "agent_key", "finished_at", "evalkit")
              if result.get(name)}
    failed = {check["id"]: [test["name"] for test in check["verdict"].get("tests") or () if test["status"] == "failed"]
              for check in result.get("checks", ())}
    return found | {"failed_tests": {check: tests for check, tests in failed.items() if tests}}


def _metrics(line: Mapping[str, Any]) -> dict[str, float]:
    """Dollars, turns, seconds and tokens, as far as they are known."""
    tokens = line.get("tokens", {})
    read = [tokens[kind] for kind in ("input", "cache_read", "cache_write") if kind in tokens]
    found = {"cost": line["cost"], "judge_cost": line.get("judge_cost"), "failed_cost": line.get("failed_cost"),
             "turns": line["turns"], "seconds": line["seconds"], "prompt_tokens": sum(read) if read else None,
             "prompt_cached_tokens": tokens.get("cache_read"), "completion_tokens": tokens.get("output")}
    return {name: value for name, value in found.items() if value is not None}


def _tags(line: Mapping[str, Any]) -> list[str]:
    arm = line["unit"].partition("+")[2]
    known = line["self_check"] or line["agent"].partition(":")[0] in ("oracle", "nop", "wrong")
    return [line["suite"], *([arm] if arm else []), *(["self-check"] if known else [])]
