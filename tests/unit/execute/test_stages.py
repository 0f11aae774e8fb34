"""The stages from scaffold to final tree, with small shell commands and agents that do one thing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from evalkit.analysis.model import Case, Command, Scaffold, Setup, Skill, Toolchain
from evalkit.digest import digest
from evalkit.errors import HarnessError, UserError
from evalkit.execute import layers as layers_module
from evalkit.execute import pack as pack_module
from evalkit.execute import stages
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.registry import Agents
from evalkit.execute.budget import Budget, BudgetReached
from evalkit.execute.outcome import TRANSCRIPT, TREE, AgentError, AgentRecord, Ending, Usage, agent_record
from evalkit.execute.retry import RetryPolicy
from evalkit.execute.session import Session
from evalkit.execute.store_entry import seal
from evalkit.execute.tree import read_files, unpack
from evalkit.plan.keys import agent_inputs, template_inputs, workspace_inputs
from evalkit.plan.trials import AgentTraits, Subject, Trial
from evalkit.records import read_json, read_record, write_json

from .make import TRAITS, case, session, setup, sh, toolchain, trial

DONE = Ending("completed", "done", Usage(turns=1, cost=0.5))
CHEAP = AgentTraits("1", frozenset(), sampled=False, builds=False)


@frozen
class Fake:
    """An agent that does what it is given."""

    work: Callable[[Job], Any] = field(default=lambda _: None)
    traits: AgentTraits = TRAITS
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        return []

    def run(self, job: Job) -> Ending:
        ending = self.work(job)
        return ending if isinstance(ending, Ending) else DONE

    def describe(self, job: Job) -> str:
        return f"runs in {job.workspace.name}"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def here(tmp_path: Path, said: list[str]) -> Session:
    return session(tmp_path, said)


def make_template(here: Session, what: Setup) -> str:
    return stages.make_template(here, what, inputs=template_inputs(what, here.contents))


def make_workspace(here: Session, what: Setup) -> str:
    return stages.make_workspace(here, what, inputs=workspace_inputs(what, here.contents))


def run_agent(here: Session, of: Trial, agent: Any, **options: Any) -> AgentRecord:
    return stages.run_agent(here, of, agent, inputs=agent_inputs(of, here.contents), **options)


def scaffold(command: Command) -> Setup:
    return setup(scaffold=Scaffold(command, None, "suite.eval:4:3"))


def files(here: Session, kind: str, key: str) -> dict[str, str | None]:
    """The files of a kept tree with their text; None for a folder."""
    target = here.root.parent / f"{kind}-{len(list(here.root.parent.iterdir()))}"
    unpack(here.store.path(kind, key) / TREE, target)
    return {path.relative_to(target).as_posix(): path.read_text() if path.is_file() else None
            for path in target.rglob("*")}


def put(here: Session, name: str, text: str) -> None:
    path = here.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def nothing_kept(here: Session, kind: str) -> bool:
    """Neither an entry nor anything half-made, and no scratch folder."""
    store = here.places.store
    return (not list((store / kind).rglob("*")) and not list((store / "making").iterdir())
            and not list(here.places.work.iterdir()))


def play(here: Session, agent: Fake, of: Trial | None = None, **options: Any) -> AgentRecord:
    """A run with all that comes before it."""
    played = of or trial()
    make_template(here, played.case.setup)
    make_workspace(here, played.case.setup)
    return run_agent(here, played, agent, **options)


# ---- templates ----
def test_a_template_by_command(here: Session) -> None:
    """The command makes the folder that {workspace} names; the scratch folder is gone afterwards."""
    what = scaffold(Command(("sh", "-c", 'mkdir "$0" && echo made > "$0/file"', "{workspace}"), 10))
    assert {"file": "made\n"} == files(here, "template", make_template(here, what))
    assert [] == list(here.places.work.iterdir())


def test_a_template_by_copy(here: Session) -> None:
    """The folder of the project, but for the caches of the case."""
    put(here, "base/src/main", "x")
    put(here, "base/.cache/big", "x")
    what = setup(scaffold=Scaffold(None, "base", "suite.eval:4:3"), caches=(".cache",))
    assert {"src": None, "src/main": "x"} == files(here, "template", make_template(here, what))


@pytest.mark.parametrize(("command", "message"), [
    (sh("echo starting; echo it broke >&2; exit 3"),
     "the scaffold command failed (exit status 3), declared at suite.eval:4:3\n"
     "  $ sh -c 'echo starting; echo it broke >&2; exit 3'\n  | starting\n  | it broke"),
    (sh("mkdir app; sleep 30", 1), "the scaffold command failed (time limit of 1 s)"),
    (sh("true"), "the scaffold command made no folder at {workspace} (suite.eval:4:3)"),
    (sh("ln -s /tmp app"), "the scaffold command made no folder"),
    (sh("touch app"), "the scaffold command made no folder"),
])
def test_a_failing_scaffold(command: Command, message: str, here: Session) -> None:
    """The author's error: the command with its own words, and nothing is kept."""
    with pytest.raises(UserError) as raised:
        make_template(here, scaffold(command))
    assert raised.value.message.startswith(message)
    assert nothing_kept(here, "template")


