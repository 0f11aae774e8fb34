"""Regular expressions of JavaScript in the dialect of case files: the table of translations, and node's own word."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest
import regex

from evalkit.authoring.importers.jsregex import BadPattern, Translation, translate

# (JavaScript, flags, here, flags here)
TABLE = [
    # what is the same
    ("role=button", "m", "role=button", ""),
    (r"<for\s+[^>]*each=", "m", r"<for\s+[^>]*each=", ""),
    (r"(a|b)+?c{2}d{3,}e{4,5}(?:x)(?=y)(?!z)(?<=u)(?<!v)", "m",
     r"(a|b)+?c{2}d{3,}e{4,5}(?:x)(?=y)(?!z)(?<=u)(?<!v)", ""),
    (r"^a.b$", "m", "^a.b$", ""),
    (r"\$\{x\}\.\*\(\[", "m", r"\$\{x}\.\*\(\[", ""),
    # classes of characters know ASCII alone
    (r"\d\D", "m", "[0-9][^0-9]", ""),
    (r"\w\W", "m", "[A-Za-z0-9_][^A-Za-z0-9_]", ""),
    (r"\bsave\b", "m", r"(?a:\b)save(?a:\b)", ""),
    (r"a\Bb", "m", r"a(?a:\B)b", ""),
    # sets
    ("[]", "m", "(?!)", ""),
    ("[^]", "m", r"[\s\S]", ""),
    (r"[\w\W]", "m", r"[\s\S]", ""),
    (r"[\w.-]", "m", r"[A-Za-z0-9_.\-]", ""),
    (r"[^\W_]", "m", "[A-Za-z0-9]", ""),
    (r"[^\S\n]", "m", r"[^\S\n]", ""),
    (r"[a\D]", "m", "[^0-9]", ""),
    (r"[\b]", "m", r"[\x08]", ""),
    ("[[:alpha:]]", "m", r"[\[:alph]]".replace("alph", "alpha:"), ""),
    ("[a&&b]", "m", r"[a\&\&b]", ""),
    (r"[\d-x]", "m", r"[0-9\-x]", ""),
    ("[^^]", "m", r"[^\^]", ""),
    # escapes
    (r"a\/b", "m", "a/b", ""),
    (r"\x41\u0042", "m", "AB", ""),
    (r"\u{43}", "mu", "C", ""),
    (r"\u{3}", "m", "u{3}", ""),
    (r"\ud83d\ude00", "m", "😀", ""),
    (r"\cJ\t\0", "m", r"\n\t\x00", ""),
    (r"\c!", "m", r"\\c!", ""),
    (r"\101\8\08", "m", r"A8\x008", ""),
    (r"\A\Z\e\p{L}", "m", r"AZep\{L}", ""),
    (r"\p{Lu}\P{L}", "mu", r"\p{Lu}\P{L}", ""),
    # braces that are no quantifier
    ("a{,3}", "m", r"a\{,3}", ""),
    ("a{e}{", "m", r"a\{e}\{", ""),
    ("}]", "m", "}]", ""),
    # groups and references
    (r"(?<n>a)\k<n>", "m", "(?<n>a)(?P=n)", ""),
    (r"(?<$n>a)\k<$n>1", "m", r"(a)\g<1>1", ""),
    (r"\k<n>", "m", "k<n>", ""),
    (r"(a)?\1", "m", r"(a)?(?(1)\1)", ""),
    (r"\1(a)", "m", "(?:)(a)", ""),
    (r"(a\1)", "m", "(a(?:))", ""),
    (r"(a)|\1b", "m", "(a)|(?:)b", ""),
    (r"(?!(a))\1b", "m", "(?!(a))(?:)b", ""),
    (r"(?:(a)b)+\1", "m", r"(?:(a)b)+\1", ""),
    ("(?=a)*b", "m", "(?:(?=a))*b", ""),
    # flags
    ("a.b", "gims", "a.b", "is"),
    ("^a$", "", r"\Aa\Z", ""),
    ("a|b", "my", r"\A(?:a|b)", ""),
    ("[a-z]", "mv", "[a-z]", ""),
]


@pytest.mark.parametrize(("source", "flags", "here", "here_flags"), TABLE)
def test_pattern_is_translated(source: str, flags: str, here: str, here_flags: str) -> None:
    """Each construct becomes what means the same here; what is the same stays as it is."""
    found = translate(source, flags)
    assert (here, here_flags) == (found.pattern, found.flags)


@pytest.mark.parametrize(("source", "here"), [
    (".", r"[^\n\r\u2028\u2029]"),
    ("^a$", r"(?<![^\n\r\u2028\u2029])a(?![^\n\r\u2028\u2029])"),
    (r"\s", r"[\t-\r \xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]"),
    (r"[^\S\n]", r"[\t\v-\r \xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]"),
])
def test_exact_translation_knows_rare_characters(source: str, here: str) -> None:
    """With `exact`, line ends and white space are those of JavaScript to the last character."""
    assert here == translate(source, exact=True).pattern


@pytest.mark.parametrize(("source", "literal"), [
    ("role=button", "role=button"), (r"a\.b\/c", "a.b/c"), (r"\x41", "A"), ("a.b", None), ("a|b", None), ("a+", None)])
def test_pattern_of_plain_text_is_known_as_one(source: str, literal: str | None) -> None:
    """A pattern without operators has the text that it stands for."""
    assert literal == translate(source).literal


def test_ignored_case_is_no_plain_text() -> None:
    """A text that is found in any case is no literal, which would be found in one."""
    assert Translation("abc", "i", None) == translate("abc", "mi")


@pytest.mark.parametrize(("source", "flags", "reason", "at"), [
    ("a**", "m", "there is nothing that `*` could repeat", 2),
    ("{2}", "m", "there is nothing that this quantifier could repeat", 0),
    ("(a", "m", "this group is not closed", 0),
    ("a)", "m", "a `)` closes nothing", 1),
    ("x[a", "m", "this set is not closed", 1),
    ("[b-a]", "m", "this range of characters is the wrong way round", 1),
    ("a{3,2}", "m", "the numbers of this quantifier are the wrong way round", 0),
    ("\\", "m", "a backslash ends the pattern", 0),
    ("(?i)a", "m", "JavaScript has no such group, or one of its newest kinds that is not known here", 0),
    ("(?P<n>a)", "m", "JavaScript has no such group, or one of its newest kinds that is not known here", 0),
    ("(?<n>a)(?<n>b)", "m", "two groups are named `n`", 7),
    (r"(?<n>a)\k<m>", "m", "there is no group of this name", 7),
    (r"\2(a)", "mu", "there is no group of this number", 0),
    (r"\-", "mu", "there is no escape `\\-` with the flag u", 0),
    ("a{", "mu", "a lone `{` is an error with the flag u", 1),
    (r"[\d-x]", "mu", "a class of characters cannot be the end of a range", 3),
    (r"\ud800", "m", "half of a surrogate pair is not a character", 0),
    ("[😀]", "m", "without the flag u JavaScript sees the halves of this character", 1),
    ("😀+", "m", "without the flag u JavaScript repeats only half of this character", 0),
    ("[[a]--[b]]", "mv", "sets within sets and set operations (the flag v) have no equivalent", 0),
    ("a", "mx", "`mx` are no flags of JavaScript", 0),
    ("", "m", "an empty pattern matches everything", 0),
    (r"(?<=(a))\1", "m",
     "a reference to a group from or into a look behind, which JavaScript reads from right to left, "
     "cannot be translated", 8),
    (r"(?:(a)|b)*\1", "m", "a reference to a group that a repetition may leave out, where JavaScript forgets what it "
     "matched before, cannot be translated", 10),
    (r"\p{NoSuchThing}", "mu", "the dialect of case files has no equivalent: unknown property at position 15", 0),
])
def test_pattern_is_refused_with_a_reason(source: str, flags: str, reason: str, at: int) -> None:
    """What JavaScript refuses, and what has no equivalent, is refused with the reason and the place."""
    with pytest.raises(BadPattern) as error:
        translate(source, flags)
    assert (reason, at) == (error.value.reason, error.value.at)


@pytest.mark.parametrize("source", ["(" * 500, "[" * 5000, "(?:" * 90 + ")" * 90 + "{9}" * 2, "a" * 5000,
                                    "a{99999999}", "(?:a{1000}){1000}",
                                    "a{9" + "9" * 5000 + "}", "\\" * 4001, "(?<" + "n" * 9000])
def test_hostile_pattern_is_refused(source: str) -> None:
    """Depth, length and size end in a refusal, never in another error."""
    with pytest.raises(BadPattern):
        translate(source)


# ---- against node ----
ATOMS = ["a", "b", "1", "_", "é", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", "^", "$", r"\b", r"\B", "[a-c]",
         "[^a]", r"[\w-]", r"[^\W_]", r"[\d\s]", "[]", "[^]", r"\/", r"\x61", r"\u0061", "{", "}", "]", r"\1", r"\2",
         r"\k<n>", r"\k", r"\cJ", r"\c", r"\0", r"\07", r"\8", r"[\b]", r"[^\S\n]", r"\-", "&", "[&&a]", r"\n",
         r"[a\D]", r"[\]a]", "{,2}", r"\e", r"\A", r"\Z"]
QUANTIFIERS = ["", "", "", "", "*", "+", "?", "{2}", "{0,1}", "{1,}", "*?", "+?", "??", "{0}"]
TEXTS = ["", "a", "b", "aa", "ab", "aba", "ba\nab", "1", "_", "é", "aé", "éa b", "\b", "\a", "a1_b", "{", "a{,2}", "}]",
         "/", "&", "k<n>", "\\c", "\n", "a\n", "c\0d", "\t a", "-", "bab1", "e", "AZ", "k8", "\u2003x"]
RARE = ["\ufeff", "a\x85b", "a\u2028b", "\rb", "a\r", "x\u2029"]
NODE = """
const {cases, texts} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const find = (pattern, flags, text) => {
  const found = new RegExp(pattern, flags).exec(text);
  return found ? found.index : -1;
};
console.log(JSON.stringify(cases.map(([pattern, flags]) => {
  try { return texts.map((text) => find(pattern, flags, text)); } catch (error) { return null; }
})));
"""


def some_pattern(rng: random.Random, depth: int) -> str:
    """A pattern out of the corpus's atoms; many are not valid."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if depth and kind < 0.35:
            opening = rng.choice(["(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>"])
            atom = f"{opening}{some_pattern(rng, depth - 1)})"
        elif depth and kind < 0.45:
            atom = f"(?:{some_pattern(rng, depth - 1)}|{some_pattern(rng, depth - 1)})"
        else:
            atom = rng.choice(ATOMS)
        parts.append(atom + rng.choice(QUANTIFIERS))
    return "".join(parts)


