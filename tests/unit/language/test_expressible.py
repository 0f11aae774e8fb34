"""What the language must be able to express: one entry an item, in the order of the design's list.

Each entry is a suite and a case that compile, and what they come to. To see that nothing is missing, read the ids.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from evalkit.analysis import load_project
from evalkit.analysis import model as m
from evalkit.analysis.calls_shown import call_shown, sequence_shown, state_shown
from tests.unit.language.project import write

Meaning: TypeAlias = Callable[[m.Case], Any]
BASE = 'scaffold copy "skeleton"; check run "true" as base'
"""What a case needs beside what an entry shows."""
FILES = {
    "cases/s/docs/one.md": "# One\n\n## Use\n\ntext\n\n## Limits\n\ntext\n", "cases/s/contract.md": "One file.\n",
    "cases/s/guide/SKILL.md": "s\n", "cases/s/guide/a.md": "a\n", "cases/s/guide/code.js": "",
    "cases/s/mcp.json": "{}", "cases/s/state.yaml": "", "cases/s/hidden/a.test.ts": "", "cases/s/spec.txt": "",
}

def spec(check: m.Check) -> Any:
    """Of whichever class it is."""
    return check.spec


def called(check: m.Check) -> Any:
    """The check `calls`, as plain data."""
    found = spec(check)
    assert isinstance(found, m.CallsSpec)
    return check.id, [[(call.name, [(test.key, test.test, test.values) for test in call.arguments])
                       for call in sequence] for sequence in spec(check).sequences], found.never


# name, statements of the suite, statements of the case, what is looked at, what it must be
ITEMS: list[tuple[str, str, str, Meaning, Any]] = [
    ("prompt: a block", BASE, 'prompt """Do {it}."""', lambda c: c.prompt, "Do {it}."),
    ("prompt: a file", BASE, 'prompt "PROMPT.md"', lambda c: c.prompt, "Do it.\n"),
    ("about", f'about "S."; {BASE}', 'about "C."', lambda c: (c.suite.about, c.about), ("S.", "C.")),
    ("profile with extends", f'{BASE}; profile a {{ caches "a"; limits {{ turns 2 }} }}\n'
     'profile b extends a { limits { time 1m } }',
     "use b", lambda c: (c.profile, c.setup.caches, c.limits.turns, c.limits.time), ("b", ("a",), 2, 60)),
    ("toolchain: npm", f'{BASE}; toolchain t {{ npm "@a/b@1" }}', "", lambda c: c.setup.toolchains[0].npm, ("@a/b@1",)),
    ("toolchain: pip", f'{BASE}; toolchain t {{ pip "b==1" }}', "", lambda c: c.setup.toolchains[0].pip, ("b==1",)),
    ("what of a transcript tells how the work was done",
     f'{BASE}; profile app {{ }}; metrics ts {{ profiles app; compliance "make test"; sources "src/**/*.ts"\n'
     'diagnostic teaching /NS(?<rule>\\d+)/ as "NS{rule}"; diagnostic /error: (.*)/; share views "**/*.view" }',
     "use app", lambda c: c.suite.metrics_of(c.profile),
     m.Metrics("ts", ("app",), (m.Pattern("make test"),), ("src/**/*.ts",),
               (m.Diagnostics(m.Pattern(r"NS(?<rule>\d+)", True), "NS{rule}", True),
                m.Diagnostics(m.Pattern("error: (.*)", True), None, False)), (("views", ("**/*.view",)),))),
    ("toolchain: a checkout where a variable names one, else packages",
     f'{BASE}; toolchain t {{ npm "a@1"; env R = "{{npm}}"; checkout env SDK {{ build "make"; caches "out"\n'
     'hides "evals"; npm none; env R = "{checkout}" } }',
     "", lambda c: (c.setup.toolchains[0].npm, c.setup.toolchains[0].checkout, c.setup.toolchains[0].instead),
     (("a@1",), None, m.Toolchain(
         "t", env=(("R", "{checkout}"),), origin="cases/s/suite.eval:2:53", checkout=m.Checkout(
             "SDK", "", m.Command(("make",), 600), "cases/s/suite.eval:2:95", ("out",), ("evals",))))),
    ("toolchain: a local checkout of the product under test with its build command",
     f'{BASE}; toolchain t {{ checkout env SDK else "../sdk" build "make -C {{checkout}}" time 9m\n'
     'program p = "{checkout}/p" }',
     "", lambda c: (c.setup.toolchains[0].checkout, c.setup.toolchains[0].programs),
     (m.Checkout("SDK", "../sdk", m.Command(("make", "-C", "{checkout}"), 540), "cases/s/suite.eval:2:67"),
      (("p", "{checkout}/p"),))),
    ("toolchain: apt as a note", f'{BASE}; toolchain t {{ apt "xvfb", "git" }}', "",
     lambda c: c.setup.toolchains[0].apt, ("xvfb", "git")),
    ("toolchain: env", f'{BASE}; toolchain t {{ env A = "{{npm}}" }}', "",
     lambda c: c.setup.toolchains[0].env, (("A", "{npm}"),)),
    ("scaffold by command", 'check run "true"; scaffold run "make {workspace}" time 1m', "",
     lambda c: c.setup.scaffold.command, m.Command(("make", "{workspace}"), 60)),
    ("scaffold by copy", 'check run "true"; scaffold copy "skeleton"', "",
     lambda c: c.setup.scaffold.folder, "cases/s/skeleton"),
    ("scaffold by template", 'check run "true"; scaffold template "skeleton"', "",
     lambda c: c.setup.scaffold.folder, "cases/s/skeleton"),
    ("starter overlay", BASE, 'starter "solution"', lambda c: c.setup.starter, "cases/s/solution"),
    ("skills by command", BASE, 'skills a, b by "get {skill}"',
     lambda c: [(s.name, s.command) for s in c.setup.skills],
     [("a", m.Command(("get", "{skill}"), 600)), ("b", m.Command(("get", "{skill}"), 600))]),
    ("skills from a folder", BASE, 'skills writing from "skills"',
     lambda c: [s.folder for s in c.setup.skills], ["cases/s/skills/writing"]),
    ("skills none", f'{BASE}; skills writing from "skills"', "skills none", lambda c: c.setup.skills, ()),
    ("guidance into the system prompt", BASE, 'guidance "docs/one.md", "guide"; contract "contract.md"',
     lambda c: ([g.path for g in c.setup.guidance], c.setup.contract),
     (["cases/s/docs/one.md", "cases/s/guide/SKILL.md", "cases/s/guide/a.md"], "cases/s/contract.md")),
    ("guidance none", f'{BASE}; guidance "guide"; contract "contract.md"', "guidance none; contract none",
     lambda c: (c.setup.guidance, c.setup.contract), ((), None)),
    ("prewarm", BASE, 'prewarm "make deps" time 1m', lambda c: c.setup.prewarm, (m.Command(("make", "deps"), 60),)),
    ("prewarm none, caches none", f'{BASE}; prewarm "make"; caches "out"', "prewarm none; caches none",
     lambda c: (c.setup.prewarm, c.setup.caches), ((), ())),
    ("agent: claude", BASE, "use agent claude", lambda c: c.agent, m.AgentConfig("claude")),
    ("agent: api", 'check run "true"', 'use agent api; answer "main.js"',
     lambda c: (c.agent.name, c.setup.answer, c.setup.scaffold.folder), ("api", "main.js", None)),
    ("agent: tools", 'agent tools { registry "app.registry:viewer"; system "app.prompt:build"; state "state.yaml" }',
     "expect a",
     lambda c: (c.agent.name, c.agent.registry, c.agent.system_function, c.agent.system, c.agent.state),
     ("tools", "app.registry:viewer", "app.prompt:build", None, "cases/s/state.yaml")),
    ("agent: tools, by MCP", 'agent tools { registry mcp "serve --stdio"; system """You steer.""" }', "expect a",
     lambda c: (c.agent.registry_command, c.agent.system, c.agent.system_function),
     (m.Command(("serve", "--stdio"), 600), "You steer.", None)),
    ("agent: command", f'{BASE}; agent command {{ command "my-agent {{prompt_file}} {{workspace}}" }}',
     "use agent command", lambda c: c.agent.command, m.Command(("my-agent", "{prompt_file}", "{workspace}"), 600)),
    ("agent: oracle", BASE, 'use agent oracle; solution "solution"', lambda c: (c.agent.name, c.solution),
     ("oracle", "cases/s/solution")),
    ("agent: nop", BASE, "use agent nop", lambda c: c.agent.name, "nop"),
    ("model and judge model with their environment variables", f'{BASE}; model env M else "a/b"; judge-model "c/d"', "",
     lambda c: (c.model, c.judge_model), (m.ModelChoice("M", "a/b"), m.ModelChoice(None, "c/d"))),
    ("allow and deny rules", f'{BASE}; agent claude {{ allow Read, "Bash(ls *)"; deny Write }}',
     "agent claude { allow Glob }",
     lambda c: (c.agent.allow, c.agent.deny), (("Read", "Bash(ls *)", "Glob"), ("Write",))),
    ("permission mode", BASE, "agent claude { permissions skip }", lambda c: c.agent.permissions, "skip"),
    ("mcp none", f'{BASE}; agent claude {{ mcp "mcp.json" }}', "agent claude { mcp none }",
     lambda c: c.agent.mcp, None),
    ("mcp config", BASE, 'agent claude { mcp "mcp.json" }', lambda c: c.agent.mcp, "cases/s/mcp.json"),
    ("prompt suffix", BASE, 'agent claude { suffix "Stop." }', lambda c: c.agent.suffix, "Stop."),
    ("env for the agent", f'{BASE}; env A = "suite"; env B = "suite"', 'agent claude { env A = "case" }',
     lambda c: c.agent.env, (("A", "case"), ("B", "suite"))),
    ("limits: turns, time, cost, tokens", BASE, "limits { turns 3; time 90s; cost $2.50; tokens 2000000 }",
     lambda c: c.limits, m.Limits(3, 90, 2.5, 2_000_000)),
    ("tiers", f'{BASE}; tier flat "one layer" requires schema flat; tier guarded requires confirmation; tier r requires'
     ' read', "", lambda c: [(t.name, t.about, t.requires) for t in c.suite.tiers],
     [("flat", "one layer", "schema flat"), ("guarded", "", "confirmation"), ("r", "", "read")]),
    ("trials", f"{BASE}; trials 3", "trials 5", lambda c: c.trials, 5),
    ("check run: exit code", BASE, 'check run "x" exit 2 as c', lambda c: c.checks[-1].spec,
     m.RunSpec(m.Command(("x",), 600), 2)),
    ("check run: output has and lacks", BASE, 'check run "x" has "a", /b/ lacks "c" as c "told"',
     lambda c: (c.checks[-1].spec, c.checks[-1].description),
     (m.RunSpec(m.Command(("x",), 600), 0, (m.OutputTest("has", (m.Pattern("a"), m.Pattern("b", True))),
                                           m.OutputTest("lacks", (m.Pattern("c"),)))), "told")),
    ("check grep over globs", BASE, 'check grep "a", "b/**" lacks "x"', lambda c: c.checks[-1].spec,
     m.GrepSpec(("a", "b/**"), "lacks", (m.Pattern("x"),))),
    ("check exists, absent", BASE, 'check exists "a", "b"; check absent "c"',
     lambda c: [(k.kind, k.spec) for k in c.checks[1:]],
     [("exists", m.ExistsSpec(("a", "b"), "exists")), ("absent", m.ExistsSpec(("c",), "absent"))]),
    ("check hidden-tests", BASE, 'check hidden-tests "hidden" run "vitest --out={report}" time 2m',
     lambda c: c.checks[-1].spec, m.HiddenTestsSpec("cases/s/hidden", m.Command(("vitest", "--out={report}"), 120))),
    ("check hidden-tests beside the case", f'{BASE}; check hidden-tests "{{case}}/hidden" run "t {{report}}"', "",
     lambda c: c.checks[-1].spec, m.HiddenTestsSpec("cases/s/hidden", m.Command(("t", "{report}"), 600))),
    ("check snapshot", BASE, 'check snapshot has in one line "a", "b"; check snapshot lacks "c"',
     lambda c: [k.spec for k in c.checks[1:]],
     [m.SnapshotSpec("has", (m.Pattern("a"), m.Pattern("b")), True), m.SnapshotSpec("lacks", (m.Pattern("c"),))]),
    ("check page", BASE, 'check page "index.html" loads as smoke', lambda c: c.checks[-1].spec,
     m.PageSpec("index.html")),
    ("check page for a time", BASE, 'check page "a/b.html" loads time 1m', lambda c: c.checks[-1].spec,
     m.PageSpec("a/b.html", 60)),
    ("check calls", "",
     'expect a then b(x: "v", y > 1, z one of "p", -1.5, null, q in 10..20, r number, s: [1, true])\n'
     "never c, d; expect e", lambda c: called(c.checks[0]),
     ("calls", [[("a", []), ("b", [("x", "is", ("v",)), ("y", ">", (1,)), ("z", "one of", ("p", -1.5, None)),
                                   ("q", "in", (10, 20)), ("r", "type", ("number",)), ("s", "is", ([1, True],))])],
                [("e", [])]], ("c", "d"))),
    ("calls: tests of arguments", "",
     'expect a(b includes 1, 2, c ~ /d/i like "D", e ~ /f/, g approx [1] within 0.5, h any, i absent, j.0 == 1) exact',
     lambda c: [(test.key, test.test, test.values) for test in spec(c.checks[0]).sequences[0][0].arguments],
     [("b", "includes", (1, 2)), ("c", "~", ("d", "i", "D")), ("e", "~", ("f", "")), ("g", "approx", ([1], 0.5)),
      ("h", "any", ()), ("i", "absent", ()), ("j.0", "==", (1,))]),
    ("calls: alternatives, any order, only, never with arguments", "",
     "expect only either { a then b } or { c succeeds } then in any order {\n d exact\n either { e } or { f confirmed }"
     "\n}; never a(b: 1), g, b succeeds",
     lambda c: (sequence_shown(spec(c.checks[0]).sequences[0]), spec(c.checks[0]).only, spec(c.checks[0]).never,
                [call_shown(call) for call in spec(c.checks[0]).never_calls]),
     ("either { a then b } or { c succeeds } then in any order { d exact; either { e } or { f confirmed } }", (0,),
      ("g",), ["a(b: 1)", "b succeeds"])),
    ("check state", "", 'expect a; check state f has at least 2 where s = "d" and n > 1; check state v.p in 1..2\n'
     'check state f lacks where s one of "p", "q"', lambda c: [state_shown(spec(check)) for check in c.checks
                                                          if check.kind == "state"],
     ['f has at least 2 where s = "d" and n > 1', "v.p in 1..2", 'f lacks where s one of "p", "q"']),
    ("score code", 'answer "main.js" over template "skeleton"; use agent api',
     'score code as s { imports "a", "b"; apis "c"; forbid /x/, "y"; parses "node --check {answer}" time 5s\n'
     "pass at 0.8 }",
     lambda c: (c.checks[0].spec, c.checks[0].advisory, c.setup.scaffold.folder),
     (m.ScoreSpec("main.js", "javascript", ("a", "b"), ("c",), (m.Pattern("x", True), m.Pattern("y")),
                  m.Command(("node", "--check", "{answer}"), 5), 0.8), False, "cases/s/skeleton")),
    ("check transcript", BASE, 'check transcript lacks /rm -rf/', lambda c: c.checks[-1].spec,
     m.TranscriptSpec("lacks", (m.Pattern("rm -rf", True),))),
    ("a check's scope: on lanes", BASE, 'check run "x" on macos-local, sandbox',
     lambda c: c.checks[-1].lanes, ("macos-local", "sandbox")),
    ("advisory, weight", BASE, 'check run "x" weight 2.5 advisory',
     lambda c: (c.checks[-1].weight, c.checks[-1].advisory), (2.5, True)),
    ("judge: on request", BASE, 'judge "t" { files "a"; criterion "c"; on request }',
     lambda c: c.judges[0].on_request, True),
    ("judge: what a file holds as context", BASE,
     'judge "t" { files "a"; criterion "c"; context "PROMPT.md"; context "see PROMPT.md" }', lambda c: [
         len(c.judges[0].context), c.judges[0].context[0].endswith("\n"), c.judges[0].context[1]],
     [2, True, "see PROMPT.md"]),
    ("judge: criteria, files, context, threshold, advisory", BASE,
     'judge "t" as j { files "a" up to 24KB; pass at 6, advisory; criterion "c"; context "d" }',
     lambda c: (c.judges[0].files, c.judges[0].most_bytes, c.judges[0].threshold, c.judges[0].advisory,
                c.judges[0].criteria, c.judges[0].context), (("a",), 24_000, 6, True, ("c",), ("d",))),
    ("judge: direction, several judge models, votes, temperature", BASE,
     'judge { files "a"; criterion "c"; direction lower; model "a/b", "c/d"; votes 3; temperature 0.3; pass at 2 }',
     lambda c: (c.judges[0].direction, c.judges[0].models, c.judges[0].votes, c.judges[0].temperature),
     ("lower", ("a/b", "c/d"), 3, 0.3)),
    ("temperature", f"{BASE}; temperature 0.2", "agent claude { seed 7 }",
     lambda c: (c.temperature, c.agent.temperature, c.agent.seed), (0.2, 0.2, 7)),
    ("a lint rule silenced with its reason", BASE, 'allow W001 "pinned"; check run "x" allow W003 "meant"',
     lambda c: ([(s.code, s.reason) for s in c.silenced], [(s.code, s.reason) for s in c.checks[-1].silenced]),
     ([("W001", "pinned")], [("W003", "meant")])),
    ("solution and known-bad answers", BASE, 'solution "solution"; wrong "wrong/one" fails base',
     lambda c: (c.solution, [(w.name, w.folder, w.fails) for w in c.wrongs]),
     ("cases/s/solution", [("one", "cases/s/wrong/one", ("base",))])),
    ("tags for selection", f"{BASE}; tags quick, ui", "tags ui, slow", lambda c: c.tags, ("quick", "ui", "slow")),
    ("a check put together from primitives",
     f'{BASE}; define check h(spec) {{ put "{{case}}/{{spec}}" as "x"; run "t" }}',
     'check h "spec.txt" "told" as h', lambda c: c.checks[-1].spec,
     m.StepsSpec((m.Put("cases/s/spec.txt", "x"), m.Run(m.Command(("t",), 600))))),
    ("what of a check's output tells why", f'{BASE}; define check h {{ run "t"; evidence "a", /^b$/i }}',
     "check h as h", lambda c: c.checks[-1].spec,
     m.StepsSpec((m.Run(m.Command(("t",), 600)),), evidence=(m.Pattern("a"), m.Pattern("^b$", True, "i")))),
]


@pytest.mark.parametrize(("suite", "case", "meaning", "expected"), [item[1:] for item in ITEMS],
                         ids=[item[0] for item in ITEMS])
def test_an_item_can_be_expressed(suite: str, case: str, meaning: Meaning, expected: Any, tmp_path: Path) -> None:
    """It compiles, and means what it says."""
    prompt = "" if "prompt" in case else '"Do it." '
    files = {**FILES, "cases/s/it.eval": f"case it {prompt}{{\n{case}\n}}"}
    unit = load_project(write(tmp_path, files, suite=f"suite s {{\n{suite}\n}}")).cases["it"]

    assert expected == meaning(unit)


# ---- several units of a case ----
TRACKS = """case it {
  use none
  prompt "PROMPT.md"
  check run "tests" as own-tests
  check run "only zig" as only-zig for track zig
  wrong "wrong/one" fails spec, own-tests
  track ts  { use app; starter "wrong/one"; check run "ts" as spec; tags ts }
  track zig { use app; starter "wrong/two"; limits { turns 9 }; check run "zig" as spec-zig; solution "solution" }
}
"""


def units_of(root: Path, suite: str, case: str) -> dict[str, m.Case]:
    project = load_project(write(root, {**FILES, "cases/s/it.eval": case}, suite=f"suite s {{\n{suite}\n}}"))
    return {unit.unit: unit for unit in project.units["it"]}


def counting(unit: m.Case) -> list[str]:
    return [check.id for check in unit.checks if not unit.skips(check)]


def test_tracks(tmp_path: Path) -> None:
    """A case is one unit a track, with what all tracks share and what is the track's own; its `use` wins."""
    units = units_of(tmp_path, 'profile app { scaffold copy "skeleton" }', TRACKS)

    assert ["it@ts", "it@zig"] == list(units)
    ts, zig = units.values()
    assert (["own-tests", "spec"], ["own-tests", "only-zig", "spec-zig"]) == (counting(ts), counting(zig))
    assert "not graded on this track (only on zig)" == ts.skips(ts.checks[1])
    assert (("app", "cases/s/wrong/one", 80, None), ("app", "cases/s/wrong/two", 9, "cases/s/solution")) == tuple(
        (unit.profile, unit.setup.starter, unit.limits.turns, unit.solution) for unit in (ts, zig))
    assert (("spec", "own-tests"), ("own-tests",)) == (ts.wrongs[0].fails, zig.wrongs[0].fails)
    assert ("ts",) == ts.tags


