"""Our own study: the network that the paper may have used, inferred from its results.

The paper gives no distances, no ranges, no routing and no destinations of its UDP. Combinations of these are run with
all four kinds of TCP, and the paper's statements on figures 7 and 8 and the queue are compared with each of them, with
the bounds of the studies of these figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourhop import Sweep
from fourhop.study import Cells, Chart, Claim, Data, Estimate, Profile, Study, about, above, below, table
from fourhop.study.claims import between, every, most

from ._common import (
    ALONE,
    ASSUMED,
    BESIDE,
    CROSSING,
    LABELS,
    OVER_STANDARD,
    OVER_THE_OTHERS,
    PAPER,
    WHOLE,
    compared,
    figure5,
    longest,
    mean_queue,
    rate,
    silence,
)

PATHS = {"over 2 and 3": CROSSING, "over one hop": BESIDE}
"""Where UDP goes."""

SENSED = {550: {}, 350: {"radio.cs_threshold": "9.507e-11W"}, 250: {"radio.cs_threshold": "3.652e-10W"}}
"""Ranges of carrier sense in m: ns-2's, one that reaches no second neighbour, and that of reception."""

ROUTING: Mapping[str, Mapping[str, Any]] = {
    "static": {},
    "AODV": {"routing.protocol": "aodv"},
    "AODV, timers of 2003": {"routing.protocol": "aodv", "tcp.profile": "ns2-2003"},
}

SETUPS: Mapping[str, tuple[tuple[tuple[str, str], ...], Mapping[str, Any]]] = {
    f"UDP {path}, {sensed} m, {routing}": (sources, {**threshold, **keys})
    for path, sources in PATHS.items()
    for sensed, threshold in SENSED.items()
    for routing, keys in ROUTING.items()
    if sources is CROSSING or keys is not ROUTING["AODV, timers of 2003"]
}

OWN = "UDP over 2 and 3, 550 m, static"
"""The settings of the other studies."""

LOSSY = [setup for setup in SETUPS if "AODV" in setup and "550 m" not in setup]
"""Networks in which nodes do not sense their second neighbours, and AODV takes losses for broken routes."""

SHOWN = ("standard", "c3", "vegas", "westwood")

study = Study(
    "The network of figure 5",
    source=f"{PAPER}, section V; our own study",
    assumed=[
        *ASSUMED[2:],
        "UDP over one hop: its two sources are 200 m apart, 200 m beside nodes 2 and 3.",
        "Timers of 2003: those of TCP in ns-2 before October 2004. The paper of 2005 names no version.",
        "A statement holds here if the mean over the runs is within its bounds.",
    ],
)


@study.sweep
def setups(profile: Profile) -> Sweep:
    variants = {
        f"{name} {setup}": scenario
        for setup, (sources, keys) in SETUPS.items()
        for name, scenario in compared(figure5(profile, sources).with_(**keys), *SHOWN).items()
    }
    return Sweep(variants=variants, runs=8)


def gain(data: Data, setup: str, other: str, when: tuple[float, float] = WHOLE) -> Estimate:
    """C3TCP's goodput over another's between two times."""
    return rate(data.setups, f"c3 {setup}", when) / rate(data.setups, f"{other} {setup}", when)


def cells(data: Data, setup: str, name: str) -> Cells:
    return data.setups.where(variant=f"{name} {setup}")


def gains(data: Data, setup: str) -> dict[str, Claim]:
    """C3TCP's lead over the whole run."""
    others = {LABELS[other]: about(gain(data, setup, other), paper, 0.05) for other, paper in OVER_THE_OTHERS.items()}
    return {LABELS["standard"]: about(gain(data, setup, "standard"), OVER_STANDARD), **others}


def queues(data: Data, setup: str) -> dict[str, Claim]:
    """Length of node 2's queue, alone and with UDP."""
    standard, c3 = (cells(data, setup, name) for name in ("standard", "c3"))
    return {
        "overflow": above(longest(standard), 40),
        "standard TCP alone": below(mean_queue(standard, ALONE), 5),
        "C3TCP with UDP": below(longest(c3), 15),
        "C3TCP alone": below(longest(c3, ALONE), 3.5),
    }


