"""The networks of the comparison with the radios of the papers, with those of today, and with every step in between."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fourhop import Scenario
from fourhop.study import Estimate, Run, Sample, Variants, run_by_run

AIR: Mapping[str, Any] = {"model": "sinr", "tx_power": "20dBm", "exponent": 3.0, "basic_rate": "6Mbps"}
"""20 dBm and 30 dB a decade, as `fourhop import` assumes, with the noise figure of 7 dB that is the default."""

N: Mapping[str, Any] = {**AIR, "phy": "ht", "mcs": 3}
"""802.11n at 5 GHz, 26 Mbit/s in 20 MHz."""

FADING: Mapping[str, Any] = {"fading": "rician", "rician_k": "6dB", "doppler": "2Hz"}
"""As `fourhop import` assumes."""

MAC: Mapping[str, Any] = {"answer_rate": "mandatory", "short_retry_limit": 20, "long_retry_limit": 20}
"""Answers as IEEE 802.11 says, as many tries as `fourhop import` assumes; RTS before every frame, as in the papers."""

TCP: Mapping[str, Any] = {"mss": "1460B", "ack_policy": "every-segment"}

STEPS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "papers": (
        "802.11b, AODV",
        {"radio": {"rate": "2Mbps"}, "tcp": {**TCP, "window": 64}, "duration": "100s", "warmup": "10s"},
    ),
    "routes": ("fixed routes", {"routing": {"protocol": "static"}}),
    "rates": (
        "802.11a, 24 Mbit/s",
        {"radio": {**AIR, "phy": "ofdm", "rate": "24Mbps"}, "mac": MAC, "duration": "12s", "warmup": "2s"},
    ),
    "aggregates": ("802.11n, aggregates", {"radio": N}),
    "window": ("windows without limit", {"tcp": TCP}),
    "fq-codel": ("FQ-CoDel", {"link": {"queue": "fq-codel"}}),
    "channels": ("two channels", {"radios": [{"channel": 36}, {"channel": 44}]}),
    "minstrel": (
        "Minstrel-HT, routes by airtime",
        {
            "radio": {**N, "mcs": 7},
            "mac": {**MAC, "rate_control": "minstrel"},
            "routing": {"protocol": "static", "metric": "airtime"},
        },
    ),
    "fading": (
        "signals fade",
        {
            "radio": {**N, "mcs": 7, **FADING},
            "routing": {"protocol": "static", "metric": "airtime", "metric_over_fades": True},
        },
    ),
}
"""From the papers' mesh to today's, one change at a time: what is new, and the sections that apply from then on."""

TODAY = list(STEPS)[-1]
OLD_RADIO = ("papers", "routes")

SPACING_M = {True: 200.0, False: 60.0}
"""Between neighbours, with the old radio and with today's. In both the next but one is sensed, the one after it is
not. At 60 m the signal is 13.9 dB above noise (24 Mbit/s of 802.11a need 11.7 dB, MCS 3 needs 12.0: docs/radio.md),
at 120 m 4.9 dB (a preamble needs 4), at 180 m -0.4 dB."""

REACH_M = {True: 250.0, False: 69.0}
"""How far data reaches."""

STRONG_DBM = -81.1
"""Half-way in decibels between the power over 60 m and over 69 m: the rule of `side_by_side`."""

KERNEL: Mapping[str, Any] = {"tcp.sack_recovery": "rack-tlp", "tcp.hystart": True}
"""With CUBIC: the Linux defaults, except for the stack's own pacing (docs/tcp.md)."""

