"""Child processes: limits, what they leave behind, and pipes that nobody closes."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import HarnessError
from evalkit.execute import pipes, process, running
from evalkit.execute.marks import MARK, alive, end_orphans
from evalkit.execute.process import Finished, ProgramMissing, run, stream
from evalkit.execute.running import begin, end_all

ENV = {"PATH": os.environ["PATH"]}
linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """No test leaves a child in the registry."""
    yield
    begin()
    assert {} == running._running


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def call(argv: list[str], folder: Path, **options: Any) -> Finished:
    return run(argv, **{"cwd": folder, "env": ENV, "limit": 20, "log": folder / "log", **options})


def follow(argv: list[str], folder: Path, on_line: Callable[[bytes], None], **options: Any) -> Finished:
    return stream(argv, **{"cwd": folder, "env": ENV, "limit": 20, "text": "", "on_line": on_line,
                           "on_error_line": lambda _: None, **options})


def gone(pid_file: Path, seconds: float = 3) -> bool:
    """Whether the process whose id a child wrote down ends within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if pid_file.exists() and pid_file.read_text().strip() and not alive(int(pid_file.read_text())):
            return True
        time.sleep(0.02)
    return False


def wait_for(path: Path) -> None:
    until = time.monotonic() + 5
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < until
        time.sleep(0.01)


