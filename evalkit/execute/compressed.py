"""Files compressed with zstd: small ones at once, large ones as a stream.

A stream does not know how much will come and makes room for megabytes; a file of some kilobytes, compressed or read at
once, takes a hundredth of the memory and of the time. Equal bytes come to equal files either way.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

__all__ = ["Compressed", "compress", "plain_bytes"]

_SMALL = 1 << 20
"""Bytes that are compressed, or decompressed, at once."""


def compress(data: bytes | memoryview) -> bytes:
    return _compressor().compress(data)


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=6, write_checksum=True)


class Compressed:
    """Compresses what is written into a file: at once where it is small, which takes a hundredth of the memory."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._held = io.BytesIO()
        self._stream: zstandard.ZstdCompressionWriter | None = None

    def write(self, data: bytes) -> int:
        if self._stream is None:
            self._held.write(data)
            if self._held.tell() > _SMALL:
                self._stream = _compressor().stream_writer(self._raw, closefd=False)
                self._stream.write(self._held.getbuffer())
                self._held = io.BytesIO()
        else:
            self._stream.write(data)
        return len(data)

    def __enter__(self) -> Compressed:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        if self._stream is not None:
            self._stream.close()  # type: ignore[no-untyped-call]
        else:
            self._raw.write(compress(self._held.getbuffer()))


@contextmanager
def plain_bytes(archive: Path) -> Iterator[Any]:
    """What a compressed file holds, to be read. Raises OSError and ZstdError."""
    descriptor = os.open(archive, os.O_RDONLY)
    with open(descriptor, "rb", buffering=0) as raw:  # noqa: PTH123
        if os.fstat(descriptor).st_size <= _SMALL:
            data = raw.read()
            if 0 < zstandard.frame_content_size(data) <= 2 * _SMALL:
                yield io.BytesIO(zstandard.ZstdDecompressor().decompress(data))
                return
            raw.seek(0)
        with zstandard.ZstdDecompressor().stream_reader(raw) as plain:
            yield plain
