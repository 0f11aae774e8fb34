"""`check run` and `define check`: commands in a disposable copy of the final tree.

The agent's code failing, crashing or hanging is a fail, and so is what it puts in the way of a check: a link that leads
out, a file where a folder belongs. A program of the harness's own that is missing is an error.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen

from evalkit.analysis.globs import matching
from evalkit.analysis.model import (
    Append,
    Command,
    Each,
    OutputTest,
    Pattern,
    Put,
    Run,
    RunSpec,
    Step,
    StepsSpec,
    Toolchain,
)
from evalkit.analysis.placeholders import expand_all
from evalkit.errors import HarnessError
from evalkit.execute.overlay import lay_over
from evalkit.execute.process import ProgramMissing
from evalkit.grade.evidence import excerpt, plain
from evalkit.grade.final_tree import Copy, FinalTree
from evalkit.grade.search import TOTAL_LIMIT, blocks, search
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "CheckInCopy", "grade_run", "grade_steps"]

VERSION = "run 3"
_READ = 1_000_000
"""Bytes of a command's output that are looked at for evidence: the first and the last half of it."""
_OURS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE})
"""Reasons for which nobody could have written a file: the machine's, not the tree's."""


def grade_run(spec: RunSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """The command ends with its status within its limit, and what it prints has and lacks what the case says."""
    with tree.copy(toolchains, lane=tree.lane) as copy:
        check = CheckInCopy(tree, copy)
        verdict = check.command(spec.command, {}, spec.command.limit, wanted=spec.exit)
        if verdict is None:
            verdict = check.output(spec.outputs)
    return verdict or Verdict("pass", check.said[0], "\n".join(check.said))


def grade_steps(spec: StepsSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """Every step succeeds, in order, in one copy; the first that does not is the verdict."""
    with tree.copy(toolchains, lane=tree.lane) as copy:
        check = CheckInCopy(tree, copy, spec.evidence)
        for step in spec.steps:
            verdict = check.step(step)
            if verdict is not None:
                return verdict
    return Verdict("pass", check.said[-1] if check.said else "done", "\n".join(check.said))


@frozen
class CheckInCopy:
    """One check at work. said: a line for each thing that went well. Its methods return a verdict to end the check.

    tells: what of a command's output tells why it failed; where nothing is said, what such programs mostly print.
    """

    tree: FinalTree
    copy: Copy
    tells: tuple[Pattern, ...] = ()
    said: list[str] = field(factory=list)

    def step(self, step: Step) -> Verdict | None:
        if self.copy.tree.is_symlink() or not self.copy.tree.is_dir():
            return Verdict("fail", "an earlier step of the check removed the workspace")
        if isinstance(step, Put):
            return self.put(step)
        if isinstance(step, Append):
            return self._append(step)
        if isinstance(step, Run):
            return self.command(step.command, {}, step.command.limit)
        return self._each(step)

    def _each(self, step: Each) -> Verdict | None:
        """The command for every file; they share its time limit, since the agent decides how many files there are."""
        names = matching(self.tree.manifest.files, (step.glob,))
        if not names:
            return Verdict("fail", f"no file matches {step.glob}")
        deadline = time.monotonic() + step.command.limit
        for name in names:
            verdict = self.command(step.command, {"file": _argument(name)}, max(0.1, deadline - time.monotonic()))
            if verdict is not None:
                return verdict
        self.said.append(f"{len(names)} file{'' if len(names) == 1 else 's'} of {step.glob}")
        return None

    def command(self, command: Command, values: dict[str, str], limit: float, *, wanted: int = 0,
                unavailable: int | None = None) -> Verdict | None:
        """Run a command; a verdict unless it ends with the wanted status.

        unavailable: the status by which it says that a program of the harness's own is missing, which is an error.
        """
        tree = self.copy.tree
        argv = expand_all(command.words, {**values, "workspace": self.copy.seen(tree)})
        line = plain(shlex.join(expand_all(command.words, {**values, "workspace": "."})))
        self._log.unlink(missing_ok=True)
        try:
            finished = self.copy.room.run(argv, limit=limit, log=self._log, tick=self.tree.session.tick)
        except ProgramMissing as error:
            if _in_workspace(argv[0], Path(self.copy.seen(tree))):
                return Verdict("fail", f"`{line}` cannot start", plain(error.message))
            return Verdict("error", f"`{plain(argv[0])}` is not installed", plain(error.message))
        # Behind walls a status above 128 and a signal are told alike.
        if finished.exit_code in ((wanted, 128 - wanted) if self.copy.room.walls and wanted > 128 else (wanted,)) \
                and not finished.ended_by:
            self.said.append(f"`{line}` exited with {wanted}")
            return None
        if finished.exit_code == unavailable and not finished.ended_by:
            return Verdict("error", f"`{line}` says that its runner is missing (status {unavailable})", self._told())
        if finished.ended_by.startswith("time"):
            how = f"was ended by its time limit of {command.limit} s" + (" for all files" if "file" in values else "")
        elif finished.ended_by:
            how = f"was ended by its {finished.ended_by}"
        elif finished.exit_code < 0:
            how = f"died of {_signal_name(-finished.exit_code)}"
        else:
            how = f"exited with {finished.exit_code}" + (f", not with {wanted}" if wanted else "")
        return Verdict("fail", f"`{line}` {how}", self._told())

    def _told(self) -> str:
        """The evidence in what the last command printed."""
        output = self.printed()
        return excerpt(output, blocks=blocks(output, self.tells)) or "it printed nothing"

    def output(self, tests: tuple[OutputTest, ...]) -> Verdict | None:
        """Look for patterns in what the last command printed; a verdict where one is amiss."""
        deadline = time.monotonic() + TOTAL_LIMIT
        text = {"its output": self.printed().replace("\r\n", "\n")}
        for test in tests:
            for pattern in test.patterns:
                finding = search(pattern, text, deadline, what="output")
                if finding.outcome != ("found" if test.expect == "has" else "not found"):
                    summary = "its output lacks what it should have" if test.expect == "has" else \
                        "its output has what it should lack"
                    return Verdict("fail", summary, f"{finding.told}\n{excerpt(self.printed())}")
                self.said.append(finding.told)
        return None

    @property
    def _log(self) -> Path:
        return self.copy.scratch / "check.log"

    def printed(self) -> str:
        """What the last command printed, without keys and without this machine's places, which say little at length."""
        session = self.tree.session
        text = session.redactor.text(_ends(self._log, _READ))
        for place, said in ((self.copy.tree, "."), (self.copy.seen(self.copy.tree), "."), (self.copy.env["HOME"], "~"),
                            (self.copy.scratch, "…"), (session.places.cache, "…")):
            text = text.replace(str(place), said)
        return text

    def put(self, step: Put) -> Verdict | None:
        source = self.tree.session.root / step.source
        if not source.exists():
            raise HarnessError(f"{step.source} is gone", hint="the check puts it into the workspace")

        def write(target: Path) -> None:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_symlink() or target.is_file() or not source.is_dir():
                _remove(target)
            if source.is_dir():
                target.mkdir(exist_ok=True)
                lay_over(source, target)
            else:
                shutil.copy(source, target)

        return self._write(step.target, write)

    def _append(self, step: Append) -> Verdict | None:
        def write(target: Path) -> None:
            if target.is_symlink() or not target.is_file():
                raise FileNotFoundError(errno.ENOENT, "there is no such file to append to")
            with target.open("ab") as file:
                file.write(b"\n" + step.text.encode())

        return self._write(step.target, write)

    def _write(self, name: str, write: Callable[[Path], None]) -> Verdict | None:
        """Write a file of the check into the copy, unless what the agent left there is in the way."""
        folder, _, last = name.rpartition("/")
        root = os.path.realpath(self.copy.tree)
        parent = os.path.realpath(os.path.join(root, folder))  # noqa: PTH118 - Path.resolve raises for a loop of links
        if not Path(parent).is_relative_to(root):
            return Verdict("fail", f"{name} leads outside the workspace")
        try:
            write(Path(parent, last))
        except OSError as error:
            if error.errno in _OURS:
                raise HarnessError(f"cannot write to the copy of the workspace: {error.strerror}",
                                   hint="is the disk full?") from error
            return Verdict("fail", f"{name} cannot be written: {error.strerror or error}")
        return None


def _argument(name: str) -> str:
    """A file's name as an argument: one such as `-rf` or `@list` must not pass for an option."""
    return name if name[0].isalnum() or name[0] in "._" else f"./{name}"


def _in_workspace(program: str, tree: Path) -> bool:
    """Whether a program is one that the agent should have made. (A bare name is looked up in PATH: it is not.)"""
    return "/" in program and (tree / program).is_relative_to(tree)


def _remove(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _ends(log: Path, most: int) -> str:
    """A log; of a long one the first and the last half of `most` bytes."""
    size = log.stat().st_size
    with log.open("rb") as file:
        if size <= most:
            return file.read().decode("utf-8", "replace")
        head = file.read(most // 2)
        file.seek(size - most // 2)
        return (head + b"\n" + file.read()).decode("utf-8", "replace")
