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
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple

import orjson

from evalkit import __version__
from evalkit.analysis.survey import Stamp, changed_stamps
from evalkit.errors import HarnessError
from evalkit.kept import Kept, keep_step, read_kept, read_parts, write_kept
from evalkit.report.row import Row

__all__ = ["AGGREGATE", "DATA", "PAGE", "REGRADED", "REPORTS", "SUMMARY", "Known", "ReportState", "Step",
           "bytes_digest", "report_changes", "update_report"]

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
_KEY = f"report 8 of evalkit {__version__}"
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


class Step(NamedTuple):
    """What changed where all is told as before: stamps and digests, by place, of the results that were read."""

    results: dict[str, Stamp | None]
    unsettled: dict[str, str]


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

    def after(self, step: Step) -> "Known":
        unsettled = {place: digest for place, digest in self.unsettled.items() if place not in step.results}
        return self._replace(results=self.results | step.results, unsettled=unsettled | step.unsettled)


def report_changes(folder: Path, cache: Path, trials: Iterable[str] = ()) -> list[str]:
    """What changed since the last update: results and reports, by path below the run's folder; [] where nothing did.

    Arguments are those of `update_report`. Where nothing is known, that is the summary.
    """
    known, _ = _known(cache)
    return [SUMMARY] if known is None else [*_changes(folder, known, _places(folder, trials))]


def update_report(folder: Path, cache: Path, trials: Iterable[str] = (), *, unfinished: Iterable[Row] = (),
                  held: Iterable[str] = (), full: bool = False,
                  declared: Mapping[str, int] | None = None) -> ReportState:
    """Bring a run's summary and aggregates up to date.

    folder: results/<run>. cache: the file to keep lines in; it can be deleted at any time. trials: ids
    (<run>/<subject>/<unit>/trial-N) of those that may have got a result. unfinished: rows of trials that have none now,
    whatever an older result.json says. held: ids of others, which the last update knew, and whose results and
    aggregates the caller has just found unmoved since: they are not looked at again. full: look for results that nobody
    named too. declared: places of units among those of their case, in which order they are told. Raises HarnessError
    where it cannot write.
    """
    places, still = _places(folder, trials), frozenset(_places(folder, held))
    rows = {place: row for row in unfinished for place in _places(folder, [row.place])}
    with _alone(cache):
        known, kept = _known(cache)
        changes = {} if known is None else _changes(folder, known, places, still)
        if known is not None and not changes and not rows and not full:
            return ReportState(len(known.results), 0, (), ())
        told = (SUMMARY,) if known is None else tuple(changes)
        from evalkit.report.refresh import refresh, told_as_before  # only here: it imports what makes lines

        if known is not None and not rows and not full:
            step = told_as_before(folder, known, changes, declared or {})
            if step is not None:
                keep_step(cache, _KEY, kept, orjson.dumps([*step]), partial(_head, known.after(step)))
                return ReportState(len(known.marks), len(changes), (), (), told)
        known = None if changes.get(SUMMARY, ()) is None else _with_texts(cache, known)  # it was deleted: start anew
        if known is None:
            known, changes, full = Known({}, [], {}, {}, {}, {}, {}, {}), {}, True
        state, now = refresh(folder, known, changes, [*places, *sorted(still), *rows], rows, full=full,
                             declared=declared or {})
        if now != known or [*now.lines] != [*known.lines]:
            write_kept(_texts(cache), _texts_key(now), b"\n".join(
                [orjson.dumps([*now.statuses.values()]), *now.lines.values(), *now.told.values()]))
            write_kept(cache, _KEY, _head(now))
        return state._replace(changes=told)


def _places(folder: Path, trials: Iterable[str]) -> list[str]:
    return [*map(methodcaller("removeprefix", f"{folder.name}/"), trials)]


def _known(cache: Path) -> tuple[Known | None, Kept | None]:
    """What the last update left, without its texts; and the file of it."""
    kept = read_parts(cache, _KEY)
    if kept is None:
        return None, None
    whole, *steps = map(orjson.loads, kept.parts)
    results, without, damaged, unsettled, written, marks = whole
    known = Known(_stamps(*results) | dict.fromkeys(without), damaged, unsettled, _stamps(*written), marks, {}, {}, {})
    for stamps, digests in steps:
        known = known.after(Step({place: stamp and tuple(stamp) for place, stamp in stamps.items()}, digests))
    return known, kept


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


def _head(known: Known) -> bytes:
    """All but the texts."""
    stamps = {place: stamp for place, stamp in known.results.items() if stamp is not None}
    without = [place for place, stamp in known.results.items() if stamp is None]
    return orjson.dumps([_columns(stamps), without, known.damaged, known.unsettled, _columns(known.written),
                         known.marks])


def _columns(stamps: Mapping[str, Stamp]) -> tuple[list[str], list[int]]:
    """Paths, and the numbers of all stamps in a row: of these, tuples are soon made again."""
    return [*stamps], [*chain.from_iterable(stamps.values())]


def _stamps(paths: list[str], numbers: list[int]) -> dict[str, Stamp]:
    each = iter(numbers)
    return dict(zip(paths, zip(each, each, each, each, strict=True), strict=True))


def _texts(cache: Path) -> Path:
    return cache.with_name(f".{cache.name}.texts")


def _texts_key(known: Known) -> str:
    """Of the texts that belong to what is known: a kill between the two files leaves some that do not."""
    return f"{_KEY} {hashlib.sha256(orjson.dumps(known.marks)).hexdigest()}"


def _changes(folder: Path, known: Known, places: Iterable[str],
             held: frozenset[str] = frozenset()) -> dict[str, Stamp | None]:
    """The files below the folder that came or went or were replaced, with their stamps now.

    held: places that need no look, as long as the summary is the one that was written with what is known.
    """
    within, results, written = f"{folder}/", known.results, known.written
    looked = {*places, *known.damaged, *held}
    if held and not changed_stamps({within + SUMMARY: written.get(SUMMARY)}):
        looked -= held & results.keys()
        looked |= results.keys() - held
        aggregates = {f"{place.rpartition('/')[0]}/{AGGREGATE}" for place in looked}
        written = {path: written[path] for path in (*REPORTS, *sorted(aggregates)) if path in written}
    else:
        looked |= results.keys()
    stamps = {f"{within}{place}/result.json": results.get(place) for place in sorted(looked)}
    stamps |= {within + path: stamp for path, stamp in written.items()}
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
