"""Trees -> nodes: the levels, and the answers that prove a case. One method a rule of the grammar.

The rules of what is inside them are in lower_setup.py and lower_checks.py, those of values in lower_values.py. Those of
calls, live checks and metrics are in modules that are imported with the first such statement: few files have one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalkit.syntax import nodes as n
from evalkit.syntax.lower_checks import LowerChecks
from evalkit.syntax.lower_setup import LowerSetup
from evalkit.syntax.lower_values import last
from evalkit.syntax.tree import Tree

if TYPE_CHECKING:
    from evalkit.syntax.lower_calls import LowerCalls
    from evalkit.syntax.lower_live import LowerLive
    from evalkit.syntax.nodes_live import Act

__all__ = ["Lower"]


class Lower(LowerSetup, LowerChecks):
    """Turns the tree of one source into its nodes; what is no value is in `found` then."""

    def file(self, tree: Tree) -> n.File:
        items = self.body(self.trees(tree))
        return n.File(
            suites=tuple(item for item in items if isinstance(item, n.Suite)),
            cases=tuple(item for item in items if isinstance(item, n.Case)),
            span=self.span(tree),
        )

    def suite(self, tree: Tree) -> n.Suite:
        return n.Suite(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def case(self, tree: Tree) -> n.Case:
        name, *tier = self.names(tree)
        body = self.body(part for part in self.trees(tree) if part.data != "text")
        return n.Case(name, last(tier), self.the_text(tree), body, self.span(tree))

    def profile(self, tree: Tree) -> n.Profile:
        name, *extends = self.names(tree)
        return n.Profile(name, last(extends), self.body(self.trees(tree)), self.span(tree))

    def track(self, tree: Tree) -> n.Track:
        return n.Track(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def arm(self, tree: Tree) -> n.Arm:
        return n.Arm(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def ablate(self, tree: Tree) -> n.Ablate:
        by: Any = str(tree.children[-1])
        return n.Ablate(by, self.span(tree))

    def tier(self, tree: Tree) -> n.Tier:
        requires: Any = last(" ".join(str(word) for word in part.children[1:])
                             for part in self.parts(tree, "tier_requires"))
        commands = tuple(name for part in self.parts(tree, "tier_commands") for name in self.names(part))
        return n.Tier(self.names(tree)[0], self.the_text(tree), requires, self.span(tree), commands)

    def solution(self, tree: Tree) -> n.Solution:
        return n.Solution(self.strings(tree)[0], self.span(tree))

    def wrong(self, tree: Tree) -> n.Wrong:
        path, *texts = self.tokens(tree, "STRING")
        checks: list[n.Name] = []
        tests: list[tuple[n.Name, n.Str]] = []
        for part in tree.children[1:]:
            if isinstance(part, Tree):
                checks += self.names(part)
                tests += [(checks[-1], text) for text in self.strings(part)]
            elif part in texts:
                tests.append((checks[-1], self.string(part)))
        return n.Wrong(self.string(path), tuple(checks), self.span(tree), tuple(tests))

    # ---- what few files have ----
    @cached_property
    def _calls(self) -> LowerCalls:
        from evalkit.syntax.lower_calls import LowerCalls

        return LowerCalls(self.source, self.found)

    @cached_property
    def _live(self) -> LowerLive:
        from evalkit.syntax.lower_live import LowerLive

        return LowerLive(self.source, self.found)

    def expect(self, tree: Tree) -> n.Expect:
        return self._calls.expect(tree)

    def never(self, tree: Tree) -> n.Never:
        return self._calls.never(tree)

    def check_state(self, tree: Tree) -> n.CheckState:
        return self._calls.check_state(tree)

    def live(self, tree: Tree) -> n.Live:
        return self._live.live(tree)

    def acts(self, tree: Tree) -> tuple[Act, ...]:
        return self._live.acts(tree)

    def metrics(self, tree: Tree) -> n.Metrics:
        from evalkit.syntax.lower_metrics import LowerMetrics

        return LowerMetrics(self.source, self.found).metrics(tree)
