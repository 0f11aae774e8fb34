"""`evalkit show`: a compiled unit, every value with the file and line that it comes from.

A unit is walked from its fields inwards: unit -> rows (depth, name, value, origin) -> lines. Origins stand in
`Case.origins`, by the path of the field (`limits.turns`); checks, judges, skills and the like carry their own. A value
that nobody wrote is a default.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
from attrs import frozen

from evalkit.analysis import model as m
from evalkit.analysis.calls_shown import calls_shown, sequence_shown, state_shown, tell_test
from evalkit.analysis.project import Project
from evalkit.authoring.columns import one_line
from evalkit.authoring.project import open_project, units_of
from evalkit.diagnostics import did_you_mean
from evalkit.errors import Exit, UserError
from evalkit.records import unstructure
from evalkit.values import fields_of, has_fields

__all__ = ["ABOUT", "Row", "arguments", "lines", "main", "rows"]

ABOUT = "print a compiled case, every value with where it comes from"
_EPILOG = """\
examples:
  evalkit show kanban-board              what holds for a case, and which file and line says so
  evalkit show dual-list@ts+baseline     one track, one arm
  evalkit show kanban-board --full       long texts too
  evalkit show kanban-board --json       plain data, for programs

Where a case has several units, each is shown. `default`: nobody says it, it is so of itself.
"""
_LEFT_OUT = {"origin", "origins", "name", "id", "kind", "type", "code", "other_agents"}
"""Fields that are told elsewhere: in the heading of what they belong to, or at the right; and agents that the unit
does not select."""
_DERIVED = {"folder"}
"""Fields that a case has by where it stands."""
_ONE_EACH = {"criteria", "context", "prewarm", "sequences", "outputs", "guidance", "tests"}
"""Lists of sentences and commands: a comma between them would be taken for a part of one."""
_NARROWEST = 30
_WIDTH = 140
"""Of a page that is no terminal's."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("unit", metavar="CASE[@TRACK][+ARM]", help="a case, or one of its units")
    parser.add_argument("--json", action="store_true", help="plain data: a list of units")
    parser.add_argument("--full", action="store_true", help="whole texts, however long")


