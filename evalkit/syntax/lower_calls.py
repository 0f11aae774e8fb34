"""Trees -> nodes, calls and the state that they leave. One method a rule of the grammar."""

from __future__ import annotations

from typing import Any, Literal, cast

from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_calls as nc
from evalkit.syntax.lower_values import MAX_ARGUMENT, LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerCalls"]


class LowerCalls(LowerValues):
    # ---- what is expected ----
    def expect(self, tree: Tree) -> n.Expect:
        parts = self.trees(tree)
        return n.Expect(self.body(part for part in parts if part.data != "only"), self.span(tree),
                        only=any(part.data == "only" for part in parts))

    def either(self, tree: Tree) -> nc.Either:
        return nc.Either(tuple(self.body(self.trees(part)) for part in self.trees(tree)), self.span(tree))

    def in_any_order(self, tree: Tree) -> nc.AnyOrder:
        return nc.AnyOrder(tuple(self.body(self.trees(part)) for part in self.trees(tree)), self.span(tree))

    def never(self, tree: Tree) -> n.Never:
        return n.Never(self.body(self.trees(tree)), self.span(tree))

    def call(self, tree: Tree) -> nc.Call:
        """A call; the values that follow an `argument_one_of` or an `argument_includes` are more of its values."""
        arguments: list[nc.ArgumentNode] = []
        options: set[str] = set()
        for part in self.trees(tree):
            before = arguments[-1] if arguments else None
            if part.data in ("exact", "succeeds", "confirmed"):
                options.add(str(part.data))
            elif part.data not in ("value", "list"):
                arguments.append(self.lower(part))
            elif isinstance(before, nc.ArgumentOneOf | nc.ArgumentIncludes):
                value = self.data(part)
                span = self.source.span(before.span.start, value.span.end)
                arguments[-1] = type(before)(before.key, (*before.values, value), span)
        return nc.Call(self.names(tree)[0], tuple(arguments), self.span(tree), exact="exact" in options,
                      succeeds="succeeds" in options, confirmed="confirmed" in options)

    # ---- tests of a value ----
    def argument_is(self, tree: Tree) -> nc.ArgumentIs:
        return nc.ArgumentIs(self.names(tree)[0], self.data(self.trees(tree)[0]), self.span(tree))

    def argument_compare(self, tree: Tree) -> nc.ArgumentCompare:
        operator: Any = str(self.tokens(tree, "COMPARE")[0])
        return nc.ArgumentCompare(self.names(tree)[0], operator, self.reals(tree, MAX_ARGUMENT)[0], self.span(tree))

    def argument_one_of(self, tree: Tree) -> nc.ArgumentOneOf:
        return nc.ArgumentOneOf(self.names(tree)[0], tuple(map(self.data, self.trees(tree))), self.span(tree))

    def argument_includes(self, tree: Tree) -> nc.ArgumentIncludes:
        return nc.ArgumentIncludes(self.names(tree)[0], tuple(map(self.data, self.trees(tree))), self.span(tree))

    def argument_in(self, tree: Tree) -> nc.ArgumentIn:
        return nc.ArgumentIn(self.names(tree)[0], self.range(self.tokens(tree, "RANGE")[0]), self.span(tree))

    def argument_approx(self, tree: Tree) -> nc.ArgumentApprox:
        return nc.ArgumentApprox(self.names(tree)[0], self.data(self.trees(tree)[0]),
                                self.reals(tree, MAX_ARGUMENT)[0], self.span(tree))

    def argument_matches(self, tree: Tree) -> nc.ArgumentMatches:
        example = last(text for part in self.parts(tree, "like") for text in self.strings(part))
        pattern = cast(n.Regex, self.pattern(self.tokens(tree, "REGEX")[0]))
        return nc.ArgumentMatches(self.names(tree)[0], pattern, example, self.span(tree))

    def argument_type(self, tree: Tree) -> nc.ArgumentType:
        kind: Any = str(tree.children[1])
        return nc.ArgumentType(self.name(cast(Token, tree.children[0])), kind, self.span(tree))

    def argument_presence(self, tree: Tree) -> nc.ArgumentPresence:
        wanted: Any = str(tree.children[1])
        return nc.ArgumentPresence(self.name(cast(Token, tree.children[0])), wanted, self.span(tree))

    condition_is = argument_is
    condition_one_of = argument_one_of
    condition_includes = argument_includes

    # ---- state ----
    def check_state(self, tree: Tree) -> n.CheckState:
        test = self.trees(tree)[0]
        span = self.span(tree)
        if test.data not in ("state_has", "state_lacks"):
            argument: nc.ArgumentNode = self.lower(test)
            return n.CheckState(argument.key, "exactly", None, (argument,), span)
        bound: Literal["exactly", "at least", "at most"] = "exactly"
        for part in self.trees(test):
            if part.data in ("at_least", "at_most"):
                bound = "at least" if part.data == "at_least" else "at most"
        counts = self.integers(test)
        where = tuple(self.lower(part) for holder in self.parts(test, "where") for part in self.trees(holder))
        return n.CheckState(self.names(test)[0], bound, counts[0] if counts else n.Number(0, span), where, span)
