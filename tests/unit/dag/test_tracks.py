"""The tracks of a case are done by the same models, or the run is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.dag.plan import Plan
from evalkit.dag.progress import Progress
from evalkit.errors import UserError
from tests.feature.project import KEY, MiniProject

TRACKS = """
  track ts  { model "vendor/one" }
  track zig { model "vendor/other" }
  solution"""


def planned(tmp_path: Path, tracks: str = TRACKS, **choices: str) -> set[str | None]:
    """The models that a run of the case asks, with these choices."""
    project = MiniProject.make(tmp_path)
    case = project.path("cases/mini/greeting/greeting.eval")
    case.write_text(case.read_text().replace("\n  solution", tracks, 1))
    plan = Plan(project.root, {"AI_GATEWAY_API_KEY": KEY, "HOME": str(tmp_path)}, choices, Progress())
    try:
        plan.build(["greeting"], asked={"greeting"}, named={"greeting"})
        return {tasks.trial.subject.model for trials in plan.graph.trials.values() for tasks in trials}
    finally:
        plan.close()


def test_a_run_that_would_mix_models_is_refused(tmp_path: Path) -> None:
    """Else a difference between tracks would be one between models."""
    with pytest.raises(UserError) as raised:
        planned(tmp_path)
    assert ("the tracks of `greeting` would be done by different models: `ts` by vendor/one, `zig` by vendor/other"
            == raised.value.message)
    assert "model=SLUG" in raised.value.hint


def test_one_model_for_both_is_none(tmp_path: Path) -> None:
    assert {"vendor/third"} == planned(tmp_path, model="vendor/third")


def test_several_models_do_both_tracks(tmp_path: Path) -> None:
    assert {"vendor/a", "vendor/b"} == planned(tmp_path, model="vendor/a,vendor/b")


def test_one_track_by_itself_is_no_comparison(tmp_path: Path) -> None:
    assert "vendor/one" in planned(tmp_path, track="ts")


def test_known_answers_ask_no_model(tmp_path: Path) -> None:
    assert {None} == planned(tmp_path, agent="oracle")
