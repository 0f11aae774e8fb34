"""The table of a regrading: which verdicts changed and why, and what the trials came to before and after.

Equal changes of several trials of a unit are one line with the trials' numbers. As in the table of a run, a part for
each subject, at most as wide as the terminal (80 columns in a pipe), and nothing that comes from an agent is printed
with control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import IO, NamedTuple

from evalkit.report.layout import Page, coloured, folded, styled, terminal_width, text_width

__all__ = ["TRIAL", "Change", "Changes", "print_changes"]

TRIAL = ""
"""What the change of a whole trial has in place of a check's id."""
_STYLES = {"pass": "green", "fail": "red", "contaminated": "red", "error": "yellow"}
_HEADINGS = ("case", "#", "check", "verdict")
_GAP = "  "
_NUMBERS, _VERDICTS, _FEWEST = 10, 15, 8
"""Columns of trials' numbers and of verdicts, and the fewest of a case's name and a check's id.

What is longer goes on in the next line."""
_NONE = "-"


class Change(NamedTuple):
    """A verdict that changed, or a trial's status. old, new: "" where there was, or is, none. why: in a line."""

    unit: str
    subject: str
    lane: str
    trial: int
    check: str
    old: str
    new: str
    why: str


class Changes(NamedTuple):
    """What a regrading came to.

    trials: how many there were. graded, kept: verdicts that were made anew, and that still hold. before, after: how
    many trials have which status; of trials that never had one, `before` tells nothing. notes: what else to know.
    """

    run: str
    trials: int
    graded: int
    kept: int
    changes: Sequence[Change]
    before: Mapping[str, int]
    after: Mapping[str, int]
    notes: Sequence[str]


def print_changes(found: Changes, stream: IO[str], width: int | None = None) -> None:
    """Print the table. Raises OSError where nobody reads the stream."""
    page = Page(width or terminal_width(stream), styled if coloured(stream) else lambda text, _: text)
    parts: dict[tuple[str, str], list[Change]] = {}
    for change in found.changes:
        parts.setdefault((change.subject, change.lane), []).append(change)
    groups = {part: _grouped(changes) for part, changes in parts.items()}
    widths = _widths([line for lines in groups.values() for line, _, _ in lines], page.width)
    for (subject, lane), lines in groups.items():
        page.add(f"{subject}, {lane} lane", "bold")
        _add_cells(page, _HEADINGS, widths, "bold")
        for cells, why, style in lines:
            _add_cells(page, cells, widths, style)
            if why:
                page.lines += [f"    {line}" for line in _folded(why, page.width - 4)]
        page.lines.append("")
    for note in found.notes:
        page.add(f"note: {note}")
    if found.notes:
        page.lines.append("")
    _add_totals(page, found)
    page.lines.append("")
    stream.write("\n".join(page.lines))


def _folded(text: str, width: int) -> list[str]:
    """A text of any origin as lines, through the page's own rules."""
    part = Page(width, lambda line, _: line)
    part.add(text)
    return part.lines


_Line = tuple[tuple[str, ...], str, str]
"""The cells of a line, why the verdict changed, and its colour."""


def _grouped(changes: Iterable[Change]) -> list[_Line]:
    """A line for equal changes of a unit's trials, in the order of the first ones."""
    groups: dict[tuple[str, str, str, str, str], list[int]] = {}
    for change in changes:
        groups.setdefault((change.unit, change.check, change.old, change.new, change.why), []).append(change.trial)
    return [((unit, _numbers(trials), check or "(trial)", f"{old or _NONE} → {new or _NONE}"), why,
             _STYLES.get(new, ""))
            for (unit, check, old, new, why), trials in groups.items()]


def _numbers(trials: Sequence[int]) -> str:
    """The numbers of trials, ranges as such: `1-3, 7`."""
    ranges: list[list[int]] = []
    for number in sorted(set(trials)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    said = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    return ", ".join(said) if len(said) <= 6 else f"{', '.join(said[:6])}, …"


def _widths(lines: Iterable[tuple[str, ...]], width: int) -> list[int]:
    """The columns' widths: a case's name and a check's id give way where the line is too narrow for both."""
    wide = [text_width(heading) for heading in _HEADINGS[:-1]]
    for cells in lines:
        wide = [max(before, text_width(cell)) for before, cell in zip(wide, cells, strict=False)]
    unit, number, check = wide[0], min(wide[1], _NUMBERS), wide[2]
    room = width - number - _VERDICTS - 3 * len(_GAP)
    check = min(check, max(room - unit, room // 2, _FEWEST))
    return [min(unit, max(room - check, _FEWEST)), number, check]


def _add_cells(page: Page, cells: Sequence[str], widths: Sequence[int], style: str) -> None:
    """One row, as many lines as its longest cell takes."""
    columns = [folded(cell, width) for cell, width in zip(cells, widths, strict=False)]
    for number in range(max(map(len, columns))):
        parts = [column[number] if number < len(column) else "" for column in columns]
        line = _GAP.join(part + " " * (width - text_width(part)) for part, width in zip(parts, widths, strict=True))
        last = cells[-1] if number == 0 else ""
        page.lines.append((line + _GAP + page.paint(last, style)).rstrip())


def _add_totals(page: Page, found: Changes) -> None:
    checks = [change for change in found.changes if change.check != TRIAL]
    verdicts = found.graded + found.kept
    changed = sum(1 for change in checks if change.new)
    gone = len(checks) - changed
    page.add(f"{_count(found.trials, 'trial')} of {found.run}: {_count(verdicts, 'verdict')}, {changed} changed, "
             f"{verdicts - changed} unchanged" + (f", {gone} gone" if gone else ""))
    page.add(f"{_count(found.graded, 'verdict')} graded anew, {found.kept} still hold")
    passed, before = found.after.get("pass", 0), found.before.get("pass", 0)
    page.add(f"before: {_told(found.before)}")
    page.add(f"after:  {_told(found.after)}",
             "green" if passed == found.trials else "red" if passed < before or found.after.get("fail") else "yellow")


def _told(counts: Mapping[str, int]) -> str:
    words = [f"{counts.get('pass', 0)} passed"]
    words += [f"{counts['fail']} failed"] if counts.get("fail") else []
    words += [f"{counts['contaminated']} contaminated"] if counts.get("contaminated") else []
    words += [f"{counts['error']} in error"] if counts.get("error") else []
    total = sum(counts.values())
    return ", ".join(words) + (f" ({100 * counts.get('pass', 0) / total:.1f} %)" if total else "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
