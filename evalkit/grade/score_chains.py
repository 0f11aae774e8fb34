"""The rows of names that code uses: `xb.core.sound`, joined by `.`, `?.` or `['…']`.

    a tree --tokens--> names, what joins them, and everything else --Chains--> rows

Names in imports, in types, in texts and comments are in none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from attrs import Factory, define, frozen

from evalkit.grade.score_imports import Imports, loaded
from evalkit.grade.score_nodes import WRAPPED, bare, has_child, string_of, text_of, walked, within

__all__ = ["Chains", "Token", "tokens"]

_NAMES = frozenset({"identifier", "property_identifier", "private_property_identifier", "type_identifier",
                    "shorthand_property_identifier", "shorthand_property_identifier_pattern", "this", "super"})
_PROPERTIES = frozenset({"property_identifier", "private_property_identifier"})
"""Names that refer to nothing in their scope: keys, methods, what stands behind a dot."""
_TYPES = frozenset({"type_annotation", "type_arguments", "type_parameters", "interface_declaration", "type",
                    "type_alias_declaration"})
_PUNCTUATION: dict[str, Literal["join", "open", "close"]] = {
    ".": "join", "?.": "join", "optional_chain": "join", "[": "open", "]": "close"}
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


@frozen
class Token:
    """kind: a name, one that refers to nothing, something that joins names, a text between brackets, or else."""

    kind: Literal["name", "property", "join", "open", "text", "close", "other"]
    text: str = ""


def tokens(root: Any, comments: list[tuple[int, int]], imports: Imports, deadline: float) -> Iterator[Token]:
    """The tokens of the code that is used: without comments, imports, types, and what stands in texts.

    comments, imports: get what is met on the way. Raises Slow.
    """
    waiting = [root]
    for node in walked(waiting, deadline):
        kind = node.type
        if kind in ("comment", "html_comment"):
            comments.append((node.start_byte, node.end_byte))
        elif kind in _IMPORTS or (kind == "export_statement" and node.child_by_field_name("source") is not None):
            comments.extend((inner.start_byte, inner.end_byte) for inner in within(node, "comment"))
            imports.imported(node)
            yield Token("other")
        elif kind == "string" or kind in _TYPES:
            comments.extend((inner.start_byte, inner.end_byte) for inner in within(node, "comment"))
            if kind == "string" and has_child(node, "interpolation"):  # an f-string of Python
                waiting.extend(reversed(node.children))
            yield Token("text", string_of(node)) if kind == "string" else Token("other")
        elif kind in WRAPPED and kind != "parenthesized_expression":
            waiting.append(_stripped(node, comments))
        elif kind in ("member_expression", "subscript_expression"):
            first, *others = node.children
            value = _stripped(first, comments)
            waiting.extend(reversed(others))
            if (module := loaded(bare(value))) is not None:  # (await import('xrblocks')).init()
                imports.load(module)
                comments.extend((inner.start_byte, inner.end_byte) for inner in within(value, "comment"))
                yield Token("name", module)
            else:
                waiting.append(value)
        elif kind in _NAMES:
            yield Token("property" if kind in _PROPERTIES else "name", text_of(node))
        elif node.child_count == 0:
            yield Token(_PUNCTUATION.get(kind, "other"))
        else:
            if kind in ("call_expression", "variable_declarator"):
                imports.required(node)
            waiting.extend(reversed(node.children))


def _stripped(node: Any, comments: list[tuple[int, int]]) -> Any:
    """A value without brackets and types around it, whose comments are put down."""
    while node.type in WRAPPED and (value := bare(node, once=True)) is not node:
        for child in node.children:
            if child != value:
                comments.extend((inner.start_byte, inner.end_byte) for inner in within(child, "comment"))
        node = value
    return node


@define
class Chains:
    """chains: each row. rooted: those whose first name refers to something in its scope."""

    chains: set[tuple[str, ...]] = Factory(set)
    rooted: set[tuple[str, ...]] = Factory(set)
    _chain: list[str] = Factory(list)
    _root: bool = False
    _state: Literal["start", "name", "join", "open", "text"] = "start"

    def add(self, token: Token) -> None:
        """One token more: a chain goes on with `.name` and `['name']`, and ends at anything else."""
        match self._state, token.kind:
            case ("join", "name" | "property"):
                self._chain.append(token.text)
                self._state = "name"
            case ("name", "join"):
                self._state = "join"
            case ("name" | "join", "open"):
                self._state = "open"
            case ("open", "text"):
                self._chain.append(token.text)
                self._state = "text"
            case ("text", "close"):
                self._state = "name"
            case _:
                if self._state == "text":  # `a['b' + …]` names nothing
                    self._chain.pop()
                after = self._state == "start" and token.kind == "join"
                self.end()
                if token.kind in ("name", "property"):
                    self._chain, self._root, self._state = [token.text], token.kind == "name", "name"
                elif token.kind == "join" and after:  # behind a call or a bracket
                    self._chain, self._root, self._state = [], False, "join"

    def end(self) -> None:
        if self._chain:
            chain = tuple(self._chain)
            self.chains.add(chain)
            if self._root:
                self.rooted.add(chain)
        self._chain, self._root, self._state = [], False, "start"
