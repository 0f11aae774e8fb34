"""The checks of the format `native-evals`: objects with a `type` -> `check` statements and `judge` blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from attrs import define, field

from evalkit.authoring.importers.fields import Fields
from evalkit.authoring.importers.globs import convert_globs
from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.jsregex import translate
from evalkit.authoring.importers.report import Section
from evalkit.authoring.importers.writer import Lines, command, join, quoted, slug, text

__all__ = ["ENTRY", "ZIG_ARGS", "Checks", "Needs"]

ENTRY = "src/core.ts"
"""What the format transpiles where a check does not say."""
ZIG_ARGS = ("-Dplatform=null",)
_JUDGED = ["src/*.native", "src/main.zig", "src/tests.zig"]
_LANES = ("macos-local", "linux-sandbox")
_WIDTH = 110


@define
class Needs:
    """What the cases use of the suite: its file declares no more."""

    profiles: set[str] = field(factory=set)
    checks: set[str] = field(factory=set)
    absent: bool = False
    """Whether a pattern must not be found."""
    zig_args: list[tuple[str, ...]] = field(factory=list)

    def zig_harness(self, args: tuple[str, ...]) -> str:
        """The name of the `define check` that runs a harness with these arguments."""
        if args not in self.zig_args:
            self.zig_args.append(args)
        number = self.zig_args.index(args)
        return "zig-harness" if number == 0 else f"zig-harness-{number + 1}"


@define
class Checks:
    """Converts the checks of one case. `files` are those of its folder; `used` collects those that a check names."""

    job: Job
    section: Section
    needs: Needs
    files: set[str]
    ids: set[str] = field(factory=set)
    counts: dict[str, int] = field(factory=dict)
    used: set[str] = field(factory=set)

    def convert(self, checks: list[Fields], depth: int) -> Lines:
        lines = Lines(depth=depth)
        kinds: dict[str, Callable[[Fields, Lines], str | None]] = {
            "build_test": self._build_test, "markup_check": self._markup, "file_grep": self._file_grep,
            "snapshot_grep": self._snapshot, "ts_transpile": self._ts_transpile, "ts_harness": self._ts_harness,
            "zig_harness": self._zig_harness, "llm_judge": self._judge,
        }
        for check in checks:
            kind = check.text("type", required=True)
            if kind is None:
                continue
            if kind not in kinds:
                check.lost("type", f"there is no check type `{kind}` in this format; it has {', '.join(kinds)}")
                continue
            statement = kinds[kind](check, lines)
            if statement is not None:
                lines.add(statement + self._lanes(check) + self._description(check))
            check.finish()
        return lines

    # ---- options ----
    def _lanes(self, check: Fields) -> str:
        lanes = check.texts("lanes")
        for lane in lanes:
            if lane not in _LANES:
                check.lost("lanes", f"there is no lane `{lane}`")
        known = [lane for lane in lanes if lane in _LANES]
        return f" on {', '.join(known)}" if known else ""

    def _description(self, check: Fields) -> str:
        description = check.text("description")
        return f" {quoted(description)}" if description else ""

    def _id(self, wanted: str) -> str:
        name = wanted
        while name in self.ids:
            self.counts[wanted] = self.counts.get(wanted, 1) + 1
            name = f"{wanted}-{self.counts[wanted]}"
        self.ids.add(name)
        return name

    def _described(self, check: Fields, default: str) -> str:
        """An id made of a check's description."""
        description = check.data.get("description")
        name = slug(description, longest=32, default=default) if isinstance(description, str) else default
        return self._id(name)

    # ---- one method a type ----
    def _build_test(self, check: Fields, lines: Lines) -> str:
        return f"check run {command(('native', 'test', *check.texts('args')))} as {self._id('own-tests')}"

    def _markup(self, check: Fields, lines: Lines) -> str:
        self.needs.checks.add("markup")
        return f"check markup as {self._id('markup')}"

    def _file_grep(self, check: Fields, lines: Lines) -> str | None:
        selectors = check.texts("files", one=True)
        globs = convert_globs(selectors, check.name("files"), self.section)
        pattern = check.text("pattern", required=True)
        expect = check.take("expect")
        literal = None if pattern is None else self._pattern(check.name("pattern"), pattern)
        if not isinstance(expect, bool):
            check.lost("expect", "it is missing" if "expect" not in check.data else
                       f"`{expect}` is not true (the pattern must be found) or false (it must not)")
        if not selectors and "files" not in check.data:
            check.lost("files", "it is missing")
        if literal is None or not globs or not isinstance(expect, bool):
            check.lost("", "the check was left out") if check.label == "" else self.section.lost(
                check.label, "the check was left out")
            check.taken.update(("description", "lanes"))
            return None
        self.needs.absent |= not expect
        verb = "has" if expect else "lacks"
        return f"check grep {join(globs)} {verb} {literal} as {self._described(check, 'grep')}"

    def _pattern(self, label: str, pattern: str) -> str | None:
        return self.job.pattern(pattern, label, self.section, partial(translate, exact=self.job.exact))

    def _snapshot(self, check: Fields, lines: Lines) -> str | None:
        patterns = [self._pattern(check.name(f"patterns[{index}]"), pattern)
                    for index, pattern in enumerate(check.texts("patterns", one=True))]
        known = [pattern for pattern in patterns if pattern is not None]
        if not known:
            self.section.lost(check.label, "the check was left out: no pattern is left")
            check.taken.update(("description", "lanes"))
            return None
        head = "check snapshot has "
        flat = ", ".join(known)
        listed = flat if len(flat) < _WIDTH - 30 else (",\n" + "  " * (lines.depth + 1)).join(known)
        return f"{head}{listed} as {self._id('live')}"

    def _ts_transpile(self, check: Fields, lines: Lines) -> str:
        self.needs.checks.add("ts-transpile")
        return f"check ts-transpile {quoted(self._entry(check))} as {self._id('transpile')}"

    def _ts_harness(self, check: Fields, lines: Lines) -> str | None:
        entry = self._entry(check)
        harness = self._harness(check, "harness.zig")
        if harness is None:
            return None
        self.needs.checks.add("ts-harness")
        return f"check ts-harness {quoted(harness)} {quoted(entry)} as {self._id('ts-harness')}"

    def _zig_harness(self, check: Fields, lines: Lines) -> str | None:
        args = tuple(check.texts("args"))
        harness = self._harness(check, "harness-zig.zig")
        if harness is None:
            return None
        self.needs.checks.add("zig-harness")
        return f"check {self.needs.zig_harness(args)} {quoted(harness)} as {self._id('zig-harness')}"

    def _entry(self, check: Fields) -> str:
        return check.text("entry") or ENTRY

    def _harness(self, check: Fields, default: str) -> str | None:
        name = (check.text("harness") or default).removeprefix("./")
        if name not in self.files:
            self.section.lost(check.label, f"the check was left out: there is no file `{name}` in the case's folder")
            check.taken.update(("description", "lanes"))
            return None
        self.used.add(name)
        return name

    def _judge(self, check: Fields, lines: Lines) -> None:
        criteria = check.texts("criteria", one=True)
        files = convert_globs(check.texts("files", one=True), check.name("files"), self.section)
        least, advisory = check.number("minScore"), check.flag("advisory", True)
        title = check.text("description")
        if check.texts("lanes"):
            check.lost("lanes", "a judge reads files alone: it has no lanes")
        if not criteria:
            self.section.lost(check.label, "the judge was left out: it has no criteria")
            return
        if "files" not in check.data:
            files = list(_JUDGED)
        if least is not None and (least != math.floor(least) or not 0 <= least <= 10):
            check.lost("minScore", f"{least} is not a whole number from 0 to 10; the judge is advisory, without a "
                       "threshold")
            threshold = "advisory"
        else:
            threshold = f"pass at {6 if least is None else int(least)}{', advisory' if advisory else ''}"
        lines.blank()
        with lines.block(f"judge {quoted(title or 'quality')} as {self._id('quality')}"):
            if not files:
                self.section.look(check.name("files"), "no file is left; the judge is given all of src/")
            lines.add(f"files {join(files or ['src/**'])}", threshold)
            lines.add(*(f"criterion {text(criterion, lines.depth)}" for criterion in criteria))
