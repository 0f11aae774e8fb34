"""Regular expressions of Python in the dialect of case files."""

from __future__ import annotations

import re
import warnings

import pytest
import regex

from evalkit.authoring.importers.jsregex import BadPattern
from evalkit.authoring.importers.pyregex import translate_python


@pytest.mark.parametrize(("source", "here"), [
    (r"from ['\"]https?:\/\/", r"from ['\"]https?://"),
    ("^eval$", r"\Aeval(?=\n?\Z)"),
    ("(?m)^eval$", "(?m)^eval$"),
    ("[[:alpha:]&&]", r"[\[:alpha:]\&\&]".replace(r":]\&\&]", r":]&&]")),
    ("[]a^$]", r"[\]a^$]"),
    ("a{e<=1}", r"a\{e<=1}"),
    ("a{2}b{,3}", "a{2}b{,3}"),
])
def test_pattern_is_translated(source: str, here: str) -> None:
    """What the two dialects read differently is rewritten; all else stays."""
    assert here == translate_python(source).pattern


@pytest.mark.parametrize("source", [
    r"^a.b$", r"a$", r"^$", r"\d+\w\s", "[^]x]", "[[a]", "[a-c&&b]", "x{2}", "x{,2}y", "x{e}", r"(?i)HTTPS?", r"(a)\1",
    r"(?P<n>a)(?P=n)", r"a|b", r"\$\^", r"[\]^]", r"(?s)a.b", "[~~|]"])
def test_translation_finds_what_python_finds(source: str) -> None:
    """A translated pattern is found in the same texts as the original by `re.search`."""
    texts = ["", "a", "a\n", "a\nb", "ab", "aa", "xb", "x{e}", "xx", "xxy", "y", "[", "&", "b&", "5a ", "https", "$^",
             "]x", "a.b", "\na", "^", "~", "|"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [re.search(source, text) is not None for text in texts]
    found = translate_python(source)
    assert expected == [regex.search(found.pattern, text, regex.MULTILINE) is not None for text in texts]


@pytest.mark.parametrize("source", ["(", "(?x)a b", "", "a" * 5000,
                                    "a{9999999}", "(?:a{1000}){1000}", "(?P<n>a)(?P<n>b)"])
def test_pattern_is_refused(source: str) -> None:
    """What is no pattern, or would need another reading of blanks, is refused."""
    with pytest.raises(BadPattern):
        translate_python(source)
