"""What differs between two runs of one conversation and means nothing: where an agent works, when, on what machine.

A **root** is a folder that a request tells of by itself: the agent's working directory, what lies above it, and where
the agent's program keeps its own things. In a cassette it stands as `{{evalkit.NAME}}`; who plays the cassette gets
their own. The phrases are those of agents' programs (Claude Code, Codex, Gemini CLI, opencode).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import field, frozen

__all__ = ["Roots", "plain_system", "plain_text", "roots_of", "steady", "without_reminders"]

_WORKSPACE = re.compile(r"(?:working (?:in the )?director(?:y|ies)|<cwd>|\bcwd\b)(?: is)?[\s:=`\"']*(/[^\s<>`\"'\\]+)",
                        re.IGNORECASE)
_CONFIG = re.compile(r"`(/[^\s`]+)/projects/-[^\s`/]+/memory/")
_REMINDER = re.compile(r"<system-reminder>(?:(?!<system-reminder>).)*?</system-reminder>\s*", re.DOTALL)
"""One that is opened again before its end is none: looking for the end of each would take quadratic time."""
_SAFE = re.compile(r"[^\"\\\x00-\x1f]+")
"""What needs no escapes in JSON, and none in JSON within JSON."""
_BILLING = re.compile(r"^x-anthropic-billing-header:.*$\n?", re.MULTILINE)
_MACHINE = re.compile(r"^([ \t]*-? ?(?:OS Version|Platform|Shell|Is (?:a|directory a) git repo(?:sitory)?))\s*:.*$",
                      re.MULTILINE)

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
# The number before a month may be a file's size, as `ls -l` has it: there a day and a time follow.
_DATES = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|\s?[+-]\d\d:?\d\d)?)?\b"), "<date>"),
    (re.compile(rf"\b(?:{_DAY},? )?(?:{_MONTH} +\d{{1,2}}|\d{{1,2}} {_MONTH}(?! +\d{{1,2}} ))"
                r"(?:,? +(?:\d{4}|\d\d:\d\d(?::\d\d)?))*"
                r"(?: +(?:UTC|GMT|[A-Z]{3,4}))?(?: +\d{4})?\b"), "<date>"),
)
_SHORT_LIVED = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|µs|ns|s|secs?|seconds?|minutes?)\b"), "<duration>"),
    (re.compile(r"\b(127\.0\.0\.1|localhost):\d+"), r"\1:<port>"),
    (re.compile(r"\b(pid|PID)[ =:]+\d+"), r"\1 <pid>"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "<address>"),
    (re.compile(r"/tmp/[^\s\"'`<>:,)]+"), "<temporary>"),
)


@frozen
class Roots:
    """Folders by their names: longest first, so that one within another is found before it."""

    folders: tuple[tuple[str, str], ...]
    _pattern: re.Pattern[str] = field(init=False, repr=False, eq=False)

    @_pattern.default
    def _compiled(self) -> re.Pattern[str]:
        if not self.folders:
            return _NOTHING
        # `/tmp/work` does not stand in `/tmp/work-2`.
        return re.compile(f"({'|'.join(re.escape(folder) for _, folder in self.folders)})(?![A-Za-z0-9_-])")

    def hide(self, text: str) -> str:
        """Folders become names."""
        return self._pattern.sub(self._name, text)

    def found(self, text: str) -> list[tuple[int, int, str]]:
        """Where a folder stands in a text: start, end, and its name."""
        return [(*match.span(), self._name(match)) for match in self._pattern.finditer(text)]

    def _name(self, match: re.Match[str]) -> str:
        return _token(next(name for name, folder in self.folders if folder == match[1]))

    def show(self, text: str) -> str:
        """Names become folders. Raises KeyError for a name that this request does not tell."""
        known = dict(self.folders)
        return _TOKEN.sub(lambda found: known[found[1]], text) if "{{evalkit." in text else text

    def get(self, name: str) -> str | None:
        return dict(self.folders).get(name)


_NOTHING = re.compile(r"(?!)")
_TOKEN = re.compile(r"\{\{evalkit\.([a-z_]+)\}\}")


def _token(name: str) -> str:
    return "{{evalkit." + name + "}}"


def roots_of(texts: Iterable[str]) -> Roots:
    """The roots that a request's texts tell of; the first mention counts."""
    found: dict[str, str] = {}
    for text in texts:
        for name, pattern in (("workspace", _WORKSPACE), ("config", _CONFIG)):
            if name not in found and (match := pattern.search(text)):
                found[name] = match[1].rstrip("/.,;:)")
    if (workspace := found.get("workspace")) is not None:
        found["slug"] = re.sub(r"[^A-Za-z0-9]", "-", workspace)
        above = workspace.rpartition("/")[0]
        if above.count("/") >= 2:
            found["above"] = above
    usable = {name: folder for name, folder in found.items() if len(folder) > 4 and _SAFE.fullmatch(folder)}
    return Roots(tuple(sorted(usable.items(), key=lambda item: -len(item[1]))))


def plain_system(text: str) -> str:
    """A system text without what bills, dates and the machine."""
    text = _MACHINE.sub(r"\1: <machine>", _BILLING.sub("", text))
    return _replaced(text, _DATES)


def plain_text(text: str) -> str:
    """What a person or a model said: untouched but for what an agent's program put in."""
    return _REMINDER.sub(lambda found: plain_system(found[0]), text)


def without_reminders(text: str) -> str:
    return _REMINDER.sub("", text)


def steady(text: str) -> str:
    """What a tool returned, without times, durations, numbers of processes and names of temporary files."""
    return _replaced(plain_text(text), (*_DATES, *_SHORT_LIVED))


def _replaced(text: str, table: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, by in table:
        text = pattern.sub(by, text)
    return text
