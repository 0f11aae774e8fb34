"""The transcript of an agent run as graders see it: where it is, and the digest that is part of their keys."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evalkit.analysis.model import CallsSpec, Check, TranscriptSpec
from evalkit.errors import HarnessError
from evalkit.execute.outcome import TRANSCRIPT
from evalkit.execute.session import Session
from evalkit.plan.trials import Subject
from evalkit.values import Value

__all__ = ["IDLE", "Recording", "kept_recording", "reads_transcript", "recording_at", "why_none"]


IDLE = "an agent that does nothing has no transcript"


class Recording(Value):
    """path: None where there is no transcript; `why` says then why that is as it should be, "" where it is not.

    idle: it is known without a transcript that the agent did nothing.
    """

    path: Path | None
    digest: str = ""
    why: str = ""

    @property
    def idle(self) -> bool:
        return self.why == IDLE

    @property
    def input(self) -> str:
        """What stands for it in a check's key."""
        return self.digest or self.why or "none"


def reads_transcript(check: Check) -> bool:
    """Whether a check reads what the agent did."""
    return isinstance(check.spec, TranscriptSpec | CallsSpec)


def why_none(subject: Subject, *, dry: bool) -> str:
    """Why a subject's runs leave no transcript, or ""."""
    if dry:
        return "in a dry run no agent does anything"
    if subject.agent == "nop":
        return IDLE
    known = subject.agent == "oracle" or subject.wrong is not None
    return "a known answer has no transcript" if known else ""


def kept_recording(session: Session, key: str, why: str) -> Recording:
    """The transcript of an agent run in the store. Raises HarnessError where the run is gone, or was damaged."""
    entry = session.store.open("agent", key, only=(TRANSCRIPT,))
    if entry is None:
        raise HarnessError("the agent run is not in the store any more", hint="run again: it is made again")
    path = entry / TRANSCRIPT
    if not path.is_file():
        return Recording(None, why=why)
    manifest = session.store.manifest("agent", key)
    known = manifest.files.get(TRANSCRIPT) if manifest is not None else None
    return Recording(path, known[0]) if known is not None else recording_at(path, why)


def recording_at(path: Path, why: str) -> Recording:
    """A transcript at any place. Raises HarnessError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return Recording(path, hashlib.file_digest(file, "sha256").hexdigest())
    except FileNotFoundError:
        return Recording(None, why=why)
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error
