"""The format guidance-evals: one answer of a model, scored by what is in its code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.authoring.importers.sets import GUIDANCE, files_of, import_set, lost, put

CASE = r'''case throw-ball {
  use answer
  prompt """
    Build a ball that can be thrown.
    """
  guidance "../skills/build-app", "../references/docs/physics.md"
  answer "main.js" over template "../templates/00_plain"
  score code as code {
    language javascript
    imports "toy", "toy/physics"
    apis "toy.init", "throwBall("
    forbid /from ['"]https?:/, /\Aeval/
    parses "node --check {answer}"
  }
}
'''
SPEC = "evals/tasks/throw-ball/spec.json"


def test_set_is_converted(tmp_path: Path) -> None:
    """What cases share is copied once, into folders of the suite."""
    job = import_set("guidance-evals", put(tmp_path, GUIDANCE))
    assert CASE == files_of(job)["throw-ball/throw-ball.eval"]
    assert {"suite.eval", "throw-ball/throw-ball.eval", "skills/build-app/SKILL.md", "references/docs/physics.md",
            "templates/00_plain/index.html", "templates/00_plain/main.js"} == set(job.target.files)
    assert [] == lost(job)


def test_missing_files_are_named(tmp_path: Path) -> None:
    """A set without its skill, references and template converts: a folder waits for the template."""
    only = {name: text for name, text in GUIDANCE.items() if name.startswith("evals/")}
    job = import_set("guidance-evals", put(tmp_path, only))
    files = files_of(job)
    assert "guidance" not in files["throw-ball/throw-ball.eval"]
    assert {"suite.eval", "throw-ball/throw-ball.eval", "templates/00_plain/MISSING-00_plain.txt"} == set(files)
    assert ["throw-ball: skill: no folder `build-app` with a SKILL.md is in the source; is its root the PATH?",
            "throw-ball: reference_files[0]: no file `docs/physics.md` is in the source; is its root the PATH?",
            "throw-ball: template: no folder `templates/00_plain` is in the source; templates/00_plain/ is waiting for "
            "it"] == lost(job)


@pytest.mark.parametrize(("change", "expected"), [
    ({"reference_files": ["../../etc/passwd"]},
     "reference_files[0]: `../../etc/passwd` is not a path within the source"),
    ({"template": "/etc"}, "template: `/etc` is not a path within the source"),
    ({"skill": "../x"}, "skill: `../x` is no name of a skill"),
    ({"edit_file": None}, "edit_file: it is null, not a text"),
    ({"edit_file": "main.zig"},
     "edit_file: `main.zig` is in no language that `score code` knows; taken as javascript"),
    ({"expected_apis": [1]}, "expected_apis[0]: it is a number, not a text"),
    ({"forbidden_patterns": ["("]},
     "forbidden_patterns[0]: /(/ at character 1: this is no regular expression of Python: "
     "missing ), unterminated subpattern at position 0"),
    ({"weight": 2}, "weight: the format has no such field, so that nobody knows what it asks for"),
])
def test_odd_field_is_reported(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    """The case converts without it."""
    spec = json.dumps({**json.loads(GUIDANCE[SPEC]), **change})
    job = import_set("guidance-evals", put(tmp_path, {**GUIDANCE, SPEC: spec}))
    assert f"throw-ball: {expected}" in lost(job)
    assert "throw-ball/throw-ball.eval" in job.target.files


def test_half_cases_are_reported(tmp_path: Path) -> None:
    """A task without a prompt or without a spec is named; a spec.json elsewhere in a repository is none of ours."""
    job = import_set("guidance-evals", put(tmp_path, {
        **GUIDANCE, "evals/tasks/a/spec.json": "{}", "evals/tasks/b/prompt.md": "Do.\n", "other/spec.json": "{}",
        "evals/tasks/c/prompt.md": "Do.\n", "evals/tasks/c/spec.json": "nope"}))
    assert ["a: prompt.md: there is no such file", "b: spec.json: there is no such file",
            "c: spec.json: it is not JSON: line 1, column 1: Expecting value"] == lost(job)


def test_python_answer_is_not_parsed_by_node(tmp_path: Path) -> None:
    """The language follows the file's ending."""
    spec = json.dumps({**json.loads(GUIDANCE[SPEC]), "edit_file": "main.py"})
    text = files_of(import_set("guidance-evals", put(tmp_path, {**GUIDANCE, SPEC: spec})))["throw-ball/throw-ball.eval"]
    assert "    language python\n" in text
    assert "parses" not in text
