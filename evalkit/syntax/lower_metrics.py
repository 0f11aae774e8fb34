"""Trees -> nodes, metrics: one method a rule of the grammar."""

from __future__ import annotations

from typing import cast

from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_metrics as nm
from evalkit.syntax.lower_values import LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerMetrics"]


class LowerMetrics(LowerValues):
    def metrics(self, tree: Tree) -> n.Metrics:
        return n.Metrics(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def metrics_profiles(self, tree: Tree) -> nm.MetricsProfiles:
        return nm.MetricsProfiles(self.names(tree), self.span(tree))

    def metrics_compliance(self, tree: Tree) -> nm.MetricsCompliance:
        return nm.MetricsCompliance(tuple(self.pattern(cast(Token, token)) for token in tree.children), self.span(tree))

    def metrics_sources(self, tree: Tree) -> nm.MetricsSources:
        return nm.MetricsSources(self.strings(tree), self.span(tree))

    def metrics_diagnostic(self, tree: Tree) -> nm.MetricsDiagnostic:
        pattern = cast(n.Regex, self.pattern(self.tokens(tree, "REGEX")[0]))
        return nm.MetricsDiagnostic(bool(self.parts(tree, "teaching")), pattern, last(self.strings(tree)),
                                   self.span(tree))

    def metrics_share(self, tree: Tree) -> nm.MetricsShare:
        return nm.MetricsShare(self.names(tree)[0], self.strings(tree), self.span(tree))
