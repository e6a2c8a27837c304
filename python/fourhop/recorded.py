"""Time series of runs, on disk from the first sample on.

The simulator writes two files per run, `seed-N.flows.csv` and `seed-N.queues.csv`, row by row. While a run
goes on their names end in `.part`. Here they become lazy frames, so that neither a run nor `fourhop run --out` ever
holds a series; `Result.series` does, when it is asked for.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from fourhop import columns
from fourhop.errors import FourhopError
from fourhop.store import Scratch, unwritable

if TYPE_CHECKING:
    import polars as pl

Table = Literal["series", "queues"]
TABLES: tuple[Table, ...] = ("series", "queues")

STAGING = ".series-of-run-"
"""How the folder inside an output folder begins that holds the series of a result that this process has."""

SWEEP_STAGING = ".series."
"""How folders of series of runs in progress begin in the folder of a sweep."""

_FILES: dict[Table, str] = {"series": "flows", "queues": "queues"}


def schema(table: Table) -> pl.Schema:
    """Columns and types of a table, as the simulator declares them."""
    import polars as pl

    return pl.Schema({"seed": pl.UInt64(), **columns.schema(table)})


def csv(folder: Path, seed: int, table: Table) -> Path:
    """The file the simulator writes into `folder` for the run with `seed`."""
    return folder / f"seed-{seed}.{_FILES[table]}.csv"


class Series(Protocol):
    """Where a result finds its series."""

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """The rows of the runs with `seeds`, in the order of seed, time, and flow or node."""


@dataclass(frozen=True)
class StoredSeries:
    """The series of runs kept elsewhere, one Parquet file per run without the column `seed`."""

    files: Mapping[tuple[Table, int], Path]
    """The file of each table and seed."""
    alive: object = None
    """The object of this process that keeps the files alive, if any."""

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """The rows of the runs with `seeds`, in the order of seed, time, and flow or node."""
        import polars as pl

        return pl.concat(
            pl.scan_parquet(self.files[table, seed], glob=False).select(
                pl.lit(seed, pl.UInt64()).alias("seed"), pl.all()
            )
            for seed in seeds
        )


class Recorded:
    """The series of a set of runs: CSV files in a folder of their own, later the Parquet tables made of them.

    The folder goes with this object, or with the program.
    """

    def __init__(self, out: Path | None = None) -> None:
        """`out`: the folder the result will be saved in; without one, the system's folder for temporary files."""
        try:
            self._scratch = Scratch(out or Path(tempfile.gettempdir()), STAGING if out else "fourhop-series-")
        except OSError as error:
            raise FourhopError(f"time series: cannot be written: {error}") from error
        self._saved = False

    @property
    def folder(self) -> Path:
        """Where the simulator writes."""
        return self._scratch.path

    def begin(self) -> Path:
        """The folder, for one more run: the names of its files hold its seed."""
        return self.folder

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """The rows of the runs with `seeds`, in the order of seed, time, and flow or node."""
        import polars as pl

        if self._saved:
            path = self.folder / f"{table}.parquet"
            return pl.scan_parquet(path, glob=False) if path.exists() else pl.LazyFrame(schema=schema(table))
        parts = [
            pl.scan_csv(csv(self.folder, seed, table), schema=pl.Schema(columns.schema(table))).select(
                pl.lit(seed, pl.UInt64()).alias("seed"), pl.all()
            )
            for seed in seeds
        ]
        return pl.concat(parts)

    def recover(self, folder: Path) -> None:
        """Read from the tables just saved in `folder` from now on, and drop the CSV files.

        The tables have a second name here: whatever takes their first one later, these are what this result is.
        """
        written = list(self.folder.iterdir())
        try:
            for table in TABLES:
                if (path := folder / f"{table}.parquet").exists():
                    (self.folder / path.name).hardlink_to(path)
        except OSError:
            # A file system without links: the CSV files stay what is read.
            return
        self._saved = True
        for path in written:
            path.unlink(missing_ok=True)


class Staging:
    """A folder for the files that simulators write while runs of a sweep are in progress. It goes with this object."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the runs are kept, so that series need room there only."""
        self._in = folder
        self._scratch: Scratch | None = None

    def begin(self) -> Path:
        """A new folder in it.

        Raises `FourhopError` if nothing can be written there.
        """
        try:
            self._scratch = self._scratch or Scratch(self._in, SWEEP_STAGING)
            return Path(tempfile.mkdtemp(dir=self._scratch.path))
        except OSError as error:
            raise unwritable(self._in, error) from error

    def remove(self) -> None:
        """Remove it with all that is in it."""
        if self._scratch is not None:
            self._scratch.remove()


def written(folder: Path, seed: int) -> dict[Table, Path]:
    """The files a simulator that was given `folder` wrote for the run with `seed`."""
    return {table: csv(folder, seed, table) for table in TABLES}


@contextmanager
def gone(folder: Path | None) -> Iterator[None]:
    """Remove `folder`, if there is one, at the end."""
    try:
        yield
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
