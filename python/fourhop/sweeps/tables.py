"""Tables over the points of a sweep: varied keys, and means with intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from fourhop import frames, gathered, stats
from fourhop.sweeps.describe import Sweep


def points(sweep: Sweep) -> pl.DataFrame:
    """One row per point. Numbers stay numbers; a column of mixed types is written as text."""
    columns: dict[str, pl.Series] = {"point": pl.Series("point", range(len(sweep.points)), pl.Int64())}
    for key in sweep.keys:
        columns[key] = column(key, [point.parameters[key] for point in sweep.points])
    return pl.DataFrame(columns)


def column(name: str, values: Sequence[object]) -> pl.Series:
    """The values of a key as a column of one type."""
    kinds = {type(value) for value in values}
    if kinds <= {bool}:
        return pl.Series(name, values, pl.Boolean())
    if kinds <= {int}:
        return pl.Series(name, values, pl.Int64())
    if kinds <= {int, float}:
        return pl.Series(name, values, pl.Float64(), strict=False)
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, texts, pl.String())


def summary(points: pl.DataFrame, runs: pl.DataFrame, flows: pl.DataFrame, met: Sequence[bool | None]) -> pl.DataFrame:
    """One row per point, from tables with one row per run and one row per run and flow."""
    flows_of = frames.groups(flows, "point")
    rows = []
    for point, of_point in frames.groups(runs, "point").items():
        batches = gathered.batch_sums(flows_of[point]["batch_goodput_bps"].to_list()) if of_point.height == 1 else []
        aggregate = stats.over_runs(of_point["aggregate_goodput_bps"].to_list(), batches)
        fairness = stats.over_known(of_point["jain"].to_list())
        rows.append(
            {
                "point": point,
                "runs": of_point.height,
                "interval": aggregate.method,
                "aggregate_goodput_bps_mean": aggregate.mean,
                "aggregate_goodput_bps_half_width": aggregate.half_width,
                "jain_mean": fairness and fairness.mean,
                "jain_half_width": fairness and fairness.half_width,
                "dropped_packets_mean": gathered.mean(of_point["dropped_packets"].to_list()),
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


def flow_summary(points: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """One row per (point, flow), flows in the order of the scenario."""
    return points.join(frames.summary(flows, "point"), on="point", maintain_order="right")
