"""Links and wired paths of a network, for the map and the sequence diagram."""

from __future__ import annotations

import functools
import json
from typing import Any

import polars as pl

from fourhop.errors import FourhopError
from fourhop.picture import Network
from fourhop.view.columns import Nodes
from fourhop.view.tables import Tables

MOST_LINKS = 5000
"""Maximum number of links on a map: more would make it black and the page large."""

Link = tuple[int, int, float, bool]
"""Two indices in the list of nodes, the margin in dB, and whether both directions exist."""


def links(meta: dict[str, Any]) -> list[Link]:
    """The links at the start of the run, as `fourhop draw` shows them.

    Empty if nodes move, as links would become outdated, if there are too many to see, or if this version cannot read
    the scenario of the trace.
    """
    nodes = meta["nodes"]
    if not meta.get("scenario") or any(node.get("moves") for node in nodes):
        return []
    places = {each["node"]: place for place, each in enumerate(nodes)}
    found = _surveyed(json.dumps(meta["scenario"]), int(meta.get("seed") or 0))
    known = [link for link in found if link[0] in places and link[1] in places]
    return [(places[a], places[b], db, both) for a, b, db, both in known] if len(known) <= MOST_LINKS else []


@functools.lru_cache(maxsize=4)
def _surveyed(scenario_json: str, seed: int) -> tuple[Link, ...]:
    try:
        pairs = Network.of(scenario_json, seed).pairs
    except FourhopError:
        return ()
    return tuple((a, b, round(db, 1), both) for (a, b), (db, both) in sorted(pairs.items()))


def wired_routes(tables: Tables, nodes: Nodes, columns: list[str]) -> pl.DataFrame | None:
    """The paths of packets over wires, as routes, since tables of routes cover only radios.

    The first path to a destination is valid from the start on, a later one from its first packet on.
    """
    packets = tables.find("packets")
    if packets is None or all(each["radio"] for each in tables.meta["nodes"]):
        return None
    last = pl.col("peer").shift().over("node", "dst")
    taken = (
        packets.filter(pl.col("event").cast(pl.String) == "wire-out")
        .sort("time_ns", maintain_order=True)
        .with_columns(last.alias("last"))
        .filter(pl.col("last").is_null() | (pl.col("last") != pl.col("peer")))
    )
    start = pl.lit(tables.meta["start_ns"])
    return taken.select(
        pl.when(pl.col("last").is_null()).then(start).otherwise("time_ns").cast(pl.Float64).alias("time"),
        nodes.column("node"),
        nodes.column("dst"),
        nodes.column("peer", "next"),
        pl.lit(-1, pl.Int32).alias("hops"),
        pl.lit(1, pl.Int8).alias("up"),
    ).collect()[columns]


def opening(tables: Tables, nodes: Nodes, span: tuple[int, int]) -> dict[str, int]:
    """The frame at which the page opens: the first with data of a flow to a neighbour, or else the first of all.

    `t` is the middle of the frame, so that it is on the map; `from` is its start. Codes of -1 mean none.
    """
    frames = tables.find("frames")
    nothing = {"from": span[0], "t": span[0], "frame": -1, "flow": -1, "node": -1}
    if frames is None:
        return nothing
    kind = pl.col("kind").cast(pl.String)
    for wanted in ((kind == "data") & pl.col("flow").is_not_null() & pl.col("dst").is_not_null(), pl.lit(True)):
        # Rows are ordered by start, so nothing is read beyond the first match.
        rows = frames.filter((pl.col("start_ns") >= span[0]) & wanted).head(1)
        found = rows.select("frame", "start_ns", "end_ns", nodes.column("node"), "flow").collect()
        if len(found):
            row = found.row(0, named=True)
            begin, end = int(row["start_ns"]), int(row["end_ns"])
            flow = -1 if row["flow"] is None else int(row["flow"])
            return {
                "from": min(begin, span[1]),
                "t": min((begin + end) // 2, span[1]),
                "frame": int(row["frame"]),
                "flow": flow,
                "node": int(row["node"]),
            }
    return nothing
