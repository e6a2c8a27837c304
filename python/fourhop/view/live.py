"""`fourhop view --live`: the last minute of a trace in progress, pushed over a WebSocket (RFC 6455).

A binary message is one piece of the trace: the length of its name (32 bits, little endian), the name, its bytes. A text
message is the new `head`, sent after the pieces that it describes. Each update computes the spans since the last one,
and the small tables. The page sends nothing; when it is closed, writing fails.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import polars as pl

from fourhop.errors import FourhopError
from fourhop.view.blobs import Blobs
from fourhop.view.tables import Tables

KEEP_NS = 60_000_000_000
"""Length of the time shown."""
_EVERY_S = 0.25
_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""RFC 6455 section 1.3."""
_TEXT, _BINARY, _CLOSE = 0x1, 0x2, 0x8
_SMALL = ("tcp", "queues", "routes", "positions", "events", "overview")
_SPANS = ("frames", "receptions", "mac", "packets")


class Live:
    """Follows the trace in a folder, for every page that connects."""

    def __init__(self, folder: Path, title: str = "") -> None:
        self._folder = folder
        self._title = title

    def __call__(self, request: BaseHTTPRequestHandler) -> None:
        """Push updates until the page is closed or the trace is complete."""
        key = request.headers.get("Sec-WebSocket-Key")
        if key is None:
            request.send_error(400, "a WebSocket is expected here")
            return
        accepted = base64.b64encode(hashlib.sha1(key.encode() + _KEY, usedforsecurity=False).digest())
        request.wfile.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            + accepted + b"\r\n\r\n"
        )  # fmt: skip
        sent, seen = -1, None
        while True:
            try:
                tables = Tables(self._folder)
                newest = [] if tables.find("mac") is None else tables.files("mac")[-1:]
                if newest and newest != seen:
                    blobs = Blobs(tables, title=self._title, keep_ns=KEEP_NS)
                    for message in pushed(blobs, sent):
                        request.wfile.write(message)
                    sent, seen = blobs.span[1], newest
                if tables.meta.get("complete"):
                    request.wfile.write(frame(_CLOSE, struct.pack(">H", 1000)))
                    return
            except (FourhopError, pl.exceptions.PolarsError, FileNotFoundError):
                # The oldest folder was removed while it was read; try again with the next update.
                pass
            time.sleep(_EVERY_S)


def pushed(blobs: Blobs, since_ns: int) -> list[bytes]:
    """The messages that update a page that has the trace until `since_ns`."""
    head = blobs.head()
    kept = [at for at, rows in enumerate(head["chunks"]["rows"]) if rows and blobs.span_of(at)[1] >= since_ns]
    names = [f"{name}-{at}" for at in kept for name in _SPANS]
    # `frames` is last, as it makes the page read the span again.
    names.sort(key=lambda name: name.startswith("frames"))
    messages = []
    for name in (*_SMALL, *names):
        label = name.encode()
        messages.append(frame(_BINARY, struct.pack("<I", len(label)) + label + blobs.get(name)))
    messages.append(frame(_TEXT, blobs.get("head")))
    return messages


def frame(code: int, body: bytes) -> bytes:
    """A server's message as a single frame, RFC 6455 section 5.2.

    >>> frame(0x1, b"Hello").hex(" ")
    '81 05 48 65 6c 6c 6f'
    """
    size = len(body)
    if size < 126:
        length = struct.pack(">B", size)
    elif size < 1 << 16:
        length = struct.pack(">BH", 126, size)
    else:
        length = struct.pack(">BQ", 127, size)
    return bytes([0x80 | code]) + length + body
