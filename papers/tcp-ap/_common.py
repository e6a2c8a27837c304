"""Shared by the studies of TCP-AP: the set-up of section 3, the transports compared, the topologies.

Files are named `f<figure>_<what>.py`, two digits, so that the report lists them in the order of the paper; `s46` is
section 4.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fourhop import Scenario
from fourhop.study import STEADY, Profile, Variants
from fourhop.study.flows import STARVING

PAPER = "ElRakabawy, Klemm, Lindemann, MobiHoc 2005"

DELAYED: Mapping[str, Any] = {"tcp.ack_policy": "dynamic-delayed"}
"""Section 5: d grows from one to four. The timer is the profile's unless `DELAYED_TIMEOUT` is set."""

DELAYED_TIMEOUT = "100ms"
"""Longest wait of a delayed acknowledgement: that of ns-2's receiver, since the paper states none."""

CODE: Mapping[str, Any] = {"tcp_ap.profile": "authors-code", "tcp.max_timeouts": "none"}
"""The arithmetic of the ns-2 agent that the authors published, where it differs from their text.

Its time-outs do not back off. Under `standard` a connection is given up after fifteen time-outs, which should take 100
s or more (RFC 1122 section 4.2.3.5) but would pass in fifteen seconds; therefore no connection is given up here.
"""

STILL: Mapping[str, Any] = {"routing.protocol": "static"}
"""Routes that are known from the start and never break, to exclude AODV's false link failures."""

TIMERS_2003: Mapping[str, Any] = {"tcp.profile": "ns2-2003"}
"""TCP's clock, time-outs and first window as ns-2 had them before October 2004; the paper is of May 2005."""

NEWEST: Mapping[str, Any] = {"tcp_ap.samples": "every-ack-latest"}
"""The round trip is that of the newest acknowledged segment, without the receiver's delay."""

SHORTER: Mapping[str, Any] = {**STEADY, "packets": 22_000}
"""For measurements that are not in a figure: causes, other lengths, other grids."""

ASSUMED_SHORTER = "What the paper does not show (causes, other lengths, other grids) is measured over 22,000 packets."

_EVERY: Mapping[str, Any] = {"tcp.ack_policy": "every-segment"}
_DELAYED: Mapping[str, Any] = {**DELAYED, "tcp.delayed_ack_timeout": DELAYED_TIMEOUT}

VARIANTS = Variants(
    {
        "newreno": ("NewReno", "newreno", _EVERY),
        "newreno-da": ("NewReno + delayed ACK", "newreno", _DELAYED),
        "ap": ("TCP-AP", "tcp-ap", _EVERY),
        "ap-da": ("TCP-AP + delayed ACK", "tcp-ap", _DELAYED),
        "ap-code": ("TCP-AP, authors' code", "tcp-ap", {**_EVERY, **CODE}),
        "ap-code-da": ("TCP-AP, authors' code + delayed ACK", "tcp-ap", {**_DELAYED, **CODE}),
        "ap-da-newest": ("TCP-AP + delayed ACK, newest echo", "tcp-ap", {**_DELAYED, **NEWEST}),
        "ap-code-da-newest": (
            "TCP-AP, authors' code + delayed ACK, newest echo",
            "tcp-ap",
            {**_DELAYED, **CODE, **NEWEST},
        ),
        "vegas": ("Vegas", "vegas", _EVERY),
    }
)
"""The variants compared: short name, then label, transport and keys. The acknowledgements belong to the variant, so
they are the same in both profiles."""

LABELS = VARIANTS.labels
BOTH = {name: LABELS[name] for name in ("ap", "ap-code")}
"""The arithmetic of the paper and that of the authors' code."""
SHOWN = tuple(name for name in LABELS if name != "vegas" and not name.endswith("-newest"))
"""The variants compared in the figures with several flows."""
ECHOES = (*SHOWN, "ap-da-newest", "ap-code-da-newest")
"""The same, and delayed acknowledgements whose delay is not part of the round trip."""

ASSUMED = (
    "A window of at most 64 segments: the paper does not say how many segments the receivers accept.",
    "Under standard only routing, radio, medium access and the details of TCP differ: receivers acknowledge as the "
    "variant says, every segment or by d = 1..4.",
)
"""Assumptions of every study of this paper."""

ASSUMED_DELAYED = (
    f"A delayed acknowledgement waits at most {DELAYED_TIMEOUT}, as in ns-2's receivers; figure 14 shows the effect "
    "of another wait."
)
"""Assumptions of the studies with delayed acknowledgements."""

ASSUMED_STARVING = f"A flow starves if it has less than {STARVING:g} of an equal share; the paper gives no bound."

PARALLEL_HOPS = 4
"""Length of the symmetric parallel chains of figure 2, stated in neither figure nor text: that of the cross."""

OTHER_PARALLEL_HOPS = (4, 5, 6, 8)
"""Lengths that show the effect of this choice."""


def settings(keys: dict[str, Any]) -> dict[str, Any]:
    """Section 3: 2 Mbit/s, 1460 B, queues of 50, 250 m and 550 m, RTS always; the rest are defaults."""
    radio = {"rate": "2Mbps", **keys.pop("radio", {})}
    tcp = {"window": 64, "mss": "1460B", "ack_policy": "every-segment", **keys.pop("tcp", {})}
    return {**keys, "radio": radio, "tcp": tcp}


def chain(profile: Profile, hops: int = 7, **keys: Any) -> Scenario:
    """Figure 13: a chain with one flow from end to end."""
    return Scenario.chain(hops=hops, profile=profile, **settings(keys))


def cross(profile: Profile, **keys: Any) -> Scenario:
    """Figure 1: two chains of five nodes with a common middle; flow-1 on the horizontal one, flow-2 on the other."""
    return Scenario.cross(hops=4, profile=profile, **settings(keys))


def parallel(profile: Profile, hops: int | Sequence[int] = PARALLEL_HOPS, **keys: Any) -> Scenario:
    """Figure 2: chains 400 m apart with one flow along each: flow-1 along the lower one.

    With two lengths, these are the chains of section 5.1.3, centred on each other: `parallel(profile, [4, 10])`.
    """
    return Scenario.parallel_chains(hops=hops, separation="400m", profile=profile, **settings(keys))


def random(profile: Profile, pairs: int, **keys: Any) -> Scenario:
    """Sections 5.1.5 and 5.2.2: 120 nodes in 2500 m x 1000 m, random pairs; each seed draws its own network."""
    return Scenario.random(
        nodes=120, width="2500m", height="1000m", pairs=pairs, profile=profile, **settings(keys)
    )  # fmt: skip


compared = VARIANTS.compared
variant = VARIANTS.of
