"""Merges the levels of a project and looks every name up: syntax nodes -> compiled cases.

A case is read from the outside in: suite, then its profile and those that the profile extends (the base first), then
the case itself. What an inner level says replaces (scaffold, skills, prewarm, caches, starter, a limit) or is added
(checks, judges, allow, deny, env); `none` empties. The rules stand in docs/language.md.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, TypeVar

import regex
from attrs import define, field

from evalkit.analysis import model as m
from evalkit.analysis.globs import matching
from evalkit.analysis.placeholders import expand, placeholders, substitute
from evalkit.diagnostics import Diagnostic, Span, did_you_mean
from evalkit.digest import digest
from evalkit.syntax import nodes as n

__all__ = ["AGENTS", "LANES", "resolve"]

LANES = ("local", "sandbox", "macos-local", "linux-sandbox")
AGENTS = ("claude", "oracle", "nop")
"""Agents that `use agent` may select."""

DEFAULT_MODEL = m.ModelChoice(None, "anthropic/claude-sonnet-5")
DEFAULT_JUDGE_MODEL = m.ModelChoice(None, "anthropic/claude-opus-4.8")
RUN_LIMIT = 600
"""Seconds that a command of a case may take where the case does not say."""

T = TypeVar("T")
Statement = (n.About | n.UseProfile | n.UseNone | n.UseAgent | n.Prompt | n.Model | n.Agent | n.Setup | n.Check
             | n.Judge | n.Solution | n.Wrong | n.Toolchain | n.Profile | n.Define)


def resolve(
    root: Path, files: Sequence[tuple[Path, n.File]]
) -> tuple[dict[str, m.Case], dict[str, m.SuiteInfo], list[Diagnostic]]:
    """Compile the parsed files of a project. What is compiled is whole only where nothing was found."""
    resolver = _Resolver(root)
    suites: dict[Path, _Suite] = {}
    for path, file in files:
        for suite in file.suites:
            resolver.add_suite(suites, path, suite)
    cases: dict[str, m.Case] = {}
    names: dict[str, Span] = {}
    for path, file in files:
        for case in file.cases:
            home = next((suites[folder] for folder in path.parents if folder in suites), None)
            if home is None:
                resolver.report("E027", f"case `{case.name.value}` belongs to no suite", case.name.span,
                                help="put a `suite.eval` with `suite NAME { … }` into its folder or one above")
                continue
            if not resolver.unique(names, case.name, "case"):
                continue
            compiled = _CaseResolver(resolver, home, path, case).compile()
            if compiled is not None:
                cases[compiled.name] = compiled
    infos = {suite.info.name: suite.info for suite in suites.values()}
    return cases, infos, resolver.found


@define
class _Suite:
    """A suite with its names indexed."""

    info: m.SuiteInfo
    folder: Path
    node: n.Suite
    profiles: dict[str, n.Profile] = field(factory=dict)
    defines: dict[str, n.Define] = field(factory=dict)
    toolchains: tuple[m.Toolchain, ...] = ()


class _Resolver:
    """What all cases of a project share: the root, and the list of what was found."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.found: list[Diagnostic] = []
        self._suite_names: dict[str, Span] = {}

    def report(self, code: str, message: str, span: Span, *, help: str = "",
               notes: tuple[tuple[str, Span], ...] = ()) -> None:
        diagnostic = Diagnostic(code, message, span, help=help, notes=notes)
        if diagnostic not in self.found:  # a suite's statement is met once per case
            self.found.append(diagnostic)

    def unique(self, names: dict[str, Span], name: n.Name, what: str) -> bool:
        """Note a name; where it is taken (compared without case), report both places."""
        first = names.setdefault(name.value.lower(), name.span)
        if first is name.span:
            return True
        self.report("E030", f"there are two {what}s named `{name.value}`", name.span,
                    help="names are compared without case; give one of them another name",
                    notes=(("the first is here", first),))
        return False

    def shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    # ---- suites ----
    def add_suite(self, suites: dict[Path, _Suite], path: Path, node: n.Suite) -> None:
        if path.name != "suite.eval":
            self.report("E028", f"suite `{node.name.value}` stands in `{path.name}`", node.name.span,
                        help="a suite stands in a file named `suite.eval`: it holds for that file's folder")
            return
        folder = path.parent
        if folder in suites:
            self.report("E031", "a folder has one suite", node.name.span,
                        notes=(("the first is here", suites[folder].node.name.span),))
            return
        if not self.unique(self._suite_names, node.name, "suite"):
            return
        about = [statement.text.value for statement in node.body if isinstance(statement, n.About)]
        info = m.SuiteInfo(node.name.value, "".join(about[-1:]), self.shown(folder), str(node.span))
        suite = suites[folder] = _Suite(info, folder, node)
        singles(self, node.body)
        seen: dict[str, dict[str, Span]] = {"profile": {}, "check": {}, "toolchain": {}}
        toolchains = []
        for statement in node.body:
            if isinstance(statement, n.Profile) and self.unique(seen["profile"], statement.name, "profile"):
                suite.profiles[statement.name.value] = statement
                singles(self, statement.body)
            elif isinstance(statement, n.Define) and self.unique(seen["check"], statement.name, "check"):
                suite.defines[statement.name.value] = statement
            elif isinstance(statement, n.Toolchain) and self.unique(seen["toolchain"], statement.name, "toolchain"):
                toolchains.append(self._toolchain(statement))
        suite.toolchains = tuple(toolchains)

    def _toolchain(self, node: n.Toolchain) -> m.Toolchain:
        npm: list[str] = []
        pip: list[str] = []
        programs: list[tuple[str, str]] = []
        env: list[tuple[str, str]] = []
        for statement in node.body:
            if isinstance(statement, n.Npm):
                npm += [self._pin(pin, "@", 'a version: "name@1.2.3"') for pin in statement.pins]
            elif isinstance(statement, n.Pip):
                pip += [self._pin(pin, "==", 'a version: "name==1.2.3" or "name==1.*"') for pin in statement.pins]
            else:
                value = statement.path if isinstance(statement, n.Program) else statement.value
                self.check_placeholders(value, ("npm", "pip", "toolchain"))
                target = programs if isinstance(statement, n.Program) else env
                target.append((statement.name.value, value.value))
        return m.Toolchain(node.name.value, tuple(npm), tuple(pip), tuple(programs), tuple(env), str(node.span))

    def _pin(self, pin: n.Str, separator: str, wanted: str) -> str:
        # An npm scope starts with an @ of its own. A leading dash would be read as an option by the installer.
        name, _, version = pin.value[1:].partition(separator)
        if not name or not version or pin.value.startswith("-") or any(char.isspace() for char in pin.value):
            self.report("E052", f"`{pin.value}` is not pinned", pin.span, help=f"results depend on it: give {wanted}")
        return pin.value

    # ---- values ----
    def check_placeholders(self, text: n.Str, allowed: Iterable[str]) -> bool:
        known = list(allowed)
        good = True
        for name in placeholders(text.value):
            if name in known:
                continue
            good = False
            if name:
                self.report("E025", f"there is no `{{{name}}}` here", text.span,
                            help=did_you_mean(name, known) or "no placeholder can stand here; a brace is `{{`")
            else:
                self.report("E025", "a `{` opens no placeholder", text.span, help="a literal brace is written `{{`")
        return good

    def command(self, text: n.Str, allowed: Iterable[str], limit: n.Number | None) -> m.Command:
        """A command line, split into words before anything is put in: a file's name can never become a command."""
        self.check_placeholders(text, allowed)
        try:
            words = tuple(shlex.split(text.value))
        except ValueError as error:
            self.report("E051", f"this command line cannot be split into words: {str(error).lower()}", text.span,
                        help="quote as in a shell; to use a shell's own features write: sh -c '…'")
            words = ()
        if not words and text.value.strip() == "":
            self.report("E051", "the command is empty", text.span)
        return m.Command(words, RUN_LIMIT if limit is None else limit.value)


