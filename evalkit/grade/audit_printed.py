"""What a program printed, where nothing else is known of it: the agent `command` tells no calls.

All that it printed may be what it read, or what it did: a listing, the text of a file, its own log with commands and
what they gave, as lines or as JSON. So each line is looked at as it is, as the texts of the JSON that it is, and with
escapes undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from attrs import define, field

from evalkit.execute.transcripts.foreign import decode, texts_within
from evalkit.grade.audit_protected import Place, Protected

__all__ = ["BLIND", "Mention", "Mentions", "printed_texts"]

BLIND = ("the audit was blind in part: this agent does not tell what it does. What it printed was looked through; what "
         "it read without printing it was not seen")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t", '"': '"', "/": "/", "\\": "\\"}
_ESCAPE = re.compile(r'\\([nrt"/\\])')
_REFUSED = ("no such file or directory", "permission denied", "operation not permitted", "not a directory",
            "cannot access", "cannot open", "does not exist", "enoent", "eacces", "declined", "rejected", "not allowed")
_ANSWERS = ("hidden tests", "the solution", "a wrong answer", "the skill ", "guidance ")
"""What the places are whose mere name nobody knows that did not look."""
_ENDS = " \t\r\n\"'`,;:()[]{}<>|\\"


class Mention(NamedTuple):
    """A protected place that a text names. refused: the text says that it could not be read.

    telling: it holds an answer, and nobody comes to know its name by chance.
    """

    place: Place
    path: str
    said: str
    refused: bool
    telling: bool


def printed_texts(text: str) -> Iterator[str]:
    """The texts that a program's output may hold."""
    text = _COLOUR.sub("", text)
    yield text
    for line in text.splitlines():
        if line.lstrip().startswith(("{", "[")):
            try:
                yield from texts_within(decode(line.encode("utf-8", "replace")))
                continue
            except ValueError:
                pass
        if "\\n" in line:
            yield _ESCAPE.sub(lambda found: _ESCAPES[found[1]], line)


@define
class Mentions:
    """Looks for the names of protected places. own: the agent's own folder. known: texts that the agent was given."""

    protected: Protected
    own: str = ""
    known: str = ""
    _places: dict[str, Place] = field(init=False)
    _pattern: re.Pattern[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        relative = {place.path.lstrip("/"): place for place in self.protected.ends}
        self._places = {path: place for path, place in relative.items() if "/" in path}
        self._places |= {place.path: place for place in self.protected.places}
        paths = "|".join(map(re.escape, sorted(self._places, key=len, reverse=True)))
        self._pattern = re.compile(rf"(?<![\w.-])(?:{paths})(?![\w-])" if paths else r"(?!)")

    def of(self, text: str) -> Iterator[Mention]:
        """The places that a text names, line by line, without those that the agent was told of."""
        for line in text.splitlines():
            for found in self._pattern.finditer(line):
                begin = max(line.rfind(end, 0, found.start()) for end in _ENDS) + 1
                end = next((at for at in range(found.end(), len(line)) if line[at] in _ENDS), len(line))
                rest = line[found.end() : end]
                if (self.own and line[begin:].startswith(self.own + "/")) or found[0] in self.known:
                    continue
                place, lower = self._places[found[0]], line.lower()
                telling = place.what.startswith(_ANSWERS) or (place.what == "the case's folder" and
                                                              rest.endswith(".eval"))
                yield Mention(place, place.shown + rest, line.strip(), any(sign in lower for sign in _REFUSED), telling)
