"""Plots of a run's arms, as PNG files: readable in grey, since arms differ by their marks, with intervals throughout.

One row of a plot is as high as its label, so that no number of cases makes labels overlap.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from evalkit.errors import HarnessError, UserError
from evalkit.report.arms import COMPOSITE, Arms
from evalkit.report.stats import Interval

__all__ = ["draw_plots"]

_MARKS = ("o", "s", "^", "D", "v", "P")
_GREYS = ("#111111", "#ffffff", "#999999", "#dddddd", "#555555", "#bbbbbb")
_ROW, _WIDE, _DOTS, _LABEL = 0.34, 8.5, 120, 40
"""Inches of a row and of a plot, dots of an inch, and characters of a line of a label."""


def draw_plots(suites: Sequence[Arms], folder: Path) -> list[Path]:
    """Draw what there is to draw. Raises UserError where matplotlib is missing, HarnessError where a file cannot be
    written.
    """
    try:
        import matplotlib
    except ImportError:
        raise UserError("plots need matplotlib, which is not installed",
                        hint="pip install 'evalkit[plot]' has it") from None
    matplotlib.use("agg")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.png"):
            old.unlink()
        return [path for arms in suites for path in _Suite(arms, folder).draw()]
    except OSError as error:
        raise HarnessError(f"cannot write to {folder}: {error.strerror or error}", hint="is the disk full?") from error


def _label(text: str) -> str:
    """A row's label, in at most two lines."""
    lines = fill(text, _LABEL, break_on_hyphens=False).split("\n")
    return "\n".join([*lines[:1], *([lines[1] + ("…" if len(lines) > 2 else "")] if len(lines) > 1 else [])])


def _wrapped(title: str) -> str:
    return "\n".join(fill(line, 100) for line in title.split("\n"))


def _floor(values: Sequence[float]) -> float:
    """Where an axis of scores begins: a tenth below the lowest, at most at a half, so that much of it is used."""
    return max(0.0, min(0.5, math.floor((min(values, default=0.0) - 0.02) * 10) / 10))


