"""Compiles one case: syntax node -> its units, one for each of its tracks on each of the suite's arms.

The levels of a unit, the outermost first: the suite, the profile with those that it extends (the base first), the
case, the track, the arm. Which profile it is, the innermost `use` says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from evalkit.analysis import model as m
from evalkit.analysis.agents import resolve_agent, resolve_other_agents
from evalkit.analysis.checks import About, Checks
from evalkit.analysis.files import relative
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.guidance import ablations, resolve_guidance
from evalkit.analysis.levels import Block, Levels
from evalkit.analysis.prompts import resolve_prompt
from evalkit.analysis.scope import Scope
from evalkit.analysis.setup import (
    DEFAULT_JUDGE_MODEL,
    DEFAULT_MODEL,
    has_scaffold,
    resolve_contract,
    resolve_limits,
    resolve_model,
    resolve_setup,
    resolve_trials,
)
from evalkit.analysis.silences import resolve_silences
from evalkit.analysis.suites import Suite
from evalkit.analysis.twice import report_twice
from evalkit.diagnostics import did_you_mean
from evalkit.syntax import nodes as n
from evalkit.values import Value, evolve

__all__ = ["MAX_STATEMENTS", "MAX_TRACKS", "resolve_case"]

MAX_TRACKS = 64
MAX_STATEMENTS = 20_000
"""Statements of all units of a case together."""


def resolve_case(findings: Findings, suite: Suite, folder: Path, node: n.Case) -> tuple[m.Case, ...]:
    """The units of a case, in the order of its tracks, then of the suite's arms. There is at least one."""
    return _CaseResolver(findings, suite, folder, node).units()


class _Variant(Value):
    """A track on an arm."""

    track: n.Track | None
    arm: n.Arm | None


