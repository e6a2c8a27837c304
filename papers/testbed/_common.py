"""Shared by the studies of the testbed: the hallway, its laptops, and their walks.

Files are named `f<figure>`, `t<table>`, two digits. `f00_fit` finds the two numbers of the hallway that are not in the
paper, using only the four throughputs of table 5; every other study uses them unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fourhop import Scenario
from fourhop.study import Chart, Data, Profile, Sample, curves

PAPER = "Gupta, Wormsbecker, Williamson, MASCOTS 2004"

PACED: Mapping[str, str] = {"reno": "Reno", "rbp-reno": "RBP"}
"""The transports compared, with their labels."""

HOPS = (1, 2, 3, 4)

RENO: Mapping[int, float] = {1: 4690.0, 2: 2220.0, 3: 1440.0, 4: 1240.0}
"""Table 5: throughput of the laptops with Reno by number of hops, in kbit/s: the only data used by the fit."""

SPACING_M = 12.5
"""Section 4: four hops in 50 m of hallway."""

EXPONENT = 3.6
"""Path loss exponent, fitted (`f00_fit`)."""

RICIAN_K_DB = 15.0
"""Ratio of the direct path to all reflections together. One of several values that fit the throughputs equally well
(`f00_fit`)."""

LINUX_2_4: Mapping[str, Any] = {
    "mss": "1448B",
    "window": 44,
    "initial_window": 3,
    "growth_limit": 1,
    "rto_initial": "3s",
    "rto_min": "200ms",
    "rto_granularity": "200ms",
    "rto_max": "120s",
    "ack_policy": "delayed",
    "delayed_ack_timeout": "40ms",
}
"""TCP of kernel 2.4.18: RFC 2414's initial window for such segments, growth by one segment per acknowledgement, an RTO
of 3 s before the first sample and then of at least the smoothed round trip plus 200 ms, and 64 kB in flight."""

TEST_S = 120.0
"""Section 4: the duration of each netperf test."""

START_S = 10.0
"""Start of the flows, after nodes have exchanged HELLO messages."""

SPEEDS: Mapping[str, float] = {"slow": 0.33, "medium": 0.66, "fast": 1.0}
"""Section 5.1, in m/s. The paper calls the medium one "in between"."""

HYSTERESIS_DB = 3.0
"""Our own addition to the paper's routing, used only in studies that say so."""

ASSUMED = (
    "Laptops 12.5 m apart: 50 m of hallway for four hops. They send with 1 mW, the lowest power of a Cisco Aironet "
    "350, on channel 6, at 11 Mbit/s with long preambles, broadcasts and acknowledgements at 1 Mbit/s, without RTS.",
    "Section 4 says automatic rate selection, section 6 the 11 Mbit/s configuration: here the rate is fixed, "
    "and `f00_fit` "
    "shows what rates that adapt change. Section 5.2 speaks of RTS/CTS handshakes; with them a single hop "
    "carries far less "
    "than the paper's, as `f00_fit` shows, so they were off, as they are on such cards by default.",
    "The receivers need 4 dB more than theory, which makes them as sensitive as the card's data sheet "
    "says (-85 dBm at 11 "
    "Mbit/s). People in the hallway make the channel fade with 5 Hz.",
    "TCP as in Linux 2.4, except for its recovery by SACK, because the paper says Reno: an initial window of 3 "
    "segments of 1448 B "
    "(time stamps), a first time-out of 3 s, later ones of at least 200 ms above the round trip, acknowledgements "
    "delayed by at most 40 ms, and 64 kB in flight.",
    "HELLO_STRENGTH_THRESHOLD, which the paper does not state, is half-way in decibels between "
    "neighbours and neighbours' "
    "neighbours. Routing finds lost links by HELLO messages alone, as the kernel's driver reported no failed frames.",
)
"""Assumptions of every study of the hallway."""


