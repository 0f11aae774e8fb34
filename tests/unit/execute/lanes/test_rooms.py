"""Rooms of both lanes: one protocol, what commands see, and how a command in the sandbox ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.errors import HarnessError, UserError
from evalkit.execute.lanes import Lane, Local, Room
from evalkit.execute.lanes import choose as choosing
from evalkit.execute.lanes.bwrap import INSTALL
from evalkit.execute.lanes.choose import Trouble, chosen, lane_of
from evalkit.execute.lanes.limits import Limits
from evalkit.execute.lanes.sandbox import Sandbox
from evalkit.execute.process import Finished, LimitPassed, ProgramMissing
from evalkit.execute.running import begin, end_all
from tests.sandbox import bwrap


def lanes() -> dict[str, Lane]:
    return {"local": Local(), "sandbox": Sandbox(bwrap())}


@pytest.fixture(params=["local", "sandbox"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    made = lanes()[request.param].room(tmp_path, (), {"PATH": os.environ["PATH"]})
    made.tree.mkdir()
    return made


def said(room: Room, line: str, **more: object) -> tuple[Finished, str]:
    log = room.scratch / "log"
    log.unlink(missing_ok=True)
    finished = room.run(["sh", "-c", line], limit=30, log=log, **more)  # type: ignore[arg-type]
    return finished, log.read_text()


def test_a_command_runs_in_the_tree(room: Room) -> None:
    """It sees its files, and what it writes is there for evalkit."""
    (room.tree / "given").write_text("given")
    finished, text = said(room, "pwd; cat given; echo made >made; echo kept >\"$HOME/kept\"")
    assert finished.ok
    assert f"{room.seen(room.tree)}\ngiven" == text
    assert "made\n" == (room.tree / "made").read_text()
    assert "kept\n" == (room.home / "kept").read_text()
    assert str(room.seen(room.home)) == room.env["HOME"]


@pytest.mark.parametrize(("line", "status"),
                         [("exit 0", 0), ("exit 7", 7), ("kill -SEGV $$", -11), ("kill -KILL $$", -9)])
def test_a_status_is_told_alike(line: str, status: int, room: Room) -> None:
    """In both lanes."""
    assert status == said(room, line)[0].exit_code


def test_a_command_that_is_talked_to(room: Room) -> None:
    """It answers line by line, in the tree, and ends with the talk."""
    (room.tree / "given").write_text("it is here\n")
    script = 'echo $$ > pid; while read -r line; do echo "$line: $(cat given)"; done'
    with room.converse(["sh", "-c", script], log=room.scratch / "log") as talk:
        assert talk.ask(b"one", 10) == b"one: it is here"
        assert talk.ask(b"two", 10) == b"two: it is here"


def test_a_limit_ends_a_talk(tmp_path: Path) -> None:
    """Whoever waits for an answer is told which."""
    made = Sandbox(bwrap(), Limits(disk=1 << 20)).room(tmp_path, (), {})
    script = "read -r line; while :; do head -c 400000 /dev/zero >> big; sleep 0.1; done"
    with made.converse(["sh", "-c", script], log=tmp_path / "log") as talk, \
            pytest.raises(LimitPassed, match="disk limit"):
        talk.ask(b"begin", 60)


def test_what_the_network_leads_to_is_told(tmp_path: Path) -> None:
    """Programs are told of a proxy where their case asks for a way out, and of none else."""
    made = Sandbox(bwrap()).room(tmp_path, (), {}, network=("127.0.0.1:9",))
    assert made.env["HTTPS_PROXY"] == "http://127.0.0.1:8792"
    assert made.notes() == ("its network led to 127.0.0.1:9",)
    plain = Sandbox(bwrap()).room(tmp_path, (), {})
    assert (plain.notes(), "HTTPS_PROXY" in plain.env) == ((), False)


def test_a_program_that_is_not_there(room: Room) -> None:
    """Nothing began, whatever the log says."""
    with pytest.raises(ProgramMissing, match=r"^cannot start `no-such-program`: No such file or directory$"):
        room.run(["no-such-program"], limit=5, log=room.scratch / "log")


def test_what_a_command_prints_passes_for_no_start_that_failed(room: Room) -> None:
    """bubblewrap's words are its own only where it reports no status."""
    finished, _ = said(room, "echo 'bwrap: execvp x: No such file or directory' >&2; exit 1")
    assert 1 == finished.exit_code


