"""Scores of code: what is code and what only looks like it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalkit.analysis.model import Check, Command, Pattern, ScoreSpec
from evalkit.grade import score as module
from evalkit.grade import score_code
from evalkit.grade.grader import grade_check, grader_files, grader_version
from evalkit.grade.score_code import Language, read_code
from evalkit.grade.verdict import Verdict
from evalkit.values import evolve
from tests.sandbox import bwrap
from tests.unit.grade.trees import a_case, final_tree

IMPORTS = ("xrblocks", "xrblocks/addons/netblocks")
APIS = ("xb.init", "enableHands")
FORBID = Pattern(r"from ['\"]https?:", regex=True)
HEAD = "import * as xb from 'xrblocks';\nimport {NetSession} from 'xrblocks/addons/netblocks/src/index.js';\n"
WORK = "options.enableHands();\nxb.init(options);\n"

# (what it shows, the output, imports and APIs that it has (of 2 and 2), whether nothing in it is forbidden)
OUTPUTS: tuple[tuple[str, str, int, int, bool], ...] = (
    ("all of it", HEAD + WORK, 2, 2, True),
    ("nothing", "console.log(1);\n", 0, 0, True),
    ("a line comment names the APIs", HEAD + "// xb.init(options); options.enableHands();\n", 2, 0, True),
    ("a block comment names the APIs", HEAD + "/* call xb.init and\n enableHands */\n", 2, 0, True),
    ("a string names the APIs", HEAD + "console.log('xb.init', \"enableHands\");\n", 2, 0, True),
    ("a template literal names the APIs", HEAD + "const t = `xb.init enableHands`;\n", 2, 0, True),
    ("a template literal calls the APIs", HEAD + "const t = `// ${xb.init(options)} ${options.enableHands()}`;\n",
     2, 2, True),
    ("a template literal has //, and code follows", HEAD + "const u = `http://x`; xb.init(o); o.enableHands();\n",
     2, 2, True),
    ("a string has //, and code follows", HEAD + "const u = 'http://x'; xb.init(o); o.enableHands();\n", 2, 2, True),
    ("a string has /*, and code follows", HEAD + "const u = '/*'; xb.init(o); o.enableHands(); const v = '*/';\n",
     2, 2, True),
    ("a regex has quotes, and code follows", HEAD + "const r = /['\"`]/; xb.init(o); o.enableHands(); // '\n",
     2, 2, True),
    ("a regex has //, and code follows", HEAD + "const r = /[/]\\/\\//; xb.init(o); o.enableHands();\n", 2, 2, True),
    ("a regex names the APIs", HEAD + "const r = /xb.init enableHands/;\n", 2, 0, True),
    ("divisions are no regex", HEAD + "const q = a / xb.init(o) / o.enableHands() / 2;\n", 2, 2, True),
    ("CRLF", (HEAD + "// xb.init\n" + WORK).replace("\n", "\r\n"), 2, 2, True),
    ("carriage returns alone", (HEAD + "// xb.init\n" + "o.enableHands();\n").replace("\n", "\r"), 2, 1, True),
    ("JSX text names the APIs", HEAD + "const e = <p>xb.init enableHands // no</p>;\n", 2, 0, True),
    ("JSX calls the APIs", HEAD + "const e = <xb.init on={o.enableHands()}>// text</xb.init>;\n", 2, 2, True),
    ("a comment that nobody closes", HEAD + "xb.init(o);\n/* then\no.enableHands();\n", 2, 1, True),
    ("a string that nobody closes", HEAD + "const s = 'xb.init\no.enableHands();\n", 2, 1, True),
    ("imports in comments", "// import * as xb from 'xrblocks';\n/* import 'xrblocks/addons/netblocks'; */\n" + WORK,
     0, 2, True),
    ("imports in strings", "const s = \"import * as xb from 'xrblocks'\";\n" + WORK, 0, 2, True),
    ("a longer module's name", "import * as xb from 'xrblocks-fork';\nimport 'xrblocks/addons/netblocks2';\n" + WORK,
     0, 2, True),
    ("dynamic imports", "const xb = await import('xrblocks');\nawait import(\"xrblocks/addons/netblocks\");\n" + WORK,
     2, 2, True),
    ("longer names", HEAD + "xb.initialize(o); o.enableHandsFree(); myxb.init(); \n", 2, 0, True),
    ("names over lines and brackets", HEAD + "xb\n  /* soon */ .init(o);\noptions?.['enableHands']();\n", 2, 2, True),
    ("an import is no use", HEAD + "import {enableHands} from './mine.js';\n", 2, 0, True),
    ("an address is imported", HEAD + "import x from 'https://host/x.js';\n" + WORK, 2, 2, False),
    ("a comment shows an address", HEAD + "// not: import x from 'https://host/x.js'\n" + WORK, 2, 2, True),
    ("broken code is read as far as it goes", HEAD + "class {{{ xb.init(o) ; o.enableHands( \n", 2, 2, True),
    ("prose, no code", "Sure! Import xrblocks, then call xb.init, as the docs say.\n", 0, 1, True),
    ("a decoy in a tagged template", HEAD + "html`<!-- enableHands --> ${xb.init(o)}`;\n", 2, 1, True),
)


def graded(folder: Path, output: str | bytes | None, *, threshold: float | None = 0.9, answer: str = "main.js",
           language: Language = "javascript", imports: tuple[str, ...] = IMPORTS, apis: tuple[str, ...] = APIS,
           forbid: tuple[Pattern, ...] = (FORBID,), parses: Command | None = None, lane: str = "local") -> Verdict:
    spec = ScoreSpec(answer, language, imports, apis, forbid, parses, threshold)
    check = Check("code", "score", spec, (), False, "", "x.eval:1:1")
    tree = final_tree(folder, {"README.md": "", **({} if output is None else {answer: output})})
    return grade_check(a_case(), check, evolve(tree, lane=lane), {}, lane).verdict


def numbers(verdict: Verdict) -> dict[str, float]:
    return {measure.name: measure.value for measure in verdict.measures}


def naive(output: str) -> tuple[int, int, bool]:
    """What a scorer finds that looks for substrings: imports in lines with `import`, APIs anywhere."""
    lines = [line for line in output.splitlines() if "import" in line]
    return (sum(any(name in line for line in lines) for name in IMPORTS), sum(api in output for api in APIS),
            "from 'https:" not in output)


@pytest.mark.parametrize(("shows", "output", "imports", "apis", "clean"), OUTPUTS, ids=[item[0] for item in OUTPUTS])
def test_outputs(tmp_path: Path, shows: str, output: str, imports: int, apis: int, clean: bool) -> None:
    """Each measure by itself, and their mean."""
    verdict = graded(tmp_path, output)
    assert {"composite": round((imports / 2 + apis / 2 + clean) / 3, 4), "import_match": imports / 2,
            "api_match": apis / 2, "forbidden_clean": float(clean)} == numbers(verdict)
    assert ("pass" if imports == apis == 2 and clean else "fail") == verdict.status


def test_a_naive_scorer_is_wrong() -> None:
    """The outputs are there to tell them apart."""
    wrong = [shows for shows, output, *truth in OUTPUTS if naive(output) != tuple(truth)]
    assert 30 <= len(OUTPUTS)
    assert 8 <= len(wrong), wrong


def test_what_is_told(tmp_path: Path) -> None:
    """What is amiss first."""
    verdict = graded(tmp_path, HEAD + "xb.init();\nimport 'https://a/b.js';\nimport y from \"https://a/b.js\";\n")
    assert "0.50 of 1 (wanted 0.9): import_match 1.00, api_match 0.50, forbidden_clean 0.00" == verdict.summary
    assert ['not used: "enableHands"',
            "forbidden: /from ['\\\"]https?:/: main.js:5: import y from \"https://a/b.js\";",
            'imported: "xrblocks"'] == verdict.evidence.splitlines()[:3]


@pytest.mark.parametrize(("code", "there"), [
    ("import * as XR from 'xrblocks'; XR.init();", True),
    ("import {init} from 'xrblocks'; init();", True),
    ("import {init as go} from 'xrblocks'; go();", True),
    ("import {init} from 'xrblocks';", False),
    ("import {init} from './other.js'; init();", False),
    ("import * as xb from 'xrblocks'; xb.core.init();", False),
    ("const {init} = await import('xrblocks'); init();", True),
    ("const {init: go} = require('xrblocks'); go();", True),
    ("import * as xb from 'xrblocks'; const {init} = xb; init();", True),
    ("import * as xb from 'xrblocks'; start({init: 1}); a.init();", False),
    ("function init() {} init();", False),
    ("import * as xb from 'xrblocks'; const x = xb; x.init();", True),
    ("import * as xb from 'xrblocks'; const {init: go = null} = xb; go();", True),
    ("import * as xb from 'xrblocks'; const {init = null} = xb; init();", True),
    ("import * as xb from 'xrblocks'; (xb /* now */).init();", True),
    ("import * as xb from 'xrblocks'; if (xb) ['init'].map(f);", False),
    ("import('xrblocks').then(xb => xb.init());", True),
    ("import('xrblocks').then(async ({init: go}) => { go(); });", True),
    ("import('xrblocks').then(function (xb) { xb.init(); });", True),
    ("import('xrblocks').finally(xb => xb.init());", False),
    ("(await import('xrblocks')).init();", True),
    ("require('xrblocks').init();", True),
    ("const xb = await import(`xrblocks`); xb.init();", True),
    ("const xb = await import(`${'xrblocks'}`); xb.init();", False),
    ("const a = b, b = a; a.init();", False),
])
def test_what_a_module_exports(code: str, there: bool) -> None:
    """`MODULE#NAME` is found by whatever name the code gives it, and nothing else by that name."""
    assert there is read_code(code, "javascript").uses("xrblocks#init")


@pytest.mark.parametrize(("code", "imports", "uses"), [
    ("import a.b\na.b.run()", {"a", "a.b"}, {"a#b", "a.b#run", "a.b.run"}),
    ("import a.b as c\nc.run()", {"a", "a.b"}, {"a#b", "a.b#run", "c.run"}),
    ("from a import b\nb.run()", {"a", "a.b"}, {"a#b", "a.b#run"}),
    ("from a.b import run as go\ngo()  # a.b.other()", {"a", "a.b"}, {"a#b", "a.b#run"}),
    ("'''import a'''\n# import a\nx = 'a.b#run'", set(), set()),
    ("import a\ns = f'a.no {a.yes}'", {"a"}, {"a#yes"}),
    ("from __future__ import annotations\n", set(), set()),
])
def test_python(code: str, imports: set[str], uses: set[str]) -> None:
    """The second language has other imports, comments and texts, and the same questions."""
    read = read_code(code, "python")
    assert imports == {name for name in ("a", "a.b", "ab") if read.imports(name)}
    assert uses == {name for name in ("a.b#run", "a.b.run", "c.run", "a#b", "a#yes", "a#no", "a.b.other")
                    if read.uses(name)}


@pytest.mark.parametrize(("code", "imports", "uses"), [
    ("import type {Script} from 'm'; let s: Script;", False, False),
    ("import {type Script, init} from 'm'; let s: Script;", True, False),
    ("import {Script} from 'm'; class A extends Script<Options> {}", True, True),
    ("import m = require('m'); new m.Script();", True, True),
    ("interface Script { Script: 1 }", False, False),
    ("import * as m from 'm'; (m as any).Script();", True, True),
    ("import * as m from 'm'; (<any>m).Script();", True, True),
    ("import * as m from 'm'; m!.Script!();", True, True),
    ("import * as m from 'm'; (m satisfies object).Script();", True, True),
    ("import * as m from 'm'; f(x as m.Script);", True, False),
])
def test_typescript(code: str, imports: bool, uses: bool) -> None:
    """Types are gone when a program runs: they import and use nothing."""
    read = read_code(code, "typescript")
    assert (imports, uses) == (read.imports("m"), read.uses("m#Script"))


@pytest.mark.parametrize("code", ["(a as /* b */ C).d", "(/* b */ a).d", "(await /* b */ import('c')).d"])
def test_comments_around_a_value(code: str) -> None:
    """They are blanked out as everywhere."""
    assert "b" not in read_code(code, "typescript").text


def test_deep_brackets() -> None:
    """They are read as any code."""
    read = read_code("(a(" * 2_000 + "x" + " as B).c)" * 2_000, "typescript", limit=60)
    assert (True, True, False) == (read.uses("a"), read.uses("c"), read.uses("B"))


def test_a_module_and_what_lies_in_it() -> None:
    """A package's name stands for its main module; a path in it for all below."""
    code = "import 'three/addons/loaders/GLTFLoader.js'; import '@a/b/c.js'; import './lib/x.js'"
    read = read_code(code, "javascript")
    asked = ("three", "three/addons", "three/addons/", "three/add", "@a/b", "@a/b/c.js", "./lib", "./lib/x.js")
    assert ["three/addons", "three/addons/", "@a/b/c.js", "./lib", "./lib/x.js"] == list(filter(read.imports, asked))