def singles(resolver: _Resolver, body: Iterable[object]) -> None:
    """Report statements that may stand once in a block and stand twice."""
    once = (n.About, n.Prompt, n.Starter, n.Solution, n.UseAgent)
    first: dict[object, n.About | n.Prompt | n.Starter | n.Solution | n.UseAgent | n.UseProfile | n.UseNone
                | n.ScaffoldRun | n.ScaffoldCopy | n.Model] = {}
    for statement in body:
        key: object
        if isinstance(statement, once):
            key = type(statement)
        elif isinstance(statement, n.UseProfile | n.UseNone):
            key = "use"
        elif isinstance(statement, n.ScaffoldRun | n.ScaffoldCopy):
            key = "scaffold"
        elif isinstance(statement, n.Model):
            key = statement.role
        else:
            continue
        earlier = first.setdefault(key, statement)
        if earlier is not statement:
            resolver.report("E031", "this statement stands twice in one block", statement.span,
                            help="keep one of them", notes=(("the first is here", earlier.span),))


class _CaseResolver:
    """Compiles one case."""

    def __init__(self, shared: _Resolver, suite: _Suite, path: Path, node: n.Case) -> None:
        self.shared = shared
        self.report = shared.report
        self.suite = suite
        self.node = node
        self.folder = path.parent
        self.levels: list[tuple[Path, Sequence[Statement]]] = []

    def compile(self) -> m.Case | None:
        node, before = self.node, len(self.shared.found)
        singles(self.shared, node.body)
        profile = self._profile()
        self.levels = [(self.suite.folder, self.suite.node.body),
                       *((self.suite.folder, layer.body) for layer in self._chain(profile)),
                       (self.folder, node.body)]
        ids: dict[str, Span] = {}
        checks = tuple(self._check(folder, check, ids) for folder, check in self._all(n.Check))
        judges = tuple(self._judge(judge, ids) for _, judge in self._all(n.Judge))
        if not checks and not judges:
            self.report("E032", f"case `{node.name.value}` has no check", node.name.span,
                        help='say what a right answer is: `check run "…"`, `check grep "FILES" has "…"`')
        known = {check.id for check in checks} | {judge.id for judge in judges}
        case = m.Case(
            name=node.name.value,
            suite=self.suite.info,
            about=self._about(),
            folder=self.shared.shown(self.folder),
            origin=str(node.span),
            prompt=self._prompt(),
            profile=profile.name.value if profile else "",
            setup=self._setup(),
            limits=self._limits(),
            agent=self._agent(),
            model=self._model("model", DEFAULT_MODEL),
            judge_model=self._model("judge-model", DEFAULT_JUDGE_MODEL),
            checks=checks,
            judges=judges,
            solution=self._solution(),
            wrongs=self._wrongs(known),
        )
        return case if len(self.shared.found) == before else None

    # ---- levels ----
    def _all(self, kind: type[T]) -> list[tuple[Path, T]]:
        """Statements of a kind from all levels, outermost first, each with the folder its paths are relative to."""
        return [(folder, statement) for folder, body in self.levels for statement in body
                if isinstance(statement, kind)]

    def _innermost(self, *kinds: type) -> list[tuple[Path, Statement]]:
        """The statements of these kinds of the innermost level that has any."""
        for folder, body in reversed(self.levels):
            level = [(folder, statement) for statement in body if isinstance(statement, kinds)]
            if level:
                return level
        return []

    def _profile(self) -> n.Profile | None:
        chosen = None
        for statement in self.node.body:
            if isinstance(statement, n.UseProfile):
                chosen = self._lookup_profile(statement.name)
        return chosen

    def _lookup_profile(self, name: n.Name) -> n.Profile | None:
        profile = self.suite.profiles.get(name.value)
        if profile is None:
            self.report("E020", f"suite `{self.suite.info.name}` has no profile `{name.value}`", name.span,
                        help=did_you_mean(name.value, self.suite.profiles))
        return profile

    def _chain(self, profile: n.Profile | None) -> list[n.Profile]:
        """A profile and what it extends, the base first. Reports a circle."""
        chain: list[n.Profile] = []
        while profile is not None:
            if profile in chain:
                self.report("E029", f"profile `{profile.name.value}` extends itself", profile.name.span,
                            help="the chain of `extends` must end")
                break
            chain.append(profile)
            profile = self._lookup_profile(profile.extends) if profile.extends else None
        return chain[::-1]

    # ---- files ----
    def _path(self, base: Path, text: n.Str, want: Literal["file", "folder", "any"]) -> str | None:
        """A path of the suite that exists, relative to the project's root; None (and a report) otherwise."""
        value = text.value
        suite = self.suite.folder.resolve()
        if not value or PurePosixPath(value).is_absolute() or "\\" in value:
            self.report("E041", f"`{value}` is not a path within the suite", text.span,
                        help="paths are relative to the `.eval` file and use `/`")
            return None
        target = (base / value).resolve()
        if not target.is_relative_to(suite):
            self.report("E041", f"`{value}` leads outside the suite's folder", text.span,
                        help=f"move the file below {self.suite.info.folder}/")
            return None
        if not target.exists():
            beside = [entry.name for entry in target.parent.iterdir()] if target.parent.is_dir() else []
            near = did_you_mean(target.name, beside) if beside else ""
            at = self.shared.shown(base)
            self.report("E040", f"`{value}` does not exist", text.span,
                        help=f"looked in {at}/" + (f"; {near}" if near else ""))
            return None
        if (want == "file" and not target.is_file()) or (want == "folder" and not target.is_dir()):
            self.report("E042", f"`{value}` is not a {want}", text.span)
            return None
        return target.relative_to(self.shared.root.resolve()).as_posix()

    def _about(self) -> str:
        return "".join([statement.text.value for statement in self.node.body if isinstance(statement, n.About)][-1:])

    def _prompt(self) -> str:
        prompts = [statement for statement in self.node.body if isinstance(statement, n.Prompt)]
        if not prompts:
            self.report("E032", f"case `{self.node.name.value}` has no prompt", self.node.name.span,
                        help='add `prompt """ … """` or `prompt "PROMPT.md"`')
            return ""
        text = prompts[-1].text
        if text.block:
            if not text.value.strip():
                self.report("E032", "the prompt is empty", text.span)
            return text.value
        if not text.value.endswith((".md", ".txt")):
            self.report("E053", "a quoted prompt names a file that ends in .md or .txt", text.span,
                        help='write the prompt itself as a text block: prompt """ … """')
            return ""
        path = self._path(self.folder, text, "file")
        if path is None:
            return ""
        try:
            return (self.shared.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self.report("E040", f"the prompt cannot be read: {error}", text.span)
            return ""

    # ---- setup ----
    def _setup(self) -> m.Setup:
        return m.Setup(
            toolchains=self.suite.toolchains,
            scaffold=self._scaffold(),
            starter=self._starter(),
            skills=self._skills(),
            prewarm=tuple(
                self.shared.command(command, (), statement.limit)
                for _, statement in self._innermost(n.Prewarm) if isinstance(statement, n.Prewarm)
                for command in statement.commands),
            caches=tuple(
                self._inside(path)
                for _, statement in self._innermost(n.Caches) if isinstance(statement, n.Caches)
                for path in statement.paths),
        )

    def _inside(self, text: n.Str) -> str:
        """A path within a workspace."""
        value = text.value.rstrip("/")
        parts = PurePosixPath(value).parts
        if not parts or PurePosixPath(value).is_absolute() or ".." in parts or "\\" in value:
            self.report("E041", f"`{text.value}` is not a path within the workspace", text.span,
                        help="write it relative to the workspace's root, with `/` and without `..`")
        return "/".join(parts)

    def _scaffold(self) -> m.Scaffold:
        for folder, statement in reversed(self._innermost(n.ScaffoldRun, n.ScaffoldCopy)):
            if isinstance(statement, n.ScaffoldRun):
                command = self.shared.command(statement.command, ("workspace",), statement.limit)
                return m.Scaffold(command, None, str(statement.span))
            if isinstance(statement, n.ScaffoldCopy):
                return m.Scaffold(None, self._path(folder, statement.path, "folder"), str(statement.span))
        self.report("E032", f"case `{self.node.name.value}` has no scaffold", self.node.name.span,
                    help='say what the workspace starts from: `scaffold copy "FOLDER"` or `scaffold run "…"`, '
                    "here or in a profile that the case uses")
        return m.Scaffold(None, None, "")

    def _starter(self) -> str | None:
        for folder, statement in self._innermost(n.Starter):
            if isinstance(statement, n.Starter):
                return self._path(folder, statement.path, "folder")
        return None

    def _skills(self) -> tuple[m.Skill, ...]:
        skills: list[m.Skill] = []
        names: dict[str, Span] = {}
        for folder, statement in self._innermost(n.Skills, n.SkillsNone):
            if not isinstance(statement, n.Skills):
                continue
            command, path = None, None
            if statement.delivery == "by":
                command = self.shared.command(statement.value, ("skill",), None)
            for name in statement.names:
                if not self.shared.unique(names, name, "skill"):
                    continue
                if statement.delivery == "from":
                    path = self._skill_folder(folder, statement.value, name)
                skills.append(m.Skill(name.value, command, path, str(name.span)))
        return tuple(skills)

    def _skill_folder(self, base: Path, text: n.Str, name: n.Name) -> str | None:
        path = self._path(base, text, "folder")
        if path is None:
            return None
        for candidate in (path, f"{path}/{name.value}"):
            if (self.shared.root / candidate / "SKILL.md").is_file():
                return candidate
        self.report("E040", f"there is no skill `{name.value}` in `{text.value}`", name.span,
                    help=f"looked for {path}/SKILL.md and {path}/{name.value}/SKILL.md")
        return None

    def _limits(self) -> m.Limits:
        turns, time = m.Limits().turns, m.Limits().time
        for _, statement in self._all(n.Limits):
            for value in (statement.turns, statement.time):
                if value is not None and value.value < 1:
                    self.report("E053", "a limit is at least 1", value.span)
            turns = statement.turns.value if statement.turns else turns
            time = statement.time.value if statement.time else time
        return m.Limits(turns, time)

    # ---- agent and models ----
    def _agent(self) -> m.AgentConfig:
        name = "claude"
        for _, use in self._all(n.UseAgent):
            name = self._known_agent(use.name)
        allow: list[str] = []
        deny: list[str] = []
        suffix: list[str] = []
        env: dict[str, str] = {}
        for _, block in self._all(n.Agent):
            if self._known_agent(block.name) != name:
                continue
            for statement in block.body:
                if isinstance(statement, n.Allow):
                    allow += [tool.value for tool in statement.tools]
                elif isinstance(statement, n.Deny):
                    deny += [tool.value for tool in statement.tools]
                elif isinstance(statement, n.Suffix):
                    suffix = [statement.text.value]
                elif isinstance(statement, n.Env):
                    env[statement.name.value] = statement.value.value
        return m.AgentConfig(name, tuple(dict.fromkeys(allow)), tuple(dict.fromkeys(deny)), "".join(suffix),
                             tuple(env.items()))

    def _known_agent(self, name: n.Name) -> str:
        if name.value not in AGENTS:
            self.report("E024", f"there is no agent `{name.value}`", name.span, help=did_you_mean(name.value, AGENTS))
        return name.value

    def _model(self, role: str, default: m.ModelChoice) -> m.ModelChoice:
        for _, statement in self._all(n.Model):
            if statement.role == role:
                variable = statement.variable.value if statement.variable else None
                default = m.ModelChoice(variable, statement.default.value)
        return default

    # ---- checks ----
    def _check(self, folder: Path, node: n.Check, ids: dict[str, Span]) -> m.Check:
        texts = list(node.texts)
        limit = node.limits[-1] if node.limits else None
        title = ""
        spec: m.CheckSpec
        if isinstance(node.kind, n.CheckRun):
            kind = "run"
            spec = m.RunSpec(self.shared.command(node.kind.command, ("workspace",), limit))
        elif isinstance(node.kind, n.CheckGrep):
            kind = "grep"
            spec = m.GrepSpec(self._globs(node.kind.globs), node.kind.expect, self._patterns(node.kind.patterns))
        elif isinstance(node.kind, n.CheckSnapshot):
            kind = "snapshot"
            spec = m.SnapshotSpec(node.kind.expect, self._patterns(node.kind.patterns))
        else:
            kind = node.kind.name.value
            spec, title = self._defined(folder, node.kind.name, texts, limit)
        if limit is not None and isinstance(spec, m.GrepSpec | m.SnapshotSpec):
            self.report("E053", f"a {kind} check takes no time limit of its own", limit.span)
        if len(texts) > 1:
            self.report("E026", "a check has one description", texts[1].span)
        for lane in node.lanes:
            if lane.value not in LANES:
                self.report("E023", f"there is no lane `{lane.value}`", lane.span,
                            help=did_you_mean(lane.value, LANES))
        return m.Check(
            id=self._id(node.ids, kind, spec, node.span, ids),
            kind=kind,
            spec=spec,
            lanes=tuple(lane.value for lane in node.lanes),
            advisory=node.advisory,
            description=texts[-1].value if texts else title,
            origin=str(node.span),
        )

    def _id(self, given: tuple[n.Name, ...], kind: str, content: object, span: Span, ids: dict[str, Span]) -> str:
        if len(given) > 1:
            self.report("E031", "a check has one name", given[1].span)
        if given:
            self.shared.unique(ids, given[-1], "check")
            return given[-1].value
        name = f"{kind}-{digest(content)[:6]}"
        self.shared.unique(ids, n.Name(name, span), "check")
        return name

    def _defined(self, folder: Path, name: n.Name, texts: list[n.Str],
                 limit: n.Number | None) -> tuple[m.StepsSpec, str]:
        """The steps of a `define check`. Takes its arguments off the front of `texts`: what is left describes it."""
        define = self.suite.defines.get(name.value)
        if define is None:
            known = {"run", "grep", "snapshot", *self.suite.defines}
            self.report("E021", f"there is no check `{name.value}`", name.span, help=did_you_mean(name.value, known))
            return m.StepsSpec(()), ""
        if len(texts) < len(define.params):
            wanted = ", ".join(f'"{param.value}"' for param in define.params)
            self.report("E026", f"check `{name.value}` takes {len(define.params)} argument(s): {wanted}", name.span,
                        notes=(("it is defined here", define.name.span),))
            return m.StepsSpec(()), ""
        values = {param.value: texts.pop(0).value for param in define.params}
        steps = tuple(self._step(folder, step, values, limit) for step in define.steps)
        return m.StepsSpec(steps), define.title.value if define.title else ""

    def _step(self, folder: Path, step: n.StepNode, values: dict[str, str], limit: n.Number | None) -> m.Step:
        known = (*values, "workspace")

        def filled(text: n.Str) -> n.Str:
            return n.Str(substitute(text.value, values), text.span, text.block)

        if isinstance(step, n.StepPut):
            good = self.shared.check_placeholders(step.source, (*values, "case"))
            source = None
            if good:
                relative = PurePosixPath(expand(filled(step.source).value, {"case": "."}))
                source = self._path(folder, n.Str(relative.as_posix(), step.source.span), "any")
            return m.Put(source or "", self._inside(step.target))
        if isinstance(step, n.StepAppend):
            return m.Append(self._inside(step.target), step.text.value)
        if isinstance(step, n.StepEach):
            self.shared.check_placeholders(step.command, (*known, "file"))
            command = self.shared.command(filled(step.command), (*known, "file"), step.limit or limit)
            return m.Each(self._globs((step.glob,))[0], command)
        self.shared.check_placeholders(step.command, known)
        return m.Run(self.shared.command(filled(step.command), known, step.limit or limit))

    def _globs(self, globs: tuple[n.Str, ...]) -> tuple[str, ...]:
        for glob in globs:
            value = glob.value
            try:
                matching((), (value,))
            except ValueError as error:
                self.report("E050", f"this glob is not valid: {error}", glob.span)
            if not value or value.startswith("/") or ".." in PurePosixPath(value).parts:
                self.report("E041", f"`{value}` is not a glob within the workspace", glob.span,
                            help="write it relative to the workspace's root")
        return tuple(glob.value for glob in globs)

    def _patterns(self, patterns: tuple[n.Pattern, ...]) -> tuple[m.Pattern, ...]:
        compiled = []
        for pattern in patterns:
            if isinstance(pattern, n.Str):
                if not pattern.value:
                    self.report("E050", "an empty pattern matches everything", pattern.span)
                compiled.append(m.Pattern(pattern.value))
                continue
            bad = sorted(set(pattern.flags) - set("isx"))
            if bad:
                self.report("E050", f"there is no regex flag `{bad[0]}`", pattern.span,
                            help="known: `i` ignores case, `s` lets `.` match line ends, `x` is verbose; "
                            "multi-line is always on")
            try:
                regex.compile(pattern.pattern, regex.MULTILINE)
            except regex.error as error:
                self.report("E050", f"this regex is not valid: {error}", pattern.span)
            compiled.append(m.Pattern(pattern.pattern, True, "".join(sorted(set(pattern.flags)))))
        return tuple(compiled)

    def _judge(self, node: n.Judge, ids: dict[str, Span]) -> m.Judge:
        title = node.title.value if node.title else ""
        if not node.criteria:
            self.report("E032", "the judge has no criterion", node.span, help='add `criterion "…"`')
        if not node.files:
            self.report("E032", "the judge is given no file to review", node.span, help='add `files "src/**"`')
        if node.threshold is not None and not 0 <= node.threshold.value <= 10:
            self.report("E053", "a judge's scores go from 0 to 10", node.threshold.span)
        gate = node.threshold is not None and not node.advisory
        return m.Judge(
            # The title names a judge, not its rubric: a reworded criterion keeps its history.
            id=self._id((node.id,) if node.id else (), "judge", title, node.span, ids),
            title=title,
            files=self._globs(node.files),
            threshold=node.threshold.value if node.threshold else None,
            advisory=not gate,
            criteria=tuple(criterion.value for criterion in node.criteria),
            context=tuple(context.value for context in node.context),
            origin=str(node.span),
        )

    # ---- answers ----
    def _solution(self) -> str | None:
        paths = [statement.path for statement in self.node.body if isinstance(statement, n.Solution)]
        return self._path(self.folder, paths[-1], "folder") if paths else None

    def _wrongs(self, known: set[str]) -> tuple[m.Wrong, ...]:
        wrongs = []
        names: dict[str, Span] = {}
        for statement in self.node.body:
            if not isinstance(statement, n.Wrong):
                continue
            path = self._path(self.folder, statement.path, "folder")
            for check in statement.fails:
                if check.value not in known:
                    self.report("E022", f"case `{self.node.name.value}` has no check `{check.value}`", check.span,
                                help=did_you_mean(check.value, known))
            name = PurePosixPath(statement.path.value).name
            if path and self.shared.unique(names, n.Name(name, statement.path.span), "wrong answer"):
                wrongs.append(m.Wrong(name, path, tuple(check.value for check in statement.fails),
                                      str(statement.span)))
        return tuple(wrongs)
