"""The command line of `evalkit`: words behind options, and whose usage an error shows; what errors do to a terminal."""

from __future__ import annotations

from argparse import Namespace

import pytest

from evalkit.authoring import compare, plan
from evalkit.cli import main
from evalkit.diagnostics.show import show_error
from evalkit.errors import Exit, HarnessError


def test_words_go_on_after_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """`evalkit plan CASE --detect 10pp trials=3`: the last word is one of the list."""
    given: list[Namespace] = []
    monkeypatch.setattr(plan, "main", lambda options: given.append(options) or Exit.OK)  # type: ignore[func-returns-value]
    assert 0 == main(["plan", "board", "agent=claude", "--detect", "10pp", "trials=3", "--json", "jobs=1"])
    assert [(["board", "agent=claude", "trials=3", "jobs=1"], True)] == [(each.words, each.json) for each in given]


@pytest.mark.parametrize(("words", "usage"), [
    (["plan", "--nope"], "evalkit plan "), (["plan", "board", "--json", "--nope"], "evalkit plan "),
    (["report", "one", "--json", "two"], "evalkit report "), (["store", "ls", "--nope"], "evalkit store ls "),
    (["compare", "one", "two", "three"], "evalkit compare ")])
def test_what_a_command_does_not_know(words: list[str], usage: str, capsys: pytest.CaptureFixture[str],
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told with the usage of that command, as a mistake."""
    for module in (plan, compare):
        monkeypatch.setattr(module, "main", lambda _: pytest.fail("it ran"))
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert Exit.USAGE == ended.value.code
    err = capsys.readouterr().err
    assert err.startswith(f"usage: {usage}")
    assert f"unrecognized arguments: {words[-1]}" in err


def test_an_error_drives_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """What an agent printed last stands in some messages: escapes and what turns the writing are shown."""
    show_error(HarnessError("it ended: \x1b[31mred\x1b]0;title\x07 \u202eabc\x9b2J", hint="look:\n  file\x00"))
    err = capsys.readouterr().err
    lines = err.splitlines()
    assert [True] * 3 == [line.isprintable() for line in lines]
    assert lines[0].startswith("harness error: it ended: ")
    assert "red" in lines[0]
