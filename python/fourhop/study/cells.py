"""Results of a sweep for a study: one cell per point of the sweep, selected by its keys.

The last part of a key is enough if it is unique: `hops=4` is `topology.hops`, `transport="vegas"` the transport.
Goodputs and throughputs are in kbit/s, times in s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from fourhop import stats
from fourhop.errors import FourhopError
from fourhop.study.estimate import Basis, Estimate, Sample, share
from fourhop.study.looks import ALL, Look
from fourhop.study.recent import Recent

if TYPE_CHECKING:
    import polars as pl

    from fourhop.recorded import Table
    from fourhop.study.draws import Draws
    from fourhop.sweeps.manifest import PointRuns
    from fourhop.sweeps.result import SweepResult

KBPS = "kbit/s"

# Maximum bytes of time series kept in memory.
_RECENT_BYTES = 64 << 20

# Columns of the tables with their unit for readers and the factor to convert them.
_UNITS: dict[str, tuple[str, float]] = {
    "goodput_bps": (KBPS, 1e-3),
    "throughput_bps": (KBPS, 1e-3),
    "aggregate_goodput_bps": (KBPS, 1e-3),
    "rtt_mean_s": ("s", 1.0),
    "simulated_s": ("s", 1.0),
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a cell."""

    seed: int
    flows: Mapping[str, Mapping[str, Any]]
    """For each flow, the columns of docs/results.md, and `batches`: its goodput in each batch, in bit/s."""
    columns: Mapping[str, Any]
    """Measurements of the run as a whole: `aggregate_goodput_bps`, `jain`, `simulated_s`, ..."""
    link_drops: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Packets that the MAC gave up, by radio link (`"3-4"`) and kind of packet; links without losses are missing."""
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counters by layer and name."""


@dataclass(frozen=True)
class Cell:
    """One point of a sweep."""

    index: int
    parameters: Mapping[str, object]
    runs: tuple[Run, ...] = field(repr=False)
    draws: tuple[Hashable, ...] = ()
    """The draw of each run, in a sweep over draws."""
    first_draw: int | None = None
    """Then, the point with the first draw."""
    needed: float | None = None
    """With a precision target, the number of runs that it needs, estimated from those so far."""

    @property
    def stands_for(self) -> int:
        """The point that a study counts its runs by: the one with the first draw, or itself."""
        return self.index if self.first_draw is None else self.first_draw

    @property
    def units(self) -> tuple[Hashable, ...]:
        """Identity of each of its runs: its draw, or its seed."""
        return self.draws or tuple(run.seed for run in self.runs)


