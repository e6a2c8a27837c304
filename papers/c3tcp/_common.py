"""Shared by the studies of C3TCP: the network of figure 5, the variants compared, and the measured intervals.

Figures 6 to 8 and the queue at node 2 use one scenario, which each study runs for itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fourhop import Scenario
from fourhop.study import Cells, Chart, Data, Profile, Sample, Variants, series
from fourhop.study.flows import goodput_between

PAPER = "Kliazovich, Granelli 2005"

VARIANTS = Variants(
    {
        "standard": ("standard TCP", "newreno", {}),
        "c3": ("C3TCP", "newreno", {"c3tcp.enabled": True}),
        "c3-newest": ("C3TCP, newest measurement", "newreno", {"c3tcp.enabled": True, "c3tcp.smoothing": "0%"}),
        "vegas": ("Vegas", "vegas", {}),
        "westwood": ("Westwood", "westwood", {}),
    }
)
"""The variants compared: short name, then label, transport and keys."""

LABELS = VARIANTS.labels
compared = VARIANTS.compared

C3 = ("c3", "c3-newest")
"""Both interpretations: averaged measurements, and the newest alone."""
BOTH = {name: LABELS[name] for name in C3}

ALONE, CROSSED, AFTER = (3.0, 15.0), (16.0, 30.0), (31.0, 45.0)
"""Intervals in s: the TCP flow alone, with UDP, and alone again. One second at the start of each is left out."""
WHOLE = (3.0, 45.0)

UDP_RATE = "600kbps"

ASSUMED = (
    "Spacing of 200 m, reception 250 m, carrier sense 550 m: the paper gives none.",
    "11 Mbit/s data, 1 Mbit/s basic rate, queues of 50 packets, static routes (routing is outside its scope).",
    f"The two further nodes stand next to nodes 2 and 3 and send UDP of {UDP_RATE} each to one another through these "
    "two: the paper states neither the destination nor the rate.",
    "Standard TCP is NewReno. Receivers take 65,535 B and acknowledge every segment.",
    "Measurements are averaged with weight 75 % (the paper does not say); the newest alone is shown for comparison.",
)
"""For every study of this paper on the network of figure 5."""


def settings(profile: Profile, **keys: Any) -> dict[str, Any]:
    """The settings common to all studies of this paper, and other keys."""
    return {
        "profile": profile,
        "radio": {"rate": "11Mbps"},
        "link": {"arp": False},
        "routing": {"protocol": "static"},
        "tcp": {"ack_policy": "every-segment", "window": 64, "receive_buffer": "65535B"},
        **keys,
    }


def string(
    profile: Profile, *, udp: str | None = UDP_RATE, times: tuple[str, str] = ("15s", "30s"), **keys: Any
) -> Scenario:
    """Figure 5: nodes 1 to 4 (0 to 3 here) in a string with a TCP flow; 5 and 6 next to 2 and 3, UDP between them."""
    places = [("0m", "0m"), ("200m", "0m"), ("400m", "0m"), ("600m", "0m"), ("200m", "200m"), ("400m", "200m")]
    flows: list[dict[str, Any]] = [{"name": "tcp", "from": 0, "to": 3, "transport": "newreno", "start": "0s"}]
    if udp is not None:
        start, stop = times
        of_udp = {"transport": "udp", "rate": udp, "start": start, "stop": stop}
        flows += [{"name": "udp-1", "from": 4, "to": 5, **of_udp}, {"name": "udp-2", "from": 5, "to": 4, **of_udp}]
    return Scenario.positions(places, flows=flows, **settings(profile, **keys))


def figure5(profile: Profile) -> Scenario:
    """The scenario of figures 6 to 8: 45 s, UDP from 15 to 30 s."""
    return string(profile, duration="45s", warmup="3s", sample_every="250ms")


def chain(profile: Profile, hops: int = 3, **keys: Any) -> Scenario:
    """A string of any length with one flow from end to end."""
    return Scenario.chain(hops=hops, **settings(profile, **keys))


def rate(cells: Cells, name: str, when: tuple[float, float]) -> Sample:
    """Goodput of the TCP flow of a variant between two times in kbit/s, one value per run."""
    return goodput_between(cells.where(variant=name), "tcp", when)


TIMES = {"whole run": WHOLE, "alone": ALONE, "with UDP": CROSSED, "alone again": AFTER}
GOODPUTS = {text: partial(goodput_between, flow="tcp", when=when) for text, when in TIMES.items()}
"""Columns of a table."""


def over_time(data: Data) -> Chart:
    """Goodput over steps of 250 ms, one run; UDP from 15 to 30 s."""
    return series(data.against, "goodput_bps", by="variant", flows={"tcp": ""}, labels=LABELS)
