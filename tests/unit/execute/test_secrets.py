"""Keys are taken out in every shape in which they are written."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.execute.secrets import KEY_VARIABLES, Redactor

KEY = 'sk-ant/"1+2"=ü\\3456789'
REDACTOR = Redactor.of({"ANTHROPIC_API_KEY": KEY, "UNRELATED": "harmless-value"})
SAID = "[ANTHROPIC_API_KEY redacted]"


@pytest.mark.parametrize("shape", [KEY, json.dumps(KEY)[1:-1], json.dumps(KEY, ensure_ascii=False)[1:-1],
                                   quote(KEY, safe="")])
def test_a_key_is_replaced_by_its_name(shape: str) -> None:
    """As it is, as JSON has it, as a URL has it."""
    assert f"before {SAID} after {SAID}" == REDACTOR.text(f"before {shape} after {shape}")


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), url=st.booleans())
def test_a_key_within_base64(before: bytes, after: bytes, url: bool) -> None:
    """At whatever offset it begins, whatever surrounds it, in both alphabets; at most its ends' shared digits stay."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    cleaned = REDACTOR.clean(encode(before + KEY.encode() + after)).decode()
    assert SAID in cleaned
    assert len(cleaned) - len(SAID) <= len(encode(before + after)) + 8


def test_other_texts_are_left_alone() -> None:
    """Short values are no keys, unknown variables are not ours, an empty one is none."""
    redactor = Redactor.of({"OPENAI_API_KEY": "test", "GEMINI_API_KEY": "", "VERCEL_TOKEN": "   ", "HOME": "/home/me"})
    text = "test /home/me [] \x00"
    assert text == redactor.text(text)
    assert () == redactor.replacements


def test_blanks_around_a_value_are_no_part_of_it() -> None:
    """A key that was exported with a line end is found without it."""
    assert "[VERCEL_TOKEN redacted]" == Redactor.of({"VERCEL_TOKEN": " abcdefgh\n"}).text("abcdefgh")


def test_a_key_within_another() -> None:
    """The longer one goes first: no end of it stays behind."""
    redactor = Redactor.of({"AI_GATEWAY_API_KEY": "abcdefgh", "OPENAI_API_KEY": "abcdefgh-and-more"})
    assert "[OPENAI_API_KEY redacted] [AI_GATEWAY_API_KEY redacted]" == redactor.text("abcdefgh-and-more abcdefgh")


def test_one_key_under_two_names() -> None:
    """The first name is told."""
    redactor = Redactor.of(dict.fromkeys(reversed(KEY_VARIABLES), "the-same-key"))
    assert f"[{KEY_VARIABLES[0]} redacted]" == redactor.text("the-same-key")


def test_a_text_that_cannot_be_encoded() -> None:
    """Half a surrogate pair, as a cut text of a program's has it, becomes something that can be written."""
    assert f"\ufffd\ufffd\ufffd {SAID}" == REDACTOR.text(f"\ud800 {KEY}")


def test_the_repr_shows_no_key() -> None:
    """Whoever prints what holds a redactor prints no key."""
    assert "sk-ant" not in repr(REDACTOR)
