"""A source's text -> its nodes, with every syntax error of the file.

Lark gives a tree without the broken statements (grammar.py); `_Lower` turns it into nodes, one method a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar, cast

from lark import Token, Tree

from evalkit.diagnostics import Diagnostic, Span, did_you_mean
from evalkit.diagnostics.suggest import nearest
from evalkit.syntax import nodes as n
from evalkit.syntax.grammar import MAX_TOKENS, SyntaxProblem, parse_tree
from evalkit.syntax.source import Source
from evalkit.syntax.text import BadEscape, ShallowLine, block_value, duration_seconds, string_value

__all__ = ["MAX_ERRORS", "parse"]

MAX_ERRORS = 25
"""Syntax errors of one file that are told; parsing stops there."""
MAX_LENGTH = 10_000
"""Characters of a name, a quoted string or a regex. Nothing that reads one has to fear its length; texts are blocks."""
MAX_NUMBER = 1_000_000
MAX_DURATION = 7 * 24 * 3600
"""Seconds."""
T = TypeVar("T")


def parse(source: Source) -> tuple[n.File, list[Diagnostic]]:
    """Parse a file. The nodes are those of all statements that parsed; they are whole only if nothing was found."""
    tree, problems = parse_tree(source.text, MAX_ERRORS)
    found = [_explain(source, problem) for problem in problems]
    if tree is None:
        return n.File((), (), source.span(0, 0)), found
    lower = _Lower(source)
    return lower.file(tree), (found + lower.found)[:MAX_ERRORS]


def _explain(source: Source, problem: SyntaxProblem) -> Diagnostic:
    span = source.span(problem.start, problem.end)
    if problem.kind == "long":
        return Diagnostic("E002", f"the file holds more than {MAX_TOKENS:,} words and values", span,
                          help="write some of its cases into files of their own")
    if problem.kind == "end":
        message, brace = "the file ends in the middle of a statement", problem.open_brace
        if brace is None:
            return Diagnostic("E012", message, span, help=_expected(problem))
        return Diagnostic("E012", message, span, help="is a `}` missing?",
                          notes=(("this brace is not closed", source.span(brace, brace + 1)),))
    if problem.kind == "text":
        for opening, message, help_line in _UNCLOSED:
            if source.text.startswith(opening, problem.start):
                return Diagnostic("E011", message, source.span(problem.start, problem.start + len(opening)),
                                  help=help_line)
    keywords = [expected.keyword for expected in problem.expected if expected.keyword]
    shown = _shown(problem.found)
    names_fit = any(expected.words == "a name" for expected in problem.expected)
    if problem.found[:1].isalpha() and keywords and not names_fit:
        near = nearest(problem.found, keywords)
        help_line = f"did you mean `{near}`?" if near else did_you_mean(problem.found, keywords, limit=40)
        return Diagnostic("E010", f"unknown keyword {shown}", span, help=help_line)
    return Diagnostic("E012", f"{shown} cannot stand here", span, help=_expected(problem))


_UNCLOSED = (
    ('"""', "this text block is not closed", 'close it with `"""` on a line of its own'),
    ('"', "this string is not closed on its line",
     'close it with `"`, or use a """ text block for several lines'),
    ("//", "this regex is empty", "a comment starts with `#`"),
    ("/", "this regex is not closed on its line", "close it with `/`; a `/` inside is written `\\/`"),
)
"""What begins a literal; where the lexer stops at it, the literal does not end. Longer ones first."""


def _shown(found: str) -> str:
    if not found.strip() or found.startswith(";"):
        return "the end of the line"
    first = found.splitlines()[0]
    return f"`{first}`" if first == found and len(found) <= 40 else f"`{first[:40]}…`"


def _expected(problem: SyntaxProblem) -> str:
    words = [expected.words for expected in problem.expected]
    if len(words) > 14:
        words = [*words[:14], "…"]
    return "expected " + (words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1])


