"""Classes of compiled cases are equal by their fields."""

from __future__ import annotations

from evalkit.analysis import model as m


def test_equality_hash_and_form() -> None:
    """Equal fields of one class are equal, and hash alike; another class with equal fields is another value."""
    first, second = m.Pattern("a", True, "i"), m.Pattern("a", True, "i")
    assert first == second
    assert hash(first) == hash(second)
    assert first != m.Pattern("a", True)
    assert m.Guidance("a").__eq__(m.Pattern("a")) is NotImplemented
    assert "Pattern(text='a', regex=True, flags='i')" == repr(first)


def test_the_place_of_values_counts_in_no_hash() -> None:
    """A case is found again by its hash though its `origins` are a dict."""
    nothing = m.ModelChoice(None, "v/m")
    case = m.Case(
        name="it", suite=m.SuiteInfo("s", "", "cases/s", ""), about="", folder="", origin="", prompt="", profile="",
        setup=m.Setup((), m.Scaffold(None, None, ""), None, (), (), ()), limits=m.Limits(),
        agent=m.AgentConfig("nop"), model=nothing, judge_model=nothing, checks=(), judges=(), solution=None, wrongs=(),
        origins={"name": "here"})
    assert case in {case}
