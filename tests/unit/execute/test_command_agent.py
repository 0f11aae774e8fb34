"""The agent `command`: any program, how it is started, what is kept of it, and how its run ends."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import AgentConfig, Command, Limits, Setup
from evalkit.errors import UserError
from evalkit.execute.agents import command as module
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.registry import Agents
from evalkit.execute.models.provider import Endpoint, Endpoints
from evalkit.execute.outcome import AgentError, Ending
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Ended, Event, Limit, Message, read_events
from evalkit.plan.trials import Subject
from evalkit.values import evolve
from tests.processes import proc_files
from tests.unit.execute.make import a_job, case, trial

ENDPOINT = Endpoint("http://127.0.0.1:1", "AI_GATEWAY_API_KEY", "vck_dummy-key")
ENDPOINTS = Endpoints({ENDPOINT.variable: ENDPOINT.key}, ENDPOINT.url)
MODEL = "anthropic/claude-x-1.5"


def job(folder: Path, *words: str, model: str | None = None, time: int = 20, **config: Any) -> Job:
    for name in ("work/workspace", "work/home", "entry"):
        (folder / name).mkdir(parents=True)
    unit = case(agent=AgentConfig("command", command=Command(words, 0) if words else None, **config),
                limits=Limits(time=time))
    of = evolve(trial(unit, "command"), subject=Subject("command", model))
    return a_job(trial=of, root=folder, workspace=folder / "work/workspace", home=folder / "work/home",
                 env={"PATH": os.environ["PATH"]}, transcript=folder / "entry/transcript.jsonl",
                 redactor=Redactor.of({"AI_GATEWAY_API_KEY": ENDPOINT.key}))


def play(of: Job, endpoints: Endpoints | None = ENDPOINTS, name: str = "command") -> Ending:
    return Agents(endpoints, None, of.root).of(Subject(name)).run(of)


def told(of: Job) -> list[Event]:
    return list(read_events(of.transcript))


def test_the_prompt_is_its_input_and_its_output_is_what_it_said(tmp_path: Path) -> None:
    """It works in the workspace; its last words are its output's."""
    of = job(tmp_path, "sh", "-c", "cat > prompt.txt; echo It is; echo done.", suffix="Be brief.")
    ending = play(of)

    assert ("completed", "its program ended with exit status 0", ()) == (ending.status, ending.detail, ending.notes)
    assert "Say hello.\n\nBe brief.\n" == (of.workspace / "prompt.txt").read_text()
    assert ["Say hello.\n\nBe brief.\n", "It is\ndone."] == [event.text for event in told(of)
                                                            if isinstance(event, Message)]
    assert "It is\ndone." == next(event for event in told(of) if isinstance(event, Ended)).text
    assert "It is\ndone.\n" == of.transcript.with_suffix(".stdout").read_text()


def test_placeholders_stand_for_what_they_name(tmp_path: Path) -> None:
    """Each stays one word. With `{prompt_file}` nothing comes on standard input."""
    script = "import sys; print(sys.argv[1:], sys.stdin.read(), open(sys.argv[1]).read())"
    of = job(tmp_path, sys.executable, "-c", script, "{prompt_file}", "{workspace}", "{home}", "{project}/x",
             "-m={model}", model=MODEL)
    play(of)
    home = of.home
    said = of.transcript.with_suffix(".stdout").read_text()
    assert said.startswith(str([f"{home}/prompt.md", str(of.workspace), str(home), f"{tmp_path}/x", f"-m={MODEL}"]))
    assert said.endswith("]  Say hello.\n\n")


