"""Trees -> nodes, metrics: one method a rule of the grammar."""

from __future__ import annotations

from typing import cast

from evalkit.syntax import nodes as n
from evalkit.syntax.lower_values import LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerMetrics"]


class LowerMetrics(LowerValues):
    def metrics(self, tree: Tree) -> n.Metrics:
        return n.Metrics(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def metrics_profiles(self, tree: Tree) -> n.MetricsProfiles:
        return n.MetricsProfiles(self.names(tree), self.span(tree))

    def metrics_compliance(self, tree: Tree) -> n.MetricsCompliance:
        return n.MetricsCompliance(tuple(self.pattern(cast(Token, token)) for token in tree.children), self.span(tree))

    def metrics_sources(self, tree: Tree) -> n.MetricsSources:
        return n.MetricsSources(self.strings(tree), self.span(tree))

    def metrics_diagnostic(self, tree: Tree) -> n.MetricsDiagnostic:
        pattern = cast(n.Regex, self.pattern(self.tokens(tree, "REGEX")[0]))
        return n.MetricsDiagnostic(bool(self.parts(tree, "teaching")), pattern, last(self.strings(tree)),
                                   self.span(tree))

    def metrics_share(self, tree: Tree) -> n.MetricsShare:
        return n.MetricsShare(self.names(tree)[0], self.strings(tree), self.span(tree))
