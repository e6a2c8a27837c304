"""The page: a file with a trace inside, or empty for the server."""

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
"""Largest size of a page: a browser reads all of it before it shows anything."""

_SAMPLED = 40
"""Number of pieces from which the size of a page is estimated."""


def empty(*, live: bool = False) -> str:
    """The page without a trace, which it requests from the server."""
    page = resources.files("fourhop.view").joinpath("page.html").read_text(encoding="utf-8")
    return page.replace("<html ", '<html data-live="yes" ', 1) if live else page


def filled(blobs: Blobs) -> str:
    """The page with a whole trace inside.

    Raises `FourhopError` if the trace is too large.
    """
    names = ["head", *blobs.names()]
    packed: dict[str, str] = {}
    # A few spans are enough to detect a trace that is much too large.
    spans = [name for name in names if name[-1].isdecimal()]
    for name in (sampled := spans[:: max(1, len(spans) // _SAMPLED) | 1]):
        packed[name] = _packed(blobs, name)
    size = sum(map(len, packed.values()))
    guess = size * len(spans) // max(1, len(sampled))
    if guess > 1.5 * MOST_BYTES:
        raise _too_large(f"about {guess / 1e6:.0f} MB")
    for name in names:
        if name not in packed:
            packed[name] = _packed(blobs, name)
            size += len(packed[name])
        if size > MOST_BYTES:
            raise _too_large(f"more than {MOST_BYTES / 1e6:.0f} MB")
    parts = [f'<script type="text/plain" id="blob-{html.escape(name)}">{packed[name]}</script>' for name in names]
    return empty().replace("<!--DATA-->", "\n".join(parts), 1)


def _packed(blobs: Blobs, name: str) -> str:
    # Without a timestamp, so that the same trace makes the same page.
    return base64.b64encode(gzip.compress(blobs.get(name), 9, mtime=0)).decode("ascii")


def _too_large(found: str) -> FourhopError:
    return FourhopError(
        f"--html: the trace has {found}, too large for one file ({MOST_BYTES / 1e6:g} MB). Serve it instead: "
        "fourhop view DIR. Or record a shorter time, fewer nodes or fewer flows"
    )


def write(blobs: Blobs, path: Path) -> Path:
    """Write the page with a whole trace inside, and return its path."""
    replace(path, partial(_write, filled(blobs)))
    return path


def _write(text: str, temporary: Path) -> None:
    temporary.write_text(text, encoding="utf-8")
