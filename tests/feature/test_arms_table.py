"""`doit run … arm=all`: the arms stand side by side below the table."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.feature.project import KEY, MiniProject, fake_claude


def test_a_run_of_all_arms_ends_with_their_table(project: MiniProject, tmp_path: Path) -> None:
    """Also where everything is up to date; a run of one arm, or of known answers, has none."""
    project.edit("cases/mini/suite.eval", "  define check", "  arm with-skill { about \"Both.\" }\n"
                 "  arm baseline { skills none }\n\n  define check")
    program, _ = fake_claude(tmp_path / "bin")
    project.env |= {"EVALKIT_CLAUDE": str(program), "AI_GATEWAY_API_KEY": KEY}
    line = ("run", "case:greeting", "agent=claude", "judge=off", "gateway=direct")
    assert "arms of" not in project.doit(*line).out
    done = project.doit(*line, "arm=all", "trials=2")
    assert 0 == done.status, done.err
    table = done.out.partition("arms of mini, ")[2]
    assert [["trials", "2", "2"], ["passed", "100%", "100%", "+0%"], ["cost", "$0.25", "$0.25", "+$0.00"],
            ["turns", "1.0", "1.0", "+0.0"]] == [line.split() for line in table.splitlines()[2:]], done.out
    assert ["with-skill", "baseline", "with-skill", "less", "baseline"] == table.splitlines()[1].split()
    again = project.doit(*line, "arm=all", "trials=2")
    assert "nothing ran" in again.err
    assert done.out == again.out
    past = subprocess.run([sys.executable, "-m", "evalkit.cli", "report"], cwd=project.root, env=project.environ,
                          text=True, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout
    assert table.splitlines()[:6] == past.partition("arms of mini, ")[2].splitlines()[:6], "the same arms less the same"
    assert "arms of" not in project.doit("run", "case:greeting", "agent=oracle", "judge=off", "arm=all").out


def test_reports_have_arms_in_the_order_of_their_declaration(project: MiniProject) -> None:
    """Not in that of their names: summary.md, and the page's matrix."""
    project.edit("cases/mini/suite.eval", "  define check", "  arm with-skill { about \"Both.\" }\n"
                 "  arm baseline { skills none }\n\n  define check")
    done = project.doit("run", "case:greeting", "judge=off", "arm=all")
    assert 0 == done.status, done.err
    for name in ("summary.md", "results.csv"):
        text = project.read(f"results/latest/{name}")
        assert 0 < text.index("with-skill") < text.index("baseline")
    heads = re.findall('<span class="arm">(.*?)</span>', project.read("results/latest/report.html"))
    assert ["with-skill", "baseline"] == heads
    assert "nothing ran" in project.doit("run", "case:greeting", "judge=off", "arm=all").err
