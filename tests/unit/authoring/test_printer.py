"""The canonical form: its rules by example, and what no formatting may change."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.authoring.printer import CannotFormat, format_text
from evalkit.authoring.printer_meaning import comments, meaning
from evalkit.authoring.printer_tokens import Token, at_indent, tokens
from evalkit.syntax import Source, parse
from evalkit.syntax.text import ShallowLine, block_value

ROOT = Path(__file__).resolve().parents[3]

RULES: list[tuple[str, str, str]] = [
    ("one statement a line, two spaces a block",
     'case a {\nuse b\n      about "c" }', 'case a {\n  use b\n  about "c"\n}\n'),
    ("a separator at the end of a line goes",
     'case a { ;\n use b;\n about "c";;\n}', 'case a {\n  use b\n  about "c"\n}\n'),
    ("a block on one line stays", "limits  {turns 80;time 20m ; }", "limits { turns 80; time 20m }\n"),
    ("a block that has lines keeps them", "limits {\nturns 80; time 20m }", "limits {\n  turns 80\n  time 20m\n}\n"),
    ("an empty block", "limits {\n\n}", "limits { }\n"),
    ("a block that is too wide for a line is opened, those within stay where they fit",
     "case " + "a" * 80 + " { limits { turns 1 }; use b }",
     "case " + "a" * 80 + " {\n  limits { turns 1 }\n  use b\n}\n"),
    ("spaces", 'define   check x (a ,b){run"c"}', 'define check x(a, b) { run "c" }\n'),
    ("calls", 'expect set( mode :"x",px>1 ,v one of "a",-2.5, w:[ 1,2 ] )then look()',
     'expect set(mode: "x", px > 1, v one of "a", -2.5, w: [1, 2]) then look()\n'),
    ("ranges and money stay whole", "a 10..20   $2.50 24KB", "a 10..20 $2.50 24KB\n"),
    ("regexes are not touched", r"check grep has/a  \/#;{ b/i", r"check grep has /a  \/#;{ b/i" + "\n"),
    ("strings are not touched", r'about "a  \" {#;"', r'about "a  \" {#;"' + "\n"),
    ("tabs are spaces, line ends are one character", "case a {\r\n\tuse\tb\r\n}\r\n", "case a {\n  use b\n}\n"),
    ("at most one blank line, none at a block's ends", "\n\na {\n\n\nb\n\n\n\nc\n\n}\n\n\n", "a {\n  b\n\n  c\n}\n"),
    ("the last line ends", "a b", "a b\n"),
    ("nothing stays nothing", " \n\t\n", ""),
    # comments
    ("a comment behind a statement", "a b#c  \n", "a b  # c\n".replace("# c", "#c")),
    ("a comment behind a separator", "a b ; # c\n", "a b  # c\n"),
    ("comments between statements", "# a\n\n\n   # b\nc\n", "# a\n\n# b\nc\n"),
    ("comments in a block", "a { # b\n# c\nd # e\n    # f\n} # g", "a {  # b\n  # c\n  d  # e\n  # f\n}  # g\n"),
    ("a block that holds a comment alone", "a {\n# b\n}", "a {\n  # b\n}\n"),
    ("comments behind a comma", 'a "b", # c\n\n# d\n   "e" # f\n', 'a "b",  # c\n  # d\n  "e"  # f\n'),
    # lines of one statement
    ("a comma continues", 'x {\na "b",\n"c", "d",\n    "e"\n}', 'x {\n  a "b",\n    "c", "d",\n    "e"\n}\n'),
    ("brackets continue", 'x {\nexpect f(\na: 1,\nb: [\n2,\n3\n]\n) then g\n}',
     'x {\n  expect f(\n    a: 1,\n    b: [\n      2,\n      3\n    ]\n  ) then g\n}\n'),
    # columns
    ("aligned columns stay, as narrow as can be", 'ab     as   "x"\ncde    as   "y"\n', 'ab  as "x"\ncde as "y"\n'),
    ("also over lines between that are shorter", 'ab     as  x\nc\ncde    as  y\n', 'ab  as x\nc\ncde as y\n'),
    ("columns of different statements", "model       env A     else b\njudge-model env ABCDE else c\n",
     "model       env A     else b\njudge-model env ABCDE else c\n"),
    ("what one line has alone is no column", "a    b\ncc d\n", "a b\ncc d\n"),
    ("a blank line ends columns", "a    b\n\ncc   d\n", "a b\n\ncc d\n"),
    ("a block of lines ends columns", "a    b\nx {\ny\n}\ncc   d\n", "a b\nx {\n  y\n}\ncc d\n"),
    ("columns in blocks on one line", 'a x  { use b; c "d" }\na yy { use bb;   c "e" }\na z  { use b;    c "f" }\n',
     'a x  { use b; c "d" }\na yy { use bb; c "e" }\na z  { use b;  c "f" }\n'),
    ("comments keep their column", "a b    # c\naaa b  # d\n", "a b    # c\naaa b  # d\n"),
    # text blocks
    ("a text block moves with its statement", 'case a {\nprompt """\n b\n   c\n\n """\n}\n',
     'case a {\n  prompt """\n    b\n      c\n\n    """\n}\n'),
    ("text on the opening line stays there", 'a """b\n  c\n  """', 'a """b\n  c\n  """\n'),
    ("a block without a closing line is not indented", 'a {\nb """c\n   d"""\n}', 'a {\n  b """c\n   d"""\n}\n'),
    ("line ends in a text block", 'a """\r\n b\r\n\r\n """\r\n', 'a """\n  b\n\n  """\n'),
    ("statements go on behind a text block", 'a """\n b\n """   as   c  { d }', 'a """\n  b\n  """ as c { d }\n'),
    ("a text block on one line", 'a { b """c""";d }', 'a { b """c"""; d }\n'),
    ("a text block of lines opens its block", 'a { b """\nc\n"""; d }', 'a {\n  b """\n    c\n    """\n  d\n}\n'),
    ("a block with a line left of its end stays", 'a {\n  b """\n c\n  """\n}\n', 'a {\n  b """\n c\n  """\n}\n'),
]
"""What the rule is, a text, its canonical form. Formatting knows tokens, not statements: many are short of meaning."""


@pytest.mark.parametrize(("text", "expected"), [rule[1:] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_rules(text: str, expected: str) -> None:
    """Each rule by one example, whose canonical form is left as it is."""
    assert expected == format_text(text)
    assert expected == format_text(expected)


@pytest.mark.parametrize("text", ['a "', 'a """b', "a /", "a {", "a }", "a {" * 65 + "}" * 65, "a { # }"])
def test_no_case_file(text: str) -> None:
    """A text with a literal or a block that does not end is refused."""
    with pytest.raises(CannotFormat):
        format_text(text)


