"""Run as a script: makes a network namespace with a listener on its loopback, hands that out, and becomes a command.

    python -I -S opener.py SOCKET PORT,… PROGRAM ARGUMENT…

SOCKET: the descriptor of a Unix socket, by which a listening socket a PORT is sent (SCM_RIGHTS). What connects to it on
loopback within the namespace is accepted by whoever got it: evalkit's gateway, outside. So no bridge runs inside, and
the command has no way but this one. It needs nothing but Python's own modules, and no privilege but user namespaces
(user_namespaces(7), netdevice(7)).
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def main(words: list[str]) -> None:
    out, ports, argv = int(words[0]), [int(port) for port in words[1].split(",")], words[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL)  # it holds for the program that this process becomes, too
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no namespaces can be made")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - little is imported here
            file.write(text)
    with socket.socket() as control:
        asked = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
    listeners = [socket.socket() for _ in ports]
    with socket.socket(fileno=out) as outside:
        for listener, port in zip(listeners, ports, strict=True):
            listener.bind(("127.0.0.1", port))
            listener.listen(128)
        socket.send_fds(outside, [b"l"], [listener.fileno() for listener in listeners])
    for listener in listeners:
        listener.close()
    os.execv(argv[0], argv)


if __name__ == "__main__":
    main(sys.argv[1:])
