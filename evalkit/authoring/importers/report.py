"""What became of each case: carried over, changed on the way, to be looked at, or not carried over, with a reason."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import define, field, frozen

__all__ = ["Entry", "Kind", "Report", "Section"]

Kind: TypeAlias = Literal["carried", "changed", "look", "lost"]
_WORDS: dict[Kind, str] = {"carried": "carried", "changed": "changed", "look": "look at", "lost": "NOT CARRIED"}


@frozen
class Entry:
    """One thing: `what` names it as the source does; `reason` says why it is not as it was."""

    kind: Kind
    what: str
    reason: str = ""

    def line(self) -> str:
        return f"- {_WORDS[self.kind]}: {_plain(self.what)}{': ' if self.reason else ''}{_plain(self.reason)}"


@define
class Section:
    """What became of one case, or of something that is no case."""

    title: str
    origin: str
    """Where it is from, as a path within the source."""
    target: str = ""
    """The file that it became; empty where there is none."""
    entries: list[Entry] = field(factory=list)

    def carried(self, what: str) -> None:
        self.entries.append(Entry("carried", what))

    def changed(self, what: str, reason: str) -> None:
        self.entries.append(Entry("changed", what, reason))

    def look(self, what: str, reason: str) -> None:
        self.entries.append(Entry("look", what, reason))

    def lost(self, what: str, reason: str) -> None:
        self.entries.append(Entry("lost", what, reason))

    def count(self, kind: Kind) -> int:
        return sum(entry.kind == kind for entry in self.entries)


@define
class Report:
    """The report of an import. `shared` are remarks on the whole set."""

    form: str
    cases: list[Section] = field(factory=list)
    shared: Section = field(factory=lambda: Section("the whole set", "", "suite.eval"))

    def case(self, title: str, origin: str) -> Section:
        section = Section(title, origin)
        self.cases.append(section)
        return section

    @property
    def complete(self) -> bool:
        """Whether everything could be carried over."""
        return not any(section.count("lost") for section in self._sections())

    def summary(self) -> str:
        done = sum(bool(section.target) for section in self.cases)
        lost = sum(section.count("lost") for section in self._sections())
        looks = sum(section.count("look") for section in self._sections())
        left = len(self.cases) - done
        parts = [f"{_count(done, 'case')} converted"]
        parts += [f"{_count(left, 'case')} not converted"] if left else []
        parts += [f"{_count(lost, 'thing')} not carried over"] if lost else []
        parts += [f"{_count(looks, 'thing')} to look at"] if looks else []
        return ", ".join(parts)

    def markdown(self) -> str:
        parts = [f"# Import of {self.form}", f"{self.summary()}."]
        for section in self._sections():
            if not section.entries:
                continue
            head = f"## {_plain(section.title)}"
            origin = f"`{_plain(section.origin)}` " if section.origin else ""
            arrow = f"→ `{section.target}`" if section.target else "→ not converted"
            parts += [head, f"{origin}{arrow}", "\n".join(entry.line() for entry in section.entries)]
        return "\n\n".join(parts) + "\n"

    def _sections(self) -> list[Section]:
        return [self.shared, *self.cases]


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _plain(words: str) -> str:
    """One line that a terminal can show, whatever the source holds."""
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" if char != "\n" else " " for char in words)
    return shown if len(shown) <= 300 else shown[:300] + "…"
