"""The suite cases/supabase on its real parts: vitest with PGlite, a PostgreSQL server, the real Claude Code.

The whole proof is `evalkit check --prove cases/supabase` (193 answers, some six minutes on two cores). Here a part of
it is run, and every answer that is SQL on PostgreSQL 15, which must say what PGlite says.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Case, HiddenTestsSpec
from evalkit.analysis.project import load_project
from evalkit.execute.toolchain import Installed, find_installed
from evalkit.gateway import Reply, ScriptedGateway, Step, Text, ToolCall
from evalkit.values import evolve
from tests.e2e.conftest import REPOSITORY, RealProject, workspace_of
from tests.feature.project import KEY, PYPROJECT, files_with
from tests.sandbox import bwrap

pytestmark = pytest.mark.slow

SERVER = Path("/usr/lib/postgresql/15/bin")
NO_SQL = ("edge-function-cors-secret", "edge-function-service-role", "prisma-pooling")
CASE = "auth-rls-new-project"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    """The suite in a project of its own, with its toolchain installed."""
    root = tmp_path_factory.mktemp("supabase") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the suite."""\n')
    shutil.copytree(REPOSITORY / "cases/supabase", root / "cases/supabase")
    project = RealProject(root)
    done = project.doit("run", "toolchain:supabase-tests")
    assert 0 == done.status, done.err
    return project


@pytest.fixture(scope="module")
def tools(suite: RealProject) -> Installed:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    cache = Path(os.environ.get("EVALKIT_CACHE") or home / "evalkit")
    (toolchain,) = load_project(suite.root).units[CASE][0].setup.toolchains
    found = find_installed(cache, toolchain)
    assert found is not None
    return found


def run_tests(case: Case, tools: Installed, *layers: Path, postgres: Path | None = None,
              links: dict[str, Path] | None = None, said: list[str] | None = None) -> tuple[int, set[str], int]:
    """Run a case's hidden tests over its workspace and these folders: the status, those that failed, how many ran.

    said: takes up the messages of those that failed.
    """
    suite = REPOSITORY / "cases/supabase"
    (spec,) = (check.spec for check in case.checks if isinstance(check.spec, HiddenTestsSpec))
    with tempfile.TemporaryDirectory() as name:
        tree, tests, report = Path(name, "tree"), Path(name, "tests"), Path(name, "report")
        given = [suite / "skeleton", *([REPOSITORY / case.setup.starter] if case.setup.starter else [])]
        for folder in (*given, *layers):
            shutil.copytree(folder, tree, dirs_exist_ok=True)
        for path, target in (links or {}).items():
            shutil.rmtree(tree / path, ignore_errors=True)
            (tree / path).symlink_to(target)
        for path in (spec.path, *spec.more):
            shutil.copytree(REPOSITORY / path, tests, dirs_exist_ok=True)
        env = {"PATH": os.pathsep.join([*map(str, tools.bins), os.environ["PATH"]]), "HOME": name, "CI": "1",
               **dict(tools.env), **({"EVAL_POSTGRES": str(postgres)} if postgres else {})}
        done = subprocess.run(["node", tests / "run.mjs", tree, report], cwd=tree, env=env, capture_output=True,
                              text=True, check=False, timeout=300)
        if not report.is_file():
            return done.returncode, {"no report"}, 0
        told: dict[str, Any] = json.loads(report.read_text())
        all_tests = [test for file in told["testResults"] for test in file["assertionResults"]]
        if said is not None:
            said += [message for test in all_tests for message in test["failureMessages"]]
        return done.returncode, {test["fullName"] for test in all_tests if test["status"] != "passed"}, len(all_tests)


