"""Tables over the points of a sweep: what was varied, and means with intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from fourhop import frames, stats
from fourhop.sweeps.describe import Sweep

# Columns of a summary that are plain means over the runs, by the column each is the mean of.
_FLOW_MEANS = {
    "sent_packets_mean": "sent_packets",
    "retransmitted_packets_mean": "retransmitted_packets",
    "timeouts_mean": "timeouts",
    "fast_retransmits_mean": "fast_retransmits",
    "rtt_mean_s": "rtt_mean_s",
}


def points(sweep: Sweep) -> pl.DataFrame:
    """One row per point. A column of numbers holds numbers; values of several kinds are written as text."""
    columns: dict[str, pl.Series] = {"point": pl.Series("point", range(len(sweep.points)), pl.Int64())}
    for key in sweep.keys:
        columns[key] = column(key, [point.parameters[key] for point in sweep.points])
    return pl.DataFrame(columns)


def column(name: str, values: Sequence[object]) -> pl.Series:
    """The values of a key as a column of one kind."""
    kinds = {type(value) for value in values}
    if kinds <= {bool}:
        return pl.Series(name, values, pl.Boolean())
    if kinds <= {int}:
        return pl.Series(name, values, pl.Int64())
    if kinds <= {int, float}:
        return pl.Series(name, values, pl.Float64(), strict=False)
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, texts, pl.String())


def summary(
    points: pl.DataFrame, runs: pl.DataFrame, batches: pl.DataFrame, met: Sequence[bool | None]
) -> pl.DataFrame:
    """One row per point."""
    by_point = _groups(runs, "point")
    batch_sums: dict[Any, list[float]] = {}
    if runs.height == points.height:
        batch_sums = _batch_sums(batches)
    rows = []
    for point in points["point"]:
        of_point = by_point[point]
        aggregate = _interval(of_point["aggregate_goodput_bps"].to_list(), batch_sums.get(point, []))
        fairness = stats.student_interval(of_point["jain"].drop_nulls().to_list())
        rows.append(
            {
                "point": point,
                "runs": of_point.height,
                "interval": aggregate.method,
                "aggregate_goodput_bps_mean": aggregate.mean,
                "aggregate_goodput_bps_half_width": aggregate.half_width,
                "jain_mean": None if math.isnan(fairness.mean) else fairness.mean,
                "jain_half_width": fairness.half_width,
                "dropped_packets_mean": of_point["dropped_packets"].mean(),
                "precision_met": met[point],
            }
        )
    schema = {
        "point": pl.Int64(),
        "runs": pl.Int64(),
        "interval": pl.String(),
        "aggregate_goodput_bps_mean": pl.Float64(),
        "aggregate_goodput_bps_half_width": pl.Float64(),
        "jain_mean": pl.Float64(),
        "jain_half_width": pl.Float64(),
        "dropped_packets_mean": pl.Float64(),
        "precision_met": pl.Boolean(),
    }
    return points.join(pl.DataFrame(rows, schema=schema, orient="row"), on="point", maintain_order="left")


def flow_summary(points: pl.DataFrame, flows: pl.DataFrame, batches: pl.DataFrame) -> pl.DataFrame:
    """One row per (point, flow), flows in the order of the scenario."""
    of_flow = _groups(batches, "point", "flow")
    transport = "flow_transport" if "flow_transport" in flows.columns else "transport"
    rows = []
    for (point, name), each in _groups(flows, "point", "flow").items():
        in_batches = (
            of_flow[point, name]["goodput_bps"].to_list() if each.height == 1 and (point, name) in of_flow else []
        )
        goodput = _interval(each["goodput_bps"].to_list(), in_batches)
        throughput = stats.student_interval(each["throughput_bps"].to_list())
        row: dict[str, object] = {
            "point": point,
            "flow": name,
            "src": frames.same(each["src"].to_list()),
            "dst": frames.same(each["dst"].to_list()),
            "hops": frames.same(each["hops"].to_list()),
            transport: each[transport][0],
            "runs": each.height,
            "interval": goodput.method,
            "goodput_bps_mean": goodput.mean,
            "goodput_bps_half_width": goodput.half_width,
            "throughput_bps_mean": throughput.mean,
            "throughput_bps_half_width": throughput.half_width,
        }
        row |= {mean: each[source].mean() for mean, source in _FLOW_MEANS.items()}
        rows.append(row)
    schema: Mapping[str, pl.DataType] = {
        "point": pl.Int64(),
        **{transport if name == "transport" else name: dtype for name, dtype in frames.SUMMARY.items()},
    }
    return points.join(pl.DataFrame(rows, schema=schema, orient="row"), on="point", maintain_order="right")


def _groups(frame: pl.DataFrame, *keys: str) -> dict[Any, pl.DataFrame]:
    parts = frame.partition_by(*keys, as_dict=True, maintain_order=True)
    return {(key[0] if len(keys) == 1 else key): part for key, part in parts.items()}


def _interval(values: Sequence[float], batches: Sequence[float]) -> stats.Interval:
    """Over the runs; of a single run over its batches, with the mean of the whole run."""
    interval = stats.student_interval(values)
    if len(values) == 1:
        over = stats.batch_means(batches)
        if over.half_width is not None:
            return stats.Interval(interval.mean, over.half_width, over.n, "batch means")
    return interval


def _batch_sums(batches: pl.DataFrame) -> dict[Any, list[float]]:
    """Goodput of all flows together in each batch of each point of one run; batches not every flow has are left out."""
    flows = batches.group_by("point").agg(pl.col("flow").n_unique().alias("flows"))
    sums = (
        batches.group_by("point", "batch", maintain_order=True)
        .agg(pl.col("goodput_bps").sum(), pl.len().alias("present"))
        .join(flows, on="point", maintain_order="left")
        .filter(pl.col("present") == pl.col("flows"))
        .sort("point", "batch")
    )
    return {point: part["goodput_bps"].to_list() for point, part in _groups(sums, "point").items()}