def test_arms(tmp_path: Path) -> None:
    """Each case of the suite is one unit an arm; what an arm says wins over the case."""
    units = units_of(tmp_path, f"""{BASE}; skills writing from "skills"
        arm with-skill {{ about "As it is."; }}
        arm baseline {{
          skills none; model "other"; agent claude {{ deny Skill }}; temperature 1; limits {{ turns 1 }}
        }}
        """, """case it "Do it." { skills reading from "skills"; limits { turns 5 }
          check run "x" as uses-skill for arm with-skill }""")

    assert ["it+with-skill", "it+baseline"] == list(units)
    first, second = units.values()
    assert (["reading"], []) == ([skill.name for skill in first.setup.skills], list(second.setup.skills))
    assert (5, 1) == (first.limits.turns, second.limits.turns)
    assert ("other", ("Skill",), 1.0) == (second.model.default, second.agent.deny, second.temperature)
    assert (["base", "uses-skill"], ["base"]) == (counting(first), counting(second))
    assert "not graded on this arm (only on with-skill)" == second.skips(second.checks[1])
    assert [("with-skill", "As it is.", False), ("baseline", "", False)] == [
        (arm.name, arm.about, arm.ablates) for arm in first.suite.arms]


def test_tracks_on_arms(tmp_path: Path) -> None:
    """A unit is a track on an arm, in the order of the declarations."""
    units = units_of(tmp_path, f"{BASE}; arm a {{ }}\narm b {{ }}", 'case it "x" { track t { }\ntrack u { } }')

    assert ["it@t+a", "it@t+b", "it@u+a", "it@u+b"] == list(units)