def found_here(found: Translation, text: str) -> int:
    """Where a translated pattern is found first, as the grader looks for it; -1 for nowhere."""
    flags = regex.MULTILINE | (regex.I if "i" in found.flags else 0) | (regex.S if "s" in found.flags else 0)
    match = regex.search(found.pattern, text, flags)
    return match.start() if match else -1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("exact", [False, True])
def test_translation_finds_what_node_finds(exact: bool) -> None:
    """Over a corpus of patterns and texts, every translated pattern is found where node finds the original first.

    And a pattern that node refuses is refused. Texts with the rare characters are for exact translations.
    """
    rng = random.Random(20_000 + exact)
    cases = [(source, flags) for source, flags, *_ in TABLE if "v" not in flags]
    cases += [(some_pattern(rng, 2), "m" + rng.choice(["", "", "i", "s", "u"]) + rng.choice(["", "", "y"]))
              for _ in range(8_000)]
    cases += [(some_pattern(rng, 1), "") for _ in range(500)]
    texts = [*TEXTS, *(RARE if exact else [])]
    answer = subprocess.run(["node", "-e", NODE], input=json.dumps({"cases": cases, "texts": texts}), text=True,
                            capture_output=True, check=True, timeout=300)
    wrong, compared = [], 0
    for (source, flags), expected in zip(cases, json.loads(answer.stdout), strict=True):
        try:
            found = translate(source, flags, exact=exact)
        except BadPattern:
            continue
        compared += 1
        actual = [found_here(found, text) for text in texts]
        if expected != actual:
            wrong.append((source, flags, found.pattern))
    assert [] == wrong
    assert compared > 3_000
