"""`check state`: what the application's state is when the calls are done. Reads `state.json` of the final tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from evalkit.analysis.calls_shown import state_shown, tell_test, value_shown
from evalkit.analysis.model import ArgumentTest, StateSpec
from evalkit.analysis.value_tests import ABSENT, at_path, passes
from evalkit.diagnostics import did_you_mean
from evalkit.grade.calls_told import cut
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict
from evalkit.plan.keys import STATE_FILE

__all__ = ["VERSION", "grade_state"]

VERSION = "state 1"
_LARGEST = 20_000_000
"""Bytes of a state."""
_LISTED = 20
"""Entries that are told of."""


def grade_state(spec: StateSpec, tree: FinalTree) -> Verdict:
    data = tree.read([STATE_FILE], largest=_LARGEST).get(STATE_FILE, b"")
    if data is None:
        return Verdict("error", f"the state is larger than {_LARGEST:,} bytes")
    if not data:
        return Verdict("fail", "there is no state: nothing was called",
                       f"the final tree has no {STATE_FILE}, where the application's state lies")
    try:
        state = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return Verdict("error", f"{STATE_FILE} is not JSON: {error}")
    value = at_path(state, spec.path)
    if value is ABSENT and not _may_miss(spec):
        return Verdict("fail", f"the state has no `{spec.path}`", _missing(state, spec.path))
    return _value(spec, value) if spec.what == "value" else _entries(spec, value)


def _may_miss(spec: StateSpec) -> bool:
    return spec.what == "value" and spec.where[0].test == "absent"


def _value(spec: StateSpec, value: Any) -> Verdict:
    told = "absent" if value is ABSENT else plain(value_shown(value))
    said = f"{state_shown(spec)}{'' if passes(spec.where[0], value) else f', but it is: {told}'}"
    return Verdict("pass" if passes(spec.where[0], value) else "fail", cut(said),
                   cut(f"{spec.path}: {told}"))


def _entries(spec: StateSpec, value: Any) -> Verdict:
    entries = list(value.items()) if isinstance(value, Mapping) else list(enumerate(value)) \
        if isinstance(value, list) else None
    if entries is None:
        return Verdict("fail", f"`{spec.path}` is neither a list nor an object",
                       cut(f"{spec.path}: {plain(value_shown(value))}"))
    fitting, others = [], []
    for key, entry in entries:
        missed = [test for test in spec.where if not passes(test, at_path(entry, test.key))]
        place = f"{spec.path}.{plain(str(key))}"
        if missed:
            others.append((len(missed), f"{place}: {', '.join(_missed(test, entry) for test in missed)}"))
        else:
            fitting.append(f"{place}: {plain(value_shown(entry))}")
    count = len(fitting)
    good = {"exactly": count == spec.count, "at least": count >= spec.count, "at most": count <= spec.count}[spec.bound]
    lines = [f"{count} of {len(entries)} entries fit:" if fitting else f"none of {len(entries)} entries fits"]
    lines += [cut(f"  {line}") for line in fitting[:_LISTED]]
    if not good and count < spec.count and others:
        nearest = sorted(others, key=lambda item: item[0])[:_LISTED]
        lines += ["the others, the nearest first:", *(cut(f"  {line}") for _, line in nearest)]
    return Verdict("pass" if good else "fail", f"{cut(state_shown(spec))}{'' if good else f', but {count} fit'}",
                   "\n".join(lines))


def _missed(test: ArgumentTest, entry: Any) -> str:
    value = at_path(entry, test.key)
    return f"not {tell_test(test, '=')} (it is {'absent' if value is ABSENT else plain(value_shown(value))})"


def _missing(state: Any, path: str) -> str:
    """How far a path leads, and what is there."""
    where, rest = state, path
    so_far: list[str] = []
    while True:
        key, _, rest = rest.partition(".")
        inner = at_path(where, key)
        if inner is ABSENT:
            break
        where = inner
        so_far.append(key)
    holder = f"`{'.'.join(so_far)}`" if so_far else "it"
    if isinstance(where, Mapping):
        known = [plain(str(name)) for name in where]
        return cut(f"{holder} has no `{key}`: {did_you_mean(key, known)}" if known else f"{holder} is empty")
    if isinstance(where, list):
        return f"{holder} is a list of {len(where)}"
    return cut(f"{holder} is {plain(value_shown(where))}")
