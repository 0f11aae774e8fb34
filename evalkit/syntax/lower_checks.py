"""Trees -> nodes, what grades: checks, scores, judges. One method a rule of the grammar."""

from __future__ import annotations

from typing import Any, Literal, cast

from evalkit.syntax import nodes as n
from evalkit.syntax.lower_values import LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerChecks"]


class LowerChecks(LowerValues):
    def silence(self, tree: Tree) -> n.Silence:
        reason = self.the_text(tree) or self.strings(tree)[0]  # an option has a quoted one
        return n.Silence(self.names(tree)[0], reason, self.span(tree))

    def silenced(self, tree: Tree) -> tuple[n.Silence, ...]:
        return tuple(self.silence(part) for part in self.parts(tree, "silence"))

    # ---- checks of the suite's own ----
    def define(self, tree: Tree) -> n.Define:
        params = last(self.parts(tree, "params"))
        return n.Define(
            name=self.names(tree)[0],
            params=self.names(params) if params else (),
            title=self.the_text(tree),
            steps=self.body(part for part in self.trees(tree) if str(part.data).startswith("step_")),
            evidence=tuple(self.pattern(cast(Token, token)) for part in self.parts(tree, "evidence")
                           for token in part.children),
            silenced=self.silenced(tree),
            span=self.span(tree),
        )

    def step_put(self, tree: Tree) -> n.StepPut:
        source, target = self.strings(tree)
        return n.StepPut(source, target, self.span(tree))

    def step_append(self, tree: Tree) -> n.StepAppend:
        return n.StepAppend(self.strings(tree)[0], self.text(self.trees(tree)[0]), self.span(tree))

    def step_each(self, tree: Tree) -> n.StepEach:
        glob, command = self.strings(tree)
        return n.StepEach(glob, command, self.the_time(tree), self.span(tree))

    def step_run(self, tree: Tree) -> n.StepRun:
        return n.StepRun(self.strings(tree)[0], self.the_time(tree), self.span(tree))

    # ---- checks ----
    def check(self, tree: Tree) -> n.Check:
        kind, *options = self.trees(tree)
        parts: dict[str, list[Tree]] = {}
        for option in options:
            parts.setdefault(str(option.data), []).append(option)

        def names(rule: str) -> tuple[n.Name, ...]:
            return tuple(name for part in parts.get(rule, ()) for name in self.names(part))

        return n.Check(
            kind=self.lower(kind),
            ids=names("option_as"),
            lanes=names("option_on"),
            arms=names("option_arms"),
            tracks=names("option_tracks"),
            advisory="option_advisory" in parts,
            weights=tuple(real for part in parts.get("option_weight", ()) for real in self.reals(part)),
            limits=tuple(self.time(part) for part in parts.get("time", ())),
            silenced=tuple(self.silence(part) for part in parts.get("option_silence", ())),
            texts=tuple(text for part in parts.get("option_text", ()) for text in self.strings(part)),
            span=self.span(tree),
        )

    def _expectation(self, part: Tree) -> n.Expectation:
        expect: Literal["has", "lacks"] = "lacks" if part.data == "lacks" else "has"
        patterns = tuple(self.pattern(cast(Token, token)) for token in part.children)
        return n.Expectation(expect, patterns, self.span(part), part.data == "has_in_one_line")

    def check_run(self, tree: Tree) -> n.CheckRun:
        return n.CheckRun(
            command=self.strings(tree)[0],
            exits=tuple(self.integers(part)[0] for part in self.parts(tree, "exit")),
            outputs=tuple(self._expectation(part) for part in self.trees(tree) if part.data != "exit"),
            span=self.span(tree),
        )

    def check_grep(self, tree: Tree) -> n.CheckGrep:
        found = self._expectation(self.trees(tree)[0])
        return n.CheckGrep(self.strings(tree), found.expect, found.patterns, self.span(tree))

    def check_exists(self, tree: Tree) -> n.CheckExists:
        return n.CheckExists("exists", self.strings(tree), self.span(tree))

    def check_absent(self, tree: Tree) -> n.CheckExists:
        return n.CheckExists("absent", self.strings(tree), self.span(tree))

    def check_hidden_tests(self, tree: Tree) -> n.CheckHiddenTests:
        *paths, command = self.strings(tree)
        counts = [self.integers(part)[0] for part in self.parts(tree, "collects")]
        return n.CheckHiddenTests(tuple(paths), command, last(counts), self.span(tree))

    def check_snapshot(self, tree: Tree) -> n.CheckSnapshot:
        acts = tuple(act for part in self.parts(tree, "acts") for act in self.lower(part))
        found = last(self._expectation(part) for part in self.trees(tree) if part.data != "acts")
        if found is None:
            return n.CheckSnapshot("has", (), self.span(tree), acts=acts)
        return n.CheckSnapshot(found.expect, found.patterns, self.span(tree), found.one_line, acts)

    def check_page(self, tree: Tree) -> n.CheckPage:
        return n.CheckPage(self.strings(tree)[0], self.span(tree))

    def check_transcript(self, tree: Tree) -> n.CheckTranscript:
        found = self._expectation(self.trees(tree)[0])
        return n.CheckTranscript(found.expect, found.patterns, self.span(tree))

    def check_plugin(self, tree: Tree) -> n.CheckPlugin:
        settings = tuple(n.PluginSetting(self.names(part)[0], self.text(self.trees(part)[0]), self.span(part))
                         for part in self.parts(tree, "plugin_setting"))
        return n.CheckPlugin(self.names(tree)[0], self._all(tree, "plugin_files"), settings, self.span(tree))

    def check_defined(self, tree: Tree) -> n.CheckDefined:
        return n.CheckDefined(self.names(tree)[0], self.span(tree))

    # ---- scores and judges ----
    def _id(self, tree: Tree) -> n.Name | None:
        return last(name for part in self.parts(tree, "option_as") for name in self.names(part))

    def _advisory(self, tree: Tree, passes: list[Tree]) -> bool:
        return any(self.parts(holder, "judge_advisory") for holder in (tree, *passes))

    def _all(self, tree: Tree, rule: str) -> tuple[n.Str, ...]:
        return tuple(text for part in self.parts(tree, rule) for text in self.strings(part))

    def score(self, tree: Tree) -> n.Score:
        passes = self.parts(tree, "score_pass")
        parses = self.parts(tree, "score_parses")
        return n.Score(
            id=self._id(tree),
            languages=tuple(name for part in self.parts(tree, "score_language") for name in self.names(part)),
            imports=self._all(tree, "score_imports"),
            apis=self._all(tree, "score_apis"),
            forbid=tuple(self.pattern(cast(Token, token)) for part in self.parts(tree, "score_forbid")
                         for token in part.children),
            parses=self._all(tree, "score_parses"),
            limit=last(limit for part in parses if (limit := self.the_time(part))),
            thresholds=tuple(real for part in passes for real in self.reals(part)),
            advisory=self._advisory(tree, passes),
            silenced=self.silenced(tree),
            span=self.span(tree),
        )

    def _told(self, tree: Tree) -> n.Told:
        what: Any = str(tree.children[1])
        return n.Told(what, self.span(tree))

    def judge(self, tree: Tree) -> n.Judge:
        passes = self.parts(tree, "judge_pass")
        files = self.parts(tree, "judge_files")
        direction: Any = last(str(part.children[1]) for part in self.parts(tree, "judge_direction"))
        return n.Judge(
            title=last(self.strings(tree)),
            id=self._id(tree),
            files=self._all(tree, "judge_files"),
            most_bytes=last(self.size(token) for part in files for token in self.tokens(part, "SIZE")),
            threshold=last(self.integers(part)[0] for part in passes),
            advisory=self._advisory(tree, passes),
            criteria=tuple(self.text(self.trees(part)[0]) for part in self.parts(tree, "judge_criterion")),
            context=tuple(self.text(self.trees(part)[0]) for part in self.parts(tree, "judge_context")),
            told=tuple(self._told(part) for part in self.parts(tree, "judge_told")),
            told_by=tuple(n.ToldBy(self.strings(part)[0], self.the_time(part))
                          for part in self.parts(tree, "judge_told_by")),
            models=self._all(tree, "judge_models"),
            votes=last(self.integers(part)[0] for part in self.parts(tree, "judge_votes")),
            direction=direction or "higher",
            on_request=bool(self.parts(tree, "judge_on_request")),
            temperature=last(self.reals(part)[0] for part in self.parts(tree, "temperature")),
            silenced=self.silenced(tree),
            span=self.span(tree),
        )
