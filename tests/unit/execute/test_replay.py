"""The agent `replay:PATH`: what an old transcript tells is laid over the workspace, or it says why it is not known."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from evalkit.errors import UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.registry import Agents
from evalkit.execute.outcome import Ending, Usage
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Ended, Message, Writer
from evalkit.plan.trials import Subject
from evalkit.records import unstructure
from evalkit.values import evolve
from tests.unit.execute.make import a_job, case, trial
from tests.unit.execute.transcripts import Transcript

SECRET = "vck_dummy-key-of-the-test"


def job(folder: Path, files: dict[str, str] | None = None) -> Job:
    for name in ("work/workspace", "work/home", "entry"):
        (folder / name).mkdir(parents=True)
    for name, text in (files or {}).items():
        (folder / "work/workspace" / name).write_text(text)
    of = trial(case(setup=evolve(case().setup, caches=("cache",))), "replay")
    return a_job(trial=of, root=folder, workspace=folder / "work/workspace", home=folder / "work/home", env={},
                 transcript=folder / "entry/transcript.jsonl", redactor=Redactor.of({"AI_GATEWAY_API_KEY": SECRET}))


def play(of: Job, path: str = "old/transcript.jsonl") -> Ending:
    return Agents(None, None, of.root).of(Subject(f"replay:{path}")).run(of)


def tree(of: Job) -> dict[str, str]:
    return {path.relative_to(of.workspace).as_posix(): path.read_text() for path in of.workspace.rglob("*")
            if path.is_file()}


def test_what_it_wrote_is_laid_over_the_workspace(tmp_path: Path) -> None:
    """Writes and edits on today's workspace; the transcript goes with it, without keys."""
    of = job(tmp_path, {"kept.txt": "new here\n", "edited.txt": "one two\n"})
    old = Transcript().write("a/b.txt", "written\n").edit("edited.txt", "two", "three").bash("ls").bash(
        f"echo {SECRET}").end()
    old.save(tmp_path / "old")
    ending = play(of)

    assert {"kept.txt": "new here\n", "edited.txt": "one three\n", "a/b.txt": "written\n"} == tree(of)
    assert ("completed", "replayed: success") == (ending.status, ending.detail)
    assert (0.0, "replayed") == (ending.usage.cost, ending.usage.cost_source)
    assert SECRET not in of.transcript.read_text()
    assert len(old.lines) == len(of.transcript.read_text().splitlines())


def test_what_is_not_known_for_certain_is_an_error(tmp_path: Path) -> None:
    """A file that a shell command may have written cannot be graded."""
    of = job(tmp_path)
    Transcript().write("a.txt", "written\n").bash("make everything").end().save(tmp_path / "old")
    with pytest.raises(UserError) as raised:
        play(of)
    assert raised.value.message.startswith("old/transcript.jsonl cannot be replayed: its tree cannot be rebuilt")


@pytest.mark.parametrize("agent", ["api", "command"])
def test_a_transcript_that_tells_no_files_is_an_error(agent: str, tmp_path: Path) -> None:
    """An agent of ours whose program wrote by itself: its transcript is no picture of its tree."""
    of = job(tmp_path)
    (tmp_path / "old").mkdir()
    with (tmp_path / "old/transcript.jsonl").open("wb") as sink:
        writer = Writer(sink, of.redactor, agent)
        writer.write(Message("assistant", "Done."))
        writer.write(Ended("success"))
    with pytest.raises(UserError, match=f"the transcript of agent `{agent}` does not tell what it wrote"):
        play(of)


@pytest.mark.parametrize(("how", "status"), [("error_max_turns", "capped"), ("success", "completed")])
def test_its_end_is_the_transcripts(how: str, status: str, tmp_path: Path) -> None:
    """A run that was capped is capped again."""
    of = job(tmp_path)
    Transcript().write("a.txt", "written\n").end(how).save(tmp_path / "old")
    assert status == play(of).status


def test_the_trial_of_ours_tells_more(tmp_path: Path) -> None:
    """Its result knows how it ended and what it took; today it costs nothing."""
    of = job(tmp_path)
    place = tmp_path / "results/latest/claude/m/greeting/trial-1"
    Transcript().write("a.txt", "written\n").save(place)
    kept = Ending("timeout", "ended after its 9 s", Usage(turns=3, output_tokens=70, cost=1.25), ("a note",))
    (place / "result.json").write_text(json.dumps({"ending": unstructure(kept)}))
    ending = play(of, "results/latest")

    assert ("timeout", "replayed: ended after its 9 s", ("a note",)) == (ending.status, ending.detail, ending.notes)
    assert (3, 70, 0.0) == (ending.usage.turns, ending.usage.output_tokens, ending.usage.cost)


def test_the_transcript_is_found_below_a_folder(tmp_path: Path) -> None:
    """A trial's folder, or one above it that holds one trial of the unit alone."""
    of = job(tmp_path)
    place = tmp_path / "results/latest/claude/m/greeting/trial-1"
    Transcript().end().save(place)
    Transcript().end().save(place.parents[1] / "other/trial-1")
    Transcript().end().save(tmp_path / "results/latest" / Subject("replay:results/latest").path / "greeting/trial-1")
    found = (("transcript", "results/latest/claude/m/greeting/trial-1/transcript.jsonl"),)
    for path in (place, place.parent, place.parents[2], tmp_path / "results", Path("results/latest")):
        assert found == Agents(None, None, tmp_path).given(Subject(f"replay:{path}"), of.trial.case)


@pytest.mark.parametrize(("path", "said"), [
    ("gone", "agent=replay:gone: there is no such file or folder"),
    ("results/empty", "agent=replay:results/empty holds no transcript of `greeting`"),
    ("results/two", "agent=replay:results/two holds 2 trials of `greeting`"),
])
def test_a_path_that_leads_to_no_transcript(path: str, said: str, tmp_path: Path) -> None:
    """It is told before anything runs, with what to say instead."""
    of = job(tmp_path)
    (tmp_path / "results/empty").mkdir(parents=True)
    for number in (1, 2):
        Transcript().end().save(tmp_path / f"results/two/claude/m/greeting/trial-{number}")
    with pytest.raises(UserError) as raised:
        Agents(None, None, tmp_path).given(Subject(f"replay:{path}"), of.trial.case)
    assert said == raised.value.message


def test_what_a_run_could_not_know_is_not_lost(tmp_path: Path) -> None:
    """Caches of the workspace are no part of the tree; a damaged transcript is an error."""
    of = job(tmp_path)
    (of.workspace / "cache").mkdir()
    (of.workspace / "cache/x").write_text("warm")
    (tmp_path / "old").mkdir()
    (tmp_path / "old/transcript.jsonl").write_bytes(io.BytesIO(b"noise\n").getvalue())
    with pytest.raises(UserError, match="cannot be replayed: its transcript tells of no call and of no end"):
        play(of)
