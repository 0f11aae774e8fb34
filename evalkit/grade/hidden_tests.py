"""`check hidden-tests`: tests that the agent never saw, put into a copy of its final tree and run there.

The command says by its status whether they passed; the report that it writes (hidden_reports.py) says which did not and
why. A command that passes without a report proves nothing. Where the case says how many tests there are (`collects`,
which its own answer has shown), that is the agent's doing: its code ended the run early, and the check fails. Else it
may as well be the case's, and is an error. A report of no test at all is a fail.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evalkit.analysis.model import HiddenTestsSpec, Put, Toolchain
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.hidden_reports import read_tests
from evalkit.grade.run import CheckInCopy
from evalkit.grade.verdict import HiddenTest, Verdict
from evalkit.values import evolve

__all__ = ["VERSION", "grade_hidden_tests"]

VERSION = "hidden-tests 4"
EX_UNAVAILABLE = 69
"""The status (of sysexits.h) by which a command says that what runs the tests is not there."""
_LARGEST = 16_000_000
"""Bytes of a report that are read."""
_SHOWN_TESTS, _SHOWN_LINES = 10, 8
_LONGEST_NAME, _LONGEST_LINE = 500, 1_000
"""Characters of a test's name, and of a line of its message, that are kept."""


def grade_hidden_tests(spec: HiddenTestsSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """Every hidden test passes, and there is at least one."""
    with tree.copy(toolchains, lane=tree.lane) as copy:
        check = CheckInCopy(tree, copy)
        # Beside the tree: nothing that the agent left can stand in their place.
        report, beside = copy.room.beside / "report", copy.room.beside / "tests"
        apart = any("{tests}" in word for word in spec.command.words)
        # What puts files into a folder puts them beside the tree as well.
        placed = CheckInCopy(tree, evolve(copy, tree=beside)) if apart else check
        beside.mkdir(parents=True)
        for path in (spec.path, *spec.more):
            source = tree.session.root / path
            verdict = placed.put(Put(path, "." if source.is_dir() else source.name))
            if verdict is not None:
                return verdict
        values = {"report": copy.seen(report), "tests": copy.seen(beside)}
        verdict = check.command(spec.command, values, spec.command.limit, unavailable=EX_UNAVAILABLE)
        if verdict is not None and verdict.status == "error":
            return verdict
        try:
            tests = _read(report)
        except ValueError as error:
            if verdict is not None:
                return verdict
            if spec.collects is not None:
                return Verdict("fail", f"the run ended early: {error}, where {spec.collects} tests are to run",
                               "\n".join(check.said))
            return Verdict("error", f"the tests passed, but {error}", "does the command write its report to {report}?")
    return evolve(verdict_of(tests, verdict, check.said, spec.collects), tests=tuple(_kept(test) for test in tests))


def verdict_of(tests: list[HiddenTest], by_command: Verdict | None, said: list[str],
               collects: int | None = None) -> Verdict:
    """The command's verdict, with the failing tests as its evidence. collects: how many tests there must be."""
    failed = [test for test in tests if test.status == "failed"]
    passed = sum(test.status == "passed" for test in tests)
    evidence = "\n".join([*(_told(test) for test in failed[:_SHOWN_TESTS]),
                          *([f"and {len(failed) - _SHOWN_TESTS} more"] if len(failed) > _SHOWN_TESTS else [])])
    if failed:
        return Verdict("fail", f"{len(failed)} of {len(tests)} hidden tests failed", evidence)
    if by_command is not None:
        return by_command
    if collects is not None and passed != collects:
        return Verdict("fail", f"{passed} hidden tests passed, where {collects} are to run", "\n".join(said))
    if not passed:
        return Verdict("fail", "no hidden test ran", "\n".join(said))
    return Verdict("pass", f"{passed} hidden tests passed", "\n".join(said))


def _told(test: HiddenTest) -> str:
    return "\n".join([f"failed: {_named(test)}", *(f"  {line}" for line in _lines(test))])


def _lines(test: HiddenTest) -> list[str]:
    return [plain(line[:_LONGEST_LINE]) for line in test.message.splitlines() if line.strip()][:_SHOWN_LINES]


def _named(test: HiddenTest) -> str:
    return plain(test.name[:_LONGEST_NAME])


def _kept(test: HiddenTest) -> HiddenTest:
    """A test as a result keeps it: of its message the first lines, without control characters."""
    return HiddenTest(_named(test), test.status, "\n".join(_lines(test)))


def _read(report: Path) -> list[HiddenTest]:
    """The tests of a report. Raises ValueError, in words, where there is none that can be read."""
    try:
        # What ran may have put a link in its place, or what blocks who opens it.
        with os.fdopen(os.open(report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("there is no report")
            data = file.read(_LARGEST + 1)
    except OSError:
        raise ValueError("there is no report") from None
    if len(data) > _LARGEST:
        raise ValueError(f"the report is larger than {_LARGEST // 1_000_000} MB")
    return read_tests(data)
