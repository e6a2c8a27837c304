"""Neighbourhood RED beside adaptive pacing: nodes that share the medium drop together, each by its part of the load.

TCP-AP's paper names neighbourhood RED (Xu, Gerla, Qi, Shu, MobiCom 2003) as a way to improve fairness by dropping
packets of NewReno on purpose, and reports that this costs up to 42 % of the goodput where fairness is optimal. This
study measures it.
"""

from collections.abc import Mapping
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import (
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Study,
    above,
    below,
    between,
    every,
    most,
    table,
)

from ._common import LABELS, PAPER, PARALLEL_HOPS, SHORTER, STILL, compared, cross, parallel
from .f20_grid import GRIDS, MAIN, grid

NRED = "newreno-nred"
NAMES = {"newreno": LABELS["newreno"], NRED: "NewReno over neighbourhood RED", "ap": LABELS["ap"]}
NETWORKS = {"cross": "cross", "asymmetric": "parallel chains of 4 and 10 hops", "grid": "grid, six flows"}
UNEVEN = ("asymmetric", "grid")
"""Where NewReno leaves flows without their share."""
ROUTES: Mapping[str, Mapping[str, Any]] = {"aodv": {}, "static": STILL}
LOWEST = ("30%", "50%", "80%")
LARGEST = ("10%", "30%", "100%")
RUNS = 5

study = Study(
    "Neighbourhood RED",
    source=f"{PAPER}, sections 4.6 and 5.1.3, of Xu, Gerla, Qi and Shu, MobiCom 2003",
    assumed=[
        "The paper of neighbourhood RED was not at hand: how it works follows its abstract and descriptions by others, "
        "and all its values are ours (docs/tcp-ap.md). One chart shows others.",
        "Packets are dropped; nothing is marked.",
        f"22,000 packets on each network, {RUNS} runs.",
    ],
)


def networks(profile: Profile) -> dict[str, Scenario]:
    return {
        "cross": cross(profile, **SHORTER),
        "asymmetric": parallel(profile, [PARALLEL_HOPS, 10], **SHORTER),
        "grid": grid(profile, *GRIDS[MAIN]).with_(packets=SHORTER["packets"]),
    }


def with_nred(base: Scenario) -> dict[str, Scenario]:
    """TCP-AP and NewReno, and NewReno over neighbourhood RED."""
    made = compared(base, "newreno", "ap")
    return {**made, NRED: made["newreno"].with_(**{"link.nred": True})}


@study.sweep
def flows(profile: Profile) -> Sweep:
    made = {
        f"{name}, {network}, {routes}": scenario
        for network, base in networks(profile).items()
        for routes, keys in ROUTES.items()
        for name, scenario in with_nred(base.with_(**keys)).items()
    }
    return Sweep(variants=made, runs=RUNS)


@study.sweep
def values(profile: Profile) -> Sweep:
    base = with_nred(networks(profile)["asymmetric"].with_(**STILL))[NRED]
    return Sweep(base, {"link.nred_low": list(LOWEST), "link.nred_max_drop": list(LARGEST)}, runs=RUNS)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of all flows together, and Jain's index. Intervals over the runs."""
    rows = []
    for key, network in NETWORKS.items():
        for routes in ROUTES:
            for name, label in NAMES.items():
                cells = data.flows.where(variant=f"{name}, {key}, {routes}")
                rows.append((network, routes, label, cells.goodput(), cells.fairness()))
    return table(["network", "routes", "transport", "goodput (kbit/s)", "Jain's index"], rows)


@study.chart
def other_values(data: Data) -> Chart:
    """Chains of 4 and 10 hops over static routes, with other thresholds and other largest probabilities of a drop."""
    rows = []
    for low in LOWEST:
        for largest in LARGEST:
            cells = data.values.where(nred_low=low, nred_max_drop=largest)
            rows.append((low, largest, cells.goodput(), cells.fairness()))
    return table(["busy threshold", "largest probability", "goodput (kbit/s)", "Jain's index"], rows)


def change_of_index(data: Data, routes: str, other: str = "newreno") -> dict[str, Estimate]:
    cells = data.flows
    return {
        network: cells.fairness(variant=f"{NRED}, {network}, {routes}")
        - cells.fairness(variant=f"{other}, {network}, {routes}")
        for network in UNEVEN
    }


def of_goodput(data: Data, name: str, other: str, routes: str) -> dict[str, Estimate]:
    """Ratio of the goodput of one variant to that of the other."""
    cells = data.flows
    return {
        network: cells.goodput(variant=f"{name}, {network}, {routes}")
        / cells.goodput(variant=f"{other}, {network}, {routes}")
        for network in NETWORKS
    }


@study.check(
    "Neighbourhood RED improves the fairness of NewReno where NewReno leaves flows without their share",
    paper="abstract: improves TCP unfairness substantially",
    assumed="Jain's index on the asymmetric chains and the grid, with AODV; partly: one of them",
    because="routes_undo_it",
)
def fairer(data: Data) -> Claim:
    gains = above(change_of_index(data, "aodv"), 0.0)
    return every(gains).or_partly(most(gains, 0.5))


@study.cause("over routes that never break it does improve fairness")
def routes_undo_it(data: Data) -> Claim:
    return every(above(change_of_index(data, "static"), 0.0))


@study.check(
    "Neighbourhood RED costs much of the goodput",
    paper="42 % less aggregate goodput where it achieves optimal fairness",
    assumed="a fifth to three fifths less on each network, over static routes; partly: on two of three",
)
def costs_goodput(data: Data) -> Claim:
    left = {network: between(of, 0.4, 0.8) for network, of in of_goodput(data, NRED, "newreno", "static").items()}
    return every(left).or_partly(most(left, 0.6))


@study.check(
    "TCP-AP carries more than NewReno over neighbourhood RED",
    paper="improves both fairness and goodput without provoking packet losses",
    assumed="our own: every network, AODV and static routes; partly: most of them",
)
def pacing_carries_more(data: Data) -> Claim:
    gains = {
        f"{network}, {routes}": gain
        for routes in ROUTES
        for network, gain in of_goodput(data, "ap", NRED, routes).items()
    }
    return every(above(gains, 1.0)).or_partly(most(above(gains, 1.0), 0.6))


@study.check(
    "TCP-AP shares at least as evenly as NewReno over neighbourhood RED",
    paper="improves both fairness and goodput without provoking packet losses",
    assumed="our own: asymmetric chains and grid, static routes, an index at most 0.03 lower; partly: one of them",
)
def pacing_shares_as_evenly(data: Data) -> Claim:
    behind = below(change_of_index(data, "static", other="ap"), 0.03)
    return every(behind).or_partly(most(behind, 0.5))
