"""Time series of runs, on disk from the first sample on.

The simulator writes two files a run, `seed-N.flows.csv` and `seed-N.queues.csv`, a row as it is sampled. While a run
goes on their names end in `.part`. Here they become lazy frames, so that neither a run nor `fourhop run --out` ever
holds a series; `Result.series` does, when it is asked for.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from fourhop._core import series_columns
from fourhop.errors import FourhopError

if TYPE_CHECKING:
    import polars as pl

Table = Literal["series", "queues"]
TABLES: tuple[Table, ...] = ("series", "queues")

STAGING = "series.part"
"""Folder inside an output folder that holds the series of runs whose result is not saved yet."""

SWEEP_STAGING = ".series."
"""How folders of series of runs in progress begin in the folder of a sweep."""

_FILES: dict[Table, str] = {"series": "flows", "queues": "queues"}


def schema(table: Table) -> pl.Schema:
    """Columns and types of a table; those of the flows come from the simulator's list."""
    import polars as pl

    if table == "queues":
        columns: dict[str, pl.DataType] = {
            "node": pl.Int64(),
            "to": pl.Int64(),
            "time_s": pl.Float64(),
            "queue_packets": pl.Int64(),
        }
    else:
        columns = {"flow": pl.String(), "time_s": pl.Float64()}
        columns |= {name: pl.Float64() for name, _ in series_columns()}
    return pl.Schema({"seed": pl.UInt64(), **columns})


def csv(folder: Path, seed: int, table: Table) -> Path:
    """The file the simulator writes into `folder` for the run with `seed`."""
    return folder / f"seed-{seed}.{_FILES[table]}.csv"


class Series(Protocol):
    """Where a result finds its series."""

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """The rows of the runs with `seeds`, in the order of seed, time, and flow or node."""


@dataclass(frozen=True)
class StoredSeries:
    """The series of runs that somebody else keeps, as a Parquet file a run without the column `seed`."""

    files: Mapping[tuple[Table, int], Path]
    """The file of each table and seed."""
    alive: object = None
    """What the files live as long as, if that is an object of this process."""

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
    """The series of a set of runs: CSV files in a folder of their own, or the Parquet tables made of them.

    The folder goes with this object, or with the program.
    """

    def __init__(self, out: Path | None = None) -> None:
        """`out`: the folder the result will be saved in; without one, the system's folder for temporary files."""
        try:
            if out is None:
                self.folder = Path(tempfile.mkdtemp(prefix="fourhop-series-"))
            else:
                self.folder = out / STAGING
                # What a program that was killed left behind: nothing reads it.
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir()
        except OSError as error:
            raise FourhopError(f"time series: cannot be written: {error}") from error
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._saved: Path | None = None
        self._identities: dict[Table, tuple[int, int, int]] = {}

    def begin(self) -> Path:
        """The folder, for one more run: the names of its files hold its seed."""
        return self.folder

    def scan(self, table: Table, seeds: Sequence[int]) -> pl.LazyFrame:
        """The rows of the runs with `seeds`, in the order of seed, time, and flow or node."""
        import polars as pl

        if self._saved is not None:
            return self._scan_saved(table, self._saved)
        columns = dict(schema(table))
        del columns["seed"]
        parts = [
            pl.scan_csv(csv(self.folder, seed, table), schema=pl.Schema(columns)).select(
                pl.lit(seed, pl.UInt64()).alias("seed"), pl.all()
            )
            for seed in seeds
        ]
        return pl.concat(parts)

    def settle(self, folder: Path) -> None:
        """Read from the tables just saved in `folder` from now on, and drop the CSV files."""
        self._identities = {
            table: _identity(path) for table in _FILES if (path := folder / f"{table}.parquet").exists()
        }
        self._saved = folder
        self._remove()

    def lives_in(self, folder: Path) -> bool:
        """Are the saved tables of `folder` what this reads from?"""
        return self._saved is not None and self._saved.resolve() == folder.resolve()

    def _scan_saved(self, table: Table, folder: Path) -> pl.LazyFrame:
        import polars as pl

        path = folder / f"{table}.parquet"
        if table not in self._identities:
            return pl.LazyFrame(schema=schema(table))
        try:
            untouched = _identity(path) == self._identities[table]
        except OSError:
            untouched = False
        if not untouched:
            raise FourhopError(
                f"{path}: found another file or none, allowed: the one this result was saved in, the only place of its "
                "series"
            )
        return pl.scan_parquet(path)


def _identity(path: Path) -> tuple[int, int, int]:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


class Staging:
    """A folder for the files that simulators write while runs are in progress. It goes with this object."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the runs are kept, so that series need room there only."""
        self._in = folder
        self._path: Path | None = None

    def begin(self) -> Path:
        """A new folder in it.

        Raises `FourhopError` if nothing can be written there.
        """
        try:
            if self._path is None:
                self._path = Path(tempfile.mkdtemp(prefix=SWEEP_STAGING, dir=self._in))
                self._remove = weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
            return Path(tempfile.mkdtemp(dir=self._path))
        except OSError as error:
            raise FourhopError(f"{self._in}: cannot be written: {error.strerror or error}") from error

    def remove(self) -> None:
        """Remove it with all that is in it."""
        if self._path is not None:
            self._remove()


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
