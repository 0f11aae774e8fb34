"""A run's summary, once its trials are what they are: which results changed, and the files that say so."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Container, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.report.row import Row
from evalkit.report.update import PAGE, SUMMARY, update_report

if TYPE_CHECKING:
    from evalkit.analysis.index import Index
    from evalkit.analysis.project import Project
    from evalkit.dag.progress import Progress
    from evalkit.errors import EvalkitError
    from evalkit.plan.choices import Choices
    from evalkit.report.html import PageState

__all__ = ["can_draw", "declared_units", "draw_page", "drawn", "page_is_behind", "sum_up", "summary_places", "told",
           "told_units"]


def summary_places(root: Path, run: str) -> tuple[Path, Path]:
    """The folder of a run's results, and the file that keeps what is known of them."""
    return root / f"results/{run}", root / f".evalkit/cache/report/{run}"


def declared_units(index: Index) -> dict[str, int]:
    """The places of units among those of their case, of the cases that have several."""
    return {unit: at for head in index.cases.values() if len(head.units) > 1 for at, unit in enumerate(head.units)}


def told_units(root: Path, run: str, *, besides: Container[str]) -> dict[str, int]:
    """The places of units as a run's summary has them, but those of some cases. None where it cannot be read."""
    from evalkit.errors import HarnessError
    from evalkit.records import read_plain
    from evalkit.report.arm_order import arm_order

    with contextlib.suppress(FileNotFoundError, HarnessError, KeyError, TypeError):
        lines = read_plain(summary_places(root, run)[0] / SUMMARY)["trials"]
        return arm_order([((line["agent"], line["model"], line["case"]), line["unit"])
                          for line in lines if line["case"] not in besides])
    return {}


def told(changes: Sequence[str]) -> str:
    """Why a summary is made: one change by its name, more by their number."""
    if len(changes) > 1:
        return f"{len(changes)} results changed"
    return f"{changes[0]} changed" if changes else ""


def sum_up(root: Path, run: str, rows: Sequence[Row], progress: Progress, *, new: bool = True,
           held: Collection[str] = (), declared: Mapping[str, int] | None = None) -> list[EvalkitError]:
    """Bring a run's summary up to date where any of these trials, or anything else that it knows, changed.

    new: some of the results were just made. held (ids of other trials), declared: see `update_report`. Returns what
    went wrong: results that cannot be read are left out, and told.
    """
    from evalkit.errors import EvalkitError

    folder, cache = summary_places(root, run)
    finished = [row.place for row in rows if row.ended]
    unfinished = [row for row in rows if not row.ended]
    why = "" if (folder / "summary.json").exists() else "never run"
    try:
        state = update_report(folder, cache, finished, unfinished=unfinished,
                              held=held, declared=declared)
    except EvalkitError as error:
        return [error]
    if state.written or new:  # else results were looked at again, and are the same
        progress.started(f"report:{run}", why or told(state.changes) or "trials without a result")
        progress.finished(f"report:{run}", "")
    return list(state.errors)


def draw_page(root: Path, run: str, environ: Mapping[str, str], choices: Choices, *, forced: bool = False,
              held: Collection[str] = ()) -> PageState:
    """Bring a run's report.html up to date with its summary. forced: all of it anew. held: see `update_page`.

    Raises UserError where Jinja2 is not installed, HarnessError where it cannot be written.
    """
    from evalkit.execute.places import Places
    from evalkit.execute.secrets import Redactor
    from evalkit.plan.choices import secret_names
    from evalkit.report.html import update_page

    places = Places.of(root, environ, choices.store)
    return update_page(places.results / run, places.state / f"cache/page/{run}", places.store,
                       Redactor.of(environ, secret_names(root)), prompt=_Prompts(root, choices.cases), forced=forced,
                       held=held)


def page_is_behind(folder: Path) -> None:
    """Have the next run look at the whole page of a run, whatever that one settled: where nobody makes it again now."""
    with contextlib.suppress(OSError):
        os.utime(folder / PAGE)


def can_draw() -> bool:
    """Whether what makes report.html is installed."""
    return find_spec("jinja2") is not None


def drawn(root: Path, run: str, environ: Mapping[str, str], choices: Choices, *,
          held: Collection[str] = ()) -> list[EvalkitError]:
    """`draw_page` at the end of a run: what went wrong. Without Jinja2 there is no page, and nothing wrong."""
    from evalkit.errors import EvalkitError, HarnessError

    folder, _ = summary_places(root, run)
    if not can_draw():
        page_is_behind(folder)
        return []
    try:
        return list(draw_page(root, run, environ, choices, held=held).errors)
    except EvalkitError as error:
        page_is_behind(folder)
        return [error]
    except Exception as error:  # noqa: BLE001 - our own bug: the verdicts stand, and are still to be printed
        page_is_behind(folder)
        return [HarnessError(f"report.html cannot be made: {type(error).__name__}: {error}",
                             hint=f"this is a bug in evalkit; please report what `evalkit report {run}` says")]


class _Prompts:
    """What agents were asked, by the cases as they are now: told where it is what an agent run was made from."""

    def __init__(self, root: Path, cases: str) -> None:
        self._root, self._cases = root, cases

    @cached_property
    def _project(self) -> Project | None:
        from evalkit.analysis.project import load_project
        from evalkit.diagnostics import CaseErrors
        from evalkit.errors import EvalkitError

        try:
            return load_project(self._root, self._cases)
        except CaseErrors:  # the results are right all the same
            from evalkit.analysis.sound import sound_part

            part = sound_part(self._root, self._cases)
            return None if part is None else part.project
        except EvalkitError:
            return None

    def __call__(self, case: str, unit: str, inputs: Mapping[str, str]) -> str:
        from evalkit.digest import digest
        from evalkit.errors import EvalkitError

        asked, added = inputs.get("prompt"), inputs.get("prompt suffix")
        if asked is None or self._project is None or case not in self._project.units:
            return ""
        try:
            found = [one for one in self._project.units[case] if one.unit == unit]
        except EvalkitError:
            return ""
        if not found or digest(found[0].prompt) != asked or digest(found[0].agent.suffix) != added:
            return ""
        return "\n\n".join(part.strip() for part in (found[0].prompt, found[0].agent.suffix) if part.strip())