class _Lower:
    """Turns the trees of one source into nodes. Literals without a value are collected in `found`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: list[Diagnostic] = []

    # ---- access to trees ----
    def span(self, item: Tree[Token] | Token) -> Span:
        if isinstance(item, Token):
            start = item.start_pos or 0
            return self.source.span(start, start + len(item))
        if item.meta.empty:
            return self.source.span(0, 0)
        return self.source.span(item.meta.start_pos, item.meta.end_pos)

    def trees(self, tree: Tree[Token]) -> list[Tree[Token]]:
        return [child for child in tree.children if isinstance(child, Tree)]

    def tokens(self, tree: Tree[Token], kind: str) -> list[Token]:
        return [child for child in tree.children if isinstance(child, Token) and child.type == kind]

    def body(self, tree: Tree[Token]) -> tuple[Any, ...]:
        """The statements of a block, lowered; parts of the head (params, options) are not statements."""
        return tuple(self.lower(child) for child in self.trees(tree))

    def lower(self, tree: Tree[Token]) -> Any:
        method: Callable[[Tree[Token]], Any] = getattr(self, str(tree.data))
        return method(tree)

    # ---- values ----
    def refuse(self, code: str, message: str, span: Span, help_line: str = "") -> None:
        self.found.append(Diagnostic(code, message, span, help=help_line))

    def bounded(self, token: Token) -> bool:
        """Whether a token is of a length that something can be named with, found by or searched for."""
        if len(token) <= MAX_LENGTH:
            return True
        self.refuse("E014", f"this is longer than {MAX_LENGTH:,} characters", self.span(token),
                    'write a long text as a """ text block, or into a file beside the case')
        return False

    def name(self, token: Token) -> n.Name:
        return n.Name(str(token) if self.bounded(token) else "", self.span(token))

    def names(self, tree: Tree[Token]) -> tuple[n.Name, ...]:
        return tuple(self.name(token) for token in self.tokens(tree, "NAME"))

    def string(self, token: Token) -> n.Str:
        span = self.span(token)
        if token.type == "TEXT":
            return n.Str(self.block(token, span), span, block=True)
        if not self.bounded(token):
            return n.Str("", span)
        try:
            return n.Str(string_value(token), span)
        except BadEscape as error:
            at = span.start + error.offset
            self.refuse("E013", f"strings have no escape `{error.escape}`",
                        self.source.span(at, at + len(error.escape)),
                        'known: \\" \\\\ \\n \\t \\r \\0 \\u{HEX}; a backslash itself is `\\\\`; '
                        "a regex is written /…/, without quotes")
            return n.Str("", span)

    def block(self, token: Token, span: Span) -> str:
        try:
            return block_value(token)
        except ShallowLine as error:
            self.refuse("E015", "this line is indented less than the line that closes its text block",
                        self.source.span(span.start + error.start, span.start + error.end),
                        'indent it with the same blanks, or move the closing `"""` to the left')
            return ""

    def strings(self, tree: Tree[Token]) -> tuple[n.Str, ...]:
        return tuple(self.string(token) for token in self.tokens(tree, "STRING"))

    def text(self, tree: Tree[Token]) -> n.Str:
        return self.string(cast(Token, tree.children[0]))

    def pattern(self, token: Token) -> n.Pattern:
        if token.type == "STRING":
            return self.string(token)
        pattern, _, flags = (str(token) if self.bounded(token) else "//")[1:].rpartition("/")
        return n.Regex(pattern.replace("\\/", "/"), flags, self.span(token))

    def integer(self, token: Token) -> n.Number:
        span = self.span(token)
        if len(token) > len(str(MAX_NUMBER)) or int(token) > MAX_NUMBER:
            self.refuse("E014", f"this number is larger than {MAX_NUMBER:,}", span)
            return n.Number(MAX_NUMBER, span)
        return n.Number(int(token), span)

    def time(self, tree: Tree[Token]) -> n.Number:
        token = self.tokens(tree, "DURATION")[0]
        span = self.span(token)
        seconds = duration_seconds(token) if len(token) <= 40 else MAX_DURATION + 1
        if not 1 <= seconds <= MAX_DURATION:
            self.refuse("E014", "a time limit is from 1s to 168h", span)
        return n.Number(seconds, span)

    def the_time(self, tree: Tree[Token]) -> n.Number | None:
        return _only(self.time(child) for child in self.trees(tree) if child.data == "time")

    # ---- levels ----
    def file(self, tree: Tree[Token]) -> n.File:
        items = [self.lower(child) for child in self.trees(tree)]
        return n.File(
            suites=tuple(item for item in items if isinstance(item, n.Suite)),
            cases=tuple(item for item in items if isinstance(item, n.Case)),
            span=self.span(tree),
        )

    def suite(self, tree: Tree[Token]) -> n.Suite:
        return n.Suite(self.names(tree)[0], self.body(tree), self.span(tree))

    def case(self, tree: Tree[Token]) -> n.Case:
        return n.Case(self.names(tree)[0], self.body(tree), self.span(tree))

    def profile(self, tree: Tree[Token]) -> n.Profile:
        name, *extends = self.names(tree)
        return n.Profile(name, _only(extends), self.body(tree), self.span(tree))

    # ---- setup ----
    def about(self, tree: Tree[Token]) -> n.About:
        return n.About(self.text(self.trees(tree)[0]), self.span(tree))

    def use(self, tree: Tree[Token]) -> n.UseProfile | n.UseNone:
        names = self.names(tree)
        return n.UseProfile(names[0], self.span(tree)) if names else n.UseNone(self.span(tree))

    def use_agent(self, tree: Tree[Token]) -> n.UseAgent:
        return n.UseAgent(self.names(tree)[0], self.span(tree))

    def prompt(self, tree: Tree[Token]) -> n.Prompt:
        return n.Prompt(self.text(self.trees(tree)[0]), self.span(tree))

    def scaffold(self, tree: Tree[Token]) -> n.ScaffoldRun | n.ScaffoldCopy:
        how = self.trees(tree)[0]
        value = self.strings(how)[0]
        if how.data == "scaffold_copy":
            return n.ScaffoldCopy(value, self.span(tree))
        return n.ScaffoldRun(value, self.the_time(how), self.span(tree))

    def starter(self, tree: Tree[Token]) -> n.Starter:
        return n.Starter(self.strings(tree)[0], self.span(tree))

    def skills(self, tree: Tree[Token]) -> n.Skills:
        how = self.trees(tree)[0]
        delivery: Literal["by", "from"] = "by" if how.data == "skills_by" else "from"
        return n.Skills(self.names(tree), delivery, self.strings(how)[0], self.span(tree))

    def skills_none(self, tree: Tree[Token]) -> n.SkillsNone:
        return n.SkillsNone(self.span(tree))

    def prewarm(self, tree: Tree[Token]) -> n.Prewarm:
        return n.Prewarm(self.strings(tree), self.the_time(tree), self.span(tree))

    def caches(self, tree: Tree[Token]) -> n.Caches:
        return n.Caches(self.strings(tree), self.span(tree))

    def limits(self, tree: Tree[Token]) -> n.Limits:
        turns = _only(self.integer(self.tokens(item, "INT")[0])
                      for item in self.trees(tree) if item.data == "limit_turns")
        time = _only(self.time(item) for item in self.trees(tree) if item.data == "limit_time")
        return n.Limits(turns, time, self.span(tree))

    # ---- toolchain, models, agent ----
    def toolchain(self, tree: Tree[Token]) -> n.Toolchain:
        return n.Toolchain(self.names(tree)[0], self.body(tree), self.span(tree))

    def npm(self, tree: Tree[Token]) -> n.Npm:
        return n.Npm(self.strings(tree), self.span(tree))

    def pip(self, tree: Tree[Token]) -> n.Pip:
        return n.Pip(self.strings(tree), self.span(tree))

    def program(self, tree: Tree[Token]) -> n.Program:
        return n.Program(self.names(tree)[0], self.strings(tree)[0], self.span(tree))

    def env(self, tree: Tree[Token]) -> n.Env:
        return n.Env(self.names(tree)[0], self.strings(tree)[0], self.span(tree))

    def model(self, tree: Tree[Token]) -> n.Model:
        return n.Model("model", _only(self.names(tree)), self.strings(tree)[0], self.span(tree))

    def judge_model(self, tree: Tree[Token]) -> n.Model:
        return n.Model("judge-model", _only(self.names(tree)), self.strings(tree)[0], self.span(tree))

    def agent(self, tree: Tree[Token]) -> n.Agent:
        return n.Agent(self.names(tree)[0], self.body(tree), self.span(tree))

    def _tools(self, tree: Tree[Token]) -> tuple[n.Name | n.Str, ...]:
        return tuple(self.name(token) if token.type == "NAME" else self.string(token)
                     for token in tree.children if isinstance(token, Token))

    def allow(self, tree: Tree[Token]) -> n.Allow:
        return n.Allow(self._tools(tree), self.span(tree))

    def deny(self, tree: Tree[Token]) -> n.Deny:
        return n.Deny(self._tools(tree), self.span(tree))

    def suffix(self, tree: Tree[Token]) -> n.Suffix:
        return n.Suffix(self.text(self.trees(tree)[0]), self.span(tree))

    def mcp_none(self, tree: Tree[Token]) -> n.McpNone:
        return n.McpNone(self.span(tree))

    # ---- checks ----
    def define(self, tree: Tree[Token]) -> n.Define:
        parts = self.trees(tree)
        params = [self.names(part) for part in parts if part.data == "params"]
        return n.Define(
            name=self.names(tree)[0],
            params=params[0] if params else (),
            title=_only(self.text(part) for part in parts if part.data == "text"),
            steps=tuple(self.lower(part) for part in parts if str(part.data).startswith("step_")),
            span=self.span(tree),
        )

    def step_put(self, tree: Tree[Token]) -> n.StepPut:
        source, target = self.strings(tree)
        return n.StepPut(source, target, self.span(tree))

    def step_append(self, tree: Tree[Token]) -> n.StepAppend:
        return n.StepAppend(self.strings(tree)[0], self.text(self.trees(tree)[0]), self.span(tree))

    def step_each(self, tree: Tree[Token]) -> n.StepEach:
        glob, command = self.strings(tree)
        return n.StepEach(glob, command, self.the_time(tree), self.span(tree))

    def step_run(self, tree: Tree[Token]) -> n.StepRun:
        return n.StepRun(self.strings(tree)[0], self.the_time(tree), self.span(tree))

    def check(self, tree: Tree[Token]) -> n.Check:
        kind, *options = self.trees(tree)
        return n.Check(
            kind=self.lower(kind),
            ids=tuple(name for part in options if part.data == "option_as" for name in self.names(part)),
            lanes=tuple(name for part in options if part.data == "option_on" for name in self.names(part)),
            advisory=any(part.data == "option_advisory" for part in options),
            limits=tuple(self.time(part) for part in options if part.data == "time"),
            texts=tuple(text for part in options if part.data == "option_text" for text in self.strings(part)),
            span=self.span(tree),
        )

    def check_run(self, tree: Tree[Token]) -> n.CheckRun:
        return n.CheckRun(self.strings(tree)[0], self.span(tree))

    def _expectation(self, tree: Tree[Token]) -> tuple[Literal["has", "lacks"], tuple[n.Pattern, ...]]:
        part = self.trees(tree)[0]
        expect: Literal["has", "lacks"] = "has" if part.data == "has" else "lacks"
        return expect, tuple(self.pattern(cast(Token, token)) for token in part.children)

    def check_grep(self, tree: Tree[Token]) -> n.CheckGrep:
        return n.CheckGrep(self.strings(tree), *self._expectation(tree), self.span(tree))

    def check_snapshot(self, tree: Tree[Token]) -> n.CheckSnapshot:
        return n.CheckSnapshot(*self._expectation(tree), self.span(tree))

    def check_defined(self, tree: Tree[Token]) -> n.CheckDefined:
        return n.CheckDefined(self.names(tree)[0], self.span(tree))

    def judge(self, tree: Tree[Token]) -> n.Judge:
        parts = self.trees(tree)
        passes = [part for part in parts if part.data == "judge_pass"]
        advisory = [part for holder in [tree, *passes] for part in self.trees(holder)
                    if part.data == "judge_advisory"]
        return n.Judge(
            title=_only(self.strings(tree)),
            id=_only(name for part in parts if part.data == "option_as" for name in self.names(part)),
            files=tuple(path for part in parts if part.data == "judge_files" for path in self.strings(part)),
            threshold=_only(self.integer(self.tokens(part, "INT")[0]) for part in passes),
            advisory=bool(advisory),
            criteria=tuple(self.text(self.trees(part)[0]) for part in parts if part.data == "judge_criterion"),
            context=tuple(self.text(self.trees(part)[0]) for part in parts if part.data == "judge_context"),
            span=self.span(tree),
        )

    def solution(self, tree: Tree[Token]) -> n.Solution:
        return n.Solution(self.strings(tree)[0], self.span(tree))

    def wrong(self, tree: Tree[Token]) -> n.Wrong:
        return n.Wrong(self.strings(tree)[0], self.names(tree), self.span(tree))


def _only(items: Iterable[T]) -> T | None:
    """The last item, if any: an optional part of a statement, where a later one replaces an earlier one."""
    return next(reversed(list(items)), None)
