"""The results of a sweep as tables, read from the runs' files on first use."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import polars as pl

from fourhop import recorded, stats
from fourhop.errors import FourhopError
from fourhop.result import Result
from fourhop.shown import Shown, described, to_csv
from fourhop.sweeps import labelled, manifest, runfile, runstore, seriesfile, tables
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.manifest import Content, PointRuns
from fourhop.sweeps.runstore import RunStore, Temporary
from fourhop.text import count

if TYPE_CHECKING:
    import pandas as pd
    import xarray

Table = Literal[
    "points",
    "runs",
    "flows",
    "summary",
    "flow_summary",
    "batches",
    "drops",
    "counters",
    "conservation",
    "link_drops",
    "wires",
    "timing",
]


TABLES: tuple[Table, ...] = get_args(Table)


@dataclass(frozen=True)
class SweepResult:
    """Runs of every point of a sweep, and their tables.

    Every table begins with `point` and a column for each varied key; every column's name ends in its unit. All tables
    but `timing` depend only on the sweep, not on where and when its runs were computed.
    """

    sweep: Sweep
    """The description of the sweep."""
    store: RunStore
    """The store with the runs."""
    per_point: tuple[PointRuns, ...]
    """The runs of each point."""
    reused: int = 0
    """Number of runs that were already stored."""
    computed: int = 0
    """Number of runs that this call simulated."""
    _temporary: Temporary | None = None

    @cached_property
    def points(self) -> pl.DataFrame:
        """One row per point: its number and the value of each varied key."""
        return tables.points(self.sweep)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per (point, seed): goodput of all flows together in bit/s, Jain's index, drops, counts."""
        # The radio drops copies of frames, not packets.
        counted = pl.element().filter(pl.element().struct.field("layer") != "radio").struct.field("count")
        dropped = pl.col("drops").list.eval(counted).list.sum().alias("dropped_packets")
        scalars = [name for name in runfile.SCALARS if name not in ("seed", "wall_s")]
        return self._collect(self._scan(*scalars, dropped))

    @cached_property
    def timing(self) -> pl.DataFrame:
        """One row per (point, seed): computing time of the simulation, and its file. Differs from call to call."""
        return self._collect(self._scan("wall_s", "key"))

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per (point, seed, flow), with the columns of `Result.flows`."""
        return self._flow_runs.drop("batch_goodput_bps")

    @cached_property
    def _flow_runs(self) -> pl.DataFrame:
        """The flows with their batches."""
        return self._collect(self._nested("flows"))

    @cached_property
    def batches(self) -> pl.DataFrame:
        """Batch means of the goodput in bit/s: one row per (point, seed, flow, batch)."""
        goodputs = pl.col("batch_goodput_bps").alias("goodput_bps")
        batch = pl.int_ranges(pl.col("batch_goodput_bps").list.len()).alias("batch")
        rows = self._flow_runs.filter(pl.col("batch_goodput_bps").list.len() > 0)
        return rows.select(*self._identity, "flow", batch, goodputs).explode("batch", "goodput_bps")

    @cached_property
    def drops(self) -> pl.DataFrame:
        """Packets dropped: one row per (point, seed, layer, reason)."""
        return self._collect(self._nested("drops").rename({"name": "reason"}))

    @cached_property
    def counters(self) -> pl.DataFrame:
        """Counters of every layer: one row per (point, seed, layer, name)."""
        return self._collect(self._nested("counters"))

    @cached_property
    def conservation(self) -> pl.DataFrame:
        """Balance of every layer, one row per (point, seed, layer, name): `in` = `out` + `dropped` + `held`."""
        return self._collect(self._nested("conservation"))

    @cached_property
    def link_drops(self) -> pl.DataFrame:
        """Packets that the MAC gave up, one row per (point, seed, link, name); links without losses have no rows."""
        return self._collect(self._nested("link_drops"))

    @cached_property
    def wires(self) -> pl.DataFrame:
        """Counts for each direction of a wired link, one row per (point, seed, link, name)."""
        return self._collect(self._nested("wires"))

    @property
    def series(self) -> pl.LazyFrame:
        """Time series, one row per (point, seed, time, flow), read from the files on demand.

        They can be larger than memory, so this is a lazy frame: filter it, then `collect()`. It is empty unless the
        scenario sets `sample_every`.
        """
        return self.scan("series")

    @property
    def queues(self) -> pl.LazyFrame:
        """Lengths of interface queues, one row per (point, seed, time, node), lazy like `series`."""
        return self.scan("queues")

    def scan(self, table: recorded.Table, points: Collection[int] | None = None) -> pl.LazyFrame:
        """`"series"` or `"queues"` of some points, in the order of the sweep; opens no files of other points."""
        if table not in recorded.TABLES:
            raise FourhopError(f'table: found {table!r}, allowed: "series", "queues"')
        wanted = range(len(self.per_point)) if points is None else sorted({self._index(point) for point in points})
        own = seriesfile.schema(table)
        parts = []
        for point in wanted:
            if self.sweep.points[point].scenario.records_series:
                files = self._files_of[point].with_columns(
                    pl.Series("path", [str(seriesfile.beside(path, table)) for _, path in self.per_point[point].runs])
                )
                rows = pl.scan_parquet(files["path"].to_list(), include_file_paths="path", glob=False)
                parts.append(
                    rows.join(files.lazy(), on="path", maintain_order="left").select(*self._identity, *own.names())
                )
        return pl.concat(parts or [pl.LazyFrame(schema=pl.Schema({**self._files.drop("path").schema, **own}))])

    def read(self, *names: Table) -> None:
        """Load several tables at once, opening each file once instead of once per table."""
        kept = vars(self)
        if kept.keys() >= set(names):
            return
        kept["_content"] = self._collect(self._content.drop("engine", "scenario")).lazy()
        try:
            for name in names:
                getattr(self, name)
        finally:
            del kept["_content"]

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per point: means over its runs with 95 % intervals of the goodput in bit/s and of Jain's index.

        It prints as a table of all columns, each mean together with its interval.
        """
        met = [each.met for each in self.per_point]
        return Shown(tables.summary(self.points, self.runs, self._flow_runs, met))

    @cached_property
    def flow_summary(self) -> pl.DataFrame:
        """One row per (point, flow), with the columns of `Result.summary`."""
        return Shown(tables.flow_summary(self.points, self._flow_runs))

    def flows_without_path(self) -> list[str]:
        """`Scenario.flows_without_path` for flows that delivered nothing, each with its point.

        Only points with such a flow in their first run are examined, as this requires building the network.
        """
        silent = self._flow_runs.filter(pl.col("goodput_bps") == 0.0).group_by("point").agg(pl.col("seed").min())
        found = []
        for point, seed in silent.sort("point").select("point", "seed").iter_rows():
            described = self.sweep.points[point]
            lines = described.scenario.flows_without_path(seed=seed)
            found += [f"{where}: {line}" if (where := described.describe()) else line for line in lines]
        return found

    def aggregate(self, point: int) -> stats.Interval:
        """Goodput of all flows together at a point, bit/s, with its interval."""
        row = self.summary.row(self._index(point), named=True)
        n = row["runs"]
        if row["interval"] == "batch means":
            n = self.batches.filter(pl.col("point") == point)["batch"].n_unique()
        return stats.Interval(
            row["aggregate_goodput_bps_mean"], row["aggregate_goodput_bps_half_width"], n, row["interval"]
        )

    def point(self, index: int) -> Result:
        """The runs of one point as `fourhop.run` returns them."""
        index = self._index(index)
        runs = [runfile.read(path) for _, path in self.per_point[index].runs]
        met = self.per_point[index].met
        note = "precision not met" if met is False else None
        scenario = self.sweep.points[index].scenario
        series = None
        if scenario.records_series:
            files = {
                (table, seed): seriesfile.beside(path, table)
                for seed, path in self.per_point[index].runs
                for table in recorded.TABLES
            }
            series = recorded.StoredSeries(files, self._temporary)
        return Result(scenario, tuple(runs), note, series)

    def pandas(self, table: Table = "runs") -> pd.DataFrame:
        """A table as a pandas frame. Raises `FourhopError` without the extra `pandas`."""
        frame: pl.DataFrame = getattr(self, table)
        try:
            return frame.to_pandas()
        except ImportError as error:
            raise FourhopError(f"pandas: a package is not installed ({error}): pip install pandas pyarrow") from None

    def xarray(self, table: labelled.Arranged = "runs") -> xarray.Dataset:
        """A table as a labelled dataset, where axes are more convenient than rows.

        Its axes are the varied keys in the order of the sweep, then `seed`, and `flow` and `batch` if the table has
        them; every array has its unit in `attrs["units"]`. Values of missing runs are NaN.

        Raises `FourhopError` for another table, or without the extra `xarray`.
        """
        return labelled.arranged(getattr(self, table, pl.DataFrame()), list(self.sweep.keys), table, self.sweep.name)

    def to_dict(self) -> dict[str, object]:
        """The sweep as plain values, as `fourhop sweep --json` prints it: its varied keys and the rows of two tables.

        `points` are the rows of `summary`, `flows` those of `flow_summary`: rates in bit/s, times in s.
        """
        return {
            "name": self.sweep.name,
            "keys": list(self.sweep.keys),
            "note": self.note,
            "points": self.summary.to_dicts(),
            "flows": self.flow_summary.to_dicts(),
        }

    def to_csv(self, path: str | Path | None = None, table: Table = "summary") -> str | None:
        """A table as CSV with a header line: written to `path`, or returned as text without one.

        Raises `FourhopError` for an unknown table, or if the file cannot be written.
        """
        if table not in TABLES:
            raise FourhopError(f"table: found {table!r}, allowed: {', '.join(TABLES)}")
        return to_csv(getattr(self, table), path)

    def save(self, folder: str | Path) -> Path:
        """Write all tables but the time series into `folder` as Parquet, with their description in sweep.json.

        Raises `FourhopError` if it cannot be written.
        """
        self.read(*TABLES)
        tables: dict[str, pl.DataFrame] = {name: getattr(self, name) for name in TABLES}
        manifest.save(Content(self.sweep, self.store, self.per_point), self.note, tables, Path(folder))
        return Path(folder)

    @classmethod
    def load(cls, folder: str | Path) -> SweepResult:
        """The result of the last finished sweep in `folder`.

        Raises `FourhopError` if there is none, or if some of its runs are missing.
        """
        content = manifest.load(Path(folder))
        return cls(
            content.sweep, content.store, content.per_point, reused=sum(len(each.runs) for each in content.per_point)
        )

    @property
    def note(self) -> str | None:
        """Caveats about the numbers."""
        missed = sum(each.met is False for each in self.per_point)
        if missed:
            return f"precision not met at {missed} of {len(self.per_point)} points after {self.sweep.max_runs} runs"
        if self.sweep.target is None and self.sweep.replications == 1:
            return (
                "one run per point: ± is by batch means within the run. For intervals over replications, use more runs"
            )
        return None

    def _repr_html_(self) -> str:
        """For a notebook: what ran, and the summary."""
        return described(repr(self), self.summary, self.note)

    def __repr__(self) -> str:
        """One line: what ran, and how much of it was new."""
        runs = sum(len(each.runs) for each in self.per_point)
        return (
            f"SweepResult({self.sweep.name!r}, {count(len(self.per_point), 'point')}, {count(runs, 'run')}, "
            f"{self.reused} reused, {self.computed} computed)"
        )

    @property
    def _identity(self) -> list[str]:
        return ["point", *self.sweep.keys, "seed"]

    def _index(self, point: int) -> int:
        if not 0 <= point < len(self.per_point):
            raise FourhopError(f"point: found {point}, allowed: 0 to {len(self.per_point) - 1}")
        return point

    @cached_property
    def _files(self) -> pl.DataFrame:
        """Files by run: one row per (point, seed), in order."""
        rows = [(point, seed, str(path)) for point, each in enumerate(self.per_point) for seed, path in each.runs]
        schema = {"point": pl.Int64(), "seed": pl.UInt64(), "path": pl.String()}
        return self.points.join(pl.DataFrame(rows, schema=schema, orient="row"), on="point", maintain_order="right")

    @cached_property
    def _files_of(self) -> dict[int, pl.DataFrame]:
        """The files of each point, cached because studies read one point after the other."""
        return {files["point"][0]: files for files in self._files.partition_by("point")}

    @cached_property
    def _content(self) -> pl.LazyFrame:
        """The content of all files, with their paths; read again for each table."""
        paths = self._files["path"].unique(maintain_order=True).to_list()
        return pl.scan_parquet(paths, include_file_paths="path", glob=False, hive_partitioning=False)

    def _scan(self, *columns: str | pl.Expr) -> pl.LazyFrame:
        """Columns of all files, in order, preceded by point, keys and seed."""
        content = self._content.select("path", *columns)
        return self._files.lazy().join(content, on="path", how="left", maintain_order="left").drop("path")

    def _nested(self, column: str) -> pl.LazyFrame:
        """A list of structs as rows."""
        own = [field.name for field in runfile.SCHEMA[column].inner.fields]  # type: ignore[attr-defined]
        varied = set(self._identity)
        renamed = {name: f"flow_{name}" for name in own if name in varied}
        inside = [pl.col(column).struct.field(name).alias(renamed.get(name, name)) for name in own]
        return self._scan(column).filter(pl.col(column).list.len() > 0).explode(column).select(*self._identity, *inside)

    def _collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        try:
            return frame.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            bad = runstore.unreadable([path for each in self.per_point for _, path in each.runs])
            names = ", ".join(map(str, bad)) or str(error)
            raise FourhopError(f"runs that cannot be read: {names}; delete them and run the sweep again") from None
