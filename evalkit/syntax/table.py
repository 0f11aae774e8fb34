"""The grammar as a table: what Lark makes of eval.lark, as plain data that is read without Lark.

Lark compiles the grammar once; what it found is kept as JSON in the user's cache folder, named by the digest of the
grammar, of the two modules that make the table, and of the file of Lark that holds its version. Reading it takes a few
milliseconds; importing Lark and compiling takes 120.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from evalkit.kept import read_kept, write_kept
from evalkit.values import Value

__all__ = ["Table", "grammar_file", "load_table"]


class Table(Value):
    """`states`: for each state, what each terminal does (n >= 0: shift to state n; n < 0: reduce rule ~n), and the
    states that rules lead to. Each is JSON: a short file asks for a tenth of them.

    `rules`: name ("" for rules whose parts go into the rule around them), length, and for each part 0 (dropped),
    1 (kept) or 2 (its parts are taken).
    """

    lexer: str
    keywords: dict[str, str]
    kept: frozenset[str]
    states: list[str]
    rules: list[list[Any]]
    origins: list[str]
    start: int
    end: int

    def plain(self) -> dict[str, Any]:
        return {"lexer": self.lexer, "keywords": self.keywords, "kept": sorted(self.kept), "states": self.states,
                "rules": self.rules, "origins": self.origins, "start": self.start, "end": self.end}

    @classmethod
    def of(cls, data: dict[str, Any]) -> Table:
        return cls(**{**data, "kept": frozenset(data["kept"])})


def grammar_file() -> Path:
    here = Path(__file__).resolve().parents[1]
    folder = here / "grammar" if (here / "grammar").is_dir() else here.parent / "grammar"
    return folder / "eval.lark"


def load_table(cache: Path) -> Table:
    """The table, from the cache where it has one of this grammar. It is made again where the cache is of no use."""
    here = Path(__file__).parent
    lark = find_spec("lark")
    state = hashlib.sha256(grammar_file().read_bytes())
    for path in (here / "grammar.py", Path(__file__), *((Path(lark.origin),) if lark and lark.origin else ())):
        state.update(b"\0" + path.read_bytes())
    key = state.hexdigest()
    path = cache / "grammar" / f"{key[:32]}.json"
    if (kept := read_kept(path, key)) is not None:
        return Table.of(orjson.loads(kept))
    from evalkit.syntax.grammar import lark_table  # Lark is imported where it is needed, and only there

    table = lark_table()
    write_kept(path, key, orjson.dumps(table.plain()))
    return table
