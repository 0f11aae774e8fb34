"""`evalkit plan`: what a run would do, counted by kinds of tasks, with what it is expected to cost. Nothing runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from attrs import frozen

from evalkit.authoring.columns import count, one_line
from evalkit.authoring.compare import read_points
from evalkit.authoring.detect import detect, detect_text
from evalkit.authoring.project import find_root
from evalkit.authoring.why import notes
from evalkit.dag.announce import duration
from evalkit.dag.engine import pools_of
from evalkit.dag.expect import Earlier, Sum, bound, total
from evalkit.dag.look import Look, look_at
from evalkit.dag.why import Why
from evalkit.errors import Exit
from evalkit.execute.budget import dollars
from evalkit.plan.choices import split_words
from evalkit.structure import unstructure

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "what would run, and what it is expected to cost"
_EPILOG = """\
examples:
  evalkit plan all                                   what is not up to date, and its price
  evalkit plan suite:native trials=5 budget=20       choices as for `doit run`
  evalkit plan kanban-board model=a/small,b/large    models side by side
  evalkit plan suite:native --detect 10pp            how many trials show a difference of 10 points
  evalkit plan all --json | jq .cost.expected

Costs and times are means of earlier results: of the same unit and subject, else of the same subject on other units of
the suite, else of the same model. `evalkit why` says why each task would run. How many trials it takes is reckoned
from the spread of earlier trials of the same subject, and needs the extra evalkit[stats].
"""
_KINDS = ("toolchain", "template", "workspace", "agent", "grade", "judge", "result", "report")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s [-h] [--detect POINTS] [--json] [SELECTION ...] [name=value ...]"
    parser.add_argument("words", nargs="*", metavar="SELECTION",
                        help="tasks, as `doit run` names them, and choices; default: all")
    parser.add_argument("--detect", type=read_points, metavar="POINTS",
                        help="how many trials show a difference of so many points (10pp) between two sides")
    parser.add_argument("--json", action="store_true", help="plain data")


def main(options: argparse.Namespace) -> int:
    """Print what would run. Raises `UserError` for names and choices that there are not."""
    names, choices = split_words(options.words)
    with look_at(find_root(), os.environ, choices, names or ["all"]) as look:
        price = _price(look)
        found = detect(look, options.detect) if options.detect is not None else None
        if options.json:
            data = _data(look, price) | ({} if found is None else {"detect": [each.to_data() for each in found]})
            sys.stdout.write(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n")
        else:
            wanted = detect_text(found, options.detect) if found is not None else []
            print("\n".join([*_table(look), *_told(look, price), *wanted]))
    return Exit.OK


@frozen
class _Agents:
    """Agent runs of one subject that call a model, and have yet to be paid for."""

    agent: str
    version: str
    model: str
    trials: int
    units: tuple[str, ...]
    cost: Sum
    seconds: Sum


@frozen
class _Price:
    """What a run is expected to cost. judges: their answers, counted where they may have to be paid for.

    in_store: of the agent runs and judges' answers that are wanted, how many are there already. least: seconds that
    agents take at least, side by side in their pools; 0 where no time is known.
    """

    agents: tuple[_Agents, ...]
    judges: Sum
    cost: Sum
    in_store: dict[str, int]
    least: float


def _price(look: Look) -> _Price:
    earlier = Earlier.of(look.plan.session.places.results)
    stale = [why for why in look.whys if why.stale]
    work = [why for why in stale if why.kind == "agent" and not look.in_store(why)]
    paid = [look.trials[why.task].trial for why in work if look.calls(why)]
    judges = [why for why in stale if why.kind == "judge"]
    judged = [look.case_of(why) for why in judges for _ in range(look.calls(why))]
    agents = []
    for subject, version in dict.fromkeys((trial.subject, trial.traits.version) for trial in paid):
        mine = [trial for trial in paid if trial.subject == subject]
        agents.append(_Agents(
            subject.agent, version, subject.model or "", len(mine),
            tuple(dict.fromkeys(trial.case.unit for trial in mine)), total(earlier.cost(trial) for trial in mine),
            total(earlier.seconds(trial) for trial in mine)))
    pools = [(look.pool(why) or "inline", earlier.seconds(look.trials[why.task].trial)) for why in work]
    return _Price(
        tuple(agents), total(earlier.judge_cost(case) for case in judged),
        total([*(earlier.cost(trial) for trial in paid), *(earlier.judge_cost(case) for case in judged)]),
        {"agent": sum(look.in_store(why) for why in stale if why.kind == "agent"),
         "judge": sum(look.answers(why)[0] for why in judges)},
        bound(pools, {**pools_of(look.choices), "inline": 1}))


# ---- for people ----
def _table(look: Look) -> list[str]:
    counts = _counts(look.whys)
    kinds = [kind for kind in _KINDS if counts[kind]]
    heads = [head for head in ("up to date", "runs", "waits", "ignored")
             if head != "ignored" or any(counts[kind][head] for kind in kinds)]
    rows = [f"{f'{kind}s':<10}" + "".join(f"   {counts[kind][head]:>{len(head)}}" for head in heads) for kind in kinds]
    return [" " * 10 + "".join(f"   {head}" for head in heads), *rows, ""]


def _told(look: Look, price: _Price) -> list[str]:
    said = []
    for agents in price.agents:
        cases = agents.units[0] if len(agents.units) == 1 else f"{len(agents.units)} cases"
        time = f", time {duration(agents.seconds.amount)}" if agents.seconds.known else ""
        said.append(one_line(f"{agents.agent} {agents.version} with {agents.model}: {count(agents.trials, 'trial')} of "
                             f"{cases}, cost {_dollars(agents.cost)}{time}") + _basis(agents.cost))
    if judges := price.judges.known + price.judges.unknown:
        said.append(f"judges: {count(judges, 'answer')}, cost {_dollars(price.judges)}{_basis(price.judges)}")
    kept = [count(number, *what) for number, what in (
        (price.in_store["agent"], ("agent run",)),
        (price.in_store["judge"], ("judge's answer", "judges' answers"))) if number]
    if kept:
        said.append(f"{' and '.join(kept)} will be taken from the store: {'they cost' if len(kept) > 1 else 'no'}"
                    f"{' nothing' if len(kept) > 1 else ' cost'}")
    if not price.cost.known + price.cost.unknown:
        said.append("nothing of this calls a model that has to be paid for"
                    if any(why.stale for why in look.whys) else "all is up to date: nothing would run")
    else:
        said.append(f"expected cost: {_dollars(price.cost)}{_budget(look.choices.budget, price.cost)}")
    if price.least >= 1:
        said.append(f"expected time: at least {duration(price.least)} ({count(look.choices.agents, 'agent')} at once, "
                    f"{look.choices.jobs} of those that build; builds, checks and judges come to that)")
    return [*said, *notes(look)]


def _dollars(cost: Sum) -> str:
    """An expected cost; where a part is not known, that is said."""
    if not cost.known:
        return "not known"
    return dollars(cost.amount) + (f" and what {cost.unknown} without a figure cost{'s' * (cost.unknown == 1)}"
                                   if cost.unknown else "")


def _basis(cost: Sum) -> str:
    return f"   (from {count(cost.runs, 'earlier run')})" if cost.known else "   (there is no earlier run)"


def _budget(budget: float | None, cost: Sum) -> str:
    if budget is None:
        return ""
    if cost.amount > budget:
        return f", more than the budget of {dollars(budget)}: what is left then does not run"
    if cost.unknown:
        return f" (budget {dollars(budget)}; once that is spent, nothing more starts)"
    return f", within the budget of {dollars(budget)}"


# ---- for programs ----
def _counts(whys: Iterable[Why]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in _KINDS}
    for why in whys:
        counts[why.kind][why.status] += 1
    return counts


def _data(look: Look, price: _Price) -> dict[str, Any]:
    statuses: Sequence[str] = ("up to date", "runs", "waits", "ignored")
    return {
        "kinds": {f"{kind}s": {status: found[status] for status in statuses}
                  for kind, found in _counts(look.whys).items() if found},
        "agents": [{**unstructure(agents), "cost": _sum(agents.cost), "seconds": _sum(agents.seconds)}
                   for agents in price.agents],
        "judges": _sum(price.judges), "cost": _sum(price.cost), "in_store": price.in_store,
        "seconds_at_least": round(price.least, 3) or None, "budget": look.choices.budget, "notes": notes(look),
    }


def _sum(found: Sum) -> dict[str, Any]:
    """expected: None where there is no figure at all; for `unknown` of them there is none."""
    return {"expected": round(found.amount, 6) if found.known else None, "known": found.known,
            "unknown": found.unknown, "earlier_runs": found.runs}
