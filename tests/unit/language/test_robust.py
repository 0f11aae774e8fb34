"""No input is a bug or a wait: whatever a case file holds, it compiles or has diagnostics, within a second."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.analysis import load_project
from evalkit.authoring.check import check_project
from evalkit.diagnostics import CaseErrors, render_all
from evalkit.errors import UserError
from evalkit.syntax import Source, parse, read_source
from evalkit.syntax.recover import statement_end
from evalkit.syntax.text import ShallowLine, block_value
from tests.unit.language.project import CASE, SUITE, write

ROOT = Path(__file__).resolve().parents[3]
REAL = sorted((ROOT / "cases").rglob("*.eval"))
LIMIT = 2.0
"""Seconds of the process's own time: twice what is promised, for slow machines. What is not linear takes far longer."""

slowly = settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
words = st.sampled_from([
    "case", "suite", "profile", "define check", "check run", "check grep", "has", "lacks", "judge", "limits", "turns",
    "time", "use", "none", "agent", "skills", "by", "from", "as", "on", "advisory", "about", "prompt", "wrong",
    "fails", "expect", "then", "never", "one of", "in", "number", "track", "arm", "tier", "allow", "for", "exit",
    "score code", "guidance", "answer", "over template", "tags", "weight", "x", "app", "a.b-c", '"x"',
    '"{workspace}"', '"\\q"', '"', '"""', '"""\n a\n  """', "/x/i", "/(/", "/", "//", "{", "}", "(", ")", "[", "]",
    ":", ">=", "1..2", "-1.5", "$2", "24KB", "W001", "=", ",", ";", "\n", "\r\n", "# note\n", "5", "20m",
    "99999999999999999999", "\t", "\u202e", "漢", "\0", "\ufeff", "\\", "\x85", "\u2028", "\U0001f600",
])


@contextmanager
def in_time() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < LIMIT


def swallow(text: str) -> None:
    """Parse and draw what is wrong; the places that are named are places of the text."""
    with in_time():
        _, errors = parse(Source(Path("a.eval"), "a.eval", text))
        shown = render_all(errors)
    assert all(0 <= error.span.start <= len(text) for error in errors)
    assert not any(char in shown for char in "\u202e\0\x85\u2028\x1b\r")


def compiles_or_not(root: Path) -> tuple[str, ...]:
    """The codes of what is wrong in a project; ("user",) for another mistake of the person's."""
    with in_time():
        try:
            load_project(root)
        except CaseErrors as error:
            render_all(error.diagnostics)
            return tuple(sorted(diagnostic.code for diagnostic in error.diagnostics))
        except UserError:
            return ("user",)
    return ()


@slowly
@given(st.lists(words, max_size=60).map(" ".join))
def test_any_words_of_the_language(text: str) -> None:
    """Words in any order are parsed, or refused with a place."""
    swallow(text)


@slowly
@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    """So is any text."""
    swallow(text)


@slowly
@given(st.data())
def test_any_edit_of_a_real_file(data: st.DataObject) -> None:
    """A real case file with pieces taken out, doubled or put in."""
    text = data.draw(st.sampled_from(REAL)).read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 40)))
        text = text[:start] + data.draw(st.one_of(words, st.just(text[start:end] * 2), st.just(""))) + text[end:]
    swallow(text)


@slowly
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """A file of any bytes is read or refused."""
    path = tmp_path_factory.getbasetemp() / "any.eval"
    path.write_bytes(data)
    try:
        text = read_source(path, "any.eval").text
    except CaseErrors:
        return
    swallow(text)


def as_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