def test_time_and_output_are_limited(room: Room) -> None:
    """As without walls."""
    finished = room.run(["sleep", "20"], limit=0.3, log=room.scratch / "log")
    assert "time limit of 0.3 s" == finished.ended_by


def test_lines_come_as_they_are_said(room: Room) -> None:
    """Both streams, and the input."""
    out, err = list[bytes](), list[bytes]()
    finished = room.stream(["sh", "-c", "cat; echo bad >&2"], limit=30, text="one\ntwo", on_line=out.append,
                           on_error_line=err.append)
    assert finished.ok
    assert ([b"one", b"two"], [b"bad"]) == (out, err)


def test_a_stopped_run_ends_its_commands(room: Room) -> None:
    """Ctrl-C leaves nothing behind, and is no ending of the command's own."""
    def stop(_: float) -> None:
        end_all()

    try:
        with pytest.raises(HarnessError, match="evalkit is being stopped"):
            room.run(["sleep", "30"], limit=60, log=room.scratch / "log", tick=stop)
    finally:
        begin()


def test_a_scaffold_sees_the_folder_around_its_tree(tmp_path: Path) -> None:
    """It makes the folder itself, under the name that it always has."""
    room = Sandbox(bwrap()).room(tmp_path, (), {}, nested=True)
    place = room.seen(room.tree)
    finished, _ = said(room, f"mkdir {place} && echo x >{place}/file", cwd=room.tree.parent)
    assert finished.ok
    assert "/workspace/app" == str(place)
    assert ["file"] == [path.name for path in room.tree.iterdir()]


def test_descriptors_do_not_leak(tmp_path: Path) -> None:
    """Neither here, nor into commands."""
    room = Sandbox(bwrap()).room(tmp_path, (), {})
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        _, text = said(room, "ls /proc/self/fd")
        assert {"0", "1", "2", "3"} >= set(text.split())
        with pytest.raises(ProgramMissing):
            room.run(["no-such-program"], limit=5, log=room.scratch / "log")
    assert before == len(list(Path("/proc/self/fd").iterdir()))


# ---- which lane ----
def test_auto_says_why_it_takes_the_local_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to type. Who asks for the sandbox gets an error instead."""
    monkeypatch.setattr(choosing, "trouble", lambda path: Trouble("there is none", "type this"))
    assert ("local", "") == chosen("local", {}, Path("/evals"))
    lane, told = chosen("auto", {}, Path("/evals"))
    assert ("local", "lane=auto takes the local lane: there is none. type this") == (lane, told)
    with pytest.raises(UserError, match="lane=sandbox: there is none") as raised:
        chosen("sandbox", {}, Path("/evals"))
    assert "type this" == raised.value.hint


def test_auto_takes_the_sandbox_where_it_works() -> None:
    """Without a word."""
    bwrap()
    assert ("sandbox", "") == chosen("auto", os.environ, Path("/evals"))


def test_a_machine_without_bubblewrap(tmp_path: Path) -> None:
    """The hint is the line to type."""
    found = choosing.trouble(str(tmp_path))
    assert found is not None
    assert INSTALL == found.hint
    with pytest.raises(HarnessError, match="needs bubblewrap") as raised:
        lane_of("sandbox", {"PATH": str(tmp_path)})
    assert INSTALL == raised.value.hint


@pytest.mark.parametrize(("words", "hint"), [
    ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
    ("bwrap: No permissions to create new namespace", "unprivileged_userns_clone=1"),
    ("bwrap: Creating new namespace failed: No space left on device", "max_user_namespaces"),
    ("bwrap: Unknown option --disable-userns", "too old"),
])
def test_a_system_that_forbids_it(words: str, hint: str, tmp_path: Path) -> None:
    """Each way in which bubblewrap fails has its line to type."""
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    program.chmod(0o755)
    found = choosing.trouble(f"{tmp_path}:{os.environ['PATH']}")
    assert found is not None
    assert words in found.reason
    assert hint in found.hint
