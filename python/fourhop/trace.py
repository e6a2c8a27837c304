"""Traces: all events of a run as tables (docs/trace.md).

>>> import fourhop
>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> chain = fourhop.Scenario.chain(hops=2, transport="newreno", duration="5s")
>>> _ = fourhop.run(chain, trace=fourhop.trace.Request(folder, start="1s", end="3s", nodes=[1]))
>>> trace = fourhop.trace.open(folder)
>>> trace.table("frames")["node"].unique().to_list()
[1]
>>> round(trace.meta["ranges"]["reception_m"])
250
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

TABLES = ("frames", "receptions", "mac", "packets", "queues", "tcp", "routes", "positions")
"""The tables of a trace."""

META = "meta.json"
"""The file that describes a trace."""


_Native = tuple[str, int | None, int | None, list[str] | None, list[str] | None, int | None]


@dataclass(frozen=True, slots=True)
class Request:
    """The part of a run to trace, and the folder to write to."""

    folder: str | Path
    """Folder for the tables; with several runs, each seed has a folder inside it."""
    start: str | None = None
    """Start of the trace, such as `"10s"`; the start of the run if not given."""
    end: str | None = None
    """End of the trace; the end of the run if not given."""
    nodes: Sequence[int | str] | None = None
    """Trace only these nodes, by number or name; all if not given."""
    flows: Sequence[int | str] | None = None
    """Trace only frames, packets and segments of these flows, by number or name; if not given, trace all, including
    those of no flow."""
    last: str | None = None
    """Keep only the end of the trace, such as its last `"60s"`, in one folder per second."""

    def native(self, own: str = "") -> _Native:
        """Arguments for the simulator; `own` is the subfolder of this run."""

        def words(chosen: Sequence[int | str] | None) -> list[str] | None:
            return None if chosen is None else [str(each) for each in chosen]

        return (
            str(Path(self.folder) / own),
            _nanoseconds("trace start", self.start),
            _nanoseconds("trace end", self.end),
            words(self.nodes),
            words(self.flows),
            _nanoseconds("trace last", self.last),
        )

    def options(self) -> list[str]:
        """Options for the emulator."""

        def listed(chosen: Sequence[int | str] | None) -> str | None:
            return None if chosen is None else ",".join(str(each) for each in chosen)

        values = (str(self.folder), self.start, self.end, listed(self.nodes), listed(self.flows), self.last)
        names = ("--trace", "--trace-from", "--trace-to", "--trace-nodes", "--trace-flows", "--trace-last")
        return [word for name, value in zip(names, values, strict=True) if value is not None for word in (name, value)]


def _nanoseconds(what: str, text: str | None) -> int | None:
    from fourhop.quantity import seconds

    if text is None:
        return None
    try:
        return round(seconds(text) * 1e9)
    except ValueError:
        raise FourhopError(f'{what}: found {text!r}, allowed: a time, such as "10s"') from None


class Trace:
    """A trace on disk. Its tables are read on demand."""

    def __init__(self, folder: str | Path) -> None:
        """Raise `FourhopError` if there is no trace in `folder`."""
        self.folder = Path(folder)
        try:
            self.meta: dict[str, Any] = json.loads((self.folder / META).read_text())
        except FileNotFoundError:
            raise FourhopError(f"{self.folder}: found no {META}; name the folder of a trace") from None
        except (OSError, ValueError) as error:
            raise FourhopError(f"{self.folder / META}: cannot be read: {error}") from error

    def files(self, table: str) -> list[Path]:
        """The files of a table: one, or one per second of a trace that keeps only its last part."""
        if table not in TABLES:
            raise FourhopError(f"table: found {table!r}, allowed: {', '.join(TABLES)}")
        whole = self.folder / f"{table}.parquet"
        files = [whole] if whole.exists() else sorted(self.folder.glob(f"[0-9]*[0-9]/{table}.parquet"))
        if not files:
            raise FourhopError(f"{whole}: found no tables; wait until the trace is complete")
        return files

    def scan(self, table: str) -> pl.LazyFrame:
        """A table as a lazy frame."""
        import polars as pl

        return pl.scan_parquet(self.files(table), glob=False)

    def table(self, table: str) -> pl.DataFrame:
        """A table as a data frame."""
        return self.scan(table).collect()

    def pandas(self, table: str) -> pd.DataFrame:
        """A table as a pandas frame; needs the extra `pandas`."""
        return self.table(table).to_pandas()

    @property
    def flows(self) -> list[str]:
        """Names of the flows, by number."""
        return [flow["name"] for flow in self.meta["flows"]]


def open(folder: str | Path) -> Trace:
    """Open the trace in `folder`. Raises `FourhopError` if there is no trace."""
    return Trace(folder)


@dataclass(frozen=True, slots=True)
class Part:
    """One second of a trace in progress."""

    number: int
    """The second of the run."""
    meta: dict[str, Any]
    """The description at that time: flows of programs are added when they begin."""
    tables: dict[str, pl.DataFrame]
    """The rows added in this second."""


def follow(
    folder: str | Path, *, last: int = 60, ended: Callable[[], bool] = lambda: False, nap_s: float = 0.1
) -> Iterator[Part]:
    """Yield the parts of a trace that keeps only its last part: first the existing ones, then each as it is written.

    Args:
        folder: folder of the trace.
        last: maximum number of existing parts to yield.
        ended: whether to stop; a complete trace ends the iteration anyway.
        nap_s: seconds between two looks at the folder.
    """
    import polars as pl

    folder = Path(folder)
    seen = -1
    while True:
        complete = Trace(folder).meta["complete"] if (folder / META).exists() else False
        there = sorted(int(path.name) for path in folder.glob("[0-9]*[0-9]") if path.name.isdigit())
        for number in [part for part in there if part > seen][-last:]:
            path = folder / f"{number:06}"
            try:
                tables = {table: pl.read_parquet(path / f"{table}.parquet", glob=False) for table in TABLES}
            except FileNotFoundError:
                continue  # it was the oldest and has been removed
            seen = number
            yield Part(number, Trace(folder).meta, tables)
        if complete or ended():
            return
        time.sleep(nap_s)
