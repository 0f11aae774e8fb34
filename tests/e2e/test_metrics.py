"""`evalkit metrics` on what a real Claude Code did, with a scripted model."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalkit.gateway import Reply, ScriptedGateway, Text
from tests.e2e.test_rebuild import edit, step, write
from tests.feature.asked import Asked
from tests.feature.project import KEY, MiniProject

pytestmark = pytest.mark.slow

CHECK = """\
grep -qi hello answer.txt && exit 0
echo "answer.txt:1: error G001 it greets nobody; begin with a greeting"
exit 1
"""
METRICS = r"""
  metrics text {
    profiles note
    compliance "sh check.sh"
    sources "*.txt"
    diagnostic teaching /\berror (?<rule>G\d+)/ as "{rule}"
    share notes "notes.txt"
  }
"""
SCRIPT = [
    step(("Bash", {"command": "sh check.sh"})),  # before any edit
    step(write("@/answer.txt", "Bye.\n\n"), write("@/more.txt", "So long.\n")),  # 3 lines
    step(("Bash", {"command": "sh check.sh; echo done"})),  # failed, though echo did not
    step(("Bash", {"command": "curl --version && sh check.sh"})),  # denied
    step(edit("answer.txt", "Bye.", "Hello.")),  # 1 line
    step(("Bash", {"command": "sh check.sh"})),  # passed, at turn 6
    Reply((Text("Done."),)),  # and 1 turn after it
]


def test_a_real_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure of its transcript is known from the script."""
    project = MiniProject.make(tmp_path)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    project.env["EVALKIT_CACHE"] = os.environ.get("EVALKIT_CACHE") or str(home / "evalkit")
    project.env["AI_GATEWAY_API_KEY"] = KEY
    project.edit("cases/mini/suite.eval", 'allow "Bash(ls *)"', 'allow "Bash(sh check.sh)", "Bash(echo *)"')
    project.edit("cases/mini/suite.eval", "limits { turns 5; time 30s }", "limits { turns 20; time 3m }\n" + METRICS)
    project.write("cases/mini/skeleton/check.sh", CHECK)
    with ScriptedGateway(SCRIPT) as gateway:
        done = project.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 0 == done.status, done.out + done.err
    told = Asked(capsys, monkeypatch)(project, "metrics")
    assert "greeting  1/1   0/1   1.0   1.0 250.0   6.0  1.0" in told, told
    data = json.loads(project.read("results/latest/authoring-metrics.json"))
    trial = data["groups"][0]["tracks"][0]["units"][0]["trials"][0]
    work = trial["work"]
    assert {"turns": 7, "touched": True, "first_pass": False, "runs": 2, "failed": 1, "retries_to_green": 1,
            "turns_to_green": 6, "tail": 1, "teaching": 1, "violations": {"G001": 1}, "unexplained": 0, "lines": 4,
            "shares": {"notes": 0}, "before_edit": 1, "by_output": 0, "dropped": {"refused": 1}, "gaps": 0,
            "blind": ""} == {name: value for name, value in work.items() if name != "tokens"}
    line = json.loads(project.read("results/latest/summary.json"))["trials"][0]
    assert ("pass", sum(line["tokens"].values()), line["cost"]) == (trial["status"], trial["tokens"], trial["cost"])
