"""Events that the page's buttons step to."""

from __future__ import annotations

import polars as pl

from fourhop.view import columns
from fourhop.view.columns import Nodes, among, code
from fourhop.view.tables import Tables

LOSS, DROP, TIMEOUT, ROUTE = range(4)
"""A frame lost at its destination node; a packet given up; a TCP timeout; a route added, changed or removed."""

COLUMNS = ("time", "what", "node", "flow", "ref", "reason")


def events(tables: Tables, nodes: Nodes, from_ns: int) -> pl.DataFrame:
    """All events since a time; `ref` is the lost frame or the dropped packet."""
    scans = {name: tables.find(name) for name in ("receptions", "frames", "packets", "tcp", "routes")}
    parts = []

    def add(what: int, rows: pl.LazyFrame, ref: pl.Expr, reason: pl.Expr) -> None:
        flow = columns.number("flow", kind=pl.Int16)
        parts.append(
            columns.read(
                tables,
                ("receptions", "packets", "tcp", "routes")[what],
                rows.select(
                    columns.time(),
                    pl.lit(what, pl.Int8).alias("what"),
                    nodes.column("node"),
                    flow,
                    ref.cast(pl.Float64).fill_null(-1).alias("ref"),
                    reason.cast(pl.Int8).alias("reason"),
                ),
            )
        )

    none = pl.lit(-1)
    since = pl.col("time_ns") >= from_ns
    receptions, frames = scans["receptions"], scans["frames"]
    if receptions is not None and frames is not None:
        lost = receptions.filter((pl.col("end_ns") >= from_ns) & ~among("fate", "received", "overheard"))
        meant = frames.filter(pl.col("dst").is_not_null()).select("frame", "flow", node="dst")
        rows = lost.select("frame", "node", "fate", time_ns="end_ns").join(meant, on=["frame", "node"])
        add(LOSS, rows, pl.col("frame"), code("fate", columns.FATES))
    if (packets := scans["packets"]) is not None:
        add(DROP, packets.filter(since & among("event", "dropped")), pl.col("packet"), code("reason", columns.REASONS))
    if (tcp := scans["tcp"]) is not None:
        add(TIMEOUT, tcp.filter(since & among("event", "timeout")), none, none)
    if (routes := scans["routes"]) is not None:
        # The routes at time 0 are those that a run begins with.
        changed = routes.filter(since & (pl.col("time_ns") > 0)).with_columns(none.alias("flow"))
        add(ROUTE, changed, none, none)
    empty = pl.DataFrame({name: pl.Series([], dtype=pl.Float64) for name in COLUMNS})
    return pl.concat(parts).sort("time", "what") if parts else empty
