"""Reads JavaScript regular expressions: the text of a pattern -> a tree of what it means.

The grammar is that of ECMAScript with its annex for browsers, which every engine follows without the flags u and v:
there a `{` that opens no quantifier is a brace, an escape without a meaning is the letter itself, `\\12` without a
twelfth group is a character by its octal number. With u or v all of these are errors.

Input: a pattern and whether one of u and v is set. Output: a `Pattern`. Raises `BadPattern`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from attrs import define, field, frozen

__all__ = ["Alternation", "AnyChar", "Assertion", "BackReference", "BadPattern", "CharSet", "ClassEscape", "Group",
           "Literal", "Look", "Node", "Pattern", "Property", "Range", "Repeat", "Sequence", "SetItem", "parse_pattern"]

DEEPEST = 100
"""Groups within groups."""
LAST = 0x10FFFF
_QUANTIFIER = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GROUP_NAME = re.compile(r"<([^<>]*)>")
_SYNTAX = "^$\\.*+?()[]{}|/"
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


class BadPattern(ValueError):
    """A pattern that cannot be used: why, and at which character of it (counted from 0)."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


# Nodes are compared by identity where their place in the tree matters.
@frozen(eq=False)
class Literal:
    """One character."""

    code: int


@frozen(eq=False)
class AnyChar:
    """A dot."""


@frozen(eq=False)
class Assertion:
    r"""`^`, `$`, `\b` or `\B`."""

    kind: str


@frozen(eq=False)
class ClassEscape:
    r"""`\d`, `\w`, `\s` or one of their opposites."""

    letter: str


@frozen(eq=False)
class Property:
    r"""`\p{…}` or `\P{…}`."""

    name: str
    negated: bool
    at: int


@frozen(eq=False)
class Range:
    """Characters of a set, both ends included."""

    first: int
    last: int


SetItem: TypeAlias = Range | ClassEscape | Property


@frozen(eq=False)
class CharSet:
    items: tuple[SetItem, ...]
    negated: bool


@frozen(eq=False)
class Group:
    """A group; `index` counts those that capture, from 1, and is None for one that does not."""

    body: Node
    index: int | None
    name: str | None


@frozen(eq=False)
class Look:
    """A look ahead or behind."""

    body: Node
    behind: bool
    negated: bool


@frozen(eq=False)
class BackReference:
    """What the group `to` matched last."""

    to: int
    at: int


@frozen(eq=False)
class Repeat:
    """`most` is None where there is no limit."""

    body: Node
    least: int
    most: int | None
    lazy: bool


@frozen(eq=False)
class Sequence:
    parts: tuple[Node, ...]


@frozen(eq=False)
class Alternation:
    options: tuple[Node, ...]


Node: TypeAlias = (Literal | AnyChar | Assertion | ClassEscape | Property | CharSet | Group | Look | BackReference
                   | Repeat | Sequence | Alternation)


@frozen
class Pattern:
    root: Node
    names: dict[str, int]
    """The groups that have a name, and their numbers."""


def parse_pattern(text: str, *, unicode: bool = False) -> Pattern:
    """What a pattern means. Raises `BadPattern`."""
    return _Parser(text, unicode).parse()


