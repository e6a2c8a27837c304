"""Parquet files that hold a checksum of themselves, so that one that a disk has damaged is noticed.

The checksum (SHA-256) stands in the file's own description and is taken over every byte of the file, with zeros in its
place.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

CHECKSUM = "sha256"
"""Key of the checksum in the description."""

EMPTY = "0" * 64
"""What stands there until the file is sealed."""

_FIELD = f'"{CHECKSUM}": "'.encode()
_CHUNK = 1 << 20
# A Parquet file ends with its footer, the length of the footer in four bytes, and four more.
_END = 8


def seal(path: Path) -> None:
    """Put the checksum into a file whose description has `EMPTY` as its `CHECKSUM`."""
    at = _place(path)
    assert at is not None, "written without a place for it"
    digest = _digest(path, at)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(digest)


def is_whole(path: Path) -> bool:
    """Whether every byte is as it was sealed. Raises `OSError` if the file is not there or cannot be read."""
    at = _place(path)
    if at is None:
        return False
    with path.open("rb") as file:
        file.seek(at)
        written = file.read(len(EMPTY))
    return written == _digest(path, at)


def _place(path: Path) -> int | None:
    """Where the checksum is: in the footer, once."""
    with path.open("rb") as file:
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


def _digest(path: Path, at: int) -> bytes:
    """The checksum of a file whose own is at `at`."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for begin, length in ((0, at), (at + len(EMPTY), None)):
            if begin:
                digest.update(EMPTY.encode())
            file.seek(begin)
            while chunk := file.read(_CHUNK if length is None else min(_CHUNK, length)):
                digest.update(chunk)
                length = None if length is None else length - len(chunk)
    return digest.hexdigest().encode()
