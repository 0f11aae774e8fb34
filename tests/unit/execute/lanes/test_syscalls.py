"""The filter of system calls."""

from __future__ import annotations

import struct

import pytest

from evalkit.execute.lanes.syscalls import NAMES, program

ALLOWED, REFUSED = 0x7FFF0000, 0x00050001
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def outcome(machine: str, architecture: int, number: int) -> int:
    """What the filter comes to: a classic BPF program of loads, tests and returns, carried out."""
    lines = list(struct.iter_unpack("=HBBI", program(machine)))
    data, at, value = {0: number, 4: architecture}, 0, 0
    while True:
        code, yes, no, operand = lines[at]
        if code == 0x20:
            value = data[operand]
        elif code == 0x06:
            return int(operand)
        else:
            at += yes if (value == operand if code == 0x15 else value >= operand) else no
        at += 1


@pytest.mark.parametrize(("column", "machine"), list(enumerate(ARCHITECTURES)))
def test_what_is_named_is_refused_and_nothing_else(column: int, machine: str) -> None:
    """Every number up to the newest."""
    refused = {number for number in range(500) if outcome(machine, ARCHITECTURES[machine], number) == REFUSED}
    assert {numbers[column] for numbers in NAMES.values()} == refused
    assert len(NAMES) == len(refused)


def test_other_sets_of_calls_are_refused() -> None:
    """32-bit programs, and the x32 calls of x86-64: their numbers mean other calls."""
    assert REFUSED == outcome("x86_64", 0x40000003, 1)
    assert REFUSED == outcome("x86_64", ARCHITECTURES["x86_64"], 0x40000001)
    assert ALLOWED == outcome("x86_64", ARCHITECTURES["x86_64"], 1)


def test_a_machine_whose_numbers_are_not_known() -> None:
    """There is no filter: the namespaces have to do."""
    assert b"" == program("riscv64")
