"""Keeps keys off the disk and the screen: one redactor for whatever is written.

What is taken out:

* the values of the person's keys (`key_values`), in every form in which programs write a text (secret_forms.py). Of a
  long value, parts too: whoever cuts it, or folds its base64 into lines, leaves runs of it, and every run of
  `PROMISED` bytes (secret_finder.py) is found, with all of the value that stands on its two sides (what all keys of a
  kind begin with does not count);
* what has the shape of a key (secret_shapes.py), whosever it is.

What is promised of a stream: each line is cleaned as a whole. A value that a program splits over two lines leaves at
most `PROMISED` - 1 bytes of it on either side of the cut. Not seen: a value in an encoding of somebody's own (its
letters reversed, spaced out, or encrypted), and a part that is shorter than that.

A final tree is what is graded, and a test may well hold something that looks like a key. So of what has a mere shape
that stays in a tree (and in its transcript) what stood in the workspace before the agent came (`sparing`).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalkit.errors import EvalkitError
from evalkit.execute.secret_shapes import shapes
from evalkit.values import Value, evolve, field

if TYPE_CHECKING:
    from evalkit.execute.secret_finder import Finder

__all__ = ["KEY_VARIABLES", "Redactor", "key_values"]

KEY_VARIABLES = ("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
                 "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VERCEL_OIDC_TOKEN", "VERCEL_TOKEN",
                 "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN", "GH_TOKEN",
                 "BRAINTRUST_API_KEY")
"""Variables that hold nothing but keys."""
_SECRET_NAMES = ("_apikey", "_api_key", "_access_key", "_access_key_id", "_secret_key", "_private_key", "_signing_key",
                 "_token", "_secret", "_password", "_passwd", "_passphrase", "_credential", "_credentials")
"""How the names of other variables that hold keys end, with a `_` before the whole name."""
_PASSWORD_IN_URL = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@"
SHORTEST = 8
"""A shorter value is no key; replacing it would only garble texts."""
_GUESSED = 12
"""Characters that a value needs to be taken for a key because of its variable's name."""


def key_values(environ: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """The values that are keys, by what they are called. named: variables that a project calls secret.

    A known or named variable's value counts from 8 characters on: a shorter one would only garble texts. Any other
    variable counts if its name ends as those of keys do (`…_API_KEY`, `…_TOKEN`, `…_SECRET`, `…_PASSWORD`, …) and its
    value looks like none of the words, paths and addresses that such variables hold as well: at least 12 characters,
    no blanks, no path, 8 different characters, and a digit or both small and capital letters. A password within an
    address (`postgres://me:PASSWORD@host`) counts by the same rule, in whatever variable.
    """
    found: dict[str, str] = {}
    sure = [*KEY_VARIABLES, *named]
    for name in [*sure, *(name for name in environ if name not in sure)]:
        value = environ.get(name, "").strip()
        if name in sure or (_sounds_secret(name) and _is_random(value)):
            if len(value) >= SHORTEST:
                found[name] = value
        elif "://" in value and (address := re.match(_PASSWORD_IN_URL, value)) and _is_random(address[1]):
            found[f"{name} password"] = address[1]
    return found


def _sounds_secret(name: str) -> bool:
    """Whether a variable's name ends as those of keys do; a number may stand behind it."""
    numbered = name.rstrip("0123456789")
    kind = numbered[:-1] if numbered != name and numbered.endswith("_") else name
    return f"_{kind}".casefold().endswith(_SECRET_NAMES)


def _is_random(value: str) -> bool:
    if len(value) < _GUESSED or len(set(value)) < 8 or value.startswith(("/", "~", "./")) or "://" in value:
        return False
    if any(char.isspace() for char in value):
        return False
    return any(char.isdigit() for char in value) or not (value.islower() or value.isupper())


class Redactor(Value):
    """Replaces keys by `[NAME redacted]`.

    replacements: what is looked for; what is put in its place; how many bytes of it are no secret by themselves.
    """

    replacements: tuple[tuple[bytes, bytes, int], ...] = field(repr=False)
    _spared: Callable[[], Iterable[bytes]] = field(default=tuple, repr=False, eq=False)

    @classmethod
    def of(cls, environ: Mapping[str, str], named: Iterable[str] = ()) -> Redactor:
        """The redactor of an environment. named: variables that the project calls secret."""
        values = key_values(environ, named)
        if not values:
            return cls(())
        from evalkit.execute.secret_forms import forms, public_part

        found: dict[bytes, tuple[bytes, int]] = {}
        for name, value in values.items():
            said = f"[{name} redacted]".encode("utf-8", "replace")
            public = public_part(value) / len(value)
            for form in forms(value):
                found.setdefault(form, (said, math.ceil(public * len(form))))
        return cls(tuple(sorted((form, *rest) for form, rest in found.items())))

    @cached_property
    def _finder(self) -> Finder:
        from evalkit.execute.secret_finder import Finder

        return Finder.of(self.replacements)

    @cached_property
    def _known(self) -> frozenset[bytes]:
        """What has the shape of a key, and is none of ours to hide."""
        return frozenset(key for data in self._spared() for key in shapes.found(data))

    def also(self, name: str, value: str) -> Redactor:
        """One that takes out one more value."""
        more = Redactor.of({name: value}, [name]).replacements
        return evolve(self, replacements=tuple(sorted({*self.replacements, *more})))

    def sparing(self, spared: Callable[[], Iterable[bytes]]) -> Redactor:
        """One that leaves alone what has a key's shape and stands in these data. They are read when it is asked for."""
        return evolve(self, _spared=spared)

    def clean(self, data: bytes) -> bytes:
        return shapes.clean(self.values(data), lambda key: key in self._known)

    def values(self, data: bytes) -> bytes:
        """The data without the values of known keys alone."""
        return self._finder.clean(data) if self.replacements else data

    def text(self, text: str) -> str:
        """A text without keys; half a surrogate pair becomes U+FFFD, so that it can be written."""
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")

    def plain_data(self, value: Any) -> Any:
        """Data as JSON has them, with every text cleaned, the names of fields too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.plain_data(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain_data(item) for item in value]
        return value

    def error(self, error: EvalkitError) -> EvalkitError:
        """The same error, with its message and hint cleaned."""
        error.message, error.hint = self.text(error.message), self.text(error.hint)
        error.args = (error.message, *error.args[1:])
        return error

    def fingerprint(self, salt: str) -> str:
        """Which values are known, as a digest that tells none of them; "" where there are none."""
        parts = b"\0".join(value for value, _, _ in self.replacements)
        return hashlib.sha256(salt.encode() + parts).hexdigest() if parts else ""
