"""Where lines go that are said while tasks run: at once to a pipe, above the live display on a terminal.

On a terminal a thread of its own draws. It begins a moment after the first task has started, so that short runs never
import rich. While it draws, lines wait in a list, and the thread writes all of them with its next picture: tasks never
wait for the terminal, and a thousand quick tasks cost no thousand pictures. Nobody else calls rich.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from typing import IO

from evalkit.dag.board import View

__all__ = ["Output", "Quiet"]

_PATIENCE = 0.3
"""Seconds of work before anything is drawn."""
_PAUSE = 1 / 8
"""Seconds between two pictures."""


class Quiet:
    """A stream that takes everything: where nobody reads any more, or can, work goes on."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.encoding = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            try:
                self.stream.write(text)
            except UnicodeEncodeError:
                self.stream.write(text.encode(self.encoding, "replace").decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()

    def isatty(self) -> bool:
        try:
            return self.stream.isatty()
        except (OSError, ValueError):
            return False

    def fileno(self) -> int:
        return self.stream.fileno()

    def size(self) -> tuple[int, int]:
        """Columns and lines of the terminal as they are now; 80 and 24 where it does not know."""
        try:
            columns, lines = os.get_terminal_size(self.fileno())
        except (OSError, ValueError):
            columns, lines = 0, 0
        return columns or 80, lines or 24


class Output:
    """Lines, and on a terminal a display of `view` under them. plain: lines alone, also on a terminal."""

    def __init__(self, stream: IO[str], view: Callable[[int], View], environ: Mapping[str, str] = os.environ) -> None:
        self.plain = environ.get("TERM") in ("dumb", "unknown")
        self._stream = Quiet(stream)
        self._view = view
        self._lock = threading.RLock()
        self._waiting: list[str] = []
        self._drawing = False
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def live(self) -> bool:
        """Whether there is a display, or will be one if the run goes on: then no sign of life is needed."""
        return self._thread is not None

    def begin(self) -> None:
        """Something is at work."""
        if self._thread is None and not self.plain and self._stream.isatty():
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="display", daemon=True)
            self._thread.start()
            atexit.register(self.close)  # whatever ends the program: the terminal is left as it was

    def write(self, lines: str) -> None:
        """Write whole lines, without the last line's end."""
        with self._lock:
            if self._drawing:
                self._waiting.append(lines)
            else:
                self._stream.write(lines + "\n")
                self._stream.flush()

    def close(self) -> None:
        """Take the display away; all lines are written. A later `begin` draws again."""
        thread = self._thread
        if thread is not None:
            self._stop.set()
            thread.join()
            self._thread = None
            atexit.unregister(self.close)

    # ---- the display's thread ----
    def _run(self) -> None:
        if self._stop.wait(_PATIENCE):
            return
        from evalkit.dag.live import Display  # only here: it imports rich

        display = Display(self._stream, self._view)
        with self._lock:
            self._drawing = True
        try:
            while True:
                display.draw(self._take())
                if self._stop.wait(_PAUSE):
                    break
        finally:
            with self._lock:
                display.close(self._take())
                self._drawing = False

    def _take(self) -> list[str]:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        return waiting
