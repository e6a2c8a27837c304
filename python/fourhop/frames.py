"""Tables made of runs. Every column name carries its unit; every row names its seed or its flow."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import polars as pl

from fourhop import stats
from fourhop.rundata import FlowRun, RunData

T = TypeVar("T")

FLOWS = pl.Schema(
    {
        "seed": pl.UInt64(),
        "flow": pl.String(),
        "src": pl.Int64(),
        "dst": pl.Int64(),
        "hops": pl.Int64(),
        "transport": pl.String(),
        "app": pl.String(),
        "goodput_bps": pl.Float64(),
        "throughput_bps": pl.Float64(),
        "delivered_bytes": pl.UInt64(),
        "active_s": pl.Float64(),
        "averaged_goodput_bps": pl.Float64(),
        "file_goodput_bps": pl.Float64(),
        "files": pl.UInt64(),
        "sent_packets": pl.UInt64(),
        "retransmitted_packets": pl.UInt64(),
        "timeouts": pl.UInt64(),
        "fast_retransmits": pl.UInt64(),
        "rtt_mean_s": pl.Float64(),
        "rtt_min_s": pl.Float64(),
        "rtt_median_s": pl.Float64(),
        "rtt_max_s": pl.Float64(),
        "rtt_std_s": pl.Float64(),
        "age_mean_s": pl.Float64(),
        "age_median_s": pl.Float64(),
        "age_p95_s": pl.Float64(),
        "age_p99_s": pl.Float64(),
        "route_changes": pl.UInt64(),
        "route_discoveries": pl.UInt64(),
        "discovery_first_s": pl.Float64(),
        "discovery_mean_s": pl.Float64(),
        "discovery_max_s": pl.Float64(),
        "batch_goodput_bps": pl.List(pl.Float64()),
    }
)

# Fields of a run that a table names more fully.
COLUMNS = {"name": "flow", "sent": "sent_packets", "retransmitted": "retransmitted_packets"}

COUNTS = pl.Schema({"seed": pl.UInt64(), "layer": pl.String(), "name": pl.String(), "count": pl.UInt64()})

Counted = Literal["drops", "counters", "conservation", "link_drops", "wires"]

# Columns of the summary that are plain means over the runs, and the column each is the mean of.
_MEANS = {
    "sent_packets_mean": "sent_packets",
    "retransmitted_packets_mean": "retransmitted_packets",
    "timeouts_mean": "timeouts",
    "fast_retransmits_mean": "fast_retransmits",
    "rtt_mean_s": "rtt_mean_s",
}

SUMMARY = pl.Schema(
    {
        "flow": pl.String(),
        "src": pl.Int64(),
        "dst": pl.Int64(),
        "hops": pl.Int64(),
        "transport": pl.String(),
        "runs": pl.Int64(),
        "interval": pl.String(),
        "goodput_bps_mean": pl.Float64(),
        "goodput_bps_half_width": pl.Float64(),
        "throughput_bps_mean": pl.Float64(),
        "throughput_bps_half_width": pl.Float64(),
        **{column: pl.Float64() for column in _MEANS},
    }
)


def flows(runs: Sequence[RunData]) -> pl.DataFrame:
    """One row per (seed, flow)."""
    rows = [
        {"seed": run["seed"], **{COLUMNS.get(key, key): value for key, value in flow.items()}}
        for run in runs
        for flow in run["flows"]
    ]
    return pl.DataFrame(rows, schema=FLOWS, orient="row")


def counts(runs: Sequence[RunData], table: Counted) -> pl.DataFrame:
    """One row per (seed, layer, name) of the table asked for; of links, the link is called its layer."""
    rows = [
        (run["seed"], layer, name, count)
        for run in runs
        for layer, names in run[table].items()
        for name, count in names.items()
    ]
    return pl.DataFrame(rows, schema=COUNTS, orient="row")


def by_flow(runs: Sequence[RunData]) -> dict[str, list[FlowRun]]:
    """The runs of each flow, flows in the scenario's order, runs in the order of the seeds."""
    table: dict[str, list[FlowRun]] = {}
    for run in runs:
        for flow in run["flows"]:
            table.setdefault(flow["name"], []).append(flow)
    return table


def goodput(flow_runs: Sequence[FlowRun]) -> stats.Interval:
    """The interval of the goodput of one flow."""
    return stats.over_runs([run["goodput_bps"] for run in flow_runs], flow_runs[0]["batch_goodput_bps"])


def batch_sums(flows: Iterable[Sequence[float]]) -> list[float]:
    """Total goodput of all flows in each batch; batches that some flow lacks are left out."""
    return [math.fsum(batch) for batch in zip(*flows, strict=False)]


def same(values: Sequence[T]) -> T | None:
    """The value all agree on, else `None` (hops of a random network differ from seed to seed)."""
    return values[0] if all(value == values[0] for value in values) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values there are; `None` without any."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def groups(frame: pl.DataFrame, *keys: str) -> dict[Any, pl.DataFrame]:
    """Rows by the value of a column, or by the tuple of those of several, in the order of the first row of each."""
    parts = frame.partition_by(*keys, as_dict=True, maintain_order=True)
    return {(key[0] if len(keys) == 1 else key): part for key, part in parts.items()}


def summary(flows: pl.DataFrame, *of: str) -> pl.DataFrame:
    """One row per flow (of each value of the columns `of`): means over the runs, rates with their 95 % interval.

    `flows` is as `flows` makes it.
    """
    transport = "flow_transport" if "flow_transport" in flows.columns else "transport"
    rows: list[dict[str, object]] = []
    for each in groups(flows, *of, "flow").values():
        goodput = stats.over_runs(each["goodput_bps"].to_list(), each["batch_goodput_bps"][0].to_list())
        throughput = stats.student_interval(each["throughput_bps"].to_list())
        row: dict[str, object] = {
            **{column: each[column][0] for column in (*of, "flow")},
            **{column: same(each[column].to_list()) for column in ("src", "dst", "hops")},
            transport: each[transport][0],
            "runs": each.height,
            "interval": goodput.method,
            "goodput_bps_mean": goodput.mean,
            "goodput_bps_half_width": goodput.half_width,
            "throughput_bps_mean": throughput.mean,
            "throughput_bps_half_width": throughput.half_width,
        }
        row |= {column: mean(each[source].to_list()) for column, source in _MEANS.items()}
        rows.append(row)
    schema = {column: flows.schema[column] for column in of}
    schema |= {transport if name == "transport" else name: dtype for name, dtype in SUMMARY.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")
