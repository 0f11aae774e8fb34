"""Audits the trials of a project: puts together what their audits need."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import define, field

from evalkit.analysis.model import Case
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.outcome import TREE
from evalkit.execute.session import Session
from evalkit.execute.tree import members
from evalkit.grade.audit import audit
from evalkit.grade.audit_protected import Protected, audit_inputs
from evalkit.grade.audit_record import Audit
from evalkit.grade.recording import Recording
from evalkit.plan.keys import Contents, Inputs

__all__ = ["Auditor"]

_DOCUMENTS = frozenset({".md", ".txt", ".mdx", ".rst", ".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs", ".jsx", ".zig",
                        ".py", ".json", ".native", ".css", ".html", ".eval"})
_LARGEST = 1_000_000
"""Bytes of a file of a toolchain that is read."""


@define(eq=False)
class Auditor:
    """Holds what the unit that was audited last hides: trials of a unit come in a row."""

    _last: tuple[str, Protected] | None = field(default=None, repr=False)

    def inputs(self, case: Case, family: Sequence[Case], contents: Contents, recording: Recording) -> Inputs:
        """What an audit is made from. family: all units of the case."""
        return audit_inputs(case, family, contents, recording.input)

    def audit(self, session: Session, case: Case, family: Sequence[Case], contents: Contents,
              recording: Recording) -> Audit:
        """Audit a trial. Raises HarnessError where its transcript, or a file that it must not see, cannot be read."""
        inputs = self.inputs(case, family, contents, recording)
        key = digest(inputs)
        if recording.path is None:
            return Audit(key, False, note=recording.why or "there is no transcript")
        hidden = digest([case.unit, case.origin, {**inputs, "transcript": ""}])
        if self._last is None or self._last[0] != hidden:
            self._last = hidden, Protected.of(session, case, family, contents)
        return audit(recording.path, self._last[1], lambda: _documents(session, case), key,
                     lambda: _final(recording.path))


def _final(transcript: Path | None) -> Iterator[str]:
    """The texts of the final files, which lie beside the transcript, in the store and in results; none if damaged."""
    for name in (TREE, "workspace.tar.zst"):
        if transcript is not None and (archive := transcript.with_name(name)).is_file():
            with contextlib.suppress(HarnessError):
                for member, data in members(archive):
                    if member.is_file and member.size <= _LARGEST and b"\0" not in (held := data()):
                        yield held.decode("utf-8", "replace")
            return


def _documents(session: Session, case: Case) -> Iterator[str]:
    """The texts that come with the unit's toolchains, where these are on this machine."""
    for toolchain in case.setup.toolchains:
        try:
            installed = session.installed((toolchain,))
        except HarnessError:
            continue
        for file in Path(installed[0].folder).rglob("*"):
            try:
                if file.suffix in _DOCUMENTS and file.is_file() and file.stat().st_size <= _LARGEST:
                    yield file.read_text("utf-8", "replace")
            except OSError:
                continue
