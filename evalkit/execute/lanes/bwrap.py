"""The command line of bubblewrap (bwrap(1)), and what of this machine is seen inside.

Inside there are namespaces of its own (user, process ids, IPC, host name, network), no capabilities, no way to more of
them, and no privilege to be had from a setuid program (bubblewrap mounts nosuid and sets no_new_privs). The root is
read-only: this machine's /usr, the few files of /etc that programs cannot do without, toolchains at their real paths.
What can be written is the workspace, the agent's home, /tmp and /dev/shm, which are in memory.

`root` is the folder of an image's root file system (execute/image.py), in the place of this machine's own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from evalkit.errors import HarnessError
from evalkit.execute.lanes.limits import Limits

__all__ = ["HOME", "HOST_PATH", "INSTALL", "WORKSPACE", "Plan", "covered", "find_bwrap"]

WORKSPACE, HOME = Path("/workspace"), Path("/home/agent")
HOST_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
"""Where programs of this machine are found inside."""
INSTALL = "apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora)"
_ID = "1000"
_FROM_ETC = ("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs",
             "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
             "/etc/fonts", "/etc/mime.types", "/etc/magic")
"""What programs look up; not a line about a person or this machine."""
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into /usr on most systems; folders on some."""
_OF_IMAGE = ("usr", "etc", "var", "opt", *_TOP)
"""What of an image's root is seen. The rest is empty there, or the sandbox's own: /proc, /dev, /tmp, /home."""
ETC: Mapping[str, str] = {
    "/etc/passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:{_ID}:{_ID}:agent:{HOME}:/bin/sh\n",
    "/etc/group": f"root:x:0:\nagent:x:{_ID}:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
"""Files that are written for the sandbox."""
_SHARED_MEMORY = 256 * 1024 * 1024


def find_bwrap(path: str | None = None) -> str | None:
    """The program, on this PATH."""
    return shutil.which("bwrap", path=path)


def covered(shown: Path, own: Path) -> tuple[str, str]:
    """What is said of something of this machine that a folder of the sandbox's own hides, and what to do."""
    return (f"the sandbox cannot show {shown}: a folder of its own, {own}, is in that place",
            f"move what is needed out of {own} (toolchains: EVALKIT_CACHE=/another/folder), or say lane=local")


@frozen
class Plan:
    """What a command is started with. binds: what can be written, from where and where it is inside. readable: what can
    be read, at its own path. net: whether bubblewrap makes the network namespace: one without any way out. root: the
    folder of another root file system than this machine's. hidden: what is below a readable folder and is not seen: a
    folder is empty, a file too.
    """

    binds: tuple[tuple[Path, Path], ...]
    readable: tuple[Path, ...]
    env: Mapping[str, str]
    cwd: Path
    limits: Limits
    net: bool = True
    root: Path | None = None
    hidden: tuple[Path, ...] = ()

    def arguments(self, data: Mapping[str, int]) -> list[str]:
        """bubblewrap's arguments, without the command. data: descriptors of the files of `ETC`, by their paths.

        Raises HarnessError where something of this machine would be hidden by the sandbox's own folders.
        """
        words = ["--unshare-user", "--uid", _ID, "--gid", _ID, "--disable-userns", "--unshare-pid", "--unshare-ipc",
                 "--unshare-uts", "--unshare-cgroup-try", *(["--unshare-net"] if self.net else []),
                 "--hostname", "sandbox", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"]
        words += self._root()
        for path, descriptor in data.items():
            words += ["--ro-bind-data", str(descriptor), path]
        shared = str(self.limits.shared)
        words += ["--proc", "/proc", "--dev", "/dev", "--size", str(_SHARED_MEMORY), "--perms", "1777",
                  "--tmpfs", "/dev/shm", "--size", shared, "--perms", "1777", "--tmpfs", "/tmp"]
        for shown in self._shown():
            if (own := next((target for _, target in self.binds if shown.is_relative_to(target)), None)) is not None:
                message, hint = covered(shown, own)
                raise HarnessError(message, hint=hint)
            words += ["--ro-bind", str(shown), str(shown)]
        for place in self.hidden:
            words += ["--tmpfs", str(place), "--remount-ro", str(place)] if place.is_dir() else \
                ["--ro-bind", "/dev/null", str(place)]
        for source, target in self.binds:
            words += ["--bind", str(source), str(target)]
        words += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(self.cwd)]
        for name, value in self.env.items():
            words += ["--setenv", name, value]
        return words

    def _shown(self) -> list[Path]:
        """What is mounted beside the root's own. An image has a /usr of its own; else what is in there is there."""
        if self.root is None:
            return [path for path in _outermost(self.readable) if not path.is_relative_to("/usr")]
        return _outermost(path for path in self.readable if path not in (Path("/"), Path("/usr")))

    def _root(self) -> list[str]:
        if self.root is not None:
            words = []
            for name in _OF_IMAGE:
                words += _of_image(self.root, Path(name), self._shown())
            return [*words, "--dir", "/run"]
        words = ["--ro-bind", "/usr", "/usr"]
        for name in _TOP:
            here = Path("/", name)
            if here.is_symlink():
                words += ["--symlink", str(here.readlink()), f"/{name}"]
            elif here.is_dir():
                words += ["--ro-bind", f"/{name}", f"/{name}"]
        for name in _FROM_ETC:
            words += ["--ro-bind-try", name, name]
        return words


def _of_image(root: Path, name: Path, shown: Sequence[Path]) -> list[str]:
    """What of an image is seen at a place. A folder in which something else is mounted, part by part: so there is room.
    """
    here, place = root / name, Path("/", name)
    if here.is_symlink():
        return ["--symlink", str(here.readlink()), str(place)]
    if place in shown or not here.exists():
        return []
    if not any(path.is_relative_to(place) for path in shown):
        return ["--ro-bind", str(here), str(place)]
    return [word for part in sorted(here.iterdir()) for word in _of_image(root, part.relative_to(root), shown)]


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Without what is below another one of them."""
    found: list[Path] = []
    for path in sorted(dict.fromkeys(paths)):
        if not any(path.is_relative_to(there) for there in found):
            found.append(path)
    return found
