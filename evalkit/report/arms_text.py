"""arms.md of a run whose suites have arms: subjects, cases and measures side by side, and ablations."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.report.arms import PAGE, Arms
from evalkit.report.stats import Interval

__all__ = ["arms_text"]


def arms_text(run: str, suites: Sequence[Arms], pictures: Sequence[str] = ()) -> str:
    """Markdown. pictures: paths of plots, relative to the file."""
    lines = [f"# Run `{run}`", "",
             "Of a case the median over its trials, with its 95 % interval; with fewer than six trials from the lowest "
             "to the highest value. Means over cases and differences have a 95 % bootstrap interval.", ""]
    for arms in suites:
        lines += [f"## Suite {arms.suite}", ""]
        if len(arms.subjects) > 1:
            lines += ["### Side by side", "", *_subjects(arms), ""]
        for subject in arms.subjects:
            lines += [f"### {_cell(subject)}", "", *_overall(arms, subject), "", *_cases(arms, subject), ""]
            for case, parts in arms.ablations(subject).items():
                lines += [f"#### What sections are worth: {case}", "",
                          "| left out | trials | score without it | worth | |", "| --- | ---: | ---: | ---: | --- |"]
                lines += [_row([part.part, str(part.without.count), _shown(part.without),
                                _shown(part.worth, signed=True), "" if part.settled else "not told from 0"])
                          for part in parts]
                lines.append("")
    if pictures:
        lines += ["## Plots", "", *(f"![{_title(picture)}]({picture})" for picture in pictures), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _subjects(arms: Arms) -> list[str]:
    """Composite and judges' scores of each subject: means over cases, arm by arm, and what the base arm has more."""
    measures = [measure for measure in ("composite", *arms.judged) if measure in arms.measures]
    others = [arm for arm in arms.arms if arm != arms.base]
    head = ["means over cases", *(f"{measure}, {column}" for measure in measures
                                  for column in (*arms.arms, *(f"{arms.base} − {arm}" for arm in others)))]  # noqa: RUF001
    lines = [_row(head), "| --- |" + " ---: |" * (len(head) - 1)]
    for subject in arms.subjects:
        cells = [subject]
        for measure in measures:
            cells += [_shown(arms.overall(subject, arm, measure)) for arm in arms.arms]
            cells += [_shown(arms.gain(subject, arm, measure), signed=True) for arm in others]
        lines.append(_row(cells))
    return lines


def _overall(arms: Arms, subject: str) -> list[str]:
    """Each measure on each arm, and what the base arm has more."""
    others = [arm for arm in arms.arms if arm != arms.base]
    head = ["measure", *arms.arms, *(f"{arms.base} − {arm}" for arm in others)]  # noqa: RUF001 - a minus
    lines = [_row(head), "| --- |" + " ---: |" * (len(head) - 1)]
    for measure in arms.measures:
        found = [arms.overall(subject, arm, measure) for arm in arms.arms]
        gains = [arms.gain(subject, arm, measure) for arm in others]
        lines.append(_row([measure, *map(_shown, found), *(_shown(gain, signed=True) for gain in gains)]))
    return lines


def _cases(arms: Arms, subject: str) -> list[str]:
    measures = [measure for measure in ("composite", PAGE, *arms.judged) if measure in arms.measures]
    head = ["case", "trials", *(f"{measure}, {arm}" for measure in measures for arm in arms.arms)]
    lines = [_row(head), "| --- |" + " ---: |" * (len(head) - 1)]
    for case in arms.cases(subject):
        counts = [str(len(arms.values(subject, case, arm, measures[0]))) for arm in arms.arms] if measures else []
        cells = [_shown(arms.cell(subject, case, arm, measure)) for measure in measures for arm in arms.arms]
        lines.append(_row([case, "/".join(counts), *cells]))
    return lines


def _shown(found: Interval | None, *, signed: bool = False) -> str:
    if found is None:
        return "-"
    form = "+.2f" if signed else ".2f"
    if found.low == found.high:
        return f"{found.value:{form}}"
    if not found.drawn:
        return f"{found.value:{form}} (one trial: no interval)"
    return f"{found.value:{form}} [{found.low:{form}}, {found.high:{form}}]"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _title(picture: str) -> str:
    return picture.rpartition("/")[2].removesuffix(".png").replace("-", " ")
