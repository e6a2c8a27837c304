"""Time series of runs, on disk from the first sample on.

The simulator writes two files per run, row by row: `seed-N.flows.csv` and `seed-N.queues.csv`. Their names end in
`.part` until the run has ended. This module reads them as lazy frames, so neither a run nor `fourhop run --out` ever
has a whole series in memory; only `Result.series` loads one.
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
"""Prefix of the folder, inside an output folder, with the series of a result of this process."""

SWEEP_STAGING = ".series."
"""Prefix of the folders, inside the folder of a sweep, with the series of runs in progress."""

_FILES: dict[Table, str] = {"series": "flows", "queues": "queues"}


def schema(table: Table) -> pl.Schema:
    """Columns and types of a table, as the simulator declares them."""
    import polars as pl

    return pl.Schema({"seed": pl.UInt64(), **columns.schema(table)})


def csv(folder: Path, seed: int, table: Table) -> Path:
    """The file that the simulator writes into `folder` for the run with `seed`."""
    return folder / f"seed-{seed}.{_FILES[table]}.csv"


class Series(Protocol):
    """Source of the series of a result."""

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """Rows of the runs with `seeds`, ordered by seed, time, and flow or node."""


@dataclass(frozen=True)
class StoredSeries:
    """The series of runs kept elsewhere, one Parquet file per run without the column `seed`."""

    files: Mapping[tuple[Table, int], Path]
    """The file of each table and seed."""
    alive: object = None
    """The object that keeps the files from being removed, if any."""

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """Rows of the runs with `seeds`, ordered by seed, time, and flow or node."""
        import polars as pl

        return pl.concat(
            pl.scan_parquet(self.files[table, seed], glob=False).select(
                pl.lit(seed, pl.UInt64()).alias("seed"), pl.all()
            )
            for seed in seeds
        )


class Recorded:
    """The series of a set of runs: CSV files in a separate folder, later the Parquet tables made from them.

    The folder is removed with this object, or when the program ends.
    """

    def __init__(self, out: Path | None = None) -> None:
        """`out`: the folder that the result will be saved in; the system's temporary folder if not given."""
        try:
            self._scratch = Scratch(out or Path(tempfile.gettempdir()), STAGING if out else "fourhop-series-")
        except OSError as error:
            raise FourhopError(f"time series: cannot be written: {error}") from error
        self._saved = False

    @property
    def folder(self) -> Path:
        """The folder that the simulator writes to."""
        return self._scratch.path

    def begin(self) -> Path:
        """The folder for one more run; all runs share it, as file names include the seed."""
        return self.folder

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """Rows of the runs with `seeds`, ordered by seed, time, and flow or node."""
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
        """From now on, read the tables just saved in `folder`, and delete the CSV files.

        The tables are hard-linked here, so this result keeps them even if others replace those in `folder`.
        """
        written = list(self.folder.iterdir())
        try:
            for table in TABLES:
                if (path := folder / f"{table}.parquet").exists():
                    (self.folder / path.name).hardlink_to(path)
        except OSError:
            # A file system without links: keep reading the CSV files.
            return
        self._saved = True
        for path in written:
            path.unlink(missing_ok=True)


class Staging:
    """A folder for files that simulators write during runs of a sweep. It is removed with this object."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the runs are kept, so that series need disk space only there."""
        self._in = folder
        self._scratch: Scratch | None = None

    def begin(self) -> Path:
        """Create a new folder in it.

        Raises `FourhopError` if nothing can be written there.
        """
        try:
            self._scratch = self._scratch or Scratch(self._in, SWEEP_STAGING)
            return Path(tempfile.mkdtemp(dir=self._scratch.path))
        except OSError as error:
            raise unwritable(self._in, error) from error

    def remove(self) -> None:
        """Remove it with all its contents."""
        if self._scratch is not None:
            self._scratch.remove()


def written(folder: Path, seed: int) -> dict[Table, Path]:
    """The files that a simulator wrote into `folder` for the run with `seed`."""
    return {table: csv(folder, seed, table) for table in TABLES}


@contextmanager
def gone(folder: Path | None) -> Iterator[None]:
    """Remove `folder`, if not `None`, at the end of the block."""
    try:
        yield
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
