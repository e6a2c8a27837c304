"""Shared by the studies of C3TCP: the network of figure 5, the variants compared, and the measured intervals.

Figures 6 to 8 and the queue at node 2 use the same scenario, which each study runs separately.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Sample, Variants, above, ratio, series, table_by
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

OVER_STANDARD = 1.27
"""The paper's ratio of C3TCP to standard TCP."""
OVER_THE_OTHERS = {"westwood": 1.18, "vegas": 1.07}
"""The paper's ratio of C3TCP to each of these."""

ALONE, CROSSED, AFTER = (3.0, 15.0), (16.0, 30.0), (31.0, 45.0)
"""Intervals in s: the TCP flow alone, with UDP, and alone again. One second at the start of each is left out."""
WHOLE = (3.0, 45.0)

UDP_RATE = "600kbps"

NODE = 1
"""Node 2 of the paper, which the cross traffic passes."""

FIXED = (1, 2, 3, 4, 6, 8, 20)
"""Fixed windows in segments, for comparison."""

ASSUMED = (
    "Spacing of 200 m, reception 250 m, carrier sense 550 m (ns-2's ranges): the paper says only that neighbours alone "
    "can communicate. Other ranges are in our study own_setup.",
    "11 Mbit/s data, 1 Mbit/s basic rate, queues of 50 packets, static routes (the paper assumes that a path exists "
    "and leaves routing out).",
    f"The two additional nodes send UDP of {UDP_RATE} each to each other. They stand 240 m from nodes 2 and 3, on "
    "opposite sides of the string, so that this traffic crosses it over both: the paper names two sources, but "
    "neither their destinations nor their rate.",
    "Standard TCP is NewReno. Receivers take 65,535 B and acknowledge every segment.",
    "Measurements are averaged with weight 75 % (the paper does not say); the newest alone is shown for comparison.",
)
"""Assumptions of every study of this paper on the network of figure 5."""


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


Places = tuple[tuple[str, str], ...]

STRING: Places = (("0m", "0m"), ("200m", "0m"), ("400m", "0m"), ("600m", "0m"))
CROSSING: Places = (("200m", "240m"), ("400m", "-240m"))
"""The two UDP sources out of each other's range: their traffic takes three hops, over nodes 2 and 3."""

BESIDE: Places = (("200m", "200m"), ("400m", "200m"))
"""The two UDP sources within each other's range: their traffic takes one hop."""


def string(
    profile: Profile,
    *,
    sources: Places = CROSSING,
    udp: str | None = UDP_RATE,
    times: tuple[str, str] = ("15s", "30s"),
    **keys: Any,
) -> Scenario:
    """Figure 5: nodes 1 to 4 (0 to 3 here) in a string with a TCP flow; 5 and 6 across it, with UDP between them."""
    flows: list[dict[str, Any]] = [{"name": "tcp", "from": 0, "to": 3, "transport": "newreno", "start": "0s"}]
    if udp is not None:
        start, stop = times
        of_udp = {"transport": "udp", "rate": udp, "start": start, "stop": stop}
        flows += [{"name": "udp-1", "from": 4, "to": 5, **of_udp}, {"name": "udp-2", "from": 5, "to": 4, **of_udp}]
    return Scenario.positions([*STRING, *sources], flows=flows, **settings(profile, **keys))


def figure5(profile: Profile, sources: Places = CROSSING) -> Scenario:
    """The scenario of figures 6 to 8: 45 s, UDP from 15 to 30 s."""
    return string(profile, sources=sources, duration="45s", warmup="3s", sample_every="250ms")


def chain(profile: Profile, hops: int = 3, **keys: Any) -> Scenario:
    """A string of any length with one flow from end to end."""
    return Scenario.chain(hops=hops, **settings(profile, **keys))


def rate(cells: Cells, name: str, when: tuple[float, float]) -> Sample:
    """Goodput of the TCP flow of a variant between two times in kbit/s, one value per run."""
    return goodput_between(cells.where(variant=name), "tcp", when)


def silence(cells: Cells) -> Sample:
    """Share of the steps of 250 ms with UDP in which nothing arrived, in each run."""
    return cells.over_time("goodput_bps", "tcp", *CROSSED, of=lambda goodput: (goodput == 0).mean())


def longest(cells: Cells, when: tuple[float, float] = CROSSED) -> Sample:
    """The longest queue of node 2 between two times, in each run."""
    return cells.queue(NODE, *when, lambda packets: packets.max())


def mean_queue(cells: Cells, when: tuple[float, float] = CROSSED) -> Sample:
    """The mean queue of node 2 between two times, in each run."""
    return cells.queue(NODE, *when, lambda packets: packets.mean())


def swings(cells: Cells) -> dict[str, Claim]:
    """Whether the window changes by a fifth more with the newest measurements than with averaged ones."""

    def step(name: str, when: tuple[float, float]) -> Sample:
        return cells.over_time(
            "c3_window_bytes", "tcp", *when, of=lambda window: window.diff().abs().mean(), variant=name
        )

    times = {"alone": ALONE, "with UDP": CROSSED}
    return above({words: ratio(step("c3-newest", when), step("c3", when)) for words, when in times.items()}, 1.2)


SWINGS = (
    "with the newest measurement alone the window swings: from one sample to the next it changes by a fifth more "
    "than with averaged measurements, alone and with UDP"
)


TIMES = {"whole run": WHOLE, "alone": ALONE, "with UDP": CROSSED, "alone again": AFTER}
GOODPUTS = {text: partial(goodput_between, flow="tcp", when=when) for text, when in TIMES.items()}
"""Columns of a table."""


def windows(profile: Profile) -> Sweep:
    """The same with fixed windows, which show the best that any window control can get from this network."""
    base = figure5(profile).with_(**{"flows[0].transport": "cwl"})
    return Sweep(base, {"tcp.limit": FIXED}, runs=20)


def over_windows(data: Data) -> Chart:
    """Fixed windows in segments. Goodput in kbit/s, share of silent steps, longest queue at node 2."""
    return table_by(data.windows, "limit", {**GOODPUTS, "silent with UDP": silence, "longest queue with UDP": longest})


def over_time(data: Data) -> Chart:
    """Goodput over steps of 250 ms, one run; UDP from 15 to 30 s."""
    return series(data.against, "goodput_bps", by="variant", flows={"tcp": ""}, labels=LABELS)
