"""The server of `fourhop view`: the page and the pieces of one trace, only for browsers on this machine.

A request must name this machine as its host, so a foreign page that reaches this port under another name (DNS
rebinding) gets nothing.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from fourhop.view import page
from fourhop.view.blobs import Blobs

HOST = "127.0.0.1"
_OURS = (HOST, "localhost")
_POLICY = (
    "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self' ws:"
)

Upgrade = Callable[[BaseHTTPRequestHandler], None]
"""Takes over the connection of a request that asks for a WebSocket."""


class Server(ThreadingHTTPServer):
    """Serves one trace on a port of 127.0.0.1; 0 chooses a free one."""

    daemon_threads = True

    def __init__(self, blobs: Blobs | None, port: int = 0, live: Upgrade | None = None) -> None:
        self.blobs = blobs
        self.live = live
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a page that was closed while loading; report anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The page's address."""
        return f"http://{HOST}:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the page, a piece of the trace, or the stream of a live one."""
        if (self.headers.get("Host") or "").rpartition(":")[0] not in _OURS:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"this server answers only requests from this machine\n")
            return
        path = unquote(self.path.partition("?")[0])
        if path == "/":
            self._answer(
                HTTPStatus.OK, "text/html; charset=utf-8", page.empty(live=self.server.live is not None).encode()
            )
        elif path == "/live" and self.server.live is not None:
            self.close_connection = True
            with contextlib.suppress(ConnectionError):
                self.server.live(self)
        elif path.startswith("/data/") and self.server.blobs is not None:
            try:
                body = self.server.blobs.get(path.removeprefix("/data/"))
            except KeyError:
                self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"there is no such piece of this trace\n")
            else:
                self._answer(HTTPStatus.OK, "application/octet-stream", body)
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"not found\n")

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests are of no interest."""
