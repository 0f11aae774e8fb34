"""`check hidden-tests`: tests that the agent never saw, put into a copy of its final tree and run there.

The command says by its status whether they passed; the report that it writes (JSON as Jest and Vitest write it, or
JUnit's XML) says which did not and why. A command that passes without a report, or with a report of no test at all,
proves nothing: the first is an error (the case or its tool is wrong), the second a fail.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen

from evalkit.analysis.model import HiddenTestsSpec, Put, Toolchain
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.run import CheckInCopy
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "grade_hidden_tests"]

VERSION = "hidden-tests 1"
_LARGEST = 16_000_000
"""Bytes of a report that are read."""
_SHOWN_TESTS, _SHOWN_LINES = 10, 8


@frozen
class _Test:
    name: str
    status: str
    """passed, failed or skipped."""
    message: str = ""


def grade_hidden_tests(spec: HiddenTestsSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """Every hidden test passes, and there is at least one."""
    with tree.copy(toolchains) as copy:
        check = CheckInCopy(tree, copy)
        source = tree.session.root / spec.path
        verdict = check.put(Put(spec.path, "." if source.is_dir() else source.name))
        if verdict is not None:
            return verdict
        # Beside the tree: nothing that the agent left can stand in its place.
        report = copy.scratch / "report"
        verdict = check.command(spec.command, {"report": str(report)}, spec.command.limit)
        try:
            tests = _read(report)
        except ValueError as error:
            if verdict is not None:
                return verdict
            return Verdict("error", f"the tests passed, but {error}", "does the command write its report to {report}?")
    return verdict_of(tests, verdict, check.said)


def verdict_of(tests: list[_Test], by_command: Verdict | None, said: list[str]) -> Verdict:
    """The command's verdict, with the failing tests as its evidence."""
    failed = [test for test in tests if test.status == "failed"]
    passed = sum(test.status == "passed" for test in tests)
    evidence = "\n".join([*(_told(test) for test in failed[:_SHOWN_TESTS]),
                          *([f"and {len(failed) - _SHOWN_TESTS} more"] if len(failed) > _SHOWN_TESTS else [])])
    if failed:
        return Verdict("fail", f"{len(failed)} of {len(tests)} hidden tests failed", evidence)
    if by_command is not None:
        return by_command
    if not passed:
        return Verdict("fail", "no hidden test ran", "\n".join(said))
    return Verdict("pass", f"{passed} hidden tests passed", "\n".join(said))


def _told(test: _Test) -> str:
    lines = [plain(line) for line in test.message.splitlines() if line.strip()][:_SHOWN_LINES]
    return "\n".join([f"failed: {plain(test.name)}", *(f"  {line}" for line in lines)])


def _read(report: Path) -> list[_Test]:
    """The tests of a report. Raises ValueError, in words, where there is none that can be read."""
    try:
        with report.open("rb") as file:
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


def _jest(report: Any) -> list[_Test]:
    """`testResults` of files with `assertionResults`; a file that could not be loaded is a failed test of its own."""
    states = {"passed": "passed", "failed": "failed"}
    tests = []
    for file in report["testResults"]:
        own = file["assertionResults"]
        tests += [_Test(str(test.get("fullName") or test.get("title")), states.get(test.get("status"), "skipped"),
                        "\n".join(map(str, test.get("failureMessages") or ()))) for test in own]
        if not own and file.get("status") == "failed":
            tests.append(_Test(Path(str(file.get("name"))).name, "failed", str(file.get("message", ""))))
    return tests


def _junit(data: bytes) -> list[_Test]:
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
            tests.append(_Test(name, "failed", f"{bad.get('message') or ''}\n{bad.text or ''}"))
        else:
            tests.append(_Test(name, "skipped" if case.find("skipped") is not None else "passed"))
    return tests
