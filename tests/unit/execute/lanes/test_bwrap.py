"""What is in the sandbox, by bubblewrap's arguments."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from evalkit.errors import HarnessError
from evalkit.execute.lanes.bwrap import HOME, WORKSPACE, Plan
from evalkit.execute.lanes.limits import Limits


def plan(**more: object) -> Plan:
    binds = ((Path("/work/1/app"), WORKSPACE), (Path("/work/1/home"), HOME))
    given: dict[str, object] = {"binds": binds, "readable": (Path("/cache/tools"), Path("/cache/tools/bin")),
                                "env": {"PATH": "/usr/bin"}, "cwd": WORKSPACE, "limits": Limits(shared=7)}
    return Plan(**{**given, **more})  # type: ignore[arg-type]


def pairs(words: list[str]) -> list[tuple[str, ...]]:
    """Options with what follows them."""
    found: list[list[str]] = []
    for word in words:
        if word.startswith("--"):
            found.append([word])
        else:
            found[-1].append(word)
    return [tuple(part) for part in found]


def test_what_can_be_written_is_the_workspace_and_the_home() -> None:
    """All other binds are read-only; and the root is in the end."""
    words = pairs(plan().arguments({}))
    assert [("--bind", "/work/1/app", "/workspace"), ("--bind", "/work/1/home", "/home/agent")] == [
        word for word in words if word[0] in ("--bind", "--dev-bind")]
    order = [word for word in words if word[0] in ("--bind", "--remount-ro", "--chdir")]
    assert [("--remount-ro", "/proc"), ("--remount-ro", "/dev"), ("--remount-ro", "/"),
            ("--chdir", "/workspace")] == order[2:]


def test_all_namespaces_are_its_own() -> None:
    """And it can make no more of them."""
    words = set(plan().arguments({}))
    assert {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--disable-userns",
            "--die-with-parent", "--new-session", "--clearenv"} <= words
    assert ("--cap-drop", "ALL") in set(itertools.pairwise(plan().arguments({})))


def test_a_network_is_made_by_somebody_else() -> None:
    """The opener's namespace must not be left again."""
    assert "--unshare-net" not in plan(net=False).arguments({})


def test_a_toolchain_is_at_its_real_path_once() -> None:
    """What lies in another folder that can be read, or in /usr, is there anyway."""
    words = pairs(plan(readable=(Path("/cache/tools/bin"), Path("/cache/tools"), Path("/usr/lib/x"))).arguments({}))
    assert [("--ro-bind", "/cache/tools", "/cache/tools")] == [
        word for word in words if word[0] == "--ro-bind" and word[1].startswith(("/cache", "/usr/"))]


def test_an_image_takes_the_place_of_this_machine(tmp_path: Path) -> None:
    """Nothing of this machine's /usr or /etc is there then. What is not the image's own to show is not mounted."""
    for name in ("usr", "etc", "root", "home/agent", "tmp", "proc"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    words = plan(root=tmp_path, readable=()).arguments({})
    mounted = [(source, target) for word, source, target in zip(words, words[1:], words[2:], strict=False)
               if word == "--ro-bind"]
    assert mounted == [(str(tmp_path / name), f"/{name}") for name in ("usr", "etc")]
    assert ("--symlink", "usr/bin", "/bin") in list(zip(words, words[1:], words[2:], strict=False))


def test_what_is_shown_within_an_image(tmp_path: Path) -> None:
    """A toolchain, or its Python, below a folder that the image has too: the rest of that folder is the image's."""
    for name in ("usr/bin", "usr/local/bin", "usr/lib", "var/lib", "var/cache/fontconfig"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "var/run").symlink_to("/run")
    shown = (Path("/usr"), Path("/usr/local"), Path("/var/cache/evalkit/toolchains/a"))
    words = plan(root=tmp_path, readable=shown).arguments({})
    triples = list(zip(words, words[1:], words[2:], strict=False))
    mounted = {target: source for word, source, target in triples if word == "--ro-bind"}
    assert {target for target, source in mounted.items() if source == str(tmp_path) + target} == {
        "/usr/bin", "/usr/lib", "/var/lib", "/var/cache/fontconfig"}
    assert {target for target, source in mounted.items() if source == target} == {
        "/usr/local", "/var/cache/evalkit/toolchains/a"}
    assert ("--symlink", "/run", "/var/run") in triples


@pytest.mark.parametrize("place", [WORKSPACE / "cache/tools", HOME / ".cache/evalkit/tools", HOME])
def test_what_the_own_folders_would_hide(place: Path) -> None:
    """Whoever works in a folder of this name is told: else a program would be missing inside, and the agent fail by it.
    """
    with pytest.raises(HarnessError, match="cannot show"):
        plan(readable=(place,)).arguments({})
    assert plan(readable=(Path("/workspaces/tools"), Path("/home/agents"))).arguments({})


def test_memory_is_limited() -> None:
    """What is in memory has a size."""
    words = pairs(plan().arguments({}))
    at = words.index(("--tmpfs", "/tmp"))
    assert ("--size", "7") in words[at - 2:at]
