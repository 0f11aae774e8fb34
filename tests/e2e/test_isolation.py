"""What a person has for their own Claude Code stays theirs; what is off limits is so under every name and mode.

Each part has a control: the real program, started as a person starts it, does take up what was planted, and does reach
what no rule denies. Without it these tests could pass by looking at nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from evalkit.analysis.model import AgentConfig, Limits
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.claude import TOOLCHAIN, ClaudeCode
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.secrets import Redactor
from evalkit.execute.toolchain import Installed, find_installed, install
from evalkit.gateway import Reply, ScriptedGateway, Text, ToolCall
from evalkit.kept import user_cache
from evalkit.values import evolve
from tests.e2e.conftest import workspace_of
from tests.feature.project import KEY, MiniProject
from tests.unit.execute.make import a_job, case, trial

pytestmark = pytest.mark.slow

SERVER = '''\
import json, pathlib, sys
pathlib.Path({ran!r}).touch()
for line in sys.stdin:
    asked = json.loads(line)
    answer = {{"initialize": {{"protocolVersion": asked.get("params", {{}}).get("protocolVersion"), "capabilities":
              {{"tools": {{}}}}, "serverInfo": {{"name": "planted", "version": "1"}}}},
              "tools/list": {{"tools": [{{"name": "planted_tool", "description": "x",
                                         "inputSchema": {{"type": "object"}}}}]}}}}.get(asked["method"])
    if answer is not None:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": answer}}), flush=True)
'''


@pytest.fixture(scope="module")
def claude() -> Installed:
    """The pinned Claude Code, from the person's cache."""
    cache = user_cache(os.environ)
    return find_installed(cache, TOOLCHAIN) or install(cache, TOOLCHAIN, os.environ, lambda _: None)


@frozen
class Person:
    """A home with all that a person may have for their own Claude Code. ran: where what was started leaves a file."""

    home: Path
    ran: Path

    def hooks(self, name: str) -> dict[str, Any]:
        hook = [{"hooks": [{"type": "command", "command": f"touch '{self.ran / name}'"}]}]
        return {"SessionStart": hook, "UserPromptSubmit": hook, "PreToolUse": hook, "Stop": hook}

    @property
    def started(self) -> set[str]:
        return {path.name for path in self.ran.iterdir()}


@pytest.fixture
def person(tmp_path: Path, claude: Installed) -> Person:
    found = Person(tmp_path / "home", tmp_path / "ran")
    settings = found.home / ".claude"
    for folder in (found.ran, settings / "skills/planted", settings / "agents"):
        folder.mkdir(parents=True)
    (settings / "CLAUDE.md").write_text("MARKER-OF-THE-USER\n")
    (settings / "skills/planted/SKILL.md").write_text("---\nname: planted\ndescription: MARKER-OF-THE-SKILL\n---\nx\n")
    (settings / "agents/planted.md").write_text("---\nname: planted\ndescription: MARKER-OF-THE-AGENT\n---\nx\n")
    (found.home / "server.py").write_text(SERVER.format(ran=str(found.ran / "server")))
    market = found.home / "market"
    for name, text in {
        ".claude-plugin/marketplace.json": {"name": "market", "owner": {"name": "x"}, "plugins": [
            {"name": "plug", "source": "./plug", "description": "d"}]},
        "plug/.claude-plugin/plugin.json": {"name": "plug", "version": "1.0.0", "description": "d"},
        "plug/hooks/hooks.json": {"hooks": found.hooks("plugin-hook")},
    }.items():
        (market / name).parent.mkdir(parents=True, exist_ok=True)
        (market / name).write_text(json.dumps(text))
    for words in (("marketplace", "add", str(market)), ("install", "plug@market")):
        plain(claude, found, "plugin", *words)
    kept = json.loads((settings / "settings.json").read_text())
    (settings / "settings.json").write_text(json.dumps({**kept, "hooks": found.hooks("hook"), "env": {
        "ANTHROPIC_MODEL": "someone/elses"}}))
    account = json.loads((found.home / ".claude.json").read_text())
    server = {"command": sys.executable, "args": [str(found.home / "server.py")]}
    (found.home / ".claude.json").write_text(json.dumps({**account, "mcpServers": {"MARKER-OF-THE-SERVER": server}}))
    return found


