"""Prints what the engine's benchmark found, and holds it against its targets. All ratios are of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from engine_child import Cost
from engine_projects import CHECKS, TASKS

__all__ = ["report"]

AT = 1000
"""Cases for which the targets are."""
NOOP_OF_DOIT = 0.25
ONE_OF_VERSION = 1.5
EDIT_OF_NOOP = 1.3
MOST_MB = 150
MS_PER_VERDICT = 1.33
"""A tenth of the 13.3 s of CPU in which Inspect AI scores 1,000 stored samples with one scorer, from start to end."""
MS_PER_TRIAL = 10
GROWTH = 1.1

SYSTEMS = {"evalkit": "evalkit", "doit-dbm": "plain doit, dbm", "doit-sqlite3": "plain doit, sqlite3", "ninja": "ninja"}
RUNS = {"noop": "no-op", "one": "one case, up to date", "edit": "one edit", "full": "full run"}
REGRADES = {"hold": "all verdicts hold", "one": "one pattern changed", "all": "all graded anew"}
SHAPES = {"cases": "cases x 1 trial", "trials": "trials of 1 case"}


def report(costs: Mapping[str, Cost], modules: Mapping[str, Mapping[str, Any]]) -> dict[str, bool]:
    """Print tables, targets and aims (which may be missed); the targets, and whether they hold."""
    sizes = sorted({int(name.split()[2]) for name in costs if name.startswith("version")})
    for size in sizes:
        _print_size(costs, size)
    _print_growth(costs, sizes)
    _print_regrades(costs)
    for name, found in modules.items():
        print(f"{name:<24}imports {found['modules']} modules, {found['own']} of evalkit; heavy ones: "
              f"{', '.join(found['heavy']) or 'none'}")
    targets = dict([*_targets(costs), *_growths(costs, sizes), *_speeds(costs), *_lightness(modules)])
    print()
    for title, holds in targets.items():
        print(f"{'holds' if holds else 'FAILS'}  {title}")
    for shape, what, trials, _, cost in _regrades(costs):
        if trials < AT:
            continue
        each = cost.cpu * 1e3 / trials
        print(f"{'aim: reached' if each <= MS_PER_VERDICT else 'aim: missed'}  {trials:,} {SHAPES[shape]}, "
              f"{REGRADES[what]}: at most {MS_PER_VERDICT} ms of CPU a trial (it is {each:.2f})")
    if AT not in sizes:
        print(f"(most targets are for {AT:,} cases and trials)")
    return targets


# ---- tables ----
def _print_size(costs: Mapping[str, Cost], size: int) -> None:
    print(f"\n{f'{size:,} cases ({size * TASKS:,} tasks)':<44}{'CPU ms':>9}{'clock ms':>10}{'peak MB':>9}{'x doit':>9}")
    for place, title in (("empty", "doit --version, empty folder"), ("project", "doit --version, project")):
        _print_row(title, costs[f"version {place} {size}"])
    for kind, of in RUNS.items():
        plain = costs.get(f"{kind} doit-dbm {size}")
        for system, title in SYSTEMS.items():
            if cost := costs.get(f"{kind} {system} {size}"):
                _print_row(f"{of + ':':<22}{title}", cost, plain)


def _print_row(title: str, cost: Cost, plain: Cost | None = None) -> None:
    ratio = f"{cost.cpu / plain.cpu:>9.2f}" if plain else ""
    print(f"{title:<44}{cost.cpu * 1e3:>9.0f}{cost.wall * 1e3:>10.0f}{cost.mb:>9.0f}{ratio}")


def _print_growth(costs: Mapping[str, Cost], sizes: Sequence[int]) -> None:
    for small, large in pairwise(sizes):
        title = f"from {small:,} to {large:,} cases (x {large / small:g})"
        print(f"\n{title:<44}{'x CPU':>9}{'beyond start':>14}{'+ MB':>9}")
        for kind, of in RUNS.items():
            for system, title in SYSTEMS.items():
                before, after = costs.get(f"{kind} {system} {small}"), costs.get(f"{kind} {system} {large}")
                if before is None or after is None:
                    continue
                began = costs[f"version project {large}"].cpu if system == "evalkit" else \
                    costs[f"version empty {large}"].cpu if system != "ninja" else 0.0
                beyond = (after.cpu - began) / (before.cpu - began) if before.cpu > began * 1.05 + 0.005 else None
                print(f"{f'{of}:':<22}{title:<22}{after.cpu / before.cpu:>9.2f}"
                      f"{f'{beyond:.2f}' if beyond else '-':>14}{after.mb - before.mb:>9.0f}")


def _print_regrades(costs: Mapping[str, Cost]) -> None:
    found = list(_regrades(costs))
    if found:
        print(f"\n{f'regrade, {len(CHECKS)} checks a trial':<44}{'CPU ms':>9}{'clock ms':>10}{'peak MB':>9}"
              f"{'trials/s':>10}{'ms/trial':>10}{'ms/verdict':>12}")
    for shape, what, trials, anew, cost in found:
        verdicts = anew or trials * len(CHECKS)
        print(f"{f'{trials:,} {SHAPES[shape]}: {REGRADES[what]}':<44}{cost.cpu * 1e3:>9.0f}{cost.wall * 1e3:>10.0f}"
              f"{cost.mb:>9.0f}{trials / cost.wall:>10.0f}{cost.cpu * 1e3 / trials:>10.2f}"
              f"{cost.cpu * 1e3 / verdicts:>12.2f}")
    if found:
        print("(a second is one by the clock, a ms one of CPU; a verdict one that was made anew, where any was)")


def _regrades(costs: Mapping[str, Cost]) -> Iterator[tuple[str, str, int, int, Cost]]:
    """Of each regrading its shape, what changed, how many trials and new verdicts there are, and its cost."""
    for name, cost in costs.items():
        kind, what, count = name.split()
        if kind.startswith("regrade-"):
            trials = int(count)
            yield kind.removeprefix("regrade-"), what, trials, {"hold": 0, "one": trials}.get(what, trials * 4), cost


# ---- targets ----
def _targets(costs: Mapping[str, Cost]) -> Iterator[tuple[str, bool]]:
    """Those of runs, as far as they were measured."""
    version = costs.get(f"version project {AT}")
    noop, one, edit, full = (costs.get(f"{kind} evalkit {AT}") for kind in RUNS)
    plain = costs.get(f"noop doit-dbm {AT}")
    if noop and plain:
        ratio = noop.cpu / plain.cpu
        yield f"a no-op costs at most {NOOP_OF_DOIT} x plain doit's (it is {ratio:.3f})", ratio <= NOOP_OF_DOIT
    if one and version:
        ratio = one.cpu / version.cpu
        yield (f"one case that is up to date costs at most {ONE_OF_VERSION} x `doit --version` (it is {ratio:.2f})",
               ratio <= ONE_OF_VERSION)
    if edit and noop:
        ratio = edit.cpu / noop.cpu
        yield f"one edit costs at most {EDIT_OF_NOOP} x the no-op (it is {ratio:.2f})", ratio <= EDIT_OF_NOOP
    if full:
        each = full.cpu * 1e3 / AT
        yield f"a trial of a full run costs at most {MS_PER_TRIAL} ms (it is {each:.2f})", each <= MS_PER_TRIAL
    held = [cost.mb for cost in (noop, edit, full) if cost]
    if held:
        yield f"no run holds {MOST_MB} MB (it is {max(held):.0f})", max(held) < MOST_MB


def _growths(costs: Mapping[str, Cost], sizes: Sequence[int]) -> Iterator[tuple[str, bool]]:
    for small, large in pairwise(sizes):
        for kind in ("noop", "full"):
            before, after = costs.get(f"{kind} evalkit {small}"), costs.get(f"{kind} evalkit {large}")
            if before and after:
                ratio = (after.cpu / large) / (before.cpu / small)
                yield (f"{RUNS[kind]}: a case of {large:,} costs at most {GROWTH} x one of {small:,} "
                       f"(it is {ratio:.2f})", ratio <= GROWTH)


def _speeds(costs: Mapping[str, Cost]) -> Iterator[tuple[str, bool]]:
    for shape, what, trials, anew, cost in _regrades(costs):
        if what == "all" and trials >= AT:
            each = cost.cpu * 1e3 / anew
            yield (f"regrading {trials:,} {SHAPES[shape]}, all anew: at most {MS_PER_VERDICT} ms of CPU a verdict "
                   f"(it is {each:.2f})", each <= MS_PER_VERDICT)


def _lightness(modules: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    for name, found in modules.items():
        yield f"{name} imports nothing heavy ({', '.join(found['heavy']) or 'none'})", not found["heavy"]
