"""`fourhop view`: a trace on a page."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.view import Server

SHOWN_S = 10.0
"""Seconds of a scenario to run, unless flows begin later."""


def command(
    path: Annotated[
        Path | None,
        Argument(
            metavar="DIR|FILE",
            help="A trace that `run --trace DIR` wrote, or a scenario to run; not needed with --live.",
        ),
    ] = None,
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Write the page with its trace to one file and exit.")
    ] = None,
    live: Annotated[
        bool,
        Option(
            "--live",
            help="Follow the last minute of a running emulation: the one that traces into DIR, or the only one that "
            "traces.",
        ),
    ] = False,
    port: Annotated[int, Option(metavar="N", help="Port on 127.0.0.1; default: a free one.")] = 0,
    open_: Annotated[bool, Option("--open/--no-open", help="Open the page in your browser.")] = True,
    seed: Annotated[int | None, Option(metavar="N", help="With FILE: seed of the run.")] = None,
    set_: common.Set = None,
    transport: common.Transport = None,
    duration: common.Duration = None,
) -> None:
    """Show a run: a map, time lines of all nodes, a sequence diagram and plots, on one page.

    A scenario runs for 10 s, or longer if a flow begins later; `--duration 60s` runs longer. The page is
    served on 127.0.0.1 until Ctrl-C; with --html it is one file that you can share.
    """
    with common.errors():
        from fourhop.errors import FourhopError
        from fourhop.view import Blobs, Server, Tables, write

        common.one_of(html=html is not None, live=live)
        if live:
            from fourhop.view.live import Live

            folder = _followed(path)
            _serve(Server(None, port, Live(folder, folder.name)), open_)
            return
        if path is None:
            raise FourhopError("DIR|FILE: name a trace or a scenario, or use --live")
        with tempfile.TemporaryDirectory(prefix="fourhop-view-") as scratch:
            if path.is_file() or path == common.STDIN:
                folder = _run(path, Path(scratch), seed, set_, transport, duration)
            elif seed is not None or set_ or transport or duration:
                raise FourhopError(
                    f"--seed, --set, --transport, --duration: found with the trace {path}, allowed: with a scenario"
                )
            else:
                folder = path
            blobs = Blobs(Tables(folder), title=path.stem if path.is_file() else path.name)
            if html is not None:
                echo(f"page: {write(blobs, html)}")
            else:
                _serve(Server(blobs, port), open_)


def _followed(path: Path | None) -> Path:
    """The folder of a trace in progress: the one named, or that of the running emulation."""
    from fourhop.errors import FourhopError
    from fourhop.view import Tables

    if path is None:
        from fourhop.emulation import traced

        path = traced()
    elif path.is_file():
        raise FourhopError(f"--live: {path} is a file: name the folder of a running trace")
    Tables(path)
    return path


def _run(
    file: Path, scratch: Path, seed: int | None, set_: list[str] | None, transport: str | None, duration: str | None
) -> Path:
    """Run a scenario with a trace, and return its folder."""
    from fourhop.cli.display import Display
    from fourhop.runner import run

    scenario = common.load(file, set_, transport, duration)
    if not any(each.replace(" ", "").startswith("duration=") for each in set_ or ()) and duration is None:
        # The warm-up affects only measurements, not the view, and may be longer than `shown_s`.
        shown_s = min(max(SHOWN_S, scenario.last_start_s + 1.0), scenario.duration_s)
        scenario = scenario.with_(duration=f"{shown_s:.9f}s", warmup="0s")
    with Display() as display:
        run(scenario, 1, seed, progress=display.update, trace=scratch)
    return scratch


def _serve(server: Server, open_: bool) -> None:
    """Serve until Ctrl-C."""
    common.say(f"page: {server.address} (Ctrl-C ends it)")
    if open_:
        import webbrowser

        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
