"""`check snapshot`: the app is built and started, a user's steps are taken, and what it shows is looked at.

Each expectation waits some seconds to come true, since an app shows what was done a moment later. A screenshot of each
view and the last snapshot are kept beside the result, whatever the verdict.
"""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import define, field

from evalkit.analysis.model import Command, Live, Setup, SnapshotSpec
from evalkit.analysis.model_live import Click, Expect, Find, Key, LiveStep, Note, Same, Target, Type
from evalkit.analysis.placeholders import expand, expand_all
from evalkit.errors import HarnessError
from evalkit.execute.lanes import Room
from evalkit.execute.live_lane import LiveLane, live_platform
from evalkit.grade.evidence import EVIDENCE_LIMIT, excerpt, plain
from evalkit.grade.final_tree import Copy, FinalTree
from evalkit.grade.live_session import AppFailed, Ran, Shown, shown
from evalkit.grade.live_widgets import Snapshot, Widget, read_snapshot, told_target
from evalkit.grade.run import CheckInCopy
from evalkit.grade.search import shown as shown_pattern
from evalkit.grade.verdict import Verdict
from evalkit.records import write_bytes

__all__ = ["VERSION", "grade_snapshot"]

VERSION = "snapshot 1"
_PATIENCE = 10.0
"""Seconds for an expectation to come true."""
_PAUSE = 0.1
_LARGEST_PICTURE = 16_000_000
_MOST_VIEWS = 8
_PNG = b"\x89PNG\r\n\x1a\n"
_PYTHON = "/usr/bin/python3"
"""Where an image has its Python."""


def grade_snapshot(spec: SnapshotSpec, setup: Setup, tree: FinalTree, place: LiveLane,
                   pictures: Path | None = None) -> Verdict:
    """Build, show, drive, look. place: where apps are shown. pictures: the path of the first screenshot, PNG.

    Raises HarnessError where a tool is missing or fails.
    """
    _remove_old(pictures)
    live = setup.live
    if live is None:
        return Verdict("skipped", "no `live` block says how the app is built and started")
    if place.cannot:
        return Verdict("skipped", place.cannot)
    from evalkit.execute.warm import warm_live

    image = place.image
    with tree.live_copy(setup.toolchains, image.folder if image is not None else None,
                        warm_live(tree.session, setup, tree.lane, image)) as copy:
        if live.build is not None:
            built = CheckInCopy(tree, copy)
            if (failed := built.command(live.build, {"platform": live_platform()}, live.build.limit)) is not None:
                return failed
        return _Look(spec, live, tree, copy, place, pictures).verdict()


