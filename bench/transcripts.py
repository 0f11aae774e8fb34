"""How fast transcripts are read, against decoding each line with orjson; and whether memory stays the same.

    python bench/transcripts.py [--mb 100] [--repeat 3] [--json FILE] [--keep DIR]

It writes Claude-Code-like streams of a tenth of that size and of that size: small deltas of partial messages, messages
that repeat their usage on each of their lines, tool results of some kB, denials in the last line. The larger one is
also written as one JSON array. A third stream of the larger size, `turns`, has short lines without deltas, each of
which tells something: a text, a call, its result. Each measure is a fresh process; the measures take turns, and the
least CPU of the repeats counts, as noise only ever adds. Exit status 1 where a target does not hold:

* all events of the larger file take at most 3 times the CPU of `orjson.loads` on each of its lines; so do those of
  `turns`,
* the peak of memory is at most 4 MB more than for the smaller file.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

MOST_TIMES = 3.0
MOST_MB = 4.0
_MB = 1 << 20 if sys.platform == "darwin" else 1 << 10
WORDS = ("the card moves between columns and keeps what is known about it while views are drawn again from the model "
         "const update = (state) => ({ ...state, items: state.items.map(next) }); \"quoted\" \\ path/to/file.ts é €\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure reading transcripts.")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--keep", type=Path, help="write the transcripts here and leave them")
    parser.add_argument("--child", nargs=2, metavar=("HOW", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_measure(options.child[0], Path(options.child[1]))))
        return 0
    folder = options.keep or Path(tempfile.mkdtemp(prefix="evalkit-bench-"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _compare(options, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder)


def _compare(options: argparse.Namespace, folder: Path) -> int:
    small, large, array, turns = (folder / name for name in ("small.jsonl", "large.jsonl", "large.json", "turns.jsonl"))
    _write(small, options.mb << 20, tenth=True)
    _write(large, options.mb << 20)
    _write(turns, options.mb << 20, deltas=False)
    with large.open("rb") as lines, array.open("wb") as out:
        for number, line in enumerate(lines):
            out.write((b",\n" if number else b"[\n") + line.rstrip(b"\n"))
        out.write(b"\n]\n")
    plan = [("orjson", large), ("events", small), ("events", large), ("events", array), ("json", large),
            ("orjson", turns), ("events", turns)]
    found: dict[tuple[str, str], dict[str, float]] = {}
    for _ in range(options.repeat):
        for how, path in plan:
            told = json.loads(subprocess.run([sys.executable, __file__, "--child", how, str(path)], check=True,
                                             stdout=subprocess.PIPE).stdout)
            best = found.setdefault((how, path.name), told)
            best["cpu"], best["mb"] = min(best["cpu"], told["cpu"]), max(best["mb"], told["mb"])
    for (how, name), cost in found.items():
        base = found["orjson", turns.name if name == turns.name else large.name]["cpu"]
        size = (folder / name).stat().st_size / (1 << 20)
        print(f"{how:8} {name:12} {size:6.1f} MB  {cost['cpu'] * 1000:7.0f} ms CPU  {size / cost['cpu']:6.0f} MB/s  "
              f"{cost['cpu'] / base:5.2f} x orjson  peak {cost['mb']:5.1f} MB  {int(cost['count']):,}")
    times, short = (found["events", path.name]["cpu"] / found["orjson", path.name]["cpu"] for path in (large, turns))
    growth = found["events", large.name]["mb"] - found["events", small.name]["mb"]
    targets = [(times <= MOST_TIMES, f"events take {times:.2f} times orjson's CPU (at most {MOST_TIMES:g})"),
               (short <= MOST_TIMES, f"short lines take {short:.2f} times orjson's CPU (at most {MOST_TIMES:g})"),
               (growth <= MOST_MB, f"ten times the size takes {growth:.1f} MB more (at most {MOST_MB:g})")]
    for holds, said in targets:
        print(f"{'holds ' if holds else 'MISSED'}  {said}")
    if options.json:
        options.json.write_text(json.dumps({f"{how} {name}": cost for (how, name), cost in found.items()}, indent=2))
    return 0 if all(holds for holds, _ in targets) else 1


def _measure(how: str, path: Path) -> dict[str, float]:
    """CPU seconds from before the file is opened to its end, the peak of memory, and how many things were read."""
    count = 0
    if how == "events":
        from evalkit.execute.transcripts import read_events

        began = time.process_time()
        for _ in read_events(path):
            count += 1
    else:
        import orjson

        loads = orjson.loads if how == "orjson" else json.loads
        began = time.process_time()
        with path.open("rb") as lines:
            for line in lines:
                loads(line)
                count += 1
    return {"cpu": time.process_time() - began, "count": count,
            "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MB}


# ---- what a transcript looks like ----
def _write(path: Path, size: int, *, tenth: bool = False, deltas: bool = True) -> None:
    """A stream of about so many bytes, or a tenth of them; the same each time."""
    size = size // 10 if tenth else size
    written = 0
    with path.open("w", encoding="utf-8") as out:
        for event in _events(deltas):
            line = json.dumps(event, ensure_ascii=False) + "\n"
            out.write(line)
            written += len(line.encode())
            if written >= size and event["type"] == "user":
                break
        out.write(json.dumps({"type": "result", "subtype": "success", "is_error": False, "num_turns": 9, "result": "",
                              "permission_denials": [{"tool_name": "Bash", "tool_use_id": "toolu_3"}]}) + "\n")


def _events(deltas: bool) -> Iterator[dict[str, object]]:
    """Turns without an end: deltas, a text and a call that repeat the message's usage, and the call's result.

    Without deltas, the texts are short as well.
    """
    most = 1 if deltas else 12
    chance = random.Random(7)
    yield {"type": "system", "subtype": "init", "cwd": "/home/dev/shop", "session_id": _uuid(chance), "tools": ["Bash"]}
    session = _uuid(chance)
    number = 0
    while True:
        number += 1
        usage = {"input_tokens": 8, "cache_creation_input_tokens": chance.randint(0, 2000), "output_tokens": 1,
                 "cache_read_input_tokens": chance.randint(9000, 90000), "service_tier": "standard"}
        message = {"id": f"msg_{number:024}", "type": "message", "role": "assistant", "model": "acme/small-1",
                   "stop_reason": None, "usage": usage}
        common = {"session_id": session, "parent_tool_use_id": None}

        def partial(event: dict[str, object], common: Mapping[str, object] = common) -> dict[str, object]:
            return {"type": "stream_event", "event": event, **common, "uuid": _uuid(chance)}

        if deltas:
            yield partial({"type": "message_start", "message": {**message, "content": []}})
        for _ in range(chance.randint(5, 40) if deltas else 0):
            yield partial({"type": "content_block_delta", "index": 0,
                           "delta": {"type": "text_delta", "text": _text(chance, chance.randint(5, 40))}})
        blocks = [{"type": "text", "text": _text(chance, chance.randint(50, 600))},
                  {"type": "tool_use", "id": f"toolu_{number}", "name": chance.choice(["Read", "Bash", "Edit"]),
                   "input": {"file_path": f"/home/dev/shop/src/{number}.ts", "command": "npm test",
                             "new_string": _text(chance, chance.randint(10, 2000) // most)}}]
        for block in blocks:
            yield {"type": "assistant", "message": {**message, "content": [block]}, **common, "uuid": _uuid(chance)}
        if deltas:
            yield partial({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
                           "usage": {"output_tokens": 90}})
        said = _text(chance, chance.randint(300, 9000) // most)
        yield {"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": said, "is_error": number % 9 == 0}]},
            **common, "uuid": _uuid(chance), "tool_use_result": {"stdout": said[: len(said) // 2]}}


def _text(chance: random.Random, size: int) -> str:
    begin = chance.randrange(len(WORDS))
    return (WORDS[begin:] + WORDS * (size // len(WORDS) + 1))[:size]


def _uuid(chance: random.Random) -> str:
    value = f"{chance.getrandbits(128):032x}"
    return "-".join((value[:8], value[8:12], value[12:16], value[16:20], value[20:]))


if __name__ == "__main__":
    sys.exit(main())
