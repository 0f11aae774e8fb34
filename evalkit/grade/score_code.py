"""Source text -> what a score asks of it: the modules that it imports, the names that it uses, itself without comments.

A parser (tree-sitter) tells code from comments, strings, regexes, templates and JSX text; nothing is run. It reads
broken code too: what is amiss is fenced off, the rest is read. From where a comment begins that nobody closes, there
is no code.

A **chain** is a row of names that `.`, `?.` or `['…']` join: `xb.core.sound`. Names in imports and in types are in
none. A name may be bound to a module, or to what a module exports: by an import, by `await import(…)` or `require(…)`,
and by taking a module's object to pieces (`const {init} = xb`). Scopes are not looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, TypeAlias

from attrs import Factory, define, frozen

from evalkit.errors import HarnessError

__all__ = ["DISTRIBUTIONS", "Code", "Language", "Slow", "grammar_version", "read_code"]

Language: TypeAlias = Literal["javascript", "typescript", "python"]
DISTRIBUTIONS: dict[Language, str] = {
    "javascript": "tree-sitter-javascript", "typescript": "tree-sitter-typescript", "python": "tree-sitter-python"}
"""The distribution of each language's grammar."""
_EXTRA = "pip install 'evalkit[code]'"
_NAMES = frozenset({"identifier", "property_identifier", "private_property_identifier", "type_identifier",
                    "shorthand_property_identifier", "shorthand_property_identifier_pattern", "this", "super"})
_PROPERTIES = frozenset({"property_identifier", "private_property_identifier"})
"""Names that refer to nothing in their scope: keys, methods, what stands behind a dot."""
_TYPES = frozenset({"type_annotation", "type_arguments", "type_parameters", "interface_declaration", "type",
                    "type_alias_declaration"})
_PUNCTUATION: dict[str, Literal["join", "open", "close"]] = {
    ".": "join", "?.": "join", "optional_chain": "join", "[": "open", "]": "close"}
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


class Slow(Exception):
    """Reading took longer than it may: who wrote the text decides that."""


@frozen
class Code:
    """What was read. text: with line feeds, comments blanked out, places as they were.

    chains: each used name with what is joined to it; `bound` is what its first name stands for, as (module, names).
    """

    text: str
    modules: frozenset[str]
    chains: frozenset[tuple[str, ...]]
    bound: frozenset[tuple[str, tuple[str, ...]]]
    language: Language
    broken: bool

    def imports(self, name: str) -> bool:
        """Whether a module is imported: it, or one that lies in it.

        In JavaScript a package's own name stands for its main module alone, a path in it for all below.
        """
        return any(self._within(name, module) for module in self.modules)

    def uses(self, api: str) -> bool:
        """Whether a name, or names that stand together (`xb.init`), are used; with `MODULE#NAME`, those of that module,
        whatever the code calls them.
        """
        module, hash_mark, names = api.partition("#")
        if not hash_mark:
            parts = tuple(api.split("."))
            return any(parts == chain[start:start + len(parts)]
                       for chain in self.chains for start in range(len(chain) - len(parts) + 1))
        parts = tuple(names.split("."))
        if self.language == "python":  # what is a module and what is in one, only the installed package knows
            wanted = (*module.split("."), *parts)
            found = ((*own.split("."), *rest) for own, rest in self.bound)
            return any(wanted == chain[:len(wanted)] for chain in found)
        return any(parts == rest[:len(parts)] and self._within(module, own) for own, rest in self.bound)

    def _within(self, name: str, module: str) -> bool:
        if name == module:
            return True
        if self.language == "python":
            return module.startswith(f"{name}.")
        inner = name.split("/")[2 if name.startswith("@") else 1:]
        return bool(inner) and module.startswith(f"{name.rstrip('/')}/")


@cache
def grammar_version(language: Language) -> str:
    """The versions of the parser and of a language's grammar; "none" where they are not installed."""
    try:
        return ", ".join(f"{name} {version(name)}" for name in ("tree-sitter", DISTRIBUTIONS[language]))
    except PackageNotFoundError:
        return "none"


@cache
def _language(language: Language, jsx: bool) -> Any:
    """Raises HarnessError where the extra is not installed, or does not fit together."""
    name = DISTRIBUTIONS[language].replace("-", "_")
    try:
        grammar, parser = import_module(name), import_module("tree_sitter")
        make = grammar.language if language != "typescript" else \
            grammar.language_tsx if jsx else grammar.language_typescript
        return parser.Language(make())
    except ImportError as error:
        raise HarnessError(f"`score code` of {language} needs a parser that is not installed ({error.name})",
                           hint=f"{_EXTRA} has it") from None
    except ValueError as error:
        raise HarnessError(f"the parser and the grammar of {language} do not fit: {error}", hint=_EXTRA) from None


