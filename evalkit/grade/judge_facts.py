"""What a judge is told beside its rubric: documents of the suite, and what its commands print.

They are the suite's own, so they stand outside of the fences: they are what the work is measured by. A command runs in
an empty folder and sees nothing of the work; what it prints hangs on itself, the files of the project that it names and
the toolchains, all of which are inputs of the judge. So it is run once in a process for all judges that it tells.
"""

from __future__ import annotations

import shlex
import threading

from evalkit.analysis.model import Case, Command, Judge, Toolchain
from evalkit.analysis.placeholders import expand_all, project_files
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.process import ProgramMissing
from evalkit.execute.session import Session
from evalkit.execute.toolchain import placeholder_values
from evalkit.grade.evidence import excerpt
from evalkit.plan.keys import toolchain_inputs

__all__ = ["facts"]

LARGEST = 256 * 1024
"""Bytes of a document, and of what a command prints."""
_printed: dict[str, str] = {}
"""By the digest of all that it hangs on."""
_lock = threading.Lock()


def facts(case: Case, judge: Judge, session: Session) -> list[tuple[str, str]]:
    """Names and texts. Raises HarnessError where a document cannot be read, or a command fails."""
    found = [(path, _document(session, path)) for path in judge.documents]
    for command in judge.told_by:
        line = shlex.join(expand_all(command.words, {"project": "{project}", "npm": "{npm}", "pip": "{pip}"}))
        found.append((f"what `{line}` prints", _told(case.setup.toolchains, command, line, session)))
    return found


def _document(session: Session, path: str) -> str:
    try:
        with (session.root / path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}", hint="the judge is told it") from error
    return _text(session, data, path)


def _text(session: Session, data: bytes, what: str) -> str:
    if len(data) > LARGEST:
        raise HarnessError(f"{what} is more than a judge can be told ({LARGEST // 1024} KB)",
                           hint="tell it a shorter document, or a part of what is printed")
    return session.redactor.clean(data).decode("utf-8-sig", "replace").replace("\0", "\ufffd")


def _told(toolchains: tuple[Toolchain, ...], command: Command, line: str, session: Session) -> str:
    key = digest([str(session.root), command, [toolchain_inputs(toolchain) for toolchain in toolchains],
                  [session.contents(path) for path in project_files(command)]])
    with _lock:
        if key not in _printed:
            _printed[key] = _run(toolchains, command, line, session)
        return _printed[key]


def _run(toolchains: tuple[Toolchain, ...], command: Command, line: str, session: Session) -> str:
    values = {"project": str(session.root), **_folders(session, toolchains)}
    with session.room("judge", toolchains) as room:
        room.tree.mkdir()
        out, errors = room.scratch / "told.out", room.scratch / "told.err"
        try:
            done = room.run(expand_all(command.words, values), limit=command.limit, log=out, errors=errors,
                            tick=session.tick)
        except KeyError as error:
            raise HarnessError(f"`{line}` tells a judge nothing: no toolchain has a folder {{{error.args[0]}}}",
                               hint="the case uses no toolchain with such packages") from None
        except ProgramMissing as error:
            raise HarnessError(f"`{line}` tells a judge nothing: {error.message}") from error
        if not done.ok:
            said = excerpt(session.redactor.text(errors.read_text("utf-8", "replace"))) or "it said nothing"
            raise HarnessError(f"`{line}` tells a judge nothing: {done.ended_by or f'status {done.exit_code}'}\n{said}",
                               hint="it has to print what the judge is told, and end with 0")
        with out.open("rb") as file:
            return _text(session, file.read(LARGEST + 1), f"what `{line}` prints")


def _folders(session: Session, toolchains: tuple[Toolchain, ...]) -> dict[str, str]:
    """Where packages lie: of each kind those of the first toolchain that has some."""
    found: dict[str, str] = {}
    for toolchain, ready in zip(toolchains, session.installed(toolchains), strict=True):
        for kind, pins in (("npm", toolchain.npm), ("pip", toolchain.pip)):
            if pins:
                found.setdefault(kind, placeholder_values(ready.folder)[kind])
    return found
