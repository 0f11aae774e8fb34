"""`live { … }` and the steps of `check snapshot { … }`: syntax nodes -> compiled data.

A live block of an inner level replaces that of an outer one as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from evalkit.analysis import model as m
from evalkit.analysis import model_live as ml
from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.findings import Findings
from evalkit.analysis.scope import Scope
from evalkit.analysis.values import Values
from evalkit.diagnostics import Span, did_you_mean
from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_live as nl

__all__ = ["PLACEHOLDERS", "resolve_live", "resolve_steps"]

PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "build": ("platform",), "prewarm": ("platform",), "launch": ("platform",), "ready": (), "snapshot": (),
    "screenshot": ("view",), "click": ("view", "id"), "type": ("view", "id", "text"), "key": ("view", "key"),
}
"""What may stand in the commands of a live block. `{platform}` is linux or macos."""
_LIMITS = {"build": 600, "prewarm": 600, "ready": 120}
"""Seconds that a command may take where the suite does not say, and it is not one of those that drive the app."""
_LIMIT = 30
_ONE_EACH = ("build", "launch", "ready", "snapshot", "screenshot", "click", "type", "key", "widget", "views")
_NEEDED = ("launch", "snapshot")
_DRIVES: dict[type, str] = {nl.ActClick: "click", nl.ActType: "type", nl.ActKey: "key"}


def resolve_live(scope: Scope, live: n.Live) -> ml.Live | None:
    """The live block that holds for a unit; None where it is reported."""
    scope.note("setup.live", live.span)
    commands: dict[str, m.Command] = {}
    prewarm: list[m.Command] = []
    regexes: dict[str, m.Pattern] = {}
    env: dict[str, str] = {}
    picture, spans = "", dict[str, Span]()
    for statement in live.body:
        if isinstance(statement, nl.LiveEnv):
            env[scope.values.variable(statement.name)] = statement.value.value
            continue
        kind = statement.kind
        if kind in _ONE_EACH and spans.setdefault(kind, statement.span) is not statement.span:
            scope.report("E031", "this statement stands twice in one block", statement.span, help="keep one of them")
        scope.note(f"setup.live.{kind}", statement.span)
        if isinstance(statement, nl.LiveRegex):
            regexes[kind] = _regex(scope, statement)
            continue
        command = _command(scope.values, statement)
        if kind == "prewarm":
            prewarm.append(command)
        else:
            commands[kind] = command
        if statement.writes is not None:
            picture = _picture(scope, statement.writes)
    for needed in _NEEDED:
        if needed not in commands:
            scope.report("E032", f"the live block has no `{needed}`", live.span, help=f'add `{needed} "…"`')
    _check_views(scope, live, commands, regexes)
    if any(needed not in commands for needed in _NEEDED):
        return None
    return ml.Live(
        commands["launch"], commands["snapshot"], commands.get("build"), tuple(prewarm), commands.get("ready"),
        commands.get("screenshot"), picture, commands.get("click"), commands.get("type"), commands.get("key"),
        regexes.get("widget"), regexes.get("views"), tuple(sorted(env.items())), str(live.span))


def _command(values: Values, statement: nl.LiveCommand) -> m.Command:
    limit = statement.limit
    if limit is None:
        limit = n.Number(_LIMITS.get(statement.kind, _LIMIT), statement.span)
    return values.command(statement.command, PLACEHOLDERS[statement.kind], limit)


def _picture(scope: Scope, writes: n.Str) -> str:
    scope.values.placeholders(writes, ("view",))
    if writes.value.startswith("/") or ".." in writes.value.split("/"):
        scope.report("E041", f"`{writes.value}` is not a path within the workspace", writes.span,
                     help="write it relative to the workspace's root, with `/` and without `..`")
    return writes.value


def _groups(pattern: m.Pattern) -> set[str]:
    """The named groups of a regex; none of one that was reported already."""
    try:
        return set(compile_regex(pattern.text, pattern.flags).groupindex)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it has been told
        return set()


def _regex(scope: Scope, statement: nl.LiveRegex) -> m.Pattern:
    pattern = scope.values.patterns((statement.pattern,))[0]
    needed = ("id", "name") if statement.kind == "widget" else ("view",)
    groups = _groups(pattern)
    missing = [name for name in needed if name not in groups]
    if missing and scope.levels.whole:
        scope.report("E050", f"`{statement.kind}` has no group `{missing[0]}`", statement.pattern.span,
                     help=f"name it in the regex: (?<{missing[0]}>…)")
    return pattern


def _check_views(scope: Scope, live: n.Live, commands: Mapping[str, m.Command],
                 regexes: Mapping[str, m.Pattern]) -> None:
    """What drives a view must find out which one it is."""
    of_widgets = _groups(regexes["widget"]) if "widget" in regexes else set()
    for statement in live.body:
        if not isinstance(statement, nl.LiveCommand):
            continue
        words = " ".join(commands[statement.kind].words) if statement.kind in commands else ""
        if statement.kind in ("click", "type") and "widget" not in regexes:
            scope.report("E032", f"`{statement.kind}` needs `widget`, the regex of a widget's line", statement.span,
                         help="widget /… (?<id>…) … (?<name>…) …/")
        elif "{view}" in words and "views" not in regexes and "view" not in of_widgets:
            scope.report("E032", "nothing says which views there are", statement.span,
                         help="views /… (?<view>…) …/, or a group `view` in `widget`")


# ---- steps ----
def resolve_steps(findings: Findings, values: Values, live: ml.Live | None, node: n.CheckSnapshot, *,
                  whole: bool) -> tuple[ml.LiveStep, ...]:
    """The steps of a check. whole: the levels of its unit are known, so that what `live` lacks is lacking."""
    if not node.patterns and not node.acts:
        findings.report("E032", "the check looks for nothing", node.span, help='add a step, or has "…"')
    known = _groups(live.widget) if live is not None and live.widget is not None else None
    steps = _Steps(findings, values, live, known, whole=whole)
    return tuple(step for act in node.acts if (step := steps.step(act)) is not None)


class _Steps:
    def __init__(self, findings: Findings, values: Values, live: ml.Live | None, groups: Collection[str] | None, *,
                 whole: bool) -> None:
        self.report = findings.report
        self.values = values
        self.live = live
        self.groups = groups
        self.whole = whole
        self.noted: list[str] = []

    def step(self, act: nl.Act) -> ml.LiveStep | None:
        if (kind := _DRIVES.get(type(act))) is not None:
            self._needs(kind, act.span)
        match act:
            case nl.ActClick(target=target):
                return ml.Click(self._target(target))
            case nl.ActType(text=text, target=target):
                return ml.Type(text.value, self._target(target))
            case nl.ActKey(key=key):
                return ml.Key(self.values.word(key, "a key"))
            case nl.ActNote(name=name, target=target):
                self.noted.append(name.value)
                return ml.Note(name.value, self._target(target))
            case nl.ActExpect(expect=expect, patterns=patterns, one_line=one_line):
                return ml.Expect(expect, self.values.patterns(patterns), one_line)
            case nl.ActFind(target=target, absent=absent):
                return ml.Find(self._target(target), absent)
            case nl.ActSame(name=name):
                if name.value not in self.noted:
                    self.report("E021", f"no step before this one has noted `{name.value}`", name.span,
                                help=did_you_mean(name.value, self.noted) or f"note {name.value} = name=\"…\"")
                return ml.Same(name.value)

    def _needs(self, kind: str, span: Span) -> None:
        commands: dict[str, Any] = {} if self.live is None else {
            "click": self.live.click, "type": self.live.type_text, "key": self.live.key}
        if self.whole and commands.get(kind) is None:
            self.report("E032", f"nothing says how to {kind}", span,
                        help=f'add `{kind} "COMMAND"` to the suite\'s `live` block')

    def _target(self, target: nl.Target) -> ml.Target:
        if self.whole and self.groups is None:
            self.report("E032", "nothing says what a widget is", target.span,
                        help="add `widget /… (?<id>…) … (?<name>…) …/` to the suite's `live` block")
        for name, _ in target.attributes:
            if self.groups is not None and name.value not in self.groups:
                self.report("E021", f"`widget` has no group `{name.value}`", name.span,
                            help=did_you_mean(name.value, self.groups))
        if self.groups is not None and "parent" not in self.groups and (target.inside or target.near):
            self.report("E021", "`widget` has no group `parent`: nothing says what is within what", target.span)
        attributes = tuple((name.value, self.values.patterns((pattern,))[0]) for name, pattern in target.attributes)
        inside, near = (None if pattern is None else self.values.patterns((pattern,))[0]
                        for pattern in (target.inside, target.near))
        return ml.Target(attributes, inside, near)
