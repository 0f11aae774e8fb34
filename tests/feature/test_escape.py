"""Ways out of the sandbox, tried from inside as an agent would: each is stopped, or leads nowhere.

Network tries aim only at servers that the tests run themselves on loopback; that there is no way to anybody else is
shown by the list of interfaces.
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

from evalkit.execute.lanes.syscalls import NAMES
from tests.sandbox import Inside

NUMBERS = {name: numbers[platform.machine() == "aarch64"] for name, numbers in NAMES.items()}
SECRET = "the-answer-that-no-agent-may-see"
PRELUDE = """\
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def no(why): print("STOPPED", why)
def got(what): print("GOT", what)
def call(name, *args):
    result = libc[name](*args)
    no(os.strerror(ctypes.get_errno())) if result == -1 else got((name, result))
def attempt(do, *args, **more):
    try: got(do(*args, **more))
    except BaseException as error: no(repr(error))
def read(path):
    with open(path, "rb") as file: return file.read(4096)
def write(path):
    with open(path, "ab") as file: file.write(b"x")
def connect(family, where):
    with socket.socket(family) as tried:
        tried.settimeout(5); tried.connect(where); return tried.recv(100)
"""
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID = 0x10000000, 0x20000, 0x40000000, 0x20000000

TRIES: dict[str, str] = {
    # ---- files of this machine ----
    "the password file": "attempt(read, '/etc/shadow')",
    "a case by its path": "attempt(read, '{project}/cases/suite/solution.txt')",
    "the cases' folder": "attempt(os.listdir, '{project}/cases')",
    "results of others": "attempt(read, '{project}/results/result.json')",
    "the store": "attempt(os.listdir, '{project}/.evalkit/store')",
    "a case through the first process": "attempt(read, '/proc/1/root{project}/cases/suite/solution.txt')",
    "a case through an own descriptor": "attempt(read, '/proc/self/cwd/../..{project}/cases/suite/solution.txt')",
    "a case above the workspace": "attempt(read, '/workspace/../..{project}/cases/suite/solution.txt')",
    "the person's home": "attempt(os.listdir, '{home}/.ssh'); attempt(read, '{home}/.bashrc')",
    "the scratch folder of the trial": "attempt(os.listdir, '{scratch}')",
    "this machine's /tmp": "attempt(os.listdir, '{tmp}')",
    "this machine's /var/tmp": "attempt(os.listdir, '/var/tmp')",
    "what is mounted on this machine": "attempt(os.listdir, '/sys'); attempt(os.listdir, '/run'); "
                                       "attempt(os.listdir, '/mnt')",
    # ---- processes ----
    "other processes": "print('STOPPED') if all(int(pid) < 50 for pid in os.listdir('/proc') if pid.isdigit()) "
                       "else got('pids')",
    "a signal to evalkit": "attempt(os.kill, {pid}, 0)",
    "evalkit's memory": "attempt(read, '/proc/{pid}/mem')",
    "tracing evalkit": "call('ptrace', 16, {pid}, 0, 0)",
    "inherited descriptors": "open_now = [fd for fd in os.listdir('/proc/self/fd') if int(fd) > 3]; "
                             "got(open_now) if open_now else no('none')",
    "the first process's descriptors":
        "links = [os.readlink(f'/proc/1/fd/{{fd}}') for fd in os.listdir('/proc/1/fd')]; "
        "bad = [link for link in links if link.startswith('/') and not link.startswith('/dev/')"
        " and not link.endswith('/log')]; "
        "got(bad) if bad else no('none')",
    "secrets in environments": "text = b''.join(read(f'/proc/{{pid}}/environ') for pid in os.listdir('/proc') "
                               "if pid.isdigit()); got(text) if b'{secret}' in text else no('none')",
    # ---- namespaces and mounts ----
    "a mount": "call('mount', b'none', b'/tmp', b'tmpfs', 0, 0)",
    "a bind mount": "call('mount', b'/usr', b'/workspace', b'', 4096, 0)",
    "the root made writable": "call('mount', b'none', b'/', b'', 32 | 4096, 0)",
    "an unmount": "call('umount2', b'/proc', 2)",
    "a new root": "attempt(os.chroot, '/workspace')",
    "a new user namespace": f"call('unshare', {CLONE_NEWUSER})",
    "a new mount namespace": f"call('unshare', {CLONE_NEWNS})",
    "a new network namespace": f"call('unshare', {CLONE_NEWUSER | CLONE_NEWNET})",
    "a new process namespace": f"call('unshare', {CLONE_NEWPID})",
    "the first process's namespaces": "fd = os.open('/proc/1/ns/mnt', os.O_RDONLY); call('setns', fd, 0)",
    "a file by its handle": "handle = ctypes.create_string_buffer(b'\\x08\\0\\0\\0\\1' + bytes(11)); "
                            "call('open_by_handle_at', os.open('/workspace', 0), handle, 0)",
    # ---- privileges ----
    "another user": "attempt(os.setuid, 0)",
    "capabilities": "status = read('/proc/self/status').decode(); "
                    "caps = [line for line in status.splitlines() if line.startswith('Cap') and int(line[7:], 16)]; "
                    "got(caps) if caps or 'NoNewPrivs:\\t1' not in status else no('none')",
    "a setuid program": "path = '/workspace/su'; open(path, 'wb').write(read('/proc/self/exe') and b''); "
                        "os.chmod(path, 0o4755); flags = os.statvfs(path).f_flag; "
                        "no('nosuid') if flags & os.ST_NOSUID else got(flags)",
    "a device node": "attempt(os.mknod, '/workspace/disk', 0o60600, os.makedev(254, 0))",
    "a device of this machine": "[attempt(read, name) for name in ('/dev/vda', '/dev/sda', '/dev/mem', '/dev/kmsg')]",
    "keys of who started it": "libc.syscall.restype = ctypes.c_long; "
                              "key = libc.syscall({request_key}, b'user', b'evalkit-test', 0, 0); "
                              "ring = libc.syscall({keyctl}, 0, -3, 0); "
                              "got((key, ring)) if key != -1 or ring != -1 else no(ctypes.get_errno())",
    "a kernel module": "call('init_module', b'x', 1, b'')",
    "the host's name": "attempt(socket.sethostname, 'mine')",
    "eBPF": "call('syscall', {bpf}, 0, 0, 0)",
    "the clock": "call('settimeofday', (ctypes.c_long * 2)(1, 1), 0)",
    "a terminal": "attempt(read, '/dev/tty')",
    # ---- writing ----
    "programs of this machine": "attempt(write, '/usr/bin/env'); attempt(write, '/usr/x')",
    "the root folder": "attempt(write, '/x'); attempt(write, '/etc/x'); attempt(write, '/dev/x'); "
                       "attempt(write, '/home/x')",
    # Opened, not written: where the walls have a hole, this machine keeps its settings.
    "the kernel's settings": "[attempt(os.open, f'/proc/{{name}}', os.O_WRONLY) for name in "
                             "('sys/kernel/core_pattern', 'sys/kernel/modprobe', 'sysrq-trigger', 'self/uid_map')]",
    "a hard link out of the sandbox": "attempt(os.link, '/usr/bin/env', '/workspace/env')",
    # ---- the network ----
    "a server on this machine's loopback": "attempt(connect, socket.AF_INET, ('127.0.0.1', {port}))",
    "an abstract socket": "attempt(connect, socket.AF_UNIX, '\\0{abstract}')",
    "a socket file": "attempt(connect, socket.AF_UNIX, '{socket}')",
    "raw sockets": "attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1); "
                   "attempt(socket.socket, socket.AF_PACKET, socket.SOCK_RAW)",
    "interfaces": "names = [name for _, name in socket.if_nameindex()]; no(names) if names == ['lo'] else got(names)",
}


@frozen
class Host:
    """What stands outside: a project with secrets, and servers on loopback that tell one to whoever comes."""

    project: Path
    port: int
    abstract: str
    socket: Path


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    for name in ("cases/suite/solution.txt", "results/result.json", ".evalkit/store/agent/entry.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(SECRET)
    servers = [socket.create_server(("127.0.0.1", 0))]
    abstract, path = f"evalkit-test-{os.getpid()}", folder / "s"
    for where in (f"\0{abstract}", str(path)):
        server = socket.socket(socket.AF_UNIX)
        server.bind(where)
        server.listen()
        servers.append(server)
    try:
        yield Host(folder, servers[0].getsockname()[1], abstract, path)
    finally:
        for server in servers:
            server.close()


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Inside:
    return Inside.of(tmp_path_factory.mktemp("room"))


@pytest.mark.parametrize("name", TRIES)
def test_a_way_out_is_none(name: str, inside: Inside, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The try ran, got nothing, and saw no secret."""
    monkeypatch.setenv("EVALKIT_TEST_KEY", SECRET)
    code = TRIES[name].format(project=host.project, home=Path.home(), scratch=inside.room.scratch,
                              tmp=host.project.parent, pid=os.getpid(), secret=SECRET, port=host.port,
                              abstract=host.abstract, socket=host.socket, **NUMBERS)
    finished, said = inside.python(PRELUDE + code)
    assert finished.ok, said
    assert "STOPPED" in said
    assert "GOT" not in said
    assert SECRET not in said


