"""What an agent must not see: the places of the harness, and the lines of what a unit hides.

    the case's folder        its .eval, hidden tests, answers (right and wrong ones)
    the other cases, the results, the store and the rest of evalkit's state
    the work folders of other trials
    skills and guidance that another arm of the unit has and this one has not

Places are of this machine. A case's folder and the store are also known by the end of their paths: a kept run may be of
another machine, or from before the project was moved.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from attrs import frozen

from evalkit.analysis.model import Case, HiddenTestsSpec, Put, StepsSpec
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.outcome import TREE
from evalkit.execute.session import Session
from evalkit.execute.tree import members
from evalkit.grade.audit_lines import Lines, Source
from evalkit.plan.keys import Contents, Inputs, workspace_inputs

__all__ = ["PROJECT", "Place", "Protected", "audit_inputs"]

VERSION = "audit 2"
PROJECT = "the project's files"
_LARGEST = 2_000_000
"""Bytes of a file whose lines are read."""
_GENERATED = ("*.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum", "*.map", "*.min.*", "*.svg", "*.snap")
"""Files that tools make, the agent's own too."""


@frozen
class Place:
    """what: in words. path: of this machine, absolute. shown: the path as it is told."""

    what: str
    path: str
    shown: str


# ---- what a unit hides ----
def _hidden(case: Case) -> Iterator[tuple[str, str]]:
    """What it is, and its path in the project."""
    for check in case.checks:
        if isinstance(check.spec, HiddenTestsSpec):
            yield from (("hidden tests", path) for path in (check.spec.path, *check.spec.more))
        elif isinstance(check.spec, StepsSpec):
            yield from (("hidden tests", step.source) for step in check.spec.steps if isinstance(step, Put))
    if case.solution is not None:
        yield "the solution", case.solution
    for wrong in case.wrongs:
        yield "a wrong answer", wrong.folder


def _withheld(case: Case, family: Iterable[Case]) -> Iterator[tuple[str, str]]:
    """Skills and guidance of the unit's other arms that it has not itself: their paths, or the skills' commands."""
    own = {skill.folder for skill in case.setup.skills} | {document.path for document in case.setup.guidance}
    own_commands = {skill.command for skill in case.setup.skills}
    for other in family:
        if other.arm == case.arm or other.track != case.track:
            continue
        for skill in other.setup.skills:
            if skill.folder is not None and skill.folder not in own:
                yield f"the skill `{skill.name}`, which this arm has not", skill.folder
            elif skill.command is not None and skill.command not in own_commands:
                yield f"the skill `{skill.name}`, which this arm has not", " ".join(skill.command.words)
        for document in other.setup.guidance:
            if document.path not in own:
                yield "guidance that this arm has not", document.path


def _folders(case: Case, family: Iterable[Case]) -> dict[str, str]:
    """Paths of the project that the unit hides, each with what it is."""
    found: dict[str, str] = {}
    for what, path in (*_hidden(case), *((what, path) for what, path in _withheld(case, family) if " " not in path)):
        found.setdefault(path.rstrip("/"), what)
    return found


def audit_inputs(case: Case, family: Sequence[Case], contents: Contents, transcript: str) -> Inputs:
    """Inputs of an audit: of the result that it is part of. family: all units of the case. transcript: its digest.

    (What else of the case it looks for are the texts of its checks, which are inputs of the result anyhow.)
    """
    inputs = {"audit": VERSION, "transcript": transcript}
    inputs |= {f"protected {path}": contents(path) for path in _folders(case, family)}
    if commands := [path for _, path in _withheld(case, family) if " " in path]:
        inputs["protected commands"] = digest(commands)
    return inputs


