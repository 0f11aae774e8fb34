"""How long expected calls take to be matched: 10,000 actual calls against 50 expectations.

    python bench/calls.py [--calls 10000] [--expected 50] [--repeat 5] [--json FILE]

Shapes: a sequence that is found late, the same where nothing is found, all in any order with tests that overlap, items
of which one finds no call, alternatives, and `expect only` among reads that all fit. Of each the least CPU of the
repeats counts, and that it comes to what it must. Exit status 1 where a shape takes 0.1 s or more.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from evalkit.analysis.model import AnyOrder, ArgumentTest, Call, Either, Expected
from evalkit.execute.transcripts import ToolCall
from evalkit.grade.calls_actual import Actual, meets
from evalkit.grade.calls_match import Matcher

MOST = 0.1
"""Seconds."""


def expected(low: int, high: int | None = None, name: str = "set") -> Call:
    """A call whose `n` is in a range."""
    return Call(name, (ArgumentTest("n", "in", (low, low if high is None else high)),))


def actual(number: int, value: int, tool: str = "other") -> Actual:
    call = ToolCall(f"c{number}", "set", {"n": value, "unit": "px"}, tool=tool)  # type: ignore[arg-type]
    return Actual(number + 1, call, "ok", "")


def shapes(calls: int, size: int) -> Iterator[tuple[str, Sequence[Expected], list[Actual], list[int], bool]]:
    """Name, what is expected, what there is, what must be kept, whether it is found."""
    spread = [actual(number, number * size // calls) for number in range(calls)]
    yield "a sequence", [expected(value) for value in range(size)], spread, [], True
    yield "a sequence, not found", [expected(value) for value in reversed(range(size))], spread, [], False
    wide = [expected(0, value) for value in range(size)]
    yield "any order, overlapping", [AnyOrder(tuple(wide))], list(reversed(spread)), [], True
    short = [actual(number, 1 + number * (size - 1) // calls) for number in range(calls)]
    yield "any order, not found", [AnyOrder(tuple(wide))], short, [], False
    branches = [Either(((expected(value), expected(size + 1)), (expected(value),))) for value in range(size)]
    yield "alternatives", branches, spread, [], True
    distinct = [actual(number, calls - number) for number in range(calls)]
    graded = [expected(0, (value + 1) * calls // size) for value in range(size)]
    yield "any order, all distinct", [AnyOrder(tuple(graded))], distinct, [], True
    every = calls // size
    mixed = [actual(number, number // every, "other" if number % every == 0 else "read") for number in range(calls)]
    yield ("only, among reads that fit", [expected(value) for value in range(size)], mixed,
           [number for number in range(calls) if number % every == 0], True)


def measure(sequence: Sequence[Expected], made: list[Actual], kept: list[int], *, repeat: int) -> tuple[float, bool]:
    least, found = float("inf"), False
    for _ in range(repeat):
        began = time.process_time()
        matcher = Matcher([one.call.name for one in made], lambda call: meets(call, made), kept)
        found = matcher.whole(sequence) is not None
        least = min(least, time.process_time() - began)
    return least, found


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure matching calls.")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--expected", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    options = parser.parse_args()
    figures, good = {}, True
    for name, sequence, made, kept, wanted in shapes(options.calls, options.expected):
        seconds, found = measure(sequence, made, kept, repeat=options.repeat)
        figures[name] = seconds
        fine = seconds < MOST and found is wanted
        good = good and fine
        print(f"{name:28} {seconds * 1000:7.1f} ms{'' if fine else '  missed' if found is wanted else '  WRONG'}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
