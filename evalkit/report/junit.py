"""junit.xml, as Jenkins, GitLab and others read it: a testsuite for each unit with a subject, in it a testcase a trial.

A trial is what passes or fails: an advisory check fails nothing, a timeout fails whatever the checks say. So a
failure's text has the checks that failed with the first lines of their evidence, and system-out a line for each check.
Errors are trials that could not be graded, or whose agent saw what it must not see; skipped are those that did not run.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from evalkit.report.findings import MARKS
from evalkit.report.row import CheckRow
from evalkit.report.summary import TrialSummary
from evalkit.values import Value

__all__ = ["JUNIT", "Suite", "junit_text", "testcase"]

JUNIT = "junit.xml"
_ELEMENTS = {"fail": "failure", "error": "error", "contaminated": "error", "not run": "skipped"}
_FORBIDDEN = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
"""What no XML 1.0 document may hold (section 2.2). It takes a millisecond to compile, and hardly any text has some."""
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_QUOTES = _IN_TEXT | str.maketrans({'"': "&quot;", "'": "&#x27;", "\n": "&#10;", "\t": "&#9;"})


class Suite(Value):
    """A unit with a subject. lines: of summary.json, as data, at least one. tests: of each its testcase."""

    lines: Sequence[Mapping[str, Any]]
    tests: Sequence[str]


def testcase(line: TrialSummary, checks: Sequence[CheckRow], detail: str) -> str:
    """A trial. detail: how a limit ended the agent's run, "" where none did."""
    head = f'    <testcase classname={_quoted(f"{line.suite}.{line.unit}")} name="trial-{line.trial}" ' \
           f'time="{line.seconds:.3f}"'
    inner = []
    element = _ELEMENTS.get(line.status)
    if element is not None:
        inner.append(f"<{element} type={_quoted(line.status)} message={_quoted(line.reason)}>"
                     f"{_text(_evidence(line, checks))}</{element}>")
    said = [f"the agent's run: {line.ended}: {detail}"] if detail else []
    said += [f"{MARKS[check.status]} {check.id}{' (advisory)' if check.advisory else ''}  {_said(check)}"
             for check in checks]
    if said:
        inner.append(f"<system-out>{_text(chr(10).join(said))}</system-out>")
    if not inner:
        return f"{head}/>\n"
    return f"{head}>\n" + "".join(f"      {part}\n" for part in inner) + "    </testcase>\n"


def junit_text(run: str, suites: Iterable[Suite]) -> bytes:
    """The file, of suites that are taken one by one: all of their texts at once would be many."""
    parts = [b""]
    totals = dict.fromkeys(("tests", "failures", "errors"), 0)
    seconds = 0.0
    for suite in suites:
        counts = _counts(suite.lines)
        for name in totals:
            totals[name] += counts[name]
        time = sum(line["seconds"] for line in suite.lines)
        seconds += time
        parts.append(_suite(run, suite, counts, time).encode())
    told = " ".join(f'{name}="{count}"' for name, count in totals.items())
    parts[0] = (f'<?xml version="1.0" encoding="UTF-8"?>\n'
                f'<testsuites name={_quoted(run)} {told} time="{seconds:.3f}">\n').encode()
    return b"".join([*parts, b"</testsuites>\n"])


def _suite(run: str, suite: Suite, counts: Mapping[str, int], seconds: float) -> str:
    first = suite.lines[0]
    agent, model = first["agent"], first["model"]
    lanes = ", ".join(dict.fromkeys([line["lane"] for line in suite.lines]))
    told = " ".join([f'{name}="{count}"' for name, count in counts.items()])
    finished = max([line["finished_at"] for line in suite.lines])[:19]
    stamp = f' timestamp="{finished}"' if finished else ""
    name = _quoted(f"{first['unit']} [{agent} {model}]" if model else f"{first['unit']} [{agent}]")
    return (f'  <testsuite name={name} {told} time="{seconds:.3f}"{stamp}>\n'
            f"{_properties(run, first['suite'], agent, model or '', lanes, first['played'])}"
            f"{''.join(suite.tests)}  </testsuite>\n")


@lru_cache
def _properties(run: str, suite: str, agent: str, model: str, lane: str, played: str) -> str:
    named = {"run": run, "suite": suite, "agent": agent, "model": model, "lane": lane, "played": played}
    lines = [f'      <property name="{name}" value={_quoted(value)}/>\n' for name, value in named.items() if value]
    return f"    <properties>\n{''.join(lines)}    </properties>\n"


def _counts(lines: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    statuses = [line["status"] for line in lines]
    return {"tests": len(statuses), "failures": statuses.count("fail"),
            "errors": statuses.count("error") + statuses.count("contaminated"), "skipped": statuses.count("not run")}


def _evidence(line: TrialSummary, checks: Iterable[CheckRow]) -> str:
    said: list[str] = []
    for check in checks:
        if check.amiss:
            said += [f"{MARKS[check.status]} {check.id}: {check.why or check.said}", *check.evidence]
            said += [f"… {check.more} more lines"] if check.more else []
    return "\n".join([*said, f"all evidence: {line.place}/result.json"]) if said else ""


def _said(check: CheckRow) -> str:
    return f"{check.said}: {check.why}" if check.why else check.said


def _text(text: str) -> str:
    return _allowed(text).translate(_IN_TEXT)


def _quoted(text: str) -> str:
    """A text as an attribute's value, with its quotes; a line end in it stays one."""
    return f'"{_allowed(text).translate(_IN_QUOTES)}"'


def _allowed(text: str) -> str:
    """A text without what may not be in a document."""
    return text if text.replace("\n", "").isprintable() else re.sub(_FORBIDDEN, "\ufffd", text)
