"""Keys that are known by their shape, in whatever variable they are, or in none.

Only kinds with a prefix of their own, or that stand where nothing but a key does (a header). Each has markers, which
are looked for; where one is found, the pattern decides. What looks alike and stays: digests (`3f2a…`, `sha512-…`),
images in base64, UUIDs, class names (`sk-folding-cube`), placeholders without a digit (`Bearer YOUR_TOKEN`), public
keys and certificates. A private key of PEM is one of several lines, which may stand in JSON or code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

__all__ = ["Shapes", "shapes"]

_ALONE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
"""Not in the midst of a word: `\\n` before it is an escape, `%3D` as well."""
_DIGIT = rb"(?=[A-Za-z_-]{0,60}[0-9])"
_IS = rb"[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}[\"'\\]{0,4}"
"""Between a name and its value, in JSON, YAML and code."""

# Groups that are never tried again are written `(?>…*)`, not `…*+`: before Python 3.11.5 that goes wrong where the last
# try fails half way (CPython issue 106052), and lines of a key were left.
_BETWEEN = rb"(?:\s|\\{1,8}[nrt]|%0[AaDd]|[\"',>|]|\+(?=\s))"
"""Between two lines of a private key: in files, JSON, URLs, quoted mails, code that puts texts together."""
_GAP = rb"(?>" + _BETWEEN + rb"{1,40})"
_HEADER = rb"(?:(?>" + _BETWEEN + rb"{0,40})[A-Za-z-]{4,20}:[^\n\\]{1,100}(?=\s|\\))?"
_LINES = (
    3 * _HEADER + _GAP + rb"(?P<key>[A-Za-z0-9+/]{40,}+={0,2}(?>(?:" + _GAP + rb"[A-Za-z0-9+/]{16,}+={0,2})*)"
    rb"(?:" + _GAP + rb"[A-Za-z0-9+/=]{1,17}+(?=(?>" + _BETWEEN + rb"{0,40})(?:-----END|=|Private-MAC)))?)")
"""The headers of a private key, and its lines in base64, as far as they are there."""
_JOINTS = rb"\\+[nrt]?|%0[AaDd]|[^A-Za-z0-9/\\%]+"
"""What may differ where such a key is written."""


class _Shape:
    """A kind of key. The pattern is tried where a marker begins. The key is its group `key`, else all of it.

    It is compiled where a marker is met: most texts of most runs have none.
    """

    def __init__(self, kind: str, markers: tuple[bytes, ...], pattern: bytes) -> None:
        self._said, self._markers, self._written = f"[{kind} redacted]".encode(), markers, pattern

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        return re.compile(self._written)

    def finds(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        for marker in self._markers:
            at = data.find(marker)
            while at >= 0:
                match = self._pattern.match(data, at)
                if match is not None:
                    yield *match.span("key" if "key" in match.re.groupindex else 0), self._said
                at = data.find(marker, at + 1 if match is None else match.end())


_SHAPES = (
    _Shape("Anthropic key", (b"sk-ant-",), rb"sk-ant-" + _DIGIT + rb"[A-Za-z0-9_-]{20,400}"),
    _Shape("API key", (b"sk-",), _ALONE + rb"sk-(?:proj|svcacct|admin|or-v1|live|test)-" + _DIGIT
           + rb"[A-Za-z0-9_-]{20,400}"),
    _Shape("API key", (b"sk-",), _ALONE + rb"sk-(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{20,200}(?![A-Za-z0-9_-])"),
    _Shape("Vercel key", (b"vck_",), _ALONE + rb"vck_" + _DIGIT + rb"[A-Za-z0-9_-]{20,200}"),
    _Shape("Google key", (b"AIza",), _ALONE + rb"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_+/=-])"),
    _Shape("GitHub token", (b"ghp_", b"gho_", b"ghs_", b"ghu_", b"ghr_"), rb"gh[posur]_[A-Za-z0-9]{36,255}"),
    _Shape("GitHub token", (b"github_pat_",), rb"github_pat_[A-Za-z0-9_]{22,255}"),
    _Shape("GitLab token", (b"glpat-",), rb"glpat-" + _DIGIT + rb"[A-Za-z0-9_-]{20,200}"),
    _Shape("npm token", (b"npm_",), _ALONE + rb"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_])"),
    _Shape("Slack token", (b"xox",), _ALONE + rb"xox[abeoprs]-" + _DIGIT + rb"[A-Za-z0-9-]{20,300}"),
    _Shape("AWS key", (b"AKIA", b"ASIA"), _ALONE + rb"A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9+/=_-])"),
    _Shape("AWS secret", (b"ecret_access_key", b"ECRET_ACCESS_KEY", b"ecretAccessKey"),
           rb"\w{15,16}" + _IS + rb"(?P<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    _Shape("private key", (b"-----BEGIN ",),
           rb"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----" + _LINES),
    _Shape("private key", (b"Private-Lines:",), rb"Private-Lines: {0,4}\d{1,3}(?!\d)" + _LINES),
    _Shape("JWT", (b"eyJ",), _ALONE + rb"(?<![_-])eyJ[A-Za-z0-9_-]{10,4000}+\.eyJ[A-Za-z0-9_-]{10,20000}+"
           rb"\.[A-Za-z0-9_-]{16,2000}"),
    _Shape("token", (b"earer",), rb"(?<=[Bb])earer(?:\s|%20|\+){1,4}(?=[A-Za-z._~+/-]{0,60}[0-9])"
           rb"(?P<key>[A-Za-z0-9._~+/-]{16,4000}=*)"),
    _Shape("token", (b"uthorization", b"-api-key"),
           rb"[a-z-]{8,12}" + _IS + rb"(?i:basic\s|token\s)?(?=[A-Za-z_+/=-]{0,60}[0-9])"
           rb"(?P<key>[A-Za-z0-9_+/=-]{16,4000})(?![A-Za-z0-9._(\[])"),
)


class Shapes:
    """All kinds. `clean` replaces keys, but for those that are spared."""

    def clean(self, data: bytes, spared: Callable[[bytes], bool] = lambda key: False) -> bytes:
        done, at = [], 0
        for start, end, said in sorted(self._finds(data)):
            if start >= at and not spared(_plain(data[start:end])):
                done += [data[at:start], said]
                at = end
        return b"".join([*done, data[at:]]) if done else data

    def found(self, data: bytes) -> Iterator[bytes]:
        """All that has a key's shape; of several lines, without what stands between them."""
        return (_plain(data[start:end]) for start, end, _ in self._finds(data))

    def _finds(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        return (find for kind in _SHAPES for find in kind.finds(data))


def _plain(key: bytes) -> bytes:
    return re.sub(_JOINTS, b"", key) if b"\n" in key or b"\\" in key or b"%" in key else key


shapes = Shapes()