def main(options: argparse.Namespace) -> int:
    """Print the unit, or each unit of the case. 0: done."""
    units = find(open_project(), options.unit)
    if options.json:
        data = [{"unit": name, **unstructure(unit)} for name, unit in units.items()]
        sys.stdout.write(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n")
        return Exit.OK
    width = shutil.get_terminal_size((_WIDTH, 0)).columns if sys.stdout.isatty() else _WIDTH
    for index, (name, unit) in enumerate(units.items()):
        print(("\n" if index else "") + name)
        cut = False
        for line, short in lines(list(rows(unit)), width, full=options.full):
            print(line)
            cut = cut or short
        if cut:
            print("…: there is more; `--full` shows it")
    return Exit.OK


# ---- which unit ----
def find(project: Project, asked: str) -> dict[str, m.Case]:
    """The units that are meant: one, or those of a case, a track or an arm. Raises `UserError` with a hint."""
    name, track, arm = _parts(asked.removeprefix("case:"))
    case = project.cases.get(name)
    if case is None:
        if name in project.suites:
            raise UserError(f"`{name}` is a suite", hint=f"`evalkit list {name}` shows its cases")
        raise UserError(f"there is no case `{one_line(name)}`", hint=did_you_mean(name, project.cases))
    units = units_of(project, case)
    for what, wanted, index in (("track", track, 1), ("arm", arm, 2)):
        known = {part for unit in units if (part := _parts(unit)[index])}
        if not any(_is_of(part, wanted) for part in known or ("",)):
            raise UserError(f"case `{name}` has no {what} `{one_line(wanted)}`",
                            hint=did_you_mean(wanted, known) or f"it has no {what}s at all")
    return {unit: compiled for unit, compiled in units.items()
            if track in ("", _parts(unit)[1]) and _is_of(_parts(unit)[2], arm)}


def _is_of(arm: str, wanted: str) -> bool:
    """Whether an arm is meant: by its name, or by that of the arm which stands for one arm a section."""
    return not wanted or arm == wanted or arm.startswith(wanted + ".")


def _parts(unit: str) -> tuple[str, str, str]:
    """`case@track+arm` -> its parts; those that are not said are empty."""
    rest, _, arm = unit.partition("+")
    name, _, track = rest.partition("@")
    return name, track, arm


# ---- unit -> rows ----
@frozen
class Row:
    """A field: how deep it lies, its name, its value (a text may have several lines) and `file:line`, or `default`."""

    depth: int
    name: str
    value: str
    origin: str


def rows(unit: m.Case) -> Iterator[Row]:
    """All that a unit says, in the order of its fields. Empty fields that nobody wrote are left out."""
    yield from _Walk(unit, unit.origins).fields(unit, "", 0, "")


@frozen
class _Walk:
    unit: m.Case
    origins: Mapping[str, str]

    def fields(self, value: Any, path: str, depth: int, inherited: str) -> Iterator[Row]:
        """The rows of an object's fields. What a check looks for is told as the check's own.

        Where the object was written as a whole (`inherited`), fields that are as they are by default are left out.
        """
        for field in fields_of(type(value)):
            inner = getattr(value, field.name)
            if field.name == "spec" and _text(inner, path) is not None:
                yield from self.field("wanted", inner, f"{path}.wanted", depth, inherited)
            elif field.name == "spec":
                yield from self.fields(inner, path, depth, inherited)
            elif field.name not in _LEFT_OUT and not (inherited and inner == field.default):
                yield from self.field(field.name, inner, f"{path}.{field.name}".lstrip("."), depth, inherited)

    def field(self, name: str, value: Any, path: str, depth: int, inherited: str) -> Iterator[Row]:
        own = self.origins.get(path, "")
        shown = name.replace("_", "-")
        if value in (None, "", (), False):
            if own:
                yield Row(depth, shown, "no" if value is False else "none", _line(own))
        elif (text := _text(value, path)) is not None:
            yield Row(depth, shown, text, self.told(own or _origin(value) or inherited, path))
        elif isinstance(value, tuple):
            yield from self.items(shown, value, path, depth, own or inherited)
        else:
            yield from self.item(shown, value, path, depth, _origin(value) or own or inherited)

    def items(self, name: str, values: tuple[Any, ...], path: str, depth: int, origin: str) -> Iterator[Row]:
        """A list: plain values on one line where all come from one, else each with its own; objects below a heading."""
        texts = [_text(value, path) for value in values]
        if None in texts:
            yield Row(depth, name, "", "")
            for index, value in enumerate(values):
                title = _title(value)
                own = _origin(value) or self.at(path, (title, index), origin)
                yield from self.item(title, value, f"{path}.{title}", depth + 1, own)
            return
        own_origins = [self.told(self.at(path, (_key(value), index), origin), path)
                       for index, value in enumerate(values)]
        joined = ", ".join(filter(None, texts))
        apart = path.rpartition(".")[2] in _ONE_EACH
        if len({*own_origins}) == 1 and len(joined) <= _NARROWEST * 2 and not apart:
            yield Row(depth, name, joined, own_origins[0])
            return
        for index, text in enumerate(texts):
            yield Row(depth, "" if index else name, text or "", own_origins[index])

    def item(self, name: str, value: Any, path: str, depth: int, origin: str) -> Iterator[Row]:
        """An object: a heading with what it is called, its fields below; on one line where it has one field only."""
        apart = not _origin(value) and any(known.startswith(path + ".") for known in self.origins)
        inner = list(self.fields(value, path, depth + 1, "" if apart else origin))
        title = str(getattr(value, "kind", getattr(value, "name", "")))
        if isinstance(value, m.Check) and (why := self.unit.skips(value)):
            title += f" ({why})"
        if isinstance(value, m.Scaffold) and not inner:
            yield Row(depth, name, "an empty folder", "default")
            return
        if title in ("", name) and len(inner) == 1:
            yield Row(depth, name, inner[0].value, inner[0].origin)
            return
        title = "" if title == name else title
        named = self.origins.get(f"{path}.name", origin)
        yield Row(depth, name, title, _line(named) or ("default" if title else ""))
        yield from inner

    def at(self, path: str, keys: tuple[str, int], origin: str) -> str:
        """The origin of one value of a list, which goes by its name or by its number."""
        return next((self.origins[known] for key in keys if (known := f"{path}.{key}") in self.origins), origin)

    def told(self, origin: str, path: str) -> str:
        """`file:line`; `default` where nobody wrote the value, but for what is so by where a case stands."""
        return _line(origin) or ("" if path in _DERIVED else "default")


def _origin(value: Any) -> str:
    """The place of a statement that a value was made from, where it carries one."""
    return str(getattr(value, "origin", ""))


def _title(value: Any) -> str:
    """What an object of a list goes by."""
    names = (getattr(value, name, "") for name in ("id", "name", "code"))
    return next(filter(None, map(str, names)), type(value).__name__.lower())


def _key(value: Any) -> str:
    """What a plain value of a list goes by: itself; a variable by its name."""
    return str(value[0] if isinstance(value, tuple) else value)


def _line(origin: str) -> str:
    """`file:line` of `file:line:column`."""
    return origin.rpartition(":")[0]


# ---- values ----
def _text(value: Any, path: str) -> str | None:
    """A value that is told on one line, or a text. None for an object with fields, and for a list."""
    for kind, tell in _TELL.items():
        if isinstance(value, kind):
            return tell(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if path == "limits.time":
        return _duration(value)
    if path == "limits.cost":
        return f"${value:.2f}"
    if isinstance(value, tuple) and value and isinstance(value[0], m.Expected):
        return sequence_shown(value)
    if isinstance(value, m.ArgumentTest):
        return tell_test(value, "=")
    if isinstance(value, tuple) and path.endswith(("env", "programs", "settings")) and _is_pair(value):
        return f"{value[0]} = {_quoted(value[1])}"
    if isinstance(value, tuple) and path.endswith(".tests") and _is_pair(value):
        return f"{value[0]} {_quoted(value[1])}"
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], m.Pattern):
        return f"{value[0]} {_pattern(value[1])}"
    if isinstance(value, tuple) or has_fields(type(value)):
        return None
    return str(value)