def test_its_environment_is_made_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person's but PATH; where its model is; the case's variables; a home of its own."""
    monkeypatch.setenv("SOMETHING_PRIVATE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-person")
    of = job(tmp_path, sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))",
             env=(("MODE", "fast"),))
    play(evolve(of, endpoint=Endpoint("http://127.0.0.1:2", "AI_GATEWAY_API_KEY", "lease-token")))
    env = json.loads(of.transcript.with_suffix(".stdout").read_text())
    known = {name: value for name, value in env.items() if not name.startswith(("EVALKIT_", "LC_"))}

    assert {"PATH": os.environ["PATH"], "MODE": "fast", "HOME": str(of.home), "ANTHROPIC_API_KEY": "",
            "GIT_CEILING_DIRECTORIES": str(of.workspace.parent), "ANTHROPIC_BASE_URL": "http://127.0.0.1:2",
            "ANTHROPIC_AUTH_TOKEN": "lease-token"} == known


def test_it_is_told_of_every_protocol_in_which_its_model_can_be_asked(tmp_path: Path) -> None:
    """Whatever client it uses; a model is named as the first of them names it."""
    of = job(tmp_path, sys.executable, "-c", "import json, os, sys; print(json.dumps([dict(os.environ), sys.argv[1]]))",
             "{model}", model=MODEL)
    one = Endpoint("http://127.0.0.1:2", "AI_GATEWAY_API_KEY", "lease-token")
    other = Endpoint("http://127.0.0.1:2/v1", "AI_GATEWAY_API_KEY", "lease-token", protocol="openai")
    play(evolve(of, endpoint=one, endpoints=(one, other)))
    env, model = json.loads(of.transcript.with_suffix(".stdout").read_text())
    assert ("http://127.0.0.1:2", "http://127.0.0.1:2/v1") == (env["ANTHROPIC_BASE_URL"], env["OPENAI_BASE_URL"])
    assert ("lease-token", MODEL) == (env["OPENAI_API_KEY"], model)


def test_without_a_key_it_runs_without_a_model(tmp_path: Path) -> None:
    """A program that asks none needs none."""
    of = job(tmp_path, "sh", "-c", "test -z \"$ANTHROPIC_BASE_URL$ANTHROPIC_API_KEY\"")
    assert "its program ended with exit status 0" == play(of, None).detail


@pytest.mark.parametrize(("script", "detail", "note"), [
    ("echo half >half; echo gave up >&2; exit 3", "its program ended with exit status 3",
     "it ended with exit status 3: gave up"),
    ("kill -SEGV $$", "its program ended with signal 11", "it ended with signal 11"),
])
def test_a_program_that_gives_up_has_done_its_work(script: str, detail: str, note: str, tmp_path: Path) -> None:
    """What it left is graded: crashing is its own doing. The result says it."""
    ending = play(job(tmp_path, "sh", "-c", script))
    assert ("completed", detail, (note,)) == (ending.status, ending.detail, ending.notes)


@pytest.mark.parametrize(("script", "said", "transient"), [
    ("echo overloaded >&2; exit 75", "the agent's program says that it was failed (exit status 75): overloaded", True),
    ("exit 69", "the agent's program says that it was failed (exit status 69)", False),
    ("no-such-program-anywhere", "the agent's program could not start something it needs (exit status 127)", False),
    ("kill -KILL $$", "the agent's program was killed", False),
])
def test_what_is_no_fault_of_its_is_an_error(script: str, said: str, transient: bool, tmp_path: Path) -> None:
    """A provider that failed it, by its own word, and a machine that cannot run it: nothing is graded."""
    with pytest.raises(AgentError) as raised:
        play(job(tmp_path, "sh", "-c", script))
    assert raised.value.message.startswith(said)
    assert transient == raised.value.transient


def test_the_time_limit_ends_it_with_all_that_it_started(tmp_path: Path) -> None:
    """A timeout, with what it said until then."""
    of = job(tmp_path, "sh", "-c", "echo begun; (setsid sleep 61.75 &); sleep 60", time=1)
    ending = play(of)

    assert ("timeout", "ended after its 1 s") == (ending.status, ending.detail)
    assert ["begun"] == [event.text for event in told(of) if isinstance(event, Message)][1:]
    assert ["time"] == [event.what for event in told(of) if isinstance(event, Limit)]
    running = [path.read_bytes() for path in proc_files("cmdline") if _readable(path)]
    assert not [words for words in running if b"61.75" in words]


def _readable(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


def test_output_is_kept_up_to_a_size_and_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More is said, not kept."""
    monkeypatch.setattr(module, "KEPT", 1000)
    of = job(tmp_path, "sh", "-c", f"echo {ENDPOINT.key}; seq 1000; seq 1000 >&2")
    ending = play(of)
    kept = of.transcript.with_suffix(".stdout").read_text()

    assert 1000 <= len(kept) <= 1001
    assert ["output", "error"] == [note.split()[2] for note in ending.notes]
    assert ENDPOINT.key not in kept + of.transcript.read_text()


