"""The check of the state that calls leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Check
from evalkit.grade.grader import grade_check
from evalkit.grade.verdict import Verdict
from tests.unit.grade.calls import state_of
from tests.unit.grade.trees import a_case, final_tree

STATE: dict[str, Any] = {
    "findings": [{"id": "f-1", "kind": "crack", "status": "draft", "severity": 2},
                 {"id": "f-2", "kind": "spall", "status": "published", "severity": 4, "note": "old"}],
    "layers": {"deck": {"on": True}, "piers": {"on": False}},
    "view": {"px": 2.5, "camera": [0, 12.5, 40]}, "mode": "elevation", "none": [],
}


def graded(folder: Path, statement: str, state: Any = STATE) -> Verdict:
    files = {} if state is None else {"state.json": state if isinstance(state, bytes) else json.dumps(state)}
    check = Check("own", "state", state_of(folder, f"check state {statement}"), (), False, "", "x.eval:1:1")
    return grade_check(a_case(), check, final_tree(folder, files), {}, "local").verdict


@pytest.mark.parametrize(("statement", "status"), [
    ("findings has 2", "pass"), ("findings has 1", "fail"), ('findings has 1 where status = "draft"', "pass"),
    ('findings has 1 where status = "draft" and kind = "spall"', "fail"), ("findings has at least 2", "pass"),
    ("findings has at least 2 where severity > 2", "fail"), ("findings has at most 1 where severity > 2", "pass"),
    ("findings has at most 1", "fail"), ("findings lacks where note any", "fail"),
    ('findings lacks where status = "archived"', "pass"), ('findings has 1 where note absent', "pass"),
    ('findings has 2 where status one of "draft", "published"', "pass"), ("layers has 2", "pass"),
    ("layers has 1 where on = true", "pass"), ("none has 0", "pass"), ("nothing has 0", "fail"),
    ("nothing lacks where a = 1", "fail"), ("mode has 1", "fail"),
    ("view.px > 2", "pass"), ("view.px < 2", "fail"), ("view.camera approx [0, 12.4, 40] within 0.2", "pass"),
    ('mode = "elevation"', "pass"), ('mode ~ /^int/', "fail"), ("view.camera.1 in 12..13", "pass"),
    ("nothing absent", "pass"), ("mode absent", "fail"), ("view.x any", "fail"), ('findings.1.id = "f-2"', "pass"),
])
def test_what_the_state_is(tmp_path: Path, statement: str, status: str) -> None:
    """Entries by their fields, and single values; a path that is not there fails, whatever is asked."""
    assert status == graded(tmp_path, statement).status


@pytest.mark.parametrize(("statement", "summary", "evidence"), [
    ('findings has 1 where status = "published" and severity > 4',
     'findings has 1 where status = "published" and severity > 4, but 0 fit',
     "none of 2 entries fits\nthe others, the nearest first:\n"
     "  findings.1: not severity > 4 (it is 4)\n"
     '  findings.0: not status = "published" (it is "dra … rity > 4 (it is 2)'),
    ("findings lacks where severity > 3", "findings lacks where severity > 3, but 1 fit",
     '1 of 2 entries fit:\n  findings.1: {"id": "f-2", "kind": "spall", "stat … 4, "note": "old"}'),
    ("finding has 1", "the state has no `finding`", "it has no `finding`: did you mean `findings`?"),
    ("view.pxs > 1", "the state has no `view.pxs`", "`view` has no `pxs`: did you mean `px`?"),
    ("view.px.a > 1", "the state has no `view.px.a`", "`view.px` is 2.5"),
    ("view.px > 3", "view.px > 3, but it is: 2.5", "view.px: 2.5"),
])
def test_what_is_said(tmp_path: Path, statement: str, summary: str, evidence: str) -> None:
    """Which entries there are instead, the nearest first."""
    verdict = graded(tmp_path, statement)
    assert ("fail", summary, evidence) == (verdict.status, verdict.summary, verdict.evidence)


def test_no_state(tmp_path: Path) -> None:
    """Who calls nothing leaves none; what is no JSON is told as an error."""
    assert ("fail", "there is no state: nothing was called") == (
        graded(tmp_path / "a", "mode any", None).status, graded(tmp_path / "b", "mode any", None).summary)
    assert "error" == graded(tmp_path / "c", "mode any", b"{").status
