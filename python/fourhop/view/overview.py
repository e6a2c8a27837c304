"""A whole trace in time bins, for time lines that are too dense to show single frames."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from fourhop.view.columns import FATES, STATES, Nodes, among, code, read
from fourhop.view.tables import Tables

_LOST = tuple(FATES[FATES.index(name)] for name in ("collision", "frame-error"))
"""Losses shown: those of copies that were strong enough to be received."""
_CHANNELS = (("transmitting",), ("receiving",), ("busy", "eifs", "nav", "waiting"))


def overview(tables: Tables, nodes: Nodes, span: tuple[int, int], bins: int) -> npt.NDArray[np.uint8]:
    """For each node and bin: shares of time (of 255) sending, receiving and sensing; then the number of lost copies."""
    count = len(nodes.places)
    sums = np.zeros((4, count, bins))
    inside = pl.col("end_ns") >= span[0]
    mac, receptions = tables.find("mac"), tables.find("receptions")
    if mac is not None:
        found = mac.filter(inside).select(nodes.column("node"), "start_ns", "end_ns", code("state", STATES))
        rows = read(tables, "mac", found)
        for channel, states in enumerate(_CHANNELS):
            kind = pl.col("state").is_in([STATES.index(state) for state in states])
            sums[channel] = 255 * _covered(rows.filter(kind), count, span, bins)
    if receptions is not None:
        missed = receptions.filter(inside & among("fate", *_LOST))
        lost = missed.select(nodes.column("node"), "end_ns").collect()
        at = np.clip((lost["end_ns"].to_numpy() - span[0]) * bins // (span[1] - span[0]), 0, bins - 1)
        sums[3] = np.bincount(lost["node"].to_numpy() * bins + at, minlength=count * bins).reshape(count, bins)
    return np.clip(np.ceil(sums), 0, 255).astype(np.uint8)


def _covered(rows: pl.DataFrame, nodes: int, span: tuple[int, int], bins: int) -> npt.NDArray[np.float64]:
    """The share of each bin that is covered by the intervals of a node.

    A start adds the rest of its bin and all later bins; an end subtracts both again.
    """
    width = (span[1] - span[0]) / bins
    node = rows["node"].to_numpy().astype(np.int64)
    parts, later = np.zeros(nodes * (bins + 1)), np.zeros(nodes * (bins + 1))
    for column, sign in (("start_ns", 1.0), ("end_ns", -1.0)):
        at = np.clip((rows[column].to_numpy() - span[0]) / width, 0, bins)
        whole = np.minimum(at.astype(np.int64), bins - 1)
        place = node * (bins + 1) + whole
        parts += sign * np.bincount(place, whole + 1 - at, nodes * (bins + 1))
        later += sign * np.bincount(place + 1, minlength=nodes * (bins + 1))
    covered = parts + np.cumsum(later.reshape(nodes, bins + 1), axis=1).ravel()
    # Rounding leaves sums of fractions slightly off 0.
    return np.where(covered > 1e-9, covered, 0.0).reshape(nodes, bins + 1)[:, :bins].clip(0, 1)