def test_what_is_not_kept_costs_no_cleaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that prints without end would else keep evalkit busy; its last words are without keys still."""
    monkeypatch.setattr(module, "KEPT", 100)
    cleaned = []

    class Counting:
        def clean(self, data: bytes) -> bytes:
            cleaned.append(data)
            return data.replace(b"secret", b"***")

    kept = module._Kept(io.BytesIO(), Counting())  # type: ignore[arg-type]
    for _ in range(10_000):
        kept.keep(b"hello")
    kept.keep(b"a secret")
    assert len(cleaned) < 30
    assert kept.end.endswith(b"hello\na ***")
    assert 60_009 == kept.size


def test_a_missing_program_is_the_persons_mistake(tmp_path: Path) -> None:
    """Its command line is wrong: status 2."""
    with pytest.raises(UserError, match="cannot start `no-such-agent`"):
        play(job(tmp_path, "no-such-agent"))


def test_a_command_line_can_be_given_for_a_run(tmp_path: Path) -> None:
    """It wins over the case's."""
    of = job(tmp_path, "false")
    assert "its program ended with exit status 0" == play(of, name="command:sh -c 'exit 0'").detail


@pytest.mark.parametrize(("line", "said"), [
    ("sh -c 'x", "agent=command:sh -c 'x cannot be split into words"),
    ("my-agent {promt_file}", "agent=command:my-agent {promt_file} has no value for `{promt_file}`"),
    ("  ", "agent=command: names no program"),
])
def test_a_command_line_that_is_none(line: str, said: str) -> None:
    """It is told before anything runs."""
    with pytest.raises(UserError) as raised:
        Agents(None, None).of(Subject(f"command:{line}"))
    assert raised.value.message.startswith(said)


def test_a_case_without_a_command_line_says_what_to_add(tmp_path: Path) -> None:
    """Which is asked for when its trials are made."""
    of = job(tmp_path)
    with pytest.raises(UserError, match="case `greeting` has no command line"):
        Agents(None, None).given(Subject("command"), of.trial.case)


def test_the_projects_files_that_it_names_are_its_version(tmp_path: Path) -> None:
    """And nothing else is: a placeholder within a word, or a way out, names no file of the project."""
    of = job(tmp_path, "python", "{project}/agents/mine.py", "{project}/../x", "--at={project}/y", "{project}/a/")
    assert (("program agents/mine.py", "agents/mine.py"), ("program a", "a")) == Agents(None, None).given(
        Subject("command"), of.trial.case)


def test_it_says_what_it_cannot_do() -> None:
    """What a program does not get would be measured as if it had it."""
    asked = case(agent=AgentConfig("command", allow=("Read",), permissions="skip", seed=1),
                 setup=evolve(case().setup, answer="a.py"))
    assert isinstance(asked.setup, Setup)
    assert ["`allow`", "`seed`", "`answer`"] == Agents(None, None).of(
        Subject("command")).cannot(asked)


def test_what_would_be_started_is_shown_without_the_key(tmp_path: Path) -> None:
    """For a dry run."""
    of = job(tmp_path, "my-agent", "{model}", model=MODEL)
    shown = Agents(ENDPOINTS, None, of.root).of(Subject("command", MODEL)).describe(of)
    assert f"my-agent {MODEL}" in shown
    assert "ANTHROPIC_AUTH_TOKEN=[AI_GATEWAY_API_KEY redacted]" in shown
    assert ENDPOINT.key not in shown
