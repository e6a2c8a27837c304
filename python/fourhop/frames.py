"""Tables made of runs. Every column name carries its unit; every row names its seed or its flow."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal, TypeVar, cast

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

# Columns of the summary that are plain means over the runs, and the field of a run each is the mean of.
_MEANS = {
    "sent_packets_mean": "sent",
    "retransmitted_packets_mean": "retransmitted",
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


def rate_interval(flow_runs: Sequence[FlowRun], rate: Literal["goodput_bps", "throughput_bps"]) -> stats.Interval:
    """The interval of a rate of one flow: over the runs, or of a single run's goodput over its batches.

    The mean is that of the whole run in both cases; batches give the width only.
    """
    interval = stats.student_interval([run[rate] for run in flow_runs])
    if len(flow_runs) == 1 and rate == "goodput_bps":
        batches = stats.batch_means(flow_runs[0]["batch_goodput_bps"])
        if batches.half_width is not None:
            return stats.Interval(interval.mean, batches.half_width, batches.n, "batch means")
    return interval


def same(values: Sequence[T]) -> T | None:
    """The value all agree on, else `None` (hops of a random network differ from seed to seed)."""
    return values[0] if all(value == values[0] for value in values) else None


def summary(runs: Sequence[RunData]) -> pl.DataFrame:
    """One row per flow: means over the runs, goodput and throughput with the half-width of the 95 % interval."""
    rows: list[dict[str, object]] = []
    for name, flow_runs in by_flow(runs).items():
        goodput = rate_interval(flow_runs, "goodput_bps")
        throughput = rate_interval(flow_runs, "throughput_bps")
        row: dict[str, object] = {
            "flow": name,
            "src": same([run["src"] for run in flow_runs]),
            "dst": same([run["dst"] for run in flow_runs]),
            "hops": same([run["hops"] for run in flow_runs]),
            "transport": flow_runs[0]["transport"],
            "runs": len(flow_runs),
            "interval": goodput.method,
            "goodput_bps_mean": goodput.mean,
            "goodput_bps_half_width": goodput.half_width,
            "throughput_bps_mean": throughput.mean,
            "throughput_bps_half_width": throughput.half_width,
        }
        for column, field in _MEANS.items():
            known = [value for run in flow_runs if (value := run.get(field)) is not None]
            row[column] = statistics.fmean(cast(list[float], known)) if known else None
        rows.append(row)
    return pl.DataFrame(rows, schema=SUMMARY, orient="row")
