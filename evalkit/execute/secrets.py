"""Keeps keys off the disk and the screen: knows their values, and takes them out of whatever is written."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from urllib.parse import quote

from attrs import field, frozen

__all__ = ["KEY_VARIABLES", "Redactor"]

KEY_VARIABLES = ("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
                 "OPENAI_API_KEY", "GEMINI_API_KEY", "VERCEL_OIDC_TOKEN", "VERCEL_TOKEN")
_SHORTEST = 8
"""A shorter value is no key; replacing it would only garble texts."""


@frozen
class Redactor:
    """Replaces every known key, also as JSON, URL or base64 has it, by `[NAME redacted]`."""

    replacements: tuple[tuple[bytes, bytes], ...] = field(repr=False)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Redactor:
        found: dict[bytes, bytes] = {}
        for name in KEY_VARIABLES:
            value = environ.get(name, "").strip()
            if len(value) < _SHORTEST:
                continue
            said = f"[{name} redacted]".encode()
            raw = value.encode("utf-8", "surrogateescape")
            forms = [raw, _json(value, ascii_only=True), _json(value, ascii_only=False), quote(raw, safe="").encode()]
            # Within a longer base64 text a value has three shapes, by its offset modulo 3; the ends of each are shared
            # with the neighbours and are cut off.
            for offset in range(3):
                coded = base64.b64encode(b"\0" * offset + raw)
                shared = (0, 3, 2)[(offset + len(raw)) % 3]
                inner = coded[(0, 2, 3)[offset] : len(coded) - shared]
                forms += [inner, inner.translate(bytes.maketrans(b"+/", b"-_"))]
            for form in forms:
                if len(form) >= _SHORTEST:
                    found.setdefault(form, said)
        ordered = sorted(found.items(), key=lambda item: -len(item[0]))
        return cls(tuple(ordered))

    def clean(self, data: bytes) -> bytes:
        for value, said in self.replacements:
            if value in data:
                data = data.replace(value, said)
        return data

    def text(self, text: str) -> str:
        """A text without keys; half a surrogate pair becomes U+FFFD, so that it can be written."""
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def _json(value: str, *, ascii_only: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogateescape")