def _is_pair(value: tuple[Any, ...]) -> bool:
    """Whether it is a name and a text, and no list of two such."""
    return len(value) == 2 and isinstance(value[0], str)


def _command(command: m.Command) -> str:
    words = " ".join(word if word and not set(word) & set(" \t\n\"'\\") else shlex.quote(word)
                     for word in command.words)
    return f"{words} (at most {_duration(command.limit)})"


def _pattern(pattern: m.Pattern) -> str:
    return f"/{pattern.text}/{pattern.flags}" if pattern.regex else _quoted(pattern.text)


def _model(choice: m.ModelChoice) -> str:
    return f"{choice.default} (or what {choice.variable} says)" if choice.variable else choice.default


def _guidance(guidance: m.Guidance) -> str:
    return f"{guidance.path} (without {', '.join(guidance.without)})" if guidance.without else guidance.path


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _duration(seconds: int) -> str:
    """As the language writes it: 90s, 20m, 1h30m."""
    if seconds % 60 or not seconds:
        return f"{seconds}s"
    hours, minutes = divmod(seconds // 60, 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")


_TELL: dict[type, Callable[[Any], str]] = {
    m.Command: _command, m.Pattern: _pattern, m.ModelChoice: _model, m.SuiteInfo: lambda suite: suite.name,
    m.StateSpec: state_shown, m.CallsSpec: calls_shown,
    m.OutputTest: lambda test: f"{test.expect} {', '.join(map(_pattern, test.patterns))}", m.Guidance: _guidance,
}


# ---- rows -> lines ----
def lines(table: list[Row], width: int, *, full: bool = False) -> Iterator[tuple[str, bool]]:
    """The rows in three columns, and whether something was cut in a line."""
    names = [f"{'  ' * (row.depth + 1)}{row.name}" for row in table]
    left = max(map(len, names), default=0)
    right = max((len(row.origin) for row in table), default=0)
    room = max(width - left - right - 6, _NARROWEST)
    wide = min(room, max((len(_first(row.value)) for row in table), default=0))
    for name, row in zip(names, table, strict=True):
        first, *more = [one_line(line) if not full else _safe(line) for line in row.value.rstrip("\n").split("\n")]
        short = not full and (bool(more) or len(first) > room)
        if short:
            told = f" … ({len(more) + 1} lines)" if more else "…"
            first = first[: room - len(told)].rstrip() + told
        yield f"{name:<{left}}   {first:<{wide}}   {row.origin}".rstrip(), short
        if full:
            yield from ((f"{'':<{left}}   {line}".rstrip(), False) for line in more)


def _first(text: str) -> str:
    return text.partition("\n")[0]


def _safe(text: str) -> str:
    """`one_line` for a line whose blanks matter."""
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):x}}}" for char in text)
