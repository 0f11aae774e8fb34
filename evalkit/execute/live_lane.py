"""Where live checks run: on Linux in the image, in the sandbox lane; on macOS on this machine, as it is.

(On macOS that was written after the facts of its tools and has not been run.)
"""

from __future__ import annotations

import platform
from pathlib import Path

from evalkit.execute.image import LINUX, find_image, image_file, image_folder, read_image
from evalkit.execute.places import Places
from evalkit.plan.keys import Shows
from evalkit.values import Value

__all__ = ["LiveLane", "Root", "live_lane", "live_platform"]

SKIPPED = "skip_live=1"


class Root(Value):
    """A root file system, and the digest of its declaration."""

    folder: Path
    digest: str


class LiveLane(Value):
    """cannot: why no app can be shown, "" where one can. image: what it is shown in; None: this machine.

    declared, record: the image's declaration, and the file that tells whether it is there; None where it is no matter.
    """

    cannot: str = ""
    image: Root | None = None
    declared: Path | None = None
    record: Path | None = None

    @property
    def shows(self) -> Shows:
        """What of it decides on verdicts."""
        return Shows(self.cannot, self.image.digest if self.image else platform.system())


def live_platform() -> str:
    """This system, as `{platform}` has it."""
    return {"Darwin": "macos"}.get(platform.system(), platform.system().lower())


def live_lane(places: Places, lane: str, *, skip: bool = False) -> LiveLane:
    """Whether and where apps are shown. skip: the choice `skip_live`. Raises UserError for a wrong declaration."""
    if skip:
        return LiveLane(SKIPPED)
    if platform.system() == "Darwin" and lane == "local":
        return LiveLane()
    if lane != "sandbox":
        return LiveLane(f"the {lane} lane has no live checks here: they need the sandbox lane (lane=sandbox)")
    image, declared = read_image(places.root, LINUX), image_file(places.root, LINUX)
    record = image_folder(places.cache, image) / "image.json"
    root = find_image(places.cache, image)
    if root is None:
        return LiveLane(f"live checks need the image `{LINUX}`, which is not there: doit run image:{LINUX}",
                        None, declared, record)
    return LiveLane("", Root(root, image.digest), declared, record)
