"""Predictions for transfers between fourteen indoor routers, compared with the measurements there.

The pairs of each source transfer one after another, as they did there. `fourhop import` reads links and positions with
its general defaults. Each variant removes one assumption, for every eighth pair.
"""

import csv
import itertools
import math
import random
import statistics
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from fourhop import Scenario, Sweep, community
from fourhop.community.links import CARRIED
from fourhop.study import OUR_OWN, Cells, Chart, Claim, Data, Estimate, Profile, Study, table
from fourhop.study.claims import about, above, below

T = TypeVar("T")
FOLDER = Path(__file__).resolve().parent / "data"
FLOOR = 1.25
"""Factor by which two measurements of the same pair differ in the median."""
DRAWS = 1000
"""Number of bootstrap samples for an interval over the pairs."""
RUNS = 3
LEVELS = (0.45, 0.65)
"""Shares of the reported rate that links carry, besides the usual one."""
EVERY = 8
"""Spacing of the pairs for which each assumption is removed: one pair in this many."""
GAP_S = 0.5
"""Between two transfers."""

ASSUMPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cpu": ("processors take no time", ("link.packet_cost=0s",)),
    "fading": ("signals do not fade", ("radio.fading=none",)),
    "slow": ("signals fade half as fast", ("radio.doppler=2Hz",)),
    "silent": ("pairs without a link do not hear each other at all", ("radio.unmeasured=silent",)),
    "exponent": ("signals weaken by 40 dB per decade instead of 30", ("radio.exponent=4",)),
    "queue": ("one queue of 50 packets", ("link.queue=drop-tail",)),
    "missing": ("a direction that is missing is as good as the other", ()),
}

study = Study(
    "Battlemesh v11: predicted against measured",
    source="our own; numbers of the testbed of Battlemesh v11",
    profiles=("standard",),
    assumed=[
        "Links and positions as `fourhop import --values rate` reads them, with its defaults; 6 dBm.",
        "One CUBIC transfer of 6 s at a time, with its beginning; the mean of three runs.",
        "The variants without one of the assumptions run only every eighth pair.",
        "Nothing was measured during other transfers: the cost of a second transfer is only a prediction.",
    ],
)


@cache
def measured() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of transfers by their pairs."""
    with (FOLDER / "v11_tcp.csv").open(encoding="utf-8") as file:
        return {(row["from"], row["to"]): row for row in csv.DictReader(file)}


@cache
def network() -> community.Network:
    """The network as `fourhop import` reads it."""
    return community.read([FOLDER / "v11_links.csv", FOLDER / "v11_places.csv"], "rate")


def lasting_s() -> float:
    """Duration of a transfer in s."""
    return 1.0 if study.quickly else 6.0


Ends = tuple[str, str]


def transfers(
    at_a_time: Iterable[Sequence[Ends]],
    overrides: Iterable[str] = (),
    of: community.Network | None = None,
    carried: float = CARRIED,
) -> Scenario:
    """Transfers between a few pairs at a time, one group after another."""
    groups = list(at_a_time)
    listed = [ends for group in groups for ends in group]
    options = community.Options(
        pairs=listed, overrides=["radio.tx_power=6dBm", *overrides], name="v11", carried=carried
    )
    document = tomllib.loads(community.to_scenario(of or network(), options).toml)
    flows = iter(document["flows"])
    start_s = 1.0
    for group in groups:
        stop_s = start_s + lasting_s()
        for source, target in group:
            next(flows).update(name=f"{source}-to-{target}", start=f"{start_s:g}s", stop=f"{stop_s:g}s")
        start_s = stop_s + GAP_S
    return Scenario.from_dict(document | {"duration": f"{start_s:g}s", "warmup": "500ms"})


def by_source(carried: float = CARRIED) -> Sweep:
    """Every pair; all pairs of a source share a run."""
    sources = dict.fromkeys(source for source, _ in measured())
    each = {source: [[ends] for ends in measured() if ends[0] == source] for source in sources}
    if study.quickly:
        each = {source: each[source][:2] for source in list(sources)[:1]}
    variants = {source: transfers(ends, carried=carried) for source, ends in each.items()}
    return Sweep(variants=variants, runs=1 if study.quickly else RUNS)


def assumptions() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The assumptions that are removed."""
    return dict(itertools.islice(ASSUMPTIONS.items(), 2)) if study.quickly else ASSUMPTIONS


def some() -> list[Ends]:
    """Every eighth pair."""
    return list(measured())[:: len(measured()) if study.quickly else EVERY]


@study.sweep
def pairs(_: Profile) -> Sweep:
    return by_source()


@study.sweep
def less(_: Profile) -> Sweep:
    return by_source(LEVELS[0])


