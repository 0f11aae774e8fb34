"""Plots: which there are, no label over another, arms told apart without colour."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import UserError
from evalkit.report import plot as module
from evalkit.report.arms import Arms
from evalkit.report.plot import draw_plots
from tests.unit.report.test_arms import trial

CASES = [f"a-case-with-a-name-of-some-length-{number}" for number in range(25)]


@pytest.fixture
def arms() -> Arms:
    """25 cases, two arms and the ablations of one case, two models, judges' scores, three trials each."""
    chance = random.Random(1)
    trials = [trial(case, arm, round(chance.uniform(0.2, 1.0), 2), model=model,
                    scores={"fit": chance.randint(0, 10), "hallucination": chance.randint(0, 10)})
              for model in ("google/gemini-2.5-pro", "anthropic/claude-opus-4.8")
              for case in CASES for arm in ("with-skill", "without-skill") for _ in range(3)]
    trials += [trial(CASES[0], f"ablate.a-section-with-a-long-heading-{number}", 0.05 * number)
               for number in range(20) for _ in range(3)]
    return Arms(trials + [trial(CASES[0], "with-skill", 0.9) for _ in range(3)], "s", "with-skill")


def test_what_is_drawn(arms: Arms, tmp_path: Path) -> None:
    """Cases, measures and judges of each subject, the ablation, the models; old pictures are gone."""
    (tmp_path / "old.png").write_text("")
    drawn = draw_plots([arms], tmp_path)
    kinds = sorted(path.name.split("-")[1].removesuffix(".png") for path in drawn)
    assert ["ablation", *["cases"] * 3, *["judges"] * 2, *["measures"] * 3, "models"] == kinds
    assert sorted(tmp_path.iterdir()) == sorted(drawn)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_no_label_is_over_another(arms: Arms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does one leave the picture."""
    figures: list[Any] = []
    kept = module._Suite._keep

    def keep(self: Any, figure: Any, kind: str, of: str) -> None:
        figures.append(figure)
        kept(self, figure, kind, of)

    monkeypatch.setattr(module._Suite, "_keep", keep)
    draw_plots([arms], tmp_path)
    assert figures
    for figure in figures:
        figure.canvas.draw()
        boxes = [label.get_window_extent() for axes in figure.axes for label in axes.get_yticklabels()]
        for lower, upper in zip(boxes[1:], boxes, strict=False):
            assert not lower.overlaps(upper)
        for box in [*boxes, figure._suptitle.get_window_extent()]:
            assert -1 <= box.x0 < box.x1 <= figure.bbox.x1 + 1


def test_axes_begin_where_there_is_something() -> None:
    """A tenth below the lowest score, rounded, but never so late that little looks like much."""
    assert [0.0, 0.0, 0.2, 0.4, 0.5, 0.5] == [module._floor([low, 1.0]) for low in (0.0, 0.1, 0.25, 0.45, 0.62, 0.99)]
    assert 0.0 == module._floor([])


def test_a_panel_for_each_judge(arms: Arms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In it the marks of one arm do not hide those of another that have the same scores."""
    figures: list[Any] = []
    monkeypatch.setattr(module._Suite, "_keep", lambda self, figure, kind, of: figures.append((kind, figure)))
    draw_plots([arms], tmp_path)
    panels = [axes for kind, figure in figures if kind == "judges" for axes in figure.axes]
    assert ["fit", "hallucination"] * 2 == [axes.get_title() for axes in panels]
    for axes in panels:
        first, other = ({tuple(place) for place in marks.get_offsets().round(6).tolist()} for marks in axes.collections)
        assert first
        assert not first & other


def test_arms_are_told_apart_in_grey() -> None:
    """By their marks, and by how dark these are."""
    assert len(set(module._MARKS)) == len(set(module._GREYS)) == len(module._MARKS)
    for shade in module._GREYS:
        red, green, blue = (shade[place : place + 2] for place in (1, 3, 5))
        assert red == green == blue


def test_without_the_extra(arms: Arms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError) as caught:
        draw_plots([arms], tmp_path)
    assert "evalkit[plot]" in (caught.value.hint or "")
