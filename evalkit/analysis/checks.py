"""The checks, scores and judges of a unit, a suite or a profile: what they look for, and the ids that they go by."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from evalkit.analysis import model as m
from evalkit.analysis.defined import Defined
from evalkit.analysis.findings import Names
from evalkit.analysis.levels import Block
from evalkit.analysis.model_live import Live
from evalkit.analysis.placeholders import project_files
from evalkit.analysis.prompts import is_file, text_of_file
from evalkit.analysis.scope import Scope
from evalkit.analysis.silences import resolve_silences
from evalkit.diagnostics import Span, did_you_mean
from evalkit.digest import digest
from evalkit.plugins import find_plugin, plugin_names
from evalkit.syntax import nodes as n
from evalkit.values import Value, evolve

__all__ = ["LANES", "MAX_VOTES", "MAX_WEIGHT", "About", "Checks"]

LANES = ("local", "sandbox", "macos-local", "linux-sandbox")
MAX_WEIGHT = 1000
MAX_TESTS = 10_000
MAX_VOTES = 25
MAX_TEMPERATURE = 2
TOLD_PLACEHOLDERS = ("npm", "pip", "project")
LANGUAGES: dict[str, Literal["javascript", "typescript", "python"]] = {
    "javascript": "javascript", "typescript": "typescript", "python": "python"}
_SUFFIXES = {".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
             ".ts": "typescript", ".tsx": "typescript", ".mts": "typescript", ".py": "python"}
_TIMED = (m.RunSpec, m.HiddenTestsSpec, m.PageSpec, m.PluginSpec, m.StepsSpec, m.SnapshotSpec)
"""Checks that may have a time limit of their own."""


class About(Value):
    """What checks must know of the unit that they are of.

    case_folder: None for a suite or a profile alone. tracks: those of the case. arm: the unit's arm as it is declared,
    and the name that the unit goes by (they differ for an ablation). documents: the paths of what its guidance or its
    contract consists of, whatever its arm makes of them. live: how its apps are driven.
    """

    case_folder: Path | None = None
    tracks: Collection[str] = ()
    arm: tuple[str, str] | None = None
    answer: str | None = None
    agent: str = ""
    documents: Callable[[Literal["guidance", "contract"]], tuple[str, ...]] | None = None
    live: Live | None = None


class Checks:
    """Resolves the checks of one unit; of a suite or a profile alone where it is about no case."""

    def __init__(self, scope: Scope, about: About) -> None:
        self.scope = scope
        self.report = scope.report
        self.values = scope.values
        self.about = about
        self.ids = Names(scope.findings, "check")
        self.defined = Defined(scope, about.case_folder)

    def checks(self) -> tuple[m.Check, ...]:
        found = []
        for block in self.scope.levels.blocks:
            found += [self._check(block, check) for check in block.all(n.Check)]
            found += [self._score(score) for score in block.all(n.Score)]
        if self.about.case_folder is not None and self.scope.expects_calls:
            from evalkit.analysis.calls import first_call, resolve_calls

            calls = resolve_calls(self.scope, self.about.agent)
            self.ids.add(n.Name(calls.id, first_call(self.scope)))
            found.append(calls)
        return tuple(found)

    def judges(self) -> tuple[m.Judge, ...]:
        return tuple(self._judge(folder, judge) for folder, judge in self.scope.levels.all(n.Judge))

    def _id(self, given: n.Name | None, kind: str, content: object, span: Span) -> str:
        name = given or n.Name(f"{kind}-{digest(content)[:6]}", span)
        self.ids.add(name, made=given is None)
        return name.value

    # ---- checks ----
    def _check(self, block: Block, node: n.Check) -> m.Check:
        texts = list(node.texts)
        kind, spec, title = self._spec(block, node, texts)
        define = self.scope.suite.checks.get(kind) if isinstance(node.kind, n.CheckDefined) else None
        self._options(node, kind, spec, texts)
        self._tracks(block, node)
        identity = self._id(node.ids[-1] if node.ids else None, kind, spec, node.span)
        self.scope.note(f"checks.{identity}", node.span)
        if define is not None:
            self._note_define(identity, define, own_title=bool(texts))
        return m.Check(
            id=identity,
            kind=kind,
            spec=spec,
            lanes=tuple(lane.value for lane in node.lanes),
            advisory=node.advisory,
            description=texts[-1].value if texts else title,
            origin=str(node.span),
            arms=tuple(self._arm(arm) for arm in node.arms),
            tracks=tuple(track.value for track in node.tracks),
            weight=float(node.weights[-1].value) if node.weights else 1.0,
            silenced=resolve_silences(self.scope.findings, (*node.silenced, *(define.silenced if define else ()))),
        )

    def _note_define(self, identity: str, define: n.Define, *, own_title: bool) -> None:
        """Note the places of what a check has from its definition: its steps, and a title that it does not replace."""
        for index, step in enumerate(define.steps):
            self.scope.note(f"checks.{identity}.steps.{index}", step.span)
        if define.title is not None and not own_title:
            self.scope.note(f"checks.{identity}.description", define.title.span)

    def _spec(self, block: Block, node: n.Check, texts: list[n.Str]) -> tuple[str, m.CheckSpec, str]:
        """The kind of a check, what it looks for, and the description that its definition gives it."""
        values = self.values
        limit = node.limits[-1] if node.limits else None
        match node.kind:
            case n.CheckRun():
                return "run", self._run(node.kind, limit), ""
            case n.CheckGrep(globs=globs, expect=expect, patterns=patterns):
                return "grep", m.GrepSpec(values.globs(globs), expect, values.patterns(patterns)), ""
            case n.CheckExists(expect=wanted, globs=globs):
                return wanted, m.ExistsSpec(values.globs(globs), wanted), ""
            case n.CheckHiddenTests(paths=paths, command=text, collects=collects):
                command = values.command(text, ("report", "workspace", "tests"), limit)
                if collects is not None:
                    values.bounded(collects, 1, MAX_TESTS, "the number of tests")
                first, *more = (self._hidden(block, path) for path in paths)
                return "hidden-tests", m.HiddenTestsSpec(
                    first, command, tuple(more), None if collects is None else int(collects.value)), ""
            case n.CheckSnapshot(expect=expect, patterns=patterns, one_line=one_line):
                from evalkit.analysis.live import resolve_steps

                whole = self.about.case_folder is not None and self.scope.levels.whole
                steps = resolve_steps(self.scope.findings, values, self.about.live, node.kind, whole=whole)
                spec = m.SnapshotSpec(expect, values.patterns(patterns), one_line, steps=steps)
                return "snapshot", spec if limit is None else evolve(spec, limit=limit.value), ""
            case n.CheckPage(path=path):
                path_within = values.within_workspace(path)
                return "page", m.PageSpec(path_within) if limit is None else m.PageSpec(path_within, limit.value), ""
            case n.CheckTranscript(expect=expect, patterns=patterns):
                return "transcript", m.TranscriptSpec(expect, values.patterns(patterns)), ""
            case n.CheckState():
                from evalkit.analysis.calls import resolve_state

                if self.about.case_folder is not None and self.about.agent != "tools":
                    self.report("E036", f"agent `{self.about.agent}` calls no commands, whose state could be looked at",
                                node.span, help="`check state` is for agent `tools`")
                return "state", resolve_state(self.scope.findings, node.kind), ""
            case n.CheckPlugin():
                plugin = self._plugin(node.kind)
                return "plugin", plugin if limit is None else evolve(plugin, limit=limit.value), ""
            case n.CheckDefined(name=name):
                return name.value, *self.defined.steps(name, texts, limit, node.span)

    def _plugin(self, node: n.CheckPlugin) -> m.PluginSpec:
        name = node.name
        if find_plugin("graders", name.value) is None:
            self.report("E021", f"no distribution that is installed has a grader `{name.value}`", name.span,
                        help=did_you_mean(name.value, plugin_names("graders"))
                        or "docs/plugins.md tells how one is added")
        settings: dict[str, str] = {}
        for setting in node.settings:
            if setting.name.value in settings:
                self.report("E031", f"a check has one `{setting.name.value}`", setting.span)
            settings[setting.name.value] = setting.value.value
        return m.PluginSpec(name.value, self.values.globs(node.files) if node.files else (),
                            tuple(sorted(settings.items())))

    def _run(self, node: n.CheckRun, limit: n.Number | None) -> m.RunSpec:
        for extra in node.exits[1:]:
            self.report("E031", "a command ends with one status", extra.span)
        for status in node.exits:
            self.values.bounded(status, 0, 255, "the status that a command ends with")
        outputs = tuple(m.OutputTest(output.expect, self.values.patterns(output.patterns)) for output in node.outputs)
        return m.RunSpec(self.values.command(node.command, ("workspace",), limit),
                         node.exits[-1].value if node.exits else 0, outputs)

    def _hidden(self, block: Block, path: n.Str) -> str:
        """The hidden tests: beside the file that names them, or in the case's folder with `{case}`."""
        if path.value.startswith("{case}/"):
            if self.about.case_folder is None:
                return ""
            rest = n.Str(path.value.removeprefix("{case}/"), path.span)
            return self.scope.suite.files.find(self.about.case_folder, rest.value, path.span, "any") or ""
        if not self.values.placeholders(path, ("case",)):
            return ""
        return self.scope.suite.files.find(block.folder, path.value, path.span, "any") or ""

    def _options(self, node: n.Check, kind: str, spec: m.CheckSpec, texts: list[n.Str]) -> None:
        """Report options that there are too many of, or that a check does not have."""
        for extra in node.ids[1:]:
            self.report("E031", "a check has one name", extra.span)
        for limit in node.limits[1:]:
            self.report("E031", "a check has one time limit", limit.span)
        for weight in node.weights[1:]:
            self.report("E031", "a check has one weight", weight.span)
        for weight in node.weights:
            if not 0 < weight.value <= MAX_WEIGHT:
                self.report("E053", f"a weight is above 0 and up to {MAX_WEIGHT:,}", weight.span)
        if node.limits and not isinstance(spec, _TIMED):
            self.report("E053", f"a {kind} check takes no time limit of its own", node.limits[0].span)
        for text in texts[1:]:
            self.report("E026", "a check has one description", text.span,
                        help="only a `define check` with parameters takes more strings")
        for lane in node.lanes:
            if lane.value not in LANES:
                self.report("E023", f"there is no lane `{lane.value}`", lane.span,
                            help=did_you_mean(lane.value, LANES))
        for arm in node.arms:
            if arm.value not in self.scope.suite.arms:
                self.report("E033", f"suite `{self.scope.suite.info.name}` has no arm `{arm.value}`", arm.span,
                            help=did_you_mean(arm.value, self.scope.suite.arms))

    def _tracks(self, block: Block, node: n.Check) -> None:
        """Report tracks that there are none of: in the case, or for what many cases share, in any of them."""
        own = block.level in ("case", "track")
        known = self.about.tracks if own else self.scope.suite.tracks
        for track in node.tracks:
            if track.value not in known:
                whose = "this case has" if own else f"no case of suite `{self.scope.suite.info.name}` has"
                self.report("E034", f"{whose} {'no' if own else 'a'} track `{track.value}`", track.span,
                            help=did_you_mean(track.value, known))

    def _arm(self, name: n.Name) -> str:
        """An arm as the unit names it: the check of an arm that ablates is that of each of its ablations."""
        declared, own = self.about.arm or ("", "")
        return own if name.value == declared else name.value

    # ---- scores ----
    def _score(self, node: n.Score) -> m.Check:
        for span in [extra.span for extras in (node.languages, node.parses, node.thresholds) for extra in extras[1:]]:
            self.report("E031", "this statement stands twice in one block", span, help="keep one of them")
        for threshold in node.thresholds:
            self.values.bounded(threshold, 0, 1, "a score")
        if not (node.imports or node.apis or node.forbid or node.parses):
            self.report("E032", "the score has no part", node.span,
                        help='add `imports "…"`, `apis "…"`, `forbid /…/` or `parses "… {answer}"`')
        answer = self.about.answer
        if answer is None and self.about.case_folder is not None:
            self.report("E032", "there is no answer to score", node.span,
                        help='say which file it is: `answer "main.js"`')
        spec = m.ScoreSpec(
            answer=answer or "",
            language=self._language(node, answer),
            imports=self._texts(node.imports),
            apis=self._texts(node.apis),
            forbid=self.values.patterns(node.forbid),
            parses=self.values.command(node.parses[-1], ("answer",), node.limit) if node.parses else None,
            threshold=float(node.thresholds[-1].value) if node.thresholds else None,
        )
        identity = self._id(node.id, "score", spec, node.span)
        self.scope.note(f"checks.{identity}", node.span)
        return m.Check(identity, "score", spec, (), node.advisory or spec.threshold is None, "", str(node.span),
                       silenced=resolve_silences(self.scope.findings, node.silenced))

    def _texts(self, texts: tuple[n.Str, ...]) -> tuple[str, ...]:
        return tuple(pattern.text for pattern in self.values.patterns(texts))

    def _language(self, node: n.Score, answer: str | None) -> Literal["javascript", "typescript", "python"]:
        """As it is said, else by the answer's name."""
        if node.languages:
            name = node.languages[-1]
            if name.value not in LANGUAGES:
                self.report("E053", f"`{name.value}` cannot be scored", name.span,
                            help=did_you_mean(name.value, LANGUAGES))
            return LANGUAGES.get(name.value, "javascript")
        guessed = _SUFFIXES.get(PurePosixPath(answer or "a.js").suffix)
        if guessed is None:
            self.report("E032", f"nothing says which language `{answer}` is written in", node.span,
                        help="add `language javascript`, `typescript` or `python`")
        return LANGUAGES[guessed or "javascript"]

    # ---- judges ----
    def _judge(self, folder: Path, node: n.Judge) -> m.Judge:
        title = node.title.value if node.title else ""
        if not node.criteria:
            self.report("E032", "the judge has no criterion", node.span, help='add `criterion "…"`')
        if not node.files:
            self.report("E032", "the judge is given no file to review", node.span, help='add `files "src/**"`')
        if node.threshold is not None and node.threshold.value > 10:
            self.report("E053", "a judge passes at a whole number from 0 to 10", node.threshold.span)
        if node.votes is not None:
            self.values.bounded(node.votes, 1, MAX_VOTES, "the number of votes")
        if node.temperature is not None:
            self.values.bounded(node.temperature, 0, MAX_TEMPERATURE, "a temperature")
        more: dict[str, Any] = {"most_bytes": node.most_bytes.value} if node.most_bytes else {}
        # The title names a judge, not its rubric: a reworded criterion keeps its history.
        identity = self._id(node.id, "judge", title, node.span)
        self.scope.note(f"judges.{identity}", node.span)
        return m.Judge(
            id=identity,
            title=title,
            files=self.values.globs(node.files),
            threshold=node.threshold.value if node.threshold else None,
            advisory=node.threshold is None or node.advisory,
            criteria=tuple(criterion.value for criterion in node.criteria),
            context=tuple(text_of_file(self.scope, folder, context) or "" if is_file(context) else context.value
                          for context in node.context),
            origin=str(node.span),
            models=tuple(self.values.word(model, "a model") for model in node.models),
            votes=node.votes.value if node.votes else 1,
            direction=node.direction,
            on_request=node.on_request,
            temperature=float(node.temperature.value) if node.temperature else None,
            documents=self._documents(node),
            told_by=tuple(self._told_by(told) for told in node.told_by),
            silenced=resolve_silences(self.scope.findings, node.silenced),
            **more,
        )

    def _documents(self, node: n.Judge) -> tuple[str, ...]:
        """The files that a judge is told, each once. Of a suite or a profile alone there are none."""
        if self.about.documents is None:
            return ()
        found: dict[str, None] = {}
        for told in node.told:
            paths = self.about.documents(told.what)
            if not paths and self.scope.levels.whole:
                self.report("E032", f"there is no {told.what} to tell the judge", told.span,
                            help=f'say which it is: `{told.what} "…"`, in the case or in one of the suite\'s arms')
            found |= dict.fromkeys(paths)
        return tuple(found)

    def _told_by(self, told: n.ToldBy) -> m.Command:
        command = self.values.command(told.command, TOLD_PLACEHOLDERS, told.limit)
        for path in project_files(command):
            if (self.scope.suite.files.root / path).exists():
                self.scope.findings.looked.add(path)
            else:
                self.report("E040", f"`{path}` does not exist", told.command.span,
                            help="`{project}` is the project's folder")
        return command
