"""Authoring metrics as text, at most 80 columns: a line a unit, then the track together, violations, and pairs."""

from __future__ import annotations

from evalkit.report.data import DifferenceData, IntervalData
from evalkit.report.layout import Page, chop, short_count, text_width
from evalkit.report.metrics_data import FiguresData, PairMetrics, RunMetrics, TrackMetrics, UnitMetrics

__all__ = ["add_metrics"]

_NAME = 24
"""Columns of a unit's name; what is longer goes on in the next line."""
_HEADS = ("case", "pass", "first", "retry", "teach", "/1000", "green", "tail", "tokens", "cost")
_LEGEND = ("first: the first check after a source was changed passed, of those that had one; retry: failing checks "
           "before the first that passed; teach: failing checks with a diagnostic that teaches; /1000: violations of "
           "1,000 written lines; green: the turn of the first check that passed; tail: turns after it")
_NAMES = {"success": "success", "first_pass": "first pass", "retries_to_green": "retries to green",
          "teaching": "teaching errors", "turns_to_green": "turns to green", "tail": "turns after it",
          "turns": "turns", "tokens": "tokens", "cost": "cost", "violations_per_1000": "violations of 1,000 lines"}
_SHARES = ("success", "first_pass")
_VIOLATIONS = 12
"""Labels that are listed."""
_LEFT_OUT = 8


def add_metrics(page: Page, run: RunMetrics, *, lacking: bool = False) -> None:
    """Add the metrics of a run. lacking: there are no intervals, because scipy is not there."""
    methods: dict[str, None] = {}
    for group in run.groups:
        arm = f", arm {group.arm}" if group.arm else ""
        page.lines += [""] if page.lines else []
        page.add(f"run {run.run}, suite {group.suite}: {group.subject}, {group.lane} lane{arm}", "bold")
        for track in group.tracks:
            _add_track(page, track, methods)
        for pair in group.pairs:
            _add_pair(page, pair, methods)
    if run.groups:
        page.lines.append("")
        page.add(_LEGEND[: _LEGEND.index("; /1000")], "dim")
        page.add(_LEGEND[_LEGEND.index("/1000") :], "dim")
        for line in [*methods, *(["intervals need scipy: pip install 'evalkit[stats]'"] if lacking else [])]:
            page.add(line, "dim")
    if run.left_out:
        page.lines += [""] if page.lines else []
        page.add(f"run {run.run}: nothing is told of {_count(len(run.left_out), 'trial')}", "bold")
        for place, why in [*run.left_out.items()][:_LEFT_OUT]:
            page.add(f"  {place}: {why}")
        if len(run.left_out) > _LEFT_OUT:
            page.add(f"  and {len(run.left_out) - _LEFT_OUT} more")