BASE = "cubic"
PACED: Mapping[str, Any] = {**KERNEL, "gateway.kind": "gap"}
TRANSPORTS = Variants(
    {
        BASE: ("kernel CUBIC", "cubic", KERNEL),
        "newreno": ("NewReno", "newreno", {}),
        "bbr": ("BBR", "bbr", {}),
        "ap": ("TCP-AP", "tcp-ap", {}),
        "gap": ("TCP-GAP for CUBIC", "cubic", PACED),
        "gap-short": ("TCP-GAP for CUBIC, bounded queue", "cubic", {**PACED, "gateway.sojourn": "50ms"}),
        "adhoc": ("ad hoc TCP", "adhoc-tcp", {}),
        "rbp": ("RBP", "rbp", {}),
        "c3": ("C3TCP", "newreno", {"c3tcp.enabled": True, "tcp.receive_buffer": "93440B"}),
    }
)
"""By short name: label, transport, keys; C3TCP as in `side_by_side`."""

NETWORKS = {
    "chain": "chain, 7 hops",
    "cross": "cross, 2 flows",
    "parallel": "parallel, 2 flows",
    "grid": "grid, 6 flows",
    "random": "random, 6 flows",
    "gateway": "gateway, 7 downloads",
}


def sections(step: str) -> dict[str, Any]:
    """All sections of a scenario but topology, wires and flows."""
    made: dict[str, Any] = {"profile": "standard"}
    for name, (_, changed) in STEPS.items():
        made |= changed
        if name == step:
            break
    return made


def network(name: str, step: str = TODAY) -> Scenario:
    """A network of the comparison at a step, with NewReno's flows."""
    old = step in OLD_RADIO
    metres, keys = {"spacing": f"{SPACING_M[old]:g}m"}, sections(step)
    match name:
        case "chain":
            return Scenario.chain(7, **metres, **keys)
        case "cross":
            return Scenario.cross(4, **metres, **keys)
        case "parallel":
            return Scenario.parallel_chains(4, separation=f"{2 * SPACING_M[old]:g}m", **metres, **keys)
        case "grid":
            return _grid(metres, keys)
        case "random":
            # As many nodes within reach of each other as among the papers' 120 nodes on 2500 m x 1000 m.
            sides = {"width": f"{7 * REACH_M[old]:g}m", "height": f"{2.9 * REACH_M[old]:.0f}m"}
            return Scenario.random(60, pairs=6, **sides, **keys)
        case _:
            return _gateway(metres, keys)


def variant(name: str, transport: str, step: str = TODAY) -> Scenario:
    """A network at a step with one of the transports."""
    return TRANSPORTS.of(network(name, step), transport)


def _flows(*ends: tuple[int | str, int | str]) -> list[dict[str, Any]]:
    return [{"from": src, "to": dst, "transport": "newreno"} for src, dst in ends]


def _grid(metres: Mapping[str, str], keys: Mapping[str, Any]) -> Scenario:
    """Five by five nodes with flows along the three inner rows and columns."""
    side, inner = 5, (1, 2, 3)
    across = [(side * row, side * row + side - 1) for row in inner]
    down = [(column, side * (side - 1) + column) for column in inner]
    return Scenario.grid(side, side, flows=_flows(*across, *down), **metres, **keys)


def _gateway(metres: Mapping[str, str], keys: Mapping[str, Any]) -> Scenario:
    """A gateway in the middle of a cross with arms of four hops: downloads to all ends, and to all of one arm."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "cross", "hops": 8, **metres},
            "wired": {"gateways": [4], "nodes": ["internet"], "rate": "100Mbps", "delay": "15ms"},
            "flows": _flows(*(("internet", node) for node in (0, 8, 9, 16, 5, 6, 7))),
            **keys,
        }
    )


def per_frame(run: Run) -> float:
    """Packets per data frame."""
    mac = run.counters["mac"]
    return mac["mpdus_sent"] / mac["data_sent"] if mac["data_sent"] else math.nan


def together(ours: Sequence[Sample], theirs: Sequence[Sample]) -> Estimate:
    """Ratio of the geometric means over several networks: each has the same weight, whatever it carries."""

    def mean(*each: float) -> float:
        return math.prod(each) ** (1.0 / len(each))

    return run_by_run(mean, *ours) / run_by_run(mean, *theirs)
