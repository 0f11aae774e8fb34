"""Every statement becomes its node."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_calls, nodes_live, nodes_metrics
from evalkit.values import Node, fields_of
from tests.unit.language.project import parse_text


def plain(node: Any) -> Any:
    """A node as (class, fields) without spans; values as what they hold."""
    if isinstance(node, n.Name | n.Number | n.Real | n.Data):
        return node.value
    if isinstance(node, n.Str):
        return ("block", node.value) if node.block else node.value
    if isinstance(node, tuple):
        return [plain(item) for item in node]
    if isinstance(node, Node):
        fields = {part.name: getattr(node, part.name) for part in fields_of(type(node))}
        return (type(node).__name__, {name: plain(value) for name, value in fields.items()
                                      if not isinstance(value, Span)})
    return node


def check(kind: tuple[str, dict[str, Any]], **options: Any) -> tuple[str, dict[str, Any]]:
    """A check with the options that are given, and no others."""
    none: dict[str, Any] = {name: [] for name in ("ids", "lanes", "arms", "tracks", "weights", "limits", "silenced",
                                                  "texts")}
    return "Check", {"kind": kind, "advisory": False, **none, **options}


def run(command: str, exits: Any = (), outputs: Any = ()) -> tuple[str, dict[str, Any]]:
    return "CheckRun", {"command": command, "exits": list(exits), "outputs": list(outputs)}


def limits(**given: Any) -> tuple[str, dict[str, Any]]:
    return "Limits", {"turns": None, "time": None, "cost": None, "tokens": None, **given}


def judge(**given: Any) -> tuple[str, dict[str, Any]]:
    none: dict[str, Any] = {name: [] for name in ("files", "criteria", "context", "told", "told_by", "models",
                                                         "silenced")}
    return "Judge", {"title": None, "id": None, "most_bytes": None, "threshold": None, "advisory": False,
                     "votes": None, "direction": "higher", "on_request": False, "temperature": None, **none, **given}


def call(name: str, *arguments: Any, **options: bool) -> tuple[str, dict[str, Any]]:
    return "Call", {"name": name, "arguments": list(arguments), "exact": False, "succeeds": False, "confirmed": False,
                    **options}


def expect(*calls: Any, only: bool = False) -> tuple[str, dict[str, Any]]:
    return "Expect", {"calls": list(calls), "only": only}


def state(path: str, bound: str, count: int | None, *where: Any) -> tuple[str, dict[str, Any]]:
    return check(("CheckState", {"path": path, "bound": bound, "count": count, "where": list(where)}))


def tier(name: str, about: str | None = None, requires: str | None = None, commands: Any = ()) -> Any:
    return "Tier", {"name": name, "about": about, "requires": requires, "commands": list(commands)}


SILENCE = ("Silence", {"code": "W001", "reason": "why"})


def statements(kind: str, text: str) -> list[Any]:
    file, errors = parse_text(f"{kind} it {{ {text} }}")
    assert not errors, errors
    return [plain(node) for node in (file.suites[0] if kind == "suite" else file.cases[0]).body]


CASE_STATEMENTS: list[tuple[str, tuple[str, dict[str, Any]]]] = [
    ('about "a"', ("About", {"text": "a"})),
    ('about """a"""', ("About", {"text": ("block", "a")})),
    ("use app", ("UseProfile", {"name": "app"})),
    ("use none", ("UseNone", {})),
    ("use agent claude", ("UseAgent", {"name": "claude"})),
    ('prompt "a.md"', ("Prompt", {"text": "a.md"})),
    ('scaffold run "a"', ("ScaffoldRun", {"command": "a", "limit": None})),
    ('scaffold run "a" time 2m', ("ScaffoldRun", {"command": "a", "limit": 120})),
    ('scaffold copy "a"', ("ScaffoldCopy", {"path": "a"})),
    ('starter "a"', ("Starter", {"path": "a"})),
    ('skills a, b-c by "d"', ("Skills", {"names": ["a", "b-c"], "delivery": "by", "value": "d"})),
    ('skills a from "d"', ("Skills", {"names": ["a"], "delivery": "from", "value": "d"})),
    ("skills none", ("SkillsNone", {})),
    ('prewarm "a", "b" time 1h', ("Prewarm", {"commands": ["a", "b"], "limit": 3600})),
    ('caches "a", "b"', ("Caches", {"paths": ["a", "b"]})),
    ("limits { turns 3; time 1h30m }", limits(turns=3, time=5400)),
    ("limits { cost $2.50; tokens 2000000 }", limits(cost=2.5, tokens=2_000_000)),
    ("limits { }", limits()),
    ('scaffold template "a"', ("ScaffoldTemplate", {"path": "a"})),
    ('guidance "a", "b"', ("Guidance", {"paths": ["a", "b"]})),
    ("guidance none", ("GuidanceNone", {})),
    ('contract "a"', ("Contract", {"path": "a"})),
    ("contract none", ("ContractNone", {})),
    ("prewarm none", ("PrewarmNone", {})),
    ("caches none", ("CachesNone", {})),
    ('network "a:1", "b:2"', ("Network", {"places": ["a:1", "b:2"]})),
    ("network none", ("NetworkNone", {})),
    ("temperature 0.2", ("Temperature", {"value": 0.2})),
    ("trials 3", ("Trials", {"count": 3})),
    ("tags a, b", ("Tags", {"names": ["a", "b"]})),
    ('env A = "b"', ("Env", {"name": "A", "value": "b"})),
    ('answer "a"', ("Answer", {"path": "a", "template": None})),
    ('answer "a" over template "b"', ("Answer", {"path": "a", "template": "b"})),
    ('allow W001 "why"', SILENCE),
    ('allow W001 """why"""', ("Silence", {"code": "W001", "reason": ("block", "why")})),
    ('model "a"', ("Model", {"role": "model", "variable": None, "default": "a"})),
    ('judge-model env A_B else "a"', ("Model", {"role": "judge-model", "variable": "A_B", "default": "a"})),
    ('agent x { allow Read, "Bash(a *)"; deny B; suffix "c"; mcp none; env D = "e" }',
     ("Agent", {"name": "x", "body": [
         ("Allow", {"tools": ["Read", "Bash(a *)"]}), ("Deny", {"tools": ["B"]}), ("Suffix", {"text": "c"}),
         ("McpNone", {}), ("Env", {"name": "D", "value": "e"})]})),
    ('agent x { permissions skip; permissions accept-edits; mcp "m"; registry "a:b"; registry mcp "c"; system "d"\n'
     'system """e"""; state "f"; command "g"; temperature 1; seed 2 }',
     ("Agent", {"name": "x", "body": [
         ("Permissions", {"mode": "skip"}), ("Permissions", {"mode": "accept-edits"}), ("Mcp", {"path": "m"}),
         ("Registry", {"name": "a:b"}), ("RegistryMcp", {"command": "c"}), ("System", {"text": "d"}),
         ("System", {"text": ("block", "e")}), ("State", {"path": "f"}), ("Command", {"command": "g"}),
         ("Temperature", {"value": 1}), ("Seed", {"value": 2})]})),
    ('check run "a"', check(run("a"))),
    ('check run "a" exit 3 has "b", /c/ lacks "d" "e"', check(run("a", [3], [
        ("Expectation", {"expect": "has", "one_line": False,
                         "patterns": ["b", ("Regex", {"pattern": "c", "flags": ""})]}),
        ("Expectation", {"expect": "lacks", "one_line": False, "patterns": ["d"]})]), texts=["e"])),
    ('check run "a" weight 1.5 for arm b, c for track d allow W001 "why" on e "f"', check(
        run("a"), weights=[1.5], arms=["b", "c"], tracks=["d"], silenced=[SILENCE], lanes=["e"], texts=["f"])),
    ('check grep "a", "b" has "c", /d\\/e/i "f" as g advisory on h, i',
     check(("CheckGrep", {"globs": ["a", "b"], "expect": "has", "patterns": [
         "c", ("Regex", {"pattern": "d/e", "flags": "i"})]}), ids=["g"], lanes=["h", "i"], advisory=True, texts=["f"])),
    ('check exists "a", "b"', check(("CheckExists", {"expect": "exists", "globs": ["a", "b"]}))),
    ('check absent "a"', check(("CheckExists", {"expect": "absent", "globs": ["a"]}))),
    ('check hidden-tests "a" run "b"', check(
        ("CheckHiddenTests", {"paths": ["a"], "command": "b", "collects": None}))),
    ('check hidden-tests "a", "b" collects 3 run "c"', check(
        ("CheckHiddenTests", {"paths": ["a", "b"], "command": "c", "collects": 3}))),
    ('check snapshot lacks "a"', check(("CheckSnapshot", {
        "expect": "lacks", "patterns": ["a"], "one_line": False, "acts": []}))),
    ('check snapshot has in one line "a", "b"', check(
        ("CheckSnapshot", {"expect": "has", "patterns": ["a", "b"], "one_line": True, "acts": []}))),
    ('check snapshot { click a="b" c=/d/i in "e"; type "f" into g="h" near /i/\n'
     'key "j"; note k = l="m"; expect same k }',
     check(("CheckSnapshot", {"expect": "has", "patterns": [], "one_line": False, "acts": [
         ("ActClick", {"target": ("Target", {
             "attributes": [["a", "b"], ["c", ("Regex", {"pattern": "d", "flags": "i"})]],
             "inside": "e", "near": None})}),
         ("ActType", {"text": "f", "target": ("Target", {"attributes": [["g", "h"]], "inside": None,
                                                         "near": ("Regex", {"pattern": "i", "flags": ""})})}),
         ("ActKey", {"key": "j"}),
         ("ActNote", {"name": "k", "target": ("Target", {"attributes": [["l", "m"]], "inside": None, "near": None})}),
         ("ActSame", {"name": "k"})]}))),
    ('check snapshot { expect has in one line "a"; expect lacks "b"; expect no c="d"; expect e="f" } has "g"', check(
        ("CheckSnapshot", {"expect": "has", "patterns": ["g"], "one_line": False, "acts": [
            ("ActExpect", {"expect": "has", "patterns": ["a"], "one_line": True}),
            ("ActExpect", {"expect": "lacks", "patterns": ["b"], "one_line": False}),
            ("ActFind", {"target": ("Target", {"attributes": [["c", "d"]], "inside": None, "near": None}),
                         "absent": True}),
            ("ActFind", {"target": ("Target", {"attributes": [["e", "f"]], "inside": None, "near": None}),
                         "absent": False})]}))),
    ('live { build "a" time 1m; launch "b"; screenshot "c" writes "d"; widget /e/; env F = "g" }', ("Live", {"body": [
        ("LiveCommand", {"kind": "build", "command": "a", "limit": 60, "writes": None}),
        ("LiveCommand", {"kind": "launch", "command": "b", "limit": None, "writes": None}),
        ("LiveCommand", {"kind": "screenshot", "command": "c", "limit": None, "writes": "d"}),
        ("LiveRegex", {"kind": "widget", "pattern": ("Regex", {"pattern": "e", "flags": ""})}),
        ("LiveEnv", {"name": "F", "value": "g"})]})),
    ('check page "a" loads', check(("CheckPage", {"path": "a"}))),
    ('check transcript has "a"', check(("CheckTranscript", {"expect": "has", "patterns": ["a"]}))),
    ('check plugin a { files "b", "c"; files "d"; e-f "g"; h """i""" } as j "k"', check(("CheckPlugin", {
        "name": "a", "files": ["b", "c", "d"], "settings": [
            ("PluginSetting", {"name": "e-f", "value": "g"}),
            ("PluginSetting", {"name": "h", "value": ("block", "i")})]}),
        ids=["j"], texts=["k"])),
    ('check plugin a "b"', check(("CheckPlugin", {"name": "a", "files": [], "settings": []}), texts=["b"])),
    ('check own "a" "b" time 5s', check(("CheckDefined", {"name": "own"}), limits=[5], texts=["a", "b"])),
    ('score code as a { language python; imports "b", "c"; apis "d"; forbid "e", /f/; parses "g" time 1s\n'
     'pass at 0.8, advisory; allow W001 "why" }',
     ("Score", {"id": "a", "languages": ["python"], "imports": ["b", "c"], "apis": ["d"],
                "forbid": ["e", ("Regex", {"pattern": "f", "flags": ""})], "parses": ["g"], "limit": 1,
                "thresholds": [0.8], "advisory": True, "silenced": [SILENCE]})),
    ('judge "a" as b { files "c"; files "d"; pass at 6, advisory; criterion "e"; criterion "f"; context "g" }',
     judge(title="a", id="b", files=["c", "d"], threshold=6, advisory=True, criteria=["e", "f"], context=["g"])),
    ('judge { files "a" up to 24KB; model "b", "c"; votes 3; direction lower; temperature 0.5; allow W001 "why" }',
     judge(files=["a"], most_bytes=24_000, models=["b", "c"], votes=3, direction="lower", temperature=0.5,
           silenced=[SILENCE])),
    ('judge { context guidance; context "a"; context contract; context run "b" time 2s; context run "c" }',
     judge(context=["a"], told=[("Told", {"what": "guidance"}), ("Told", {"what": "contract"})],
           told_by=[("ToldBy", {"command": "b", "limit": 2}), ("ToldBy", {"command": "c", "limit": None})])),
    ("judge { advisory }", judge(advisory=True)),
    ("expect a then b(c: 1)", expect(call("a"), call("b", ("ArgumentIs", {"key": "c", "value": 1})))),
    ('expect a(b one of "c", -1, true, null, d > 1.5, e in -1..2.5, f boolean, g: [[], "h"])',
     expect(call(
         "a", ("ArgumentOneOf", {"key": "b", "values": ["c", -1, True, None]}),
         ("ArgumentCompare", {"key": "d", "operator": ">", "value": 1.5}),
         ("ArgumentIn", {"key": "e", "range": ("Range", {"low": -1, "high": 2.5})}),
         ("ArgumentType", {"key": "f", "type": "boolean"}),
         ("ArgumentIs", {"key": "g", "value": [[], "h"]})))),
    ('expect a(b includes "c", 2, d approx [1, -2.5] within 0.1, e ~ /f/i like "F", g ~ /h/, i any, j absent)',
     expect(call(
         "a", ("ArgumentIncludes", {"key": "b", "values": ["c", 2]}),
         ("ArgumentApprox", {"key": "d", "value": [1, -2.5], "tolerance": 0.1}),
         ("ArgumentMatches", {"key": "e", "pattern": ("Regex", {"pattern": "f", "flags": "i"}), "example": "F"}),
         ("ArgumentMatches", {"key": "g", "pattern": ("Regex", {"pattern": "h", "flags": ""}), "example": None}),
         ("ArgumentPresence", {"key": "i", "wanted": "any"}),
         ("ArgumentPresence", {"key": "j", "wanted": "absent"})))),
    ("expect a()", expect(call("a"))),
    ("expect only a exact then b(c any) succeeds confirmed", expect(
        call("a", exact=True), call("b", ("ArgumentPresence", {"key": "c", "wanted": "any"}), succeeds=True,
                                    confirmed=True), only=True)),
    ("expect either { a then b } or {\n  c\n\n  d\n} then e", expect(
        ("Either", {"branches": [[call("a"), call("b")], [call("c"), call("d")]]}), call("e"))),
    ("expect in any order { a; either { b } or { c }\n d then e }", expect(
        ("AnyOrder", {"items": [[call("a")], [("Either", {"branches": [[call("b")], [call("c")]]})],
                                [call("d"), call("e")]]}))),
    ("never a, b(c: 1) succeeds", ("Never", {"calls": [
        call("a"), call("b", ("ArgumentIs", {"key": "c", "value": 1}), succeeds=True)]})),
    ('check state a.b has 2 where c = "d" and e > 1 and f one of "g", 3', state(
        "a.b", "exactly", 2, ("ArgumentIs", {"key": "c", "value": "d"}),
        ("ArgumentCompare", {"key": "e", "operator": ">", "value": 1}),
        ("ArgumentOneOf", {"key": "f", "values": ["g", 3]}))),
    ("check state a has at least 1", state("a", "at least", 1)),
    ('check state a has at most 2 where b includes "c", "d"', state(
        "a", "at most", 2, ("ArgumentIncludes", {"key": "b", "values": ["c", "d"]}))),
    ("check state a lacks where b absent", state(
        "a", "exactly", 0, ("ArgumentPresence", {"key": "b", "wanted": "absent"}))),
    ("check state a.0 = [1]", state("a.0", "exactly", None, ("ArgumentIs", {"key": "a.0", "value": [1]}))),
    ('track t { use none; expect a; solution "b" }', ("Track", {"name": "t", "body": [
        ("UseNone", {}), expect(call("a")), ("Solution", {"path": "b"})]})),
    ('solution "a"', ("Solution", {"path": "a"})),
    ('wrong "a" fails b, c', ("Wrong", {"path": "a", "fails": ["b", "c"], "tests": []})),
    ('wrong "a" fails b "t", "u", c, d "v"', ("Wrong", {
        "path": "a", "fails": ["b", "c", "d"], "tests": [["b", "t"], ["b", "u"], ["d", "v"]]})),
]

SUITE_STATEMENTS: list[tuple[str, tuple[str, dict[str, Any]]]] = [
    ('toolchain t { npm "a", "b"; pip "c"; program d = "e"; env F = "g" }',
     ("Toolchain", {"name": "t", "body": [("Npm", {"pins": ["a", "b"]}), ("Pip", {"pins": ["c"]}),
                                          ("Program", {"name": "d", "path": "e"}),
                                          ("Env", {"name": "F", "value": "g"})]})),
    ("profile a { use agent nop }",
     ("Profile", {"name": "a", "extends": None, "body": [("UseAgent", {"name": "nop"})]})),
    ("profile a extends b { }", ("Profile", {"name": "a", "extends": "b", "body": []})),
    ('define check a(b, c) "d" { put "e" as "f"; append "g" "h"; each "i" run "j" time 1s; run "k" }',
     ("Define", {"name": "a", "params": ["b", "c"], "title": "d", "steps": [
         ("StepPut", {"source": "e", "target": "f"}), ("StepAppend", {"target": "g", "text": "h"}),
         ("StepEach", {"glob": "i", "command": "j", "limit": 1}), ("StepRun", {"command": "k", "limit": None})],
         "evidence": [], "silenced": []})),
    ('define check a { run "b"; allow W001 "why" }',
     ("Define", {"name": "a", "params": [], "title": None, "steps": [("StepRun", {"command": "b", "limit": None})],
                 "evidence": [], "silenced": [SILENCE]})),
    ('define check a { run "b"; evidence "c", /d/; evidence "e" }',
     ("Define", {"name": "a", "params": [], "title": None, "steps": [("StepRun", {"command": "b", "limit": None})],
                 "evidence": ["c", ("Regex", {"pattern": "d", "flags": ""}), "e"], "silenced": []})),
    ('toolchain t { apt "a", "b"; checkout "c" build "d"; checkout env E else "f" build "g" time 1s }',
     ("Toolchain", {"name": "t", "body": [
         ("Apt", {"packages": ["a", "b"]}),
         ("Checkout", {"variable": None, "path": "c", "build": "d", "limit": None}),
         ("Checkout", {"variable": "E", "path": "f", "build": "g", "limit": 1})]})),
    ('toolchain t { checkout env A { build "b" time 1s; hides "c", "d"; caches "e"; npm none; pip none } }',
     ("Toolchain", {"name": "t", "body": [("CheckoutInstead", {"variable": "A", "body": [
         ("Build", {"command": "b", "limit": 1}), ("Hides", {"paths": ["c", "d"]}), ("Caches", {"paths": ["e"]}),
         ("NpmNone", {}), ("PipNone", {})]})]})),
    ('metrics a { profiles b, c; compliance "d", /e/; sources "f", "g"; share h "i", "j" }',
     ("Metrics", {"name": "a", "body": [
         ("MetricsProfiles", {"names": ["b", "c"]}),
         ("MetricsCompliance", {"patterns": ["d", ("Regex", {"pattern": "e", "flags": ""})]}),
         ("MetricsSources", {"globs": ["f", "g"]}), ("MetricsShare", {"name": "h", "globs": ["i", "j"]})]})),
    ('metrics a { diagnostic /b/; diagnostic teaching /c/i as "d" }',
     ("Metrics", {"name": "a", "body": [
         ("MetricsDiagnostic", {"teaching": False, "pattern": ("Regex", {"pattern": "b", "flags": ""}), "label": None}),
         ("MetricsDiagnostic", {"teaching": True, "pattern": ("Regex", {"pattern": "c", "flags": "i"}),
                                "label": "d"})]})),
    ("tier a", tier("a")),
    ('tier a "b" requires schema flat', tier("a", "b", "schema flat")),
    ("tier a requires read", tier("a", None, "read")),
    ("tier a requires one of b, c", tier("a", None, None, ["b", "c"])),
    ('arm a { about "b"; skills none; ablate guidance by section }', ("Arm", {"name": "a", "body": [
        ("About", {"text": "b"}), ("SkillsNone", {}), ("Ablate", {"by": "section"})]})),
    ("arm a { ablate guidance by subsection }", ("Arm", {"name": "a", "body": [("Ablate", {"by": "subsection"})]})),
    ("use agent nop", ("UseAgent", {"name": "nop"})),
]


@pytest.mark.parametrize(("text", "node"), CASE_STATEMENTS, ids=[text for text, _ in CASE_STATEMENTS])
def test_a_statement_of_a_case(text: str, node: tuple[str, dict[str, Any]]) -> None:
    """It becomes one node with what it says."""
    assert [node] == statements("case", text)


@pytest.mark.parametrize(("text", "node"), SUITE_STATEMENTS, ids=[text for text, _ in SUITE_STATEMENTS])
def test_a_statement_of_a_suite(text: str, node: tuple[str, dict[str, Any]]) -> None:
    """It becomes one node with what it says."""
    assert [node] == statements("suite", text)


def test_every_node_class_is_tested() -> None:
    """No statement is without a test of its own."""
    seen = repr([node for _, node in CASE_STATEMENTS + SUITE_STATEMENTS])
    blocks_and_values = {"Suite", "Case", "File", "Name", "Str", "Number", "Real", "Data", "Json", "CheckKind", "Setup",
                         "StepNode", "Pattern", "ArgumentNode", "Expected", "Graded", "Act", "LiveKind"}

    names = [*n.__all__, *nodes_calls.__all__, *nodes_live.__all__, *nodes_metrics.__all__]
    assert [] == [name for name in names if name not in blocks_and_values and f"'{name}'" not in seen]


def test_the_head_of_a_case() -> None:
    """A name, a tier and a prompt; the last two may be left out."""
    file, errors = parse_text('case a { }\ncase b c { }\ncase d "e" { }\ncase f g """h""" { use i }')

    assert [] == errors
    assert [("a", None, None), ("b", "c", None), ("d", None, "e"), ("f", "g", ("block", "h"))] == [
        (plain(case.name), plain(case.tier), plain(case.prompt)) for case in file.cases]
    assert [("UseProfile", {"name": "i"})] == plain(file.cases[3].body)


def test_line_ends_within_brackets_mean_nothing() -> None:
    """Also where a comment stands at the end of the line; a `;` is no line end."""
    expected = statements("case", "expect a(b: [1, 2], c: 3)")

    assert expected == statements("case", "expect a(\n  b: [  # one\n    1, 2\n  ],\n  c: 3\n)")
    assert "the end of the line cannot stand here" == parse_text("case a { expect a(b: 1; c: 2) }")[1][0].message


def test_an_open_bracket_ends_with_its_statement() -> None:
    """What follows a broken call is parsed as ever."""
    file, errors = parse_text("case a {\n  expect b(c: 1\n  use d\n  use e\n}\ncase f { }")

    assert ["`use` cannot stand here"] == [error.message for error in errors]
    assert ["a", "f"] == [case.name.value for case in file.cases]


KEYWORDS = ["about", "files", "time", "as", "on", "none", "run", "check", "case", "suite", "has", "judge-model",
            "allow", "expect", "then", "in", "one", "number", "arm", "track", "true"]


@pytest.mark.parametrize("word", KEYWORDS)
def test_a_keyword_is_a_name_where_only_a_name_can_stand(word: str) -> None:
    """Ids, lanes, parameters and names of blocks may be words that the language uses elsewhere."""
    [found] = statements("case", f'check run "a" as {word}')
    assert [word] == found[1]["ids"]
    assert [word] == statements("case", f'wrong "a" fails {word}')[0][1]["fails"]
    assert [word] == statements("suite", f'define check x({word}) {{ run "a" }}')[0][1]["params"]
    file, errors = parse_text(f"case {word} {{ }}")
    assert ([], word) == (errors, file.cases[0].name.value)


EQUAL = [
    'case a {\n  about "x"\n  use b\n}\n',
    'case a { about "x"; use b }',
    'case a {;; about "x";\n;use b;}\n\n',
    '# first\ncase a { # second\n  # third\n  about "x" # fourth\n\n  use b # "fifth\n}\n# sixth',
    'case a {\r\n  about "x"\r\n  use b\r\n}\r\n',
    'case\ta\t{\tabout\t"x"\n\tuse\tb\t}',
    '\n\n  case a{about"x";use b}  \n\n',
]


@pytest.mark.parametrize("text", EQUAL)
def test_layout_and_comments_mean_nothing(text: str) -> None:
    """Line ends and `;` separate alike; blank lines, comments and CRLF make no difference."""
    file, errors = parse_text(text)

    assert not errors
    assert plain(parse_text(EQUAL[0])[0].cases) == plain(file.cases)


def test_a_comma_at_the_end_of_a_line_goes_on() -> None:
    """A list goes on behind a comma, also past comments and empty lines; a comma with nothing behind is an error."""
    expected = statements("case", 'caches "a", "b"')

    assert expected == statements("case", 'caches "a",\n   "b"\n')
    assert expected == statements("case", 'caches "a", # not last\n\n  # more\n  "b"')
    assert ["`}` cannot stand here"] == [error.message for error in parse_text('case a { caches "a", }')[1]]


def test_spans_cover_the_statement() -> None:
    """A node's span is the text of its statement, without the separator."""
    text = 'case a {\n  use b; caches "c",\n    "d"  # e\n}'
    file, _ = parse_text(text)
    spans: list[Span] = [node.span for node in file.cases[0].body]

    assert ["use b", 'caches "c",\n    "d"'] == [text[span.start : span.end] for span in spans]
    assert "it.eval:2:10" == str(spans[1])


def test_suites_and_cases_stand_in_any_order() -> None:
    """A file holds any number of both."""
    file, errors = parse_text("case a { }\nsuite b { }\ncase c { }")

    assert ([], ["b"], ["a", "c"]) == (errors, [suite.name.value for suite in file.suites],
                                       [case.name.value for case in file.cases])


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", ";;;"])
def test_an_empty_file_is_a_file(text: str) -> None:
    """It declares nothing, and nothing is wrong with it."""
    file, errors = parse_text(text)

    assert ([], (), ()) == (errors, file.suites, file.cases)
