"""Reports of test runners -> what each test came to: JSON as Jest and Vitest write it, and JUnit's XML.

JUnit's XML has no one form; what is read is what its writers have in common. A `testcase`, wherever it stands, is a
test. It failed where it has a `failure` or an `error`, or says so itself (CTest's `status="fail"`); it was skipped
where it has `skipped` or `disabled`, or was not run (CTest, GoogleTest). What nextest calls flaky passed in the end. A
suite that has a failure of its own, with no test, is a failed test (a file that cannot be loaded).

A report may hold what the agent's code printed: bytes that are no text, HTML, control characters. None of that makes it
unreadable. It is read as a stream, without what is not looked at, so that its size is no matter.
"""

from __future__ import annotations

import codecs
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Literal

import orjson

from evalkit.grade.verdict import HiddenTest

__all__ = ["MOST_TESTS", "read_tests"]

MOST_TESTS = 20_000
_TOO_MANY = f"more than {MOST_TESTS} tests"
_DEEPEST = 100
"""Elements within elements."""
_LONGEST_MESSAGE = 20_000
_PIECE = 1 << 20
"""Characters that are parsed at once."""
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding=["']([A-Za-z0-9._-]{1,40})["']""")
_ENCODINGS = {"utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "utf-8", "ascii": "utf-8", "iso-8859-1": "latin-1",
              "latin1": "latin-1", "windows-1252": "cp1252", "cp1252": "cp1252"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
                      r"|&#(?:x0*(?:[0-8bcef]|1[0-9a-f]|d[89a-f][0-9a-f]{2}|fff[ef])|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));",
                      re.IGNORECASE)
"""Characters that XML does not have, as they are and as references."""
_NOT_RUN = ("notrun", "disabled", "skipped", "ignored")
_SUITES = ("testsuite", "testsuites")


def read_tests(data: bytes) -> list[HiddenTest]:
    """The tests of a report. Raises ValueError, in words, where it is none that can be read."""
    text = _text(data)
    if text.startswith("<"):
        return _junit(text)
    try:
        return _jest(_json(text))
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        if str(error).endswith(_TOO_MANY):
            raise
        raise ValueError("its report is neither Jest's JSON nor JUnit's XML") from None


def _json(text: str) -> Any:
    """Its value, also where a text in it ends in half a surrogate pair, as programs that cut texts leave them."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def _text(data: bytes) -> str:
    """A report's text, by its mark or what it declares; whatever is none in UTF-8 is replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark):].decode(encoding, "replace").strip()
    declared = _DECLARED.match(data)
    encoding = _ENCODINGS.get(declared[1].decode().lower(), "utf-8") if declared else "utf-8"
    return data.decode(encoding, "replace").strip()


def _jest(report: Any) -> list[HiddenTest]:
    """`testResults` of files with `assertionResults`; a file that failed apart from its tests is a failed test too."""
    states: dict[str, Literal["passed", "failed"]] = {"passed": "passed", "failed": "failed"}
    tests: list[HiddenTest] = []
    for file in report["testResults"]:
        own = file["assertionResults"]
        mine = [HiddenTest(_whole(test.get("fullName") or test.get("title")), states.get(test.get("status"), "skipped"),
                           "\n".join(map(_whole, test.get("failureMessages") or ()))) for test in own]
        tests += mine
        if file.get("status") == "failed" and not any(test.status == "failed" for test in mine):
            tests.append(HiddenTest(Path(_whole(file.get("name"))).name, "failed", _whole(file.get("message", ""))))
        _count(tests)
    return tests


def _whole(value: object) -> str:
    """A text that can be written: half a surrogate pair is `?`."""
    return str(value).encode("utf-8", "replace").decode()


def _count(tests: list[HiddenTest]) -> None:
    if len(tests) > MOST_TESTS:
        raise ValueError(f"its report has {_TOO_MANY}")


def _declares(text: str) -> bool:
    """Whether something is declared before the first element: entities can be made to grow without end."""
    at = 0
    while True:
        at = text.find("<", at)
        end = {"<?": "?>", "<!-": "-->"}.get(text[at : at + 3 if text[at + 1 : at + 2] == "!" else at + 2], "")
        if at < 0 or not end:
            return at >= 0 and text.startswith("<!", at)
        at = text.find(end, at)
        if at < 0:
            return False


def _junit(text: str) -> list[HiddenTest]:
    if _declares(text):
        raise ValueError("its report declares entities, which are not read")
    try:
        return _Reader(text).tests
    except ET.ParseError:
        pass
    try:
        return _Reader(_NOT_XML.sub("\ufffd", text)).tests
    except ET.ParseError:
        raise ValueError("its report is not well-formed XML") from None


class _Reader:
    """Reads the elements as they end, and lets go of them."""

    def __init__(self, text: str) -> None:
        self.tests: list[HiddenTest] = []
        self.open: list[ET.Element] = []
        self.root = ""
        parser: ET.XMLPullParser[Any] = ET.XMLPullParser(("start", "end"))
        for at in range(0, len(text), _PIECE):
            parser.feed(text[at : at + _PIECE])
            self.take(parser)
        parser.close()
        self.take(parser)
        if self.root not in (*_SUITES, "testcase"):
            raise ValueError("its report is XML, and none of JUnit's")

    def take(self, parser: ET.XMLPullParser[Any]) -> None:
        events: Any = parser.read_events()
        for event, element in events:
            if event == "start":
                self.open.append(element)
                self.root = self.root or _name(element)
                if len(self.open) > _DEEPEST:
                    raise ValueError(f"its report has elements {_DEEPEST} deep")
            else:
                self.open.pop()
                self.ended(element)

    def ended(self, element: ET.Element) -> None:
        name = _name(element)
        parent = _name(self.open[-1]) if self.open else ""
        if name == "testcase":
            self.tests.append(_test(element))
            _count(self.tests)
        elif name in ("failure", "error") and parent in _SUITES:
            self.tests.append(HiddenTest(self.open[-1].get("name") or name, "failed", _message(element)))
        elif parent == "testcase" and name in ("failure", "error", "skipped", "disabled"):
            return  # looked at when the test ends
        element.clear()
        if self.open:
            self.open[-1].remove(element)


def _name(element: ET.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def _test(case: ET.Element) -> HiddenTest:
    name = " ".join(part for part in (case.get("classname"), case.get("name")) if part)
    inner = {_name(child): child for child in reversed(case)}
    bad = inner.get("failure", inner.get("error"))
    if bad is not None:
        return HiddenTest(name, "failed", _message(bad))
    said = (case.get("status") or "").lower()
    if said in ("fail", "failed", "error"):
        return HiddenTest(name, "failed", f"its status is {said}")
    skipped = "skipped" in inner or "disabled" in inner or said in _NOT_RUN
    return HiddenTest(name, "skipped" if skipped else "passed")


def _message(bad: ET.Element) -> str:
    said, text = bad.get("message") or "", "".join(bad.itertext())
    return f"{said}\n{text}"[:_LONGEST_MESSAGE]
