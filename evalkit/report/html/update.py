"""Keeps report.html and the data beside it up to date: what did not change is not made again.

The data of a trial is a file, `report-data/<place>.js`. It is made anew where the trial's result.json, or its
regrade.json, has another stamp than when it was made: whatever else it shows (the transcript, the final tree,
screenshots) is named by the result, or comes with it. The page is made anew where summary.json, or the page's own
program, is another. Both where somebody deleted them. What the last update knew is kept in a cache, which can be
deleted at any time.

Texts of trials are in these files alone, and each passed the redactor.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson
from attrs import define, field

from evalkit import __version__
from evalkit.analysis.survey import stamp
from evalkit.errors import HarnessError
from evalkit.execute.secrets import Redactor
from evalkit.execute.store import Store
from evalkit.kept import read_kept, write_kept
from evalkit.records import BadRecord, read_plain, write_bytes
from evalkit.report.html.changes import Changes
from evalkit.report.html.page import program_digest, render
from evalkit.report.html.texts import cleaned, embedded
from evalkit.report.html.trial import Prompt, Reader
from evalkit.report.regraded import REGRADED
from evalkit.report.update import PAGE, SUMMARY

__all__ = ["DATA", "PAGE", "PageState", "update_page"]

DATA = "report-data"
_FORM = 3
"""To be raised with every change of what the data of a trial holds."""


def _unknown(case: str, unit: str, inputs: Mapping[str, str]) -> str:
    return ""


class PageState(NamedTuple):
    """What an update did. written: files, by path below the run's folder. errors: of trials that cannot be shown."""

    written: tuple[str, ...] = ()
    errors: tuple[HarnessError, ...] = ()


def update_page(folder: Path, cache: Path, store: Path, redactor: Redactor, *, prompt: Prompt = _unknown,
                forced: bool = False) -> PageState:
    """Bring report.html of a run up to date with its summary.json. It does nothing where there is none.

    folder: results/<run>. cache: the file that keeps what is known. store: the store's folder, for the workspaces that
    agents began with. prompt: tells what agents were asked. forced: make all of it anew. Raises HarnessError where it
    cannot write or the summary is damaged, and UserError where Jinja2 is not installed.
    """
    summary = _stamp(folder / SUMMARY)
    if summary is None:
        return PageState()
    key = _key(redactor)
    known = _NOTHING if forced else _known(cache, key)
    trials = read_plain(folder / SUMMARY)["trials"]
    data = _Data(folder, Reader(redactor, Changes(Store(store), redactor.text), prompt), known.trials)
    for line in trials:
        place = PurePosixPath(str(line["place"]))
        if line["ended"] and not place.is_absolute() and ".." not in place.parts:
            data.keep(str(place))
    data.drop(everything=known is _NOTHING)
    page = [list(summary), _stamp(folder / PAGE), program_digest()]
    if known.page != page:
        text = render(folder.name, cleaned(trials, redactor), DATA)
        write_bytes(folder / PAGE, text.encode(), sync=False)
        data.written.append(PAGE)
        page[1] = _stamp(folder / PAGE)
    now = _Known(page, data.stamps)
    if now != known:
        write_kept(cache, key, orjson.dumps([*now]))
    return PageState(tuple(data.written), tuple(data.errors))


class _Known(NamedTuple):
    """What an update leaves to the next one.

    page: stamps of the summary and of the page, and the digest of its program. trials: by place, the stamps of the
    result, of its regrading, and of the data made of both.
    """

    page: list[Any]
    trials: dict[str, list[Any]]


_NOTHING = _Known([], {})


@define
class _Data:
    """The data of a run's trials. before: stamps that are known. stamps: those of now."""

    folder: Path
    reader: Reader
    before: Mapping[str, list[Any]]
    stamps: dict[str, list[Any]] = field(factory=dict)
    written: list[str] = field(factory=list)
    errors: list[HarnessError] = field(factory=list)

    def keep(self, place: str) -> None:
        """Have the data of a trial there, and right."""
        result, target = self.folder / place / "result.json", self.folder / DATA / f"{place}.js"
        now = [_stamp(result), _stamp(result.with_name(REGRADED))]
        if now[0] is None:
            return
        before = self.before.get(place)
        if before is not None and before == [*now, _stamp(target)]:
            self.stamps[place] = before
            return
        try:
            made = self._made(place, result)
        except HarnessError as error:
            self.errors.append(error)
            return
        write_bytes(target, made, sync=False)
        self.written.append(f"{DATA}/{place}.js")
        self.stamps[place] = [*now, _stamp(target)]

    def _made(self, place: str, result: Path) -> bytes:
        """The script that brings a trial's data. Raises HarnessError where its result cannot be read."""
        try:
            data = self.reader.read(result.parent, place, read_plain(result))
        except FileNotFoundError as error:
            raise HarnessError(f"{result} is gone", hint="run again") from error
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise BadRecord(f"{result} is damaged: it is not a result: {error}",
                            hint="delete it; the next run makes it again") from error
        return f"evalkit({embedded(data)});\n".encode()

    def drop(self, *, everything: bool) -> None:
        """Remove the data of trials that are gone. everything: look for it, as nobody knows what there is."""
        root = self.folder / DATA
        gone = [root / f"{place}.js" for place in self.before if place not in self.stamps]
        if everything:
            wanted = {root / f"{place}.js" for place in self.stamps}
            gone += [path for path in root.rglob("*.js") if path not in wanted]
        for path in gone:
            with contextlib.suppress(OSError):
                path.unlink()
                for parent in path.parents:
                    if parent in (root, self.folder):
                        break
                    parent.rmdir()


def _key(redactor: Redactor) -> str:
    """Of what all data is made with: where another key is known by now, all of it is made anew."""
    return f"page {_FORM} of evalkit {__version__} {redactor.fingerprint('report')[:16]}"


def _known(cache: Path, key: str) -> _Known:
    kept = read_kept(cache, key)
    return _NOTHING if kept is None else _Known(*orjson.loads(kept))


def _stamp(path: Path) -> list[int] | None:
    try:
        return list(stamp(os.fspath(path)))
    except OSError:
        return None
