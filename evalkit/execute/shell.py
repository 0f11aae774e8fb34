"""A shell command's text -> its simple commands: words, and the files that its output is redirected to.

It reads as much of the shell's language as is needed to tell which files a command may write: quotes, comments, here
documents, redirections, operators, and the commands within `$(…)` and backticks. Nothing is expanded: a word in which
the shell would put something else (a variable, a substitution, braces) is marked as open. What it does not understand
raises `Unclear`: a command that is half understood would be a wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import define, field, frozen

__all__ = ["Simple", "Unclear", "Word", "simple_commands"]

_OPERATORS = ("&>>", "<<<", "<<-", "&&", "||", "|&", ";;", "&>", ">>", ">|", ">&", "<<", "<&", "<>",
              ";", "&", "|", "(", ")", "<", ">")
_WRITING = frozenset({"&>>", "&>", ">>", ">|", ">&", "<>", ">"})
_READING = frozenset({"<", "<<<", "<&"})
_LEADING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "time", "{"})
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_DEEPEST = 10


class Unclear(ValueError):
    """A command that is not understood, and why."""


@define
class Word:
    """A word without its quotes. open: the shell puts something else in it. glob: it has an unquoted pattern."""

    text: str = ""
    open: bool = False
    glob: bool = False
    quoted: bool = False


@frozen
class _Operator:
    text: str


@define
class Simple:
    """One command: its words without leading assignments, and the files that it is redirected to.

    then: the operator behind it, "" where there is none.
    """

    words: list[Word] = field(factory=list)
    outputs: list[Word] = field(factory=list)
    background: bool = False
    then: str = ""


def simple_commands(text: str, deep: int = 0) -> list[Simple]:
    """All simple commands of a text, also those within substitutions. Raises `Unclear`."""
    if deep > _DEEPEST:
        raise Unclear("its substitutions are nested too deeply")
    lexer = _Lexer(text)
    tokens = list(lexer.tokens())
    found = [command for inner in lexer.inner for command in simple_commands(inner, deep + 1)]
    current, skipping = Simple(), False
    for index, token in enumerate(tokens):
        if isinstance(token, Word):
            before = tokens[index - 1] if index else None
            if isinstance(before, _Operator) and before.text in _WRITING:
                if not (before.text == ">&" and re.fullmatch(r"\d+|-", token.text)):
                    current.outputs.append(token)
            elif not (isinstance(before, _Operator) and before.text in _READING) and not skipping:
                skipping = _add(current, token)
        elif token.text not in _WRITING | _READING:
            current.background = token.text == "&"
            current.then = token.text
            found += [current] if current.words or current.outputs else []
            current, skipping = Simple(), False
        elif not isinstance(tokens[index + 1] if index + 1 < len(tokens) else None, Word):
            raise Unclear("a redirection leads nowhere")
    return [*found, current] if current.words or current.outputs else found


def _add(command: Simple, word: Word) -> bool:
    """Add a word; whether what follows up to the next operator is no command (`for name in …`)."""
    if not command.words and not word.quoted:
        if word.text in ("case", "select", "function", "coproc"):
            raise Unclear(f"it has a `{word.text}`")
        if word.text == "for":
            return True
        if word.text in _LEADING | _CLOSING or _ASSIGNMENT.match(word.text):
            return False
    command.words.append(word)
    return False


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text.replace("\\\n", "")
        self.at = 0
        self.inner: list[str] = []
        self._word: Word | None = None
        self._documents: list[tuple[str, bool]] = []

    def tokens(self) -> Iterator[Word | _Operator]:
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            operator = next((known for known in _OPERATORS if text.startswith(known, self.at)), "")
            if char in " \t\r":
                yield from self._ended()
                self.at += 1
            elif char == "\n":
                yield from self._ended()
                self.at += 1
                self._skip_documents()
                yield _Operator(";")
            elif char == "#" and self._word is None:
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif text.startswith(("<(", ">("), self.at):
                self._substituted(2)
            elif operator:
                if operator[0] in "<>" and self._word is not None and self._word.text.isdigit():
                    self._word = None  # the number of a stream
                yield from self._ended()
                self.at += len(operator)
                if operator in ("<<", "<<-"):
                    self._document()
                else:
                    yield _Operator(operator)
            else:
                self._char(char)
        yield from self._ended()
        if self._documents:
            raise Unclear("a here document has no end")

    def _ended(self) -> Iterator[Word]:
        if self._word is not None:
            word, self._word = self._word, None
            yield word

    @property
    def word(self) -> Word:
        if self._word is None:
            self._word = Word()
        return self._word

    def _char(self, char: str) -> None:
        """Take what begins here into the word."""
        word = self.word
        if char == "'":
            word.text += self._until("'")
            word.quoted = True
        elif char == '"':
            word.quoted = True
            self.at += 1
            self._double(word)
        elif char == "\\":
            word.text += self.text[self.at + 1 : self.at + 2]
            word.quoted = True
            self.at += 2
        elif char in "$`":
            self._dollar()
        else:
            word.glob |= char in "*?["
            # `{a,b}` and `~` are expanded; `{}` and a lone brace are not.
            word.open |= (char == "{" and self.text[self.at + 1 : self.at + 2] not in ("}", "", " ", "\n", "\t")) or (
                char == "~" and not word.text)
            word.text += char
            self.at += 1

    def _double(self, word: Word) -> None:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            if char in "$`":
                self._dollar()
            elif char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\"):
                word.text += self.text[self.at + 1]
                self.at += 2
            else:
                word.text += char
                self.at += 1
        raise Unclear("a quote has no end")

    def _dollar(self) -> None:
        """A variable, an arithmetic expression or the output of a command: the word is open."""
        text, word = self.text, self.word
        if text.startswith("`", self.at):
            self.inner.append(self._until("`"))
            word.open = True
        elif text.startswith("$((", self.at):
            self.at += 1
            closing = self._closing()
            self.at = closing + 1
            word.open = True
        elif text.startswith("$(", self.at):
            self._substituted(2)
        elif text.startswith("${", self.at):
            end = text.find("}", self.at)
            if end < 0 or "$(" in text[self.at : end] or "`" in text[self.at : end]:
                raise Unclear("a `${` is not understood")
            self.at = end + 1
            word.open = True
        elif text.startswith("$'", self.at):
            raise Unclear("it has a `$'…'`")
        else:
            name = re.compile(r"\$(\w+|[?$!#@*-])").match(text, self.at)
            if name is None:
                word.text += "$"
                self.at += 1
            else:
                self.at = name.end()
                word.open = True

    def _substituted(self, opening: int) -> None:
        self.at += opening - 1
        start = self.at + 1
        end = self._closing()
        self.inner.append(self.text[start:end])
        self.word.open = True
        self.at = end + 1

    def _closing(self) -> int:
        """The place of the `)` for the `(` here; brackets in quotes do not count."""
        depth, at, quote = 0, self.at, ""
        while at < len(self.text):
            char = self.text[at]
            if char == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in "()":
                depth += 1 if char == "(" else -1
                if not depth:
                    return at
            at += 1
        raise Unclear("a bracket has no end")

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise Unclear("a quote has no end")
        found = self.text[self.at + 1 : end]
        self.at = end + 1
        return found

    # ---- here documents ----
    def _document(self) -> None:
        found = re.compile(r"[ \t]*(['\"\\]?)([\w.-]+)(['\"]?)").match(self.text, self.at)
        if found is None:
            raise Unclear("a here document is not understood")
        self.at = found.end()
        self._documents.append((found.group(2), bool(found.group(1))))

    def _skip_documents(self) -> None:
        for end, quoted in self._documents:
            found = re.compile(rf"^\t*{re.escape(end)}\s*$", re.MULTILINE).search(self.text, self.at)
            body = self.text[self.at : found.start() if found else len(self.text)]
            if not quoted and ("$(" in body or "`" in body):
                raise Unclear("a here document has commands in it")
            self.at = found.end() if found else len(self.text)  # bash takes the end of the text for its end
        self._documents.clear()