def test_a_scaffold_whose_program_is_missing(here: Session) -> None:
    """The hint asks for the toolchain."""
    with pytest.raises(HarnessError, match="the scaffold command cannot start: cannot start `no-such`") as raised:
        make_template(here, scaffold(Command(("no-such",), 10)))
    assert "toolchain" in raised.value.hint


def test_a_scaffold_folder_that_is_not_there(here: Session) -> None:
    """An error, not an empty template."""
    with pytest.raises(UserError, match="there is no folder"):
        make_template(here, setup(scaffold=Scaffold(None, "missing", "suite.eval:4:3")))


def test_a_template_that_is_too_large(here: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents must not start from a tree that was cut off without a word."""
    monkeypatch.setattr(pack_module, "MAX_ENTRIES", 3)
    with pytest.raises(UserError, match="makes a tree that is too large") as raised:
        make_template(here, scaffold(sh("mkdir app; cd app; touch 1 2 3 4 5")))
    assert "caches" in raised.value.hint
    assert "this and what follows: the tree has over 3 entries" in raised.value.message
    assert nothing_kept(here, "template")


def test_what_a_template_leaves_out_is_said(here: Session, said: list[str]) -> None:
    """A link that leads out of it, for one."""
    make_template(here, scaffold(sh("mkdir app; ln -s /usr app/usr")))
    assert ["the scaffold at suite.eval:4:3: left out usr: a link that leads outside or in a circle"] == said


def test_a_scaffold_that_is_edited_while_it_is_copied(here: Session) -> None:
    """What was made belongs neither to the key of before nor to that of now: it is not kept, and the file is named."""
    put(here, "base/file", "before")
    what = setup(scaffold=Scaffold(None, "base", "suite.eval:4:3"))
    inputs = template_inputs(what, here.contents)
    put(here, "base/file", "after")
    with pytest.raises(HarnessError) as raised:
        stages.make_template(here, what, inputs=inputs)
    assert "scaffold base changed since this run began\n  run again: nothing was kept" == str(raised.value)
    assert nothing_kept(here, "template")


# ---- workspaces ----
def test_a_starter_that_is_edited_while_it_is_laid_down(here: Session) -> None:
    """No workspace is kept under the key of what was there before."""
    put(here, "starter/file", "before")
    what = setup(starter="starter")
    inputs = workspace_inputs(what, here.contents)
    make_template(here, what)
    put(here, "starter/file", "after")
    with pytest.raises(HarnessError, match="starter starter changed since this run began"):
        stages.make_workspace(here, what, inputs=inputs)
    assert nothing_kept(here, "workspace")


def workspace(here: Session, what: Setup) -> dict[str, str | None]:
    make_template(here, what)
    return files(here, "workspace", make_workspace(here, what))


def test_a_workspace_is_the_template_with_the_starter(here: Session) -> None:
    """The starter's files win; executables stay so."""
    put(here, "starter/file", "started")
    put(here, "starter/new", "new")
    assert {"file": "started", "new": "new"} == workspace(here, setup(starter="starter"))


def test_small_workspaces_are_made_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And are, in all that the store has of them, those that are made in one."""
    made = []
    for place in ("memory", "disk"):
        if place == "disk":
            monkeypatch.setattr(layers_module, "LIGHT", -1)
        (tmp_path / place).mkdir()
        here = session(tmp_path / place)
        put(here, "starter/file", "started")
        put(here, "skills/ours/SKILL.md", "# ours")
        what = setup(starter="starter", skills=(Skill("ours", None, "skills/ours", "s:1:1"),), caches=("cache",))
        make_template(here, what)
        with monkeypatch.context() as patch:
            if place == "memory":
                patch.setattr(Session, "desk", None)
            key = make_workspace(here, what)
        entry = here.store.manifest("workspace", key)
        assert entry is not None
        assert (place == "disk") is ("tree.json" in entry.files)
        made.append([entry.files[TREE], entry.inputs, idle(here, what).tree])
        again = session(tmp_path / place)
        assert made[-1][-1] == idle(again, what, number=2).tree  # also where another process made the workspace
    assert made[0] == made[1]


def idle(here: Session, what: Setup, number: int = 1) -> AgentRecord:
    """The run of an agent that does nothing, in a project whose workspace was made."""
    agent = Agents(None, None).of(Subject("nop"))
    one = Trial(case(setup=what), Subject("nop"), agent.traits, number, "latest")
    record = run_agent(here, one, agent)
    here.store.remove("agent", record.key)
    return record


def test_skills_are_delivered(here: Session) -> None:
    """From a folder as it is; from a command what it prints on standard output, and not what it says beside."""
    put(here, "skills/ours/SKILL.md", "# ours")
    put(here, "skills/ours/more/notes.md", "notes")
    printed = Command(("sh", "-c", 'echo "npm warn" >&2; echo "# $0"', "{skill}"), 10)
    skills = (Skill("ours", None, "skills/ours", "s:1:1"), Skill("x", printed, None, "s:2:1"))
    made = workspace(here, setup(skills=skills))
    assert "# ours" == made[".claude/skills/ours/SKILL.md"]
    assert "notes" == made[".claude/skills/ours/more/notes.md"]
    assert "# x\n" == made[".claude/skills/x/SKILL.md"]


def test_a_linked_skill_is_a_link_within_the_workspace(here: Session) -> None:
    """Its files are there once; what the starter has in the link's place gives way; it is another workspace's key."""
    put(here, "skills/ours/SKILL.md", "# ours")
    put(here, "starter/.claude/skills/ours/old.md", "old")
    copied = setup(starter="starter", skills=(Skill("ours", None, "skills/ours", "s:1:1"),))
    linked = setup(starter="starter", skills=(Skill("ours", None, "skills/ours", "s:1:1", linked=True),))
    make_template(here, linked)
    key = make_workspace(here, linked)
    assert key != make_workspace(here, copied)
    target = here.root.parent / "unpacked"
    unpack(here.store.path("workspace", key) / TREE, target)
    link = target / ".claude/skills/ours"
    assert (True, "../../.agents/skills/ours") == (link.is_symlink(), str(link.readlink()))
    assert ["SKILL.md"] == [path.name for path in link.iterdir()]
    assert "# ours" == (link / "SKILL.md").read_text()
    record = idle(here, linked)
    assert {".agents/skills/ours/SKILL.md", ".claude/skills/ours"} <= {*record.tree.files}


def test_who_looks_where_linked_skills_are_finds_them_there(here: Session) -> None:
    """No link leads to itself."""
    put(here, "skills/ours/SKILL.md", "# ours")
    what = setup(skills=(Skill("ours", None, "skills/ours", "s:1:1", linked=True),))
    make_template(here, what)
    inputs = workspace_inputs(what, here.contents, ".agents/skills")
    key = stages.make_workspace(here, what, inputs=inputs, skills_folder=".agents/skills")
    assert {".agents", ".agents/skills", ".agents/skills/ours", ".agents/skills/ours/SKILL.md"} == {
        name for name in files(here, "workspace", key) if name.startswith(".")}


@pytest.mark.parametrize("printed", [False, True])
def test_skills_are_where_the_agent_looks_for_them(printed: bool, here: Session) -> None:
    """Also in a workspace that is put together in memory; such a workspace has a key of its own."""
    put(here, "skills/ours/SKILL.md", "# ours")
    skills = (Skill("ours", None, "skills/ours", "s:1:1"),
              *([Skill("x", Command(("echo", "# x"), 10), None, "s:2:1")] if printed else []))
    what = setup(skills=skills)
    make_template(here, what)
    usual, other = make_workspace(here, what), workspace_inputs(what, here.contents, ".other/skills")
    key = stages.make_workspace(here, what, inputs=other, skills_folder=".other/skills")
    assert key != usual
    assert "# ours" == files(here, "workspace", key)[".other/skills/ours/SKILL.md"]
    assert ".claude" not in files(here, "workspace", key)


@pytest.mark.parametrize(("command", "kind", "message"), [
    (sh("echo oops >&2"), UserError, "skill `x`: its command printed nothing (s:2:1)"),
    (sh("echo part; echo why >&2; exit 1"), UserError,
     "skill `x`: its command failed (exit status 1), declared at s:2:1\n"
     "  $ sh -c 'echo part; echo why >&2; exit 1'\n  | part\n  | why"),
    (Command(("no-such",), 10), HarnessError, "skill `x`: its command cannot start: cannot start `no-such`"),
])
def test_a_skill_that_cannot_be_had(command: Command, kind: type[Exception], message: str, here: Session) -> None:
    """Without its skill there is no workspace."""
    what = setup(skills=(Skill("x", command, None, "s:2:1"),))
    make_template(here, what)
    with pytest.raises(kind) as raised:
        make_workspace(here, what)
    assert str(raised.value).startswith(message)
    assert nothing_kept(here, "workspace")


def test_keys_stay_out_of_a_failed_commands_words(tmp_path: Path) -> None:
    """A command that finds a key somewhere and prints it does not put it on the screen."""
    here = session(tmp_path, environ={"OPENAI_API_KEY": "sk-12345678"})
    with pytest.raises(UserError) as raised:
        make_template(here, scaffold(sh("echo sk-1234''5678; exit 1")))
    assert "| [OPENAI_API_KEY redacted]" in str(raised.value)
    assert "sk-12345678" not in str(raised.value)


# ---- agents ----
def test_a_run_is_kept_with_its_tree_and_transcript(here: Session) -> None:
    """Under the key of its inputs; caches are no part of the tree."""

    def work(job: Job) -> None:
        (job.workspace / "file").write_text("changed")
        (job.workspace / "cache").mkdir()
        (job.workspace / "cache/x").touch()
        job.transcript.write_text("a line\n")

    of = trial(case(setup=setup(caches=("cache",))))
    record = play(here, Fake(work), of)
    assert digest(agent_inputs(of, here.contents)) == record.key
    assert record == agent_record(here, record.key)
    assert ({"file": "changed"}, {"file"}) == (files(here, "agent", record.key), set(record.tree.files))
    assert "a line\n" == (here.store.path("agent", record.key) / TRANSCRIPT).read_text()
    assert (DONE, "claude", "anthropic/claude-x-1.5", "1") == (
        record.ending, record.agent, record.model, record.agent_version)
    assert [] == list(here.places.work.iterdir())


def test_an_agent_finds_a_place_of_its_own(here: Session) -> None:
    """The workspace is called `app`, outside the project; home is empty; the harness's folders are off limits."""
    seen: list[Job] = []

    def work(job: Job) -> None:
        seen.append(job)
        assert {"file"} == {path.name for path in job.workspace.iterdir()}
        assert ["tmp"] == [path.name for path in job.home.iterdir()]
        assert not job.workspace.is_relative_to(here.root)

    play(here, Fake(work))
    assert "app" == seen[0].workspace.name
    assert str(seen[0].home) == seen[0].env["HOME"]
    assert (here.root / "cases", here.root / "results", here.root / ".evalkit") == seen[0].off_limits


def test_a_transcript_is_on_the_disk_as_it_streams(here: Session) -> None:
    """While the agent runs its transcript lies in the store's folder for what is being made."""

    def work(job: Job) -> None:
        job.transcript.write_text("half\n")
        assert [job.transcript] == [path for path in (here.places.store / "making").rglob("*") if path.is_file()]

    play(here, Fake(work))


@pytest.mark.parametrize("error", [AgentError("down"), KeyboardInterrupt()])
def test_a_run_that_failed_is_not_kept(error: BaseException, here: Session) -> None:
    """Neither the provider's failure nor an interrupted run is an outcome."""

    def work(_: Job) -> None:
        raise error

    with pytest.raises((AgentError, KeyboardInterrupt)):
        play(here, Fake(work))
    assert nothing_kept(here, "agent")


def test_keys_are_taken_out_of_the_tree(tmp_path: Path) -> None:
    """An agent that writes a key into a file leaves its name there."""
    here = session(tmp_path, environ={"OPENAI_API_KEY": "sk-12345678"})
    record = play(here, Fake(lambda job: (job.workspace / "env").write_text("KEY=sk-12345678")))
    assert "KEY=[OPENAI_API_KEY redacted]" == files(here, "agent", record.key)["env"]


def test_what_an_agent_leaves_leads_nowhere(here: Session, tmp_path: Path) -> None:
    """Links out of the workspace are left out and said; a workspace that became a link is an empty tree."""
    (tmp_path / "secret").write_text("x")
    record = play(here, Fake(lambda job: (job.workspace / "link").symlink_to(tmp_path / "secret")))
    assert ("link: a link that leads outside or in a circle",) == record.tree.left_out

    def replace(job: Job) -> None:
        job.workspace.rename(job.workspace.with_name("away"))
        job.workspace.symlink_to(tmp_path)

    record = play(here, Fake(replace), trial(number=2))
    assert {} == record.tree.files
    assert (tmp_path / "secret").exists()


def test_prewarm_runs_where_it_pays(here: Session, said: list[str]) -> None:
    """In the workspace of an agent that builds, before it, on no clock of its own; for others not at all."""
    warm = case(setup=setup(prewarm=(sh("mkdir cache; echo warm > cache/x"),), caches=("cache",)))
    seen: list[bool] = []
    agent = Fake(lambda job: seen.append((job.workspace / "cache/x").exists()))
    record = play(here, agent, trial(warm))
    assert record.prewarm_seconds > 0
    assert ["file"] == list(record.tree.files)
    assert ["prewarm: sh -c mkdir cache; echo warm > cache/x"] == said
    record = play(here, Fake(agent.work, CHEAP), Trial(warm, Subject("nop"), CHEAP, 1, "latest"))
    assert [True, False] == seen
    assert 0 == record.prewarm_seconds


def test_a_failing_prewarm_is_not_the_agents_fault(here: Session) -> None:
    """The set-up is broken: no agent runs, nothing is kept."""

    def work(_: Job) -> None:
        raise AssertionError

    with pytest.raises(UserError, match="the prewarm failed"):
        play(here, Fake(work), trial(case(setup=setup(prewarm=(sh("exit 1"),)))))
    assert nothing_kept(here, "agent")


def test_a_missing_toolchain_is_told_before_the_work(here: Session, said: list[str]) -> None:
    """The agent's own program is looked for before minutes of prewarm."""
    of = trial(case(setup=setup(prewarm=(sh("true"),))))
    with pytest.raises(HarnessError, match="toolchain `tools` is not installed"):
        play(here, Fake(toolchain=toolchain(npm=("x@1",))), of)
    assert [] == said


def test_a_workspace_can_be_kept(tmp_path: Path, said: list[str]) -> None:
    """Where it is is said, also where the agent fails; the agent's home with its notes is not kept."""
    here = session(tmp_path, said, keep_workspaces=True)
    play(here, Fake(lambda job: (job.home / "notes").touch()))
    kept = Path(said[0].removeprefix("workspace kept: "))
    assert (kept / "file").is_file()
    assert not (kept.parent / "home").exists()

    def work(_: Job) -> None:
        raise AgentError("down")

    with pytest.raises(AgentError):
        play(here, Fake(work), trial(number=2))
    assert Path(said[1].removeprefix("workspace kept: ")).is_dir()


def test_a_dry_run_starts_nothing(here: Session, said: list[str]) -> None:
    """What would run is said, and the untouched workspace is the final tree."""

    def work(_: Job) -> None:
        raise AssertionError

    record = play(here, Fake(work), trial(dry=True, run="dry"))
    assert ["runs in app"] == said
    assert ("dry run: no model was called", {"file"}) == (record.ending.detail, set(record.tree.files))


def test_a_damaged_record_is_told(here: Session) -> None:
    """No entry is None, as one that its digests tell is damaged; one with sound digests, but without its record or with
    a broken one (somebody made it so, and it was imported), names the folder to delete.
    """
    assert agent_record(here, "ab" * 32) is None
    record = play(here, Fake())
    path = here.store.path("agent", record.key) / "agent.json"
    path.write_text("{")
    assert agent_record(here, record.key) is None
    assert not here.store.has("agent", record.key)
    path.parent.mkdir()
    path.write_text("{")
    seal(path.parent, "agent", record.key, durable=True, inputs={})
    with pytest.raises(HarnessError, match="a kept agent run is damaged") as raised:
        agent_record(here, record.key)
    assert f"delete {path.parent}: the agent runs again" == raised.value.hint
    path.unlink()
    seal(path.parent, "agent", record.key, durable=True, inputs={})
    with pytest.raises(HarnessError, match=r"it has no agent\.json"):
        agent_record(here, record.key)


def test_a_file_that_is_edited_before_the_agent_starts(here: Session) -> None:
    """Nothing is paid for: the agent does not start, and the next run takes the file as it is then."""

    def work(_: Job) -> None:
        raise AssertionError

    put(here, "starter/file", "before")
    of = trial(case(setup=setup(starter="starter")))
    inputs = agent_inputs(of, here.contents)
    make_template(here, of.case.setup)
    make_workspace(here, of.case.setup)
    put(here, "starter/file", "after")
    with pytest.raises(HarnessError, match="workspace changed since this run began"):
        stages.run_agent(here, of, Fake(work), inputs=inputs)
    assert nothing_kept(here, "agent")


def test_an_edit_while_the_agent_works_costs_nothing(here: Session) -> None:
    """What was paid for is kept, under the key of what the agent was given."""
    put(here, "starter/file", "before")
    of = trial(case(setup=setup(starter="starter")))
    inputs = agent_inputs(of, here.contents)
    record = play(here, Fake(lambda _: put(here, "starter/file", "after")), of)
    assert (digest(inputs), record) == (record.key, agent_record(here, digest(inputs)))


# ---- attempts ----
def overloaded(cost: float | None = 0.25) -> AgentError:
    return AgentError("overloaded (529)", hint="run again", transient=True, usage=Usage(turns=3, cost=cost))


class Failing:
    """An agent's work that fails with each of these in turn, and then does what it should."""

    def __init__(self, *errors: AgentError) -> None:
        self.errors = list(errors)
        self.jobs: list[Job] = []

    def __call__(self, job: Job) -> None:
        self.jobs.append(job)
        assert {"file"} == {path.name for path in job.workspace.iterdir()}
        (job.workspace / "traces").touch()
        job.transcript.write_text(f"line {len(self.jobs)}\n")
        job.transcript.with_suffix(".stderr").write_text(f"said {len(self.jobs)}\n")
        if self.errors:
            raise self.errors.pop(0)


def quick(slept: list[float] | None = None, retries: int = 2) -> RetryPolicy:
    return RetryPolicy(retries=retries, sleep=(slept if slept is not None else []).append, random=lambda: 1.0)


def test_what_passes_by_itself_is_tried_again(here: Session, said: list[str]) -> None:
    """In a fresh workspace; what failed is told with the result, and what it cost is not its own usage."""
    work, slept = Failing(overloaded(), overloaded(0.5)), list[float]()
    record = play(here, Fake(work), policy=quick(slept))
    assert 3 == len(work.jobs) == len({job.workspace for job in work.jobs}) == record.attempts
    assert [1.0, 2.0] == slept
    assert ["overloaded (529): again in 1.0 s (retry 1 of 2)",
            "overloaded (529): again in 2.0 s (retry 2 of 2)"] == said
    assert ("2 attempts before failed (for $0.75): overloaded (529)",) == record.ending.notes
    assert (DONE.usage, (Usage(turns=3, cost=0.25), Usage(turns=3, cost=0.5))) == (record.ending.usage, record.failed)
    assert (1.25, 1.25) == (record.paid, here.budget.spent)
    assert record == agent_record(here, record.key)
    assert "line 3\n" == (here.store.path("agent", record.key) / TRANSCRIPT).read_text()


def test_what_stays_is_told_with_its_attempts(here: Session) -> None:
    """After the last retry nothing is kept; all that was spent is counted."""
    with pytest.raises(AgentError) as raised:
        play(here, Fake(Failing(overloaded(), overloaded(None), overloaded())), policy=quick())
    assert "overloaded (529) (after 3 attempts)" == raised.value.message
    assert (0.5, {"agent run": 1}) == (here.budget.spent, here.budget.unknown)
    assert nothing_kept(here, "agent")


def test_other_failures_are_not_tried_again(here: Session) -> None:
    """A refused key, a killed program: another attempt would cost and change nothing."""
    work = Failing(AgentError("refused", usage=Usage(cost=0.0)), overloaded())
    with pytest.raises(AgentError, match=r"^refused"):
        play(here, Fake(work), policy=quick())
    assert 1 == len(work.jobs)
    with pytest.raises(AgentError, match=r"^overloaded \(529\)\n"):
        play(here, Fake(work), policy=quick(retries=0))
    assert 2 == len(work.jobs)


def test_a_provider_that_names_a_time(here: Session) -> None:
    """It is waited for; where it is too long there is no other attempt."""
    slept: list[float] = []
    play(here, Fake(Failing(AgentError("busy", transient=True, retry_after=7.0))), policy=quick(slept))
    assert [8.0] == slept
    with pytest.raises(AgentError, match="busy"):
        play(here, Fake(Failing(AgentError("busy", transient=True, retry_after=7000.0))), trial(number=2),
             policy=quick(slept))


def test_what_a_failed_attempt_printed_can_be_seen(here: Session) -> None:
    """Outside the store, an attempt a file; the error says where."""
    folder = here.root / "results/failed"
    with pytest.raises(AgentError) as raised:
        play(here, Fake(Failing(overloaded(), overloaded())), policy=quick(retries=1), failed=folder)
    assert {"attempt-1.jsonl": "line 1\n", "attempt-1.stderr": "said 1\n", "attempt-2.jsonl": "line 2\n",
            "attempt-2.stderr": "said 2\n"} == {path.name: path.read_text() for path in folder.iterdir()}
    assert f"run again\n  what it printed: {folder / 'attempt-2.jsonl'}" == raised.value.hint
    assert nothing_kept(here, "agent")
    play(here, Fake(), failed=folder)
    assert not folder.exists()


def test_what_cannot_be_shown_hides_nothing(here: Session) -> None:
    """The failure itself is told."""
    put(here, "failed", "a file")
    with pytest.raises(AgentError, match="overloaded") as raised:
        play(here, Fake(Failing(overloaded())), policy=quick(retries=0), failed=here.root / "failed")
    assert "run again" == raised.value.hint


def test_no_agent_starts_once_the_budget_is_reached(here: Session) -> None:
    """Neither a first attempt nor another one; nothing is set up for it. What was running is kept."""
    here.budget = Budget(0.25)
    prewarmed = trial(case(setup=setup(prewarm=(sh("exit 1"),))), number=3)
    work = Failing(overloaded())
    with pytest.raises(BudgetReached):
        play(here, Fake(work), policy=quick())
    assert 1 == len(work.jobs)
    with pytest.raises(BudgetReached):
        play(here, Fake(work), prewarmed, policy=quick())
    here.budget = Budget(0.25)
    assert 0.5 == play(here, Fake(), trial(number=2)).ending.usage.cost
    assert here.budget.reached


def test_a_budget_that_is_reached_while_the_workspace_is_set_up(here: Session) -> None:
    """It is asked once more right before the agent starts: a prewarm takes minutes."""
    here.budget = Budget(1.0)
    here.say = lambda _: here.budget.spend(1.0, "agent run")
    work = Failing()
    with pytest.raises(BudgetReached):
        play(here, Fake(work), trial(case(setup=setup(prewarm=(sh("true"),)))))
    assert [] == work.jobs


def test_what_costs_nothing_needs_no_budget(here: Session) -> None:
    """Agents that call no model, and dry runs."""
    here.budget = Budget(0.0)
    play(here, Fake(traits=CHEAP), Trial(case(), Subject("oracle"), CHEAP, 1, "latest"))
    play(here, Fake(), trial(dry=True, run="dry"))
    assert (0.0, {}) == (here.budget.spent, here.budget.unknown)


def test_a_record_of_an_earlier_evalkit_has_one_attempt(here: Session) -> None:
    """It was written before attempts were counted."""
    record = play(here, Fake())
    path = here.store.path("agent", record.key) / "agent.json"
    data = read_json(path)
    del data["failed"]
    write_json(path, data)
    assert record == read_record(path, AgentRecord)
    assert (1, 0.5) == (record.attempts, record.paid)


# ---- agents that call no model ----
@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": "sk-12345678"}])
def test_an_idle_agent_leaves_the_workspace_as_it_is(environ: dict[str, str], tmp_path: Path) -> None:
    """The final tree is the workspace, byte for byte; no folder is set up for it. Keys are taken out all the same."""
    here = session(tmp_path, environ=environ)
    put(here, "starter/secret", "sk-12345678")
    of = case(setup=setup(starter="starter", caches=("cache",)))
    agent = Agents(None, None).of(Subject("nop"))
    make_template(here, of.setup)
    workspace = make_workspace(here, of.setup)
    record = run_agent(here, Trial(of, Subject("nop"), agent.traits, 1, "latest"), agent)
    assert record == agent_record(here, record.key)
    kept = [here.store.path(kind, key) / TREE for kind, key in (("workspace", workspace), ("agent", record.key))]
    if environ:
        assert "[OPENAI_API_KEY redacted]" == files(here, "agent", record.key)["secret"]
        return
    assert kept[0].read_bytes() == kept[1].read_bytes()
    worked = run_agent(here, Trial(of, Subject("nop"), agent.traits, 2, "latest"), Fake(traits=CHEAP))
    assert (worked.tree, worked.tree_digest) == (record.tree, record.tree_digest)


def test_an_answer_that_is_edited_while_it_is_laid_down(here: Session) -> None:
    """It costs nothing to lay it down again, so a mixture of two answers is not kept."""
    put(here, "answer/file", "before")
    of = Trial(case(solution="answer"), Subject("oracle"), CHEAP, 1, "latest")
    agent = Fake(lambda _: put(here, "answer/file", "after"), CHEAP)
    with pytest.raises(HarnessError, match="answer answer changed since this run began"):
        play(here, agent, of)
    assert nothing_kept(here, "agent")


def test_the_reference_answer_is_laid_over(here: Session) -> None:
    """The oracle and a wrong answer lay their folder over the workspace; `nop` leaves it."""
    put(here, "answer/file", "right")
    of = case(solution="answer")
    agents = Agents(None, None)
    for name, expected in (("oracle", "right"), ("nop", "made\n")):
        subject = Subject(name)
        agent = agents.of(subject)
        assert agent is agents.of(subject)
        make_template(here, of.setup)
        make_workspace(here, of.setup)
        record = run_agent(here, Trial(of, subject, agent.traits, 1, "latest"), agent)
        assert {"file": expected} == files(here, "agent", record.key)
        assert (0, 0.0) == (record.ending.usage.turns, record.ending.usage.cost)
    found = read_files(here.store.path("agent", record.key) / TREE, ["file"], largest=100)
    assert {"file": b"made\n"} == found


def test_an_answer_that_is_not_there(here: Session) -> None:
    """An error, not an oracle that did nothing."""
    of = case(solution="missing")
    agent = Agents(None, None).of(Subject("oracle"))
    make_template(here, of.setup)
    make_workspace(here, of.setup)
    with pytest.raises(UserError, match="there is no folder"):
        run_agent(here, Trial(of, Subject("oracle"), agent.traits, 1, "latest"), agent)
    assert os.listdir(here.places.work) == []  # noqa: PTH208 - names alone
