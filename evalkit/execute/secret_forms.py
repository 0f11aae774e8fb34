"""The forms in which programs write a text: as it is, escaped, encoded."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote

__all__ = ["forms", "public_part"]

_PUBLIC = (r"sk-ant-(?:[a-z0-9]+-)?|sk-(?:proj|svcacct|admin|or-v1|live|test)-|sk-|vck_|AIza|gh[pousr]_"
           r"|github_pat_|glpat-|npm_|xox[a-z]-|AKIA|ASIA|eyJhbGciOi")
"""What the keys of a kind begin with: no secret, and in many texts."""
_LEVELS = 3
"""Texts within texts: a tool's JSON output is a text of a transcript's JSON."""
_SHORTEST = 8
_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_QUOTES = _IN_HTML | str.maketrans({'"': "&quot;", "'": "&#x27;"})
_URL_SAFE = ("", "/", "!*'()~", "-_.!~*'()", ":/@")
"""What the encoders of several languages leave as it is."""


def public_part(value: str) -> int:
    """How many characters at the beginning of a key all keys of its kind have; 0 where too little would be left."""
    public = re.match(_PUBLIC, value)
    return public.end() if public and len(value) - public.end() >= 2 * _SHORTEST else 0


def forms(value: str) -> list[bytes]:
    """A value as it is, as JSON has it (also as a text within a text, and with what some writers escape beside), in
    HTML, in a shell's quotes, in URLs (hex digits in both cases, also twice), in hex, and within a base64 text."""
    raw = value.encode("utf-8", "surrogateescape")
    found = [raw]
    for ascii_only in (True, False):
        level = value
        for _ in range(_LEVELS):
            level = json.dumps(level, ensure_ascii=ascii_only)[1:-1]
            found.append(_bytes(level))
            found.append(_bytes(level.replace("/", "\\/")))
            angled = level
            for char in "<>&":
                angled = angled.replace(char, f"\\u{ord(char):04x}")
            found.append(_bytes(angled))
    found += [_bytes(value.translate(_IN_QUOTES)), _bytes(value.translate(_IN_HTML)),
              _bytes(value.replace("'", "'\"'\"'")), _bytes(value.replace("'", "'\\''"))]
    for safe in _URL_SAFE:
        once = quote(raw, safe=safe)
        for text in (once, quote(once, safe=safe)):
            found += [text.encode(), re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text).encode()]
    found += [raw.hex().encode(), raw.hex().upper().encode()]
    for data in dict.fromkeys((raw, found[1])):
        found += _base64(data)
    return [form for form in dict.fromkeys(found) if len(form) >= _SHORTEST]


def _base64(raw: bytes) -> list[bytes]:
    """Within a longer base64 text a value has three shapes, by its offset modulo 3, in two alphabets.

    The ends of each are shared with the neighbours and are cut off.
    """
    found = []
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + raw)
        shared = (0, 3, 2)[(offset + len(raw)) % 3]
        inner = coded[(0, 2, 3)[offset] : len(coded) - shared]
        found += [inner, inner.translate(bytes.maketrans(b"+/", b"-_")), inner.replace(b"/", b"\\/")]
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
