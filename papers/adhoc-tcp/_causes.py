"""Experiments that show why figures differ from the paper: networks and measures that several studies need.

`own_set_up` has the same networks at more distances. Each run is computed once, however many studies need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourhop import Scenario
from fourhop.study import Cells, Estimate

from ._common import ADHOC, MIXED, NEWRENO, at_speed, carried, field, normalized

OLD_TIMERS = {"tcp.profile": "ns2-2003"}
"""Those of ns-2.1b9a, which the paper uses, and of all versions before October 2004."""

OLD_TIMERS_ARE = (
    "Timers before October 2004: round trips measured in ticks of 0.1 s, time-outs of at least 1 s, 6 s before the "
    "first round trip, an initial window of 1."
)

FEW = 6
"""Runs of such an experiment, unless it says otherwise."""


def fast(transports: Sequence[str], apart: int = 1500) -> Scenario:
    """The field under ns2 at 30 m/s, with the ends of the flows `apart` metres apart."""
    return at_speed(field("ns2", transports, apart), 30)


def mixes() -> Mapping[str, Scenario]:
    """The mix of figure 12, unchanged, with nearer ends, with older timers, and without back-off."""
    whole = fast(MIXED)
    return {
        "whole": whole,
        "near": fast(MIXED, 300),
        "nearer": fast(MIXED, 600),
        "timers": whole.with_(**OLD_TIMERS),
        "no-backoff": whole.with_(**{"tcp.rto_max": "1s"}),
    }


def newreno_ahead(cells: Cells) -> Estimate:
    """In the mix, throughput of NewReno over that of ad hoc TCP."""
    return carried(cells, NEWRENO) / carried(cells, ADHOC)


def goodput_gain(cells: Cells) -> Estimate:
    """In the mix, normalized goodput of ad hoc TCP over that of NewReno."""
    return normalized(cells, ADHOC) / normalized(cells, NEWRENO)
