"""Shared by the studies with several flows: how and why they count packets, and means over random networks."""

from __future__ import annotations

from collections.abc import Mapping

from fourhop.study import Cells, Chart, Run, groups
from fourhop.study.flows import Of

from ._common import LABELS, SHOWN

ASSUMED_COUNT = (
    "The 55,000 packets are counted over all flows: a starving flow would never deliver that many, so the paper can "
    "hardly have waited for each."
)

DELAYED_COSTS = (
    "at the pace of TCP-AP four segments take longer than a receiver waits for them; the wait counts towards the "
    "round trip and slows the pace further (docs/tcp-ap.md)"
)
"""Why delayed ACKs do not help TCP-AP as they do in the paper."""


def one(cells: Cells) -> Run:
    """The first run of the first cell, for values that all runs share or that exist only once."""
    found: list[Run] = []

    def keep(run: Run) -> float:
        found.append(run)
        return 0.0

    next(iter(cells)).measure(keep)
    return found[0]


def over_networks(places: Mapping[str, Cells], of: Of, label: str) -> Chart:
    """Bars for each of several sweeps over networks, with one colour per variant."""
    return groups(
        {LABELS[name]: {place: cells.measure(of, variant=name) for place, cells in places.items()} for name in SHOWN},
        label,
    )


def paths(run: Run) -> str:
    """The hop counts of all pairs, shortest first."""
    return " ".join(str(hops) for hops in sorted(flow["hops"] for flow in run.flows.values()))
