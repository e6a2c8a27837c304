"""The shape of one finished run as the simulator hands it over, with units in the names."""

from __future__ import annotations

import json
from typing import Literal, TypedDict, cast

Counts = dict[str, dict[str, int]]
"""Counts by layer and then by name."""


class FlowRun(TypedDict):
    """One flow of one run."""

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
    files: int | None
    sent: int
    retransmitted: int
    timeouts: int
    fast_retransmits: int
    rtt_mean_s: float | None
    batch_goodput_bps: list[float]


class FlowSeries(TypedDict):
    """Time series of one flow; each list is as long as `Series.time_s`."""

    name: str
    goodput_bps: list[float]
    cwnd_segments: list[int | None]
    srtt_s: list[float | None]
    rtt_s: list[float | None]
    delay_s: list[float | None]
    variation: list[float | None]
    pacing_interval_s: list[float | None]


class NodeSeries(TypedDict):
    """Interface queue of one node over time."""

    node: int
    queue_packets: list[int]


class Series(TypedDict):
    """Time series of one run, at the scenario's step."""

    time_s: list[float]
    flows: list[FlowSeries]
    nodes: list[NodeSeries]


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
    series: Series | None


def parse(text: str) -> RunData:
    """Read a run as the simulator wrote it."""
    return cast(RunData, json.loads(text))
