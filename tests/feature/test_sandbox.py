"""`lane=sandbox` on the command line: agents, checks, the shared prewarm, and what is refused."""

from __future__ import annotations

import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import zstandard

from evalkit.gateway import Reply, ScriptedGateway, Text
from tests.feature.project import KEY, MiniProject
from tests.sandbox import bwrap

ASKS = """\
import json, os, urllib.request
token = os.environ["ANTHROPIC_AUTH_TOKEN"]
body = {"model": "m", "tools": [{"name": "Write"}], "messages": [{"role": "user", "content": os.getcwd()}]}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
                                 {"Content-Type": "application/json", "Authorization": "Bearer " + token})
open("answer.txt", "w").write(json.load(urllib.request.urlopen(request))["content"][0]["text"])
"""


@pytest.fixture
def sandboxed(tmp_path: Path) -> MiniProject:
    """The small project in the sandbox lane."""
    bwrap()
    project = MiniProject.make(tmp_path)
    project.env["EVALKIT_LANE"] = "sandbox"
    return project


def result(project: MiniProject, subject: str, number: int = 1) -> dict[str, Any]:
    found = next(project.path("results/latest").glob(f"{subject}/greeting/trial-{number}/result.json"))
    data: dict[str, Any] = json.loads(found.read_text())
    return data


def test_known_answers(sandboxed: MiniProject) -> None:
    """They come to what they come to in the local lane; another lane is a reason to run again, and no other one."""
    assert 0 == sandboxed.doit("run", "case:greeting").status
    assert "sandbox" == result(sandboxed, "oracle")["lane"]
    assert {} == sandboxed.doit("run", "case:greeting").ran
    assert 1 == sandboxed.doit("run", "case:greeting", "agent=nop").status
    local = sandboxed.doit("run", "case:greeting", "lane=local")
    assert "lane sandbox → local" == local.ran["agent"]
    assert {} == sandboxed.doit("run", "case:greeting", "lane=local").ran


def test_a_program_asks_its_model_through_the_gateway(sandboxed: MiniProject) -> None:
    """There is no other network, and the key is not in there."""
    sandboxed.write("agent.py", ASKS)
    sandboxed.env["AI_GATEWAY_API_KEY"] = KEY
    with ScriptedGateway([Reply((Text("Hello from the model."),))]) as gateway:
        done = sandboxed.doit("run", "case:greeting", "agent=command:python3 {project}/agent.py {model}", "judge=off",
                              f"gateway={gateway.url}")
        asked = gateway.requests
    assert 0 == done.status, done.err + done.out
    assert ["/workspace"] == [message["content"] for request in asked for message in (request.body or {})["messages"]]
    assert {f"Bearer {KEY}"} == {request.headers.get("authorization") for request in asked}
    found = result(sandboxed, "command*")
    assert 1 == found["ending"]["usage"]["turns"]
    assert [] == sandboxed.files_with(KEY)


FETCHES = """\
import sys, urllib.error, urllib.request
said = []
for url in sys.argv[1:]:
    try:
        said.append(urllib.request.urlopen(url, timeout=20).read().decode())
    except OSError as error:
        said.append(str(getattr(error, "code", "no way")))
open("answer.txt", "w").write("Hello, " + ", ".join(said))
"""