@define
class _Parser:
    text: str
    unicode: bool
    at: int = 0
    depth: int = 0
    opened: int = 0
    count: int = field(init=False)
    names: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.count, self.names = self._groups()

    def parse(self) -> Pattern:
        root = self._alternation()
        if self.at < len(self.text):
            raise BadPattern("a `)` closes nothing", self.at)
        return Pattern(root, self.names)

    # ---- reading ----
    def _next(self, expected: str) -> bool:
        """Step over a text where it stands here."""
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _groups(self) -> tuple[int, dict[str, int]]:
        """How many groups capture, and those with names: what `\\2` and `\\k` mean depends on groups to come."""
        count, names, at, in_set = 0, {}, 0, False
        while at < len(self.text):
            char = self.text[at]
            if char == "\\":
                at += 1
            elif char == "[":
                in_set = True
            elif char == "]":
                in_set = False
            elif char == "(" and not in_set:
                rest = self.text[at + 1 : at + 4]
                named = rest.startswith("?<") and rest[2:] not in ("=", "!")
                if named or not rest.startswith("?"):
                    count += 1
                if named:
                    name = _GROUP_NAME.match(self.text, at + 2)
                    if not name or not re.fullmatch(r"[\w$]+", name[1]) or name[1][0].isdigit():
                        raise BadPattern("this is no name of a group", at + 2)
                    if name[1] in names:
                        raise BadPattern(f"two groups are named `{name[1]}`", at)
                    names[name[1]] = count
            at += 1
        return count, names

    # ---- the parts of a pattern ----
    def _alternation(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise BadPattern(f"more than {DEEPEST} groups stand within each other", self.at)
        options = [self._sequence()]
        while self._next("|"):
            options.append(self._sequence())
        self.depth -= 1
        return options[0] if len(options) == 1 else Alternation(tuple(options))

    def _sequence(self) -> Node:
        parts = []
        while self.at < len(self.text) and self._peek() not in "|)":
            parts.append(self._term())
        return Sequence(tuple(parts))

    def _term(self) -> Node:
        start = self.at
        atom = self._atom()
        quantified = self._quantifier()
        if quantified is None:
            return atom
        least, most = quantified
        if most is not None and most < least:
            raise BadPattern("the numbers of this quantifier are the wrong way round", start)
        if isinstance(atom, Assertion) or (isinstance(atom, Look) and (atom.behind or self.unicode)):
            raise BadPattern("there is nothing that this quantifier could repeat", start)
        return Repeat(atom, least, most, lazy=self._next("?"))

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._next(sign):
                return bounds
        found = self._match(_QUANTIFIER)
        if not found:
            return None
        least, comma, most = found.groups()
        if len(found.group()) > 20:
            raise BadPattern("this quantifier's numbers are too large", found.start())
        return int(least), (int(most) if most else None) if comma else int(least)

    def _atom(self) -> Node:
        start, char = self.at, self._peek()
        self.at += 1
        match char:
            case "^" | "$":
                return Assertion(char)
            case ".":
                return AnyChar()
            case "(":
                return self._group(start)
            case "[":
                return self._set(start)
            case "\\":
                return self._escape(start)
            case "*" | "+" | "?":
                raise BadPattern(f"there is nothing that `{char}` could repeat", start)
            case "{" | "}" | "]" if self.unicode:
                raise BadPattern(f"a lone `{char}` is an error with the flag u", start)
            case "{" if _QUANTIFIER.match(self.text, start):
                raise BadPattern("there is nothing that this quantifier could repeat", start)
        return self._literal(ord(char), start)

    def _literal(self, code: int, start: int) -> Literal:
        if 0xD800 <= code <= 0xDFFF:
            raise BadPattern("half of a surrogate pair is not a character", start)
        if code > 0xFFFF and not self.unicode and (self._peek() in ("*", "+", "?") or
                                                   _QUANTIFIER.match(self.text, self.at)):
            raise BadPattern("without the flag u JavaScript repeats only half of this character", start)
        return Literal(code)

    def _group(self, start: int) -> Node:
        index = name = look = None
        if not self._next("?"):
            self.opened += 1
            index = self.opened
        elif self._next("="):
            look = (False, False)
        elif self._next("!"):
            look = (False, True)
        elif self._next("<="):
            look = (True, False)
        elif self._next("<!"):
            look = (True, True)
        elif self._peek() == "<":
            found = self._match(_GROUP_NAME)
            assert found is not None  # `_groups` looked at it
            self.opened += 1
            index, name = self.opened, found[1]
        elif not self._next(":"):
            raise BadPattern("JavaScript has no such group, or one of its newest kinds that is not known here", start)
        body = self._alternation()
        if not self._next(")"):
            raise BadPattern("this group is not closed", start)
        return Look(body, *look) if look else Group(body, index, name)

    # ---- escapes ----
    def _escape(self, start: int) -> Node:
        char = self._peek()
        if char in ("b", "B"):
            self.at += 1
            return Assertion("\\" + char)
        if char == "k" and (self.names or self.unicode):
            self.at += 1
            found = self._match(_GROUP_NAME)
            if not found or found[1] not in self.names:
                raise BadPattern("there is no group of this name", start)
            return BackReference(self.names[found[1]], start)
        number = re.compile(r"[1-9][0-9]*").match(self.text, self.at)
        if number and (self.unicode or (len(number[0]) < 6 and int(number[0]) <= self.count)):
            if len(number[0]) > 5 or int(number[0]) > self.count:
                raise BadPattern("there is no group of this number", start)
            self.at = number.end()
            return BackReference(int(number[0]), start)
        found_class = self._class_escape(start)
        return found_class if found_class else self._literal(self._character(start, in_set=False), start)

    def _class_escape(self, start: int) -> ClassEscape | Property | None:
        char = self._peek()
        if char and char in "dDwWsS":
            self.at += 1
            return ClassEscape(char)
        if char and char in "pP" and self.unicode:
            self.at += 1
            found = self._match(re.compile(r"\{([\w=]+)\}"))
            if not found:
                raise BadPattern("this is no property of characters", start)
            return Property(found[1], char == "P", start)
        return None

    def _character(self, start: int, *, in_set: bool) -> int:
        """The character of an escape, whose backslash was read."""
        if self.at >= len(self.text):
            raise BadPattern("a backslash ends the pattern", start)
        char = self.text[self.at]
        self.at += 1
        if char in _CONTROLS:
            return _CONTROLS[char]
        if in_set and char == "b":
            return 8
        if char == "x" and (found := self._match(re.compile(r"[0-9A-Fa-f]{2}"))):
            return int(found[0], 16)
        if char == "u" and (code := self._unicode_escape()) is not None:
            return code
        if char == "c":
            letters = r"[A-Za-z0-9_]" if in_set and not self.unicode else r"[A-Za-z]"
            if found := self._match(re.compile(letters)):
                return ord(found[0]) % 32
            if not self.unicode:  # the backslash stands for itself
                self.at -= 1
                return ord("\\")
        if "0" <= char <= "7" and not self.unicode:
            octal = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?").match(self.text, self.at - 1)
            assert octal is not None
            self.at = octal.end()
            return int(octal[0], 8)
        if char == "0" and self._peek() not in tuple("0123456789"):
            return 0
        if self.unicode and char not in _SYNTAX and not (in_set and char == "-"):
            raise BadPattern(f"there is no escape `\\{char}` with the flag u", start)
        return ord(char)

    def _unicode_escape(self) -> int | None:
        if self.unicode and (found := self._match(re.compile(r"\{([0-9A-Fa-f]+)\}"))):
            if len(found[1].lstrip("0")) > 6 or int(found[1], 16) > LAST:
                raise BadPattern("there is no such character", found.start())
            return int(found[1], 16)
        found = self._match(re.compile(r"([0-9A-Fa-f]{4})"))
        if not found:
            return None
        code = int(found[1], 16)
        if 0xD800 <= code <= 0xDBFF and (low := self._match(re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})"))):
            return 0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        return code

    # ---- sets ----
    def _set(self, start: int) -> CharSet:
        negated = self._next("^")
        items: list[SetItem] = []
        while not self._next("]"):
            if self.at >= len(self.text):
                raise BadPattern("this set is not closed", start)
            place = self.at
            first = self._set_item()
            dash = self.at
            if self._peek() != "-" or self.text[self.at + 1 : self.at + 2] in ("]", ""):
                items.append(first)
                continue
            self.at += 1
            last = self._set_item()
            if isinstance(first, Range) and isinstance(last, Range):
                if first.first > last.first:
                    raise BadPattern("this range of characters is the wrong way round", place)
                items.append(Range(first.first, last.first))
            elif self.unicode:
                raise BadPattern("a class of characters cannot be the end of a range", dash)
            else:  # the dash stands for itself
                items += [first, Range(ord("-"), ord("-")), last]
        return CharSet(tuple(items), negated)

    def _set_item(self) -> SetItem:
        start = self.at
        if not self._next("\\"):
            code = ord(self.text[start])
            self.at += 1
        else:
            found = self._class_escape(start)
            if found:
                return found
            code = self._character(start, in_set=True)
        if 0xD800 <= code <= 0xDFFF:
            raise BadPattern("half of a surrogate pair is not a character", start)
        if code > 0xFFFF and not self.unicode:
            raise BadPattern("without the flag u JavaScript sees the halves of this character", start)
        return Range(code, code)