@settings(slowly, max_examples=150)
@given(st.lists(st.one_of(
    words.filter(lambda word: word != "\0"),
    st.text(max_size=12).map(as_string),
    st.text(max_size=12).map(lambda text: "/" + text.replace("/", "\\/").replace("\n", " ") + "/"),
    st.sampled_from([
        "check run", 'check grep "*" has', "check grep", "starter", "wrong", "check holds", "caches", "skills x from",
        "scaffold run", "prewarm", "solution", "check harness", "track", "expect", "never", "guidance", "answer",
        "allow W001", "score code", "check hidden-tests", "check exists", "tags", "env", "\n", "\n", "\n"]),
), max_size=25).map(" ".join))
def test_any_statements_of_a_case_compile_or_are_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Values of every kind go through the whole compiler."""
    root = tmp_path_factory.getbasetemp() / "any"
    write(root, {"cases/s/it.eval": (CASE.replace("{}", "%s") % text).replace("{{", "{").replace("}}", "}").encode(
        "utf-8", "replace")})
    compiles_or_not(root)


@slowly
@given(st.text(alphabet="a \t\r\n", max_size=40))
def test_a_block_keeps_all_but_its_indentation(body: str) -> None:
    """Dedenting takes away blanks at the starts of lines, and carriage returns, and nothing else."""
    try:
        value = block_value(f'"""{body}"""')
    except ShallowLine:
        return
    assert body.count("a") == value.count("a")
    assert value.count("\n") in (body.count("\n"), body.count("\n") - 1)


@slowly
@given(st.lists(words, max_size=60).map(" ".join), st.integers(0, 400))
def test_the_end_of_a_statement_lies_behind_its_error(text: str, offset: int) -> None:
    """The scan never goes back, so that the parser never does the same piece twice."""
    offset = min(offset, len(text))
    assert offset <= statement_end(text, offset) <= len(text)


LARGE = {
    "nested braces": "{" * 10_000 + "}" * 10_000,
    "nested blocks": "case a { profile b " * 10_000,
    "a long line": 'case a { about "' + "x" * 900_000 + '" }',
    "a long name": "case " + "x" * 900_000 + " { }",
    "a long number": "case a { limits { turns " + "9" * 900_000 + " } }",
    "a long duration": "case a { limits { time " + "9" * 900_000 + "h } }",
    "a number that is none": "case a { limits { turns " + "9" * 900_000 + "x } }",
    "an escape after another": 'case a { about "' + "\\q" * 300_000 + '" }',
    "an open string of escapes": 'case a { about "' + '\\"' * 400_000,
    "an open regex of escapes": "case a { check grep \"a\" has /" + "\\/" * 400_000,
    "open regexes": "case a {\n" + "/ \n" * 200_000,
    "quotes": '"' * 900_000,
    "quotes with blanks": '" ' * 400_000,
    "blocks of text": '"""x""" ' * 100_000,
    "a block of short lines": 'case a { about """\n' + "    x\n" * 100_000 + '  """ }',
    "a block of shallow lines": 'case a { about """\n' + "x\n" * 300_000 + '  """ }',
    "commas": "," * 900_000,
    "commas and comments": ",#\n" * 250_000,
    "comments": "# x\n" * 200_000,
    "separators": ";" * 900_000,
    "line ends": "\n" * 900_000,
    "line ends and blanks": "\n " * 450_000,
    "carriage returns": "\r" * 900_000,
    "blanks": " " * 900_000,
    "words": "word " * 180_000,
    "errors on many lines": "case a {\n" + "abuot\n" * 140_000 + "}",
    "errors in many cases": "case a { abuot }\n" * 50_000,
    "errors far apart": "case a {\n" + ("about\n" + 'about "x"\n' * 1_500) * 50 + "}",
    "an error, then many statements": "case a {\nabuot\n" + 'about "x"\n' * 80_000 + "}",
    "many statements": "case a {\n" + 'about "x"\n' * 80_000 + "}",
    "dashes": "case a" + "-" * 900_000,
    "dashed words": "case a" + "-a" * 400_000,
    "nested brackets": "case a { expect b(c: " + "[" * 400_000,
    "many brackets": "case a { expect b(c: [" + "[], " * 14_000 + "1]) }",
    "values": "case a { expect b(c one of " + "1, " * 14_000 + "2) }",
    "arguments": "case a { expect b(" + "c: 1, " * 7_000 + "d: 2) }",
    "calls": "case a { expect b" + " then b" * 14_000 + " }",
    "line ends in brackets": "case a { expect b(" + "\n" * 800_000,
    "a long decimal": "case a { temperature 0." + "9" * 900_000 + " }",
    "a long range": "case a { expect b(c in 1.." + "9" * 900_000 + ") }",
    "direction controls": "\u202e" * 300_000,
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE.keys())
def test_a_large_file_takes_no_longer_than_a_second(text: str) -> None:
    """Time grows with the text alone: nothing is scanned again for each error, line or escape."""
    assert len(text.encode()) <= 1_000_000
    swallow(text)


MANY = {
    "statements that stand twice": 'about "x"\n' * 9_000,
    "checks of the same name": 'check run "x" as y\n' * 5_000,
    "unknown checks": "check x\n" * 9_000,
    "checks": "\n".join(f'check run "{number}"' for number in range(5_000)),
    "missing files": 'wrong "gone" fails x\n' * 5_000,
    "placeholders": 'check run "' + "{x} " * 200_000 + '"',
    "open placeholders": 'check run "' + "{a" * 400_000 + '"',
    "a long command": 'check run "' + "a " * 400_000 + '"',
    "a long quoted command": "check run \"'" + "a" * 800_000 + "'\"",
    "a long regex": 'check grep "a" has /' + "(a*)*" * 160_000 + "/",
    "a deep regex": 'check grep "a" has /' + "(" * 1_900 + ")" * 1_900 + "/",
    "a regex of repetitions": 'check grep "a" has /' + "[ab]{9999}" * 9 + "/",
    "a regex of a large repetition": 'check grep "a" has /a{99999999}/',
    "a regex of repetitions in each other": 'check grep "a" has /((((a{999}){999}){999}){999}){999}/',
    "a wide regex": 'check grep "a" has /' + "(a{1,100}){1,100}" * 100 + "/",
    "a long glob": 'check grep "' + "*a" * 300_000 + '" has "x"',
    "a deep glob": 'check grep "' + "**/a/" * 100_000 + '" has "x"',
    "a glob of sets": 'check grep "' + "[" * 100_000 + '" has "x"',
    "a long path": 'starter "' + "x" * 900_000 + '"',
    "a deep path": 'starter "' + "x/" * 400_000 + '"',
    "an upward path": 'starter "' + "../" * 300_000 + '"',
    "checks on tracks": "\n".join(f'track t{n} {{ }}' for n in range(60)) + "\n" + "\n".join(
        f'check run "{n}"' for n in range(4_000)),
    "tracks": "\n".join(f'track t{n} {{ check run "{n}" }}' for n in range(1_500)),
    "tags": "tags " + ", ".join(f"t{n}" for n in range(14_000)),
    "calls": "expect " + " then ".join(f"f{n}(a: {n})" for n in range(3_500)),
    "a long name of an agent": "use agent " + "x" * 900_000,
    "many unknown names": 'wrong "wrong/one" fails ' + ", ".join(f"name-{number}" for number in range(10_000)),
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY.keys())
def test_a_large_case_compiles_or_is_refused_within_a_second(text: str, tmp_path: Path) -> None:
    """So it is with the meaning: names, paths, commands, regexes and globs of any size."""
    write(tmp_path, {"cases/s/it.eval": (CASE.replace("{}", "%s") % text).replace("{{", "{").replace("}}", "}")})
    compiles_or_not(tmp_path)


SUITES = {
    "profiles that extend each other": "\n".join(f"profile p{n} extends p{n + 1} {{ }}" for n in range(4_500)),
    "profiles beside checks": 'check run "true"\n' + "\n".join(
        f'profile p{n} {{ check run "true" }}' for n in range(3_000)),
    "arms": "\n".join(f"arm a{n} {{ }}" for n in range(7_000)),
    "tiers": "\n".join(f'tier t{n} "x" requires read' for n in range(4_000)),
    "definitions": "\n".join(f'define check c{n}(a) {{ run "x" }}' for n in range(2_500)),
}


@pytest.mark.parametrize("text", SUITES.values(), ids=SUITES.keys())
def test_a_large_suite_compiles_or_is_refused_within_a_second(text: str, tmp_path: Path) -> None:
    """A profile is checked by itself, not again with all that is around it."""
    compiles_or_not(write(tmp_path, {}, suite=f"suite s {{\n{text}\n}}"))


def test_odd_files(tmp_path: Path) -> None:
    """A folder named like a case file, links in a circle, a dead link, a pipe, other bytes: each is told."""
    home = write(tmp_path, {"cases/s/latin.eval": b"\xff", "cases/s/nul.eval": b"a\0"}) / "cases/s"
    (home / "folder.eval").mkdir()
    (home / "circle.eval").symlink_to("circle.eval")
    (home / "dead.eval").symlink_to("gone")
    (home / "endless.eval").symlink_to("/dev/zero")
    os.mkfifo(home / "pipe.eval")
    (home / "self").symlink_to(".")
    (home / "up").symlink_to("..")

    assert (*["E001"] * 5, "E003", "E003") == compiles_or_not(tmp_path)
    assert 7 == len(check_project(tmp_path, "cases").findings)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """A file is a diagnostic; a folder ends the loading, since nobody knows what it holds."""
    home = write(tmp_path, {"cases/s/it.eval": CASE.format(""), "cases/s/in/x.eval": ""}) / "cases/s"
    (home / "it.eval").chmod(0)
    if os.access(home / "it.eval", os.R_OK):
        pytest.skip("this user can read everything")
    assert compiles_or_not(tmp_path) == ("E001",)
    (home / "in").chmod(0)
    try:
        assert compiles_or_not(tmp_path) == ("user",)
    finally:
        (home / "in").chmod(0o755)


def test_a_prompt_that_cannot_be_read(tmp_path: Path) -> None:
    """It is a diagnostic at the place that names it."""
    write(tmp_path, {"cases/s/it.eval": CASE.format("")})
    prompt = tmp_path / "cases/s/PROMPT.md"
    prompt.chmod(0)
    if os.access(prompt, os.R_OK):
        pytest.skip("this user can read everything")
    assert compiles_or_not(tmp_path) == ("E040",)


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    """Its bytes are shown as escapes."""
    home = write(tmp_path, {}) / "cases/s"
    try:
        (home / "\udcff.eval").write_text(CASE.format(""))
    except OSError:
        pytest.skip("this file system has no such names")

    assert ("E001",) == compiles_or_not(tmp_path)


def test_the_small_suite_of_these_tests_compiles(tmp_path: Path) -> None:
    """So that what is refused above is refused for its own sake."""
    assert () == compiles_or_not(write(tmp_path, {"cases/s/it.eval": CASE.format("")}, suite=SUITE))
