"""Eight flows between a host and random nodes of a random network, four each way: starvation, and the cost of fairness.

The paper shows one network, in which NewReno starves two of the flows into the mesh and TCP-GAP none, at slightly less
total goodput. This study has several.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Run, Sample, Study, combine, groups, table_by
from fourhop.study.claims import above, below, between, every
from fourhop.study.flows import STARVING, starving

from ._common import ASSUMED, ASSUMED_STARVING, LABELS, PAPER, compared, labels, random
from ._several import fairer, gain

NETWORKS = 30
GROUPS = {"downwards": range(1, 5), "upwards": range(5, 9), "all": range(1, 9)}
LENGTH = {**STEADY, "packets": 11_000}

study = Study(
    "Random topology, eight flows",
    source=f"{PAPER}, figure 21",
    quick={"duration": "4s"},
    assumed=[
        *ASSUMED,
        ASSUMED_STARVING,
        f"{NETWORKS} networks with a random gateway and random nodes, one run of 11,000 packets in each; every value "
        "is a mean over the networks.",
    ],
)


@study.sweep
def networks(profile: Profile) -> Sweep:
    base = random(profile, ("down",) * 4 + ("up",) * 4, **LENGTH)
    return Sweep(variants=compared(base), runs=NETWORKS)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of the flows into the mesh, out of it, and in total. Whiskers: 95 % intervals over the networks."""
    cells = data.networks.by("variant")
    each = {text: _sum(ns) for text, ns in GROUPS.items()}
    return groups(
        {LABELS[name]: {text: cells[name].measure(of, "kbit/s") for text, of in each.items()} for name in cells}
    )


@study.chart
def numbers(data: Data) -> Chart:
    """Total goodput in kbit/s, Jain's index, starving flows out of eight. Intervals over the networks."""
    columns = {"goodput": "goodput", "Jain's index": "fairness", "starving flows": lambda one: one.measure(starving)}
    return table_by(data.networks, "variant", columns, labels())


def _sum(numbers: range) -> Callable[[Run], float]:
    """Total goodput of these flows in kbit/s."""
    return lambda run: 1e-3 * float(sum(run.flows[f"ftp-{n}"]["goodput_bps"] for n in numbers))


@study.check(
    "NewReno starves two of eight flows",
    paper="two almost completely",
    assumed="1 to 3, mean over networks; partly: one or more",
    because=["long_paths_starve", "hardly_any_starves"],
)
def newreno_starves(data: Data) -> Claim:
    count = data.networks.measure(starving, variant="newreno")
    return between(count, 1.0, 3.0).or_partly(above(count, 1.0))


@study.check(
    "TCP-GAP starves no flow",
    paper="each flow gets a part of the bandwidth",
    assumed="fewer than one flow in two networks; partly: fewer than half as many as NewReno",
    because="none_starves_with_code",
)
def gap_starves_none(data: Data) -> Claim:
    ours, theirs = (data.networks.measure(starving, variant=name) for name in ("gap-gc", "newreno"))
    return below(ours, 0.5).or_partly(below(combine([(1.0, ours), (-0.5, theirs)]), 0.0))


@study.check(
    "TCP-GAP is fairer",
    paper="much better",
    assumed="its index above NewReno's by 0.1; partly: above",
)
def gap_fairer(data: Data) -> Claim:
    return above(fairer(data.networks), 0.1).or_partly(above(fairer(data.networks), 0.0))


@study.check(
    "TCP-GAP carries slightly less in total",
    paper="slightly less",
    assumed="85 to 100 % of NewReno's; partly: 75 to 115 %",
    because=["short_paths_take_all", "more_with_code"],
)
def gap_slightly_less(data: Data) -> Claim:
    kept = gain(data.networks)
    return every({"above": above(kept, 0.85), "below": below(kept, 1.0)}).or_partly(between(kept, 0.75, 1.15))


LONG, SHORT = 6, 3
"""Minimum hops of a long path, and maximum hops of a short one."""


def _starving_among(lengths: range) -> Callable[[Run], float]:
    """Share of starving flows among those over this number of hops, 0 to 1; NaN without such flows."""

    def of(run: Run) -> float:
        rates = {name: flow["goodput_bps"] for name, flow in run.flows.items()}
        bound = STARVING * sum(rates.values()) / len(rates)
        chosen = [rates[name] < bound for name, flow in run.flows.items() if flow["hops"] in lengths]
        return sum(chosen) / len(chosen) if chosen else math.nan

    return of


def _known(sample: Sample) -> Sample:
    """The networks that have such a flow."""
    kept = [(value, unit) for value, unit in zip(sample.values, sample.units, strict=True) if not math.isnan(value)]
    return replace(sample, values=tuple(value for value, _ in kept), units=tuple(unit for _, unit in kept))


@study.cause(
    "it depends on the paths: over at least six hops more than half of NewReno's flows starve, over at most three "
    "less than a quarter"
)
def long_paths_starve(data: Data) -> Claim:
    cells = data.networks.where(variant="newreno")
    return every(
        {
            "long": above(_known(cells.measure(_starving_among(range(LONG, 100)))), 0.5),
            "short": below(_known(cells.measure(_starving_among(range(SHORT + 1)))), 0.25),
        }
    )


@study.cause("hardly any flow starves with NewReno: fewer than one per network")
def hardly_any_starves(data: Data) -> Claim:
    return below(data.networks.measure(starving, variant="newreno"), 1.0)


@study.cause("with the arithmetic of the authors' code fewer than one flow per two networks starves")
def none_starves_with_code(data: Data) -> Claim:
    return below(data.networks.measure(starving, variant="gap-code"), 0.5)


@study.cause("with NewReno the half of the flows with the shortest paths has more than 80 % of everything")
def short_paths_take_all(data: Data) -> Claim:
    def of(run: Run) -> float:
        ranked = sorted(run.flows.values(), key=lambda flow: (flow["hops"] is None, flow["hops"] or 0))
        rates = [flow["goodput_bps"] for flow in ranked]
        return sum(rates[: len(rates) // 2]) / sum(rates)

    return above(data.networks.measure(of, variant="newreno"), 0.8)


@study.cause("with the arithmetic of the authors' code TCP-GAP carries 85 to 100 % of NewReno's")
def more_with_code(data: Data) -> Claim:
    return between(gain(data.networks, name="gap-code"), 0.85, 1.0)