@define
class _Look:
    """A look at one app. said: a line for each thing that went well."""

    spec: SnapshotSpec
    live: Live
    tree: FinalTree
    copy: Copy
    place: LiveLane
    pictures: Path | None
    said: list[str] = field(factory=list)
    noted: dict[str, tuple[Target, Widget]] = field(factory=dict)
    view: str = ""
    text: str = ""
    at: float = 0.0

    @property
    def room(self) -> Room:
        return self.copy.room

    def verdict(self) -> Verdict:
        python = _PYTHON if self.place.image is not None else sys.executable
        log = self.copy.scratch / "live.log"
        clean = self.tree.session.redactor.text
        with shown(self.room, python=python, limit=self.spec.limit, log=log, display=_needs_display(self.place),
                   clean=clean) as app:
            try:
                self._start(app)
                failed = self._steps(app)
            except AppFailed as error:
                failed = Verdict("fail", plain(error.summary), excerpt(error.evidence))
            except TimeoutError:
                failed = Verdict("fail", "a pattern took too long on what the app shows")
            notes = self._keep(app)
        if failed is not None:
            evidence = "\n".join(part for part in (failed.evidence, *self.said, *notes) if part)
            return Verdict("fail", failed.summary, evidence[:EVIDENCE_LIMIT])
        return Verdict("pass", self.said[-1] if self.said else "the app is shown",
                       "\n".join([*self.said, *notes])[:EVIDENCE_LIMIT])

    # ---- the app ----
    def _start(self, app: Shown) -> None:
        argv = self._words(self.live.launch, {"platform": live_platform()})
        app.launch(argv, dict(self.live.env), own="/" in argv[0] and not argv[0].startswith("/"))
        if self.live.ready is not None:
            ran = app.run(self._words(self.live.ready, {}), self.live.ready.limit)
            if not ran.ok:
                raise AppFailed(f"the app was not ready: {_told(self.live.ready, ran)}",
                                f"{_output(ran)}\n{app.said()}")
        self.said.append("the app is built, started and ready")

    def _words(self, command: Command, values: Mapping[str, str]) -> list[str]:
        return expand_all(command.words, values)

    def _snapshot(self, app: Shown) -> Snapshot:
        """What the app shows. It may be writing that down just now, so a command that fails is given again."""
        until = time.monotonic() + _PATIENCE
        while not (ran := app.run(self._words(self.live.snapshot, {}), self.live.snapshot.limit)).ok:
            if time.monotonic() > until:
                raise AppFailed(f"the app shows nothing: {_told(self.live.snapshot, ran)}", _output(ran))
            time.sleep(_PAUSE)
        self.text = ran.output
        return read_snapshot(ran.output, self.live.widget, self.live.views)

    def _until(self, app: Shown, good: Callable[[Snapshot], bool]) -> Snapshot | None:
        """The first snapshot that is good; None where none is within some seconds."""
        until = time.monotonic() + _PATIENCE
        while True:
            found = self._snapshot(app)
            if good(found):
                return found
            if time.monotonic() > until:
                return None
            time.sleep(_PAUSE)

    # ---- steps ----
    def _steps(self, app: Shown) -> Verdict | None:
        for step in self.spec.steps:
            if (failed := self._step(app, step)) is not None:
                return failed
        if self.spec.patterns:
            return self._expect(app, Expect(self.spec.expect, self.spec.patterns, self.spec.one_line))
        return None

    def _step(self, app: Shown, step: LiveStep) -> Verdict | None:
        match step:
            case Click(target=target):
                return self._drive(app, self.live.click, "click", target, {})
            case Type(text=text, target=target):
                return self._drive(app, self.live.type_text, f'type "{text}" into', target, {"text": text})
            case Key(key=key):
                if not self.view:
                    self.view = next(iter(self._snapshot(app).views), "")
                return self._done(app, self.live.key, f"key {key}", {"view": self.view, "key": key})
            case Note(name=name, target=target):
                widget = self._found(app, target)
                if isinstance(widget, Verdict):
                    return widget
                self.noted[name] = target, widget
                self.said.append(f"{name} is #{plain(widget.id)}")
                return None
            case Same(name=name):
                return self._same(app, name)
            case Find(target=target, absent=absent):
                return self._present(app, target, absent=absent)
            case Expect():
                return self._expect(app, step)

    def _found(self, app: Shown, target: Target) -> Widget | Verdict:
        snapshot = self._until(app, lambda seen: seen.find(target) is not None)
        widget = None if snapshot is None else snapshot.find(target)
        return widget or Verdict("fail", f"no widget is {told_target(target)}", self._shown())

    def _drive(self, app: Shown, command: Command | None, what: str, target: Target,
               values: Mapping[str, str]) -> Verdict | None:
        widget = self._found(app, target)
        if isinstance(widget, Verdict):
            return widget
        self.view = widget.view
        return self._done(app, command, f"{what} {told_target(target)}",
                          {**values, "view": widget.view, "id": widget.id})

    def _done(self, app: Shown, command: Command | None, what: str, values: Mapping[str, str]) -> Verdict | None:
        if command is None:
            raise HarnessError(f"`live` does not say how to do this: {what}")
        ran = app.run(self._words(command, values), command.limit)
        if not ran.ok:
            return Verdict("fail", f"{what}: {_told(command, ran)}", f"{_output(ran)}\n{self._shown()}")
        self.said.append(what)
        return None

    def _present(self, app: Shown, target: Target, *, absent: bool) -> Verdict | None:
        if self._until(app, lambda seen: (seen.find(target) is None) is absent) is not None:
            self.said.append(f"{told_target(target)} is {'gone' if absent else 'there'}")
            return None
        if absent:
            return Verdict("fail", f"{told_target(target)} is there still", self._shown())
        return Verdict("fail", f"no widget is {told_target(target)}", self._shown())

    def _same(self, app: Shown, name: str) -> Verdict | None:
        target, before = self.noted[name]
        found = self._found(app, target)
        if isinstance(found, Verdict):
            return found
        if (found.view, found.id) == (before.view, before.id):
            self.said.append(f"{name} is the same widget still, #{plain(found.id)}")
            return None
        return Verdict("fail", f"{name} is not the widget that it was",
                       f"{told_target(target)}: #{plain(before.id)} before, #{plain(found.id)} now")

    def _expect(self, app: Shown, expected: Expect) -> Verdict | None:
        def amiss(seen: Snapshot) -> list[str]:
            if expected.one_line:
                return [] if seen.matching_all(expected.patterns) is not None else [
                    "no line has " + ", ".join(map(shown_pattern, expected.patterns))]
            wanted = expected.expect == "has"
            return [f"{shown_pattern(pattern)}: {'no line has it' if line is None else 'is in: ' + plain(line.strip())}"
                    for pattern in expected.patterns
                    if ((line := seen.matching(pattern)) is not None) is not wanted]

        last: list[str] = []

        def good(seen: Snapshot) -> bool:
            last[:] = amiss(seen)
            return not last

        seen = self._until(app, good)
        if seen is None:
            return Verdict("fail", last[0] if len(last) == 1 else f"{len(last)} patterns are amiss",
                           "\n".join([*last, self._shown()]))
        self.said.append(f"it {expected.expect} " + ("in one line " if expected.one_line else "")
                         + ", ".join(map(shown_pattern, expected.patterns)))
        return None

    # ---- what is kept ----
    def _shown(self) -> str:
        """The lines of the last snapshot, without blanks at their sides."""
        return "\n".join(plain(line.strip())[:200] for line in self.text.splitlines()[:60])

    def _keep(self, app: Shown) -> list[str]:
        """The screenshots and the snapshot, as far as there are any; lines on what there is not."""
        if self.pictures is None:
            return []
        notes = []
        try:
            if app.until:
                views = self._snapshot(app).views[:_MOST_VIEWS]
                notes = [note for index, view in enumerate(views) if (note := self._picture(app, index, view))]
        except (AppFailed, TimeoutError, HarnessError):
            pass  # it is told already
        if self.text:  # as the session cleaned it
            write_bytes(self.pictures.with_suffix(".txt"), self.text.encode("utf-8", "replace"), sync=False)
        return notes

    def _picture(self, app: Shown, index: int, view: str) -> str:
        command = self.live.screenshot
        if command is None or self.pictures is None:
            return ""
        ran = app.run(self._words(command, {"view": view}), command.limit)
        data = app.read(expand(self.live.picture, {"view": view}), _LARGEST_PICTURE) if ran.ok else None
        if data is None or not data.startswith(_PNG):
            return f"there is no screenshot of {plain(view)}: {_told(command, ran)}"
        name = self.pictures.name if index == 0 else f"{self.pictures.stem}-{_file_name(view)}.png"
        write_bytes(self.pictures.with_name(name), data, sync=False)
        return ""


def _needs_display(place: LiveLane) -> bool:
    return place.image is not None


def _file_name(view: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", view)[:60] or "view"


def _remove_old(pictures: Path | None) -> None:
    """What an earlier look has left is not this one's."""
    if pictures is None or not pictures.parent.is_dir():
        return
    for path in (pictures, pictures.with_suffix(".txt"), *pictures.parent.glob(f"{pictures.stem}-*.png")):
        path.unlink(missing_ok=True)


def _told(command: Command, ran: Ran) -> str:
    line = plain(shlex.join(command.words))
    return f"`{line}` did not end within {command.limit} s" if ran.over else f"`{line}` ended with {ran.status}"


def _output(ran: Ran) -> str:
    return excerpt("\n".join(part.strip() for part in (ran.errors, ran.output) if part.strip()))
