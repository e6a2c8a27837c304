"""Results of a set of runs of one scenario."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from fourhop import gathered, stats
from fourhop._core import version
from fourhop.errors import FourhopError
from fourhop.rundata import RunData
from fourhop.scenario import Scenario
from fourhop.stats import Interval

if TYPE_CHECKING:
    import polars as pl

    from fourhop.frames import Counted
    from fourhop.recorded import Series, Table

MANIFEST = "run.json"
SCENARIO = "scenario.toml"

Tables = Literal["summary", "flows", "drops", "counters", "link_drops", "wires", "series", "queues"]
"""Tables of a result."""


@dataclass(frozen=True)
class Result:
    """Runs of one scenario, one per seed, with their tables and intervals.

    Intervals are 95 %, Student's t over the runs. A single run has no such interval; its goodput then has one by batch
    means. `Interval.method` and the column `interval` say which of the two it is.
    """

    scenario: Scenario
    runs: tuple[RunData, ...]
    """The runs as the simulator reported them, in seed order."""
    note: str | None = None
    """A caveat to read before quoting the numbers: no interval over replications, or a precision not met."""
    recorded: Series | None = field(default=None, compare=False, repr=False)
    """Source of the time series, if the scenario records them."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        return tuple(run["seed"] for run in self.runs)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per (seed, flow). Rates in bit/s, times in s; see docs/results.md for each column."""
        from fourhop import frames

        return frames.flows(self.runs)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per flow: means over the runs, and half-widths of 95 % intervals. Rates in bit/s, times in s.

        It prints as a table of all columns, each mean together with its interval.
        """
        from fourhop import frames
        from fourhop.shown import Shown

        return Shown(gathered.summary(self.runs), schema=frames.SUMMARY, orient="row")

    @cached_property
    def drops(self) -> pl.DataFrame:
        """Packets dropped: one row per (seed, layer, reason), with their number in `count`."""
        return self._counts("drops").rename({"name": "reason"})

    @cached_property
    def counters(self) -> pl.DataFrame:
        """Events counted by every layer: one row per (seed, layer, name), with their number in `count`."""
        return self._counts("counters")

    @cached_property
    def link_drops(self) -> pl.DataFrame:
        """Packets that the MAC gave up, one row per (seed, link, name).

        A link is `from-to`, a name `tcp_data`, `tcp_acks` or `other`. Links without losses have no rows.
        """
        return self._counts("link_drops").rename({"layer": "link"})

    @cached_property
    def wires(self) -> pl.DataFrame:
        """Packets in each direction of wired links: one row per (seed, link, name), with their number in `count`."""
        return self._counts("wires").rename({"layer": "link"})

    def _counts(self, table: Counted) -> pl.DataFrame:
        from fourhop import frames

        return frames.counts(self.runs, table)

    @cached_property
    def series(self) -> pl.DataFrame:
        """Time series, one row per (seed, time, flow); empty unless the scenario sets `sample_every`.

        This loads them all from disk; `scan("series")` reads lazily.
        """
        return self.scan("series").collect()

    @cached_property
    def queues(self) -> pl.DataFrame:
        """Lengths of interface queues in packets, one row per (seed, time in s, node); empty without `sample_every`."""
        return self.scan("queues").collect()

    def scan(self, table: Table) -> pl.LazyFrame:
        """`"series"` or `"queues"` as a lazy frame, for series larger than memory.

        Its files exist as long as this result does.
        """
        if table not in ("series", "queues"):
            raise FourhopError(f'table: found {table!r}, allowed: "series", "queues"')
        if self.recorded is None or not self.runs:
            import polars as pl

            from fourhop.recorded import schema

            return pl.LazyFrame(schema=schema(table))
        return self.recorded.scan(table, self.seeds)

    @cached_property
    def aggregate(self) -> Interval:
        """Goodput of all flows together, bit/s; with a single run, the interval is over the sums of its batches."""
        batches = gathered.batch_sums(flow["batch_goodput_bps"] for flow in self.runs[0]["flows"]) if self.runs else []
        return stats.over_runs([run["aggregate_goodput_bps"] for run in self.runs], batches)

    @cached_property
    def jain(self) -> Interval | None:
        """Jain's fairness index over the runs, 0 to 1; `None` with a single flow, or if nothing arrived in any run."""
        return stats.over_known([run["jain"] for run in self.runs])

    def goodput(self, flow: str) -> Interval:
        """Goodput of one flow in bit/s, with its interval. Raises `KeyError` for an unknown flow."""
        return gathered.goodput(gathered.by_flow(self.runs)[flow])

    def to_dict(self) -> dict[str, object]:
        """The result as plain values, as `fourhop run --json` prints it.

        `events`, `simulated_s`, `wall_s` and `drops` are sums over the runs, so that their ratios do not depend on the
        number of threads; every value with a `mean` also lists the value of each run.
        """
        flows: list[dict[str, object]] = []
        for name, runs in gathered.by_flow(self.runs).items():
            flows.append(
                {
                    "name": name,
                    "src": gathered.same([run["src"] for run in runs]),
                    "dst": gathered.same([run["dst"] for run in runs]),
                    "hops": gathered.same([run["hops"] for run in runs]),
                    "transport": runs[0]["transport"],
                    "app": runs[0]["app"],
                    "goodput_bps": _spread(gathered.goodput(runs), [run["goodput_bps"] for run in runs]),
                    "throughput_bps": _spread(
                        stats.student_interval(throughputs := [run["throughput_bps"] for run in runs]), throughputs
                    ),
                    "retransmitted_packets": {"runs": [run["retransmitted"] for run in runs]},
                    "timeouts": {"runs": [run["timeouts"] for run in runs]},
                    "rtt_mean_s": {"runs": [run["rtt_mean_s"] for run in runs]},
                }
            )
        jain_runs = [run["jain"] for run in self.runs]
        return {
            "scenario": self.scenario.resolved,
            "seeds": list(self.seeds),
            "flows": flows,
            "aggregate_goodput_bps": _spread(self.aggregate, [run["aggregate_goodput_bps"] for run in self.runs]),
            "jain": None if self.jain is None else _spread(self.jain, jain_runs),
            "drops": gathered.total([run["drops"] for run in self.runs]),
            "events": sum(run["events"] for run in self.runs),
            "simulated_s": math.fsum(run["simulated_s"] for run in self.runs),
            "wall_s": math.fsum(run["wall_s"] for run in self.runs),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as one JSON object."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_csv(self, path: str | Path | None = None, table: Tables = "summary") -> str | None:
        """A table as CSV with a header line: written to `path`, or returned as text without one.

        Columns of lists are omitted. Raises `FourhopError` if the file cannot be written.

        >>> import fourhop
        >>> fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s")).to_csv(table="flows").splitlines()[0][:20]
        'seed,flow,src,dst,ho'
        """
        if table not in get_args(Tables):
            raise FourhopError(f"table: found {table!r}, allowed: {', '.join(get_args(Tables))}")
        from fourhop.shown import to_csv

        return to_csv(getattr(self, table), path)

    def save(self, folder: str | Path) -> Path:
        """Write this result into `folder` and return it. An older result there stays until this one is complete.

        | file | content |
        |---|---|
        | flows.parquet | one row per (seed, flow) |
        | summary.parquet | one row per flow, means and intervals |
        | drops.parquet, counters.parquet, conservation.parquet | one row per (seed, layer, name) |
        | link_drops.parquet, wires.parquet | one row per (seed, link, name) |
        | series.parquet, queues.parquet | time series, if the scenario records them |
        | scenario.toml | the scenario with every default written out: run it again with `fourhop run` |
        | run.json | version, seeds, note, and the object of `to_dict` |

        Raises `FourhopError` if the folder cannot be written, or has a scenario.toml that is not part of a result.
        """
        from fourhop import store
        from fourhop.recorded import TABLES

        folder = Path(folder)
        store.prepare(folder, MANIFEST, SCENARIO)
        tables = {
            "flows": self.flows,
            "summary": self.summary,
            "drops": self.drops,
            "counters": self.counters,
            "conservation": self._counts("conservation"),
            "link_drops": self.link_drops,
            "wires": self.wires,
        }
        files: dict[str, store.Write | None] = {
            f"{name}.parquet": store.parquet(table) for name, table in tables.items()
        }
        for name in TABLES:
            rows = self.scan(name)
            files[f"{name}.parquet"] = None if rows.head(1).collect().is_empty() else store.streamed(rows)
        manifest = {"fourhop": version(), "seeds": list(self.seeds), "note": self.note, "result": self.to_dict()}
        files[SCENARIO] = store.text(self.scenario.to_toml())
        files[MANIFEST] = store.text(json.dumps(manifest, indent=1, allow_nan=False) + "\n")
        store.publish(folder, MANIFEST, files)
        return folder

    def _repr_html_(self) -> str:
        """For a notebook: what ran, and the summary."""
        from fourhop.shown import described

        return described(repr(self), self.summary, self.note)

    def __repr__(self) -> str:
        """One line: the scenario, the runs and the goodput."""
        width = self.aggregate.half_width
        interval = "" if width is None else f" ± {width / 1e3:.1f}"
        return (
            f"Result({self.scenario.name!r}, seeds {span(self.seeds)}, "
            f"aggregate goodput {self.aggregate.mean / 1e3:.1f}{interval} kbit/s)"
        )


def _spread(interval: Interval, runs: Sequence[float | None]) -> dict[str, object]:
    return {
        "mean": None if math.isnan(interval.mean) else interval.mean,
        "half_width": interval.half_width,
        "interval": interval.method,
        "runs": list(runs),
    }


def span(seeds: Sequence[int]) -> str:
    """`1..5`, `1, 3`, `none`."""
    if not seeds:
        return "none"
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]}..{seeds[-1]}"
    return ", ".join(map(str, seeds))