@frozen
class Protected:
    """What the agent of one unit must not see. skills: commands that print skills which it was not given."""

    places: tuple[Place, ...]
    ends: tuple[Place, ...]
    lines: Lines
    skills: tuple[tuple[str, str], ...]
    project: tuple[str, ...]
    work: tuple[str, ...]

    @classmethod
    def of(cls, session: Session, case: Case, family: Sequence[Case], contents: Contents) -> Protected:
        """family: all units of the case. Raises HarnessError where a file of the case cannot be read."""
        folders = _folders(case, family)
        skills = tuple((what, path) for what, path in _withheld(case, family) if " " in path)
        places = [Place(what, str(session.root / path), path) for path, what in folders.items()]
        places.append(Place("the case's folder", str(session.root / case.folder), case.folder))
        places.append(Place("the cases", str(session.root / session.cases), session.cases))
        kept = session.places
        places += [Place("results", str(kept.results), "results"), Place("the store", str(kept.store), "the store"),
                   Place("evalkit's state", str(kept.state), ".evalkit")]
        top = _repository(session.root)
        places.append(Place("the project's history", f"{top}/.git", ".git"))
        places += [Place("the cases", str(path), str(path)) for path in session.off_limits(())]
        real = [Place(place.what, os.path.realpath(place.path), place.shown) for place in places]
        every: dict[str, Place] = {}
        for place in (*places, *real):  # the first name of a path says most of it
            every.setdefault(place.path, place)
        project = tuple(dict.fromkeys((str(session.root), os.path.realpath(session.root), str(top))))
        work = tuple(dict.fromkeys((str(kept.work.parent), os.path.realpath(kept.work.parent))))
        ends = tuple(Place(what, f"/{path}", path) for path, what in
                     ((*folders.items(), (case.folder, "the case's folder"), (".evalkit/store", "the store"))))
        return cls(tuple(sorted(every.values(), key=lambda place: -len(place.path))), ends,
                   _lines(session, case, folders, contents), skills, project, work)

    def place(self, path: str, own: str) -> Place | None:
        """The protected place that an absolute path, or a pattern of paths, leads to. own: the agent's own folder."""
        parts = path.split("/")
        pattern = any(sign in path for sign in "*?[")
        for place in self.places:
            if path == place.path or path.startswith(place.path + "/") or (
                    pattern and _may_be(parts, place.path.split("/"))):
                return place
        if own and path.startswith(own + "/"):
            return None
        for work in self.work:
            if path.startswith(work + "/") and path.count("/") >= work.count("/") + 3:
                return Place("another trial's workspace", path, path.removeprefix(work + "/"))
        return next((place for place in self.ends if path.endswith(place.path) or f"{place.path}/" in path), None)

    def is_project(self, path: str) -> bool:
        """Whether a path is the project's own folder, or that of the repository that it is in."""
        return path in self.project

    def holds_project(self, folder: str) -> bool:
        """Whether a folder lies in the project's repository."""
        return any(folder == top or folder.startswith(top + "/") for top in self.project)


def _may_be(pattern: Sequence[str], place: Sequence[str]) -> bool:
    """Whether a pattern of paths may lead to this place or below it."""
    return len(pattern) >= len(place) and "**" not in pattern[: len(place)] and all(
        fnmatchcase(part, wanted) for part, wanted in zip(place, pattern, strict=False))


def _repository(root: Path) -> Path:
    """The folder of the git repository that the project is in; the project's own where it is in none."""
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)


# ---- lines ----
def _lines(session: Session, case: Case, folders: dict[str, str], contents: Contents) -> Lines:
    lines = Lines()
    for path, what in folders.items():
        made = what in ("the solution", "a wrong answer")
        for name, text in _texts(session.root, path):
            if not (made and any(fnmatchcase(posixpath.basename(name), pattern) for pattern in _GENERATED)):
                lines.add(Source(what, name, *((3, 120) if made else (2, 60)), made), text)
    file = case.origin.rsplit(":", 2)[0]
    for name, text in _texts(session.root, file):
        said = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        lines.add(Source("the case's file", name, 2, 60, made=False), said)
    lines.drop("\n".join((case.prompt, case.agent.suffix, case.agent.system or "")))
    contract = [case.setup.contract] if case.setup.contract else []
    for given in (*(document.path for document in case.setup.guidance), *contract):
        for _, text in _texts(session.root, given):
            lines.drop(text)
    for text in _workspace(session, case, contents):
        lines.drop(text)
    lines.seal()
    return lines


def _texts(root: Path, path: str) -> Iterator[tuple[str, str]]:
    """The texts of a file, or of the files of a folder, of the project; links are not followed. Raises HarnessError."""
    whole = root / path
    files = [whole] if whole.is_file() else sorted(Path(folder, name) for folder, _, names in os.walk(whole)
                                                   for name in names)
    for file in files:
        try:
            if file.is_symlink() or file.stat().st_size > _LARGEST:
                continue
            data = file.read_bytes()
        except OSError as error:
            raise HarnessError(f"cannot read {file}: {error.strerror or error}") from error
        if b"\0" not in data:
            yield file.relative_to(root).as_posix(), data.decode("utf-8", "replace")


def _workspace(session: Session, case: Case, contents: Contents) -> Iterator[str]:
    """The texts of the workspace that the agent began with, if the store has it still."""
    try:
        entry = session.store.open("workspace", digest(workspace_inputs(case.setup, contents)))
    except HarnessError:
        return
    for member, data in members(entry / TREE) if entry is not None else ():
        if member.is_file and member.size <= _LARGEST and b"\0" not in (held := data()):
            yield held.decode("utf-8", "replace")
