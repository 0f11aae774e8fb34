"""What is said while tasks run, as lines."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from evalkit.dag.progress import Progress
from tests.unit.dag.screen import Clock, pseudo_terminal

A = "agent:latest/claude/m%2Fx/kanban/trial-1"
B = "agent:latest/claude/m%2Fx/kanban/trial-2"
CHECK = "grade:latest/claude/m%2Fx/kanban/trial-2:own"


class Said:
    """A progress that writes to a text, with a clock of its own."""

    def __init__(self) -> None:
        self.stream, self.clock = io.StringIO(), Clock()
        self.progress = Progress(self.stream, self.clock)

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@pytest.fixture
def said() -> Said:
    return Said()


def in_thread(progress: Progress, task: str, work: Callable[[], None]) -> None:
    """Do some work of a task in a thread of its own, to its end. (pytest makes a failure there one of the test.)"""

    def run() -> None:
        with progress.at_work(task):
            work()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_a_task_is_a_line_with_its_time_its_outcome_and_why_it_ran(said: Said) -> None:
    """A quick task is told once, when it is over."""
    said.progress.started(CHECK, "never run")
    said.clock.now += 1.24
    said.progress.finished(CHECK, "pass")
    said.progress.started("report:latest", "")
    said.progress.finished("report:latest", "")

    assert [f"     1.2s  {CHECK}: pass  (never run)", "     0.0s  report:latest"] == said.lines
    assert 2 == said.progress.ran


def test_a_remark_follows_the_name_of_its_task(said: Said) -> None:
    """The task is announced with why it runs, before its first remark; the last line has its time."""
    said.progress.started(A, "prompt changed")
    said.progress.say("prewarm: zig build")
    said.progress.say("workspace kept: /x\nand so on")
    said.progress.finished(A, "")

    assert [f"       ..  {A}  (prompt changed)", "           prewarm: zig build", "           workspace kept: /x",
            "           and so on", f"     0.0s  {A}"] == said.lines


def test_a_long_task_is_announced_after_a_second_and_gives_a_sign_of_life_every_twenty(said: Said) -> None:
    """However often it ticks."""
    said.progress.started(A, "never run")
    for tenth in range(450):
        said.clock.now = 100 + tenth / 10
        said.progress.tick(0.0)

    assert [f"       ..  {A}  (never run)", "           … 20 s", "           … 40 s"] == said.lines


def test_signs_of_life_are_counted_for_each_task(said: Said) -> None:
    """Two tasks at once, the second begun later: each has its own seconds, and its unit before them."""
    said.progress.started(A, "never run")
    said.clock.now += 15
    said.progress.started(B, "never run")
    for second in range(10):
        said.clock.now = 115 + second
        for task in (A, B):
            in_thread(said.progress, task, lambda: said.progress.tick(0.0))

    assert [f"       ..  {A}  (never run)", f"       ..  {B}  (never run)", "           [kanban] … 20 s"] == said.lines


def test_remarks_of_tasks_that_run_at_once_begin_with_their_unit(said: Said) -> None:
    """Each is its own thread's; a check is named too, since a unit has several."""
    for task in (A, CHECK, "toolchain:zig"):
        said.progress.started(task, "never run")
        in_thread(said.progress, task, lambda: said.progress.say("at it"))
    in_thread(said.progress, A, lambda: said.progress.say("one\ntwo"))

    assert [f"       ..  {A}  (never run)", "           at it",
            f"       ..  {CHECK}  (never run)", "           [kanban#2 own] at it",
            "       ..  toolchain:zig  (never run)", "           [toolchain:zig] at it",
            "           [kanban] one", "           [kanban] two"] == said.lines


def test_a_remark_after_another_tasks_line_begins_with_its_unit(said: Said) -> None:
    """It would be taken for a remark of the task above it, although only one is left at work."""
    said.progress.started(A, "never run")
    said.progress.say("one")
    said.progress.started(B, "never run")
    said.progress.finished(B, "")
    said.progress.say("two")
    said.progress.say("three")

    assert [f"     0.0s  {B}  (never run)", "           [kanban] two", "           three"] == said.lines[2:]