def plain(claude: Installed, person: Person, *words: str, url: str = "", text: str = "") -> None:
    """Start Claude Code as a person does, with their own home."""
    program = next((claude.folder / "npm/node_modules").glob("@anthropic-ai/claude-code-*/claude"))
    env = {"PATH": os.environ["PATH"], "HOME": str(person.home), "DISABLE_AUTOUPDATER": "1",
           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "t",
           "ANTHROPIC_API_KEY": ""}
    folder = person.home / "work"
    folder.mkdir(exist_ok=True)
    subprocess.run([str(program), *words], cwd=folder, env=env, input=text, text=True, check=True, timeout=120,
                   capture_output=True)


def test_nothing_that_a_person_has_for_their_own_claude_code_reaches_the_agent(
        small: MiniProject, person: Person, claude: Installed) -> None:
    """Memory, hooks, servers, plug-ins, skills, agents, variables: of the user's and of the project's folder."""
    with ScriptedGateway([Reply((Text("Done."),))]) as gateway:
        plain(claude, person, "-p", "--model", "m", url=gateway.url, text="Say hello.")
        control = gateway.main_requests
    for marker in ("USER", "SKILL", "AGENT", "SERVER"):
        assert f"MARKER-OF-THE-{marker}" in json.dumps(control), f"nothing was planted: {marker}"
    assert {"hook", "plugin-hook", "server"} == person.started

    for path in person.ran.iterdir():
        path.unlink()
    small.write("CLAUDE.md", "MARKER-OF-THE-PROJECT")
    small.write(".claude/settings.json", json.dumps({"hooks": person.hooks("project-hook")}))
    small.write(".mcp.json", json.dumps({"mcpServers": {"MARKER": {
        "command": sys.executable, "args": [str(person.home / "server.py")]}}}))
    small.env |= {"HOME": str(person.home), "CLAUDE_CONFIG_DIR": str(person.home / ".claude"),
                  "CLAUDE_CODE_X": "MARKER", "ANTHROPIC_MODEL": "someone/elses",
                  "ANTHROPIC_CUSTOM_HEADERS": "x-marker: MARKER"}

    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Bash", {"command": "ls -a"}),
                      ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"})))

    with ScriptedGateway([write, Reply((Text("Done."),))]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        requests = gateway.main_requests
        sent = json.dumps([[request.body, dict(request.headers)] for request in gateway.requests])
    assert 0 == done.status, done.err + done.out
    assert "MARKER" not in sent
    assert "someone/elses" not in sent
    assert "mcp__" not in json.dumps([request["tools"] for request in requests])
    assert set() == person.started
    transcript = next(small.path("results").rglob("transcript.jsonl")).read_text()
    told = next(json.loads(line) for line in transcript.splitlines() if '"subtype":"init"' in line)
    assert [] == told["mcp_servers"]
    assert {"builtin"} >= {plugin["path"] for plugin in told["plugins"]}


def test_the_servers_of_the_case_reach_the_agent(small: MiniProject, person: Person) -> None:
    """`mcp FILE` starts them, and the person's stay out; an edit of the file is another run."""
    server = {"command": sys.executable, "args": [str(person.home / "server.py")]}
    small.write("cases/mini/servers.json", json.dumps({"mcpServers": {"of-the-case": server}}))
    small.edit("cases/mini/suite.eval", "mcp none", 'mcp "servers.json"')
    small.env["HOME"] = str(person.home)
    with ScriptedGateway([Reply((Text("Done."),))] * 2) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        assert 1 == done.status, done.err
        told = next(json.loads(line) for path in small.path("results").rglob("transcript.jsonl")
                    for line in path.read_text().splitlines() if '"subtype":"init"' in line)
        assert ["of-the-case"] == [found["name"] for found in told["mcp_servers"]]
        assert {"server"} == person.started
        small.edit("cases/mini/servers.json", "of-the-case", "renamed")
        again = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert "servers.json changed" in again.ran["agent"]


# ---- what is off limits ----
NAMES = ("plain", "a b", " lead", "trail ", "mid /x", "p(q)", "p(q", "q)p", "st*r", "com,ma", "ünï ☃", "br[ack]et",
         "cu{r,l}y", "que?st", "ba\\ck", "ex!cl", "!bang", "#hash", "~til", "quo'te", 'quo"te', "am&per", "new\nline")
"""Names of folders that a rule's pattern could take for something else."""
SECRET = "what-only-the-harness-knows"


@pytest.fixture
def places(tmp_path: Path) -> Iterator[list[Path]]:
    """Folders of these names, each with a secret in a folder below it."""
    found = []
    for number, name in enumerate(NAMES):
        folder = tmp_path / str(number) / name
        (folder / "below").mkdir(parents=True)
        (folder / "below/hidden.txt").write_text(SECRET)
        found.append(folder)
    yield found
    assert SECRET == (found[0] / "below/hidden.txt").read_text()


def job_for(folder: Path, claude: Installed, off_limits: list[Path], **agent: Any) -> Job:
    for name in ("desk/app", "desk/home"):
        (folder / name).mkdir(parents=True)
    of = trial(case(agent=AgentConfig("claude", **agent), limits=Limits(turns=20, time=120)), lane="sandbox")
    return a_job(trial=of, root=folder, workspace=folder / "desk/app", home=folder / "desk/home",
                 env={"PATH": os.environ["PATH"]}, transcript=folder / "transcript.jsonl",
                 off_limits=tuple(off_limits), toolchain=claude, redactor=Redactor.of({"AI_GATEWAY_API_KEY": KEY}))


def tried(calls: list[ToolCall], job: Job) -> str:
    """What the agent is told when it makes these calls."""
    with ScriptedGateway([Reply(tuple(calls)), Reply((Text("Done."),))]) as gateway:
        ClaudeCode.of(Endpoint(gateway.url, "AI_GATEWAY_API_KEY", KEY), None).run(job)
    return job.transcript.read_text()


@pytest.mark.parametrize("permissions", ["accept-edits", "skip"])
def test_no_name_of_a_folder_makes_a_rule_hold_less(permissions: str, tmp_path: Path, claude: Installed,
                                                    places: list[Path]) -> None:
    """Neither by Read nor by Write, in both modes; not by a link to it either. (Bash is not held by rules alone.)"""
    (tmp_path / "link").symlink_to(places[0])
    calls = [call for place in (*places, tmp_path / "link") for call in (
        ToolCall("Read", {"file_path": f"{place}/below/hidden.txt"}),
        ToolCall("Write", {"file_path": f"{place}/below/new.txt", "content": "x"}))]
    agent: dict[str, Any] = {"permissions": permissions, **({"allow": ("Read",)} if permissions != "skip" else {})}

    held = tried(calls, job_for(tmp_path / "held", claude, places, **agent))
    assert SECRET not in held
    assert [] == list(tmp_path.rglob("new.txt"))
    assert len(calls) == held.count('"is_error":true')

    control = tried(calls[:2], job_for(tmp_path / "free", claude, [tmp_path / "elsewhere"], **agent))
    assert SECRET in control, "the calls would have been refused without the rules too"


@pytest.mark.parametrize("agent", ["claude"])
def test_skipping_permissions_as_root_is_refused_before_anything_runs(agent: str, small: MiniProject) -> None:
    """A clear line, status 2, no request."""
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root is refused; unit tests hold it for everybody")
    with ScriptedGateway([]) as gateway:
        done = small.doit("run", "case:greeting", f"agent={agent}", "skip_permissions=1", f"gateway={gateway.url}")
        assert [] == gateway.requests
    assert 2 == done.status, done.err
    assert "does not run with `permissions skip` as root" in done.err


def test_with_permissions_skipped_it_asks_for_nothing(tmp_path: Path, claude: Installed) -> None:
    """A command that no rule allows runs; with the permission rules it is denied."""
    call = [ToolCall("Bash", {"command": "python3 -c 'open(\"made.txt\", \"w\")'"})]
    for permissions, made in (("skip", True), ("accept-edits", False)):
        job = job_for(tmp_path / permissions, claude, [tmp_path / "x"], permissions=permissions)
        tried(call, evolve(job))
        assert made == (job.workspace / "made.txt").exists()