class Cells:
    """The cells of a sweep, or a selection of them."""

    def __init__(
        self,
        cells: Sequence[Cell],
        result: SweepResult,
        name: str = "sweep",
        look: Look = ALL,
        whole: Cells | None = None,
    ) -> None:
        self._cells = tuple(cells)
        self._result = result
        self._name = name
        self._look = look
        self.used: set[int] = set() if whole is None else whole.used
        """The points whose runs were read, through these cells or any selection of them."""
        self._recent: Recent = Recent(_RECENT_BYTES) if whole is None else whole._recent

    @classmethod
    def of(cls, result: SweepResult, name: str = "sweep", draws: Draws | None = None) -> Cells:
        """Every cell of a finished sweep that has runs; `draws` tells which of them are draws of the same settings."""
        result.read("flows", "batches", "runs", "link_drops", "counters", "timing")
        runs: dict[int, dict[int, dict[str, dict[str, Any]]]] = {}
        for row in result.flows.iter_rows(named=True):
            runs.setdefault(row["point"], {}).setdefault(row["seed"], {})[row["flow"]] = {**row, "batches": []}
        for row in result.batches.iter_rows(named=True):
            runs[row["point"]][row["seed"]][row["flow"]]["batches"].append(row["goodput_bps"])
        whole = {(row["point"], row["seed"]): row for row in result.runs.iter_rows(named=True)}
        lost, counted = _nested(result.link_drops, "link"), _nested(result.counters, "layer")
        cells = [
            Cell(
                point.index,
                point.parameters,
                tuple(
                    Run(seed, flows, whole[key], lost.get(key, {}), counted.get(key, {}))
                    for seed, flows in sorted(runs[point.index].items())
                    for key in [(point.index, seed)]
                ),
                () if draws is None else (draws.of[point.index],),
                None if draws is None else draws.first[point.index],
                _needed(each, result.sweep.target),
            )
            for point, each in zip(result.sweep.points, result.per_point, strict=True)
            if point.index in runs
        ]
        return cls(cells, result, name)

    def at(self, look: Look) -> Cells:
        """The runs that count at a look."""
        seen: Counter[int] = Counter()
        cells = []
        for cell in self._cells:
            left = look.runs - seen[cell.stands_for]
            seen[cell.stands_for] += len(cell.runs)
            if left > 0:
                cells.append(replace(cell, runs=cell.runs[:left]))
        made = Cells(cells, self._result, self._name, look)
        made._recent = self._recent
        return made

    def __len__(self) -> int:
        """Number of cells."""
        return len(self._cells)

    def __iter__(self) -> Iterator[Cells]:
        """Yield each cell by itself."""
        for cell in self._cells:
            yield self._part([cell])

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys."""
        return tuple(self._result.sweep.keys)

    @property
    def flows(self) -> list[str]:
        """Names of the flows, in scenario order."""
        return list(dict.fromkeys(name for cell in self._cells for run in cell.runs for name in run.flows))

    @property
    def runs(self) -> list[Run]:
        """The runs of all cells."""
        return [run for cell in self._opened() for run in cell.runs]

    def values(self, key: str) -> list[Any]:
        """The values of a varied key, in sweep order."""
        full = self.key(key)
        seen: list[Any] = []
        for cell in self._cells:
            if cell.parameters[full] not in seen:
                seen.append(cell.parameters[full])
        return seen

    def where(self, **keys: object) -> Cells:
        """The cells with these values; raises `FourhopError` if there are none."""
        wanted = {self.key(key): value for key, value in keys.items()}
        chosen = [cell for cell in self._cells if all(cell.parameters[key] == value for key, value in wanted.items())]
        if not chosen:
            allowed = "; ".join(f"{key}: {', '.join(map(str, self.values(key)))}" for key in wanted)
            found = ", ".join(f"{key}={value!r}" for key, value in keys.items())
            raise FourhopError(f"sweep {self._name}: found no point with {found}, allowed: {allowed}")
        return self._part(chosen)

    def among(self, key: str, values: Sequence[object]) -> Cells:
        """The cells with any of these values of a key; raises `FourhopError` for a value that the key does not have."""
        chosen = [cell for value in values for cell in self.where(**{key: value})._cells]
        return self._part([cell for cell in self._cells if cell in chosen])

    def by(self, key: str) -> dict[Any, Cells]:
        """The cells for each value of a key."""
        return {value: self.where(**{key: value}) for value in self.values(key)}

    def best(self, of: Callable[[Cells], Sample] | None = None, **keys: object) -> Cells:
        """The cell with the largest mean, of the goodput by default.

        As the measurements select it, its mean is slightly biased upwards; `peak` of ratios has an interval that
        accounts for this.
        """
        chosen = self.where(**keys) if keys else self
        return max(chosen, key=lambda cell: (of(cell) if of is not None else cell.goodput()).mean)

    def goodput(self, flow: str | None = None, **keys: object) -> Sample:
        """Goodput in kbit/s of one flow, or of all flows together."""
        cell = self._one(keys)
        if flow is not None and cell.runs and flow not in cell.runs[0].flows:
            allowed = ", ".join(cell.runs[0].flows)
            raise FourhopError(f"sweep {self._name}: found no flow {flow!r}, allowed: {allowed}")
        names = list(cell.runs[0].flows) if flow is None and cell.runs else [cast(str, flow)]
        values = [1e-3 * math.fsum(run.flows[name]["goodput_bps"] for name in names) for run in cell.runs]
        if len(cell.runs) == 1:
            batches = _batches(cell.runs[0], names)
            if len(batches) > 1:
                each = tuple(1e-3 * math.fsum(batch) for batch in batches)
                return Sample(each, self._units(cell, len(each)), KBPS, "batch means", values[0], self._basis(cell))
        return self._sample(values, cell, KBPS)

    def throughput(self, flow: str | None = None, **keys: object) -> Sample:
        """Throughput (including duplicate bytes) in kbit/s of one flow, or of all flows together; one value per run."""
        return self.column("throughput_bps", flow, **keys)

    def fairness(self, **keys: object) -> Sample:
        """Jain's index of the flows' goodputs.

        With several runs, the mean of their indices. With a single run, its index, and an interval from its batches by
        the delta method: the index of a single batch would be lower, as sharing takes time.
        """
        cell = self._one(keys)
        if len(cell.runs) != 1:
            indices = [math.nan if run.columns["jain"] is None else run.columns["jain"] for run in cell.runs]
            return Sample(tuple(indices), cell.units, basis=self._basis(cell))
        run = cell.runs[0]
        means = [flow["goodput_bps"] for flow in run.flows.values()]
        batches = _batches(run)
        index = stats.jain(means)
        if index is None or len(batches) < 2:
            return self._sample((math.nan if index is None else index,), cell)
        total, squares, n = math.fsum(means), math.fsum(x * x for x in means), len(means)
        gradient = [2.0 * total / (n * squares) - 2.0 * total**2 * x / (n * squares**2) for x in means]
        usual = [math.fsum(column) / len(batches) for column in zip(*batches, strict=True)]
        around = tuple(
            index + math.fsum(g * (x - m) for g, x, m in zip(gradient, batch, usual, strict=True)) for batch in batches
        )
        return Sample(around, self._units(cell, len(batches)), "", "batch means", index, self._basis(cell))

    def share(self, flow: str, **keys: object) -> Estimate:
        """Share of one flow in the total goodput, 0 to 1."""
        one = self.where(**keys) if keys else self
        return share(one.goodput(flow), [one.goodput(name) for name in one.flows])

    def column(self, name: str, flow: str | None = None, **keys: object) -> Sample:
        """A column of the table of flows or runs, one value per run; without `flow`, summed over the flows.

        Means such as `rtt_mean_s` cannot be summed: they need `flow`, unless there is only one flow.
        """
        unit, scale = _UNITS.get(name, ("", 1.0))

        def value(run: Run) -> float:
            if flow is None and name in run.columns:
                found = [run.columns[name]]
            else:
                chosen = [run.flows[flow]] if flow is not None else list(run.flows.values())
                found = [row[name] for row in chosen]
            if len(found) > 1 and "_mean" in name:
                raise FourhopError(f"sweep {self._name}: {name}: found several flows, allowed: one, named by flow=")
            return math.nan if None in found else scale * math.fsum(cast(list[float], found))

        return self.measure(value, unit, **keys)

    def counter(self, layer: str, names: Sequence[str], **keys: object) -> Sample:
        """Sum of the named counters of a layer over all nodes and the whole run: one value per run."""
        import polars as pl

        table = self._result.counters.filter(
            (pl.col("point") == self._one(keys).index) & (pl.col("layer") == layer) & pl.col("name").is_in(list(names))
        )
        return self._by_seed(table, pl.col("count").sum(), "", keys)

    def measure(self, of: Callable[[Run], float], unit: str = "", **keys: object) -> Sample:
        """Any number that a function computes from a run: one value per run, or per draw."""
        cell = self._one(keys)
        return self._sample([of(run) for run in cell.runs], cell, unit)

    def series(self, **keys: object) -> pl.DataFrame:
        """Time series of the selected cells' runs: one row per (point, seed, time, flow)."""
        return self._over_time("series", keys)

    def queues(self, **keys: object) -> pl.DataFrame:
        """Interface queues of the selected cells' runs over time: one row per (point, seed, time, node)."""
        return self._over_time("queues", keys)

    def _over_time(self, table: Table, keys: Mapping[str, object]) -> pl.DataFrame:
        """Read from the files unless cached: charts and checks use the same cells."""
        chosen = self.where(**keys) if keys else self
        points = tuple(cell.index for cell in chosen._opened())
        return self._recent.get((table, points), lambda: self._result.scan(table, points).collect())

    def queue(self, node: int, since: float, until: float, of: Callable[[pl.Expr], pl.Expr], **keys: object) -> Sample:
        """`of` applied to a node's queue, in packets, at the samples after `since` up to `until`, in s."""
        import polars as pl

        chosen = self.queues(**keys).filter(
            (pl.col("node") == node) & (pl.col("time_s") > since) & (pl.col("time_s") <= until)
        )
        return self._by_seed(chosen, of(pl.col("queue_packets").cast(pl.Float64)), "packets", keys)

    def over_time(
        self,
        quantity: str,
        flow: str,
        since: float,
        until: float,
        of: Callable[[pl.Expr], pl.Expr] | None = None,
        **keys: object,
    ) -> Sample:
        """Mean of a column of the time series over the times after `since` up to `until`, in s; one value per run.

        With `of`, the result of `of` for the column, in the column's own unit, instead of the mean.
        """
        import polars as pl

        unit, scale = _UNITS.get(quantity, ("s" if quantity.endswith("_s") else "", 1.0)) if of is None else ("", 1.0)
        table = self.series(**keys).filter(
            (pl.col("flow") == flow) & (pl.col("time_s") > since) & (pl.col("time_s") <= until)
        )
        return self._by_seed(table, (of or pl.Expr.mean)(pl.col(quantity)) * scale, unit, keys)

    def _by_seed(self, table: pl.DataFrame, value: pl.Expr, unit: str, keys: Mapping[str, object]) -> Sample:
        """`value` applied to the table rows of each run; NaN for a run without rows."""
        runs = self._one(keys).runs
        if len({run.seed for run in runs}) < len(runs):
            raise FourhopError(f"sweep {self._name}: found {len(runs)} draws, allowed: one; select it, or use measure")
        # In order, so that rounding of sums is reproducible.
        found = dict(table.group_by("seed", maintain_order=True).agg(value.alias("value")).iter_rows())

        def of(run: Run) -> float:
            value = found.get(run.seed)
            return math.nan if value is None else float(value)

        return self.measure(of, unit, **keys)

    def _one(self, keys: Mapping[str, object]) -> Cell:
        """The only cell with these keys; all draws of the same settings make one cell."""
        chosen = self.where(**keys)._cells if keys else self._cells
        if len({cell.stands_for for cell in chosen}) != 1:
            first = chosen[0].parameters
            open_ = [key for key in self.keys if any(cell.parameters[key] != first[key] for cell in chosen)]
            raise FourhopError(
                f"sweep {self._name}: found {len(chosen)} points, allowed: one; also select {', '.join(open_)}"
            )
        each = self._part(chosen)._opened()
        runs = tuple(run for cell in each for run in cell.runs)
        return replace(each[0], runs=runs, draws=tuple(draw for cell in each for draw in cell.draws))

    def _opened(self) -> tuple[Cell, ...]:
        """The cells, with their runs marked as used."""
        self.used.update(cell.stands_for for cell in self._cells)
        return self._cells

    def _part(self, cells: Sequence[Cell]) -> Cells:
        return Cells(cells, self._result, self._name, self._look, self)

    def _sample(self, values: Sequence[float], cell: Cell, unit: str = "") -> Sample:
        """A sample with one value per run of a cell."""
        method: stats.Method = "replications" if len(values) > 1 else "none"
        return Sample(tuple(values), cell.units, unit, method, basis=self._basis(cell))

    def _basis(self, cell: Cell) -> Basis:
        share = self._look.share
        if cell.needed is not None:
            share = min(1.0, max(share, len(cell.runs) / cell.needed))
        return Basis(self._look.confidence, share, frozenset({(self._name, cell.stands_for)}))

    def _units(self, cell: Cell, batches: int) -> tuple[tuple[str, int, int, int], ...]:
        """Identities of batches, which are paired only within the same run."""
        return tuple((self._name, cell.index, cell.runs[0].seed, batch) for batch in range(batches))

    def key(self, key: str) -> str:
        """The full name of a varied key, given in full or by its last part."""
        names = [full for full in self.keys if full == key] or [
            full for full in self.keys if full.rsplit(".", 1)[-1] == key
        ]
        if len(names) != 1:
            found = "no varied key" if not names else f"{len(names)} varied keys"
            raise FourhopError(f"sweep {self._name}: found {found} named {key!r}, allowed: {', '.join(self.keys)}")
        return names[0]


def _needed(point: PointRuns, target: float | None) -> float | None:
    """The number of runs that a point needs for its precision, which improves with the root of that number."""
    if target is None or point.precision is None:
        return None
    return len(point.runs) * (1.0 if point.met else max(1.0, (point.precision / target) ** 2))


def _nested(table: pl.DataFrame, where: str) -> dict[tuple[int, int], dict[str, dict[str, int]]]:
    """Counts of each run, by `where` and name."""
    nested: dict[tuple[int, int], dict[str, dict[str, int]]] = {}
    for row in table.iter_rows(named=True):
        nested.setdefault((row["point"], row["seed"]), {}).setdefault(row[where], {})[row["name"]] = row["count"]
    return nested


def _batches(run: Run, names: Sequence[str] | None = None) -> list[tuple[float, ...]]:
    """Goodputs of the flows in each batch, in bit/s, omitting batches that some flow lacks."""
    chosen = run.flows if names is None else names
    return list(zip(*(run.flows[name]["batches"] for name in chosen), strict=False))
