"""Translates JavaScript regular expressions to those of case files: the `regex` package's dialect, multi-line.

A pattern is parsed (jsregex_parse.py) and written out again from what it means, so that nothing that the two languages
read differently can slip through. What is translated:

* `\\d`, `\\w`, `\\b` know ASCII alone in JavaScript; here they know every script.
* A reference to a group that took no part matches the empty text in JavaScript; here it fails. And JavaScript forgets
  what a group matched when the group around it is repeated: where that can make a difference, it is refused.
* `[]`, `[^]`, escapes without a meaning, octal and control escapes, braces that are no quantifier, `$` in names of
  groups.
* `^` and `$` without the flag m, the flags y (at the start alone), s and i; g and d ask for nothing.

Four things stay as they are unless `exact` is set, because they differ only at characters that no source file has:
`.`, `^` and `$` at a lone carriage return, U+2028 and U+2029; `\\s` at U+0085 and U+FEFF. Two always stay: without
the flag u, JavaScript counts a character beyond U+FFFF as two, and with i but without u it tells U+017F, U+212A and
U+1E9E from `s`, `k` and `ß`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TypeAlias

import regex
from attrs import define, field, frozen

from evalkit.authoring.importers.jsregex_parse import (
    LAST,
    Alternation,
    AnyChar,
    Assertion,
    BackReference,
    BadPattern,
    CharSet,
    ClassEscape,
    Group,
    Literal,
    Look,
    Node,
    Pattern,
    Property,
    Range,
    Repeat,
    Sequence,
    SetItem,
    parse_pattern,
)

__all__ = ["LARGEST", "LONGEST", "BadPattern", "Translation", "translate"]

LONGEST = 4_000
"""Characters of a regex in a case file."""
LARGEST = 50_000
"""Parts of a regex once its repetitions are written out, as the `regex` package does: more takes too much memory."""
Ranges: TypeAlias = list[tuple[int, int]]
_SPECIAL = set("\\^$.|?*+()[{")
_LINE_ENDS = r"\n\r\u2028\u2029"
_SPACES: Ranges = [(9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
                   (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)]
_CLASSES: dict[str, Ranges] = {"d": [(48, 57)], "w": [(48, 57), (65, 90), (95, 95), (97, 122)], "s": _SPACES}
_CLASS_TEXT = {"d": "0-9", "w": "A-Za-z0-9_"}


@frozen
class Translation:
    """A pattern in the dialect of case files. `literal`: the text that it stands for, where it is nothing but text."""

    pattern: str
    flags: str
    literal: str | None = None


def translate(pattern: str, flags: str = "m", *, exact: bool = False) -> Translation:
    """A JavaScript pattern that finds the same in the dialect of case files.

    `flags` are JavaScript's. Raises `BadPattern` where the pattern is not valid or cannot be translated.
    """
    for flag in flags:
        if flag not in "dgimsuvy" or flags.count(flag) > 1 or {"u", "v"} <= set(flags):
            raise BadPattern(f"`{flags}` are no flags of JavaScript", 0)
    if "v" in flags:
        _refuse_set_operations(pattern)
    parsed = parse_pattern(pattern, unicode="u" in flags or "v" in flags)
    if _size(parsed.root) > LARGEST:
        raise BadPattern("its quantifiers ask for too many repetitions", 0)
    writer = _Writer(parsed, multiline="m" in flags, ignorecase="i" in flags, dotall="s" in flags, exact=exact)
    text = writer.write()
    if "y" in flags:
        text = rf"\A(?:{text})"
    result = Translation(text, "".join(sorted({"i", "s"} & set(flags))), _literal(parsed.root, flags))
    _compile(result)
    return result


def _refuse_set_operations(pattern: str) -> None:
    found = regex.search(r"\[(?:\\.|[^\]\\])*?(?:\[|--|&&|\\q)", pattern)
    if found:
        raise BadPattern("sets within sets and set operations (the flag v) have no equivalent", found.start())


def _size(node: Node) -> int:
    """How many parts a node has when what must be repeated is written out."""
    match node:
        case Alternation(options=parts) | Sequence(parts=parts):
            return 1 + sum(map(_size, parts))
        case Group(body=body) | Look(body=body):
            return 1 + _size(body)
        case Repeat(body=body, least=least):
            return max(1, least) * _size(body)
    return 1


def _literal(root: Node, flags: str) -> str | None:
    parts = root.parts if isinstance(root, Sequence) else ()
    if not parts or {"i", "y"} & set(flags):
        return None
    codes = [part.code for part in parts if isinstance(part, Literal)]
    return "".join(map(chr, codes)) if len(codes) == len(parts) else None


def _compile(result: Translation) -> None:
    """What the dialect itself refuses: a property that it does not know, a quantifier that is too large."""
    if not result.pattern:
        raise BadPattern("an empty pattern matches everything", 0)
    if len(result.pattern) > LONGEST:
        raise BadPattern(f"a regex of a case file has at most {LONGEST:,} characters", 0)
    flags = regex.MULTILINE | (regex.IGNORECASE if "i" in result.flags else 0) | (
        regex.DOTALL if "s" in result.flags else 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            regex.compile(result.pattern, flags)
    except (regex.error, ValueError, OverflowError, RecursionError, Warning) as error:
        raise BadPattern(f"the dialect of case files has no equivalent: {error}", 0) from error


@define
class _Writer:
    """Writes a pattern's tree. `paths`: of every group and reference, the nodes around it with the branch taken."""

    parsed: Pattern
    multiline: bool
    ignorecase: bool
    dotall: bool
    exact: bool
    groups: dict[int, tuple[int, _Path]] = field(factory=dict)
    references: dict[BackReference, tuple[int, _Path]] = field(factory=dict)
    named: dict[int, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.named = {number: name for name, number in self.parsed.names.items() if name.isidentifier()}

    def write(self) -> str:
        for order, (node, path) in enumerate(_walk(self.parsed.root, ())):
            if isinstance(node, BackReference):
                self.references[node] = (order, path)
            elif isinstance(node, Group) and node.index is not None:
                self.groups[node.index] = (order, (*path, (node, 0)))
        return self._node(self.parsed.root)

    def _node(self, node: Node, *, digit_follows: bool = False) -> str:
        match node:
            case Alternation(options=options):
                return "|".join(self._node(option) for option in options)
            case Sequence(parts=parts):
                return self._sequence(parts)
            case Literal(code=code):
                return _character(code, _SPECIAL)
            case AnyChar():
                return f"[^{_LINE_ENDS}]" if self.exact and not self.dotall else "."
            case Assertion(kind=kind):
                return self._assertion(kind)
            case ClassEscape() | Property():
                return self._set((node,), negated=False)
            case CharSet(items=items, negated=negated):
                return self._set(items, negated=negated)
            case Group(body=body, index=index):
                name = self.named.get(index) if index else None
                opening = "(?:" if index is None else f"(?<{name}>" if name else "("
                return f"{opening}{self._node(body)})"
            case Look(body=body, behind=behind, negated=negated):
                return f"(?{'<' if behind else ''}{'!' if negated else '='}{self._node(body)})"
            case BackReference():
                return self._reference(node, digit_follows)
            case Repeat(body=body, least=least, most=most, lazy=lazy):
                text = self._node(body)
                if isinstance(body, Look):
                    text = f"(?:{text})"
                return f"{text}{_quantifier(least, most)}{'?' if lazy else ''}"

    def _sequence(self, parts: tuple[Node, ...]) -> str:
        texts = []
        for index, part in enumerate(parts):
            after = parts[index + 1] if index + 1 < len(parts) else None
            digit = isinstance(after, Literal) and chr(after.code) in "0123456789"
            texts.append(self._node(part, digit_follows=digit))
        return "".join(texts)

    def _assertion(self, kind: str) -> str:
        if kind.startswith("\\"):
            return f"(?a:{kind})"
        if not self.multiline:
            return r"\A" if kind == "^" else r"\Z"
        if not self.exact:
            return kind
        return f"(?<![^{_LINE_ENDS}])" if kind == "^" else f"(?![^{_LINE_ENDS}])"

    # ---- sets ----
    def _set(self, items: tuple[SetItem, ...], *, negated: bool) -> str:
        letters = {item.letter for item in items if isinstance(item, ClassEscape)}
        if not items or any(letter.swapcase() in letters for letter in letters):
            everything = bool(items) is not negated
            return r"[\s\S]" if everything else "(?!)"
        if letters & ({"D", "W", "S"} if self.exact else {"D", "W"}):
            return self._by_ranges(items, negated)
        inside = "".join(self._item(item, index == 0) for index, item in enumerate(items))
        if len(items) == 1 and not negated and (isinstance(items[0], Property) or inside in (r"\s", r"\S")):
            return inside
        return f"[{'^' if negated else ''}{inside}]"

    def _by_ranges(self, items: tuple[SetItem, ...], negated: bool) -> str:
        """A set that holds the opposite of a class: worked out, since a set cannot hold such a set here."""
        ranges: Ranges = []
        for item in items:
            if isinstance(item, Property):
                raise BadPattern("a set of a property and the opposite of a class has no equivalent", item.at)
            if isinstance(item, Range):
                ranges.append((item.first, item.last))
            else:
                known = _CLASSES[item.letter.lower()]
                ranges += known if item.letter.islower() else _opposite(known)
        inside = _merged(ranges)
        outside = _opposite(inside)
        if negated:
            inside, outside = outside, inside
        if not inside or not outside:
            return "(?!)" if not inside else r"[\s\S]"
        shorter = inside if len(inside) < len(outside) else outside
        text = "".join(_range(first, last, index == 0) for index, (first, last) in enumerate(_familiar(shorter)))
        return f"[{'^' if shorter is outside else ''}{text}]"

    def _item(self, item: SetItem, first: bool) -> str:
        match item:
            case Range():
                return _range(item.first, item.last, first)
            case Property():
                return f"\\{'P' if item.negated else 'p'}{{{item.name}}}"
            case ClassEscape(letter="s") if self.exact:
                return "".join(_range(start, end, False) for start, end in _SPACES)
            case ClassEscape(letter=letter):
                return _CLASS_TEXT.get(letter, f"\\{letter}")

    # ---- references ----
    def _reference(self, node: BackReference, digit_follows: bool) -> str:
        if node.to not in self.groups:
            raise BadPattern("there is no group of this number", node.at)
        group_order, group_path = self.groups[node.to]
        order, path = self.references[node]
        if any(isinstance(around, Look) and around.behind for around, _ in (*group_path, *path)):
            raise BadPattern("a reference to a group from or into a look behind, which JavaScript reads from right "
                             "to left, cannot be translated", node.at)
        common = 0
        while common < min(len(path), len(group_path)) and path[common] == group_path[common]:
            common += 1
        around_both = [around for around, _ in path[:common]]
        below = [around for around, _ in group_path[common:]]
        parted = common < min(len(path), len(group_path)) and path[common][0] is group_path[common][0]
        other_option = parted and isinstance(path[common][0], Alternation)
        unseen = any(isinstance(around, Look) and around.negated for around in below)
        if order < group_order or common == len(group_path) or other_option or unseen:
            return "(?:)"  # JavaScript knows nothing of the group here, or not any more
        optional = any(_may_skip(around) for around in below)
        forgets = optional and any(_repeats(around) for around in around_both)
        for index, around in enumerate(below):
            forgets |= _repeats(around) and any(_may_skip(inner) for inner in below[index + 1 :])
            forgets |= isinstance(around, Repeat) and isinstance(around.body, Look)
        if forgets:
            raise BadPattern("a reference to a group that a repetition may leave out, where JavaScript forgets what "
                             "it matched before, cannot be translated", node.at)
        name = self.named.get(node.to)
        number = f"\\g<{node.to}>" if node.to > 9 or digit_follows else f"\\{node.to}"
        text = f"(?P={name})" if name else number
        return f"(?({name or node.to}){text})" if optional else text


_Path: TypeAlias = tuple[tuple[Node, int], ...]


def _walk(node: Node, path: _Path) -> Iterator[tuple[Node, _Path]]:
    """Every node, each after those within it, with the nodes around it and which of their parts it stands in."""
    match node:
        case Alternation(options=children) | Sequence(parts=children):
            pass
        case Group(body=body) | Look(body=body) | Repeat(body=body):
            children = (body,)
        case _:
            children = ()
    for index, child in enumerate(children):
        # Two parts of a sequence are on one way; two options are not.
        yield from _walk(child, (*path, (node, 0 if isinstance(node, Sequence) else index)))
    yield node, path


def _may_skip(node: Node) -> bool:
    return isinstance(node, Alternation) or (isinstance(node, Repeat) and node.least == 0)


def _repeats(node: Node) -> bool:
    return isinstance(node, Repeat) and (node.most is None or node.most > 1)


# ---- characters ----
def _quantifier(least: int, most: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    if short:
        return short
    if least == most:
        return f"{{{least}}}"
    return f"{{{least},{'' if most is None else most}}}"


_NAMED = {9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r"}


def _character(code: int, special: set[str]) -> str:
    char = chr(code)
    if char in special:
        return "\\" + char
    if code in _NAMED:
        return _NAMED[code]
    if char.isprintable():
        return char
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


_IN_SET = set("\\[]^-&|~")


def _range(first: int, last: int, at_start: bool) -> str:
    """A range within a set. Signs that sets of some dialects double as operators are escaped."""
    special = _IN_SET if at_start else _IN_SET - {"^"}
    ends = [_character(first, special)]
    if last > first:
        ends = [*ends, *("-" if last > first + 1 else ""), _character(last, special)]
    return "".join(ends)


def _familiar(ranges: Ranges) -> Ranges:
    """Letters before digits, as people write them."""
    return sorted(ranges, key=lambda item: (not chr(item[0]).isalpha(), item)) if len(ranges) < 6 else ranges


def _merged(ranges: Ranges) -> Ranges:
    merged: Ranges = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _opposite(ranges: Ranges) -> Ranges:
    gaps, start = [], 0
    for first, last in _merged(ranges):
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    if start <= LAST:
        gaps.append((start, LAST))
    return gaps
