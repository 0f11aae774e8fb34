"""The live display."""

from __future__ import annotations

import io
import signal
import subprocess
import sys

import pytest
from rich.cells import cell_len

from evalkit.dag.board import Board, View
from evalkit.dag.live import Display, picture
from evalkit.dag.output import Quiet
from evalkit.dag.progress import Progress
from tests.unit.dag.screen import Clock, pseudo_terminal, seen


def trial(name: str, number: int = 1) -> str:
    return f"latest/claude/m%2Fx/{name}/trial-{number}"


class Fixed(Quiet):
    """A terminal of a fixed size that keeps what is written."""

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.text = io.StringIO()
        super().__init__(self.text)
        self.columns, self.lines = columns, lines

    def size(self) -> tuple[int, int]:
        return self.columns, self.lines

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> list[str]:
        return seen(self.text.getvalue(), self.columns)


@pytest.fixture
def board() -> Board:
    return Board(Clock())


def passes(board: Board, seconds: float) -> None:
    assert isinstance(board.clock, Clock)
    board.clock.now += seconds


def test_the_state_of_each_unit(board: Board) -> None:
    """Waiting, at each of its stages, and done with its verdict; how long, and its latest remark."""
    board.units([trial("a"), trial("a", 2), trial("b"), trial("c"), trial("d")])
    for kind in ("agent", "result"):
        board.start(f"{kind}:{trial('a')}", "")
        passes(board, 41)
        board.end(f"{kind}:{trial('a')}", "pass" if kind == "result" else "")
    board.start(f"agent:{trial('a', 2)}", "").remark = "prewarm: zig build"
    passes(board, 3600)
    board.start(f"grade:{trial('b')}:own", "")
    board.start(f"grade:{trial('b')}:hidden", "")
    board.start("toolchain:zig", "").remark = "npm: zig"
    board.start(f"workspace:{trial('d')}", "")
    board.settle(f"agent:{trial('d')}", "error")
    passes(board, 7)
    board.spent(1.5, 5)
    terminal = Fixed()
    Display(terminal, board.view).draw()

    assert """\
zig  toolchain      7s  npm: zig
a    pass         1:22
a#2  agent     1:00:07  prewarm: zig build
b    grading        7s  own, hidden
c    waiting
d    workspace      7s
2/5 done: 1 passed, 1 in error  $1.50 of $5.00  1:01:29  5 at work""".splitlines() == terminal.shown


def test_a_unit_between_two_tasks_waits_and_its_first_verdict_stands(board: Board) -> None:
    """It is done only once a result, or a failure, is told; a unit that nobody announced is counted from its start."""
    board.units([trial("a")])
    board.start(f"agent:{trial('a')}", "")
    board.end(f"agent:{trial('a')}", "")
    assert ("waiting", 0) == (board.view(9).rows[0].state, board.view(9).done)
    board.settle(f"result:{trial('a')}", "error")
    board.settle(f"result:{trial('a')}", "pass")
    board.start(f"agent:{trial('b')}", "")
    view = board.view(9)

    assert (["error", "agent"], {"error": 1}, 1, 2) == (
        [row.state for row in view.rows], dict(view.verdicts), view.done, view.units)


def test_three_hundred_units_on_a_terminal_of_24_lines(board: Board) -> None:
    """Those at work and the totals; what does not fit is counted."""
    board.units([trial(f"case-{number}") for number in range(300)])
    for number in range(5):
        board.start(f"agent:{trial(f'case-{number}')}", "")
    terminal = Fixed()
    display = Display(terminal, board.view)
    display.draw()

    assert [f"case-{number}  agent      0s" for number in range(5)] == terminal.shown[:-1]
    assert "0/300 done  0s  5 at work" == terminal.shown[-1]

    for number in range(5, 40):
        board.start(f"agent:{trial(f'case-{number}')}", "")
    display.draw()
    assert 17 == len(terminal.shown)
    assert ["… and 25 more", "0/300 done  0s  40 at work"] == terminal.shown[-2:]


@pytest.mark.parametrize(("columns", "lines"), [(20, 24), (8, 3), (1, 1), (3, 2), (80, 5), (200, 60)])
def test_a_picture_fits_the_terminal(columns: int, lines: int, board: Board) -> None:
    """Whatever is on it: no line as wide as the terminal, never as many lines as it has (where it has two)."""
    board.units([trial("a-case-with-quite-a-long-name"), *(trial(f"日本語-{number}") for number in range(70))])
    for number in range(70):
        board.start(f"agent:{trial(f'日本語-{number}')}", "").remark = "構築しています " * 30
    board.spent(123.4, 1000)
    terminal = Fixed(columns, lines)
    display = Display(terminal, board.view)
    display.draw()
    rows = picture(board.view(max(0, lines - 2)), columns)

    assert all(cell_len(row.plain) <= max(1, columns - 1) for row in rows)
    assert len(terminal.shown) <= max(1, lines - 1)


def test_lines_scroll_above_the_picture_and_stay_when_it_goes(board: Board) -> None:
    """However long they are, and whatever rich would make of them."""
    board.units([trial("a")])
    board.start(f"agent:{trial('a')}", "")
    terminal = Fixed(40)
    display = Display(terminal, board.view)
    display.draw(["first"])
    display.draw(["[bold]no markup[/] :smile: 'text' 12", "x" * 50])
    lines = ["first", "[bold]no markup[/] :smile: 'text' 12", "x" * 40, "x" * 10]

    assert [*lines, "a  agent      0s", "0/1 done  0s  1 at work"] == terminal.shown
    display.close(["last"])
    assert [*lines, "last"] == terminal.shown


