"""A checkout in a toolchain's place: which one holds, what its identity is, how it is built, and what of it is seen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Checkout, Command, Toolchain
from evalkit.errors import HarnessError, UserError
from evalkit.execute.checkout import _once, chosen, tree_digest
from evalkit.execute.lanes.bwrap import Plan
from evalkit.execute.lanes.limits import Limits
from evalkit.execute.toolchain import find_installed, install
from evalkit.plan.keys import toolchain_inputs
from evalkit.values import evolve

BUILD = "mkdir -p out && sed s/source/built/ src/tool > out/tool && chmod +x out/tool && echo . >> out/builds"


def declared(**of_checkout: Any) -> Toolchain:
    """Where SDK names a checkout, the program is built from it; else it would be in a package."""
    checkout = Checkout("SDK", "", Command(("sh", "-c", BUILD), 60), "suite.eval:3:3", ("out",), ("evals",))
    instead = Toolchain("sdk", programs=(("tool", "{checkout}/out/tool"),), env=(("ROOT", "{checkout}"),),
                        checkout=evolve(checkout, **of_checkout))
    return Toolchain("sdk", npm=("tool@1.2.3",), env=(("ROOT", "{npm}/tool"),), instead=instead)


class Working:
    """A working copy, and what comes of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.copy = folder / "copy"
        (self.copy / "src").mkdir(parents=True)
        (self.copy / "evals").mkdir()
        (self.copy / "src/tool").write_text("#!/bin/sh\necho source one\n")
        (self.copy / "evals/answers").write_text("secret")
        self.said: list[str] = []

    def chosen(self, toolchain: Toolchain | None = None, **environ: str) -> Toolchain:
        _once.cache_clear()  # another process
        return chosen(toolchain or declared(), self.root, {"SDK": str(self.copy), **environ})

    def install(self, toolchain: Toolchain | None = None) -> str:
        """What the tool says, installed as a run does it."""
        made = install(self.root / "cache", toolchain or self.chosen(), os.environ, self.said.append)
        return subprocess.run([made.folder / "bin/tool"], capture_output=True, text=True, check=True).stdout.strip()

    @property
    def builds(self) -> int:
        return len((self.copy / "out/builds").read_text().splitlines())


@pytest.fixture
def working(tmp_path: Path) -> Working:
    return Working(tmp_path)


def test_without_the_variable_the_packages_hold(working: Working) -> None:
    """Their key is what it was before there was a block."""
    before = Toolchain("sdk", npm=("tool@1.2.3",), env=(("ROOT", "{npm}/tool"),))
    for environ in ({"SDK": ""}, {}):
        found = chosen(declared(), working.root, environ)
        assert before == found
        assert toolchain_inputs(before) == toolchain_inputs(found)


def test_with_the_variable_the_checkout_holds(working: Working) -> None:
    found = working.chosen()
    assert found.checkout is not None
    assert (str(working.copy), (), "{checkout}") == (found.checkout.folder, found.npm, dict(found.env)["ROOT"])
    assert toolchain_inputs(found)["checkout"] == found.checkout.tree
    assert working.chosen(SDK="copy") == found  # relative to the project


def test_a_checkout_that_is_not_there_is_the_persons_mistake(working: Working) -> None:
    with pytest.raises(UserError, match="there is no such folder") as raised:
        working.chosen(SDK="/nowhere/at/all")
    assert raised.value.hint == "SDK names it"


