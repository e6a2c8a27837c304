"""Predictions for transfers between fourteen indoor routers, held against what was measured there.

Each pair of routers is a run with one transfer. `fourhop import` reads links and places with the defaults that it has
for every mesh. Each variant takes one assumption away, for every eighth pair.
"""

import csv
import math
import random
import statistics
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fourhop import Scenario, Sweep, community
from fourhop.study import OUR_OWN, Chart, Claim, Data, Estimate, Profile, Study, table
from fourhop.study.claims import about, above, below

FOLDER = Path(__file__).resolve().parent / "data"
FLOOR = 1.25
"""Factor by which two measurements of the same pair differ in the median."""
DRAWS = 1000
"""Choices of pairs by which the interval of a number over all of them is found."""
EVERY = 8
"""The assumptions are looked at for every so manyth pair."""

ASSUMPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "cpu": ("processors take no time", {"link.packet_cost": "0s"}),
    "fading": ("signals do not fade", {"radio.fading": "none"}),
    "exponent": ("pairs without a link hear nothing of each other", {"radio.unmeasured": "silent"}),
    "queue": ("one queue of 50 packets", {"link.queue": "drop-tail"}),
}

study = Study(
    "Battlemesh v11: predicted against measured",
    source="our own; numbers of the testbed of Battlemesh v11",
    profiles=("standard",),
    quick={"duration": "3s", "warmup": "2500ms"},
    assumed=[
        "Links and places as `fourhop import --values rate` reads them, with its defaults; 6 dBm.",
        "One CUBIC transfer at a time, of which the seconds 2 to 7 count; one run for each pair.",
        "What the variants say of single assumptions is for every eighth pair.",
    ],
)


@cache
def measured() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of transfers by their pairs."""
    with (FOLDER / "v11_tcp.csv").open(encoding="utf-8") as file:
        return {(row["from"], row["to"]): row for row in csv.DictReader(file)}


def transfer(source: str, target: str) -> Scenario:
    network = community.read([FOLDER / "v11_links.csv", FOLDER / "v11_places.csv"], "rate")
    options = community.Options(pairs=[(source, target)], overrides=["radio.tx_power=6dBm"], name="v11")
    return community.to_scenario(network, options).scenario.with_(duration="7s", warmup="2s")


@study.sweep
def pairs(_: Profile) -> Sweep:
    return Sweep(variants={f"{a}-{b}": transfer(a, b) for a, b in measured()}, runs=1)


@study.sweep
def without(_: Profile) -> Sweep:
    chosen = list(measured())[::EVERY]
    made = {
        f"{name}-{a}-{b}": transfer(a, b).with_(**keys) for name, (_, keys) in ASSUMPTIONS.items() for a, b in chosen
    }
    return Sweep(variants=made, runs=1)


def found(data: Data) -> dict[tuple[str, str], float]:
    """Predicted Mbit/s of each pair."""
    return {(a, b): 1e-3 * data.pairs.goodput(variant=f"{a}-{b}").mean for a, b in measured()}


Pairs = list[tuple[float, float]]
"""Predicted and measured Mbit/s."""


def both(mbps: dict[tuple[str, str], float], hops: int | None = None) -> Pairs:
    rows = measured()
    return [(x, float(rows[e]["mbps"])) for e, x in mbps.items() if hops is None or int(rows[e]["hops"]) == hops]


def off(pairs_: Pairs) -> float:
    """The factor by which half of the predictions are off, either way."""
    return statistics.median(math.exp(abs(math.log(max(x, 1e-3) / y))) for x, y in pairs_)


def bias(pairs_: Pairs) -> float:
    """Predicted over measured, in the median."""
    return statistics.median(x / y for x, y in pairs_)


def alike(pairs_: Pairs) -> float:
    """Spearman's correlation of ranks."""
    places = []
    for values in zip(*pairs_, strict=True):
        order = sorted(values)
        # Equal values share the mean of their ranks, which resampling needs.
        places.append([order.index(x) + (order.count(x) - 1) / 2.0 for x in values])
    return statistics.correlation(*places)


def over_pairs(of: Callable[[Pairs], float], pairs_: Pairs) -> Estimate:
    """With an interval by bootstrap over the pairs (Efron 1979), as another choice of them would have given another."""
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(pairs_, k=len(pairs_))) for _ in range(DRAWS))

    def bounds(confidence: float) -> tuple[float, float]:
        outside = (1.0 - confidence) / 2.0
        return drawn[int(outside * DRAWS)], drawn[min(int((1.0 - outside) * DRAWS), DRAWS - 1)]

    return Estimate(of(pairs_), bounds, method="bootstrap over pairs")


@study.chart
def by_hops(data: Data) -> Chart:
    """How far predictions are off, by the hops of the route that the pair had."""
    mbps = found(data)
    several = sorted({int(row["hops"]) for row in measured().values()})
    rows = [(str(n), len(both(mbps, n)), *(f"{of(both(mbps, n)):.2f}" for of in (off, bias))) for n in several]
    whole = both(mbps)
    rows.append(("all", len(whole), f"{off(whole):.2f}", f"{bias(whole):.2f}"))
    return table(["hops", "pairs", "off by, median", "predicted / measured, median"], rows)


@study.chart
def by_assumption(data: Data) -> Chart:
    """The same without one assumption at a time, for every eighth pair."""
    mbps = found(data)
    chosen = list(measured())[::EVERY]
    rows = [("as it is", *_of(both({ends: mbps[ends] for ends in chosen})))]
    for name, (label, _) in ASSUMPTIONS.items():
        other = {(a, b): 1e-3 * data.without.goodput(variant=f"{name}-{a}-{b}").mean for a, b in chosen}
        rows.append((label, *_of(both(other))))
    return table(["assumption", "off by, median", "predicted / measured, median", "rank correlation"], rows)


def _of(pairs_: Pairs) -> tuple[str, ...]:
    return tuple(f"{of(pairs_):.2f}" for of in (off, bias, alike))


@study.chart
def by_pair(data: Data) -> Chart:
    """Each pair: measured, measured the evening before over another routing protocol, and predicted, in Mbit/s."""
    rows = [
        (f"{a} to {b}", row["hops"], row["mbps"], row["mbps_before"], f"{found(data)[a, b]:.1f}")
        for (a, b), row in measured().items()
    ]
    return table(["pair", "hops", "measured", "the evening before", "predicted"], rows)


@study.check("Half of the predictions are off by a factor of at most 1.3", paper=OUR_OWN, main=True)
def median_error(data: Data) -> Claim:
    return below(over_pairs(off, both(found(data))), 1.3)


@study.check("The order of the pairs is right: rank correlation of at least 0.9", paper=OUR_OWN, main=True)
def order(data: Data) -> Claim:
    return above(over_pairs(alike, both(found(data))), 0.9)


@study.check("Two measurements of the same pair differ by a factor of 1.25 in the median", paper=OUR_OWN)
def floor(_: Data) -> Claim:
    rows = measured().values()
    repeated = [(float(row["mbps_before"]), float(row["mbps"])) for row in rows if row["mbps_before"]]
    return about(over_pairs(off, repeated), FLOOR, within=0.1)
