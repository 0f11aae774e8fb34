"""An agent that had finished when its run was killed: its work is kept by the next run, and by nobody else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.execute import pack as packing
from evalkit.execute import stages
from evalkit.execute.agents.base import Job
from evalkit.execute.outcome import AgentRecord
from evalkit.execute.places import Places
from evalkit.execute.session import Session
from evalkit.execute.stages import TRANSCRIPT, TREE
from evalkit.execute.tree import read_files
from evalkit.records import read_json, write_json
from evalkit.values import evolve

from .make import session, trial
from .test_places import dead_pid
from .test_stages import Fake, play

OLD = 40 * 86_400


def write(job: Job) -> None:
    """What the agent does, and that it did."""
    (job.workspace / "answer").write_text("by KEY-12345678")
    (job.home / "notes").mkdir(parents=True)
    job.transcript.write_text("a line\n")
    with (job.root.parent / "starts").open("a") as file:
        file.write("x")


def starts(folder: Path) -> int:
    return len((folder / "starts").read_text())


def killed(folder: Path, environ: dict[str, str] | None = None) -> Path:
    """A run that ends at once, without any clearing up, while it packs the agent's tree. Returns its note."""
    child = os.fork()
    if not child:
        try:
            plain = packing.pack

            def pack(root: Path, archive: Path, **options: Any) -> Any:
                if (root / "answer").exists():
                    archive.write_bytes(b"half")
                    os._exit(9)
                return plain(root, archive, **options)

            vars(stages)["pack"] = pack
            play(session(folder, environ=environ), Fake(write))
        finally:
            os._exit(1)
    assert 9 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    (note,) = (folder / "project/.evalkit/store/finished").iterdir()
    return note


def again(folder: Path, said: list[str] | None = None, **options: Any) -> tuple[Session, AgentRecord]:
    """The next run, which clears up first."""
    here = session(folder, said, **options)
    here.places.sweep()
    here.store.sweep()
    return here, play(here, Fake(write))


def timeless(record: AgentRecord) -> AgentRecord:
    return evolve(record, seconds=0.0, prewarm_seconds=0.0, finished_at="")


def clean(here: Session) -> bool:
    store = here.places.store
    return not [*here.places.work.iterdir(), *(store / "making").iterdir(), *(store / "finished").iterdir()]


def test_what_had_finished_is_kept(tmp_path: Path) -> None:
    """The agent ran once, no budget is asked, and the entry is that of a run that nobody killed."""
    said: list[str] = []
    (tmp_path / "other").mkdir()
    other, whole = again(tmp_path / "other")
    killed(tmp_path)
    here, record = again(tmp_path, said)
    assert (1, timeless(whole)) == (starts(tmp_path), timeless(record))
    assert ["the agent had finished when an earlier run was killed: its work is kept"] == said
    entry, expected = (of.store.path("agent", record.key) for of in (here, other))
    assert {path.name for path in expected.iterdir()} == {path.name for path in entry.iterdir()}
    assert (expected / TREE).read_bytes() == (entry / TREE).read_bytes()
    assert "a line\n" == (entry / TRANSCRIPT).read_text()
    assert "" == here.store.damage("agent", record.key)
    assert clean(here)


def test_keys_are_taken_out(tmp_path: Path) -> None:
    """As in any tree; where the next run does not know them it cannot, and adopts nothing."""
    environ = {"ANTHROPIC_API_KEY": "KEY-12345678"}
    killed(tmp_path, environ)
    here, record = again(tmp_path, environ=environ)
    archive = here.store.path("agent", record.key) / TREE
    assert {"answer": b"by [ANTHROPIC_API_KEY redacted]"} == read_files(archive, ["answer"], largest=100)
    (tmp_path / "other").mkdir()
    killed(tmp_path / "other", environ)
    again(tmp_path / "other")
    assert (1, 2) == (starts(tmp_path), starts(tmp_path / "other"))


def test_a_second_kill(tmp_path: Path) -> None:
    """Who adopts may be killed as well."""
    killed(tmp_path)
    killed(tmp_path)
    again(tmp_path)
    assert 1 == starts(tmp_path)


def half(note: Path) -> None:
    note.write_bytes(note.read_bytes()[:-20])


def changed(**fields: Any) -> Callable[[Path], None]:
    return lambda note: write_json(note, {**read_json(note), **fields})


def other_key(note: Path) -> None:
    data = read_json(note)
    write_json(note, {**data, "record": {**data["record"], "key": "0" * 64}})


def cut(note: Path) -> None:
    (transcript,) = note.parent.parent.glob(f"making/*/{TRANSCRIPT}")
    transcript.write_text("a")


@pytest.mark.parametrize("damage", [
    half, other_key, cut, changed(layout=2), changed(boot="another"), changed(boot=""), changed(work="/elsewhere"),
    changed(key="0" * 64), changed(record={}), changed(files={"../x": 1}), changed(desk="agent-none"),
    lambda note: os.utime(note, (note.stat().st_mtime - OLD,) * 2)])
def test_what_is_not_to_be_relied_on(damage: Callable[[Path], None], tmp_path: Path) -> None:
    """A note that is half-written, old, of another layout, key, project or start of the machine, or whose transcript
    is not what it was: the agent runs again.
    """
    damage(killed(tmp_path))
    said: list[str] = []
    again(tmp_path, said)
    assert (2, []) == (starts(tmp_path), said)


def test_another_key(tmp_path: Path) -> None:
    """What finished waits for its own."""
    killed(tmp_path)
    here = session(tmp_path)
    here.places.sweep()
    here.store.sweep()
    play(here, Fake(write), trial(sample=2))
    assert 2 == starts(tmp_path)
    again(tmp_path)
    assert 2 == starts(tmp_path)


def test_an_owner_that_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody takes its folders."""
    killed(tmp_path)
    monkeypatch.setattr("evalkit.execute.folders.alive", lambda _: True)
    again(tmp_path)
    assert 2 == starts(tmp_path)


def test_sweeps_of_others(tmp_path: Path) -> None:
    """Another project that shares the store leaves it alone; its own sweep removes what was kept meanwhile."""
    note = killed(tmp_path)
    note.with_name(f".{note.name}.{dead_pid()}-1.tmp").write_text("half")
    mine = session(tmp_path)
    theirs = Places(tmp_path / "b", tmp_path / "cache", tmp_path / "work/b", mine.places.store)
    theirs.sweep()
    mine.store.sweep()
    here, record = again(tmp_path)
    assert 1 == starts(tmp_path)
    here.store.remove("agent", record.key)
    killed(tmp_path)
    here.store.path("agent", record.key).mkdir(parents=True)
    here.places.sweep()
    here.store.sweep()
    assert clean(here)