class _CaseResolver:
    def __init__(self, findings: Findings, suite: Suite, folder: Path, node: n.Case) -> None:
        self.findings = findings
        self.suite = suite
        self.folder = folder
        self.node = node
        self.tracks = [statement for statement in node.body if isinstance(statement, n.Track)]
        self.block = Block.of("case", folder, node.body)

    def units(self) -> tuple[m.Case, ...]:
        report_twice(self.findings, self.node.body)
        names = Names(self.findings, "track")
        for track in self.tracks:
            names.reserve(track.name, ("both",))
            names.add(track.name)
            report_twice(self.findings, track.body)
        self._tier()
        self._report_size()
        units = [unit for variant in self._variants() for unit in self._units(variant)]
        if not units:  # every arm ablates, and there is nothing to ablate
            units = [self._unit(variant)[0] for variant in self._variants()]
        self._report_wrongs(units)
        return tuple(units)

    def _report_size(self) -> None:
        """Report a case that comes to more than can be resolved in a moment; some of its units are left out then."""
        if len(self.tracks) > MAX_TRACKS:
            self.findings.report("E053", f"a case has at most {MAX_TRACKS} tracks", self.tracks[MAX_TRACKS].name.span)
        self.tracks = self.tracks[:MAX_TRACKS]
        statements = len(self.node.body) + len(self.suite.node.body)
        units = max(1, len(self.tracks)) * max(1, len(self.suite.arms))
        if units > 1 and units * statements > MAX_STATEMENTS:
            self.findings.report("E053", f"case `{self.node.name.value}` comes to {units} units of {statements:,} "
                                 "statements", self.node.name.span,
                                 help=f"that is more than {MAX_STATEMENTS:,} statements: make several cases of it")
            self.tracks = self.tracks[:1]

    def _variants(self) -> Iterator[_Variant]:
        for track in self.tracks or (None,):
            for arm in self.suite.arms.values() or (None,):
                yield _Variant(track, arm)

    def _units(self, variant: _Variant) -> Iterator[m.Case]:
        """The unit of a variant; for an arm that ablates, one for each part of its guidance."""
        unit, scope = self._unit(variant)
        ablate = next((item for item in variant.arm.body if isinstance(item, n.Ablate)), None) if variant.arm else None
        if ablate is None:
            yield unit
            return
        for name, guidance in ablations(scope, unit.setup.guidance, ablate):
            yield self._unit(variant, f"{unit.arm}.{name}", guidance)[0]

    # ---- one unit ----
    def _levels(self, variant: _Variant) -> tuple[Levels, n.Profile | None]:
        inner = [self.block]
        if variant.track is not None:
            inner.append(Block.of("track", self.folder, variant.track.body))
        if variant.arm is not None:
            inner.append(Block.of("arm", self.suite.folder, variant.arm.body))
        use = Levels(tuple(inner)).last(n.UseProfile, n.UseNone)
        profile, known = None, True
        if use is not None and isinstance(use[1], n.UseProfile):
            profile = self.suite.profile(use[1].name, self.findings)
            known = profile is not None
        outer = self.suite.levels(profile, self.findings)
        return Levels((*outer.blocks, *inner), known and outer.whole), profile

    def _unit(self, variant: _Variant, arm: str | None = None,
              guidance: tuple[m.Guidance, ...] | None = None) -> tuple[m.Case, Scope]:
        """A unit, and what it was resolved from. An ablation has an arm of its own name, and guidance of its own."""
        levels, profile = self._levels(variant)
        scope = Scope(self.findings, self.suite, levels)
        node = self.node
        if arm is None and variant.arm is not None:
            arm = variant.arm.name.value
        setup = resolve_setup(scope)
        if guidance is not None:
            setup = evolve(setup, guidance=guidance)
        agent = resolve_agent(scope, "tools" if scope.expects_calls else "claude")
        self._names(scope, variant, profile)
        resolver = Checks(scope, About(
            self.folder, [track.name.value for track in self.tracks],
            (variant.arm.name.value, arm or "") if variant.arm else None, setup.answer, agent.name,
            lambda what: self._documents(variant.track, what), setup.live))
        unit = m.Case(
            name=node.name.value,
            suite=self.suite.info,
            about=self._about(scope),
            folder=relative(self.folder, self.suite.files.root),
            origin=str(node.span),
            prompt=resolve_prompt(scope, self.folder, node),
            profile=profile.name.value if profile else "",
            setup=setup,
            limits=resolve_limits(scope),
            agent=agent,
            model=resolve_model(scope, "model", "model", DEFAULT_MODEL),
            judge_model=resolve_model(scope, "judge-model", "judge_model", DEFAULT_JUDGE_MODEL),
            checks=resolver.checks(),
            judges=resolver.judges(),
            solution=self._solution(scope),
            wrongs=(),
            track=variant.track.name.value if variant.track else None,
            arm=arm,
            tier=node.tier.value if node.tier else None,
            tags=self._tags(scope),
            trials=resolve_trials(scope),
            other_agents=resolve_other_agents(scope, agent.name),
            silenced=resolve_silences(self.findings, (item for _, item in levels.all(n.Silence))),
            origins=scope.origins,
        )
        self._report_missing(unit, scope, variant)
        return evolve(unit, wrongs=self._wrongs(scope, unit)), scope

    def _documents(self, track: n.Track | None, what: Literal["guidance", "contract"]) -> tuple[str, ...]:
        """The documents of a specification that holds on all arms: those that the case has without an arm, else those
        of the first arm that has some.
        """
        for arm in (None, *self.suite.arms.values()):
            scope = Scope(self.findings, self.suite, self._levels(_Variant(track, arm))[0])
            if what == "guidance":
                found = tuple(document.path for document in resolve_guidance(scope))
            else:
                found = (contract,) if (contract := resolve_contract(scope)) is not None else ()
            if found:
                return found
        return ()

    def _names(self, scope: Scope, variant: _Variant, profile: n.Profile | None) -> None:
        scope.note("name", self.node.name.span)
        scope.origins["suite"] = self.suite.info.origin
        if variant.track is not None:
            scope.note("track", variant.track.span)
        if variant.arm is not None:
            scope.note("arm", variant.arm.span)
        if self.node.tier is not None:
            scope.note("tier", self.node.tier.span)
        if profile is not None and (use := scope.levels.last(n.UseProfile, n.UseNone)):
            scope.note("profile", use[1].span)

    def _about(self, scope: Scope) -> str:
        """The case's own: a track's and an arm's tell of themselves."""
        about = "".join(about.text.value for about in self.block.all(n.About)[-1:])
        for statement in self.block.all(n.About):
            scope.note("about", statement.span)
        return about

    def _tier(self) -> None:
        tiers = [tier.name for tier in self.suite.info.tiers]
        tier = self.node.tier
        if tier is not None and tier.value not in tiers:
            self.findings.report("E035", f"suite `{self.suite.info.name}` has no tier `{tier.value}`", tier.span,
                                 help=did_you_mean(tier.value, tiers) or "a suite declares it: `tier NAME \"…\"`")

    def _tags(self, scope: Scope) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for _, tags in scope.levels.all(n.Tags):
            for name in tags.names:
                if name.value not in found:
                    found[name.value] = None
                    scope.note(f"tags.{name.value}", name.span)
        return tuple(found)

    def _report_missing(self, unit: m.Case, scope: Scope, variant: _Variant) -> None:
        """Report what a unit cannot do without: checks that count for it, and something to start from.

        Both may stand in a profile: where that is unknown, nobody can tell that they are missing.
        """
        if not scope.levels.whole:
            return
        name = f"case `{unit.name}`"
        place = self.node.name.span
        if variant.track is not None:
            name, place = f"track `{unit.track}` of {name}", variant.track.name.span
        if not self._has_check(scope, variant):
            self.findings.report("E032", f"{name} has no check", place,
                                 help='say what a right answer is: `check run "…"`, `check grep "FILES" has "…"`')
        if unit.agent.name not in ("tools", "api") and not has_scaffold(scope.levels):
            self.findings.report(
                "E032", f"{name} has no scaffold", place,
                help='say what the workspace starts from: `scaffold copy "FOLDER"` or `scaffold run "…"`, '
                "here or in a profile that the case uses")

    def _has_check(self, scope: Scope, variant: _Variant) -> bool:
        """Whether something grades the unit, or would do so if the tracks and arms that it names were spelt right."""
        if scope.expects_calls or any(block.all(n.Judge) or block.all(n.Score) for block in scope.levels.blocks):
            return True
        own = {track.name.value for track in self.tracks}
        return any(
            _may_count(check.tracks, variant.track, own if block.level in ("case", "track") else self.suite.tracks)
            and _may_count(check.arms, variant.arm, self.suite.arms)
            for block in scope.levels.blocks for check in block.all(n.Check))

    # ---- answers ----
    def _solution(self, scope: Scope) -> str | None:
        if (found := scope.levels.last(n.Solution)) is None:
            return None
        folder, solution = found
        scope.note("solution", solution.span)
        return self.suite.files.find(folder, solution.path.value, solution.path.span, "folder")

    def _wrongs(self, scope: Scope, unit: m.Case) -> tuple[m.Wrong, ...]:
        """The wrong answers that a check of this unit must reject. Those for another track's checks are left out."""
        known = {*(check.id for check in unit.checks if not unit.skips(check)), *(judge.id for judge in unit.judges)}
        wrongs = []
        names = Names(self.findings, "wrong answer")
        for base, statement in scope.levels.all(n.Wrong):
            folder = self.suite.files.find(base, statement.path.value, statement.path.span, "folder")
            if folder is None:
                continue
            name = n.Name(PurePosixPath(folder).name, statement.path.span)
            names.add(name)
            fails = tuple(check.value for check in statement.fails if check.value in known)
            if fails:
                scope.note(f"wrongs.{name.value}", statement.span)
                tests = tuple((check.value, test.value) for check, test in statement.tests if check.value in fails)
                wrongs.append(m.Wrong(name.value, folder, fails, str(statement.span), tests))
        return tuple(wrongs)

    def _report_wrongs(self, units: list[m.Case]) -> None:
        """Report checks that a wrong answer names and no unit has."""
        for track in (None, *self.tracks):
            mine = [unit for unit in units if track is None or unit.track == track.name.value]
            known = {check.id for unit in mine for check in unit.checks}
            known |= {judge.id for unit in mine for judge in unit.judges}
            for statement in self.node.body if track is None else track.body:
                if not isinstance(statement, n.Wrong):
                    continue
                for check in statement.fails:
                    if check.value not in known:
                        self.findings.report("E022", f"case `{self.node.name.value}` has no check `{check.value}`",
                                             check.span, help=did_you_mean(check.value, known))


def _may_count(names: tuple[n.Name, ...], mine: n.Track | n.Arm | None, known: Collection[str]) -> bool:
    """Whether a check for the tracks or arms of these names is one for `mine`, or names one that there is not."""
    wanted = {name.value for name in names}
    return not wanted or not wanted <= {*known} or (mine is not None and mine.name.value in wanted)
