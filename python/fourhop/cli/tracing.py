"""Traces on the command line: the options of `run` and `emulate`, and `fourhop trace`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Group, Option

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from fourhop.trace import Request

Folder = Annotated[Path | None, Option("--trace", metavar="DIR", help="Write all events as tables into this folder.")]
From = Annotated[str | None, Option("--trace-from", metavar="TIME", help="Start the trace at this time, such as 10s.")]
To = Annotated[str | None, Option("--trace-to", metavar="TIME", help="End the trace at this time.")]
Nodes = Annotated[
    str | None,
    Option("--trace-nodes", metavar="LIST", help="Trace only these nodes, by number or name, such as 0,3,n4."),
]
Flows = Annotated[
    str | None, Option("--trace-flows", metavar="LIST", help="Trace only these flows, by number or name, such as 0,2.")
]


@dataclass(frozen=True, slots=True)
class Traced:
    """The requested trace, and its output."""

    request: Request | None
    perfetto: Path | None
    scratch: TemporaryDirectory[str] | None

    def finish(self) -> None:
        """Write the outputs made from the trace, and print where everything is."""
        if self.request is None:
            return
        if self.perfetto is not None:
            to_perfetto(Path(self.request.folder), self.perfetto)
        if self.scratch is None:
            common.say(f"trace: {self.request.folder}")
        else:
            self.scratch.cleanup()


def request(
    folder: Path | None,
    start: str | None,
    end: str | None,
    nodes: str | None,
    flows: str | None,
    perfetto: Path | None = None,
    runs: int | None = None,
    precision: str | None = None,
) -> Traced:
    """The trace requested by these options. `common.errors` turns its exceptions into messages."""
    from fourhop.errors import FourhopError

    several = precision is not None or (runs is not None and runs > 1)
    if perfetto is not None and several:
        raise FourhopError("--perfetto: traces one run; leave out --runs and --precision")
    scratch = None
    if folder is None and perfetto is None:
        given = {"--trace-from": start, "--trace-to": end, "--trace-nodes": nodes, "--trace-flows": flows}
        for option, value in given.items():
            if value is not None:
                raise FourhopError(f"{option}: needs --trace")
        return Traced(None, None, None)
    from fourhop.trace import Request

    if folder is None:
        from tempfile import TemporaryDirectory

        scratch = TemporaryDirectory(prefix="fourhop-trace-")
        folder = Path(scratch.name)

    def words(listed: str | None) -> list[str] | None:
        return None if listed is None else [word.strip() for word in listed.split(",")]

    return Traced(Request(folder, start, end, words(nodes), words(flows)), perfetto, scratch)


def to_perfetto(folder: Path, file: Path) -> None:
    """Write the trace in `folder` into `file` for Perfetto. Raises errors that `common.errors` reports."""
    from fourhop import perfetto
    from fourhop.errors import FourhopError
    from fourhop.trace import Trace

    try:
        perfetto.write(Trace(folder), file)
    except OSError as error:
        raise FourhopError(f"{file}: cannot be written: {error}") from error
    common.say(f"for Perfetto: {file}")


app = Group(
    {"perfetto": f"{__name__}:perfetto_command", "tables": f"{__name__}:tables_command"},
    name="trace",
    help="Read a trace that `run --trace` wrote.",
    short_help="Read a trace that `run --trace` wrote.",
)
Dir = Annotated[Path, Argument(metavar="DIR", help="Folder of a trace.")]


def perfetto_command(
    folder: Dir, file: Annotated[Path, Argument(metavar="FILE", help="File to write, such as trace.pftrace.")]
) -> None:
    """Write a trace for Perfetto's viewer: nodes as tracks, frames as slices, packets as arrows, counters."""
    with common.errors():
        to_perfetto(folder, file)


def tables_command(folder: Dir, json: common.Json = False) -> None:
    """Show which tables a trace has, their columns and how many rows."""
    with common.errors():
        from json import dumps

        from fourhop.trace import Trace

        meta = Trace(folder).meta
        if json:
            echo(dumps(meta["tables"], indent=2))
            return
        for table in meta["tables"]:
            echo(f"{table['name']}: {table['rows']} rows. {table['about']}")
            for column in table["columns"]:
                echo(f"  {column['name']:18} {column['type']:7} {column['about']}")