def test_a_part_that_is_not_asked_for_does_not_count(tmp_path: Path) -> None:
    """The mean is of those that apply."""
    verdict = graded(tmp_path, "xb.init();", imports=(), forbid=())
    assert {"composite": 0.5, "api_match": 0.5} == numbers(verdict)


def test_a_command_parses_it(tmp_path: Path) -> None:
    """In a copy, and what it says is evidence; a program that is not there is an error."""
    program = "import sys; compile(open(sys.argv[1]).read(), 'a', 'exec')"
    parses = Command((sys.executable, "-c", program, "{answer}"), 20)
    for name in "abc":
        (tmp_path / name).mkdir()
    fine = graded(tmp_path / "a", "a.b()\n", answer="a.py", language="python", imports=(), apis=("a.b",), forbid=(),
                  parses=parses)
    assert {"composite": 1.0, "api_match": 1.0, "parse_ok": 1.0} == numbers(fine)
    broken = graded(tmp_path / "b", "a.b(\n", answer="a.py", language="python", imports=(), apis=("a.b",), forbid=(),
                    parses=parses)
    assert {"composite": 0.5, "api_match": 1.0, "parse_ok": 0.0} == numbers(broken)
    assert "SyntaxError" in broken.evidence
    missing = graded(tmp_path / "c", "a.b()", apis=("a.b",), parses=Command(("no-such-parser", "{answer}"), 20))
    assert ("error", ()) == (missing.status, missing.measures)


