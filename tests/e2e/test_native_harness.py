"""The harness of the native suite's TypeScript cores: decoder and driver, on the real SDK's kernel and transpiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from evalkit.analysis.project import load_project
from evalkit.execute.places import Places
from evalkit.execute.toolchain import command_environment, find_installed
from tests.e2e.conftest import REPOSITORY, RealProject

pytestmark = pytest.mark.slow

HARNESS = REPOSITORY / "cases/native/harness"
SPECS = REPOSITORY / "tests/e2e/native_harness"


@pytest.fixture(scope="module")
def scratch(real: RealProject, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A core, transpiled as the suite's checks do it, with the harness and its specs beside it; and the environment."""
    installed = real.doit("run", "toolchain:native-sdk")
    assert installed.status == 0, installed.err
    unit = load_project(real.root).cases["kanban-board"]
    cache = Places.of(real.root, os.environ).cache
    found = [find_installed(cache, toolchain) for toolchain in unit.setup.toolchains]
    home = tmp_path_factory.mktemp("home")
    env = command_environment(tuple(one for one in found if one is not None), os.environ, home)
    tree = tmp_path_factory.mktemp("core")
    shutil.copytree(SPECS / "src", tree / "src")
    (tree / ".evalkit").mkdir()
    for file in (*HARNESS.iterdir(), *SPECS.glob("*.zig")):
        shutil.copyfile(file, tree / ".evalkit" / file.name)
    subprocess.run(["sh", ".evalkit/transpile.sh"], cwd=tree, env=env, check=True, timeout=120)
    return tree, env


@pytest.mark.parametrize("spec", ["cmdview_test.zig", "drive_test.zig"])
def test_the_harness_passes_its_own_tests(spec: str, scratch: tuple[Path, dict[str, str]]) -> None:
    tree, env = scratch
    done = subprocess.run(["zig", "test", f".evalkit/{spec}"], cwd=tree, env=env, check=False, timeout=300,
                          capture_output=True, text=True)
    assert (done.returncode, "tests passed." in done.stderr) == (0, True), done.stderr