def test_a_checkout_that_cannot_be_read_says_who_names_it(working: Working) -> None:
    """A folder that is no checkout at all may hold anything: names that are too long for the system, say."""
    folder = os.open(working.copy, os.O_RDONLY)
    try:
        for _ in range(20):
            os.mkdir("n" * 250, dir_fd=folder)
            below = os.open("n" * 250, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = below
    finally:
        os.close(folder)
    with pytest.raises(UserError, match="cannot read the checkout") as raised:
        working.chosen()
    assert raised.value.hint == "SDK names it"


def test_it_is_built_where_it_is_and_its_programs_are_on_path(working: Working) -> None:
    assert working.install() == "built one"
    assert working.install() == "built one"
    assert working.builds == 1
    assert [f"building {working.copy}"] == working.said
    found = find_installed(working.root / "cache", working.chosen())
    assert found is not None
    assert dict(found.env)["ROOT"] == str(working.copy)
    assert ((working.copy,), (working.copy / "evals",)) == (found.shown, found.hidden)
    assert "sdk (a checkout)" in found.versions


def test_an_edit_is_another_toolchain_and_is_built(working: Working) -> None:
    """Also going back to an earlier state: the copy holds one build at a time."""
    first = working.chosen()
    working.install(first)
    (working.copy / "src/tool").write_text("#!/bin/sh\necho source two\n")
    second = working.chosen()
    assert toolchain_inputs(first) != toolchain_inputs(second)
    assert working.install(second) == "built two"
    assert find_installed(working.root / "cache", first) is None
    (working.copy / "src/tool").write_text("#!/bin/sh\necho source one\n")
    assert working.chosen() == first
    assert working.install(first) == "built one"
    assert working.builds == 3


def test_what_is_built_and_what_is_hidden_is_no_part_of_the_tree(working: Working) -> None:
    before = working.chosen()
    working.install(before)
    (working.copy / "evals/answers").write_text("others")
    assert before == working.chosen()


def test_a_build_that_changes_the_tree_is_told(working: Working) -> None:
    """Else each run would find another toolchain."""
    toolchain = working.chosen(declared(caches=()))
    with pytest.raises(HarnessError, match="is not what it was before it was built") as raised:
        working.install(toolchain)
    assert "`caches` at suite.eval:3:3" in raised.value.hint


def test_a_build_that_fails_is_told_with_its_words(working: Working) -> None:
    toolchain = working.chosen(declared(build=Command(("sh", "-c", "echo broken here; exit 3"), 60)))
    with pytest.raises(HarnessError, match=r"sh failed \(exit status 3\)\n  \| broken here") as raised:
        working.install(toolchain)
    assert f"it is built in {working.copy}: SDK names it; the command" in str(raised.value.hint)


def test_of_a_repository_what_git_ignores_is_no_part(working: Working) -> None:
    git: Callable[..., object] = lambda *words: subprocess.run(  # noqa: E731
        ["git", "-C", str(working.copy), *words], check=True, capture_output=True)
    git("init", "-q")
    (working.copy / ".gitignore").write_text("out/\n")
    git("add", ".")
    checkout = declared(caches=()).instead
    assert checkout is not None
    assert checkout.checkout is not None
    before = tree_digest(working.copy, checkout.checkout)
    assert working.install(working.chosen(declared(caches=()))) == "built one"
    assert before == tree_digest(working.copy, checkout.checkout)
    (working.copy / "src/new").write_text("not added yet")
    assert before != tree_digest(working.copy, checkout.checkout)
    (working.copy / "src/new").unlink()
    (working.copy / "src/tool").unlink()  # git lists it still
    assert before != tree_digest(working.copy, checkout.checkout)


def test_two_copies_of_one_tree_take_turns(working: Working, tmp_path: Path) -> None:
    """Equal trees are one toolchain; its programs are those of the copy that is named."""
    other = Working(tmp_path / "other")
    first, second = working.chosen(), working.chosen(SDK=str(other.copy))
    assert toolchain_inputs(first) == toolchain_inputs(second)
    working.install(first)
    working.install(second)
    found = find_installed(working.root / "cache", second)
    assert found is not None
    assert dict(found.env)["ROOT"] == str(other.copy)
    assert (found.folder / "bin/tool").resolve() == other.copy / "out/tool"
    assert find_installed(working.root / "cache", first) is None


def test_behind_walls_what_is_hidden_is_empty(working: Working) -> None:
    """Mounted over the copy, and read-only as that is."""
    plan = Plan(binds=(), readable=(working.copy,), env={}, cwd=Path("/"), limits=Limits(),
                hidden=(working.copy / "evals", working.copy / "src/tool"))
    words = " ".join(plan.arguments({}))
    shown, copy = f"--ro-bind {working.copy} {working.copy}", working.copy
    hidden = f"--tmpfs {copy}/evals --remount-ro {copy}/evals --ro-bind /dev/null {copy}/src/tool"
    assert shown in words
    assert words.index(shown) < words.index(hidden)
