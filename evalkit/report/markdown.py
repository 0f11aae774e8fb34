"""summary.md: a run as Markdown, for a pull request, a job's summary or a reader without a terminal.

What came from an agent stands in code spans and fenced blocks that it cannot close, or with its markup escaped.
Intervals are drawn where trials of an agent can have some and scipy is there; known answers never import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from evalkit.errors import UserError
from evalkit.report import rates, stats, tiers
from evalkit.report.findings import MARKS
from evalkit.report.layout import duration, short_count
from evalkit.report.markdown_parts import code, escaped
from evalkit.report.rates import Group, Line
from evalkit.report.stats import Interval
from evalkit.report.summary import STATUSES

__all__ = ["MARKDOWN", "markdown_text", "rate_shown"]

MARKDOWN = "summary.md"
_MOST_BLOCKS = 50
"""Trials that did not pass that are told of one by one."""
_COLUMNS = ("case", "result", "pass rate", "checks", "judge", "turns", "tokens", "cost", "time")
_WORDS = {"pass": "passed", "fail": "failed", "error": "in error"}


def markdown_text(run: str, lines: Sequence[Line], blocks: Iterable[str]) -> str:
    """The file. lines: of all trials. blocks: what is told of those that did not pass."""
    told = [block for block in blocks if block]
    parts = [f"# Run `{run}`\n", _counts(lines)]
    places = _by_place(lines)
    lacking = any(_samples(members) for members in places.values()) and not stats.available()
    try:
        groups = [_group(group, members, draw=not lacking and _samples(members)) for group, members in places.items()]
    except UserError:  # scipy is there, and cannot be imported
        lacking, groups = True, [_group(group, members, draw=False) for group, members in places.items()]
    parts += groups
    parts += _tiers(lines)
    if told:
        parts.append("## What did not pass\n")
        parts += told[:_MOST_BLOCKS]
        if len(told) > _MOST_BLOCKS:
            parts.append(f"… and {len(told) - _MOST_BLOCKS} more: `results.csv` has a line for every trial.\n")
    parts.append(_legend(lacking=lacking))
    return "\n".join(parts)


def _by_place(lines: Iterable[Line]) -> dict[Group, list[Line]]:
    """Lines by subject and lane: their arms are told of together."""
    found: dict[Group, list[Line]] = {}
    for line in lines:
        found.setdefault(rates.group_of(line)._replace(arm=""), []).append(line)
    return found


def _counts(lines: Sequence[Line]) -> str:
    counted = [(status, sum(line["status"] == status for line in lines)) for status in STATUSES]
    said = ", ".join(f"{count} {_WORDS.get(status, status)}" for status, count in counted
                     if count or status == "pass")
    return f"{len(lines)} trial{'' if len(lines) == 1 else 's'}: {said}.\n"


def _tiers(lines: Iterable[Line]) -> list[str]:
    """The part with how many of each tier's trials passed, a column a subject; empty without tiers."""
    tiered = [line for line in lines if line["tier"]]
    several = len({line["suite"] for line in tiered}) > 1
    found = tiers.with_sums(tiers.rates(
        (f"{line['suite']} {line['tier']}" if several else str(line["tier"]),
         rates.group_of(line)._replace(arm="").shown, line["status"]) for line in tiered))
    if not found:
        return []
    subjects = list(dict.fromkeys(subject for of_tier in found.values() for subject in of_tier))
    text = ["## Pass rate by tier\n", _row(["tier", *map(escaped, subjects)]), "| --- |" + " ---: |" * len(subjects)]
    text += [_row([escaped(tier), *(of_tier[subject].shown if subject in of_tier else "" for subject in subjects)])
             for tier, of_tier in found.items()]
    return ["\n".join(text) + "\n"]


def _samples(lines: Iterable[Line]) -> bool:
    """Whether there are several trials of a model on an arm: they want an interval. What asks no model does the same
    each time.
    """
    return any(len(members) > 1 and members[0]["model"] is not None and not rates.is_known(members[0])
               for members in rates.groups(lines).values())


def _group(group: Group, lines: Sequence[Line], *, draw: bool) -> str:
    """The part of a subject in a lane. draw: with intervals."""
    text = [f"## {escaped(group.shown)}\n"]
    notes = {line["note"] for line in lines if line["self_check"] and line["note"]}
    text += [f"**{escaped(note)}**\n" for note in sorted(notes, key=len)[-1:]]
    if any(line["dry"] for line in lines):
        text.append("**dry run: no model was called; fails are expected**\n")
    arms = rates.groups(lines)
    for arm, members in arms.items():
        found = rates.pass_rate(members, draw=draw)
        if found is not None and (found.count > 1 or arm.arm):
            name = f"Pass rate on arm {code(arm.arm)}" if arm.arm else "Pass rate"
            text.append(f"{name} over {found.count} case{'' if found.count == 1 else 's'}: **{rate_shown(found)}**"
                        + (f" ({_how(found)})" if found.drawn else "") + "\n")
    units: dict[str, list[Line]] = {}
    for line in lines:
        units.setdefault(line["unit"], []).append(line)
    text += [_row(_COLUMNS), "| --- | --- | ---: | --- |" + " ---: |" * (len(_COLUMNS) - 4)]
    text += [_row(_unit(unit, members, draw=draw)) for unit, members in units.items()]
    return "\n".join(text) + "\n"


