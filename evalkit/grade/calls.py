"""The check `calls`: `expect` and `never`, against the calls of a transcript.

Each `expect` is a subsequence of the calls in their order (calls_match.py), and each is looked for by itself. A call
counts as called whether the application did it or not, since it is what the agent meant: `succeeds` asks for more. Of
`expect only`, calls that wrote must all have been matched: what was rejected, or answered with the question for a
confirmation, wrote nothing. A call of a `never` fails wherever it stands, done or not.

Of a transcript that cannot be read as a whole only a forbidden call is told as a fail; else it is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from evalkit.analysis.calls_shown import call_shown
from evalkit.analysis.model import CallsSpec, Expected
from evalkit.errors import HarnessError
from evalkit.grade.calls_actual import Actual, Actuals, fits, meets, read_actuals
from evalkit.grade.calls_match import Match, Matcher
from evalkit.grade.calls_told import actual_shown, called, cut, why_not
from evalkit.grade.evidence import EVIDENCE_LIMIT, plain
from evalkit.grade.recording import Recording
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "grade_calls", "judged"]

VERSION = "calls 1"
_NONE = Actuals((), (), told=True)


def grade_calls(spec: CallsSpec, recording: Recording | None) -> Verdict:
    """Raises HarnessError without a transcript, or where it tells of nothing."""
    if recording is not None and recording.idle:
        return judged(spec, _NONE)
    if recording is None or recording.path is None:
        if recording is not None and recording.why:
            return Verdict("skipped", recording.why)
        raise HarnessError("the agent left no transcript", hint="its calls cannot be graded")
    actuals = read_actuals(recording.path)
    if not actuals.told:
        raise HarnessError("its transcript tells of no message, no call and no end", hint="is it damaged, or cut off?")
    return judged(spec, actuals)


def judged(spec: CallsSpec, actuals: Actuals) -> Verdict:
    """The verdict on calls, whatever they were read from."""
    grading = _Grading(actuals.calls)
    forbidden = list(grading.forbidden(spec))
    if actuals.gaps and not forbidden:
        return Verdict("error", f"the transcript does not tell all: {actuals.gaps[0]}", _evidence(actuals.gaps))
    parts = [grading.sequence(sequence, only=number in spec.only)
             for number, sequence in enumerate(spec.sequences)]
    several = len(parts) > 1
    fails, told = list(forbidden), [line for said in forbidden for line in said.lines]
    for number, part in enumerate(parts, 1):
        head = f"expect {number} of {len(parts)}: " if several else ""
        if part.fail:
            fails.append(_Said(f"{head}{part.fail}", ()))
            told += [cut(f"{head}{part.fail}"), *part.lines]
    for number, part in enumerate(parts, 1):
        if not part.fail:
            told += [f"expect {number} of {len(parts)}: met", *part.lines] if several else part.lines
    told += called(actuals.calls)
    if fails:
        more = f" (and {len(fails) - 1} more)" if len(fails) > 1 else ""
        return Verdict("fail", f"{fails[0].fail}{more}", _evidence([*told, *actuals.gaps]))
    return Verdict("pass", _passed(spec, len(actuals.calls)), _evidence(told))


@frozen
class _Said:
    """What came of a part: why it fails, or "", and the lines that it rests on."""

    fail: str
    lines: tuple[str, ...]


class _Grading:
    def __init__(self, actuals: Sequence[Actual]) -> None:
        self.actuals = actuals
        self.names = [actual.call.name for actual in actuals]
        self.free = self._matcher(())

    def _matcher(self, kept: Sequence[int]) -> Matcher:
        return Matcher(self.names, lambda call: meets(call, self.actuals), kept)

    def sequence(self, sequence: tuple[Expected, ...], *, only: bool) -> _Said:
        """What came of one `expect`."""
        match = self.free.whole(sequence)
        if match is None:
            said, *lines = why_not(sequence, self.free, self.actuals)
            return _Said(said, tuple(lines))
        if only:
            wrote = [place for place, actual in enumerate(self.actuals) if actual.wrote]
            exact = self._matcher(wrote).whole(sequence)
            if exact is None:
                return self._beside(match, wrote)
            match = exact
        return _Said("", tuple(cut(f"  {call_shown(call)}: {self.actuals[place].where}")
                               for call, place in match.taken))

    def _beside(self, match: Match, wrote: Sequence[int]) -> _Said:
        """Of `only`: the calls that wrote and were not expected."""
        taken = {place for _, place in match.taken}
        others = [self.actuals[place] for place in wrote if place not in taken]
        first = others[0]
        return _Said(f"`{plain(first.call.name)}` wrote too, {first.where}, and only the expected calls may",
                     tuple(cut(f"  {actual.where} wrote too: {actual_shown(actual)}") for actual in others))

    def forbidden(self, spec: CallsSpec) -> Iterator[_Said]:
        """A line for each call that must never be there."""
        plainly = set(spec.never)
        for actual in self.actuals:
            name = actual.call.name
            call = next((call for call in spec.never_calls if fits(call, actual)), None)
            if name in plainly or call is not None:
                what = call_shown(call) if call is not None and name not in plainly else name
                yield _Said(f"`{plain(name)}` was called, {actual.where}, and must never be",
                            (cut(f"never {what}: {actual.where}: {actual_shown(actual)}"),))


def _passed(spec: CallsSpec, count: int) -> str:
    among = f"{count} call{'' if count == 1 else 's'}"
    forbidden = len(spec.never) + len(spec.never_calls)
    none = "no forbidden call" if forbidden else ""
    if not spec.sequences:
        return f"{none} among {among}"
    return f"the expected calls were made, among {among}{f'; {none}' if none else ''}"


def _evidence(lines: Sequence[str]) -> str:
    """The first lines, as many as have room."""
    kept, room = [], EVIDENCE_LIMIT
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept)

