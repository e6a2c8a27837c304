"""Summary of several runs of one scenario, in plain values, from which `frames` makes data frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fourhop import stats
from fourhop.columns import table as declared
from fourhop.rundata import Counts, FlowRun, RunData

T = TypeVar("T")

COLUMNS = {column.field: column.name for column in declared("flows") if column.field != column.name}
"""Fields of a run whose column has a longer name."""

MEANS = {
    "sent_packets_mean": "sent_packets",
    "retransmitted_packets_mean": "retransmitted_packets",
    "timeouts_mean": "timeouts",
    "fast_retransmits_mean": "fast_retransmits",
    "rtt_mean_s": "rtt_mean_s",
}
"""Columns of the summary that are plain means over the runs, each with the column it averages."""


def by_flow(runs: Sequence[RunData]) -> dict[str, list[FlowRun]]:
    """The runs of each flow; flows in scenario order, runs in seed order."""
    table: dict[str, list[FlowRun]] = {}
    for run in runs:
        for flow in run["flows"]:
            table.setdefault(flow["name"], []).append(flow)
    return table


def goodput(flow_runs: Sequence[FlowRun]) -> stats.Interval:
    """Goodput of one flow in bit/s, with its interval."""
    return stats.over_runs([run["goodput_bps"] for run in flow_runs], flow_runs[0]["batch_goodput_bps"])


def summary(runs: Sequence[RunData]) -> list[dict[str, Any]]:
    """One row per flow: means over the runs, rates in bit/s with the half-width of their 95 % interval."""
    rows = []
    for flow in by_flow(runs).values():
        columns = {COLUMNS.get(key, key): [each[key] for each in flow] for key in flow[0]}  # type: ignore[literal-required]
        rows.append({"flow": flow[0]["name"], **summarised(columns, "transport")})
    return rows


def summarised(columns: Mapping[str, Sequence[Any]], transport: str) -> dict[str, Any]:
    """The row of one flow from its columns, which have one value per run. `transport` names the transport's column."""
    rate = stats.over_runs(columns["goodput_bps"], columns["batch_goodput_bps"][0])
    throughput = stats.student_interval(columns["throughput_bps"])
    return {
        **{column: same(columns[column]) for column in ("src", "dst", "hops")},
        transport: columns[transport][0],
        "runs": len(columns["goodput_bps"]),
        "interval": rate.method,
        "goodput_bps_mean": rate.mean,
        "goodput_bps_half_width": rate.half_width,
        "throughput_bps_mean": throughput.mean,
        "throughput_bps_half_width": throughput.half_width,
        **{column: mean(columns[source]) for column, source in MEANS.items()},
    }


def batch_sums(flows: Iterable[Sequence[float]]) -> list[float]:
    """Total goodput of all flows in each batch, bit/s, omitting batches that some flow lacks."""
    return [math.fsum(batch) for batch in zip(*flows, strict=False)]


def total(tables: Sequence[Counts]) -> Counts:
    """Counts summed over several runs."""
    sums: Counts = {}
    for table in tables:
        for layer, names in table.items():
            into = sums.setdefault(layer, {})
            for name, count in names.items():
                into[name] = into.get(name, 0) + count
    return sums


def same(values: Sequence[T]) -> T | None:
    """The common value, or `None` if they differ (hops of a random network depend on the seed)."""
    return values[0] if all(value == values[0] for value in values) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the known values; `None` without any."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
