"""Which sample of an agent run is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.dag.samples import Samples, note_imported
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.store import Store
from evalkit.plan.keys import agent_inputs
from evalkit.plan.trials import Trial
from evalkit.values import evolve
from tests.unit.execute.make import trial


def contents(_: str) -> str:
    return "same"


def samples(folder: Path, *, fresh: bool = False) -> Samples:
    """What one command knows."""
    return Samples(folder / "state", Store(folder / "store"), fresh=fresh)


def number(folder: Path, of: Trial, *, fresh: bool = False) -> int:
    return samples(folder, fresh=fresh).current(of, contents).sample


def ran(folder: Path, of: Trial) -> None:
    """The store gets the outcome of a trial."""
    key = digest(agent_inputs(of, contents))
    with Store(folder / "store").making("agent", key) as entry:
        (entry / "agent.json").write_text("{}")


def test_the_first_sample_is_current_until_another_is_asked_for(tmp_path: Path) -> None:
    """And where it has not run, it is as fresh as can be."""
    assert (0, 0) == (number(tmp_path, trial()), number(tmp_path, trial(), fresh=True))
    ran(tmp_path, trial())
    assert (0, 1) == (number(tmp_path, trial()), number(tmp_path, trial(), fresh=True))
    assert not (tmp_path / "state").exists()


def test_a_new_sample_is_current_once_its_agent_starts(tmp_path: Path) -> None:
    """Not before: a run that never comes to it shows the old one. A run that is killed goes on with the new one."""
    ran(tmp_path, trial())
    asked = samples(tmp_path, fresh=True)
    new = asked.current(trial(), contents)
    assert (1, 0) == (new.sample, number(tmp_path, trial()))
    asked.begin(new, contents)
    assert (1, 1) == (number(tmp_path, trial()), number(tmp_path, trial(), fresh=True))
    ran(tmp_path, new)
    assert (1, 2) == (number(tmp_path, trial()), number(tmp_path, trial(), fresh=True))


def keep(folder: Path, *of: Trial, told: dict[str, str] | None = None) -> set[str]:
    """The store gets the outcomes of trials, with what they were made from; their keys."""
    keys = set()
    for one in of:
        inputs = agent_inputs(one, contents)
        keys.add(digest(inputs))
        with Store(folder / "store").making("agent", digest(inputs), inputs=told or inputs) as entry:
            (entry / "agent.json").write_text("{}")
    return keys


def test_the_last_sample_that_was_imported_is_current(tmp_path: Path) -> None:
    """Where there was none before: that of another checkout takes the place of none."""
    old, new, newer = trial(), evolve(trial(), sample=2), evolve(trial(), sample=11)
    store = Store(tmp_path / "store")
    note_imported(tmp_path / "state", store, keep(tmp_path, new))
    assert 2 == number(tmp_path, trial())
    note_imported(tmp_path / "state", store, keep(tmp_path, newer))
    assert 2 == number(tmp_path, trial())
    other = tmp_path / "other"
    note_imported(other / "state", Store(other / "store"), keep(other, old, new, newer))
    assert 11 == number(other, trial())
    third = tmp_path / "third"
    ran(third, old)
    note_imported(third / "state", Store(third / "store"), keep(third, new))
    assert 0 == number(third, trial())


@pytest.mark.parametrize("sample", ["2", "0", "-1", "two", "9" * 30])
def test_an_import_that_says_what_is_not_so(tmp_path: Path, sample: str) -> None:
    """Inputs that do not come to the entry's key are nobody's sample."""
    told = {**agent_inputs(trial(), contents), "sample": sample}
    keys = keep(tmp_path, trial(), told=told)
    note_imported(tmp_path / "state", Store(tmp_path / "store"), keys)
    assert not (tmp_path / "state").exists()


def test_samples_that_another_checkout_made_are_not_taken_for_fresh(tmp_path: Path) -> None:
    """The store has them already."""
    for sample in range(3):
        ran(tmp_path, evolve(trial(), sample=sample))
    assert (0, 3) == (number(tmp_path, trial()), number(tmp_path, trial(), fresh=True))


def test_each_trial_has_its_own(tmp_path: Path) -> None:
    """And what an edit makes of it begins anew."""
    asked = samples(tmp_path, fresh=True)
    ran(tmp_path, trial())
    asked.begin(asked.current(trial(), contents), contents)
    assert [1, 0, 0] == [number(tmp_path, trial()), number(tmp_path, evolve(trial(), number=2)),
                         number(tmp_path, trial(model="another"))]


def test_an_agent_that_gives_the_same_each_time_has_one_sample(tmp_path: Path) -> None:
    """The reference answer does not get fresher."""
    idle = evolve(trial(), traits=evolve(trial().traits, sampled=False))
    ran(tmp_path, idle)
    asked = samples(tmp_path, fresh=True)
    assert idle == asked.current(idle, contents)
    asked.begin(idle, contents)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("damage", [b"", b"two", b"\xff", b"1.5"])
def test_a_damaged_note_is_none(tmp_path: Path, damage: bytes) -> None:
    """The first sample is current again: nothing is paid for."""
    asked = samples(tmp_path, fresh=True)
    place = asked.place(trial(), contents)
    place.parent.mkdir(parents=True)
    place.write_bytes(damage)
    assert 0 == number(tmp_path, trial())
    place.write_bytes(b"2")
    assert 2 == number(tmp_path, trial())


def test_a_note_that_cannot_be_written_stops_the_agent(tmp_path: Path) -> None:
    """Else a sample would be paid for that the next run does not find."""
    ran(tmp_path, trial())
    (tmp_path / "state").write_text("a file")
    asked = samples(tmp_path, fresh=True)
    with pytest.raises(HarnessError):
        asked.begin(asked.current(trial(), contents), contents)
