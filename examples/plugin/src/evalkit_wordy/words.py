"""The grader `words`: each file that it may read has at least `at-least` words."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.extend import Files, Verdict

VERSION = "1"


def grade(files: Files, settings: Mapping[str, str]) -> Verdict:
    wanted = int(settings.get("at-least", "1"))
    counts = {name: len(files.text(name).split()) for name in files.names}
    short = [name for name, count in counts.items() if count < wanted]
    evidence = "\n".join(f"{name}: {count} words" for name, count in counts.items())
    if short or not counts:
        return Verdict("fail", f"fewer than {wanted} words: {', '.join(short) or 'no file'}", evidence)
    return Verdict("pass", f"at least {wanted} words in each of {len(counts)} files", evidence)