def test_what_was_tried_is_there_outside(host: Host) -> None:
    """The same tries succeed where there are no walls: else they would prove nothing."""
    assert SECRET == (host.project / "cases/suite/solution.txt").read_text()
    with socket.create_connection(("127.0.0.1", host.port), timeout=5):
        pass
    for where in (f"\0{host.abstract}", str(host.socket)):
        with socket.socket(socket.AF_UNIX) as tried:
            tried.connect(where)
    os.kill(os.getpid(), 0)


def test_only_three_places_can_be_written(inside: Inside) -> None:
    """The workspace, the home, and what is in memory."""
    _, said = inside.run("sh", "-c", "for at in / /* /usr/* /home/* /dev/* /workspace /home/agent; do "
                                     "[ -d $at ] && touch $at/.try 2>/dev/null && echo $at; done; true")
    assert {"/dev/shm", "/home/agent", "/tmp", "/workspace"} == set(said.split())


def test_the_environment_is_made_from_nothing(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the person's, and none of evalkit's, is in a command's."""
    monkeypatch.setenv("EVALKIT_TEST_KEY", SECRET)
    _, said = inside.run("env")
    names = {line.partition("=")[0] for line in said.splitlines()}
    assert {"CI", "HOME", "LANG", "NO_COLOR", "PATH", "PWD", "TERM", "TMPDIR"} >= names
