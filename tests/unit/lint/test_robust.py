"""No project makes the linter raise: mutated examples of the catalogue, which between them have every construct."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.authoring.check import check_project
from evalkit.diagnostics.catalogue import CATALOGUE, Example
from evalkit.diagnostics.formats import as_data, as_github
from evalkit.diagnostics.snippet import render_all
from tests.unit.diagnostics.examples import lay_out

EXAMPLES = [example for entry in CATALOGUE.values() for example in (entry.wrong, entry.right)
            if example.times == 1 and "registry" not in example.text]
WORDS = [
    'allow W001 "meant so"', 'allow W005 "x"', "use app", "track ts { use none }", "{", "}", '"', "/a|b/x", "none",
    "\n", 'starter "solution"', "check app", 'judge { files "*"; criterion "c" }', ";", "expect go(x > 1)", "é",
    "\u202e", 'check grep "**" has /(?i)a{2/', 'prompt """x"""', 'skills a from "solution"', 'solution "."',
]


@given(st.sampled_from(EXAMPLES), st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_project_makes_it_raise(example: Example, data: st.DataObject) -> None:
    """Whatever is found can be shown in each format."""
    text = example.text
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 10)))
        text = text[:start] + data.draw(st.sampled_from(["", *WORDS])) + text[end:]
    with tempfile.TemporaryDirectory() as folder:
        (root := Path(folder, "p")).mkdir()
        (root / "cases").mkdir()
        try:
            lay_out(root, Example(example.kind, text))
        except (OSError, ValueError):  # a mutated name of a file cannot be written
            return
        found = [finding.diagnostic for finding in check_project(root, "cases").findings]

        assert len(as_data(found)["findings"]) == len(found)
        assert as_github(found).count("\n") == len(found)
        assert bool(found) == bool(render_all(found))
