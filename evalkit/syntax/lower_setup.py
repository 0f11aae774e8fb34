"""Trees -> nodes, the statements that a trial is set up from: one method a rule of the grammar."""

from __future__ import annotations

from typing import Any, Literal

from evalkit.syntax import nodes as n
from evalkit.syntax.lower_values import MAX_TOKENS_LIMIT, LowerValues, last
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerSetup"]


class LowerSetup(LowerValues):
    def about(self, tree: Tree) -> n.About:
        return n.About(self.text(self.trees(tree)[0]), self.span(tree))

    def use(self, tree: Tree) -> n.UseProfile | n.UseNone:
        names = self.names(tree)
        return n.UseProfile(names[0], self.span(tree)) if names else n.UseNone(self.span(tree))

    def use_agent(self, tree: Tree) -> n.UseAgent:
        return n.UseAgent(self.names(tree)[0], self.span(tree))

    def prompt(self, tree: Tree) -> n.Prompt:
        return n.Prompt(self.text(self.trees(tree)[0]), self.span(tree))

    def scaffold(self, tree: Tree) -> n.ScaffoldRun | n.ScaffoldCopy | n.ScaffoldTemplate:
        how = self.trees(tree)[0]
        value = self.strings(how)[0]
        if how.data == "scaffold_copy":
            return n.ScaffoldCopy(value, self.span(tree))
        if how.data == "scaffold_template":
            return n.ScaffoldTemplate(value, self.span(tree))
        return n.ScaffoldRun(value, self.the_time(how), self.span(tree))

    def starter(self, tree: Tree) -> n.Starter:
        return n.Starter(self.strings(tree)[0], self.span(tree))

    def skills(self, tree: Tree) -> n.Skills:
        how = self.trees(tree)[0]
        delivery: dict[str, Literal["by", "from", "linked"]] = {
            "skills_by": "by", "skills_from": "from", "skills_linked": "linked"}
        return n.Skills(self.names(tree), delivery[how.data], self.strings(how)[0], self.span(tree))

    def skills_none(self, tree: Tree) -> n.SkillsNone:
        return n.SkillsNone(self.span(tree))

    def guidance(self, tree: Tree) -> n.Guidance:
        return n.Guidance(self.strings(tree), self.span(tree))

    def guidance_none(self, tree: Tree) -> n.GuidanceNone:
        return n.GuidanceNone(self.span(tree))

    def contract(self, tree: Tree) -> n.Contract:
        return n.Contract(self.strings(tree)[0], self.span(tree))

    def contract_none(self, tree: Tree) -> n.ContractNone:
        return n.ContractNone(self.span(tree))

    def prewarm_none(self, tree: Tree) -> n.PrewarmNone:
        return n.PrewarmNone(self.span(tree))

    def caches_none(self, tree: Tree) -> n.CachesNone:
        return n.CachesNone(self.span(tree))

    def prewarm(self, tree: Tree) -> n.Prewarm:
        return n.Prewarm(self.strings(tree), self.the_time(tree), self.span(tree))

    def network(self, tree: Tree) -> n.Network:
        return n.Network(self.strings(tree), self.span(tree))

    def network_none(self, tree: Tree) -> n.NetworkNone:
        return n.NetworkNone(self.span(tree))

    def caches(self, tree: Tree) -> n.Caches:
        return n.Caches(self.strings(tree), self.span(tree))

    def limits(self, tree: Tree) -> n.Limits:
        def part(rule: str) -> Tree | None:
            return last(self.parts(tree, rule))

        turns, time, cost, tokens = (part(f"limit_{name}") for name in ("turns", "time", "cost", "tokens"))
        return n.Limits(
            turns=self.integers(turns)[0] if turns else None,
            time=self.time(time) if time else None,
            cost=self.reals(cost)[0] if cost else None,
            tokens=self.integer(self.tokens(tokens, "INT")[0], MAX_TOKENS_LIMIT) if tokens else None,
            span=self.span(tree),
        )

    def temperature(self, tree: Tree) -> n.Temperature:
        return n.Temperature(self.reals(tree)[0], self.span(tree))

    def trials(self, tree: Tree) -> n.Trials:
        return n.Trials(self.integers(tree)[0], self.span(tree))

    def tags(self, tree: Tree) -> n.Tags:
        return n.Tags(self.names(tree), self.span(tree))

    def env(self, tree: Tree) -> n.Env:
        return n.Env(self.names(tree)[0], self.strings(tree)[0], self.span(tree))

    def answer(self, tree: Tree) -> n.Answer:
        path, *template = self.strings(tree)
        return n.Answer(path, last(template), self.span(tree))

    # ---- toolchain, models, agent ----
    def toolchain(self, tree: Tree) -> n.Toolchain:
        return n.Toolchain(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def npm(self, tree: Tree) -> n.Npm:
        return n.Npm(self.strings(tree), self.span(tree))

    def pip(self, tree: Tree) -> n.Pip:
        return n.Pip(self.strings(tree), self.span(tree))

    def program(self, tree: Tree) -> n.Program:
        return n.Program(self.names(tree)[0], self.strings(tree)[0], self.span(tree))

    def apt(self, tree: Tree) -> n.Apt:
        return n.Apt(self.strings(tree), self.span(tree))

    def checkout(self, tree: Tree) -> n.Checkout:
        path, build = self.strings(tree)
        return n.Checkout(last(self.names(tree)), path, build, self.the_time(tree), self.span(tree))

    def checkout_instead(self, tree: Tree) -> n.CheckoutInstead:
        return n.CheckoutInstead(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def checkout_build(self, tree: Tree) -> n.Build:
        return n.Build(self.strings(tree)[0], self.the_time(tree), self.span(tree))

    def checkout_hides(self, tree: Tree) -> n.Hides:
        return n.Hides(self.strings(tree), self.span(tree))

    def npm_none(self, tree: Tree) -> n.NpmNone:
        return n.NpmNone(self.span(tree))

    def pip_none(self, tree: Tree) -> n.PipNone:
        return n.PipNone(self.span(tree))

    def model(self, tree: Tree) -> n.Model:
        return n.Model("model", last(self.names(tree)), self.strings(tree)[0], self.span(tree))

    def judge_model(self, tree: Tree) -> n.Model:
        return n.Model("judge-model", last(self.names(tree)), self.strings(tree)[0], self.span(tree))

    def agent(self, tree: Tree) -> n.Agent:
        return n.Agent(self.names(tree)[0], self.body(self.trees(tree)), self.span(tree))

    def _tools(self, tree: Tree) -> tuple[n.Name | n.Str, ...]:
        return tuple(self.name(token) if token.type == "NAME" else self.string(token)
                     for token in tree.children if isinstance(token, Token))

    def allow(self, tree: Tree) -> n.Allow:
        return n.Allow(self._tools(tree), self.span(tree))

    def deny(self, tree: Tree) -> n.Deny:
        return n.Deny(self._tools(tree), self.span(tree))

    def suffix(self, tree: Tree) -> n.Suffix:
        return n.Suffix(self.text(self.trees(tree)[0]), self.span(tree))

    def mcp_none(self, tree: Tree) -> n.McpNone:
        return n.McpNone(self.span(tree))

    def permissions(self, tree: Tree) -> n.Permissions:
        mode: Any = str(tree.children[1])
        return n.Permissions(mode, self.span(tree))

    def mcp(self, tree: Tree) -> n.Mcp:
        return n.Mcp(self.strings(tree)[0], self.span(tree))

    def registry(self, tree: Tree) -> n.Registry:
        return n.Registry(self.strings(tree)[0], self.span(tree))

    def registry_mcp(self, tree: Tree) -> n.RegistryMcp:
        return n.RegistryMcp(self.strings(tree)[0], self.span(tree))

    def system(self, tree: Tree) -> n.System:
        return n.System(self.text(self.trees(tree)[0]), self.span(tree))

    def state(self, tree: Tree) -> n.State:
        return n.State(self.strings(tree)[0], self.span(tree))

    def command(self, tree: Tree) -> n.Command:
        return n.Command(self.strings(tree)[0], self.span(tree))

    def seed(self, tree: Tree) -> n.Seed:
        return n.Seed(self.integers(tree)[0], self.span(tree))
