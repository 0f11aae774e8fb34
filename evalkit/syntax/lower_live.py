"""Trees -> nodes, live checks: one method a rule of the grammar."""

from __future__ import annotations

from typing import Any, cast

from evalkit.syntax import nodes as n
from evalkit.syntax.lower_values import LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerLive"]


class LowerLive(LowerValues):
    def live(self, tree: Tree) -> n.Live:
        return n.Live(self.body(self.trees(tree)), self.span(tree))

    def live_command(self, tree: Tree) -> n.LiveCommand:
        kind: Any = str(tree.children[0])
        command, *writes = self.strings(tree)
        return n.LiveCommand(kind, command, self.the_time(tree), self.span(tree), last(writes))

    def live_regex(self, tree: Tree) -> n.LiveRegex:
        kind: Any = str(tree.children[0])
        pattern = cast(n.Regex, self.pattern(cast(Token, tree.children[1])))
        return n.LiveRegex(kind, pattern, self.span(tree))

    def live_env(self, tree: Tree) -> n.LiveEnv:
        return n.LiveEnv(self.names(tree)[0], self.strings(tree)[0], self.span(tree))

    # ---- steps ----
    def acts(self, tree: Tree) -> tuple[n.Act, ...]:
        return self.body(self.trees(tree))

    def _pattern_of(self, tree: Tree, rule: str) -> n.Pattern | None:
        return last(self.pattern(cast(Token, part.children[0])) for part in self.parts(tree, rule))

    def _target(self, tree: Tree) -> n.Target:
        part = self.parts(tree, "act_target")[0]
        attributes = tuple((self.names(item)[0], self.pattern(cast(Token, item.children[1])))
                           for item in self.parts(part, "act_attribute"))
        return n.Target(attributes, self._pattern_of(part, "act_in"), self._pattern_of(part, "act_near"),
                        self.span(part))

    def act_click(self, tree: Tree) -> n.ActClick:
        return n.ActClick(self._target(tree), self.span(tree))

    def act_type(self, tree: Tree) -> n.ActType:
        return n.ActType(self.strings(tree)[0], self._target(tree), self.span(tree))

    def act_key(self, tree: Tree) -> n.ActKey:
        return n.ActKey(self.strings(tree)[0], self.span(tree))

    def act_note(self, tree: Tree) -> n.ActNote:
        return n.ActNote(self.names(tree)[0], self._target(tree), self.span(tree))

    def act_expect(self, tree: Tree) -> n.ActExpect:
        part = self.trees(tree)[0]
        patterns = tuple(self.pattern(cast(Token, token)) for token in part.children)
        return n.ActExpect("lacks" if part.data == "lacks" else "has", patterns, self.span(tree),
                           part.data == "has_in_one_line")

    def act_find(self, tree: Tree) -> n.ActFind:
        return n.ActFind(self._target(tree), bool(self.parts(tree, "act_absent")), self.span(tree))

    def act_same(self, tree: Tree) -> n.ActSame:
        return n.ActSame(self.names(tree)[0], self.span(tree))
