"""What runs on this machine, as tests look at it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["proc_files"]


def proc_files(name: str) -> list[Path]:
    """This file of every process in /proc, some of which may be gone already. (Path.glob fails for these.)"""
    return [Path("/proc", process, name) for process in os.listdir("/proc") if process.isdecimal()]  # noqa: PTH208
