"""The checks and judges of a case or a profile: what they look for, and the ids that they go by."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from evalkit.analysis import model as m
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.levels import Levels
from evalkit.analysis.placeholders import expand
from evalkit.analysis.suites import PRIMITIVES, Suite
from evalkit.analysis.values import Values
from evalkit.diagnostics import Span, did_you_mean
from evalkit.digest import digest
from evalkit.syntax import nodes as n

__all__ = ["LANES", "Checks"]

LANES = ("local", "sandbox", "macos-local", "linux-sandbox")


class Checks:
    """Resolves the checks of one case; of a profile alone where `case_folder` is None."""

    def __init__(self, findings: Findings, suite: Suite, case_folder: Path | None) -> None:
        self.report = findings.report
        self.values = Values(findings)
        self.suite = suite
        self.case_folder = case_folder
        self.ids = Names(findings, "check")

    def checks(self, levels: Levels) -> tuple[m.Check, ...]:
        return tuple(self._check(check) for _, check in levels.all(n.Check))

    def judges(self, levels: Levels) -> tuple[m.Judge, ...]:
        return tuple(self._judge(judge) for _, judge in levels.all(n.Judge))

    def _check(self, node: n.Check) -> m.Check:
        texts = list(node.texts)
        limit = node.limits[-1] if node.limits else None
        title = ""
        spec: m.CheckSpec
        match node.kind:
            case n.CheckRun(command=command):
                kind = "run"
                spec = m.RunSpec(self.values.command(command, ("workspace",), limit))
            case n.CheckGrep(globs=globs, expect=expect, patterns=patterns):
                kind = "grep"
                spec = m.GrepSpec(self.values.globs(globs), expect, self.values.patterns(patterns))
            case n.CheckSnapshot(expect=expect, patterns=patterns):
                kind = "snapshot"
                spec = m.SnapshotSpec(expect, self.values.patterns(patterns))
            case n.CheckDefined(name=name):
                kind = name.value
                spec, title = self._defined(name, texts, limit, node.span)
            case _:
                raise NotImplementedError(f"{type(node.kind).__name__} is not compiled yet")
        self._options(node, spec, kind, texts)
        return m.Check(
            id=self._id(node.ids[-1] if node.ids else None, kind, spec, node.span),
            kind=kind,
            spec=spec,
            lanes=tuple(lane.value for lane in node.lanes),
            advisory=node.advisory,
            description=texts[-1].value if texts else title,
            origin=str(node.span),
        )

    def _options(self, node: n.Check, spec: m.CheckSpec, kind: str, texts: list[n.Str]) -> None:
        """Report options that there are too many of, or that a check does not have."""
        for extra in node.ids[1:]:
            self.report("E031", "a check has one name", extra.span)
        for limit in node.limits[1:]:
            self.report("E031", "a check has one time limit", limit.span)
        if node.limits and isinstance(spec, m.GrepSpec | m.SnapshotSpec):
            self.report("E053", f"a {kind} check takes no time limit of its own", node.limits[0].span)
        for text in texts[1:]:
            self.report("E026", "a check has one description", text.span,
                        help="only a `define check` with parameters takes more strings")
        for lane in node.lanes:
            if lane.value not in LANES:
                self.report("E023", f"there is no lane `{lane.value}`", lane.span,
                            help=did_you_mean(lane.value, LANES))

    def _id(self, given: n.Name | None, kind: str, content: object, span: Span) -> str:
        name = given or n.Name(f"{kind}-{digest(content)[:6]}", span)
        self.ids.add(name, made=given is None)
        return name.value

    # ---- checks of the suite's own ----
    def _defined(self, name: n.Name, texts: list[n.Str], limit: n.Number | None,
                 span: Span) -> tuple[m.StepsSpec, str]:
        """The steps of a `define check`. Takes its arguments off the front of `texts`: what is left describes it."""
        define = self.suite.checks.get(name.value)
        if define is None:
            self.report("E021", f"there is no check `{name.value}`", name.span,
                        help=did_you_mean(name.value, {*PRIMITIVES, *self.suite.checks}))
            texts.clear()
            return m.StepsSpec(()), ""
        if len(texts) < len(define.params):
            wanted = ", ".join(f"`{param.value}`" for param in define.params)
            self.report("E026", f"check `{name.value}` takes {_count(len(define.params), 'argument')}: {wanted}",
                        name.span, notes=(("it is defined here", define.name.span),))
            texts.clear()
            return m.StepsSpec(()), ""
        arguments = {param.value: texts.pop(0).value for param in define.params}
        steps = tuple(self._step(step, arguments, limit, span) for step in define.steps)
        return m.StepsSpec(steps), define.title.value if define.title else ""

    def _step(self, step: n.StepNode, arguments: dict[str, str], limit: n.Number | None, span: Span) -> m.Step:
        match step:
            case n.StepPut():
                return m.Put(self._source(step, arguments, span), self.values.within_workspace(step.target, arguments))
            case n.StepAppend():
                return m.Append(self.values.within_workspace(step.target, arguments), step.text.value)
            case n.StepEach():
                command = self.values.command(step.command, ("workspace", "file"), step.limit or limit, arguments)
                return m.Each(self.values.globs((step.glob,), arguments)[0], command)
            case n.StepRun():
                return m.Run(self.values.command(step.command, ("workspace",), step.limit or limit, arguments))

    def _source(self, step: n.StepPut, arguments: dict[str, str], span: Span) -> str:
        """The file that a step puts: relative to the suite's folder, or to the case's with `{case}`.

        It may be named by an argument: what is wrong with it is told at the check that gives the argument.
        """
        if not self.values.placeholders(step.source, (*arguments, "case")) or self.case_folder is None:
            return ""
        case = self.case_folder.relative_to(self.suite.folder).as_posix()
        path = PurePosixPath(expand(step.source.value, {**arguments, "case": case})).as_posix()
        return self.suite.files.find(self.suite.folder, path, span, "any",
                                     notes=(("it is put by this step", step.span),)) or ""

    # ---- judges ----
    def _judge(self, node: n.Judge) -> m.Judge:
        title = node.title.value if node.title else ""
        if not node.criteria:
            self.report("E032", "the judge has no criterion", node.span, help='add `criterion "…"`')
        if not node.files:
            self.report("E032", "the judge is given no file to review", node.span, help='add `files "src/**"`')
        if node.threshold is not None and node.threshold.value > 10:
            self.report("E053", "a judge's scores go from 0 to 10", node.threshold.span)
        return m.Judge(
            # The title names a judge, not its rubric: a reworded criterion keeps its history.
            id=self._id(node.id, "judge", title, node.span),
            title=title,
            files=self.values.globs(node.files),
            threshold=node.threshold.value if node.threshold else None,
            advisory=node.threshold is None or node.advisory,
            criteria=tuple(criterion.value for criterion in node.criteria),
            context=tuple(context.value for context in node.context),
            origin=str(node.span),
        )


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
