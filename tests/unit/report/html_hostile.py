"""A run whose only trial tries to run something where it is read: in each text that an agent, a tool or a file sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.report_runs import Made, make_run
from evalkit.execute.pack import pack
from evalkit.records import read_record, write_record
from evalkit.report.result import TrialResult
from evalkit.values import evolve

__all__ = ["HOSTILE", "KEY", "hostile_run"]

KEY = "vck_a-dummy-key-0123456789-that-must-not-show-up"
RUN = "window.pwned=(window.pwned||0)+1"
HOSTILE = [
    f"<script>{RUN}</script>", f"</script><script>{RUN}</script>", f"</SCRIPT ><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>", f"<svg/onload={RUN}>", f"<!--<script>{RUN}//-->", f"]]><script>{RUN}</script>",
    f'"><iframe srcdoc="<script>parent.{RUN}</script>">', f"'-({RUN})-'", f"${{{RUN}}}", f"{{{{ {RUN} }}}}",
    f"javascript:{RUN}", f"*/{RUN}/*", f"\\u003cscript>{RUN}</script>", "<style>*{display:none!important}</style>",
    "<base href=https://evil.invalid/>", "<meta http-equiv=refresh content='0;url=https://evil.invalid/'>",
    "<link rel=stylesheet href=https://evil.invalid/x.css>",
    "<form action=https://evil.invalid><input name=a autofocus>", f"\u2028{RUN}\u2029",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x00 \x7f \x9b31m", "abc\u202egnp.exe \u2066hidden\u2069 a\u200bb",
    "x" * 300_000, "```html\n<script>" + RUN + "</script>\n", "&lt;b&gt; &amp;", "\r\n\r over \r",
    "\U0001f600 é \U000e0041",
]
"""Texts, by what they try."""


def hostile_run(root: Path) -> Made:
    """The run, on the disk."""
    made = make_run(root, 1)
    (result,) = made.folder.rglob("result.json")
    folder, evil = result.parent, "\n".join(text[:2_000] for text in HOSTILE)
    with (folder / "transcript.jsonl").open("wb") as file:
        for line in _lines():
            file.write(json.dumps(line).encode() + b"\n")
        file.write(b'{"type":"assistant","message":{"content":[{"type":"text","text":"\xff\xfe not UTF-8"}]}}\n')
        file.write(b"\xff\x00<script>" + RUN.encode() + b"</script>\n")
    tree = root / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src/page.html").write_text(f"<!doctype html>\n{evil}\n", encoding="utf-8")
    (tree / "src/bytes.txt").write_bytes(b"\xff\xfe\xfd no UTF-8 <script>" + RUN.encode() + b"</script>\n")
    (tree / f"<img src=x onerror={RUN}>.js").write_text("1\r\n", encoding="utf-8")
    (tree / "two\nlines\t.txt").write_text("1\n", encoding="utf-8")
    (tree / "binary").write_bytes(b"\0\1\2")
    (tree / "one-line.js").write_text("y" * 400_000, encoding="utf-8")
    pack(tree, folder / "workspace.tar.zst")
    (folder / "screenshots/svg.png").write_text(f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'/>")
    found = read_record(result, TrialResult)
    checks = tuple(evolve(check, description=HOSTILE[0], verdict=evolve(
        check.verdict, summary=HOSTILE[1], evidence=evil, status="fail")) for check in found.checks)
    write_record(result, evolve(
        found, agent=f"command:sh -c {HOSTILE[3]}", model=HOSTILE[7], checks=checks, reason=HOSTILE[1], note=HOSTILE[2],
        status="fail", versions={HOSTILE[0]: HOSTILE[1]}, left_out=(HOSTILE[3],), tier=HOSTILE[4], audit=None,
        ending=evolve(found.ending, detail=HOSTILE[0], notes=(HOSTILE[1],))), sync=False)
    return made


def _lines() -> Iterator[dict[str, Any]]:
    yield {"type": "system", "subtype": "init", "cwd": f"/work/{HOSTILE[0]}", "model": HOSTILE[0], "tools": []}
    for number, text in enumerate(HOSTILE):
        yield _said(f"m{number}", {"type": "thinking" if number % 5 == 4 else "text", "text": text, "thinking": text})
        call = {"command": text, HOSTILE[0]: text, "__proto__": {"polluted": text}, "constructor": text, "n": [1, None]}
        name = ("Bash", "Edit", f"mcp__{text[:40]}", "Write", "Read")[number % 5]
        if name in ("Edit", "Write"):
            call = {"file_path": text[:300], "old_string": text, "new_string": text + "!", "content": text}
        yield _said(f"c{number}", {"type": "tool_use", "id": f"t{number}", "name": name, "input": call})
        yield {"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": f"t{number}", "content": text, "is_error": number % 3 == 0}]}}
    yield _said("s", {"type": "text", "text": "half a pair: \ud800 and \udc00"})
    yield {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": HOSTILE[0]}]}}
    yield {"type": "result", "subtype": HOSTILE[0], "is_error": True, "num_turns": 1, "result": HOSTILE[1]}


def _said(name: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": name, "role": "assistant", "content": [content],
                                             "usage": {"input_tokens": 1, "output_tokens": 1}}}
