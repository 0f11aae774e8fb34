"""Keeps a run's summary.json and its units' aggregate.json up to date, reading only the results that changed.

A cache has a line for each trial of the run (summary.py), and the stamp (inode, size, times) that its result.json had
when the line was made. An update asks for the stamps of all results that are known and of those that the caller names,
reads those whose stamp is another, drops those that are gone, and writes what came out different (refresh.py). What it
wrote has stamps too: a summary or an aggregate that somebody deleted or changed is written again. Where nothing
changed, nothing is read but the cache's first line and the stamps, and little is imported.

A trial without a result (an error of the harness, or no budget) has a line because the caller says so, and keeps it
until it has a new result, or until the run's folder or its summary.json is deleted.

Limits: a result that came without a run (copied in by hand) is found by a full walk, which is made where there is no
cache or no summary.json, or where the caller asks for it. A result that changed within the clock's grain of the moment
when it was read is read again the next time. Where the cache cannot be written, each update is a full walk.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson

from evalkit import __version__
from evalkit.analysis.survey import Stamp, changed_stamps
from evalkit.errors import HarnessError
from evalkit.kept import read_kept, write_kept
from evalkit.report.row import Row

__all__ = ["SUMMARY", "Head", "LineData", "ReportState", "report_changes", "update_report"]

SUMMARY = "summary.json"
_KEY = f"report 1 of evalkit {__version__}"
"""To be raised with every change of what a line is made of."""
LineData: TypeAlias = dict[str, Any]


class ReportState(NamedTuple):
    """What an update did.

    trials: how many the summary has. read: how many results were read. written: files, by path below the run's folder.
    errors: of results that could not be read; all others are in the summary.
    """

    trials: int
    read: int
    written: tuple[str, ...]
    errors: tuple[HarnessError, ...]


class Head(NamedTuple):
    """What an update looks at first.

    results: stamps by place (a trial's folder below the run's); None for a trial without a result. damaged: places of
    results that could not be read. written: stamps of the summary and of aggregates, by path below the run's folder.
    """

    results: dict[str, Stamp | None]
    damaged: list[str]
    written: dict[str, Stamp]


def report_changes(folder: Path, cache: Path, trials: Iterable[str] = ()) -> list[str]:
    """What changed since the last update: results and reports, by path below the run's folder; [] where nothing did.

    Arguments are those of `update_report`. Where nothing is known, that is the summary.
    """
    kept = read_kept(cache, _KEY)
    return [SUMMARY] if kept is None else _changes(folder, _head(kept), _places(folder, trials))


def update_report(folder: Path, cache: Path, trials: Iterable[str] = (), *, unfinished: Iterable[Row] = (),
                  full: bool = False) -> ReportState:
    """Bring a run's summary and aggregates up to date.

    folder: results/<run>. cache: the file to keep lines in; it can be deleted at any time. trials: ids
    (<run>/<subject>/<unit>/trial-N) of those that may have got a result. unfinished: rows of trials that have none now,
    whatever an older result.json says. full: look for results that nobody named too. Raises HarnessError where it
    cannot write.
    """
    places = _places(folder, trials)
    rows = {place: row for row in unfinished for place in _places(folder, [row.place])}
    if not full and not rows:
        kept = read_kept(cache, _KEY)
        if kept is not None and not _changes(folder, head := _head(kept), places):
            return ReportState(len(head.results), 0, (), ())
    from evalkit.report.refresh import refresh  # only here: it imports what makes lines

    with _alone(cache):
        kept = read_kept(cache, _KEY) if (folder / SUMMARY).is_file() else None
        head = Head({}, [], {}) if kept is None else _head(kept)
        lines = {} if kept is None else orjson.loads(kept[kept.index(b"\n") :])
        state, now, found = refresh(folder, head, lines, places, rows, full=full or kept is None)
        if kept is None or now != head or found != lines:
            write_kept(cache, _KEY, orjson.dumps([*now]) + b"\n" + orjson.dumps(found))
    return state


def _places(folder: Path, trials: Iterable[str]) -> list[str]:
    return [trial.removeprefix(f"{folder.name}/") for trial in trials]


def _head(kept: bytes) -> Head:
    results, damaged, written = orjson.loads(kept[: kept.index(b"\n")])
    return Head({place: known and tuple(known) for place, known in results.items()}, damaged,
                {path: tuple(known) for path, known in written.items()})


def _changes(folder: Path, head: Head, places: Iterable[str]) -> list[str]:
    """The files below the folder that came or went or whose stamps are others now."""
    within = f"{folder}/"
    known = {f"{within}{place}/result.json": known for place, known in head.results.items() if known is not None}
    known |= {within + path: known for path, known in head.written.items()}
    waiting = [place for place in places if place not in head.results] + head.damaged
    waiting += [place for place, known in head.results.items() if known is None]
    come = [f"{place}/result.json" for place in dict.fromkeys(waiting)
            if os.path.exists(f"{within}{place}/result.json")]  # noqa: PTH110
    return [path.removeprefix(within) for path in changed_stamps(known)] + come


@contextlib.contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Two updates of one run wait for each other, where the cache's folder lets them."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            cache.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(cache.with_name(f".{cache.name}.lock").open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