def _add_track(page: Page, track: TrackMetrics, methods: dict[str, None]) -> None:
    page.lines.append("")
    page.add(f"track {track.track}", "bold")
    rows = [_HEADS, *(_cells(unit, several=len(track.units) > track.cases) for unit in track.units)]
    widths = [max(text_width(cell) for cell in column) for column in zip(*rows, strict=True)]
    widths[0] = min(widths[0], _NAME)
    for number, row in enumerate(rows):
        first, *more = chop(row[0], _NAME)
        cells = [first + " " * (widths[0] - text_width(first)),
                 *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        page.lines.append(page.paint(" ".join(cells).rstrip(), "bold" if number == 0 else ""))
        page.lines += more
    figures = track.figures
    page.add(f"over {_count(track.cases, 'case')}, {_count(figures.trials, 'trial')}:")
    for name in _NAMES:
        found: IntervalData | None = getattr(figures, name, None)  # what is a sum divided by a sum stands below
        if found is not None:
            page.add(f"  {_NAMES[name]}: {_number(found, name)}")
            methods |= {f"{found.method}": None} if found.method else {}
    _add_lines(page, figures)
    _add_notes(page, figures)


def _cells(unit: UnitMetrics, *, several: bool) -> tuple[str, ...]:
    figures = unit.figures
    return (unit.unit.partition("+")[0] if several else unit.case, _of(figures.success), _of(figures.first_pass),
            _mean(figures.retries_to_green), _mean(figures.teaching),
            "-" if figures.all_per_1000 is None else f"{figures.all_per_1000:.1f}", _mean(figures.turns_to_green),
            _mean(figures.tail), "-" if figures.tokens is None else short_count(figures.tokens.value),
            "-" if figures.cost is None else f"${figures.cost.value:.2f}")


def _add_lines(page: Page, figures: FiguresData) -> None:
    told = "".join(f", {100 * share:.0f} % of them {name}" for name, share in figures.shares.items())
    page.add(f"  lines written to sources: {figures.lines:,}{told}")
    total = sum(figures.violations.values())
    if total:
        of = "" if figures.all_per_1000 is None else f", {figures.all_per_1000:.1f} of 1,000 lines"
        page.add(f"  violations: {total}{of}")
        for label, number in [*figures.violations.items()][:_VIOLATIONS]:
            each = f"  ({figures.per_1000[label]:.1f})" if figures.per_1000 else ""
            page.add(f"    {number:>4}  {label}{each}")
        if len(figures.violations) > _VIOLATIONS:
            page.add(f"    and {len(figures.violations) - _VIOLATIONS} more labels")


def _add_notes(page: Page, figures: FiguresData) -> None:
    said = [f"{what}: {number}" for number, what in (
        (figures.never_green, "trials never green"), (figures.unchecked, "trials without a check after an edit"),
        (figures.unexplained, "failing checks without a diagnostic"), (figures.before_edit, "checks before any edit"),
        (figures.by_output, "checks that passed by what they said, with their exit status hidden"),
        (figures.gaps, "places of transcripts that cannot be read"),
        *((number, f"dropped, {why}") for why, number in figures.dropped.items())) if number]
    for line in said:
        page.add(f"  {line}")


def _add_pair(page: Page, pair: PairMetrics, methods: dict[str, None]) -> None:
    page.lines.append("")
    page.add(f"{pair.b} less {pair.a}, over {_count(len(pair.cases), 'case')} on both tracks", "bold")
    for measure in pair.measures:
        page.add(f"  {_NAMES.get(measure.name, measure.name)}: {_apart(measure)}")
        if measure.difference.method:
            methods[measure.difference.method] = None


# ---- numbers ----
def _of(found: IntervalData | None) -> str:
    return "-" if found is None else f"{round(found.value * found.count)}/{found.count}"


def _mean(found: IntervalData | None) -> str:
    return "-" if found is None else f"{found.value:.1f}"


def _plain(value: float, name: str, *, signed: bool = False) -> str:
    sign = "+" if signed and value > 0 else ""
    if name in _SHARES or name.startswith("share "):
        return f"{sign}{100 * value:.0f} {'points' if signed else '%'}"
    if name == "tokens":
        return f"{sign}{value:,.0f}"
    return f"{sign}{value:.2f}" if name != "cost" else f"{'-' if value < 0 else sign}${abs(value):.2f}"


def _interval(found: IntervalData, name: str, *, signed: bool = False) -> str:
    if found.low is None or found.high is None:
        return ""
    low, high = _plain(found.low, name, signed=signed), _plain(found.high, name, signed=signed)
    return f" [{low.removesuffix(' points')}, {high}]"


def _number(found: IntervalData, name: str) -> str:
    return f"{_plain(found.value, name)}{_interval(found, name)}"


def _apart(measure: DifferenceData) -> str:
    name, found = measure.name, measure.difference
    return (f"{_plain(measure.a, name)} and {_plain(measure.b, name)}, {_plain(found.value, name, signed=True)}"
            f"{_interval(found, name, signed=True)}")


def _count(number: int, what: str) -> str:
    return f"{number} {what if number == 1 else f'{what}s'}"


