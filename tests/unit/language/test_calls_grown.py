"""What was compiled before calls could be in alternatives is read as it was, and has the digest that it had."""

from __future__ import annotations

from evalkit.analysis.model import AnyOrder, ArgumentTest, Call, CallsSpec, Either
from evalkit.digest import canonical
from evalkit.records import structure, unstructure


def test_plain_calls_have_the_digest_that_they_had() -> None:
    """Fields that calls got later are left out while they say nothing."""
    spec = CallsSpec(((Call("a", (ArgumentTest("k", "is", (1,)),), "f:1:1"),),), ("b",))
    assert {"": "CallsSpec", "never": ["b"], "type": "calls", "sequences": [[{
        "": "Call", "name": "a", "arguments": [{"": "ArgumentTest", "key": "k", "test": "is", "values": [1]}]}]]} == (
            canonical(spec))


def test_calls_without_a_type_are_calls() -> None:
    """Data of before there was anything else in a sequence."""
    data = {"sequences": [[{"name": "a", "arguments": [], "origin": ""}]], "never": [], "type": "calls"}
    assert CallsSpec(((Call("a"),),), ()) == structure(data, CallsSpec)


def test_each_form_comes_back() -> None:
    spec = CallsSpec(((Either(((Call("a", exact=True), AnyOrder((Call("b"), Either(((Call("c"),),))))),)),),), (),
                     (Call("d", succeeds=True, confirmed=True),), (0,))
    assert spec == structure(unstructure(spec), CallsSpec)