def _how(found: Interval) -> str:
    if found.method == stats.WILSON:
        return "one trial of each case; 95 % Wilson interval"
    return "mean of the cases' rates; 95 % t interval over cases, so trials are clustered by case"


def _unit(unit: str, lines: Sequence[Line], *, draw: bool) -> list[str]:
    """The cells of a unit's line. Most of a thousand have one trial: these are quick."""
    if len(lines) == 1:
        return _trial(unit, lines[0])
    passed, count = rates.passed_of(lines)
    statuses = [line["status"] for line in lines]
    apart = [f"{statuses.count(status)} {_WORDS.get(status, status)}" for status in STATUSES[2:] if status in statuses]
    apart += [f"{number} {ended}" for ended in ("capped", "timeout")
              if (number := sum(line["ended"] == ended for line in lines))]
    found = rates.unit_rate(lines, draw=draw)
    ended = [line for line in lines if line["ended"]]
    called = [line for line in ended if line["model"] is not None and not line["dry"]]
    scores = [score for line in ended if line["status"] != "contaminated" for score in line["judge"]]
    return [code(unit), ", ".join([*([f"{passed}/{count}"] if count else []), *apart]),
            rate_shown(found) if found is not None else "", code(_marks(lines)) if ended else "", _mean(scores),
            _sum((line["turns"] for line in called), lambda turns: f"{turns:.0f}"),
            _sum((sum(line["tokens"].values()) if line["tokens"] else None for line in called), short_count),
            _sum((line["cost"] for line in called), lambda cost: f"${cost:.2f}"),
            duration(sum(line["seconds"] for line in ended)) if ended else ""]


def _trial(unit: str, line: Line) -> list[str]:
    """The cells of a unit with one trial."""
    status, ended = line["status"], line["ended"]
    why = line["reason"] if status == "not run" else ended if ended in ("capped", "timeout") else ""
    result = f"{status} ({escaped(why)})" if why else status
    if not ended:
        return [code(unit), result, "", "", "-", "-", "-", "-", ""]
    called = line["model"] is not None and not line["dry"]
    marks = "".join([MARKS[check] for check in line["checks"].values()])
    return [code(unit), result, "", code(marks), _mean(line["judge"]),
            str(line["turns"]) if called and line["turns"] is not None else "-",
            short_count(sum(line["tokens"].values())) if called and line["tokens"] else "-",
            f"${line['cost']:.2f}" if called and line["cost"] is not None else "-", duration(line["seconds"])]


def _mean(scores: Sequence[float]) -> str:
    return f"{sum(scores) / len(scores):.1f}" if scores else "-"


def _marks(lines: Sequence[Line]) -> str:
    """The mark of each check over a unit's trials that are not contaminated; `~` where it passed in some alone."""
    found: dict[str, set[str]] = {}
    for line in lines:
        if line["status"] != "contaminated":
            for check, status in line["checks"].items():
                found.setdefault(check, set()).add(status)
    return "".join(_mark(statuses) for statuses in found.values())


def _mark(statuses: set[str]) -> str:
    if len(statuses) > 1:
        statuses = statuses & {"pass", "fail"}
    return MARKS[next(iter(statuses))] if len(statuses) == 1 else "~" if statuses else MARKS["error"]


def _legend(*, lacking: bool) -> str:
    said = ["✓ passed · ✗ failed · ~ passed in some trials · s skipped · ! error. Rates are of trials that passed or "
            "failed; contaminated ones, errors and what did not run are neither. "
            "The interval of a case's trials is Wilson's, 95 %; of one trial none is drawn."]
    if lacking:
        said.append("Intervals need scipy: `pip install 'evalkit[stats]'`.")
    return "---\n\n" + " ".join(said) + "\n"


def rate_shown(found: Interval) -> str:
    """A rate in per cent, with its interval where there is one."""
    said = f"{100 * found.value:.0f} %"
    return f"{said} [{100 * found.low:.0f} %, {100 * found.high:.0f} %]" if found.drawn else said


def _sum(values: Iterable[float | None], shown: Callable[[float], str]) -> str:
    """A total; "≥" where not every part of it is known."""
    every = list(values)
    known = [value for value in every if value is not None]
    if not known:
        return "-"
    return ("≥" if len(known) < len(every) else "") + shown(sum(known))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
