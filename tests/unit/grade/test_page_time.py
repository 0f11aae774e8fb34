"""The time that a page had, on machines that are made up. On a real one: tests/e2e/test_page.py."""

from __future__ import annotations

import pytest
from attrs import define

from evalkit.grade.page_time import LONGEST, Busy, PageTime


@define
class Machine:
    """Its seconds, and of each the seconds that each of the browser's threads runs and waits for a processor."""

    runs: float = 0.0
    waits: float = 0.0
    threads: int = 1
    now: float = 100.0
    first: int = 0

    def of(self, limit: float) -> PageTime:
        return PageTime(limit, self.counted, lambda: self.now)

    def counted(self) -> dict[int, tuple[int, int]]:
        return {self.first + number: (int(self.now * self.runs * 1e9), int(self.now * self.waits * 1e9))
                for number in range(self.threads)}

    def hangs(self, seconds: float) -> bool:
        """A page that does nothing that is waited for."""
        self.now += seconds
        return False


@pytest.mark.parametrize(("machine", "had"), [
    (Machine(), 10.0),                                # waits for what never comes
    (Machine(runs=1.0), 10.0),                        # busy, alone on the machine
    (Machine(runs=0.25, waits=0.75), 2.5),            # busy beside three others
    (Machine(runs=0.01, waits=0.03), 9.7),            # asks for little
    (Machine(runs=0.25, waits=0.75, threads=4), 2.5),  # more wait at once than seconds passed
], ids=["idle", "alone", "beside others", "little", "many threads"])
def test_what_a_page_had(machine: Machine, had: float) -> None:
    """Of ten seconds."""
    clock = machine.of(20)
    machine.now += 10
    assert had == pytest.approx(clock.had())


def test_threads_that_come_and_go() -> None:
    """What is not counted any more takes nothing back."""
    machine = Machine(runs=0.25, waits=0.75)
    clock = machine.of(20)
    machine.now += 10
    before = clock.had()
    machine.now, machine.threads = machine.now + 10, 0
    assert before + 10 == pytest.approx(clock.had())


@pytest.mark.parametrize(("machine", "took"), [(Machine(runs=1.0), 20), (Machine(runs=0.25, waits=0.75), 80)],
                         ids=["alone", "beside others"])
def test_a_hang_ends(machine: Machine, took: float) -> None:
    """When the page had its limit, and not before."""
    clock = machine.of(20)
    assert not clock.within(machine.hangs)
    assert took == pytest.approx(machine.now - 100, abs=5)


def test_late_on_a_busy_machine() -> None:
    """What comes after the limit, and within the page's time, is in time; what comes next has the whole limit again."""
    machine = Machine(runs=0.25, waits=0.75)
    clock = machine.of(20)
    for _ in range(2):
        ready = machine.now + 50

        def does(seconds: float, ready: float = ready) -> bool:
            machine.now = min(machine.now + seconds, ready)
            return machine.now == ready

        assert clock.within(does)


def test_a_machine_without_any_time() -> None:
    """It ends, and says nothing of the page."""
    machine = Machine(runs=0.001, waits=0.999)
    with pytest.raises(Busy):
        machine.of(20).within(machine.hangs)
    assert LONGEST * 20 == pytest.approx(machine.now - 100, abs=1)


def test_a_page_that_makes_itself_wait() -> None:
    """Its many threads leave each other too little; the machine is not to blame."""
    machine = Machine(runs=0.05, waits=0.95, threads=40)
    assert not machine.of(20).within(machine.hangs)
    assert LONGEST * 20 == pytest.approx(machine.now - 100, abs=1)


def test_what_begins_late_has_its_time() -> None:
    """What is asked last, after a long time in which all came in time, is not held to the rest of that."""
    machine = Machine(runs=0.25, waits=0.75)
    clock = machine.of(20)
    machine.now += LONGEST * 20 - 1
    assert clock.rest() == pytest.approx(1)
    ready = machine.now + 50

    def does(seconds: float) -> bool:
        machine.now = min(machine.now + seconds, ready)
        return machine.now == ready

    assert clock.within(does)