def test_ablations(tmp_path: Path) -> None:
    """An arm that ablates is one arm a section of the guidance, which that section is left out of."""
    units = units_of(tmp_path, f"""{BASE}; arm full {{ }}\narm cut {{ ablate guidance by section }}""",
                     """case it "Do it." { guidance "docs/one.md", "guide/a.md"
                       check run "x" as cut-only for arm cut }""")

    assert ["it+full", "it+cut.use", "it+cut.limits"] == list(units)
    document, other = m.Guidance("cases/s/docs/one.md"), m.Guidance("cases/s/guide/a.md")
    assert [(document, other), (m.Guidance(document.path, ("Use",)), other),
            (m.Guidance(document.path, ("Limits",)), other)] == [unit.setup.guidance for unit in units.values()]
    assert [["base"], ["base", "cut-only"], ["base", "cut-only"]] == [counting(unit) for unit in units.values()]


def test_ablations_by_document(tmp_path: Path) -> None:
    """Each document is left out once; of one that has no sections nothing else could be."""
    units = units_of(tmp_path, f"{BASE}; arm full {{ }}\narm cut {{ ablate guidance by document }}",
                     'case it "Do it." { guidance "docs/one.md", "guide/a.md" }')

    assert ["it+full", "it+cut.one", "it+cut.a"] == list(units)
    assert [["cases/s/docs/one.md", "cases/s/guide/a.md"], ["cases/s/guide/a.md"], ["cases/s/docs/one.md"]] == [
        [document.path for document in unit.setup.guidance] for unit in units.values()]


def test_an_ablation_of_nothing_is_no_arm(tmp_path: Path) -> None:
    """A case without guidance has the other arms alone; where there is no other one, it is itself."""
    case = 'case it "Do it." { }'
    cut = "arm cut { ablate guidance by section }"

    assert ["it+full"] == list(units_of(tmp_path / "a", f"{BASE}; arm full {{ }}\n{cut}", case))
    assert ["it+cut"] == list(units_of(tmp_path / "b", f"{BASE}; {cut}", case))


def test_a_command_case_needs_nothing_else(tmp_path: Path) -> None:
    """Its tier, its prompt and what it expects stand on one line; it has no scaffold, and agent `tools`."""
    unit = units_of(tmp_path, 'agent tools { registry "a:b" }\ntier deterministic "flat" requires schema flat',
                    'case it deterministic "Color by elevation" { expect setColorMode(mode: "elevation") }')["it"]

    assert ("deterministic", "Color by elevation", "tools", ["calls"]) == (
        unit.tier, unit.prompt, unit.agent.name, [check.id for check in unit.checks])
    assert m.Scaffold(None, None, "") == unit.setup.scaffold
