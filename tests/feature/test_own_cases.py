"""The cases of this repository are as the tools want them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", [["check", "--strict"], ["fmt", "--check"]])
def test_the_own_cases(command: list[str]) -> None:
    """There is nothing to say of them, and they are in canonical form."""
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", *command], cwd=ROOT, capture_output=True, text=True,
                          check=False, timeout=60)
    assert 0 == done.returncode, done.stdout + done.stderr
