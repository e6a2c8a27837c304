"""Parquet files that contain their own checksum, so that damage by a disk is noticed.

The checksum (SHA-256) is stored in the file's own description and covers every byte of the file, with zeros in its
place.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

CHECKSUM = "sha256"
"""Key of the checksum in the description."""

EMPTY = "0" * 64
"""Placeholder until the file is sealed."""

_FIELD = f'"{CHECKSUM}": "'.encode()
_CHUNK = 1 << 20
# A Parquet file ends with its footer, the length of the footer in four bytes, and four more.
_END = 8


def seal(path: Path) -> None:
    """Write the checksum into a file whose description has `EMPTY` as its `CHECKSUM`."""
    with path.open("r+b") as file:
        at = _place(file)
        assert at is not None, "written without a place for it"
        digest = _digest(file, at)
        file.seek(at)
        file.write(digest)


def is_whole(file: BinaryIO) -> bool:
    """Whether every byte is unchanged since `seal`. Raises `OSError` if the file cannot be read.

    Takes an open file, not a path, as another process may replace the file of that name at any time.
    """
    at = _place(file)
    if at is None:
        return False
    file.seek(at)
    written = file.read(len(EMPTY))
    return written == _digest(file, at)


def _place(file: BinaryIO) -> int | None:
    """Offset of the checksum, which occurs once, in the footer."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END))
    length = int.from_bytes(file.read(4), "little")
    begin = size - _END - length
    if begin < 0:
        return None
    file.seek(begin)
    footer = file.read(length)
    at = footer.find(_FIELD)
    return None if at < 0 or at != footer.rfind(_FIELD) else begin + at + len(_FIELD)


def _digest(file: BinaryIO, at: int) -> bytes:
    """Compute the checksum of a file that stores it at `at`."""
    digest = hashlib.sha256()
    for begin, length in ((0, at), (at + len(EMPTY), None)):
        if begin:
            digest.update(EMPTY.encode())
        file.seek(begin)
        while chunk := file.read(_CHUNK if length is None else min(_CHUNK, length)):
            digest.update(chunk)
            length = None if length is None else length - len(chunk)
    return digest.hexdigest().encode()
