"""Checks of a suite's own: the steps of a `define check`, with the arguments that a check gives put in."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from evalkit.analysis import model as m
from evalkit.analysis.placeholders import expand
from evalkit.analysis.scope import Scope
from evalkit.analysis.suites import PRIMITIVES
from evalkit.diagnostics import Span, did_you_mean
from evalkit.syntax import nodes as n

__all__ = ["Defined"]


class Defined:
    """Resolves checks by what the suite defines; `case_folder` is None where they are of no case."""

    def __init__(self, scope: Scope, case_folder: Path | None) -> None:
        self.report = scope.findings.report
        self.values = scope.values
        self.suite = scope.suite
        self.case_folder = case_folder

    def steps(self, name: n.Name, texts: list[n.Str], limit: n.Number | None, span: Span) -> tuple[m.StepsSpec, str]:
        """The steps, and the description. Takes the arguments off the front of `texts`: what is left describes it."""
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
        spec = m.StepsSpec(steps, evidence=self.values.patterns(define.evidence))
        return spec, define.title.value if define.title else ""

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


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