def read_code(text: str, language: Language, *, jsx: bool = False, limit: float = 5.0) -> Code:
    """Read source text. jsx: TypeScript with JSX (JavaScript always may have it). limit: seconds.

    Raises Slow, and HarnessError where the parser is not installed.
    """
    grammar = _language(language, jsx)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    data = text.encode("utf-8", "replace")
    deadline = time.monotonic() + limit
    parser = import_module("tree_sitter").Parser(grammar)
    try:
        tree = parser.parse(lambda offset, _: data[offset:offset + 65536],
                            progress_callback=lambda *_: time.monotonic() >= deadline)
    except ValueError:  # the callback ended it
        raise Slow from None
    end = _unclosed(tree.root_node, data, deadline)
    if end is not None and end < len(data):
        code = read_code(data[:end].decode("utf-8", "replace"), language, jsx=jsx,
                         limit=max(0.1, deadline - time.monotonic()))
        return Code(code.text, code.modules, code.chains, code.bound, language, True)
    found = _Found(data)
    for token in _tokens(tree.root_node, found, deadline):
        found.add(token)
    found.end_chain()
    blank = bytearray(data)
    for start, stop in found.comments:
        blank[start:stop] = bytes(10 if byte == 10 else 32 for byte in data[start:stop])
    bound = {where for chain in found.rooted if (where := found.resolve(chain)) is not None}
    return Code(bytes(blank).decode("utf-8", "replace"), frozenset(found.modules), frozenset(found.chains),
                frozenset(bound), language, bool(tree.root_node.has_error))


def _unclosed(root: Any, data: bytes, deadline: float) -> int | None:
    """Where a `/*` begins that nothing closes: the parser takes it for a division or a regex."""
    if not root.has_error:
        return None
    waiting = [root]
    for node in _walked(waiting, deadline):
        if node.type == "/" and data[node.start_byte:node.start_byte + 2] == b"/*":
            return int(node.start_byte)
        waiting.extend(reversed(node.children))
    return None


def _walked(waiting: list[Any], deadline: float) -> Iterator[Any]:
    """The nodes of a list that is added to meanwhile, the last one first. Raises Slow."""
    count = 0
    while waiting:
        count += 1
        if not count % 1000 and time.monotonic() >= deadline:
            raise Slow
        yield waiting.pop()


@frozen
class _Token:
    """kind: a name, one that refers to nothing, something that joins names, a text between brackets, or else."""

    kind: Literal["name", "property", "join", "open", "text", "close", "other"]
    text: str = ""


def _tokens(root: Any, found: _Found, deadline: float) -> Iterator[_Token]:
    """The tokens of the code that is used: without comments, imports, types, and what stands in texts."""
    waiting = [root]
    for node in _walked(waiting, deadline):
        kind = node.type
        if kind in ("comment", "html_comment"):
            found.comments.append((node.start_byte, node.end_byte))
        elif kind in _IMPORTS or (kind == "export_statement" and node.child_by_field_name("source") is not None):
            found.imported(node)
            yield _Token("other")
        elif kind == "string" or kind in _TYPES:
            found.comments.extend((inner.start_byte, inner.end_byte) for inner in _within(node, "comment"))
            if kind == "string" and _has(node, "interpolation"):  # an f-string of Python
                waiting.extend(reversed(node.children))
            yield _Token("text", _string(node)) if kind == "string" else _Token("other")
        elif kind in _NAMES:
            yield _Token("property" if kind in _PROPERTIES else "name", _text(node))
        elif node.child_count == 0:
            yield _Token(_PUNCTUATION.get(kind, "other"))
        else:
            if kind in ("call_expression", "variable_declarator"):
                found.required(node)
            waiting.extend(reversed(node.children))