def test_what_a_thread_without_a_task_says(said: Said) -> None:
    """It is of the only task at work; of none where there are several, or none."""
    said.progress.say("nobody's")
    said.progress.started(A, "never run")
    in_thread(said.progress, B, lambda: said.progress.say("of a task that is not at work"))
    said.progress.say("the only one's")
    said.progress.started(B, "never run")
    said.progress.say("nobody's")
    said.progress.tick(0.0)

    assert ["           nobody's", "           of a task that is not at work", f"       ..  {A}  (never run)",
            "           the only one's", "           nobody's"] == said.lines


def test_units_of_several_subjects_are_told_apart(said: Said) -> None:
    """By the subject's name, and only where they would have one label."""
    trials = ["prove/nop/kanban/trial-1", "prove/wrong%3Aa%20b/kanban/trial-1", "prove/claude/m%2Fx/feed@ts/trial-3"]
    said.progress.units(trials)

    assert ["kanban nop", "kanban wrong:a b", "feed@ts#3", None, "other"] == [
        said.progress.unit_of(task) for task in (
            *(f"agent:{trial}" for trial in trials), "template:native.app", "agent:latest/nop/other/trial-1")]


def test_lines_of_many_threads_are_whole(said: Said) -> None:
    """Each line is one that a task has said, with its own unit, and none is lost."""
    tasks = [f"agent:latest/nop/case-{number}/trial-1" for number in range(8)]
    for task in tasks:
        said.progress.started(task, "never run")

    def talk(number: int) -> None:
        with said.progress.at_work(tasks[number]):
            for count in range(200):
                said.progress.say(f"{number} says {count}\nand again {number}")

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line for line in said.lines if not line.startswith("       ..")]

    assert 8 * 200 * 2 == len(lines)
    for first, second in zip(lines[::2], lines[1::2], strict=True):
        number = first.split("case-")[1][0]
        assert first.startswith(f"           [case-{number}] {number} says ")
        assert f"           [case-{number}] and again {number}" == second


def test_nothing_that_a_program_prints_reaches_the_terminal_as_it_is(said: Said) -> None:
    """No control character, in a remark or in the reason why a task runs; and no key."""
    said.progress.clean = lambda text: text.replace("sesame", "[KEY redacted]")
    said.progress.started(A, "file \x1b[2J changed")
    said.progress.say("\x1b]0;title\x07open \x1b[31msesame\x1b[0m\a\r\n\ttabbed")

    assert [f"       ..  {A}  (file  changed)", "           open [KEY redacted]\\x07",
            "             tabbed"] == said.lines


@pytest.mark.parametrize("break_it", [lambda stream: stream.close(), lambda stream: setattr(
    stream, "write", lambda text: (_ for _ in ()).throw(BrokenPipeError()))], ids=["closed", "a broken pipe"])
def test_work_goes_on_where_nobody_reads(break_it: Callable[[io.StringIO], None], said: Said) -> None:
    """Lines that cannot be written are lost, and nothing else."""
    break_it(said.stream)
    said.progress.started(A, "never run")
    said.progress.say("text")
    said.progress.finished(A, "")
    said.progress.close()

    assert 1 == said.progress.ran


def test_characters_that_the_stream_does_not_know() -> None:
    """Question marks instead of a lost line."""
    raw = io.BytesIO()
    progress = Progress(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    progress.note("é …")

    assert b"           ? ?\n" == raw.getvalue()


def test_a_task_that_never_started_is_not_counted(said: Said) -> None:
    """Nor told."""
    said.progress.finished(A, "")

    assert (0, []) == (said.progress.ran, said.lines)


SHORT = """
import sys, time
from evalkit.dag.progress import Progress
progress = Progress()
for number in range(50):
    progress.started(f"grade:latest/nop/a/trial-1:c{number}", "never run")
    progress.tick(0.0)
    progress.finished(f"grade:latest/nop/a/trial-1:c{number}", "pass")
time.sleep(float(sys.argv[1]))
progress.close()
sys.exit("rich" in sys.modules)
"""


@pytest.mark.parametrize(("seconds", "on_terminal"), [("0", True), ("0.6", False)])
def test_rich_is_not_imported_for_a_short_run_or_a_pipe(seconds: str, on_terminal: bool) -> None:
    """It would take longer than the run."""
    with pseudo_terminal() as terminal:
        stream = terminal.stream if on_terminal else subprocess.DEVNULL
        done = subprocess.run([sys.executable, "-c", SHORT, seconds], stderr=stream, check=False, timeout=60,
                              env={"PYTHONPATH": ":".join(sys.path), "TERM": "xterm"})

    assert 0 == done.returncode
