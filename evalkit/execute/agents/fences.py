"""The answer in a model's reply: which of its fenced code blocks is the file that was asked for.

Blocks are those of CommonMark (https://spec.commonmark.org/0.31.2/#fenced-code-blocks): a line with three or more
backticks or tildes opens one, a line with as many or more of the same and nothing else closes it. So a block that holds
fences itself is whole where its own fence is longer, and ends at the first inner one where it is not. A block that is
not closed goes on to the end of the reply. Blocks without anything in them do not count. (Otherwise than there an
opening line may be indented by more than three columns: replies put blocks into lists.)

Of several blocks, one is the answer, by the first of these that there is:

1. one whose opening line names the file (```` ```js main.js ````, ```` ```js title="main.js" ````),
2. one in the language of the file, by its ending,
3. one without a language,
4. any.

Of several that are equal in this the longest is, and of equally long ones the first: what stands around the file are
explanations of parts of it. A reply without a block is the answer itself.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from attrs import frozen

__all__ = ["Answer", "answer_in"]

_OPENING = re.compile(r"(?P<indent> *)(?P<fence>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>.*?)[ \t]*$")
_LANGUAGES = {
    "js": "js javascript mjs cjs jsx node", "mjs": "js javascript mjs", "cjs": "js javascript cjs",
    "jsx": "jsx js javascript", "ts": "ts typescript tsx mts", "tsx": "tsx ts typescript", "py": "py python python3",
    "html": "html htm", "css": "css", "json": "json jsonc json5", "yaml": "yaml yml", "yml": "yaml yml",
    "md": "md markdown", "sh": "sh bash shell zsh", "sql": "sql postgresql postgres pgsql", "rs": "rs rust",
    "go": "go golang", "zig": "zig", "c": "c", "cpp": "cpp c++ cc cxx", "h": "c h cpp c++", "java": "java",
    "kt": "kt kotlin", "swift": "swift", "rb": "rb ruby", "toml": "toml", "xml": "xml svg", "svg": "svg xml",
    "txt": "txt text plain plaintext",
}
"""The words for a language that opening lines have, by the ending of a file in it."""


@frozen
class Answer:
    """The answer, with a line break at its end ("" where the reply holds none). notes: what was odd about it."""

    text: str
    notes: tuple[str, ...] = ()


@frozen
class _Block:
    info: str
    text: str
    closed: bool


def answer_in(reply: str, file: str) -> Answer:
    """The answer in a reply, for a file of this name."""
    blocks = [block for block in _blocks(reply) if block.text.strip()]
    if not blocks:
        text = reply.strip()
        if not text or any(_OPENING.match(line) for line in reply.splitlines()):
            return Answer("", ("the reply holds no answer",))
        return Answer(text + "\n", ("the reply has no code block: all of it is the answer",))
    ranks = [_rank(block, PurePosixPath(file)) for block in blocks]
    fitting = [block for block, rank in zip(blocks, ranks, strict=True) if rank == min(ranks)]
    chosen = max(fitting, key=lambda block: len(block.text))
    notes = [] if chosen.closed else ["the answer's code block is not closed"]
    if len(blocks) > 1:
        notes.append(f"block {blocks.index(chosen) + 1} of {len(blocks)} is the answer")
    return Answer(chosen.text, tuple(notes))


def _rank(block: _Block, file: PurePosixPath) -> int:
    words = re.split(r"[\s,{}()=\"':]+", block.info)
    if file.name in words or file.as_posix() in words:
        return 1
    ending = file.suffix.removeprefix(".").lower()
    language = words[0].lower()
    if language and language in (*_LANGUAGES.get(ending, "").split(), ending):
        return 2
    return 4 if language else 3


def _blocks(reply: str) -> list[_Block]:
    blocks: list[_Block] = []
    opening: re.Match[str] | None = None
    lines: list[str] = []
    for line in re.split(r"\r\n|\n|\r", reply):
        if opening is None:
            if found := _OPENING.match(line):
                opening, lines = found, []
        elif _closes(line, opening["fence"], len(opening["indent"]) + 3):
            blocks.append(_Block(opening["info"], _text(lines), closed=True))
            opening = None
        else:
            indent = len(opening["indent"])
            lines.append(line[min(indent, len(line) - len(line.lstrip(" "))):])
    if opening is not None:
        blocks.append(_Block(opening["info"], _text(lines).rstrip("\n") + "\n", closed=False))
    return blocks


def _closes(line: str, fence: str, furthest: int) -> bool:
    found = re.fullmatch(r"( *)(`{3,}|~{3,})[ \t]*", line)
    return found is not None and found[2].startswith(fence) and len(found[1]) <= furthest


def _text(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)
