"""Makes the root file system of an image with mmdebstrap(1), whole or not at all.

It is made in a folder of the process's own beside its place, and gets its name when it is whole; of several processes
one makes it and the others wait. What a killed one left is removed by the next.

Debian's packages come from where this machine gets its own: the mirror, the proxy and the like are apt's settings here
(apt-get indextargets, apt-config). Where this machine is no Debian, mmdebstrap's own default is taken. Nothing of the
machine stays in the image: no settings, no sources, no host name.
"""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from evalkit.errors import HarnessError
from evalkit.execute.folders import abandoned, claimed, remove_tree
from evalkit.execute.image import Image, find_image, image_folder
from evalkit.execute.marks import end_orphans
from evalkit.execute.process import run
from evalkit.execute.secrets import KEY_VARIABLES
from evalkit.execute.store_claim import claim
from evalkit.records import write_json

__all__ = ["INSTALL", "build_image"]

INSTALL = "apt-get install mmdebstrap (Debian; elsewhere also debian-archive-keyring)"
_LIMIT = 1800.0
"""Seconds: the packages come over a network."""
_STEP = re.compile(r"^I: ((?:running apt-get|downloading|extracting|installing|creating tarball).*)$", re.MULTILINE)
_PASSED = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until", "Acquire::Check-Date",
           "Acquire::Retries")
"""Settings of this machine's apt without which its mirror could not be used."""
_ASK_LIMIT = 60


def build_image(cache: Path, image: Image, environ: Mapping[str, str], say: Callable[[str], None],
                tick: Callable[[float], None] = lambda _: None) -> Path:
    """The root file system, made unless it is there. say: is told each step.

    Raises HarnessError with what is missing or failed.
    """
    if (found := find_image(cache, image)) is not None:
        return found
    program = _program(environ)
    place = image_folder(cache, image)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with claim(place.with_name(place.name + ".lock"), lambda: say("another run is making it; waiting")):
            if (found := find_image(cache, image)) is not None:
                return found
            end_orphans()  # of a killed evalkit
            for left in place.parent.iterdir():
                if abandoned(left):
                    remove_tree(left)
            with claimed(place.parent, "image") as folder:
                try:
                    _make(program, folder, image, environ, say, tick)
                    remove_tree(place)
                    (folder / "made").rename(place)
                finally:
                    remove_tree(folder)
    except OSError as error:
        raise HarnessError(f"the image `{image.name}` could not be made: {error}",
                           hint=f"is the disk full? another folder for {cache}: EVALKIT_CACHE=/some/folder") from error
    found = find_image(cache, image)
    if found is None:
        raise HarnessError(f"the image `{image.name}` was made, and is not whole", hint=f"look into {place}")
    return found


def _program(environ: Mapping[str, str]) -> str:
    if platform.system() != "Linux":
        raise HarnessError(f"images are made on Linux, and this is {platform.system()}",
                           hint="sandbox/Dockerfile is the same image for Docker")
    program = shutil.which("mmdebstrap", path=environ.get("PATH"))
    if program is None:
        raise HarnessError("an image is made by mmdebstrap, and there is none", hint=INSTALL)
    return program