def prove(project: RealProject, *cases: str, within: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """within: the words before the command, which say where it runs."""
    env = {**{name: value for name, value in os.environ.items() if not name.startswith(("EVAL", "ANTHROPIC", "AI_"))},
           "EVALKIT_WORK": str(project.root.parent / "work")}
    if "EVALKIT_CACHE" in os.environ:
        env["EVALKIT_CACHE"] = os.environ["EVALKIT_CACHE"]
    return subprocess.run([*within, sys.executable, "-m", "evalkit.cli", "check", "--prove", *cases],
                          cwd=project.root, env=env, capture_output=True, text=True, check=False, timeout=900)


def test_a_part_of_the_proof_without_a_network(suite: RealProject) -> None:
    """The right answer passes, nothing fails, each wrong answer fails the tests that it names, and no others: of a case
    in SQL, one of an edge function and one of a module. Once the toolchain is installed it needs nothing but loopback.
    """
    wall = (bwrap(), "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-net", "--die-with-parent", "--")
    alone = subprocess.run([*wall, "cat", "/proc/net/dev"], capture_output=True, text=True, check=True).stdout
    assert ["lo"] == [line.partition(":")[0].strip() for line in alone.splitlines() if ":" in line]
    done = prove(suite, "schema-cache-reload", "edge-function-cors-secret", "prisma-pooling", within=wall)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert done.stdout.endswith("3 of 3 proven\n"), done.stdout


# ---- a real server ----
@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """A PostgreSQL 15 of this machine, on a Unix socket; run by somebody without rights where the tests are root's."""
    if not (SERVER / "initdb").is_file():
        pytest.skip("PGLITE WAS NOT COMPARED WITH A SERVER: there is no PostgreSQL 15 (Debian: postgresql-15)")
    folder = Path(tempfile.mkdtemp(prefix="evalkit-pg-", dir="/tmp"))
    drop: list[str] = []
    if os.getuid() == 0:
        os.chown(folder, 65534, 65534)
        drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

    def run(program: str, *args: str) -> None:
        # To a file, not a pipe: the server would hold the pipe open.
        with (folder / f"{program}.out").open("ab") as out:
            subprocess.run([*drop, str(SERVER / program), *args], check=True, stdout=out, stderr=out, cwd="/tmp",
                           timeout=120, stdin=subprocess.DEVNULL)

    data = folder / "data"
    try:
        run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", str(data), "-w", "-o", options, "-l", str(folder / "log"), "start")
        yield folder
    finally:
        if (data / "postmaster.pid").exists():
            run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def test_a_server_says_what_pglite_says(suite: RealProject, tools: Installed, server: Path) -> None:
    """Each answer of each case that is SQL fails the same tests on PostgreSQL 15: those that the case names."""
    units = {name: cases[0] for name, cases in load_project(suite.root).units.items() if name not in NO_SQL}
    assert 10 == len(units)
    jobs: list[tuple[Case, str, set[str]]] = []
    for case in units.values():
        assert case.solution is not None
        jobs.append((case, case.solution, set()))
        jobs += [(case, wrong.folder, {test for _, test in wrong.tests}) for wrong in case.wrongs]

    def one(job: tuple[Case, str, set[str]]) -> tuple[str, set[str], int]:
        case, folder, _ = job
        _, failed, ran = run_tests(case, tools, REPOSITORY / folder, postgres=server)
        return folder, failed, ran

    found = [one(job) for job in jobs]  # one at a time: roles are the whole server's
    meant = {folder: failed for _, folder, failed in jobs}
    assert {} == {folder: (meant[folder], failed) for folder, failed, _ in found if meant[folder] != failed}
    assert all(ran for _, _, ran in found)


# ---- answers that cheat ----
EMPTY = "export default {test: {include: [], exclude: ['**'], passWithNoTests: true, setupFiles: ['./setup.mjs']}}\n"
REPORT = json.dumps({"numPassedTests": 11, "success": True, "testResults": [{"status": "passed", "assertionResults": [
    {"fullName": "everything", "status": "passed"}]}]})
GREEN = 'import { test } from "vitest";\ntest("everything", () => {});\n'
FAKE = f"#!/usr/bin/env node\nconsole.log({REPORT!r});\nprocess.exit(0);\n"
CHEATS: dict[str, dict[str, str]] = {
    "tests overwritten": {"tasks.test.ts": GREEN, "tests/tasks.test.ts": GREEN, "harness.mjs": "export {};\n",
                          "run.mjs": "process.exit(0);\n"},
    "a configuration that leaves all out": {**dict.fromkeys(
        ("vitest.config.ts", "vitest.config.mjs", "vite.config.ts", "vitest.workspace.ts"), EMPTY),
        "setup.mjs": "process.exit(0);\n", "package.json": '{"type": "module", "vitest": {"include": []}}\n'},
    "a setup file that ends the run": {**dict.fromkeys(
        ("vitest.config.ts", "vitest.config.mjs", "vite.config.mjs", "tests/vitest.config.mjs"),
        "export default {test: {setupFiles: ['./setup.mjs'], globalSetup: ['./setup.mjs']}}\n"),
        "setup.mjs": "process.exit(0);\n", "tests/setup.mjs": "process.exit(0);\n"},
    "packages of its own": {"node_modules/vitest/vitest.mjs": FAKE, "node_modules/.bin/vitest": FAKE,
                            "node_modules/vitest/package.json": '{"name": "vitest", "main": "vitest.mjs"}\n',
                            "node_modules/@electric-sql/pglite/package.json": '{"main": "x.js"}\n',
                            "node_modules/@electric-sql/pglite/x.js": FAKE},
    "a migration that prints a report": {"supabase/migrations/20260302090000_x.sql":
                                         f"do $do$ begin raise notice '%', $j${REPORT}$j$; end $do$;\n"
                                         f"copy (select $j${REPORT}$j$) to '/tmp/report';\n"},
    "a migration that ends the transaction": {"supabase/migrations/20260302090000_x.sql":
                                              "create table public.tasks (id int, user_id uuid, title text);\n"
                                              "alter role authenticated superuser;\nrollback;\ncommit;\n"},
}


@pytest.mark.parametrize("cheat", list(CHEATS))
def test_an_answer_that_cheats_is_rejected(suite: RealProject, tools: Installed, tmp_path: Path, cheat: str) -> None:
    """All hidden tests are run, by our own runner, and fail."""
    for name, text in CHEATS[cheat].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    status, failed, ran = run_tests(load_project(suite.root).units[CASE][0], tools, tmp_path)
    assert (1, 11) == (status, ran)
    assert len(failed) >= 9


EDGE = "edge-function-cors-secret"
EDGE_CHEATS = {
    "ends its process": "process.exit(0);\n",
    "ends its process when it is asked": "Deno.serve(() => process.exit(0));\n",
    "prints a report": f"console.log({REPORT!r});\nDeno.serve(() => new Response({REPORT!r}));\n",
    "writes a report": "import { writeFileSync } from 'node:fs';\nfor (const place of ['report', '../report', "
                       f"process.argv.at(-1)]) try {{ writeFileSync(place, {REPORT!r}); }} catch {{}}\n"
                       "Deno.serve(() => new Response('{}'));\n",
    "never answers": "Deno.serve(() => new Promise(() => {}));\n",
    "ends who started it": "try { process.kill(process.ppid, 'SIGKILL'); } catch {}\n"
                           "Deno.serve(() => new Response('{}'));\n",
}


@pytest.mark.parametrize("cheat", list(EDGE_CHEATS))
def test_an_edge_function_that_cheats_is_rejected(suite: RealProject, tools: Installed, tmp_path: Path,
                                                 cheat: str) -> None:
    """The one kind of answer whose code runs: it ends its own process, and all hidden tests run all the same."""
    function = tmp_path / "supabase/functions/convert/index.ts"
    function.parent.mkdir(parents=True)
    function.write_text(EDGE_CHEATS[cheat])
    case = load_project(suite.root).units[EDGE][0]
    (spec,) = (check.spec for check in case.checks if isinstance(check.spec, HiddenTestsSpec))
    status, failed, ran = run_tests(case, tools, tmp_path)
    assert (1, spec.collects) == (status, ran)
    assert len(failed) >= ran / 2, failed


def test_a_link_out_of_the_workspace_is_no_answer(suite: RealProject, tools: Installed) -> None:
    """Migrations that a link leads to are not the workspace's."""
    case = load_project(suite.root).units[CASE][0]
    there = REPOSITORY / "cases/supabase" / CASE / "solution/supabase/migrations"
    status, failed, ran = run_tests(case, tools, links={"supabase/migrations": there})
    assert (1, 11, 11) == (status, len(failed), ran)


POLICIES = "visitors get nothing, and no policy is made for them"
SHADOW = """
create temp table pg_policies as
  select schemaname, tablename, policyname, cmd, array['authenticated']::name[] as roles, qual, with_check
    from pg_policies;
grant all on pg_policies to public;
"""


def layer_of(answer: str, folder: Path) -> Path:
    """A copy of an answer, to be changed."""
    return Path(shutil.copytree(REPOSITORY / "cases/supabase" / answer, folder / "layer"))


def test_a_temporary_table_hides_nothing(suite: RealProject, tools: Installed, tmp_path: Path) -> None:
    """What a migration's session leaves is gone before the tests look: else it stands in front of the catalog."""
    layer = layer_of(f"{CASE}/wrong/policies-for-everybody", tmp_path)
    (migration,) = layer.rglob("*.sql")
    migration.write_text(migration.read_text() + SHADOW)
    assert (1, {POLICIES}, 11) == run_tests(load_project(suite.root).units[CASE][0], tools, layer)


def test_what_the_platform_passes_over_is_no_migration(suite: RealProject, tools: Installed, tmp_path: Path) -> None:
    """Its own tools apply files <timestamp>_<name>.sql alone; a folder of such a name hinders nobody."""
    case, layer = load_project(suite.root).units[CASE][0], layer_of(f"{CASE}/solution", tmp_path)
    (migration,) = layer.rglob("*.sql")
    (migration.parent / "20260401000000_folder.sql").mkdir()
    assert (0, set(), 11) == run_tests(case, tools, layer)
    migration.rename(migration.with_name("tasks.sql"))
    status, failed, ran = run_tests(case, tools, layer)
    assert (1, 11, 11) == (status, len(failed), ran)


def test_a_module_cannot_answer_for_itself(suite: RealProject, tools: Installed, tmp_path: Path) -> None:
    """What the test hears is what the host tells: a message of the module's own fails."""
    layer = layer_of("prisma-pooling/wrong/client-per-call", tmp_path)
    module = layer / "src/db.ts"
    module.write_text(module.read_text() + "process.send?.({ once: 1, reloaded: 1, same: true });\n")
    _, failed, _ = run_tests(load_project(suite.root).units["prisma-pooling"][0], tools, layer)
    assert {"one process makes one client", "the client stays when the module is loaded anew in development"} == failed


REACHES = """
const ways = [
  async () => (await import("node:net")).connect(PORT, "127.0.0.1"),
  async () => (await import("node:http")).get("http://127.0.0.1:PORT/").on("error", () => {}),
  async () => (await import("data:text/javascript,export * from 'node:net'")).connect(PORT, "127.0.0.1"),
  async () => (await import("../node_modules/own/index.js")).connect(PORT, "127.0.0.1"),
  async () => process.getBuiltinModule("net").connect(PORT, "127.0.0.1"),
  async () => new WebSocket("ws://127.0.0.1:PORT"),
  async () => process.kill(process.ppid, "SIGKILL"),
  async () => (await import("node:fs")).readFileSync(new URL("../../../../tests/convert.test.ts", import.meta.url)),
];
const out = [];
for (const [at, way] of ways.entries()) try { await way(); out.push(at); } catch {}
await new Promise((done) => setTimeout(done, 100));
throw new Error(`ways out: ${out}.`);
"""


def test_an_edge_function_reaches_nothing(suite: RealProject, tools: Installed, tmp_path: Path) -> None:
    """No server of this machine, no process, no file: by no module that it names, and none that it brings along."""
    functions = tmp_path / "supabase/functions"
    for name in ("convert", "node_modules/own"):
        (functions / name).mkdir(parents=True)
    (functions / "node_modules/own/index.js").write_text('export { connect } from "node:net";\n')
    case = load_project(suite.root).units[EDGE][0]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        (functions / "convert/index.ts").write_text(REACHES.replace("PORT", str(listener.getsockname()[1])))
        said: list[str] = []
        status, failed, ran = run_tests(case, tools, tmp_path, said=said)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert 1 == status
    assert len(failed) == ran
    assert any("ways out: ." in message for message in said), said


def test_the_package_of_the_workspace_says_nothing_of_a_function(suite: RealProject, tools: Installed,
                                                                 tmp_path: Path) -> None:
    """Where functions run there are modules only, so one that is right is right in a CommonJS package too."""
    layer = layer_of(f"{EDGE}/solution", tmp_path)
    (layer / "package.json").write_text('{"type": "commonjs"}\n')
    status, failed, _ = run_tests(load_project(suite.root).units[EDGE][0], tools, layer)
    assert (0, set()) == (status, failed)


@pytest.mark.parametrize("broken", [
    None, "export class PGlite { static create() { throw new Error('its file is cut off'); } }\n",
])
def test_a_broken_toolchain_is_no_answers_fault(suite: RealProject, tools: Installed, tmp_path: Path,
                                                broken: str | None) -> None:
    """Packages that are not there, and a database that does not start: the status of what could not be measured."""
    whole, packages = Path(dict(tools.env)["SUPABASE_TESTS_PACKAGES"]), tmp_path / "packages"
    (packages / "@electric-sql/pglite").mkdir(parents=True)
    for path in (*whole.iterdir(), *(whole / "@electric-sql").iterdir()):
        if not (place := packages / path.relative_to(whole)).exists():
            place.symlink_to(path)
    if broken is not None:
        (packages / "@electric-sql/pglite/package.json").write_text(
            '{"type": "module", "exports": {".": "./x.js", "./contrib/pg_trgm": "./y.js"}}')
        (packages / "@electric-sql/pglite/x.js").write_text(broken)
        (packages / "@electric-sql/pglite/y.js").write_text("export const pg_trgm = {};\n")
    env = tuple({**dict(tools.env), "SUPABASE_TESTS_PACKAGES": str(packages)}.items())
    solution = REPOSITORY / "cases/supabase" / CASE / "solution"
    assert 69 == run_tests(load_project(suite.root).units[CASE][0], evolve(tools, env=env), solution)[0]


# ---- with the skill and without ----
class Script:
    """A model that looks for the skill and for the hidden tests, then writes the reference answer."""

    def __init__(self, project: RealProject) -> None:
        self.tests = project.root / "cases/supabase" / CASE / "tests"
        solution = next((REPOSITORY / "cases/supabase" / CASE / "solution").rglob("*.sql"))
        self.name, self.text = f"supabase/migrations/{solution.name}", solution.read_text()

    def read_skill(self, request: dict[str, Any]) -> Reply:
        path = f"{workspace_of(request)}/.claude/skills/supabase/SKILL.md"
        return Reply((Text("First the skill."), ToolCall("Read", {"file_path": path})))

    def seek_tests(self, request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Glob", {"pattern": "**/*.test.*", "path": workspace_of(request)}),
                      ToolCall("Read", {"file_path": f"{self.tests}/tasks.test.ts"})))

    def write(self, request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/{self.name}", "content": self.text}),))


def results_of(request: dict[str, Any]) -> str:
    """What tools returned so far, of a conversation."""
    return json.dumps([block for message in request["messages"] for block in message["content"]
                       if isinstance(block, dict) and block.get("type") == "tool_result"])


DESCRIBED = "Work on a Supabase project from its files alone"
"""How the skill is announced to the model."""


def test_the_skill_is_there_in_one_arm_only(suite: RealProject) -> None:
    """The real Claude Code on both arms: one reads the skill, the other has nothing to read; neither finds the hidden
    tests, and that they were looked for is told; no MCP server is there.
    """
    planted, config = suite.root.parent / "planted", suite.root / "cases/supabase/skeleton/.mcp.json"
    command = {"command": "sh", "args": ["-c", f"touch '{planted}'"]}
    config.write_text(json.dumps({"mcpServers": {"planted": command}}))
    script = Script(suite)
    one_run: list[Step] = [script.read_skill, script.seek_tests, script.write, Reply((Text("Done."),))]
    with ScriptedGateway([*one_run, *one_run]) as gateway:
        suite.env |= {"AI_GATEWAY_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        try:
            done = suite.doit("run", f"case:{CASE}", "agent=claude", "arm=all", "judge=off", "agents=1")
        finally:
            suite.env.pop("EVALKIT_GATEWAY")
            config.unlink()
        requests = gateway.main_requests
    assert 8 == len(requests), done.err + done.out
    skilled = [request for request in requests if "A Supabase project is a PostgreSQL database" in results_of(request)]
    assert 3 == len(skilled)  # through the link to it
    assert 4 == len([request for request in requests if DESCRIBED in json.dumps(request)])
    assert not planted.exists()
    for request in requests:
        assert not [tool["name"] for tool in request["tools"] if tool["name"].startswith("mcp__")]
        assert "hands a task to somebody else" not in json.dumps(request)

    folder = suite.root / "results/latest/claude"
    results = {path.parent.parent.name: json.loads(path.read_text()) for path in folder.rglob("result.json")}
    assert {f"{CASE}+baseline", f"{CASE}+with-skill"} == {result["unit"] for result in results.values()}
    for result in results.values():
        (check,) = result["checks"]
        assert ("pass", 11) == (check["verdict"]["status"], len(check["verdict"]["tests"])), check
        assert "tasks.test.ts" in json.dumps(result["audit"]), result["audit"]
    assert [] == files_with(suite.root.parent, KEY)


def test_the_sandbox_holds_the_linked_skill_and_the_key_goes_straight_to_the_vendor(suite: RealProject) -> None:
    """With EVAL_MODEL and ANTHROPIC_API_KEY alone: the vendor is asked by its own name of the model, with its key."""
    bwrap()
    key = "sk-ant-api03-a-dummy-key-of-the-vendor-0123456789"
    script = Script(suite)
    with ScriptedGateway([script.read_skill, script.write, Reply((Text("Done."),))]) as gateway:
        more = {"ANTHROPIC_API_KEY": key, "EVAL_MODEL": "claude-opus-4-6", "EVALKIT_GATEWAY": gateway.url}
        suite.env |= more
        before = suite.env.pop("AI_GATEWAY_API_KEY", None)
        try:
            done = suite.doit("run", f"case:{CASE}", "lane=sandbox", "judge=off", "run=walls")
        finally:
            suite.env = {name: value for name, value in suite.env.items() if name not in more}
            suite.env |= {"AI_GATEWAY_API_KEY": before} if before else {}
        asked = [request for request in gateway.requests if request.is_main]
    assert 0 == done.status, done.err + done.out
    assert {("claude-opus-4-6", key)} == {(str((request.body or {})["model"]), request.headers["x-api-key"])
                                          for request in asked}
    told = [results_of(request.body or {}) for request in asked]
    assert "A Supabase project is a PostgreSQL database" in told[1]
    assert DESCRIBED in json.dumps(asked[0].body)
    (result,) = (suite.root / "results/walls").rglob("result.json")
    assert ("sandbox", "claude-opus-4-6") == tuple(json.loads(result.read_text())[name] for name in ("lane", "model"))
    assert [] == files_with(suite.root.parent, key)