def strength_dbm(metres: float, exponent: float = EXPONENT) -> float:
    """Mean received power at a distance: 1 mW, free space at 2437 MHz for the first metre."""
    return -20.0 * math.log10(4.0 * math.pi * 2.437e9 / 299_792_458.0) - 10.0 * exponent * math.log10(metres)


def threshold_dbm(exponent: float = EXPONENT) -> float:
    """HELLO_STRENGTH_THRESHOLD: half-way between one spacing and two."""
    return (strength_dbm(SPACING_M, exponent) + strength_dbm(2.0 * SPACING_M, exponent)) / 2.0


def radio(exponent: float = EXPONENT, rician_k_db: float = RICIAN_K_DB, **keys: Any) -> dict[str, Any]:
    """Keys of the hallway's radio."""
    return {
        "model": "sinr",
        "rate": "11Mbps",
        "basic_rate": "1Mbps",
        "tx_power": "0dBm",
        "frequency": "2437MHz",
        "exponent": exponent,
        "implementation_loss": "4dB",
        "fading": "rician",
        "rician_k": f"{rician_k_db:g}dB",
        "doppler": "5Hz",
        **keys,
    }


def aware(exponent: float = EXPONENT, **keys: Any) -> dict[str, Any]:
    """The keys of the paper's routing."""
    return {"protocol": "ssa-aodv", "signal_threshold": f"{threshold_dbm(exponent):.2f}dBm", **keys}


PLAIN: Mapping[str, Any] = {
    "protocol": "aodv",
    "hello": True,
    "hello_always": True,
    "hello_jitter": "100ms",
    "ttl_start": 2,
    "link_layer_detection": False,
}
"""The same without signal strength: RFC 3561 with HELLO messages."""


def hallway(
    profile: Profile, hops: int, transport: str = "reno", client_at_m: float | None = None, **keys: Any
) -> Scenario:
    """Figure 4: a server at 0 m, laptops every 12.5 m, and the client, which is the last node and sends to the server.

    The client is at the last position of the chain, or at `client_at_m`.
    """
    client = hops
    at = hops * SPACING_M if client_at_m is None else client_at_m
    places = [(f"{node * SPACING_M:g}m", "0m") for node in range(hops)] + [(f"{at:g}m", "1m")]
    flow: dict[str, Any] = {"name": "test", "from": client, "to": 0, "transport": transport, "start": f"{START_S:g}s"}
    flow |= keys.pop("flow", {})
    settings: dict[str, Any] = {
        "profile": profile,
        "duration": f"{START_S + TEST_S:g}s",
        "warmup": f"{START_S:g}s",
        "radio": radio(),
        "mac": {"rts_threshold": "3kB"},
        "routing": aware(),
        "tcp": dict(LINUX_2_4),
        "flows": [flow],
    }
    return Scenario.positions(places, **{**settings, **keys})


def walking(profile: Profile, hops: int, speed: float, transport: str = "reno", **keys: Any) -> Scenario:
    """The client walks from the server to the last position of the chain during the test, and stays there."""
    far = hops * SPACING_M
    ways = [
        [hops, f"{START_S:g}s", f"{NEAR_M:g}m", "1m"],
        [hops, f"{speed:g}m/s", f"{far:g}m", "1m"],
    ]
    mobility = {"model": "waypoints", "waypoints": ways}
    return hallway(profile, hops, transport, client_at_m=NEAR_M, mobility=mobility, **keys)


NEAR_M = 2.0
"""Start of a walking client."""


def throughput(data: Data, name: str, hops: int) -> Sample:
    """Throughput of the tests named `name` over this number of hops, in kbit/s."""
    return data.tests.goodput(variant=f"{name}, {hops} hops")


def throughputs(data: Data, labels: Mapping[str, str], lengths: Sequence[int]) -> Chart:
    """Throughput by number of hops, one curve per name."""
    points = {label: {n: throughput(data, name, n) for n in lengths} for name, label in labels.items()}
    return curves(points, "hops", "throughput (kbit/s)")
