"""What the tests of this folder share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_NOBODY = 65534


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """An empty folder of a user whom permissions hold: root can read and write everything."""
    folder = Path(tempfile.mkdtemp(prefix="evalkit-test-"))
    root = os.getuid() == 0
    if root:
        os.chown(folder, _NOBODY, _NOBODY)
        os.seteuid(_NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for place, _, _ in os.walk(folder):
            Path(place).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
