"""Keeps a run's reports and its units' aggregate.json up to date, reading only the results that changed.

Reports are summary.json, summary.md, junit.xml and results.csv. A cache has a line for each trial of the run
(summary.py) with its parts of the other reports (told.py), and the stamp (inode, size, times) that its result.json had
when the line was made. An update asks for the stamps of all results that are known and of those that the caller names,
reads those whose stamp is another, drops those that are gone, and writes what came out different (refresh.py). What it
wrote has stamps too: a report or an aggregate that somebody deleted or changed is written again. Where nothing
changed, nothing is read but the cache and the stamps, and little is imported. The texts are a file of their own: where
results changed, and none of what is told of them, they are not read.

A trial without a result (an error of the harness, or no budget) has a line because the caller says so, and keeps it
until it has a new result, or until the run's folder or its summary.json is deleted.

Limits: a result that came without a run (copied in by hand) is found by a full walk, which is made where there is no
cache or no summary.json, or where the caller asks for it. Where the cache cannot be written, that is always.

A file that changes within the grain of the file system's clock can get other bytes and keep its stamp. So of a result
that was read so soon after it changed the digest is kept too, and compared.
"""

import contextlib
import fcntl
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from evalkit import __version__
from evalkit.analysis.survey import Stamp, changed_stamps
from evalkit.errors import HarnessError
from evalkit.kept import read_kept, write_kept
from evalkit.report.row import Row

__all__ = ["AGGREGATE", "DATA", "PAGE", "REGRADED", "REPORTS", "SUMMARY", "Known", "ReportState", "bytes_digest",
           "report_changes", "update_report"]

SUMMARY = "summary.json"
AGGREGATE = "aggregate.json"
REPORTS = (SUMMARY, "summary.md", "junit.xml", "results.csv")
"""The files of a run, in the order in which they are written."""
PAGE = "report.html"
"""Made of the summary, where Jinja2 is installed."""
DATA = "report-data"
"""The folder of what that page shows of trials."""
REGRADED = "regrade.json"
"""Beside a result.json: what the trial comes to by the checks as they were when it was graded again."""
_KEY = f"report 7 of evalkit {__version__}"
"""To be raised with every change of what a line is made of."""


class ReportState(NamedTuple):
    """What an update did.

    trials: how many the summary has. read: how many results were read. written: files, by path below the run's folder.
    errors: of results that could not be read; all others are in the summary. changes: what `report_changes` told.
    """

    trials: int
    read: int
    written: tuple[str, ...]
    errors: tuple[HarnessError, ...]
    changes: tuple[str, ...] = ()


class Known(NamedTuple):
    """What an update leaves to the next one. A place is a trial's folder, a path a file, both below the run's folder.

    results: stamps by place; None for a trial without a result. damaged: places of results that could not be read.
    unsettled: digests by place, of results that could change and keep their stamp. written: stamps of reports and
    of aggregates, by path. marks: by place, digests of a line and what is told.

    The texts, by place: lines of the summary; their statuses; told: the parts of other reports. They may not be read
    yet.
    """

    results: dict[str, Stamp | None]
    damaged: list[str]
    unsettled: dict[str, str]
    written: dict[str, Stamp]
    marks: dict[str, str]
    statuses: dict[str, str]
    lines: dict[str, bytes]
    told: dict[str, bytes]


def report_changes(folder: Path, cache: Path, trials: Iterable[str] = ()) -> list[str]:
    """What changed since the last update: results and reports, by path below the run's folder; [] where nothing did.

    Arguments are those of `update_report`. Where nothing is known, that is the summary.
    """
    known = _known(cache)
    return [SUMMARY] if known is None else [*_changes(folder, known, _places(folder, trials))]


