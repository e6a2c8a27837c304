"""Link-layer RED beside adaptive pacing: every node drops early, so that NewReno slows down before the MAC gives up.

TCP-AP's paper compares itself in words with link-layer RED (Fu et al., INFOCOM 2003), which throttles TCP from below: a
node drops packets with a probability that grows with the mean number of retries of its MAC. This study measures it.
"""

from collections.abc import Mapping

from fourhop import Scenario, Sweep
from fourhop.study import (
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Study,
    above,
    between,
    curves,
    every,
    most,
    peak,
    table,
)

from ._common import LABELS, PAPER, SHORTER, chain, compared, cross, parallel

HOPS = (4, 8, 12)
LARGEST = ("2%", "10%", "50%")
MAIN = "10%"
RED = "newreno-red"
NAMES = {"newreno": LABELS["newreno"], RED: "NewReno over link-layer RED", "ap": LABELS["ap"]}
FLOWS = {"cross": "cross", "parallel": "parallel chains"}

study = Study(
    "Link-layer RED",
    source=f"{PAPER}, section 2, of Fu, Zerfos, Luo, Lu, Zhang and Gerla, INFOCOM 2003",
    assumed=[
        "The thresholds (half a retry and three retries a packet) and the largest probability are ours: one chart "
        f"shows others than {MAIN}.",
        "Packets are dropped; nothing is marked. Its second mechanism, pacing at the link layer, is left out.",
        "22,000 packets on each network; five runs where there are two flows.",
    ],
)


def networks(profile: Profile) -> dict[str, Scenario]:
    return {"cross": cross(profile, **SHORTER), "parallel": parallel(profile, **SHORTER)}


def with_red(scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """TCP-AP and NewReno, and NewReno over link-layer RED."""
    return {**scenarios, RED: scenarios["newreno"].with_(**{"link.red": True, "link.red_max_drop": MAIN})}


@study.sweep
def chains(profile: Profile) -> Sweep:
    made = with_red(compared(chain(profile, **SHORTER), "newreno", "ap"))
    return Sweep(variants=made, over={"topology.hops": HOPS})


@study.sweep
def largest(profile: Profile) -> Sweep:
    base = with_red(compared(chain(profile, **SHORTER), "newreno"))[RED]
    return Sweep(base, {"topology.hops": HOPS, "link.red_max_drop": list(LARGEST)})


@study.sweep
def flows(profile: Profile) -> Sweep:
    made = {
        f"{name}, {network}": scenario
        for network, base in networks(profile).items()
        for name, scenario in with_red(compared(base, "newreno", "ap")).items()
    }
    return Sweep(variants=made, runs=5)


@study.chart
def goodput(data: Data) -> Chart:
    """One flow over chains. Whiskers: 95 % intervals over ten batches."""
    points = {label: {n: data.chains.goodput(variant=name, hops=n) for n in HOPS} for name, label in NAMES.items()}
    return curves(points, "hops", "goodput (kbit/s)")


@study.chart
def probabilities(data: Data) -> Chart:
    """NewReno over link-layer RED with other largest probabilities of a drop."""
    cells = data.largest
    rows = [(n, *(cells.goodput(hops=n, red_max_drop=most) for most in LARGEST)) for n in HOPS]
    return table(["hops", *(f"at most {most}" for most in LARGEST)], rows)


@study.chart
def two_flows(data: Data) -> Chart:
    """Two flows: goodput of both together, and Jain's index. Intervals over the runs."""
    rows = [
        (network, label, data.flows.goodput(variant=f"{name}, {key}"), data.flows.fairness(variant=f"{name}, {key}"))
        for key, network in FLOWS.items()
        for name, label in NAMES.items()
    ]
    return table(["network", "transport", "goodput (kbit/s)", "Jain's index"], rows)


def gains(data: Data) -> dict[str, Estimate]:
    cells = data.chains
    return {f"{n} hops": cells.goodput(variant=RED, hops=n) / cells.goodput(variant="newreno", hops=n) for n in HOPS}


@study.check(
    "Link-layer RED improves the goodput of NewReno by 5 to 30 %",
    paper="5 % to 30 %, depending on the scenario (with pacing at the link layer)",
    assumed="the largest gain over 4, 8 and 12 hops; partly: any gain",
    why={"ns2": "the interval of the largest gain is wider than the paper's range"},
)
def improves(data: Data) -> Claim:
    best = peak(list(gains(data).values()))
    return between(best, 1.05, 1.3).or_partly(above(best, 1.0))


@study.check(
    "TCP-AP carries more over long chains than NewReno over link-layer RED",
    paper="needs no changes below TCP and gains up to 84 % over NewReno",
    assumed="our own: 8 and 12 hops; partly: one of them",
)
def adaptive_pacing_carries_more(data: Data) -> Claim:
    cells = data.chains
    gain = {f"{n} hops": cells.goodput(variant="ap", hops=n) / cells.goodput(variant=RED, hops=n) for n in HOPS[1:]}
    return every(above(gain, 1.0)).or_partly(most(above(gain, 1.0), 0.5))
