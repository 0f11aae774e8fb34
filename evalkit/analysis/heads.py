"""Compiled units -> the heads that the index has of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalkit.analysis import model as m
from evalkit.analysis.index import CaseHead, SuiteHead
from evalkit.digest import digest

__all__ = ["head_of", "suite_heads"]


def head_of(units: Sequence[m.Case]) -> CaseHead:
    """The head of a case, of which these are the units."""
    first = units[0]
    variables = {choice.variable for unit in units for choice in (unit.model, unit.judge_model) if choice.variable}
    variables |= {chosen.checkout.variable for unit in units for toolchain in unit.setup.toolchains
                  for chosen in (toolchain, toolchain.instead)
                  if chosen and chosen.checkout and chosen.checkout.variable}
    return CaseHead(first.name, first.suite.name, first.about, tuple(unit.unit for unit in units),
                    tuple(sorted(variables)), _fingerprint(units))


def _fingerprint(units: Sequence[m.Case]) -> str:
    """Digests leave out what only people read, but it is shown: it is added."""
    suite = units[0].suite
    shown = [units[0].about, suite.about, *(tier.about for tier in suite.tiers), *(arm.about for arm in suite.arms)]
    return digest({"units": units, "shown": shown})


def suite_heads(suites: Mapping[str, m.SuiteInfo], cases: Iterable[CaseHead]) -> list[SuiteHead]:
    """The heads of suites, with their cases in the given order."""
    names: dict[str, list[str]] = {name: [] for name in suites}
    for case in cases:
        names[case.suite].append(case.name)
    return [SuiteHead(name, info.about, info.folder, tuple(names[name])) for name, info in suites.items()]