class _Registry(BaseHTTPRequestHandler):
    """A registry's mirror, of one package."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"package")

    def log_message(self, *args: Any) -> None:
        pass


def test_a_way_out_that_a_case_asks_for(sandboxed: MiniProject) -> None:
    """It leads to the places that the case names, and nowhere else; the result tells both. Without it there is none.
    All servers are the test's own, on loopback.
    """
    sandboxed.write("agent.py", FETCHES)
    case = "cases/mini/greeting/greeting.eval"
    with ThreadingHTTPServer(("127.0.0.2", 0), _Registry) as mirror, ThreadingHTTPServer(("127.0.0.3", 0),
                                                                                       _Registry) as other:
        for server in (mirror, other):
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        place, elsewhere = (f"{host}:{server.server_address[1]}"
                            for host, server in (("127.0.0.2", mirror), ("127.0.0.3", other)))
        agent = f"agent=command:python3 {{project}}/agent.py http://{place}/ http://{elsewhere}/"

        def answer() -> tuple[str, list[str]]:
            done = sandboxed.doit("run", "case:greeting", agent, "judge=off")
            assert 0 == done.status, done.err + done.out
            found = result(sandboxed, "command*")
            tree = next(sandboxed.path("results/latest").glob("command*/greeting/trial-1/workspace.tar.zst"))
            with zstandard.open(tree, "rb") as packed, tarfile.open(fileobj=io.BytesIO(packed.read())) as archive:
                file = archive.extractfile("answer.txt")
                assert file is not None
                return file.read().decode(), found["ending"]["notes"]

        assert ("Hello, no way, no way", []) == answer()
        sandboxed.edit(case, "  use note\n", f'  use note\n  network "{place}"\n')
        said, notes = answer()
        assert "Hello, package, 403" == said
        assert [f"its network led to {place}; refused: http://{elsewhere}/"] == notes
        for server in (mirror, other):
            server.shutdown()


def test_gateway_direct_is_refused(sandboxed: MiniProject) -> None:
    """It would hand the key in."""
    done = sandboxed.doit("run", "case:greeting", "gateway=direct")
    assert 2 == done.status
    assert "the sandbox has no network but evalkit's own gateway" in done.err


def test_a_check_of_another_lane_is_skipped(sandboxed: MiniProject) -> None:
    """And one of this lane is not."""
    case = "cases/mini/greeting/greeting.eval"
    sandboxed.edit(case, '/hello/i as greets', '/hello/i on linux-sandbox as greets')
    sandboxed.edit(case, '"TODO" as finished', '"TODO" on macos-local as finished')
    done = sandboxed.doit("run", "case:greeting")
    assert 0 == done.status, done.err
    found = {check["id"]: check["verdict"] for check in result(sandboxed, "oracle")["checks"]}
    assert ("pass", "skipped") == (found["greets"]["status"], found["finished"]["status"])
    assert "not graded on the sandbox lane" in found["finished"]["summary"]


def test_a_limit_is_named_in_a_verdict(sandboxed: MiniProject) -> None:
    """What an agent's program writes beyond a limit fails the check, and says why."""
    sandboxed.edit("cases/mini/greeting/greeting.eval", 'run "sh check.sh"',
                   'run "dd if=/dev/zero of=x bs=1M seek=2040 count=20"')
    done = sandboxed.doit("run", "case:greeting")
    assert 1 == done.status, done.err
    assert "was ended by its file limit of 2 GB" in " ".join(done.out.split())


def test_auto_takes_the_sandbox(sandboxed: MiniProject) -> None:
    """Where it works; and without bubblewrap the local lane, with the line to type."""
    assert "oracle, sandbox lane" in sandboxed.doit("run", "case:greeting", "lane=auto").out
    tools = sandboxed.root.parent / "tools"
    tools.mkdir()
    for name in ("sh", "test", "cat"):
        (tools / name).symlink_to(f"/bin/{name}")
    sandboxed.env["PATH"] = str(tools)
    done = sandboxed.doit("run", "case:greeting", "lane=auto")
    assert "oracle, local lane" in done.out
    assert "lane=auto takes the local lane: the sandbox lane needs bubblewrap" in done.err
    assert "apt-get install bubblewrap" in done.err
    refused = sandboxed.doit("run", "case:greeting", "lane=sandbox")
    assert 2 == refused.status
    assert "apt-get install bubblewrap" in refused.err


