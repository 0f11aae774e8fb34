"""Keeps keys off the disk and the screen: knows their values, and takes them out of whatever is written."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from urllib.parse import quote

from attrs import frozen

__all__ = ["KEY_VARIABLES", "Redactor"]

KEY_VARIABLES = ("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
                 "OPENAI_API_KEY", "GEMINI_API_KEY", "VERCEL_OIDC_TOKEN", "VERCEL_TOKEN")
_SHORTEST = 8
"""A shorter value is no key; replacing it would only garble texts."""


@frozen
class Redactor:
    """Replaces every known key, also as JSON, URL or base64 has it, by `[NAME redacted]`."""

    replacements: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Redactor:
        found: dict[bytes, bytes] = {}
        for name in KEY_VARIABLES:
            value = environ.get(name, "").strip()
            if len(value) < _SHORTEST:
                continue
            said = f"[{name} redacted]".encode()
            forms = {value, json.dumps(value)[1:-1], quote(value, safe="")}
            for form in forms:
                found[form.encode()] = said
            # Within a longer base64 text a value has three shapes, by its offset modulo 3; the ends of each are shared
            # with the neighbours and are cut off.
            for offset in range(3):
                coded = base64.b64encode(b"\0" * offset + value.encode())
                inner = coded[(0, 2, 3)[offset] : len(coded) - 4]
                if len(inner) >= _SHORTEST:
                    found[inner] = said
        ordered = sorted(found.items(), key=lambda item: -len(item[0]))
        return cls(tuple(ordered))

    def clean(self, data: bytes) -> bytes:
        for value, said in self.replacements:
            if value in data:
                data = data.replace(value, said)
        return data

    def text(self, text: str) -> str:
        return self.clean(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
