"""Trees -> nodes, live checks: one method a rule of the grammar."""

from __future__ import annotations

from typing import Any, cast

from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_live as nl
from evalkit.syntax.lower_values import LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerLive"]


class LowerLive(LowerValues):
    def live(self, tree: Tree) -> n.Live:
        return n.Live(self.body(self.trees(tree)), self.span(tree))

    def live_command(self, tree: Tree) -> nl.LiveCommand:
        kind: Any = str(tree.children[0])
        command, *writes = self.strings(tree)
        return nl.LiveCommand(kind, command, self.the_time(tree), self.span(tree), last(writes))

    def live_regex(self, tree: Tree) -> nl.LiveRegex:
        kind: Any = str(tree.children[0])
        pattern = cast(n.Regex, self.pattern(cast(Token, tree.children[1])))
        return nl.LiveRegex(kind, pattern, self.span(tree))

    def live_env(self, tree: Tree) -> nl.LiveEnv:
        return nl.LiveEnv(self.names(tree)[0], self.strings(tree)[0], self.span(tree))

    # ---- steps ----
    def acts(self, tree: Tree) -> tuple[nl.Act, ...]:
        return self.body(self.trees(tree))

    def _pattern_of(self, tree: Tree, rule: str) -> n.Pattern | None:
        return last(self.pattern(cast(Token, part.children[0])) for part in self.parts(tree, rule))

    def _target(self, tree: Tree) -> nl.Target:
        part = self.parts(tree, "act_target")[0]
        attributes = tuple((self.names(item)[0], self.pattern(cast(Token, item.children[1])))
                           for item in self.parts(part, "act_attribute"))
        return nl.Target(attributes, self._pattern_of(part, "act_in"), self._pattern_of(part, "act_near"),
                        self.span(part))

    def act_click(self, tree: Tree) -> nl.ActClick:
        return nl.ActClick(self._target(tree), self.span(tree))

    def act_type(self, tree: Tree) -> nl.ActType:
        return nl.ActType(self.strings(tree)[0], self._target(tree), self.span(tree))

    def act_key(self, tree: Tree) -> nl.ActKey:
        return nl.ActKey(self.strings(tree)[0], self.span(tree))

    def act_note(self, tree: Tree) -> nl.ActNote:
        return nl.ActNote(self.names(tree)[0], self._target(tree), self.span(tree))

    def act_expect(self, tree: Tree) -> nl.ActExpect:
        part = self.trees(tree)[0]
        patterns = tuple(self.pattern(cast(Token, token)) for token in part.children)
        return nl.ActExpect("lacks" if part.data == "lacks" else "has", patterns, self.span(tree),
                           part.data == "has_in_one_line")

    def act_find(self, tree: Tree) -> nl.ActFind:
        return nl.ActFind(self._target(tree), bool(self.parts(tree, "act_absent")), self.span(tree))

    def act_same(self, tree: Tree) -> nl.ActSame:
        return nl.ActSame(self.names(tree)[0], self.span(tree))
