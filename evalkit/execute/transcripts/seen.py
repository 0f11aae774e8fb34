"""Which names were met, in little memory: 64 bits of each, in a table of numbers instead of a set of strings."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

__all__ = ["Seen"]

_START = 1 << 12


class Seen:
    """Names that were met. Two of a million names are taken for one with a chance of 1 in 30 million (64-bit hashes).

    16 to 32 bytes a name, where a set of ids takes 150. The hashes are Python's own, with this process's own seed.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _START))
        self._mask = _START - 1
        self._count = 0

    def add(self, name: Hashable) -> bool:
        """Note a name. Returns whether it is a new one."""
        mark = hash(name) & 0xFFFFFFFFFFFFFFFF or 1  # 0 is an empty slot
        slots, mask = self._slots, self._mask
        at = mark & mask
        while (found := slots[at]) != mark:
            if not found:
                slots[at] = mark
                self._count += 1
                if self._count * 2 > mask:
                    self._grow()
                return True
            at = (at + 1) & mask
        return False

    def _grow(self) -> None:
        old = self._slots
        size = 2 * len(old)
        self._mask = mask = size - 1
        self._slots = slots = array("Q", bytes(8 * size))
        for mark in filter(None, old):
            at = mark & mask
            while slots[at]:
                at = (at + 1) & mask
            slots[at] = mark
