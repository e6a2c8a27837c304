"""The structure of a finished run as the simulator returns it, with units in the names."""

from __future__ import annotations

import json
from typing import Any, Literal, NotRequired, TypedDict, cast

Counts = dict[str, dict[str, int]]
"""Counts by layer or link, then by name."""


class FlowRun(TypedDict):
    """One flow of one run: those of the fields declared by the simulator that are read by name."""

    name: str
    src: int
    dst: int
    hops: int | None
    transport: str
    app: str
    goodput_bps: float
    throughput_bps: float
    delivered_bytes: int
    active_s: float
    averaged_goodput_bps: float
    file_goodput_bps: float | None
    files: int | None
    sent: int
    retransmitted: int
    timeouts: int
    fast_retransmits: int
    rtt_mean_s: float | None
    rtt_min_s: float | None
    rtt_median_s: float | None
    rtt_max_s: float | None
    rtt_std_s: float | None
    age_mean_s: float | None
    age_median_s: float | None
    age_p95_s: float | None
    age_p99_s: float | None
    route_changes: int
    route_discoveries: int
    discovery_first_s: float | None
    discovery_mean_s: float | None
    discovery_max_s: float | None
    batch_goodput_bps: list[float]


SeriesColumns = dict[str, list[Any]]
"""A table of time series, one list per column."""


class RunData(TypedDict):
    """One run."""

    seed: int
    simulated_s: float
    ended_by: Literal["duration", "packets"]
    wall_s: float
    events: int
    frames: int
    receptions: int
    flows: list[FlowRun]
    aggregate_goodput_bps: float
    jain: float | None
    drops: Counts
    counters: Counts
    conservation: Counts
    link_drops: Counts
    """Packets that the MAC gave up, by radio link (`"3-4"`) and kind of packet."""
    wires: Counts
    """Counts for each direction of a wired link (`"4-R1"`), by name."""
    recorded: NotRequired[dict[Literal["series", "queues"], SeriesColumns] | None]
    """Time series, if they are part of the run, as in sweeps. Elsewhere they stay in files, see `fourhop.recorded`."""


def parse(text: str) -> RunData:
    """Parse a run as the simulator wrote it."""
    return cast(RunData, json.loads(text))