# ---- the shared prewarm ----
PREWARM = """\
test ! -e cache/made || exit 9
mkdir -p cache
date +%N >cache/made
cp notes.txt cache/of-notes
ln -s made cache/link
echo generated >generated.txt
echo home >~/warmed
"""
CHECK = """\
cat cache/made cache/link ~/warmed cache/of-notes || exit 1
test -f answer.txt && ! grep -q mine cache/made && echo own >>cache/made
"""
AGENT = """\
cat cache/made ~/warmed generated.txt cache/link >seen.txt
echo "mine $$" >>cache/made
echo Hello >answer.txt
"""


@pytest.fixture
def warmed(sandboxed: MiniProject) -> MiniProject:
    """With a prewarm that leaves caches, a home and a file in the tree."""
    sandboxed.edit("cases/mini/suite.eval", '    caches "cache"', '    prewarm "sh prewarm.sh"\n    caches "cache"')
    sandboxed.write("cases/mini/skeleton/prewarm.sh", PREWARM)
    sandboxed.write("cases/mini/skeleton/check.sh", CHECK)
    sandboxed.write("agent.sh", AGENT)
    return sandboxed


def run(project: MiniProject, *more: str) -> str:
    done = project.doit("run", "case:greeting", "agent=command:sh {project}/agent.sh", "judge=off", *more)
    assert 0 == done.status, done.err + done.out
    return done.err


def entries(project: MiniProject) -> list[Path]:
    return list(project.path(".evalkit/store/warm").glob("*/*"))


def test_the_prewarm_runs_once_for_all_trials(warmed: MiniProject) -> None:
    """Each gets a clone of its own, at the same path: what an agent writes into a cache reaches no grader, no trial."""
    said = run(warmed, "trials=3")
    assert 1 == said.count("prewarm, once for all trials")
    made = (entries(warmed)[0] / "tree/cache/made").read_text()
    assert "mine" not in made
    assert "own" not in made
    trees = [record["tree"]["files"] for record in (
        json.loads(path.read_text()) for path in warmed.path(".evalkit/store/agent").rglob("agent.json"))]
    assert 3 == len(trees)
    assert 1 == len({tree["seen.txt"] for tree in trees})
    assert all("generated.txt" in tree and "cache/made" not in tree for tree in trees)
    assert "prewarm" not in run(warmed, "trials=4")


def test_what_the_prewarm_reads_makes_it_run_again(warmed: MiniProject) -> None:
    """A starter's file and the commands do; a skill or a prompt does not."""
    run(warmed)
    warmed.edit("cases/mini/skills/writing/SKILL.md", "Be brief", "Be clear")
    warmed.edit("cases/mini/greeting/greeting.eval", "Write a greeting", "Put a greeting")
    assert "prewarm" not in run(warmed)
    warmed.write("cases/mini/greeting/starter/notes.txt", "Greet somebody else.\n")
    assert 1 == run(warmed).count("prewarm, once")
    assert 2 == len(entries(warmed))


def test_a_prewarm_that_fails_is_the_cases_mistake(warmed: MiniProject) -> None:
    """With its own words."""
    warmed.write("cases/mini/skeleton/prewarm.sh", "echo no such thing >&2; exit 4\n")
    done = warmed.doit("run", "case:greeting", "agent=command:sh {project}/agent.sh", "judge=off")
    assert 2 == done.status
    assert "the prewarm failed (exit status 4)" in done.err
    assert "no such thing" in done.err


def test_a_run_is_regraded_in_its_lane(warmed: MiniProject) -> None:
    """Also where the warm set-up is not in the store any more."""
    run(warmed)
    for entry in entries(warmed):
        entry.rename(warmed.root.parent / "gone")
    warmed.edit("cases/mini/greeting/greeting.eval", 'run "sh check.sh"', 'run "sh  -e check.sh"')
    warmed.env.pop("EVALKIT_LANE")
    done = warmed.doit("run", "regrade:latest", "judge=off")
    assert 0 == done.status, done.err + done.out
    assert 1 == len(entries(warmed))
