"""The image of live checks: its declaration (`sandbox/NAME.yaml`), and where the root file system made of it is.

A root file system is kept in the user's cache, in `images/NAME-DIGEST/`: `root/`, and `image.json`, written last. The
digest is the declaration's, so an edit of it makes another one, and the old one stays until it is removed by hand.
image_build.py makes it; sandbox/Dockerfile is the same declaration in words for Docker (`dockerfile`).
"""

from __future__ import annotations

import platform
import re
import shlex
from pathlib import Path

from evalkit.digest import digest
from evalkit.errors import HarnessError, UserError
from evalkit.records import BadRecord, read_json
from evalkit.structure import Misfit, structure
from evalkit.values import Value, field, fields_of

__all__ = ["LINUX", "Image", "User", "dockerfile", "dockerfile_place", "find_image", "image_file", "image_folder",
           "image_names", "read_image"]

LINUX = "linux"
"""The image that live checks run in."""
_RECIPE = "1"
"""Raised when image_build.py would make another root file system of an equal declaration."""
_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+(=[A-Za-z0-9.+:~-]+)?")
_PATH = re.compile(r"/[A-Za-z0-9._+/-]+\*?")


class User(Value):
    """name, numeric id (of the user and of a group of the same name), and home."""

    name: str
    id: int
    home: str


class Image(Value):
    """release: of Debian. packages: as apt knows them. without: patterns of files that are not unpacked.

    mounts: folders that are there to be mounted over.
    """

    name: str
    release: str
    packages: tuple[str, ...]
    without: tuple[str, ...] = ()
    users: tuple[User, ...] = ()
    mounts: tuple[str, ...] = ()
    schema: int = field(default=1)

    @property
    def digest(self) -> str:
        """Of the declaration, on this kind of machine."""
        return digest([_RECIPE, platform.machine(), self])

    def commands(self) -> list[str]:
        """What is done in the root file system once the packages are there, as lines of a shell."""
        lines = []
        for user in self.users:
            lines += [f"groupadd --gid {user.id} {user.name}",
                      f"useradd --uid {user.id} --gid {user.id} --create-home --home-dir {user.home} "
                      f"--shell /bin/sh {user.name}"]
        owner = self.users[0].name if self.users else "root"
        for folder in self.mounts:
            lines.append(f"install -d -o {owner} -g {owner} {shlex.quote(folder)}")
        return lines


def image_file(root: Path, name: str) -> Path | None:
    """The declaration of an image: the project's own, else evalkit's; None where there is none of that name."""
    here = Path(__file__).resolve().parents[1]
    shipped = here / "sandbox" if (here / "sandbox").is_dir() else here.parent / "sandbox"
    places = (folder / f"{name}.yaml" for folder in (root / "sandbox", shipped))
    return next((path for path in places if path.is_file()), None)


def image_names(root: Path) -> list[str]:
    """The images that can be built in a project."""
    own = {path.stem for path in (root / "sandbox").glob("*.yaml")}
    return sorted(own | ({LINUX} if image_file(root, LINUX) else set()))


def read_image(root: Path, name: str) -> Image:
    """Raises UserError where there is none of that name, or its declaration is wrong."""
    path = image_file(root, name)
    if path is None:
        raise UserError(f"there is no image `{name}`", hint=f"sandbox/{name}.yaml would declare it")
    import yaml

    try:
        data = yaml.safe_load(path.read_text("utf-8"))
        if not isinstance(data, dict):
            raise Misfit("no mapping of names to values")
        known = {item.name for item in fields_of(Image)}
        if unknown := [str(key) for key in data if key not in known]:
            raise Misfit(f"unknown `{unknown[0]}`; known are {', '.join(sorted(known))}")
        image = structure(data, Image)
        _check(image, name)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, Misfit) as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}",
                        hint="docs/sandbox.md says what an image's declaration holds") from error
    return image


def _check(image: Image, name: str) -> None:
    """Raises Misfit. What passes can stand on a command line and in a Dockerfile as it is."""
    if image.name != name:
        raise Misfit(f"it is called `{image.name}`, and its file `{name}.yaml`")
    if image.schema != 1:
        raise Misfit(f"schema {image.schema} is not known: this evalkit reads schema 1")
    for what, values, pattern in (
            ("release", (image.release,), _NAME), ("package", image.packages, _PACKAGE),
            ("pattern below `without`", image.without, _PATH), ("mount", image.mounts, _PATH),
            ("user", tuple(user.name for user in image.users), _NAME),
            ("home", tuple(user.home for user in image.users), _PATH)):
        for value in values:
            if not pattern.fullmatch(value) or ".." in value:
                raise Misfit(f"`{value}` is no {what}")
    if not image.packages:
        raise Misfit("it has no packages")


def image_folder(cache: Path, image: Image) -> Path:
    """Where its root file system is, or would be."""
    return cache / "images" / f"{image.name}-{image.digest[:16]}"


def find_image(cache: Path, image: Image) -> Path | None:
    """The root file system, where it is there whole."""
    folder = image_folder(cache, image)
    try:
        if read_json(folder / "image.json")["digest"] == image.digest and (folder / "root/usr/bin").is_dir():
            return folder / "root"
    except (FileNotFoundError, BadRecord, HarnessError, KeyError, TypeError):
        pass
    return None


def dockerfile_place(root: Path, name: str) -> Path | None:
    """Where the Dockerfile of an image belongs; None for one that is not the project's own."""
    if not (root / "sandbox" / f"{name}.yaml").is_file():
        return None
    return root / "sandbox" / ("Dockerfile" if name == LINUX else f"{name}.Dockerfile")


def dockerfile(image: Image) -> str:
    """The same image as a Dockerfile."""
    packages = " \\\n      ".join(image.packages)
    lines = [f"# Made from sandbox/{image.name}.yaml by `doit run image:{image.name}`: edit that.",
             f"FROM debian:{image.release}-slim"]
    if image.without:
        excluded = " ".join(shlex.quote(f"path-exclude={pattern}") for pattern in image.without)
        lines.append(f"RUN printf '%s\\n' {excluded} > /etc/dpkg/dpkg.cfg.d/without")
    lines += ["RUN apt-get update \\",
              " && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\",
              f"      {packages} \\", " && rm -rf /var/lib/apt/lists/*"]
    if commands := image.commands():
        lines.append("RUN " + " \\\n && ".join(commands))
    if image.users:
        lines.append(f"USER {image.users[0].name}")
    if image.mounts:
        lines.append(f"WORKDIR {image.mounts[0]}")
    return "\n".join(lines) + "\n"
