"""Where things are kept: work folders come and go, and nobody else's are touched."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalkit.errors import HarnessError
from evalkit.execute.folders import abandoned, remove_half_written, remove_tree
from evalkit.execute.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "project", tmp_path / "cache", tmp_path / "work/project")


def dead_pid() -> int:
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


# ---- where ----
def test_the_folders_of_a_project(tmp_path: Path) -> None:
    """The state is in the project, toolchains in the user's cache, work outside of both under a folder per project."""
    places = Places.of(tmp_path, {"HOME": "/home/me"})
    assert (tmp_path / ".evalkit", tmp_path / ".evalkit/store", tmp_path / "results") == (
        places.state, places.store, places.results)
    assert Path("/home/me/.cache/evalkit") == places.cache
    assert Path(f"/var/tmp/evalkit-{os.getuid()}") == places.work.parent
    assert places.work != Places.of(tmp_path / "other", {"HOME": "/home/me"}).work


def test_the_folders_can_be_named(tmp_path: Path) -> None:
    """By the variables for it; the work folder still has a part for the project."""
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to("project")
    environ = {"HOME": "/home/me", "XDG_CACHE_HOME": "/cache", "EVALKIT_WORK": "/my work"}
    places = Places.of(tmp_path / "project", environ)
    assert (Path("/cache/evalkit"), Path("/my work")) == (places.cache, places.work.parent)
    assert Path("/mine") == Places.of(tmp_path, {**environ, "EVALKIT_CACHE": "/mine"}).cache
    assert places == Places.of(tmp_path / "link", environ)


def test_a_store_can_be_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the choice, else by the variable: absolute, from the home folder, or from the project. It is private then."""
    monkeypatch.setenv("HOME", "/home/me")
    environ = {"EVALKIT_STORE": "~/store"}
    assert Path("/home/me/store") == Places.of(tmp_path, environ).store
    assert Path("/shared") == Places.of(tmp_path, environ, "/shared").store
    places = Places.of(tmp_path, {}, "../store")
    assert tmp_path / "../store" == places.store
    assert (places.results, places.state, places.store) == places.private
    assert (places.results, places.state) == Places.of(tmp_path, {}).private


# ---- scratch folders ----
def test_a_folder_that_was_never_claimed(tmp_path: Path) -> None:
    """Its process may be about to claim it; after a minute it was killed before it could."""
    new = tmp_path / "new-1234"
    new.mkdir()
    assert not abandoned(new)
    os.utime(new, (0, 0))
    assert abandoned(new)
    (new / "file").touch()
    os.utime(new, (0, 0))
    assert not abandoned(new)


def test_a_scratch_folder_is_for_a_while(places: Places) -> None:
    """It is new, empty, private, and gone after the `with`, also after an error."""

    def work() -> None:
        with places.scratch("grade") as folder:
            assert [] == list(folder.iterdir())
            assert 0o700 == folder.stat().st_mode & 0o777
            (folder / "app/inner").mkdir(parents=True)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert [] == list(places.work.iterdir())


def test_a_scratch_folder_can_be_kept(places: Places) -> None:
    """It stays, and no sweep removes it."""
    with places.scratch("agent", keep=True) as folder:
        (folder / "app").mkdir()
    kept = folder.rename(folder.with_name(f"{dead_pid()}-agent-x"))
    assert 0 == places.sweep()
    assert (kept / "app").is_dir()


def test_a_folder_whose_permissions_were_taken_away(plain_user: Path) -> None:
    """What an agent did to its folders does not keep them."""
    places = Places(plain_user, plain_user, plain_user / "work/project")
    with places.scratch("agent") as folder:
        (folder / "a/b/c").mkdir(parents=True)
        (folder / "a/b/c/file").touch()
        (folder / "a/b/c").chmod(0)
        (folder / "a/b").chmod(0o500)
        (folder / "a").chmod(0)
    assert [] == list(places.work.iterdir())


def test_folders_nested_beyond_any_path(tmp_path: Path) -> None:
    """A tree that was made step by step, too deep for recursion and too long for a path, is removed all the same."""
    here = Path.cwd()
    root = tmp_path / "deep"
    root.mkdir()
    os.chdir(root)
    try:
        for _ in range(1500):
            Path("nnnnnnnn").mkdir()
            os.chdir("nnnnnnnn")
    finally:
        os.chdir(here)
    remove_tree(root)
    assert not root.exists()


def test_removing_follows_no_link(tmp_path: Path) -> None:
    """What a link of the tree's names stays, with its permissions."""
    other = tmp_path / "other"
    (other / "inner").mkdir(parents=True)
    (other / "inner").chmod(0o500)
    (tmp_path / "tree/closed").mkdir(parents=True)
    (tmp_path / "tree/link").symlink_to(other)
    (tmp_path / "tree/closed/link").symlink_to(other / "inner")
    (tmp_path / "alias").symlink_to("other")
    remove_tree(tmp_path / "tree")
    remove_tree(tmp_path / "alias")
    remove_tree(tmp_path / "missing")
    assert not (tmp_path / "tree").exists()
    assert 0o500 == (other / "inner").stat().st_mode & 0o777


