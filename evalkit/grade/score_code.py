"""Source text -> what a score asks of it: the modules that it imports, the names that it uses, itself without comments.

A parser (tree-sitter) tells code from comments, strings, regexes, templates and JSX text; nothing is run. It reads
broken code too: what is amiss is fenced off, the rest is read. From where a comment begins that nobody closes, there
is no code.

    text --tree-sitter--> a tree --score_chains, score_imports--> what is used, what it stands for --here--> Code
"""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, TypeAlias

from attrs import frozen

from evalkit.errors import HarnessError
from evalkit.grade.score_chains import Chains, tokens
from evalkit.grade.score_imports import Imports
from evalkit.grade.score_nodes import Slow, walked

__all__ = ["DISTRIBUTIONS", "Code", "Language", "Slow", "grammar_version", "read_code"]

Language: TypeAlias = Literal["javascript", "typescript", "python"]
DISTRIBUTIONS: dict[Language, str] = {
    "javascript": "tree-sitter-javascript", "typescript": "tree-sitter-typescript", "python": "tree-sitter-python"}
"""The distribution of each language's grammar."""
_EXTRA = "pip install 'evalkit[code]'"


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
    comments: list[tuple[int, int]] = []
    imports, used = Imports(), Chains()
    for token in tokens(tree.root_node, comments, imports, deadline):
        used.add(token)
    used.end()
    blank = bytearray(data)
    for start, stop in comments:
        blank[start:stop] = bytes(10 if byte == 10 else 32 for byte in data[start:stop])
    bound = {where for chain in used.rooted if (where := imports.resolve(chain)) is not None}
    return Code(bytes(blank).decode("utf-8", "replace"), frozenset(imports.modules), frozenset(used.chains),
                frozenset(bound), language, bool(tree.root_node.has_error))


def _unclosed(root: Any, data: bytes, deadline: float) -> int | None:
    """Where a `/*` begins that nothing closes: the parser takes it for a division or a regex."""
    if not root.has_error:
        return None
    waiting = [root]
    for node in walked(waiting, deadline):
        if node.type == "/" and data[node.start_byte:node.start_byte + 2] == b"/*":
            return int(node.start_byte)
        waiting.extend(reversed(node.children))
    return None
