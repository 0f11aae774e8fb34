"""`ablate:CASE` on the command line: the case on its first arm, and on one arm for each part of its guidance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.feature.project import MiniProject

SUITE = """\
suite mini {
  profile app { use agent api; answer "a.py" over template "skeleton" }
  arm with    { }
  arm without { guidance none }
  arm ablate  { ablate guidance by section }
  arm finer   { ablate guidance by subsection }
  arm files   { ablate guidance by document }
}
"""
CASE = """\
case answer {
  use app
  prompt "PROMPT.md"
  guidance "guide", "more.md"
  score code as code { apis "m#run"; pass at 1 }
  solution "solution"
}
"""
GUIDE = "# Guide\n\n## Use\n\n### How\n\nRun it.\n\n### When\n\nNow.\n\n## Style\n\nShort.\n"
SCRIPT = {"script": 1, "rules": [
    {"when": {"system": "Run it"}, "reply": "```python\nimport m\nm.run()\n```"},
    {"reply": "```python\nimport m\nm.start()\n```"}]}
PLAYED = "gateway=scripts/model.yaml"


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    made = MiniProject.make(tmp_path)
    for old in made.root.glob("cases/**/*.eval"):
        old.unlink()
    for name, text in {"suite.eval": SUITE, "answer/answer.eval": CASE, "answer/PROMPT.md": "Write a.py.\n",
                       "answer/guide/SKILL.md": GUIDE, "answer/more.md": "# More\n", "skeleton/a.py": "",
                       "answer/solution/a.py": "import m\nm.run()\n"}.items():
        made.write(f"cases/mini/{name}", text)
    made.write("scripts/model.yaml", json.dumps(SCRIPT))
    return made


def scores(project: MiniProject) -> dict[str, float]:
    """Of each arm that ran."""
    lines = json.loads(project.path("results/latest/summary.json").read_bytes())["trials"]
    return {line["unit"].partition("+")[2]: line["measures"]["code"]["composite"] for line in lines}


def test_sections(project: MiniProject) -> None:
    """Each is left out once; nothing runs again, by whatever name it is asked for."""
    done = project.doit("run", "ablate:answer", PLAYED)
    assert 1 == done.status, done.err
    assert {"with": 1.0, "ablate.use": 0.0, "ablate.style": 1.0} == scores(project)
    for line in (("ablate:answer",), ("case:answer", "arm=with,ablate")):
        again = project.doit("run", *line, PLAYED)
        assert (1, {}) == (again.status, again.ran), again.err


def test_subsections_and_documents(project: MiniProject) -> None:
    """The choice of arms says which parts are left out; the first arm is always there to compare with."""
    project.doit("run", "ablate:answer", PLAYED, "arm=finer,files")
    assert {"with": 1.0, "finer.use": 0.0, "finer.use-how": 0.0, "finer.use-when": 1.0, "finer.style": 1.0,
            "files.guide": 0.0, "files.more": 1.0} == scores(project)


def test_a_name_that_is_none(project: MiniProject) -> None:
    """It is a mistake of the command line."""
    done = project.doit("run", "ablate:answr", PLAYED)
    assert 2 == done.status
    assert "did you mean `ablate:answer`?" in done.err
    assert "ablate:NAME" in project.doit("run").out + project.doit("run", "--help").out
