"""report.html: what its text holds, before any browser sees it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import UserError
from evalkit.report.html.matrix import matrix
from evalkit.report.html.page import render
from evalkit.report.row import failed_row
from evalkit.report.summary import TrialSummary, line_of_row
from evalkit.structure import plain_fields
from tests.unit.report.html_hostile import HOSTILE
from tests.unit.report.results import a_trial


def a_line(case: str = "board", agent: str = "claude", model: str | None = "acme/m-1", trial: int = 1,
           status: str = "pass", unit: str = "", **more: Any) -> dict[str, Any]:
    line = TrialSummary(
        place=f"{agent}/{case}/trial-{trial}", case=case, unit=unit or case, suite=more.pop("suite", "s"), agent=agent,
        model=model, trial=trial, lane="local", self_check=False, note="", dry=False, status=status,  # type: ignore[arg-type]
        reason=more.pop("reason", "why"), checks={"builds": "pass"}, judge=(7.0,), turns=3, cost=0.5, seconds=9.0,
        ended="completed", tokens={"input": 5}, **more)
    return plain_fields(line)


class Scripts(HTMLParser):
    """The scripts and styles of a page, and the names of all its elements."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[tuple[str, dict[str, str | None], str]] = []
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"], (tag, attrs)
        self.parts.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(("", {}, ""))

    def handle_data(self, data: str) -> None:
        if self.parts and self.parts[-1][0] in ("script", "style"):
            tag, attrs, text = self.parts[-1]
            self.parts[-1] = (tag, attrs, text + data)

    def of(self, name: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attrs, text) for tag, attrs, text in self.parts if tag == name]


def sha256(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_its_policy_names_its_own_script_and_style_alone() -> None:
    """By the digests of what stands in the page; there is nothing else that runs or is loaded."""
    page = Scripts(render("latest", [a_line()], "report-data"))
    (policy,) = [attrs["content"] or "" for attrs, _ in page.of("meta")
                 if attrs.get("http-equiv") == "Content-Security-Policy"]
    index, script = page.of("script")
    (style,) = page.of("style")
    assert {"default-src 'none'", f"script-src {sha256(script[1])} 'strict-dynamic'", f"style-src {sha256(style[1])}",
            "img-src data:", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
            "trusted-types evalkit"} == {*policy.split("; ")}
    assert {"type": "application/json", "id": "index"} == index[0]
    assert not {"link", "img", "iframe", "object", "embed", "base"} & page.names
    assert "src" not in script[0]


def test_its_script_makes_no_markup_of_texts() -> None:
    """None of the ways to do that is in it, nor one to run a text."""
    script = Scripts(render("latest", [a_line()], "report-data")).of("script")[1][1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|"
                         r"srcdoc|createContextualFragment|\.parseHTML|setHTML", script)
    assert 1 == script.count(".src =")


@pytest.mark.parametrize("text", [text[:300] for text in HOSTILE])
def test_hostile_names_are_texts(text: str) -> None:
    """Whatever a name, a model or a reason is: the page has the same elements, and its data the same text."""
    plain = Scripts(render("latest", [a_line()], "report-data"))
    line = a_line(agent=text, model=text, reason=text, suite="s", tier=text)
    page = Scripts(render("latest", [line], "report-data"))
    assert plain.names | {"span"} == page.names | {"span"}
    assert len(plain.of("script")) == len(page.of("script"))
    index = json.loads(page.of("script")[0][1])
    assert text == index["trials"][0]["agent"] == index["trials"][0]["reason"]


def test_the_matrix() -> None:
    """Rows by suite and case, on tracks; columns by subject, on arms; a cell has all trials of both."""
    lines = [a_line("b", unit="b@ts+skill"), a_line("a", unit="a"),
             a_line("b", unit="b@ts+skill", trial=2, status="fail"), a_line("b", unit="b@zig"),
             a_line("a", model=None, agent="nop", status="fail"),
             a_line("c", suite="r", status="not run")]
    made = matrix(lines)
    assert [("claude", "m-1", "skill", 1, 2), ("claude", "m-1", "", 2, 2), ("nop", "", "", 0, 1)] == [
        (column.agent, column.model, column.arm, column.passed, column.graded) for column in made.columns]
    assert [("r", [("c", "")]), ("s", [("a", ""), ("b", "ts"), ("b", "zig")])] == [
        (suite.name, [(row.case, row.track) for row in suite.rows]) for suite in made.suites]
    assert [[1, 2], [], []] == [[line.data["trial"] for line in cell] for cell in made.suites[1].rows[1].cells]
    assert {"pass": 3, "fail": 2, "contaminated": 0, "error": 0, "not run": 1} == made.counts


def test_a_trial_without_a_result_has_its_mark() -> None:
    """One that did not run, or in which the harness failed, is there, with the reason."""
    row = failed_row(a_trial(), "the disk is full")
    page = render("latest", [plain_fields(line_of_row(row, "claude/m/kanban-board/trial-1"))], "report-data")
    assert 'title="kanban-board, trial 1: error. the disk is full"' in page


def test_without_jinja2(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(UserError) as caught:
        render("latest", [], "report-data")
    assert "pip install 'evalkit[report]' has it" == caught.value.hint


def test_a_wheel_has_its_parts(tmp_path: Path) -> None:
    """The template, the style and the scripts lie in the package as files that are installed."""
    root = Path(__file__).parents[3]
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(argv, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        names = {name for name in held.namelist() if name.startswith("evalkit/report/html/")}
    parts = {path.relative_to(root).as_posix() for path in (root / "evalkit/report/html").rglob("*")
             if path.suffix in (".js", ".css", ".j2")}
    assert {"evalkit/report/html/templates/report.html.j2", "evalkit/report/html/static/style.css"} <= parts <= names
