"""`fourhop view`: a trace on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourhop.cli import common

if TYPE_CHECKING:
    from fourhop.view import Server


def command(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A trace, as `run --trace DIR` writes it.")],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with the trace inside, and end.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Follow the trace of an emulation that goes on: its last minute.")
    ] = False,
    port: Annotated[int, typer.Option(metavar="N", help="Port on 127.0.0.1; a free one if not given.")] = 0,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser of this desk.")] = True,
) -> None:
    """Show what happened: a map, time lines of all nodes, a sequence diagram and plots, on one page.

    The page is served on 127.0.0.1 until Ctrl-C; with --html it is a file that needs nothing else and can be given to
    others.
    """
    with common.errors():
        from fourhop.view import Blobs, Server, Tables, write

        common.one_of(html=html is not None, live=live)
        tables = Tables(path)
        if live:
            from fourhop.view.live import Live

            _serve(Server(None, port, Live(path)), open_)
        elif html is not None:
            typer.echo(f"page: {write(Blobs(tables), html)}")
        else:
            _serve(Server(Blobs(tables), port), open_)


def _serve(server: Server, open_: bool) -> None:
    """Until Ctrl-C."""
    common.say(f"page: {server.address} (Ctrl-C ends it)")
    if open_:
        import webbrowser

        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