def update_report(folder: Path, cache: Path, trials: Iterable[str] = (), *, unfinished: Iterable[Row] = (),
                  held: Iterable[str] = (), full: bool = False,
                  declared: Mapping[str, int] | None = None) -> ReportState:
    """Bring a run's summary and aggregates up to date.

    folder: results/<run>. cache: the file to keep lines in; it can be deleted at any time. trials: ids
    (<run>/<subject>/<unit>/trial-N) of those that may have got a result. unfinished: rows of trials that have none now,
    whatever an older result.json says. held: ids of trials that the last update knew, and whose result and aggregate
    the caller has just found unmoved since: they are not looked at again. full: look for results that nobody named too.
    declared: places of units among those of their case, in which order they are told. Raises HarnessError where it
    cannot write.
    """
    places = _places(folder, trials)
    rows = {place: row for row in unfinished for place in _places(folder, [row.place])}
    with _alone(cache):
        known = _known(cache)
        changes = {} if known is None else _changes(folder, known, places, {*_places(folder, held)})
        if known is not None and not changes and not rows and not full:
            return ReportState(len(known.results), 0, (), ())
        told = (SUMMARY,) if known is None else tuple(changes)
        from evalkit.report.refresh import refresh, told_as_before  # only here: it imports what makes lines

        if known is not None and not rows and not full:
            same = told_as_before(folder, known, changes, declared or {})
            if same is not None:
                _keep_head(cache, same)
                return ReportState(len(same.marks), len(changes), (), (), told)
        known = None if changes.get(SUMMARY, ()) is None else _with_texts(cache, known)  # it was deleted: start anew
        if known is None:
            known, changes, full = Known({}, [], {}, {}, {}, {}, {}, {}), {}, True
        state, now = refresh(folder, known, changes, [*places, *rows], rows, full=full, declared=declared or {})
        if now != known or [*now.lines] != [*known.lines]:
            write_kept(_texts(cache), _texts_key(now), b"\n".join(
                [orjson.dumps([*now.statuses.values()]), *now.lines.values(), *now.told.values()]))
            _keep_head(cache, now)
        return state._replace(changes=told)


def _places(folder: Path, trials: Iterable[str]) -> list[str]:
    run = f"{folder.name}/"
    return [trial.removeprefix(run) for trial in trials]


def _known(cache: Path) -> Known | None:
    """What the last update left, without its texts."""
    kept = read_kept(cache, _KEY)
    if kept is None:
        return None
    results, damaged, unsettled, written, marks = orjson.loads(kept)
    return Known({place: stamp and tuple(stamp) for place, stamp in results.items()}, damaged, unsettled,
                 {path: tuple(stamp) for path, stamp in written.items()}, marks, {}, {}, {})


def _with_texts(cache: Path, known: Known | None) -> Known | None:
    """The same with its texts; None where they are gone."""
    kept = None if known is None else read_kept(_texts(cache), _texts_key(known))
    if known is None or kept is None:
        return None
    statuses, *lines = kept.split(b"\n")
    count = len(known.marks)
    return known._replace(statuses=dict(zip(known.marks, orjson.loads(statuses), strict=True)),
                          lines=dict(zip(known.marks, lines[:count], strict=True)),
                          told=dict(zip(known.marks, lines[count:], strict=True)))


def _keep_head(cache: Path, known: Known) -> None:
    write_kept(cache, _KEY, orjson.dumps([*known][:-3]))


def _texts(cache: Path) -> Path:
    return cache.with_name(f".{cache.name}.texts")


def _texts_key(known: Known) -> str:
    """Of the texts that belong to what is known: a kill between the two files leaves some that do not."""
    return f"{_KEY} {hashlib.sha256(orjson.dumps(known.marks)).hexdigest()}"


def _changes(folder: Path, known: Known, places: Iterable[str],
             held: Collection[str] = ()) -> dict[str, Stamp | None]:
    """The files below the folder that came or went or were replaced, with their stamps now.

    held: places that need no look, as long as the summary is the one that was written with what is known.
    """
    within, results = f"{folder}/", known.results
    summary = {within + SUMMARY: known.written.get(SUMMARY)}
    if held and changed_stamps(summary):
        held = ()
    above = {f"{place.rpartition('/')[0]}/{AGGREGATE}" for place in held}
    stamps = {f"{within}{place}/result.json": stamp for place, stamp in results.items() if place not in held}
    stamps |= {f"{within}{place}/result.json": None for place in (*places, *known.damaged) if place not in results}
    stamps |= {within + path: stamp for path, stamp in known.written.items() if path not in above}
    changes = changed_stamps(stamps)
    for place, digest in known.unsettled.items():
        path = f"{within}{place}/result.json"
        if path not in changes and bytes_digest(path) != digest:
            changes[path] = results[place]
    return {path.removeprefix(within): now for path, now in changes.items()}


def bytes_digest(path: str) -> str:
    """The digest of a file's bytes; "" where it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


@contextlib.contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Two updates of one run wait for each other, where the cache's folder lets them."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            cache.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(cache.with_name(f".{cache.name}.lock").open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
