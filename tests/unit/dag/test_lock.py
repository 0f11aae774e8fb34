"""One run at a time in a project."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.dag.lock import alone
from evalkit.errors import HarnessError

ROOT = Path(__file__).resolve().parents[3]
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Handlers are as before when a test is over."""
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    assert before == {number: signal.getsignal(number) for number in ENDING}


def is_free(state: Path) -> bool:
    with (state / "run.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_the_lock_is_held_until_the_end(tmp_path: Path) -> None:
    """However that comes; nobody is told of anything."""
    said: list[str] = []
    with alone(tmp_path / ".evalkit", said.append) as waited:
        assert (False, False) == (waited, is_free(tmp_path / ".evalkit"))
    assert is_free(tmp_path / ".evalkit")
    with pytest.raises(ZeroDivisionError), alone(tmp_path / ".evalkit", said.append):
        raise ZeroDivisionError
    assert is_free(tmp_path / ".evalkit")
    assert [] == said


def test_a_second_run_says_that_it_waits_and_then_works(tmp_path: Path) -> None:
    """It is told that it had to: the project may be another by now."""
    state = tmp_path / ".evalkit"
    state.mkdir()
    said: list[str] = []
    with (state / "run.lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        def say(text: str) -> None:
            said.append(text)
            fcntl.flock(other, fcntl.LOCK_UN)  # the other one ends just now

        with alone(state, say) as waited:
            assert waited
    assert ["another run is at work in this project: waiting for it to end"] == said


def test_what_a_killed_run_was_writing_is_removed(tmp_path: Path) -> None:
    """Its lock is free, and its file tells that it never took its name back; what others write is left alone."""
    state, results = tmp_path / ".evalkit", tmp_path / "results/latest"
    results.mkdir(parents=True)
    code = ("import os, signal, sys; from pathlib import Path; from evalkit.dag.lock import alone\n"
            "with alone(Path(sys.argv[1])):\n"
            "    (Path(sys.argv[2]) / f'.a.json.{os.getpid()}.tmp').touch()\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n")
    done = subprocess.run([sys.executable, "-c", code, str(state), str(results)], check=False, cwd=ROOT)
    assert -signal.SIGKILL == done.returncode
    ours = results / f".b.json.{os.getpid()}.tmp"
    for kept in (ours, results / "a.json"):
        kept.touch()
    assert 3 == len(list(results.iterdir()))
    with alone(state) as waited:
        assert not waited
        assert {ours, results / "a.json"} == set(results.iterdir())


@pytest.mark.parametrize("number", ENDING)
def test_a_request_to_end_is_an_interrupt(tmp_path: Path, number: signal.Signals) -> None:
    """Also one by the terminal that is closed."""
    with pytest.raises(KeyboardInterrupt), alone(tmp_path / ".evalkit"):
        signal.raise_signal(number)
    assert is_free(tmp_path / ".evalkit")


def test_a_request_to_end_while_it_waits(tmp_path: Path) -> None:
    """A run that waits has nothing to finish."""
    state = tmp_path / ".evalkit"
    state.mkdir()
    with (state / "run.lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(KeyboardInterrupt), alone(state, lambda _: signal.raise_signal(signal.SIGTERM)):
            raise AssertionError("it did not wait")


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """`nohup` starts programs that outlive their terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with alone(tmp_path / ".evalkit"):
            signal.raise_signal(signal.SIGHUP)
        assert signal.SIG_IGN == signal.getsignal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Is said, with what to look at."""
    (tmp_path / ".evalkit").write_text("a file")
    with pytest.raises(HarnessError, match=r"cannot write to .*\.evalkit") as told, alone(tmp_path / ".evalkit"):
        raise AssertionError("it did begin")
    assert "is there room on the disk?" in str(told.value.hint)


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is said, too."""
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(HarnessError, match=r"cannot lock .*: No locks available"), alone(tmp_path / ".evalkit"):
        raise AssertionError("it did begin")