def test_the_parser_runs_in_the_lane(tmp_path: Path) -> None:
    """Behind walls it sees the workspace, and nothing of where the project lies."""
    bwrap()
    (tmp_path / "outside").write_text("")
    test = f"test $PWD = /workspace && test -s $1 && ! test -e {tmp_path}/outside"
    verdict = graded(tmp_path, "a()", imports=(), apis=(), forbid=(), lane="sandbox",
                     parses=Command(("sh", "-c", test, "sh", "{answer}"), 20))
    assert {"composite": 1.0, "parse_ok": 1.0} == numbers(verdict), verdict.evidence


def test_the_threshold_is_exact(tmp_path: Path) -> None:
    """Seven of ten are 0.7, whatever binary fractions make of it."""
    for number, (threshold, status) in enumerate(((0.7, "pass"), (0.71, "fail"), (None, "pass"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        apis = tuple(f"a{index}" for index in range(10))
        code = "; ".join(apis[:7])
        assert status == graded(folder, code, apis=apis, imports=(), forbid=(), threshold=threshold).status


@pytest.mark.parametrize(("output", "said"), [
    (None, "main.js is not there, or is empty"), ("", "main.js is not there, or is empty"),
    ("x" * 200_001, "main.js is larger than 200,000 bytes"), (b"\xff\xfe\x00(", 'not imported: "xrblocks"'),
])
def test_no_answer(tmp_path: Path, output: str | bytes | None, said: str) -> None:
    """It has nothing of what is asked for, also nothing that would be fine."""
    verdict = graded(tmp_path, output)
    assert "fail" == verdict.status
    assert said == verdict.evidence.splitlines()[0]
    if not isinstance(output, bytes):
        assert {"composite": 0.0, "import_match": 0.0, "api_match": 0.0, "forbidden_clean": 0.0} == numbers(verdict)


def test_reading_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a fail: who wrote the answer decides how long it takes."""
    def slow(*_: object, **__: object) -> None:
        raise score_code.Slow

    monkeypatch.setattr(module, "read_code", slow)
    verdict = graded(tmp_path, HEAD + WORK)
    assert ("fail", 0.0) == (verdict.status, numbers(verdict)["composite"])
    assert verdict.evidence.startswith("reading main.js took too long")
    with pytest.raises(score_code.Slow):
        read_code("(" * 100_000, "javascript", limit=0.0)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that names it, never a score."""
    score_code._language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_javascript", None)
    verdict = graded(tmp_path, HEAD + WORK)
    score_code._language.cache_clear()
    assert ("error", ()) == (verdict.status, verdict.measures)
    assert "evalkit[code]" in verdict.evidence


def test_the_grammar_is_part_of_the_version() -> None:
    """Another grammar may read the same answer otherwise."""
    spec = ScoreSpec("a.py", "python", ("a",), (), (), None, None)
    assert grader_version(spec).startswith("score 3, tree-sitter 0.")
    assert "tree-sitter-python" in grader_version(spec)
    assert ["METADATA", "METADATA"] == [file.name for file in grader_files(spec)]
