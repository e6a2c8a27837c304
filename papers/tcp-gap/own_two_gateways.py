"""Our own study: two flows that contend on the air and cross different gateways.

Goodput control compares the flows of one gateway. The paper says so, and thinks that other networks are rare because
gateways stand far apart. Here they stand 400 m apart: two parallel chains, a gateway at the end of each, and one flow
each way.
"""

from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import (
    OUR_OWN,
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    above,
    between,
    every,
    shares,
)

from ._common import ASSUMED, CHAIN_NODES, LABELS, PAPER, compared, parallel
from ._measures import gateway
from ._several import fairer

RUNS = 5
LENGTH = {**STEADY, "packets": 22_000}
FLOWS = {"ftp-1": "FTP 1, down", "ftp-2": "FTP 2, up"}
WHERE = {"one": "one gateway", "two": "two gateways"}

study = Study(
    "Flows through two gateways",
    source=f"our own study; {PAPER}, section 4.4, mentions it",
    assumed=[
        *ASSUMED,
        "The parallel chains of figure 5, four hops each to a gateway of their own, 400 m apart; both are connected to "
        "one router with host B behind it. For comparison the chains of figure 5 with one gateway.",
        f"{RUNS} runs of 22,000 packets each, of which the first eleventh is not measured.",
    ],
)


def _two(profile: Profile) -> Scenario:
    """The chains of figure 5 without their common gateway; the last node of each is one."""
    resolved: dict[str, Any] = parallel(profile, ("down", "up"), **LENGTH).resolved
    places = resolved["topology"]["positions"][: 2 * CHAIN_NODES]
    ends = [CHAIN_NODES - 1, 2 * CHAIN_NODES - 1]
    wired = {"gateways": ends, "nodes": ["R1", "B"], "rate": "10Mbps", "delay": "40ms"}
    kept = {key: value for key, value in resolved.items() if key not in ("wires",)}
    topology = {**resolved["topology"], "positions": places}
    return Scenario.from_dict({**kept, "name": "gap-two-chains", "topology": topology, "wired": wired})


@study.sweep_each({"one": False, "two": True})
def flows(profile: Profile, two: bool) -> Sweep:
    return Sweep(variants=compared(_two(profile) if two else parallel(profile, ("down", "up"), **LENGTH)), runs=RUNS)


@study.chart_each(
    {name: (name, f"{text.capitalize()}. Whiskers: 95 % intervals over the runs.") for name, text in WHERE.items()}
)
def goodput(data: Data, where: str) -> Chart:
    return shares(data[where], FLOWS, LABELS)


def probes(cells: Cells) -> Sample:
    return cells.measure(gateway("probes"), variant="gap-gc")


@study.check(
    "With two gateways goodput control never throttles",
    paper="it only works for flows passing the same gateway",
    assumed="it throttles in every run with one gateway, and in none with two; so total and index are the same as "
    "without it",
)
def never_throttles(data: Data) -> Claim:
    same = fairer(data.two, "gap")
    return every(
        {
            "one": above(probes(data.one), 0.0),
            "two": between(probes(data.two), -0.5, 0.5),
            "index": between(same, -0.01, 0.01),
        }
    )


@study.check(
    "TCP-GAP is fairer than NewReno with two gateways",
    paper=OUR_OWN,
    assumed="its index above NewReno's",
    why="we think that without a common gateway the upward flow stays the slower one, as without goodput control",
)
def fairer_with_two(data: Data) -> Claim:
    return above(fairer(data.two), 0.0)
