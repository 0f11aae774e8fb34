"""Texts of any origin in the report: without keys, cut, and as JSON that no HTML ends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.execute.secrets import Redactor
from evalkit.report.html.texts import HEAD, TAIL, cleaned, embedded, held
from tests.unit.report.html_hostile import KEY

REDACTOR = Redactor.of({"AI_GATEWAY_API_KEY": KEY})
NONE = Redactor.of({})
PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
DATA = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | PLAIN,
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN, inner, max_size=4),
                    max_leaves=12)


@given(DATA)
def test_data_without_keys_stay_as_they_are(data: object) -> None:
    """Cleaning all texts as one parts them again as they were, whatever is in them."""
    assert cleaned(data, NONE) == data


@pytest.mark.parametrize("texts", [
    [KEY, "b"], ["a", f"x {KEY} y"], [f"\n\x1e\x1f\x1e\n{KEY}", "\n\x1e\x1f\x1e\n"],
    ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "after"],
], ids=["first", "second", "with what parts texts", "one that goes on in the next text"])
def test_keys_are_taken_out_of_every_text(texts: list[str]) -> None:
    """Each text is one again, and none has the key; what is no key stays."""
    found = cleaned({"all": texts}, REDACTOR)["all"]
    assert len(texts) == len(found)
    assert KEY not in str(found)
    assert [text for text in texts if text in ("a", "b", "after")] == [text for text in found
                                                                      if text in ("a", "b", "after")]


def test_a_long_text_loses_its_middle() -> None:
    """It says how much, and who has it; a short one is whole."""
    text = "a" * 50_000 + "z" * 50_000
    shown = cleaned([held(text, "line 7 has them")], NONE)[0]
    middle = f"\n… {100_000 - HEAD - TAIL:,} characters are left out: line 7 has them …\n"
    assert "a" * HEAD + middle + "z" * TAIL == shown
    assert "short" == cleaned([held("short", "")], NONE)[0]


@pytest.mark.parametrize("before", range(HEAD - len(KEY) - 2, HEAD + 3, 7))
def test_no_part_of_a_key_is_left_where_a_text_is_cut(before: int) -> None:
    """A key across the cut is taken out before the text is cut."""
    text = "." * before + KEY + "." * 60_000 + KEY + "." * (TAIL - len(KEY) // 2)
    shown = cleaned([held(text, "")], REDACTOR)[0]
    parts = [KEY[at : at + 12] for at in range(len(KEY) - 12)]
    assert [part for part in parts if part in shown] == []


@given(PLAIN)
def test_embedded_json_ends_no_script(text: str) -> None:
    """It is the same data, without `<`, `>`, `&` and line ends that scripts of old do not know."""
    told = embedded({"text": text + "</script><!--\u2028\u2029&"})
    assert json.loads(told)["text"] == text + "</script><!--\u2028\u2029&"
    assert not {"<", ">", "&", "\u2028", "\u2029"} & {*told}


def test_half_a_surrogate_pair_can_be_written() -> None:
    """JSON in UTF-8 has none: it becomes a replacement character."""
    assert "a\ufffd" in embedded(cleaned({"text": "a\ud800"}, NONE)).replace("\ufffd\ufffd\ufffd", "\ufffd")
