"""The system calls that commands in the sandbox do not get, as a filter for the kernel (seccomp(2), classic BPF).

Namespaces do not hold everything: the kernel's keyrings (keyrings(7)) come along from whoever starts a command, and
hold passwords of file systems and tickets of single sign-on. The others are for administrators, or are where holes in
the kernel mostly were. Who calls one is told that it may not (EPERM).
"""

from __future__ import annotations

import errno
import platform
import struct

__all__ = ["NAMES", "program"]

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NAMES: dict[str, tuple[int, int]] = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "clock_settime": (227, 112),
    "delete_module": (176, 106), "finit_module": (313, 273), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "mount": (165, 40), "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241), "pivot_root": (155, 41), "quotactl": (179, 60), "reboot": (169, 142),
    "request_key": (249, 218), "settimeofday": (164, 170), "swapoff": (168, 225), "swapon": (167, 224),
    "syslog": (103, 116), "umount2": (166, 39), "userfaultfd": (323, 282),
}
"""Numbers on x86-64 and on arm64 (the kernel's tables)."""
_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_X32 = 0x40000000
"""From here on are the numbers of another set of calls of x86-64, which would go around the filter."""


def program(machine: str | None = None) -> bytes:
    """The filter for a machine, this one where none is named; empty for one whose numbers are not known here."""
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return b""
    column = list(_ARCHITECTURES).index(machine)
    tests = [(_EQUALS, numbers[column]) for numbers in NAMES.values()]
    if machine == "x86_64":
        tests.insert(0, (_AT_LEAST, _X32))
    lines = [(_LOAD, 0, 0, _ARCHITECTURE_AT),
             (_EQUALS, 0, len(tests) + 2, _ARCHITECTURES[machine]),  # a call of another architecture is refused
             (_LOAD, 0, 0, _NUMBER_AT)]
    lines += [(test, len(tests) - at, 0, value) for at, (test, value) in enumerate(tests)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE | errno.EPERM)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
