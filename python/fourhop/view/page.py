"""The page: as a file with a trace inside, or empty for the server."""

from __future__ import annotations

import base64
import gzip
import html
from functools import partial
from importlib import resources
from pathlib import Path

from fourhop.errors import FourhopError
from fourhop.store import replace
from fourhop.view.blobs import Blobs

MOST_BYTES = 40_000_000
"""What a page may hold: a browser reads it as one text before it shows anything."""


def empty(*, live: bool = False) -> str:
    """The page without a trace, which it asks the server for."""
    page = resources.files("fourhop.view").joinpath("page.html").read_text(encoding="utf-8")
    return page.replace("<html ", '<html data-live="yes" ', 1) if live else page


def filled(blobs: Blobs) -> str:
    """The page with all of a trace inside.

    Raises `FourhopError` if that is too much.
    """
    parts, size = [], 0
    for name in ["head", *blobs.names()]:
        # Without a time, so that the same trace makes the same page.
        packed = base64.b64encode(gzip.compress(blobs.get(name), 9, mtime=0)).decode("ascii")
        size += len(packed)
        if size > MOST_BYTES:
            raise FourhopError(
                f"--html: found a trace of more than {MOST_BYTES // 1_000_000} MB as a page, allowed: less; record "
                "a shorter time, fewer nodes or fewer flows, or open the folder without --html"
            )
        parts.append(f'<script type="text/plain" id="blob-{html.escape(name)}">{packed}</script>')
    return empty().replace("<!--DATA-->", "\n".join(parts), 1)


def write(blobs: Blobs, path: Path) -> Path:
    """Write the page with all of a trace inside, and return its path."""
    replace(path, partial(_write, filled(blobs)))
    return path


def _write(text: str, aside: Path) -> None:
    aside.write_text(text, encoding="utf-8")