def manner(data: Data, setup: str) -> dict[str, Claim]:
    """Whether all behave alike without UDP, and with UDP Vegas and Westwood fall silent at times, unlike C3TCP."""
    alone = {f"alone: {LABELS[other]}": gain(data, setup, other, ALONE) for other in OVER_THE_OTHERS}
    silent = {name: silence(cells(data, setup, name)) for name in ("c3", *OVER_THE_OTHERS)}
    more = {f"silent: {LABELS[other]}": silent[other] - silent["c3"] for other in OVER_THE_OTHERS}
    return {**between(alone, 0.98, 1.02), **above(more, 0.02)}


def on_its_side(claims: Mapping[str, Claim]) -> int:
    """Number of claims whose means hold."""
    return sum(claim.beyond < 0 for claim in claims.values())


@study.chart
def by_setup(data: Data) -> Chart:
    """C3TCP's gain over the run; with UDP, longest queue of node 2 and share of silent steps; statements that hold."""
    rows = [
        (
            setup,
            *(gain(data, setup, other) for other in ("standard", *OVER_THE_OTHERS)),
            gain(data, setup, "standard", ALONE),
            *(longest(cells(data, setup, name)) for name in ("standard", "c3")),
            *(silence(cells(data, setup, name)) for name in SHOWN),
            *(f"{on_its_side(of)} of {len(of)}" for of in (each(data, setup) for each in (gains, queues, manner))),
        )
        for setup in SETUPS
    ]
    return table(
        [
            "network",
            *(f"over {LABELS[other]}" for other in ("standard", *OVER_THE_OTHERS)),
            "over standard TCP alone",
            *(f"queue, {LABELS[name]}" for name in ("standard", "c3")),
            *(f"silent, {LABELS[name]}" for name in SHOWN),
            "gains",
            "queues",
            "manner",
        ],
        rows,
    )


@study.check(
    "No network reproduces more of what the paper says about the queue than that of the other studies",
    paper="overflow with standard TCP and UDP, fewer than 5 packets without; about 10 and 0 to 3 with C3TCP",
)
def fits_the_queue(data: Data) -> Claim:
    held = {setup: on_its_side(queues(data, setup)) for setup in SETUPS}
    best = max(held.values())
    return Claim(f"{OWN} has as many as any", held[OWN] == best, f"{held[OWN]} of 4; the most: {best}")


@study.check(
    "One network reproduces the gains and the queues of the paper",
    paper="27, 18 and 7 % more; overflow with UDP, and about 10 packets with C3TCP",
    assumed="all three gains and all four of the queue; partly: two gains and three of the queue, overflow among them",
    because=("ahead_by_losses", "short_by_losses", "little_without_losses"),
)
def one_has_all(data: Data) -> Claim:
    gained = {setup: on_its_side(gains(data, setup)) for setup in SETUPS}
    queued = {setup: queues(data, setup) for setup in SETUPS}
    full = [setup for setup in SETUPS if queued[setup]["overflow"].beyond < 0]
    words = f"most gains of one network: {max(gained.values())}; with overflow: {max(gained[each] for each in full)}"
    whole = any(gained[each] == 3 and on_its_side(queued[each]) == 4 for each in full)
    weaker = any(gained[each] >= 2 and on_its_side(queued[each]) >= 3 for each in full)
    return Claim("one has all seven", whole, words).or_partly(Claim("one has two gains and three", weaker, words))


@study.cause(
    "C3TCP gains where second neighbours are not sensed and AODV loses routes: there, in three quarters of the "
    "networks, it is ahead of standard TCP"
)
def ahead_by_losses(data: Data) -> Claim:
    return most(above({setup: gain(data, setup, "standard") for setup in LOSSY}, 1.0))


@study.cause(
    "in three quarters of those networks standard TCP does not fill the queue of node 2: fewer than 40 packets"
)
def short_by_losses(data: Data) -> Claim:
    return most(below({setup: longest(cells(data, setup, "standard")) for setup in LOSSY}, 40))


@study.cause(
    "in no network where second neighbours are sensed does C3TCP have the paper's gain over standard TCP: "
    "less than 27 %"
)
def little_without_losses(data: Data) -> Claim:
    return every(below({setup: gain(data, setup, "standard") for setup in SETUPS if "550 m" in setup}, OVER_STANDARD))