@define
class _Found:
    """What the tokens come to. names: what names stand for: a module, and the names within it."""

    data: bytes
    comments: list[tuple[int, int]] = Factory(list)
    modules: set[str] = Factory(set)
    chains: set[tuple[str, ...]] = Factory(set)
    rooted: set[tuple[str, ...]] = Factory(set)
    names: dict[str, tuple[str, tuple[str, ...]]] = Factory(dict)
    pieces: list[tuple[str, str, str]] = Factory(list)
    """(name, exported name, module's name): what a module's object was taken to pieces into."""
    _chain: list[str] = Factory(list)
    _root: bool = False
    _state: Literal["start", "name", "join", "open", "text"] = "start"

    def add(self, token: _Token) -> None:
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
                self.end_chain()
                if token.kind in ("name", "property"):
                    self._chain, self._root, self._state = [token.text], token.kind == "name", "name"
                elif token.kind == "join" and after:  # behind a call or a bracket
                    self._chain, self._root, self._state = [], False, "join"

    def end_chain(self) -> None:
        if self._chain:
            chain = tuple(self._chain)
            self.chains.add(chain)
            if self._root:
                self.rooted.add(chain)
        self._chain, self._root, self._state = [], False, "start"

    def resolve(self, chain: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        """What a chain's first name stands for, with the rest of it."""
        known = self.names.get(chain[0])
        if known is None:
            for name, exported, module in self.pieces:
                if name == chain[0] and module in self.names:
                    own, inner = self.names[module]
                    return own, (*inner, exported, *chain[1:])
            return None
        module, names = known
        return module, (*names, *chain[1:])

    # ---- imports ----
    def imported(self, node: Any) -> None:
        """An import statement, or an export of another module."""
        self.comments.extend((inner.start_byte, inner.end_byte) for inner in _within(node, "comment"))
        if node.type == "future_import_statement" or any(child.type in ("type", "typeof") for child in node.children):
            return
        if node.type == "import_from_statement":
            self._from(node)
            return
        source = node.child_by_field_name("source") or next(iter(_within(node, "string")), None)
        if source is None:
            for name in node.children_by_field_name("name"):
                self._python(name)
            return
        module = _string(source)
        self.modules.add(module)
        if node.type == "export_statement":
            return
        for inner in _within(node, "import_clause", "import_require_clause"):
            for child in inner.named_children:
                if child.type == "identifier":
                    self.names[_text(child)] = (module, ("default",) if inner.type == "import_clause" else ())
                elif child.type == "namespace_import":
                    self.names[_text(child.named_children[-1])] = (module, ())
                for part in _within(child, "import_specifier"):
                    exported = part.child_by_field_name("name")
                    name = part.child_by_field_name("alias") or exported
                    if exported is not None and not any(inner.type == "type" for inner in part.children):
                        self.names[_text(name)] = (module, (_plain(exported),))

    def _python(self, name: Any) -> None:
        """`import a.b`, `import a.b as c`."""
        dotted = name.child_by_field_name("name") if name.type == "aliased_import" else name
        if dotted is None:
            return
        module, alias = _text(dotted), name.child_by_field_name("alias")
        self.modules.add(module)
        if alias is not None:
            self.names[_text(alias)] = (module, ())
        else:
            top = module.partition(".")[0]
            self.names[top] = (top, ())

    def _from(self, node: Any) -> None:
        """`from a.b import c as d`: c may be a module too."""
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        module = _text(source)
        self.modules.add(module)
        for name in node.children_by_field_name("name"):
            inner = name.child_by_field_name("name") if name.type == "aliased_import" else name
            alias = name.child_by_field_name("alias") or inner
            if inner is not None:
                self.modules.add(f"{module}.{_text(inner)}")
                self.names[_text(alias)] = (module, (_text(inner),))

    def required(self, node: Any) -> None:
        """`import('…')`, `require('…')`, and the names that they, or a module's object, are given to."""
        if node.type == "call_expression":
            if (module := _loaded(node)) is not None:
                self.modules.add(module)
            return
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        while value is not None and value.type in ("await_expression", "parenthesized_expression"):
            value = value.named_children[0] if value.named_children else None
        if target is None or value is None:
            return
        module = _loaded(value) if value.type == "call_expression" else None
        if target.type == "identifier" and module is not None:
            self.names[_text(target)] = (module, ())
        elif target.type == "object_pattern":
            for name, exported in _taken(target):
                if module is not None:
                    self.names[name] = (module, (exported,))
                elif value.type == "identifier":
                    self.pieces.append((name, exported, _text(value)))


def _loaded(call: Any) -> str | None:
    """The module of `import('…')` and `require('…')`."""
    what, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if what is None or arguments is None or _text(what) not in ("import", "require"):
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    return _string(given[0]) if given and given[0].type == "string" else None


def _taken(pattern: Any) -> Iterator[tuple[str, str]]:
    """(name, key) of an object pattern's simple parts."""
    for part in pattern.named_children:
        if part.type == "shorthand_property_identifier_pattern":
            yield _text(part), _text(part)
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                yield _text(value), _plain(key)


def _within(node: Any, *kinds: str) -> Iterator[Any]:
    """The nodes of these kinds in a node, itself included."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type in kinds:
            yield inner
        else:
            waiting.extend(reversed(inner.children))


def _has(node: Any, kind: str) -> bool:
    return any(child.type == kind for child in node.children)


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace"))


def _plain(node: Any) -> str:
    return _string(node) if node.type == "string" else _text(node)


def _string(node: Any) -> str:
    """A string literal's text. Escapes stay as they are written: no module or API has one."""
    return "".join(_text(child) for child in node.children
                   if child.type in ("string_fragment", "string_content", "escape_sequence"))
