"""`evalkit why`: of every task, whether it would run, and because of which input. Nothing runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence

import orjson

from evalkit.authoring.columns import columns, count, one_line
from evalkit.authoring.project import find_root
from evalkit.dag.labels import labels, read_name
from evalkit.dag.look import Look, look_at
from evalkit.dag.why import Why
from evalkit.errors import Exit
from evalkit.execute.budget import dollars
from evalkit.plan.choices import split_words

__all__ = ["ABOUT", "arguments", "main", "notes"]

ABOUT = "why a task would run, or not: which input changed"
_EPILOG = """\
examples:
  evalkit why case:kanban-board              the tasks of a case, those that would run with their reasons
  evalkit why kanban-board --all             those that are up to date too
  evalkit why all agent=nop                  choices as for `doit run`
  evalkit why 'grade:latest/*:loop'          one kind of task; wildcards stand in quotes
  evalkit why all --json | jq -r '.tasks[] | select(.status == "runs") | .task'

A task runs when an input of its last success differs now, or its outcome is gone. One that waits reads what a task
before it leaves behind: whether it runs is known when that has run. `doit run … why=1` says the same while tasks run.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s [-h] [--all] [--json] [TASK ...] [name=value ...]"
    parser.add_argument("words", nargs="*", metavar="TASK",
                        help="tasks, as `doit run` names them, and choices; default: all")
    parser.add_argument("--all", action="store_true", help="tell of up-to-date tasks one by one")
    parser.add_argument("--json", action="store_true", help="plain data")


def main(options: argparse.Namespace) -> int:
    """Print why tasks would run. Raises `UserError` for names and choices that there are not."""
    names, choices = split_words(options.words)
    with look_at(find_root(), os.environ, choices, names or ["all"]) as look:
        if options.json:
            sys.stdout.write(orjson.dumps(_data(look), option=orjson.OPT_INDENT_2).decode() + "\n")
        else:
            print("\n".join(_page(look, every=options.all)))
    return Exit.OK


# ---- for people ----
def _page(look: Look, *, every: bool) -> list[str]:
    trials: dict[str, list[Why]] = {}
    for why in look.whys:
        trials.setdefault(read_name(why.task).trial, []).append(why)
    titles = _titles(look, trials)
    page = []
    for trial in sorted(trials, key=bool):  # what trials share comes first
        whys = trials[trial]
        shown = [why for why in whys if every or why.status != "up to date" or why.task in look.named]
        if not shown:
            continue
        page.append(titles[trial])
        page += [f"  {line}" for line in columns([_row(look, why, trial) for why in shown])]
        if len(shown) < len(whys):
            page.append(f"  {_up_to_date(len(whys) - len(shown))}")
        page.append("")
    return [*page, _sum(look.whys), *notes(look), *_paid(look)]


def _titles(look: Look, trials: dict[str, list[Why]]) -> dict[str, str]:
    subjects = {tasks.trial.id: tasks.trial for tasks in look.trials.values()}
    titles = {"": "what trials share"}
    for trial, label in labels(name for name in trials if name).items():
        subject = subjects[trial].subject.shown
        titles[trial] = one_line(label if label.endswith(f" {subject}") else f"{label} {subject}")
    return titles


def _row(look: Look, why: Why, trial: str) -> tuple[str, str, str]:
    reason = _short(why.reason, trial)
    if why.status == "runs" and look.in_store(why):
        reason += " (the store has its outcome: it costs nothing)" if why.kind in ("agent", "judge") else ""
    return _short(why.task, trial), why.status, one_line(reason)


def _short(text: str, trial: str) -> str:
    """A text without the name of the trial that it stands under."""
    return text.replace(f":{trial}:", " ").replace(f":{trial}", "") if trial else text


def _up_to_date(number: int) -> str:
    return f"{number} more {'is' if number == 1 else 'are'} up to date"


def _sum(whys: Sequence[Why]) -> str:
    counts = Counter(why.status for why in whys)
    if not counts["runs"] and not counts["waits"] and not counts["ignored"]:
        return f"{count(len(whys), 'task')}, all up to date" if len(whys) > 1 else "up to date"
    said = [f"{count(counts['runs'], 'task')} would run"]
    if counts["waits"]:
        said.append(f"{counts['waits']} wait{'s' if counts['waits'] == 1 else ''} for what comes of them")
    if counts["ignored"]:
        said.append(f"{counts['ignored']} {'is' if counts['ignored'] == 1 else 'are'} ignored")
    said.append(f"{counts['up to date']} {'is' if counts['up to date'] == 1 else 'are'} up to date")
    return ", ".join(said)


def notes(look: Look) -> list[str]:
    """What else is to be known of the agent runs that there would be."""
    choices, said = look.choices, []
    sampled = [why for why in look.whys if why.task in look.trials and look.trials[why.task].trial.traits.sampled]
    if choices.fresh and sampled:
        said.append(f"fresh=1: new samples of {count(len(sampled), 'agent run')}; the earlier ones stay in the store")
    if choices.dry:
        said.append("dry=1: no model is called")
    return said


def _paid(look: Look) -> list[str]:
    """What may cost money."""
    choices, said = look.choices, []
    agents = sum(look.calls(why) for why in look.whys if why.kind == "agent")
    judges = sum(look.calls(why) for why in look.whys if why.kind == "judge")
    if agents or judges:
        paid = [*([count(agents, "agent run")] if agents else []),
                *([count(judges, "judge's answer", "judges' answers")] if judges else [])]
        said.append(f"{' and '.join(paid)} may cost money (`evalkit plan` says how much)")
        if choices.budget is not None:
            said.append(f"budget={choices.budget:g}: once {dollars(choices.budget)} are spent, no agent and no judge "
                        "starts")
    return said


# ---- for programs ----
def _data(look: Look) -> dict[str, object]:
    counts = Counter(why.status for why in look.whys)
    return {
        "tasks": [{"task": why.task, "kind": why.kind, "trial": read_name(why.task).trial or None,
                   "status": why.status, "reason": why.reason, "in_store": look.in_store(why),
                   "costs": why.kind in ("agent", "judge") and look.calls(why) > 0} for why in look.whys],
        "counts": {status: counts[status] for status in ("runs", "waits", "up to date", "ignored")},
        "notes": [*notes(look), *_paid(look)],
    }
