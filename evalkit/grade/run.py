"""`check run` and `define check`: commands in a disposable copy of the final tree.

The agent's code failing, crashing or hanging is a fail; a program of the harness's own that is missing is an error.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from evalkit.analysis.globs import matching
from evalkit.analysis.model import Append, Command, Put, Run, RunSpec, Step, StepsSpec, Toolchain
from evalkit.analysis.placeholders import expand_all
from evalkit.execute.overlay import lay_over
from evalkit.execute.process import ProgramMissing, run
from evalkit.grade.final_tree import Copy, FinalTree
from evalkit.grade.verdict import Verdict, excerpt

__all__ = ["VERSION", "grade_run", "grade_steps"]

VERSION = "run 1"
_READ = 4_000_000
"""Bytes of a command's output that are looked at for evidence."""


def grade_run(spec: RunSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """The command ends with status 0 within its limit."""
    return grade_steps(StepsSpec((Run(spec.command),)), tree, toolchains)


def grade_steps(spec: StepsSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """Every step succeeds, in order, in one copy; the first that does not is the verdict."""
    said: list[str] = []
    with tree.copy(toolchains) as copy:
        for step in spec.steps:
            verdict = _step(step, tree, copy, said)
            if verdict is not None:
                return verdict
    return Verdict("pass", said[-1] if said else "done", "\n".join(said))


def _step(step: Step, tree: FinalTree, copy: Copy, said: list[str]) -> Verdict | None:
    """Do a step; a verdict where it ends the check."""
    if isinstance(step, Put):
        return _put(tree.session.root / step.source, copy.tree, step.target)
    if isinstance(step, Append):
        return _append(copy.tree, step)
    if isinstance(step, Run):
        return _command(step.command, {"workspace": str(copy.tree)}, tree, copy, said)
    names = matching(tree.manifest.files, (step.glob,))
    if not names:
        return Verdict("fail", f"no file matches {step.glob}")
    for name in names:
        verdict = _command(step.command, {"workspace": str(copy.tree), "file": name}, tree, copy, said)
        if verdict is not None:
            return verdict
    said.append(f"{len(names)} file{'' if len(names) == 1 else 's'} of {step.glob}")
    return None


def _inside(tree: Path, name: str) -> Path | None:
    """A path of the tree, or None where the agent's links lead it outside."""
    target = tree / name
    return target if target.parent.resolve().is_relative_to(tree.resolve()) else None


def _put(source: Path, tree: Path, name: str) -> Verdict | None:
    target = _inside(tree, name)
    if target is None:
        return Verdict("fail", f"{name} leads outside the workspace")
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        lay_over(source, target)
        return None
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    shutil.copyfile(source, target)
    return None


def _append(tree: Path, step: Append) -> Verdict | None:
    target = _inside(tree, step.target)
    if target is None or target.is_symlink() or not target.is_file():
        return Verdict("fail", f"there is no file {step.target} to append to")
    with target.open("ab") as file:
        file.write(b"\n" + step.text.encode())
    return None


def _command(command: Command, values: Mapping[str, str], tree: FinalTree, copy: Copy,
             said: list[str]) -> Verdict | None:
    argv = expand_all(command.words, values)
    line = " ".join(expand_all(command.words, {**values, "workspace": "."}))
    log = copy.scratch / "check.log"
    log.unlink(missing_ok=True)
    try:
        finished = run(argv, cwd=copy.tree, env=copy.env, limit=command.limit, log=log, tick=tree.session.tick)
    except ProgramMissing as error:
        if "/" in argv[0]:  # a program of the workspace: the agent did not make it
            return Verdict("fail", f"`{line}` cannot start", error.message)
        return Verdict("error", f"`{argv[0]}` is not installed", error.message)
    output = tree.session.redactor.text(_read(log)).replace(str(copy.tree), ".")
    shown = f"$ {line}\n{excerpt(output)}"
    if finished.ended_by:
        return Verdict("fail", f"`{line}` was ended by its {finished.ended_by}", shown)
    if finished.exit_code < 0:
        return Verdict("fail", f"`{line}` died of signal {-finished.exit_code}", shown)
    if finished.exit_code > 0:
        return Verdict("fail", f"`{line}` exited with {finished.exit_code}", shown)
    said.append(f"`{line}` exited with 0")
    return None


def _read(log: Path) -> str:
    """The first and last parts of a log."""
    size = log.stat().st_size
    with log.open("rb") as file:
        if size <= _READ:
            return file.read().decode("utf-8", "replace")
        head = file.read(_READ // 2)
        file.seek(size - _READ // 2)
        return (head + b"\n" + file.read()).decode("utf-8", "replace")