# ---- every case file that there is ----
def read(text: str) -> object | None:
    """What a text means. None where it has errors."""
    file, errors = parse(Source(Path("it.eval"), "it.eval", text))
    return None if errors else meaning(file)


@cache
def corpus() -> list[str]:
    """The case files of the project, the examples of its documents, and the inputs of the language's tests."""
    found = [path.read_text(encoding="utf-8") for folder in ("cases", "docs", "evalkit", "tests")
             for path in sorted((ROOT / folder).rglob("*.eval"))]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        found += re.findall(r"^```eval\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for path in sorted((ROOT / "tests" / "chunks").glob("*.chunks")):
        for chunk in re.split(r"^---\n|^=== \S+\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if len(chunk) < 20_000:
                found += [chunk, f"case it {{\n{chunk}\n}}\n", f"suite it {{\n{chunk}\n}}\n"]
    found += [f"case it {{ {text} }}" for _, text, _ in RULES]
    return [text for text in dict.fromkeys(found) if text.strip() and read(text) is not None]


def check_kept(text: str) -> None:
    """Formatting keeps what a text means and its comments, and formatting again changes nothing."""
    formatted = format_text(text)
    assert read(text) == read(formatted)
    assert comments(text) == comments(formatted)
    assert formatted == format_text(formatted)


def test_every_case_file() -> None:
    """All case files and examples keep their meaning and their comments."""
    assert len(corpus()) > 60
    for text in corpus():
        check_kept(text)


# ---- generated layouts ----
SAMPLE = """
suite viewer {
  agent tools { registry "app.registry:viewer"; state "state/a.yaml" }
  tier guarded "destructive or published" requires confirmation
  toolchain x { checkout env X else "../x" build "make {checkout}"; env A = "b" }
  limits { turns 80; time 1h30m; cost $2.50; tokens 10 }
  define check harness(spec, other) "text" {
    put "{case}/{spec}" as "src/a.zig"
    append "src/main.zig" \"\"\"
      test { _ = @import("a.zig"); }

        # no comment
      \"\"\"
    run "native test" time 10m
  }
}
case sp-section spatial "Cut along the deck" {
  expect setSection(axis one of "x", "y", at in 10..20, n >= -1.5, l: ["a", true, null]) then lookAlong(axis: "x")
  check grep "src/**", "b/*" has /<for\\s+[^>]*each=\\/#;/is, "key" as loop "cards" on local, sandbox for arm a, b
  judge "title" as q { files "src/**"; pass at 6, advisory; criterion \"\"\"one line\"\"\" }
  allow W012 "the contract pins this name"
}
"""
"""What the language will have; formatting must hold for it before the grammar does."""

BREAKS = ("comma", "left", "open", "newline", "separator")
"""Tokens that a line end, and so a comment, can follow without ending a statement."""


def laid_out(text: str, random: Random) -> str:
    """The same tokens with other spaces, line ends, separators, empty lines and more comments."""
    made = ""
    brackets = 0
    before: Token | None = None
    sequence = [token for token in tokens(text) if token.kind != "comment"]
    for token, after in zip(sequence, [*sequence[1:], None], strict=True):
        piece = token.text
        if token.kind in ("newline", "separator"):
            continued = brackets or (before is not None and before.kind == "comma")
            piece = "" if continued else random.choice(["\n", "\n", " ;", ";\n", "\n\n\n", " # c; }\n", "\n\t# d \"\n"])
        elif before is not None:
            joined = {before.kind, token.kind} & {"comma", "left", "right", "open", "close", "separator", "newline"}
            made += random.choice(["", " ", "  ", "   ", "\t"] if joined else [" ", "  ", "      ", "\t "])
        if token.kind == "text" and "\n" in piece and random.random() < 0.5:
            piece = at_indent(piece, random.randrange(20))
        made += piece
        brackets += {"left": 1, "right": -1}.get(token.kind, 0)
        if (token.kind == "comma" or (token.kind == "open" and not brackets)) and random.random() < 0.3:
            made += random.choice(["\n", "  # e\n", "\n\n\t\n", "#f\n   # g\n"])
        if after is not None and after.kind == "close" and random.random() < 0.3:
            made += random.choice(["\n", "\n# h\n", ";", " ; # i\n"])
        before = token
    return made.replace("\n", "\r\n") if random.random() < 0.3 else made


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(0, 2**32))
def test_any_layout_keeps_its_meaning(data: st.DataObject, seed: int) -> None:
    """However a case file is laid out, formatting keeps its meaning and comments and is done after one pass."""
    original = data.draw(st.sampled_from(corpus()))
    text = laid_out(original, Random(seed))
    assert read(original) == read(text)
    check_kept(text)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_any_layout_of_the_whole_language(seed: int) -> None:
    """The same, by tokens alone, for statements that the grammar may not have yet."""
    text = laid_out(SAMPLE, Random(seed))
    formatted = format_text(text)

    def essence(text: str) -> list[str]:
        return [token.value for token in tokens(text) if token.kind not in ("newline", "separator")]

    assert essence(text) == essence(formatted)
    assert formatted == format_text(formatted)


@settings(max_examples=300, deadline=None)
@given(st.text("ab \t\r\n#\"{;", max_size=60), st.integers(0, 12))
def test_any_text_block_keeps_its_value(inner: str, indent: int) -> None:
    """A text block that is moved keeps its value, and moving it again changes nothing."""
    if '"""' in inner or inner.endswith('"'):
        return
    block = f'"""{inner}"""'
    moved = at_indent(block, indent)
    try:
        value = block_value(block)
    except ShallowLine:
        assert block == moved
        return
    assert value == block_value(moved)
    assert moved == at_indent(moved, indent)


@settings(max_examples=300, deadline=None)
@given(st.text("ab \t\r\n#\"{};,/()[]:=<", max_size=80))
def test_any_text_is_formatted_or_refused(text: str) -> None:
    """Whatever the text is, it is refused, or formatted for good with all its tokens."""
    try:
        formatted = format_text(text)
    except CannotFormat:
        return
    assert comments(text) == comments(formatted)
    assert formatted == format_text(formatted)
