"""Contaminated trials through the command line: shown, counted apart, exit status 1, audited again where need be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.project import MiniProject

AGENT = '''\
#!{python} -IS
"""Speaks as Claude Code does; writes the greeting, and does the calls of its own file."""
import json, os, sys

if "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit(0)
sys.stdin.read()
with open({calls!r}) as file:
    calls = json.load(file)

def say(event):
    print(json.dumps(event), flush=True)

usage = {{"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}
say({{"type": "system", "subtype": "init", "session_id": "s", "cwd": os.getcwd()}})
for number, (name, given, text, error) in enumerate(calls):
    say({{"type": "assistant", "message": {{"id": f"m{{number}}", "usage": usage, "content": [
        {{"type": "tool_use", "id": f"t{{number}}", "name": name, "input": given}}]}}}})
    say({{"type": "user", "message": {{"content": [
        {{"type": "tool_result", "tool_use_id": f"t{{number}}", "content": text, "is_error": error}}]}}}})
with open("answer.txt", "w") as file:
    file.write("Hello.")
say({{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "total_cost_usd": 0.25, "usage": usage,
      "terminal_reason": "completed", "permission_denials": []}})
'''
HIDDEN = "test('the greeting is friendly to everybody who reads it', () => {});\n" \
         "test('the greeting is never longer than it has to be', () => {});\n"


class Spy:
    """A project whose agent does what a test says."""

    def __init__(self, folder: Path) -> None:
        self.project = MiniProject.make(folder)
        self.calls = folder / "calls.json"
        program = folder / "claude"
        program.write_text(AGENT.format(python=sys.executable, calls=str(self.calls)))
        program.chmod(0o755)
        self.project.env |= {"EVALKIT_CLAUDE": str(program), "EVALKIT_JUDGE": "off", "AI_GATEWAY_API_KEY": "vck_dummy"}
        self.does()

    def does(self, *calls: tuple[str, dict[str, Any], str, bool]) -> None:
        self.calls.write_text(json.dumps(calls))

    def read(self, name: str, text: str = "Hello, reader.\n", *, error: bool = False) -> None:
        """It reads a file of the project."""
        self.does(("Read", {"file_path": str(self.project.path(name))}, text, error))

    def run(self, *more: str) -> tuple[int, str, dict[str, str]]:
        done = self.project.doit("run", "case:greeting", "agent=claude", *more)
        return done.status, done.out + done.err, done.ran

    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(next(self.project.path("results/latest").rglob("result.json")).read_text())
        return found

    def report(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(next(self.project.path("results/latest").rglob(name)).read_text())
        return found


@pytest.fixture
def spy(tmp_path: Path) -> Spy:
    return Spy(tmp_path)


@pytest.fixture(autouse=True)
def gateway(spy: Spy) -> Any:
    with ScriptedGateway([]) as server:
        spy.project.env["EVALKIT_GATEWAY"] = server.url
        yield


SOLUTION = "cases/mini/greeting/solution/answer.txt"


def test_a_pass_of_a_spy_is_contaminated(spy: Spy) -> None:
    """It passed every check, after it had read the answer."""
    spy.read(SOLUTION)
    status, said, _ = spy.run()
    assert 1 == status, said
    assert "0 passed, 1 contaminated" in said
    assert f"it read the solution: {SOLUTION}" in " ".join(said.split())
    result = spy.result()
    assert "contaminated" == result["status"]
    assert all(check["verdict"]["status"] in ("pass", "skipped") for check in result["checks"])
    assert [("the solution", "path", "read", "Read", 2, SOLUTION)] == [
        tuple(finding[name] for name in ("what", "how", "outcome", "tool", "line", "path"))
        for finding in result["audit"]["findings"]]
    summary, aggregate = spy.report("summary.json"), spy.report("aggregate.json")
    counts = {"pass": 0, "fail": 0, "contaminated": 1, "error": 0, "not run": 0}
    assert counts == summary["counts"] == aggregate["trials"]
    assert (None, {}) == (aggregate["pass_rate"], aggregate["checks"])

    status, said, ran = spy.run()
    assert (1, {}) == (status, ran)
    assert "0 passed, 1 contaminated" in said


def test_a_try_is_told(spy: Spy) -> None:
    """An agent that was kept from it did nothing wrong that counts."""
    spy.read(SOLUTION, "Permission to use Read has been denied.", error=True)
    status, said, _ = spy.run()
    assert 0 == status, said
    assert "it was refused the solution" in said
    assert "pass" == spy.result()["status"]
    assert [] == spy.result()["audit"]["findings"]


def test_known_answers_are_not_audited(spy: Spy) -> None:
    """They are laid down by us."""
    assert 0 == spy.run("agent=oracle")[0]
    assert None is spy.result()["audit"]


def test_another_hidden_file_is_a_reason_to_audit_again(spy: Spy) -> None:
    """What the agent must not see is an input of the result: an edit audits the old transcript again, and says why."""
    spy.does(("Bash", {"command": "python3 tool.py"}, HIDDEN, False))
    assert 0 == spy.run()[0]
    spy.project.write("cases/mini/greeting/solution/extra.txt", "One more file that nobody has seen.\n")
    asked = subprocess.run([sys.executable, "-m", "evalkit.cli", "why", "case:greeting", "agent=claude"],
                           cwd=spy.project.root, env=spy.project.environ, text=True, capture_output=True, check=False)
    assert "result   runs   solution/extra.txt is new" in asked.stdout, asked.stdout + asked.stderr
    status, said, ran = spy.run()
    assert 0 == status, said
    assert {"result", "report"} == set(ran)
    old = "  define check not-empty"
    spy.project.edit("cases/mini/suite.eval", old,
                     f'  define check hidden "hidden" {{ put "tests" as "hidden-tests"; run "true" }}\n{old}')
    spy.project.write("cases/mini/tests/greeting.test.ts", HIDDEN)
    spy.project.edit("cases/mini/greeting/greeting.eval", "  check not-empty", "  check hidden\n  check not-empty")
    status, said, ran = spy.run()
    assert 1 == status, said
    assert {"grade hidden", "result", "report"} == {name.partition("-")[0] for name in ran}
    assert [("hidden tests", "content")] == [
        (finding["what"], finding["how"]) for finding in spy.result()["audit"]["findings"]]


def test_regrading_audits_again(spy: Spy) -> None:
    """By what must not be seen now; what still holds is not looked at again."""
    spy.does(("Bash", {"command": "python3 tool.py"}, HIDDEN, False))
    assert 0 == spy.run()[0]
    assert 0 == spy.project.doit("run", "regrade:latest").status
    first = spy.report("regrade.json")
    assert ("pass", False) == (first["status"], first["audit"]["contaminated"])
    spy.project.edit("cases/mini/greeting/greeting.eval", 'wrong "wrong/rude" fails greets',
                     'wrong "wrong/rude" fails greets\n  check hidden-tests "tests" run "true" as hidden')
    spy.project.write("cases/mini/greeting/tests/greeting.test.ts", HIDDEN)
    done = spy.project.doit("run", "regrade:latest")
    again = spy.report("regrade.json")
    assert "contaminated" in done.out or 3 == done.status, done.out + done.err
    assert again["audit"]["contaminated"]
    assert ["hidden tests"] == [finding["what"] for finding in again["audit"]["findings"]]


def test_an_arm_without_the_skill(spy: Spy) -> None:
    """On the arm that has the skill, to read it is what it is there for; on the other one it contaminates."""
    spy.project.edit("cases/mini/suite.eval", "  profile note {", """\
  arm with-skill { skills manners from "skills/manners" }
  arm baseline { }
  profile note {""")
    spy.project.write("cases/mini/skills/manners/SKILL.md",
                      "---\nname: manners\ndescription: How to greet.\n---\nGreet warmly, and by name.\n")
    spy.read("cases/mini/skills/manners/SKILL.md")
    done = spy.project.doit("run", "case:greeting", "agent=claude", "arm=all")
    assert 1 == done.status, done.out + done.err
    audits = {result["unit"]: result["audit"] for path in spy.project.path("results/latest").rglob("result.json")
              for result in [json.loads(path.read_text())]}
    withheld = "the skill `manners`, which this arm has not"
    assert {"greeting+with-skill": ["the cases"], "greeting+baseline": [withheld]} == {
        unit: [finding["what"] for finding in audit["findings"]] for unit, audit in audits.items()}


def test_a_long_transcript(spy: Spy) -> None:
    """It is audited to its end, in a thread of its own."""
    spy.does(("Bash", {"command": "npm test"}, "all is well\n" * 500_000, False),
             ("Read", {"file_path": str(spy.project.path(SOLUTION))}, "Hello, reader.\n", False))
    status, said, _ = spy.run()
    assert 1 == status, said
    assert "0 passed, 1 contaminated" in said
