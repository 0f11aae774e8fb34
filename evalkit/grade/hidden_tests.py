"""`check hidden-tests`: tests that the agent never saw, put into a copy of its final tree and run there.

The command says by its status whether they passed; the report that it writes (JSON as Jest and Vitest write it, or
JUnit's XML) says which did not and why. A command that passes without a report, or with a report of no test at all,
proves nothing: the first is an error (the case or its tool is wrong), the second a fail.
"""

from __future__ import annotations

import os
import stat
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Literal

import orjson
from attrs import evolve

from evalkit.analysis.model import HiddenTestsSpec, Put, Toolchain
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.run import CheckInCopy
from evalkit.grade.verdict import HiddenTest, Verdict

__all__ = ["VERSION", "grade_hidden_tests"]

VERSION = "hidden-tests 2"
EX_UNAVAILABLE = 69
"""The status (of sysexits.h) by which a command says that what runs the tests is not there."""
_LARGEST = 16_000_000
"""Bytes of a report that are read."""
_SHOWN_TESTS, _SHOWN_LINES = 10, 8


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
    return "\n".join([f"failed: {plain(test.name)}", *(f"  {line}" for line in _lines(test))])


def _lines(test: HiddenTest) -> list[str]:
    return [plain(line) for line in test.message.splitlines() if line.strip()][:_SHOWN_LINES]


def _kept(test: HiddenTest) -> HiddenTest:
    """A test as a result keeps it: of its message the first lines, without control characters."""
    return HiddenTest(plain(test.name), test.status, "\n".join(_lines(test)))


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
    if data.lstrip().startswith(b"<"):
        return _junit(data)
    try:
        return _jest(orjson.loads(data))
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        raise ValueError("its report is neither Jest's JSON nor JUnit's XML") from None


def _jest(report: Any) -> list[HiddenTest]:
    """`testResults` of files with `assertionResults`; a file that failed apart from its tests is a failed test too."""
    states: dict[str, Literal["passed", "failed"]] = {"passed": "passed", "failed": "failed"}
    tests = []
    for file in report["testResults"]:
        own = file["assertionResults"]
        mine = [HiddenTest(str(test.get("fullName") or test.get("title")), states.get(test.get("status"), "skipped"),
                           "\n".join(map(str, test.get("failureMessages") or ()))) for test in own]
        tests += mine
        if file.get("status") == "failed" and not any(test.status == "failed" for test in mine):
            tests.append(HiddenTest(Path(str(file.get("name"))).name, "failed", str(file.get("message", ""))))
    return tests


def _junit(data: bytes) -> list[HiddenTest]:
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # entities can be made to grow without end
        raise ValueError("its report declares entities, which are not read")
    try:
        root = ET.fromstring(data)
    except ET.ParseError:
        raise ValueError("its report is not well-formed XML") from None
    tests = []
    for case in root.iter("testcase"):
        name = " ".join(part for part in (case.get("classname"), case.get("name")) if part)
        bad = next((child for child in case if child.tag in ("failure", "error")), None)
        if bad is not None:
            tests.append(HiddenTest(name, "failed", f"{bad.get('message') or ''}\n{bad.text or ''}"))
        else:
            tests.append(HiddenTest(name, "skipped" if case.find("skipped") is not None else "passed"))
    return tests
