"""The longest modules are run first (tests/conftest.py)."""

from __future__ import annotations

import pytest

from tests.conftest import _TESTS, LONGEST, place_of


def test_the_longest_modules_are_there() -> None:
    assert [] == [name for name in LONGEST if not (_TESTS / f"{name}.py").is_file()]
    assert len(LONGEST) == len(set(LONGEST))


def test_they_come_first(request: pytest.FixtureRequest) -> None:
    """Of what was collected, and xdist deals it out as it is: by itself it begins with modules of many tests."""
    places = [place_of(item) for item in request.session.items]
    assert sorted(places) == places
    assert not request.config.getoption("loadscopereorder")