class _Suite:
    def __init__(self, arms: Arms, folder: Path) -> None:
        self.arms = arms
        self.folder = folder
        self.drawn: list[Path] = []

    def draw(self) -> list[Path]:
        arms = self.arms
        for subject in arms.subjects:
            cases = arms.cases(subject)
            if cases:
                self._rows(f"{subject}\ncomposite score by case: the median, with its interval", cases, "cases",
                           subject, partial(arms.cell, subject))
                dimensions = [name for name in arms.measures if name not in arms.judged]
                of = f"{len(cases)} cases" if len(cases) > 1 else "one case"
                self._rows(f"{subject}\nmeans over {of} of their medians, with 95 % intervals", dimensions, "measures",
                           subject, partial(self._overall, subject))
            if arms.judged and cases:
                self._judges(subject, cases)
            for case, parts in arms.ablations(subject).items():
                self._bars(f"{subject}\n{case}: the score with all of the guidance, less that without a part of it",
                           [(part.part, part.worth) for part in parts], "ablation", f"{subject}-{case}")
        if len(arms.subjects) > 1:
            self._rows("composite score by model: the mean over cases of their medians, with its 95 % interval",
                       arms.subjects, "models", "", arms.overall)
        return self.drawn

    def _overall(self, subject: str, measure: str, arm: str) -> Interval | None:
        return self.arms.overall(subject, arm, measure)

    def _figure(self, rows: int, title: str, panels: int = 0) -> tuple[Any, Any]:
        """A figure with axes; with a list of them where panels are asked for, side by side."""
        from matplotlib.figure import Figure

        lines = title.count("\n") + 1
        height = max(rows, 2) * _ROW + 1.1 + 0.25 * lines
        figure = Figure(figsize=(_WIDE, height), dpi=_DOTS, layout="constrained")
        if panels:
            found = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
            figure.suptitle(_wrapped(title), fontsize=10, x=0.01, ha="left")
            return figure, list(found)
        axes = figure.subplots()
        figure.suptitle(_wrapped(title), fontsize=10, x=0.01, ha="left")
        axes.tick_params(labelsize=9)
        return figure, axes

    def _keep(self, figure: Any, kind: str, of: str) -> None:
        name = "-".join(part for part in (self.arms.suite, kind, re.sub(r"[^\w.]+", "-", of).strip("-")) if part)
        path = self.folder / f"{name[:120]}.png"
        figure.savefig(path)
        self.drawn.append(path)

    def _rows(self, title: str, rows: Sequence[str], kind: str, of: str,
              cell: Callable[[str, str], Interval | None]) -> None:
        """A row for each of `rows`, in it a mark with its interval for each arm, the arms one below the other."""
        figure, axes = self._figure(len(rows), title)
        arms = self.arms.arms
        for index, arm in enumerate(arms):
            shift = (index - (len(arms) - 1) / 2) * min(0.28, 0.7 / len(arms))
            found = [(row, interval) for row, name in enumerate(rows) if (interval := cell(name, arm)) is not None]
            self._marks(axes, [(row + shift, interval) for row, interval in found], index, arm)
        axes.set_yticks(range(len(rows)), labels=[_label(row) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        floor = _floor([max(interval.low, 0.0) for arm in arms for name in rows
                        if (interval := cell(name, arm)) is not None])
        axes.set_xlim(floor - 0.03 * (1 - floor), 1 + 0.03 * (1 - floor))
        for row in range(len(rows) - 1):
            axes.axhline(row + 0.5, color="#dddddd", linewidth=0.6, zorder=0)
        axes.grid(axis="x", color="#cccccc", linewidth=0.6)
        axes.set_axisbelow(True)
        self._legend(figure, axes)
        self._keep(figure, kind, of)

    def _marks(self, axes: Any, points: Sequence[tuple[float, Interval]], index: int, label: str) -> None:
        values = [interval.value for _, interval in points]
        low = [interval.value - max(interval.low, 0.0) for _, interval in points]
        high = [min(interval.high, 1.0) - interval.value for _, interval in points]
        axes.errorbar(values, [at for at, _ in points], xerr=(low, high), fmt=_MARKS[index % len(_MARKS)],
                      markersize=6, markerfacecolor=_GREYS[index % len(_GREYS)], markeredgecolor="#111111",
                      ecolor="#555555", elinewidth=1.2, capsize=2.5, label=label, zorder=3)

    def _legend(self, figure: Any, axes: Any) -> None:
        handles, labels = axes.get_legend_handles_labels()
        if labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4), fontsize=9,
                          frameon=False)

    def _judges(self, subject: str, cases: Sequence[str]) -> None:
        """Each case's scores of a judge over its composite score, a panel a judge: where both differ, one of them is
        worth a look. Cases that fall together are one mark, the larger the more they are. Of equal scores that of the
        first arm is drawn a little higher.
        """
        panels = {judge: [(arm, self._pairs(subject, cases, judge, arm)) for arm in self.arms.arms]
                  for judge in self.arms.judged}
        panels = {judge: arms for judge, arms in panels.items() if any(pairs for _, pairs in arms)}
        if not panels:
            return
        figure, axes = self._figure(12, f"{subject}\njudges' scores over the composite score: a mark a case, a larger "
                                    "one several, arms a little apart", len(panels))
        floor = _floor([score for arms in panels.values() for _, pairs in arms for score, _ in pairs])
        for panel, (judge, arms) in zip(axes, panels.items(), strict=True):
            for index, (arm, pairs) in enumerate(arms):
                shift = ((len(arms) - 1) / 2 - index) * min(0.36, 0.9 / len(arms))
                counts = Counter(pairs)
                panel.scatter([score for score, _ in counts], [judged + shift for _, judged in counts],
                              s=[34 * count ** 0.7 for count in counts.values()], marker=_MARKS[index % len(_MARKS)],
                              facecolor=_GREYS[index % len(_GREYS)], edgecolor="#111111", linewidth=0.8, alpha=0.8,
                              label=arm, zorder=3)
            panel.set_title(judge.removeprefix("judge: "), fontsize=9)
            panel.set_xlim(floor - 0.05 * (1 - floor), 1 + 0.05 * (1 - floor))
            panel.set_ylim(-0.5, 10.5)
            panel.set_xlabel("composite score", fontsize=9)
            panel.grid(color="#dddddd", linewidth=0.6)
            panel.set_axisbelow(True)
            panel.tick_params(labelsize=9)
        axes[0].set_ylabel("judge's score", fontsize=9)
        self._legend(figure, axes[0])
        self._keep(figure, "judges", subject)

    def _pairs(self, subject: str, cases: Sequence[str], judge: str, arm: str) -> list[tuple[float, float]]:
        return [(scored.value, judged.value) for case in cases
                if (scored := self.arms.cell(subject, case, arm, COMPOSITE)) is not None
                and (judged := self.arms.cell(subject, case, arm, judge)) is not None]

    def _bars(self, title: str, parts: Sequence[tuple[str, Interval]], kind: str, of: str) -> None:
        figure, axes = self._figure(len(parts), title)
        values = [worth.value for _, worth in parts]
        reach = max([0.05, *(abs(end) for _, worth in parts for end in (worth.value, worth.low, worth.high)
                             if math.isfinite(end))])
        low = [worth.value - max(worth.low, -reach) for _, worth in parts]
        high = [min(worth.high, reach) - worth.value for _, worth in parts]
        settled = [worth.low > 0 or worth.high < 0 for _, worth in parts]
        axes.barh(range(len(parts)), values, height=0.6, color=["#aaaaaa" if sure else "#ffffff" for sure in settled],
                  edgecolor="#111111", linewidth=0.8, zorder=2)
        axes.errorbar(values, range(len(parts)), xerr=(low, high), fmt="none", ecolor="#111111", elinewidth=1.2,
                      capsize=3, zorder=3)
        axes.axvline(0, color="#111111", linewidth=0.8)
        axes.set_yticks(range(len(parts)), labels=[_label(part) for part, _ in parts])
        axes.set_ylim(len(parts) - 0.4, -0.6)
        axes.set_xlim(-reach * 1.1, reach * 1.1)
        axes.grid(axis="x", color="#cccccc", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel("filled: the 95 % interval does not hold 0", fontsize=9)
        self._keep(figure, kind, of)
