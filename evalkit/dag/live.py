"""The display on a terminal: a row for each unit (where they are too many: for what is at work), and a line of totals.

Imported only once a display is drawn: rich takes 0.1 s. Every line fits into the terminal's width, all of them into
part of its height, as it is at each picture. The cursor is never hidden, so that a run that is killed leaves nothing to
mend. What agents wrote gets here only through `grade.evidence.plain`, and is never taken for rich's markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, cast

from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from evalkit.dag.board import Row, View
from evalkit.dag.output import Quiet

__all__ = ["Display", "picture"]

_STYLES = {"pass": "green", "fail": "red", "error": "yellow", "waiting": "dim"}
_SHOWN = {"pass": ("passed", "green"), "fail": ("failed", "red"), "error": ("in error", "yellow")}
_FEWEST_ROWS, _MARGIN = 3, 8
"""Rows of the display at least, and lines that are left to what scrolls above it where the terminal is high enough."""


class Display:
    """Draws pictures of a run on a terminal, each in the place of the one before, and lines above them."""

    def __init__(self, stream: Quiet, view: Callable[[int], View]) -> None:
        self._stream = stream
        self._view = view
        self._console = _Console(file=cast(IO[str], stream), force_terminal=True, force_interactive=True,
                                 highlight=False, markup=False, emoji=False, legacy_windows=False)
        self._lines: list[Text] = []
        self._live = Live(self, console=self._console, auto_refresh=False, transient=True, redirect_stdout=False,
                          redirect_stderr=False, vertical_overflow="crop")
        self._size = (0, 0)

    def draw(self, above: Sequence[str] = ()) -> None:
        """Write lines above the picture, and the picture as it is now if it differs from the last one."""
        size = self._stream.size()
        lines = self._picture(size)
        if not above and lines == self._lines and size == self._size:
            return
        self._size, self._lines = size, lines
        self._console.size = ConsoleDimensions(*size)
        self._live.start()
        if above:
            self._print(above)  # which draws the picture too
        else:
            self._live.refresh()

    def close(self, above: Sequence[str] = ()) -> None:
        """Write the last lines and take the picture away."""
        self._live.stop()
        if above:
            self._print(above)

    def _picture(self, size: tuple[int, int]) -> list[Text]:
        columns, lines = size
        most = min(max(_FEWEST_ROWS, lines - _MARGIN), lines - 2)
        return picture(self._view(max(0, most)), columns)

    def _print(self, lines: Sequence[str]) -> None:
        # As they stand: the terminal itself breaks a line that is too long, so that it can be copied as one.
        self._console.print(Text("\n".join(lines)), soft_wrap=True)

    def __rich__(self) -> Text:
        """The picture, asked for by rich whenever it writes something."""
        return Text("\n", no_wrap=True, overflow="crop").join(self._lines)


class _Console(Console):
    """rich's console, which leaves the cursor alone."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


def picture(view: View, columns: int) -> list[Text]:
    """The lines of the display, each at most `columns` - 1 wide: in its last column a terminal may begin a new line."""
    width = max(1, columns - 1)
    names = min(max((cell_len(row.label) for row in view.rows), default=0), max(8, width // 3))
    states = max((cell_len(row.state) for row in view.rows), default=0)
    lines = [_row(row, names, states) for row in view.rows]
    for line in (*lines, total := _totals(view)):
        line.truncate(width, overflow="ellipsis")
    return [*lines, total]


def _row(row: Row, names: int, states: int) -> Text:
    if not row.state:
        return Text(row.label, style="dim")
    name = Text(row.label)
    name.truncate(names, overflow="ellipsis", pad=True)
    seconds = "" if row.seconds is None else _clock(row.seconds)
    return Text.assemble(name, "  ", (f"{row.state:<{states}}", _STYLES.get(row.state, "cyan")), f" {seconds:>7}",
                         ("  " + row.remark if row.remark else "", "dim"), style="")


def _totals(view: View) -> Text:
    """What matters most first: a narrow terminal cuts off the end."""
    line = Text(f"{view.done}/{view.units} done" if view.units else "at work", style="bold")
    verdicts = {name: view.verdicts.get(name, 0) for name in (*_SHOWN, *sorted(set(view.verdicts) - set(_SHOWN)))}
    for index, (name, number) in enumerate((name, number) for name, number in verdicts.items() if number):
        word, style = _SHOWN.get(name, (name, ""))
        line.append(": " if not index else ", ")
        line.append(f"{number} {word}", style=style)
    if view.spent or view.budget is not None:
        line.append(f"  ${view.spent:.2f}" + (f" of ${view.budget:.2f}" if view.budget is not None else ""))
    line.append(f"  {_clock(view.seconds)}  {view.at_work} at work")
    return line


def _clock(seconds: float) -> str:
    """`7s`, `1:23`, `1:02:03`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