def _make(program: str, folder: Path, image: Image, environ: Mapping[str, str], say: Callable[[str], None],
          tick: Callable[[float], None]) -> None:
    """`made/`, in a folder: the root file system and its record."""
    env = {name: value for name, value in environ.items() if name not in KEY_VARIABLES}
    settings, archive, log = folder / "apt.conf", folder / "root.tar", folder / "log"
    settings.write_text(_settings(env), "utf-8")
    (folder / "tmp").mkdir(mode=0o1777)
    (folder / "tmp").chmod(0o1777)
    hooks = [f"chroot \"$1\" sh -c {shlex.quote(line)}" for line in image.commands()]
    # What belongs to this machine goes; /etc/hosts is the sandbox's.
    hooks += ['rm -rf "$1"/etc/apt/sources.list* "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/resolv.conf',
              "printf '127.0.0.1 localhost sandbox\\n' > \"$1\"/etc/hosts", 'printf "sandbox\\n" > "$1"/etc/hostname']
    argv = [program, "--variant=minbase", "--format=tar", "--aptopt=Apt::Install-Recommends \"0\"",
            f"--aptopt={settings}", f"--include={','.join(image.packages)}",
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in image.without),
            *(f"--customize-hook={hook}" for hook in hooks), image.release, str(archive), *_sources(env)]
    say(f"making the image `{image.name}`: Debian {image.release}, {len(image.packages)} packages and what they need")
    _run(argv, folder, env | {"TMPDIR": str(folder / "tmp")}, log, "mmdebstrap", say, tick)
    root = folder / "made/root"
    root.mkdir(parents=True)
    say("unpacking it")
    _run([shutil.which("tar", path=env.get("PATH")) or "tar", "--extract", f"--file={archive}", f"--directory={root}",
          "--no-same-owner", "--exclude=./dev/*", "--delay-directory-restore"], folder, env, log, "tar", say, tick)
    write_json(folder / "made/image.json", {
        "schema": 1, "name": image.name, "digest": image.digest, "release": image.release,
        "packages": _installed(root)})


def _run(argv: list[str], folder: Path, env: Mapping[str, str], log: Path, name: str, say: Callable[[str], None],
         tick: Callable[[float], None]) -> None:
    told, waited, start = 0, 0.0, log.stat().st_size if log.exists() else 0

    def look(seconds: float) -> None:
        nonlocal told, waited
        tick(seconds)
        if seconds < waited + 1:
            return
        waited = seconds
        steps = _STEP.findall(log.read_text("utf-8", "replace")[start:])
        for step in steps[told:]:
            say(step)
        told = len(steps)

    finished = run(argv, cwd=folder, env=env, limit=_LIMIT, log=log, tick=look)
    if not finished.ok:
        how = finished.ended_by or f"exit status {finished.exit_code}"
        said = log.read_text("utf-8", "replace").strip().splitlines()[-12:]
        raise HarnessError(f"the image could not be made: {name} failed ({how})\n"
                           + "\n".join(f"  | {line[:200]}" for line in said),
                           hint="does `apt-get update` work here? does this user have user namespaces (or is root)?")


def _ask(argv: list[str], env: Mapping[str, str]) -> str:
    """What a command prints; "" where it is not there or fails."""
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        return ""
    try:
        done = subprocess.run([program, *argv[1:]], env=dict(env), capture_output=True, text=True,
                              errors="replace", check=False, timeout=_ASK_LIMIT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _sources(env: Mapping[str, str]) -> list[str]:
    """The mirror from which this machine gets Debian's packages, for mmdebstrap; empty for its own default."""
    system = _system()
    if system.get("ID") != "debian":
        return []
    asked = _ask(["apt-get", "indextargets", "--format", "$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)\t$(ORIGIN)",
                  "Created-By: Packages"], env)
    rows = [line.split("\t") for line in asked.splitlines() if line.count("\t") == 3]
    found = [(origin == "Debian", uri) for uri, release, component, origin in rows
             if release == system.get("VERSION_CODENAME") and component == "main"]
    return [uri for _, uri in sorted(found, reverse=True)[:1]]


def _system() -> dict[str, str]:
    """What this machine runs, by os-release(5)."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _settings(env: Mapping[str, str]) -> str:
    """Those settings of apt on this machine that the way to its mirror hangs on."""
    lines = _ask(["apt-config", "dump"], env).splitlines()
    return "".join(f"{line}\n" for line in lines if line.partition(" ")[0] in _PASSED)


def _installed(root: Path) -> dict[str, str]:
    """The packages with their versions, as dpkg has noted them."""
    found: dict[str, str] = {}
    name = ""
    status = root / "var/lib/dpkg/status"
    for line in status.read_text("utf-8", "replace").splitlines() if status.is_file() else ():
        if line.startswith("Package: "):
            name = line[9:]
        elif line.startswith("Version: "):
            found[name] = line[9:]
    return dict(sorted(found.items()))
