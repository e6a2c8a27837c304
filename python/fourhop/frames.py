"""Tables of runs. Every column name includes its unit; every row names its seed or its flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from fourhop import columns, gathered
from fourhop.rundata import RunData

FLOWS = pl.Schema({"seed": pl.UInt64(), **columns.schema("flows")})

COUNTS = pl.Schema({"seed": pl.UInt64(), "layer": pl.String(), "name": pl.String(), "count": pl.UInt64()})

Counted = Literal["drops", "counters", "conservation", "link_drops", "wires"]

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
        **{column: pl.Float64() for column in gathered.MEANS},
    }
)


def flows(runs: Sequence[RunData]) -> pl.DataFrame:
    """One row per (seed, flow)."""
    rows = [
        {"seed": run["seed"], **{gathered.COLUMNS.get(key, key): value for key, value in flow.items()}}
        for run in runs
        for flow in run["flows"]
    ]
    return pl.DataFrame(rows, schema=FLOWS, orient="row")


def counts(runs: Sequence[RunData], table: Counted) -> pl.DataFrame:
    """One row per (seed, layer, name) of `table`; in tables of links, `layer` is the link."""
    rows = [
        (run["seed"], layer, name, count)
        for run in runs
        for layer, names in run[table].items()
        for name, count in names.items()
    ]
    return pl.DataFrame(rows, schema=COUNTS, orient="row")


def groups(frame: pl.DataFrame, *keys: str) -> dict[Any, pl.DataFrame]:
    """Rows grouped by the value of a column, or the tuple of values of several, in order of first appearance."""
    parts = frame.partition_by(*keys, as_dict=True, maintain_order=True)
    return {(key[0] if len(keys) == 1 else key): part for key, part in parts.items()}


def summary(flows: pl.DataFrame, *of: str) -> pl.DataFrame:
    """One row per flow (and per value of the columns `of`): means over the runs, rates with their 95 % interval.

    The argument is a frame of the function `flows`.
    """
    transport = "flow_transport" if "flow_transport" in flows.columns else "transport"
    rows: list[dict[str, object]] = []
    for each in groups(flows, *of, "flow").values():
        keys = {column: each[column][0] for column in (*of, "flow")}
        rows.append(keys | gathered.summarised(each.to_dict(as_series=False), transport))
    schema = {column: flows.schema[column] for column in of}
    schema |= {transport if name == "transport" else name: dtype for name, dtype in SUMMARY.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")