@study.sweep
def more(_: Profile) -> Sweep:
    return by_source(LEVELS[1])


@study.sweep
def without(_: Profile) -> Sweep:
    alike = replace(
        network(), links=tuple(replace(x, there=x.there or x.back, back=x.back or x.there) for x in network().links)
    )
    each = [[ends] for ends in some()]
    variants = {
        name: transfers(each, overrides, alike if name == "missing" else None)
        for name, (_, overrides) in assumptions().items()
    }
    return Sweep(variants=variants, runs=1 if study.quickly else RUNS)


@study.sweep
def beside(_: Profile) -> Sweep:
    """Two transfers at a time that share no end."""
    couples = list(zip(some()[::2], reversed(some()[1::2]), strict=False)) or [(some()[0], ("n4", "n13"))]
    apart = [couple for couple in couples if len({end for ends in couple for end in ends}) == 4]
    return Sweep(variants={"both": transfers(apart)}, runs=1 if study.quickly else RUNS)


Rates = Mapping[Ends, float]
"""Mbit/s of pairs."""


def rates(cells: Cells) -> Rates:
    """The predictions, averaged over the runs."""
    found: dict[str, list[float]] = {}
    for run in cells.runs:
        for row in run.flows.values():
            found.setdefault(row["flow"], []).append(8e-6 * row["delivered_bytes"] / lasting_s())
    return {(a, b): statistics.fmean(found[f"{a}-to-{b}"]) for a, b in measured() if f"{a}-to-{b}" in found}


Pairs = list[tuple[float, float]]
"""Predicted and measured Mbit/s."""


def both(mbps: Rates, hops: int | None = None) -> Pairs:
    rows = measured()
    return [(x, float(rows[e]["mbps"])) for e, x in mbps.items() if hops is None or int(rows[e]["hops"]) == hops]


def off(pairs_: Pairs) -> float:
    """Factor that the error of half of the predictions does not exceed, in either direction."""
    return statistics.median(math.exp(abs(math.log(max(x, 1e-3) / y))) for x, y in pairs_)


def bias(pairs_: Pairs) -> float:
    """Median ratio of predicted to measured speed."""
    return statistics.median(x / y for x, y in pairs_)


def alike(pairs_: Pairs) -> float:
    """Spearman's rank correlation."""
    places = []
    for values in zip(*pairs_, strict=True):
        order = sorted(values)
        # Equal values share the mean of their ranks, which resampling needs.
        places.append([order.index(x) + (order.count(x) - 1) / 2.0 for x in values])
    return statistics.correlation(*places) if all(len(set(each)) > 1 for each in places) else math.nan


def over_pairs(of: Callable[[list[T]], float], pairs_: list[T]) -> Estimate:
    """With a bootstrap interval over the pairs (Efron 1979), as another choice of pairs would give another result."""
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(pairs_, k=len(pairs_))) for _ in range(DRAWS))

    def bounds(confidence: float) -> tuple[float, float]:
        outside = (1.0 - confidence) / 2.0
        return drawn[int(outside * DRAWS)], drawn[min(int((1.0 - outside) * DRAWS), DRAWS - 1)]

    return Estimate(of(pairs_), bounds, method="bootstrap over pairs")


Level = tuple[Ends, float, tuple[float, ...]]
"""A pair, what was measured, and what is predicted if links carry the smallest, the usual and the largest share."""


def levels(data: Data) -> list[Level]:
    each = [rates(data.less), rates(data.pairs), rates(data.more)]
    return [(ends, float(measured()[ends]["mbps"]), tuple(mbps[ends] for mbps in each)) for ends in each[1]]


def fitted(rows: list[Level]) -> float:
    """The share at which half of the predictions are too low and half too high, interpolated between those tried."""
    shares = [math.log(share) for share in (LEVELS[0], CARRIED, LEVELS[1])]
    offs = [statistics.median(math.log(mbps[i] / was) for _, was, mbps in rows) for i in range(3)]
    # The line through the two levels on either side of none, or the nearest two.
    i = 0 if offs[1] > 0.0 else 1
    slope = (offs[i + 1] - offs[i]) / (shares[i + 1] - shares[i])
    return math.exp(shares[i] - offs[i] / slope) if slope > 0.0 else math.nan


def held_out(data: Data) -> list[float]:
    """Error of the predictions for the pairs of a node, with the share fitted to all pairs without it."""
    rows, logs = levels(data), []
    for node in dict.fromkeys(end for ends, _, _ in rows for end in ends):
        share = fitted([row for row in rows if node not in row[0]])
        low, usual, high = (math.log(x) for x in (LEVELS[0], CARRIED, LEVELS[1]))
        at = math.log(share)
        for ends, was, mbps in rows:
            if node in ends:
                (a, x), (b, y) = (
                    ((low, mbps[0]), (usual, mbps[1])) if at < usual else ((usual, mbps[1]), (high, mbps[2]))
                )
                here = math.log(x) + (at - a) / (b - a) * math.log(y / x)
                logs.append(abs(here - math.log(was)))
    return logs