# ---- how a command ends ----
@pytest.mark.parametrize(("script", "code"),
                         [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", -9), ("kill -TERM $$", -15)])
def test_the_exit_code_tells_how_it_ended(script: str, code: int, tmp_path: Path) -> None:
    """An exit status as it is, a signal as its negative number; no limit is named."""
    finished = call(["sh", "-c", script], tmp_path)
    assert (code, "", code == 0) == (finished.exit_code, finished.ended_by, finished.ok)


def test_both_streams_are_appended_to_the_log(tmp_path: Path) -> None:
    """The log keeps what it held; there is no input."""
    (tmp_path / "log").write_text("before\n")
    assert call(["sh", "-c", "echo out; echo err >&2; cat"], tmp_path).ok
    assert "before\nout\nerr\n" == (tmp_path / "log").read_text()


def test_errors_can_have_a_file_of_their_own(tmp_path: Path) -> None:
    """With `errors` the log holds standard output alone."""
    call(["sh", "-c", "echo out; echo err >&2"], tmp_path, errors=tmp_path / "errors")
    assert ("out\n", "err\n") == ((tmp_path / "log").read_text(), (tmp_path / "errors").read_text())


def test_the_environment_is_the_given_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of our own environment reaches a child but the mark."""
    monkeypatch.setenv("SECRET_OF_OURS", "1")
    call(["env"], tmp_path, env={**ENV, "GIVEN": "a b"})
    lines = (tmp_path / "log").read_text().splitlines()
    assert "GIVEN=a b" in lines
    assert {"PATH", "GIVEN", MARK} == {line.partition("=")[0] for line in lines}


def test_tick_is_told_the_seconds(tmp_path: Path) -> None:
    """About ten times a second, growing."""
    ticks: list[float] = []
    call(["sleep", "0.5"], tmp_path, tick=ticks.append)
    assert 2 <= len(ticks) <= 6
    assert sorted(ticks) == ticks


def test_a_folder_with_spaces_and_a_long_argument(tmp_path: Path) -> None:
    """Words stay words, whatever they hold."""
    folder = tmp_path / "a b  c"
    folder.mkdir()
    call(["printf", "%s", "x" * 100_000 + " 'y\n"], folder)
    assert "x" * 100_000 + " 'y\n" == (folder / "log").read_text()


# ---- limits ----
def test_the_time_limit_ends_the_process_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that does not listen to SIGTERM, and its own child, are ended soon after the limit."""
    monkeypatch.setattr(process, "_GRACE", 0.5)
    script = "trap '' TERM; sleep 60 & echo $! > inner; wait; sleep 60"
    finished = call(["sh", "-c", script], tmp_path, limit=0.3)
    assert "time limit of 0.3 s" == finished.ended_by
    assert -signal.SIGKILL == finished.exit_code
    assert not finished.ok
    assert finished.seconds < 30
    assert gone(tmp_path / "inner")


def test_a_child_that_is_asked_to_end_may_end_by_itself(tmp_path: Path) -> None:
    """SIGTERM comes first: what it writes then is kept."""
    finished = call(["sh", "-c", "trap 'echo bye; exit 3' TERM; while :; do sleep 0.05; done"], tmp_path, limit=0.3)
    assert 3 == finished.exit_code
    assert (tmp_path / "log").read_text().endswith("bye\n")  # some shells tell of the `sleep` that ended before


def test_a_stopped_child_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stops itself does not outlast its limit."""
    monkeypatch.setattr(process, "_GRACE", 0.5)
    assert call(["sh", "-c", "kill -STOP $$"], tmp_path, limit=0.2).ended_by


def test_the_output_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that prints without end is ended, and the log is cut to what was allowed, after what it held."""
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1024 * 1024)
    (tmp_path / "log").write_bytes(b"x" * 2_000_000)
    finished = call(["yes"], tmp_path)
    assert "output limit of 1 MB" == finished.ended_by
    assert 2_000_000 + 1024 * 1024 == (tmp_path / "log").stat().st_size


def test_a_log_that_is_large_already_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for what this command prints."""
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1000)
    (tmp_path / "log").write_bytes(b"x" * 2_000)
    assert call(["sh", "-c", "sleep 0.1; echo short"], tmp_path).ok


# ---- programs that cannot be started ----
def test_a_missing_program(tmp_path: Path) -> None:
    """The name is told, and why."""
    with pytest.raises(ProgramMissing) as raised:
        call(["no-such-program"], tmp_path)
    assert "cannot start `no-such-program`: No such file or directory" == raised.value.message


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    """Without the permission, without a format, a folder: each is a missing program."""
    (tmp_path / "plain").write_text("echo hi\n")
    (tmp_path / "unknown").write_text("\x00\x01")
    (tmp_path / "unknown").chmod(0o755)
    for name in ("./plain", "./unknown", ".", "./plain/inner"):
        with pytest.raises(ProgramMissing):
            call([name], tmp_path)


@pytest.mark.parametrize("argv", [["printf", "a\0b"], [], ["printf", "x" * 3_000_000]])
def test_an_impossible_command_line_is_no_missing_program(argv: list[str], tmp_path: Path) -> None:
    """A NUL, no word at all, too long for the system: an error of the harness's, never a fail of the agent's."""
    with pytest.raises(HarnessError, match="cannot start") as raised:
        call(argv, tmp_path)
    assert not isinstance(raised.value, ProgramMissing)


def test_a_missing_folder_is_told_as_such(tmp_path: Path) -> None:
    """The system's error for it looks like a missing program."""
    with pytest.raises(HarnessError, match="is not there") as raised:
        call(["true"], tmp_path, cwd=tmp_path / "gone")
    assert not isinstance(raised.value, ProgramMissing)


def test_a_machine_without_memory_is_not_the_programs_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of processes or memory is told as the machine's failure."""

    def popen(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "again")

    monkeypatch.setattr("subprocess.Popen", popen)
    with pytest.raises(HarnessError, match="temporarily unavailable") as raised:
        call(["true"], tmp_path)
    assert not isinstance(raised.value, ProgramMissing)
    assert "out of memory, processes" in raised.value.hint


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    """A harness error with a hint, not a crash."""
    with pytest.raises(HarnessError, match="cannot write") as raised:
        call(["true"], tmp_path, log=tmp_path / "missing/log")
    assert "disk full" in raised.value.hint


def test_a_full_disk_is_no_failing_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that fails while the disk is full says nothing of the agent; one that passes does."""

    class Usage:
        free = 0

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    assert call(["true"], tmp_path).ok
    with pytest.raises(HarnessError, match="the disk is full"):
        call(["false"], tmp_path)


# ---- what is left behind ----
ESCAPES = {
    "background": "sleep 60 & echo $! > inner",
    "its own session": "setsid sh -c 'echo $$ > inner; exec sleep 60' & while [ ! -s inner ]; do sleep 0.01; done",
    "twice": "(setsid sh -c '(sleep 60 & echo $! > inner)' &) ; while [ ! -s inner ]; do sleep 0.01; done",
}


@linux
@pytest.mark.parametrize("script", ESCAPES.values(), ids=ESCAPES.keys())
def test_what_a_command_leaves_running_is_ended(script: str, tmp_path: Path) -> None:
    """Also after a regular end; a process that holds the log open does not make us wait."""
    finished = call(["sh", "-c", script], tmp_path)
    assert finished.ok
    assert finished.seconds < 30
    assert gone(tmp_path / "inner")


@linux
@pytest.mark.parametrize("script", ESCAPES.values(), ids=ESCAPES.keys())
def test_what_holds_the_pipe_of_a_stream_is_ended(script: str, tmp_path: Path) -> None:
    """The stream ends with its child, whoever else holds the pipe."""
    lines: list[bytes] = []
    began = time.monotonic()
    assert follow(["sh", "-c", f"echo one; {script}; echo two"], tmp_path, lines.append).ok
    assert [b"one", b"two"] == lines
    assert time.monotonic() - began < 30
    assert gone(tmp_path / "inner")


@linux
def test_a_process_without_mark_and_group_cannot_hang_us(tmp_path: Path) -> None:
    """One that left the group and emptied its environment escapes, and goes on writing: we do not wait for it."""
    script = ("env -i setsid sh -c 'echo $$ > inner; while :; do echo more; done' & "
              "while [ ! -s inner ]; do sleep 0.01; done")
    began = time.monotonic()
    try:
        count = 0

        def on_line(_: bytes) -> None:
            nonlocal count
            count += 1

        assert follow(["sh", "-c", script], tmp_path, on_line).ok
        after = count
        assert time.monotonic() - began < 30
        time.sleep(0.1)
        assert after == count
    finally:
        os.kill(int((tmp_path / "inner").read_text()), signal.SIGKILL)


@linux
def test_a_process_that_starts_others_while_it_is_ended(tmp_path: Path) -> None:
    """Ending looks again until nothing with the mark is left."""
    script = "i=0; while [ $i -lt 40 ]; do setsid sh -c 'echo $$ >> inner; sleep 60' & i=$((i+1)); done; wait"
    assert call(["sh", "-c", script], tmp_path, limit=0.4).ended_by
    time.sleep(0.1)
    pids = (tmp_path / "inner").read_text().split()
    assert pids
    for pid in pids:
        (tmp_path / "one").write_text(pid)
        assert gone(tmp_path / "one")


def test_an_interrupt_ends_the_child(tmp_path: Path) -> None:
    """Whatever `tick` raises (Ctrl-C comes like this) leaves no process."""

    def tick(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(["sh", "-c", "echo $$ > inner; exec sleep 60"], tmp_path, tick=tick)
    assert gone(tmp_path / "inner")


def test_end_all_ends_the_children_of_other_threads(tmp_path: Path) -> None:
    """Their callers get an error: a child that we ended did not fail by itself."""
    raised: list[HarnessError] = []

    def work(number: int) -> None:
        try:
            call(["sh", "-c", f"echo $$ > inner{number}; exec sleep 60"], tmp_path, log=tmp_path / f"log{number}")
        except HarnessError as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for number in range(3):
        wait_for(tmp_path / f"inner{number}")
    end_all()
    for thread in threads:
        thread.join(5)
    assert ["`sh` was ended: evalkit is being stopped"] * 3 == [error.message for error in raised]
    assert all(gone(tmp_path / f"inner{number}") for number in range(3))
    with pytest.raises(HarnessError, match="evalkit is being stopped"):
        call(["true"], tmp_path)
    begin()
    assert call(["true"], tmp_path).ok


def test_end_all_that_is_interrupted_can_be_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Ctrl-C comes while processes are looked for that left their group: the next call looks for them too."""
    looked: list[Callable[[str], bool]] = []

    def end_marked(ours: Callable[[str], bool]) -> int:
        looked.append(ours)
        if len(looked) == 1:
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr(running, "_running", {"a-mark": None})
    monkeypatch.setattr(running, "end_marked", end_marked)
    with pytest.raises(KeyboardInterrupt):
        end_all()
    end_all()
    assert looked[1]("a-mark")
    begin()
    assert not looked[1]("a-mark")


def test_several_at_once(tmp_path: Path) -> None:
    """Each thread gets its own child's ending; ending one leaves the others."""
    ended: dict[int, Finished] = {}

    def work(number: int) -> None:
        ended[number] = call(["sh", "-c", f"sleep 0.{number}; exit {number}"], tmp_path, log=tmp_path / f"log{number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(range(6)) == [ended[number].exit_code for number in range(6)]


@linux
def test_the_orphans_of_a_killed_evalkit_are_ended(tmp_path: Path) -> None:
    """An evalkit that got SIGKILL leaves its children; the next one ends them, and no others."""
    code = ("from pathlib import Path; from evalkit.execute.process import run; import os; here = Path('.');"
            "run(['sh', '-c', 'echo $$ > inner; sleep 60'], cwd=here, env={**os.environ}, limit=60, log=here / 'log')")
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    wait_for(tmp_path / "inner")
    assert 0 == end_orphans()
    child.kill()
    child.wait()
    assert 1 <= end_orphans()
    assert gone(tmp_path / "inner")


@linux
def test_an_evalkit_within_an_evalkit(tmp_path: Path) -> None:
    """Ending the inner one ends what it had started, also in sessions of their own."""
    code = ("from pathlib import Path; from evalkit.execute.process import run; import os; here = Path('.');"
            "run(['sh', '-c', 'echo $$ > inner; sleep 60'], cwd=here, env={'PATH': os.environ['PATH']}, limit=60,"
            " log=here / 'log')")
    finished = call([sys.executable, "-c", code], tmp_path, log=tmp_path / "outer",
                    tick=lambda _: (tmp_path / "seen").touch() if (tmp_path / "inner").exists() else None, limit=2)
    assert finished.ended_by
    assert (tmp_path / "seen").exists()
    assert gone(tmp_path / "inner")


@linux
def test_a_process_that_nobody_waited_for_is_not_alive() -> None:
    """Where an evalkit was killed in a container without init, its id stays, and its folders must be swept."""
    child = subprocess.Popen(["true"])
    until = time.monotonic() + 5
    while alive(child.pid):
        assert time.monotonic() < until
    assert 0 == child.wait()
    assert not alive(child.pid)
    assert alive(os.getpid())
    assert alive(1)


# ---- streams ----
def test_lines_come_whole(tmp_path: Path) -> None:
    """Without their line ends; empty ones too, and a last one that has no end; errors go their own way."""
    lines: list[bytes] = []
    errors: list[bytes] = []
    script = r"printf 'one\n\ntwo\r\nth'; sleep 0.1; printf 'ree'; printf 'oh' >&2"
    assert follow(["sh", "-c", script], tmp_path, lines.append, on_error_line=errors.append).ok
    assert ([b"one", b"", b"two", b"three"], [b"oh"]) == (lines, errors)


def test_the_text_is_the_input(tmp_path: Path) -> None:
    """All of it, then the end of the input."""
    lines: list[bytes] = []
    assert follow(["cat"], tmp_path, lines.append, text="á\n" * 200_000).ok
    assert ["á".encode()] * 200_000 == lines


def test_an_input_that_is_never_read(tmp_path: Path) -> None:
    """More than the pipe holds neither hangs the stream nor fails it; so for an input that the child closes."""
    for script in ("echo hi; sleep 0.1", "exec 0<&-; sleep 0.2; echo hi"):
        lines: list[bytes] = []
        assert follow(["sh", "-c", script], tmp_path, lines.append, text="x" * 5_000_000).ok
        assert [b"hi"] == lines


def test_a_child_that_closes_its_output_and_lives_on(tmp_path: Path) -> None:
    """Its time limit and `stop` still hold."""
    script = "exec >&- 2>&-; sleep 60"
    assert "time limit of 0.3 s" == follow(["sh", "-c", script], tmp_path, print, limit=0.3).ended_by
    assert "enough" == follow(["sh", "-c", script], tmp_path, print, stop=lambda: "enough").ended_by


def test_a_line_without_end_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is handed on before it fills the memory."""
    monkeypatch.setattr(pipes, "LONGEST_LINE", 300_000)
    lines: list[bytes] = []
    assert follow(python("print('x' * 1000000)"), tmp_path, lines.append).ok
    assert len(lines) > 1
    assert b"x" * 1_000_000 == b"".join(lines)


def test_a_stream_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output and errors together have a limit."""
    monkeypatch.setattr(process, "STREAM_LIMIT", 3 * 1024 * 1024)
    finished = follow(["sh", "-c", "yes & yes >&2"], tmp_path, lambda _: None)
    assert "output limit of 3 MB" == finished.ended_by
    assert finished.seconds < 30


def test_stop_ends_the_child(tmp_path: Path) -> None:
    """Its reason is the ending; lines that come after it was asked to end are still handed on."""
    lines: list[bytes] = []
    script = "trap 'echo last; exit 1' TERM; echo first; while :; do sleep 0.05; done"
    finished = follow(["sh", "-c", script], tmp_path, lines.append, stop=lambda: "seen" if lines else "")
    assert ("seen", [b"first", b"last"]) == (finished.ended_by, lines)


def test_a_failing_callback_ends_the_child(tmp_path: Path) -> None:
    """Its exception comes out of `stream`, and no process is left."""

    def on_line(_: bytes) -> None:
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        follow(["sh", "-c", "echo $$ > inner; echo hi; exec sleep 60"], tmp_path, on_line)
    assert gone(tmp_path / "inner")


def test_a_failing_callback_on_the_last_line(tmp_path: Path) -> None:
    """Also for what was left in the pipe."""

    def on_line(line: bytes) -> None:
        if line == b"end":
            raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        follow(["printf", "end"], tmp_path, on_line)


def test_streams_leave_no_descriptor(tmp_path: Path) -> None:
    """Pipes and selectors are closed, however the stream ends."""
    before = len(list(Path("/dev/fd").iterdir()))
    for argv in (["true"], ["no-such-program"], ["sleep", "9"]):
        with contextlib.suppress(ProgramMissing):
            follow(argv, tmp_path, print, limit=0.1)
    assert before == len(list(Path("/dev/fd").iterdir()))
