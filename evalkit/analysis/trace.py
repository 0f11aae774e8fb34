"""What compiling a project looked at, by who looked: which of its files a change concerns is told from it (again.py).

All of it is plain data, to be kept beside the compiled cases.
"""

from typing import NamedTuple

from evalkit.analysis.survey import Stamp

__all__ = ["FileTrace", "Trace"]


class FileTrace(NamedTuple):
    """A case file: the names of its cases, how many suites it declares, the folder of the suite that it belongs to.

    `tracks`: those that its cases declare. `looked`: what its cases found, relative to the project's root: files and
    folders, with all that is below them. `read`: the files whose content counts. `regexes`: those of its cases that
    are more than a text, each with its flags: they were found to be regexes.
    """

    cases: tuple[str, ...]
    suites: int
    home: str | None
    tracks: tuple[str, ...]
    looked: tuple[str, ...]
    read: tuple[str, ...]
    regexes: tuple[tuple[str, str], ...]


class Trace:
    """`files` by their paths; `looked`: what the suites found by themselves; `reads`: what was read, as it was before.

    Case files are not among the `reads`: the survey has them.
    """

    __slots__ = ("files", "looked", "reads")

    def __init__(self) -> None:
        self.files: dict[str, FileTrace] = {}
        self.looked: set[str] = set()
        self.reads: dict[str, Stamp] = {}