@study.chart
def by_hops(data: Data) -> Chart:
    """Errors of the predictions, by the number of hops of the pair's route."""
    mbps = rates(data.pairs)
    several = sorted({int(measured()[ends]["hops"]) for ends in mbps})
    rows = [(str(n), len(both(mbps, n)), *(f"{of(both(mbps, n)):.2f}" for of in (off, bias))) for n in several]
    whole = both(mbps)
    rows.append(("all", len(whole), f"{off(whole):.2f}", f"{bias(whole):.2f}"))
    return table(["hops", "pairs", "median error factor", "median predicted / measured"], rows)


@study.chart
def by_assumption(data: Data) -> Chart:
    """The same without one assumption at a time, for every eighth pair."""
    others = {label: rates(data.without.where(variant=name)) for name, (label, _) in assumptions().items()}
    as_it_is = {
        ends: mbps for ends, mbps in rates(data.pairs).items() if all(ends in other for other in others.values())
    }
    rows = [(label, *_of(both(mbps))) for label, mbps in {"as it is": as_it_is, **others}.items()]
    return table(["assumption", "median error factor", "median predicted / measured", "rank correlation"], rows)


def _of(pairs_: Pairs) -> tuple[str, ...]:
    return tuple(f"{of(pairs_):.2f}" for of in (off, bias, alike))


@study.chart
def by_competition(data: Data) -> Chart:
    """Throughput of pairs while another pair transfers, and alone: predicted, not measured."""
    alone, shared = rates(data.pairs), rates(data.beside)
    rows = [(f"{a} to {b}", f"{alone[a, b]:.1f}", f"{mbps:.1f}", f"{mbps / alone[a, b]:.2f}")
            for (a, b), mbps in shared.items() if (a, b) in alone]  # fmt: skip
    return table(["pair", "alone (Mbit/s)", "with another (Mbit/s)", "share"], rows)


@study.chart
def by_pair(data: Data) -> Chart:
    """Each pair: measured, measured the evening before with another routing protocol, and predicted, in Mbit/s."""
    rows = [
        (f"{a} to {b}", *(measured()[a, b][key] for key in ("hops", "mbps", "mbps_before")), f"{mbps:.1f}")
        for (a, b), mbps in rates(data.pairs).items()
    ]
    return table(["pair", "hops", "measured", "the evening before", "predicted"], rows)


@study.check("Half of the predictions are off by a factor of at most 1.3", paper=OUR_OWN, main=True)
def median_error(data: Data) -> Claim:
    found = over_pairs(off, both(rates(data.pairs)))
    return below(found, 1.3).or_partly(below(found, 1.4))


@study.check("The order of the pairs is right: rank correlation of at least 0.9", paper=OUR_OWN, main=True)
def order(data: Data) -> Claim:
    found = over_pairs(alike, both(rates(data.pairs)))
    return above(found, 0.9).or_partly(above(found, 0.8))


@study.check("The share of reported rates with which half of the predictions are too high is 0.55", paper=OUR_OWN)
def share(data: Data) -> Claim:
    found = over_pairs(fitted, levels(data))
    return about(found, CARRIED, within=0.1).or_partly(about(found, CARRIED, within=0.2))


@study.check(
    "The pairs of a node are off by a factor of at most 1.35 with the share fitted to pairs without it", paper=OUR_OWN
)
def fitted_elsewhere(data: Data) -> Claim:
    found = over_pairs(lambda logs: math.exp(statistics.median(logs)), held_out(data))
    return below(found, 1.35).or_partly(below(found, 1.45))


@study.check("A second transfer slows the first, in the median", paper=OUR_OWN)
def competition(data: Data) -> Claim:
    alone, shared = rates(data.pairs), rates(data.beside)
    shares = [mbps / alone[ends] for ends, mbps in shared.items() if ends in alone]
    return below(over_pairs(statistics.median, shares), 1.0)


@study.check("Two measurements of the same pair differ by a factor of 1.25 in the median", paper=OUR_OWN)
def floor(_: Data) -> Claim:
    rows = measured().values()
    repeated = [(float(row["mbps_before"]), float(row["mbps"])) for row in rows if row["mbps_before"]]
    found = over_pairs(off, repeated)
    return about(found, FLOOR, within=0.1).or_partly(about(found, FLOOR, within=0.2))