# ---- sweeping ----
def test_sweep_removes_only_what_the_dead_left(places: Places) -> None:
    """Folders of living processes stay, and whatever is no folder of ours."""
    with places.scratch("mine") as mine:
        dead = places.work / f"{dead_pid()}-agent-x"
        (dead / "app").mkdir(parents=True)
        alive = places.work / "1-agent-x"
        alive.mkdir()
        others = [places.work / "notes", places.work / "x-1"]
        for path in others:
            path.mkdir()
        file = places.work / f"{dead_pid()}-file"
        file.touch()
        assert 1 == places.sweep()
        assert {mine, alive, *others, file} == set(places.work.iterdir())


def test_a_folder_that_is_locked_has_an_owner(tmp_path: Path) -> None:
    """Where process ids mean nothing (another container), the lock tells."""
    folder = tmp_path / f"{dead_pid()}-agent-x"
    folder.mkdir()
    assert abandoned(folder)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert not abandoned(folder)
    finally:
        os.close(descriptor)
    assert abandoned(folder)


def test_a_dead_folder_without_permissions(plain_user: Path) -> None:
    """It is swept as well."""
    folder = plain_user / f"{dead_pid()}-agent-x"
    (folder / "inner").mkdir(parents=True)
    folder.chmod(0)
    assert abandoned(folder)
    remove_tree(folder)
    assert not folder.exists()


def test_sweep_before_the_first_run(places: Places) -> None:
    """There is nothing to do, and nothing is made."""
    assert 0 == places.sweep()
    assert not places.work.exists()


# ---- a work folder that cannot serve ----
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("whose", ["work", "work/project"])
def test_a_folder_of_another_user(whose: str, places: Places, tmp_path: Path) -> None:
    """/var/tmp is everybody's: a folder that somebody else put there is refused."""
    places.work.mkdir(parents=True)
    os.chown(tmp_path / whose, 1, 1)
    with pytest.raises(HarnessError, match="belongs to another user") as raised:
        places.make_work()
    assert "EVALKIT_WORK" in raised.value.hint


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a link away")
def test_a_link_of_another_user(places: Places, tmp_path: Path) -> None:
    """A link to a folder of ours that somebody else put there is refused too."""
    (tmp_path / "mine").mkdir()
    places.work.parent.symlink_to("mine")
    os.chown(places.work.parent, 1, 1, follow_symlinks=False)
    with pytest.raises(HarnessError, match="belongs to another user"):
        places.make_work()


def test_a_file_in_its_place(places: Places) -> None:
    """A harness error that says which variable names another folder."""
    places.work.parent.touch()
    with pytest.raises(HarnessError, match="cannot make the work folder") as raised, places.scratch("x"):
        pass
    assert "EVALKIT_WORK" in raised.value.hint


def test_a_folder_where_nothing_can_be_started(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """A noexec mount would make every program of an agent's a fail."""
    monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC))
    with pytest.raises(HarnessError, match="mounted noexec"):
        places.make_work()


def test_a_full_disk(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """No room for a scratch folder is a harness error with a hint."""
    places.make_work()

    def mkdir(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.mkdir", mkdir)
    with pytest.raises(HarnessError, match="No space left") as raised, places.scratch("x"):
        pass
    assert "disk full" in raised.value.hint


def test_what_killed_processes_were_writing_is_removed(tmp_path: Path) -> None:
    """By the process in its name; files of others, and of those at work, stay."""
    (tmp_path / "a").mkdir()
    stay = {f".result.json.{os.getpid()}-3.tmp", "result.json", ".note.tmp", f"x.{dead_pid()}.tmp"}
    for name in (*stay, f".result.json.{dead_pid()}-17.tmp", f".tree.tar.zst.{dead_pid()}.tmp"):
        (tmp_path / "a" / name).touch()
    remove_half_written(tmp_path)
    assert stay == {path.name for path in (tmp_path / "a").iterdir()}
    remove_half_written(tmp_path / "not there")
