"""docs/language.md is true: its examples compile, and nothing is left out.

An example's fence says what it is: `eval file` is a whole file (suite.eval where it holds a suite), `eval suite`,
`eval profile` and `eval case` are statements of such a block.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalkit.analysis import checks, findings, guidance, model, setup, suites, units, values
from evalkit.diagnostics import render_all
from evalkit.execute.models.prices import Prices
from evalkit.plugins import AGENTS
from evalkit.syntax import fast, source
from evalkit.syntax.lower_values import MAX_ARGUMENT, MAX_DURATION, MAX_LENGTH, MAX_NUMBER
from evalkit.syntax.parse import MAX_ERRORS
from tests.unit.language.plugins import offer
from tests.unit.language.project import CASE, diagnose, write

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
EXAMPLES = [(PAGE.count("\n", 0, match.start()) + 1, match[1], match[2])
            for match in re.finditer(r"^```eval (\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
FILES = {"cases/s/starter/a": "", "cases/s/wrong/stale-cache/a": "", "cases/s/harness.zig": ""}
SUITE = 'suite s { profile app { scaffold copy "skeleton" }\n%s\n}\n'
WHOLE = CASE.replace("{{", "{").replace("}}", "}").replace("{}", "%s")


def files_of(kind: str, text: str) -> dict[str, str]:
    if kind == "file":
        return {"suite.eval": text} if "suite " in text else {"suite.eval": SUITE % "", "it.eval": text}
    if kind == "suite":
        return {"suite.eval": f"suite s {{\n{text}\n}}"}
    if kind == "profile":
        return {"suite.eval": SUITE % f"profile it {{\n{text}\n}}"}
    assert kind == "case"
    return {"suite.eval": SUITE % "", "it.eval": WHOLE % text}


@pytest.mark.parametrize(("kind", "text"), [
    pytest.param(kind, text, id=f"line {line}") for line, kind, text in EXAMPLES])
def test_an_example_compiles(kind: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong with any of them. (The plug-in that they use is the one of examples/.)"""
    offer(monkeypatch)
    write(tmp_path, {**FILES, **{f"cases/s/{name}": file for name, file in files_of(kind, text).items()}}, suite=None)

    assert "" == render_all(diagnose(tmp_path))


def test_models_of_the_examples_have_a_price() -> None:
    """Who copies one is told what it costs."""
    models = set(re.findall(r'"((?:anthropic|openai|google)/[^"]+)"', "".join(text for _, _, text in EXAMPLES)))
    models |= set(re.findall(r"model=((?:anthropic|openai|google)/[\w.-]+)", (ROOT / "README.md").read_text("utf-8")))
    assert len(models) > 2
    assert [] == [model for model in sorted(models) if Prices().of(model) is None]


def test_every_fence_says_what_it_is() -> None:
    """No example escapes the test above."""
    assert len(EXAMPLES) == PAGE.count("```") // 2


def test_every_keyword_has_an_example_and_every_statement_a_place() -> None:
    """The words of the grammar are those of the examples."""
    rules = (ROOT / "grammar" / "eval.lark").read_text(encoding="utf-8").split("// ---- tokens")[0]
    keywords = set(re.findall(r'"([a-z-]+)"', re.sub(r"//.*", "", rules)))
    used = set(re.findall(r"[a-z-]+", "\n".join(text for _, _, text in EXAMPLES)))
    page = PAGE.replace("\n", " ")

    assert {"run", "judge-model"} <= keywords
    assert {"none"} >= keywords - used  # it has forms of its own
    assert set() == {word for word in keywords if not re.search(rf"`[^`]*\b{word}\b[^`]*`", page)}


def test_every_error_code_is_listed() -> None:
    """The table of errors has the codes of parsing and compiling, each once."""
    sources = "\n".join(path.read_text(encoding="utf-8") for stage in ("syntax", "analysis")
                        for path in (ROOT / "evalkit" / stage).rglob("*.py"))

    assert sorted(set(re.findall(r'"(E\d{3})"', sources))) == re.findall(r"^\| (E\d{3}) \|", PAGE, re.MULTILINE)


def test_limits_and_defaults_are_those_of_the_code() -> None:
    """The numbers of the page are the numbers of the modules."""
    for number in (findings.MOST, findings.LONGEST_NAME, model.Limits().turns, MAX_ERRORS,
                   f"{fast.MAX_TOKENS:,}", f"{MAX_LENGTH:,}", f"{MAX_NUMBER:,}", f"{MAX_ARGUMENT:,}",
                   f"{MAX_DURATION // 3600}h", f"{model.Limits().time // 60} minutes",
                   f"{values.RUN_LIMIT // 60} minutes", f"{source.MAX_BYTES // 1_000_000} MB",
                   setup.DEFAULT_MODEL.default, setup.DEFAULT_JUDGE_MODEL.default, *AGENTS,
                   fast.MAX_DEPTH, f"{setup.MAX_TRIALS:,}", f"{checks.MAX_WEIGHT:,}", checks.MAX_VOTES,
                   suites.MAX_ARMS, units.MAX_TRACKS, f"{units.MAX_STATEMENTS:,}", guidance.MAX_ABLATIONS):
        assert str(number) in PAGE


def test_a_diagnostic_of_an_example_would_be_seen(tmp_path: Path) -> None:
    """The test of the examples does not pass by looking at nothing."""
    write(tmp_path, {f"cases/s/{name}": text for name, text in files_of("case", "abuot").items()}, suite=None)

    assert ["E010"] == [error.code for error in diagnose(tmp_path)]
