"""Where live checks run, and the reasons why they do not."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from evalkit.execute.image import LINUX, image_folder, read_image
from evalkit.execute.live_lane import live_lane
from evalkit.execute.places import Places
from evalkit.plan.keys import Shows
from evalkit.records import write_json


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "project", tmp_path / "cache", tmp_path / "work")


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")


def test_on_macos_on_this_machine(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    found = live_lane(places, "local")
    assert (found.cannot, found.image, found.shows.where) == ("", None, "Darwin")


@pytest.mark.usefixtures("linux")
def test_on_linux_not_in_the_local_lane(places: Places) -> None:
    assert "lane=sandbox" in live_lane(places, "local").cannot


@pytest.mark.usefixtures("linux")
def test_without_the_image(places: Places) -> None:
    """What to type; and a file by which a later look sees that it came."""
    found = live_lane(places, "sandbox")
    assert "doit run image:linux" in found.cannot
    assert found.record is not None
    assert not found.record.exists()


@pytest.mark.usefixtures("linux")
def test_with_the_image(places: Places) -> None:
    """Its digest is what verdicts hang on."""
    image = read_image(places.root, LINUX)
    folder = image_folder(places.cache, image)
    (folder / "root/usr/bin").mkdir(parents=True)
    write_json(folder / "image.json", {"schema": 1, "digest": image.digest})
    found = live_lane(places, "sandbox")
    assert found.cannot == ""
    assert found.image is not None
    assert found.image.folder == folder / "root"
    assert found.shows == Shows("", image.digest)


def test_skip_live(places: Places) -> None:
    assert live_lane(places, "sandbox", skip=True).cannot == "skip_live=1"
