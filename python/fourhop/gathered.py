"""Summary of several runs of one scenario, in plain values: what `frames` makes data frames of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fourhop import stats
from fourhop.columns import table as declared
from fourhop.rundata import Counts, FlowRun, RunData

T = TypeVar("T")

COLUMNS = {column.field: column.name for column in declared("flows") if column.field != column.name}
"""Fields of a run that a table names more fully."""

MEANS = {
    "sent_packets_mean": "sent_packets",
    "retransmitted_packets_mean": "retransmitted_packets",
    "timeouts_mean": "timeouts",
    "fast_retransmits_mean": "fast_retransmits",
    "rtt_mean_s": "rtt_mean_s",
}
"""Columns of the summary that are plain means over the runs, and the column each is the mean of."""


def by_flow(runs: Sequence[RunData]) -> dict[str, list[FlowRun]]:
    """The runs of each flow, flows in the scenario's order, runs in the order of the seeds."""
    table: dict[str, list[FlowRun]] = {}
    for run in runs:
        for flow in run["flows"]:
            table.setdefault(flow["name"], []).append(flow)
    return table


def goodput(flow_runs: Sequence[FlowRun]) -> stats.Interval:
    """The interval of the goodput of one flow, bit/s."""
    return stats.over_runs([run["goodput_bps"] for run in flow_runs], flow_runs[0]["batch_goodput_bps"])


def summary(runs: Sequence[RunData]) -> list[dict[str, Any]]:
    """A row per flow: means over the runs, rates in bit/s with the half-width of their 95 % interval."""
    rows = []
    for flow in by_flow(runs).values():
        columns = {COLUMNS.get(key, key): [each[key] for each in flow] for key in flow[0]}  # type: ignore[literal-required]
        rows.append({"flow": flow[0]["name"], **summarised(columns, "transport")})
    return rows


def summarised(columns: Mapping[str, Sequence[Any]], transport: str) -> dict[str, Any]:
    """The row of one flow, made of its columns: a value for each run. `transport` is the column of its transport."""
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
    """Total goodput of all flows in each batch, bit/s; batches that some flow lacks are left out."""
    return [math.fsum(batch) for batch in zip(*flows, strict=False)]


def total(tables: Sequence[Counts]) -> Counts:
    """The sums of the counts of several runs."""
    sums: Counts = {}
    for table in tables:
        for layer, names in table.items():
            into = sums.setdefault(layer, {})
            for name, count in names.items():
                into[name] = into.get(name, 0) + count
    return sums


def same(values: Sequence[T]) -> T | None:
    """The value all agree on, else `None` (hops of a random network differ from seed to seed)."""
    return values[0] if all(value == values[0] for value in values) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values there are; `None` without any."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