def test_a_picture_is_drawn_only_where_it_differs(board: Board) -> None:
    """From the one before, or where the terminal has another size."""
    board.units([trial("a")])
    terminal = Fixed(20)
    display = Display(terminal, board.view)
    display.draw()
    before = terminal.text.getvalue()
    display.draw()
    assert before == terminal.text.getvalue()
    assert ["a  waiting", "0/1 done  0s  0 at…"] == terminal.shown
    terminal.columns = 80
    display.draw()

    assert ["a  waiting", "0/1 done  0s  0 at work"] == terminal.shown


def test_the_totals_name_what_they_do_not_know() -> None:
    """A verdict of a kind of its own is counted by its word; without units there is no count of them."""
    view = View((), 3, 3, 0, {"not run (budget)": 2, "pass": 1}, 61.0, 0.5)

    assert "3/3 done: 1 passed, 2 not run (budget)  $0.50  1:01  0 at work" == picture(view, 80)[-1].plain
    assert "at work  0s  0 at work" == picture(View((), 0, 0, 0, {}, 0.0), 80)[-1].plain


# ---- on a terminal ----
@pytest.fixture(autouse=True)
def a_good_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_run_on_a_terminal() -> None:
    """The display comes by itself, knows the terminal's size at every moment, and leaves the lines alone at the end."""
    with pseudo_terminal(70) as terminal:
        progress = Progress(terminal.stream)
        progress.units([trial("kanban"), trial("kanban", 2)])
        for number in (1, 2):
            progress.started(f"agent:{trial('kanban', number)}", "never run")
        terminal.wait_for("0/2 done")
        terminal.resize(20, 10)
        with progress.at_work(f"agent:{trial('kanban', 2)}"):
            progress.tick(100)
            progress.say("hello \x1b[2J there, this is a long remark")
        terminal.wait_for("2 at…")
        for number in (1, 2):
            progress.finished(f"agent:{trial('kanban', number)}", "")
        progress.finished("agent:nobody's", "")
        progress.close()
        written = terminal.rest()

    assert ["       ..  agent:latest/claude/m%2Fx/kanban/trial-2  (never run)",
            "           [kanban#2] hello  there, this is a long remark",
            "agent:latest/claude/m%2Fx/kanban/trial-1  (never run)",
            "agent:latest/claude/m%2Fx/kanban/trial-2"] == [
                line[11:] if "s  agent" in line else line for line in seen(written, 200)]
    assert "\x1b[?25l" not in written
    assert "\x1b[2J" not in written


def test_a_display_can_begin_again() -> None:
    """After a close: a proof runs several graphs."""
    with pseudo_terminal() as terminal:
        progress = Progress(terminal.stream)
        for name in ("a", "b"):
            progress.started(f"agent:{trial(name)}", "never run")
            terminal.wait_for("at work")
            progress.close()
        terminal.rest()

    assert [] == seen(terminal.written)


@pytest.mark.parametrize("how", ["dumb", "plainly"])
def test_no_display_where_none_is_wanted(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines and signs of life, as in a pipe."""
    if how == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    clock = Clock()
    with pseudo_terminal() as terminal:
        progress = Progress(terminal.stream, clock)
        if how == "plainly":
            progress.plainly()
        progress.started(f"agent:{trial('a')}", "never run")
        clock.now += 20
        progress.tick(20)
        terminal.wait_for("20 s")
        progress.close()

    assert "\x1b" not in terminal.written


def test_a_terminal_that_goes_away() -> None:
    """Work goes on, and the end comes without an error."""
    with pseudo_terminal() as terminal:
        progress = Progress(terminal.stream)
        progress.started(f"agent:{trial('a')}", "never run")
        terminal.wait_for("at work")
        terminal.hang_up()
        progress.say("nobody reads this")
        progress.finished(f"agent:{trial('a')}", "")
        progress.close()

    assert 1 == progress.ran


INTERRUPTED = """
import time
from evalkit.dag.progress import Progress
progress = Progress()
progress.started("agent:latest/nop/a/trial-1", "never run")
try:
    time.sleep(60)
except KeyboardInterrupt:
    CLOSE
    print("interrupted")
"""


@pytest.mark.parametrize("close", ["progress.close()", "pass"], ids=["closed", "by the end of the program"])
def test_ctrl_c_takes_the_display_away(close: str) -> None:
    """Also where nobody closes it."""
    closed = "close" in close
    with pseudo_terminal() as terminal, subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED.replace("CLOSE", close)], stderr=terminal.stream,
            stdout=terminal.stream if closed else subprocess.DEVNULL,
            env={"PYTHONPATH": ":".join(sys.path), "TERM": "xterm"}) as child:
        terminal.wait_for("at work")
        child.send_signal(signal.SIGINT)
        assert 0 == child.wait(20)
        written = terminal.rest()

    assert (["interrupted"] if closed else []) == seen(written)
    assert "\x1b[?25l" not in written
