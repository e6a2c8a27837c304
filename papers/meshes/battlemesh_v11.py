"""Predictions for transfers between fourteen indoor routers, held against what was measured there.

The pairs of each source transfer one after another, as they did there. `fourhop import` reads links and places with the
defaults that it has for every mesh. Each variant takes one assumption away, for every eighth pair.
"""

import csv
import math
import random
import statistics
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from fourhop import Scenario, Sweep, community
from fourhop.study import OUR_OWN, Cells, Chart, Claim, Data, Estimate, Profile, Study, table
from fourhop.study.claims import about, above, below

FOLDER = Path(__file__).resolve().parent / "data"
FLOOR = 1.25
"""Factor by which two measurements of the same pair differ in the median."""
DRAWS = 1000
"""Choices of pairs by which the interval of a number over all of them is found."""
EVERY = 8
"""The assumptions are looked at for every so manyth pair."""
GAP_S = 0.5
"""Between two transfers."""

ASSUMPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cpu": ("processors take no time", ("link.packet_cost=0s",)),
    "fading": ("signals do not fade", ("radio.fading=none",)),
    "silent": ("pairs without a link hear nothing of each other", ("radio.unmeasured=silent",)),
    "exponent": ("signals weaken by 40 dB a decade instead of 30", ("radio.exponent=4",)),
    "queue": ("one queue of 50 packets", ("link.queue=drop-tail",)),
    "missing": ("a direction that is missing is as good as the other", ()),
}

study = Study(
    "Battlemesh v11: predicted against measured",
    source="our own; numbers of the testbed of Battlemesh v11",
    profiles=("standard",),
    assumed=[
        "Links and places as `fourhop import --values rate` reads them, with its defaults; 6 dBm.",
        "One CUBIC transfer of 6 s at a time, with its beginning; one run for each source.",
        "What the variants say of single assumptions is for every eighth pair.",
    ],
)


@cache
def measured() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of transfers by their pairs."""
    with (FOLDER / "v11_tcp.csv").open(encoding="utf-8") as file:
        return {(row["from"], row["to"]): row for row in csv.DictReader(file)}


@cache
def network() -> community.Network:
    """What `fourhop import` reads."""
    return community.read([FOLDER / "v11_links.csv", FOLDER / "v11_places.csv"], "rate")


def lasting_s() -> float:
    """Seconds of a transfer."""
    return 1.0 if study.quickly else 6.0


def transfers(
    pairs_: Iterable[tuple[str, str]], overrides: Iterable[str] = (), of: community.Network | None = None
) -> Scenario:
    """Transfers one after another."""
    listed = list(pairs_)
    options = community.Options(pairs=listed, overrides=["radio.tx_power=6dBm", *overrides], name="v11")
    document = tomllib.loads(community.to_scenario(of or network(), options).toml)
    start_s = 1.0
    for (source, target), flow in zip(listed, document["flows"], strict=True):
        stop_s = start_s + lasting_s()
        flow |= {"name": f"{source}-to-{target}", "start": f"{start_s:g}s", "stop": f"{stop_s:g}s"}
        start_s = stop_s + GAP_S
    return Scenario.from_dict(document | {"duration": f"{start_s:g}s", "warmup": "500ms"})


@study.sweep
def pairs(_: Profile) -> Sweep:
    sources = dict.fromkeys(source for source, _ in measured())
    each = {source: [ends for ends in measured() if ends[0] == source] for source in sources}
    if study.quickly:
        each = {source: each[source][:2] for source in list(sources)[:1]}
    return Sweep(variants={source: transfers(ends) for source, ends in each.items()}, runs=1)


@study.sweep
def without(_: Profile) -> Sweep:
    chosen = list(measured())[:: len(measured()) if study.quickly else EVERY]
    alike = replace(
        network(), links=tuple(replace(x, there=x.there or x.back, back=x.back or x.there) for x in network().links)
    )
    variants = {
        name: transfers(chosen, overrides, alike if name == "missing" else None)
        for name, (_, overrides) in ASSUMPTIONS.items()
    }
    return Sweep(variants=variants, runs=1)


Rates = Mapping[tuple[str, str], float]
"""Mbit/s of pairs."""


def rates(cells: Cells) -> Rates:
    """What was predicted."""
    rows = [row for run in cells.runs for row in run.flows.values()]
    found = {tuple(str(row["flow"]).split("-to-")): 8e-6 * row["delivered_bytes"] / lasting_s() for row in rows}
    return {(a, b): found[a, b] for a, b in measured() if (a, b) in found}


Pairs = list[tuple[float, float]]
"""Predicted and measured Mbit/s."""


def both(mbps: Rates, hops: int | None = None) -> Pairs:
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
    return statistics.correlation(*places) if all(len(set(each)) > 1 for each in places) else math.nan


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
    mbps = rates(data.pairs)
    several = sorted({int(measured()[ends]["hops"]) for ends in mbps})
    rows = [(str(n), len(both(mbps, n)), *(f"{of(both(mbps, n)):.2f}" for of in (off, bias))) for n in several]
    whole = both(mbps)
    rows.append(("all", len(whole), f"{off(whole):.2f}", f"{bias(whole):.2f}"))
    return table(["hops", "pairs", "off by, median", "predicted / measured, median"], rows)


@study.chart
def by_assumption(data: Data) -> Chart:
    """The same without one assumption at a time, for every eighth pair."""
    others = {label: rates(data.without.where(variant=name)) for name, (label, _) in ASSUMPTIONS.items()}
    as_it_is = {
        ends: mbps for ends, mbps in rates(data.pairs).items() if all(ends in other for other in others.values())
    }
    rows = [(label, *_of(both(mbps))) for label, mbps in {"as it is": as_it_is, **others}.items()]
    return table(["assumption", "off by, median", "predicted / measured, median", "rank correlation"], rows)


def _of(pairs_: Pairs) -> tuple[str, ...]:
    return tuple(f"{of(pairs_):.2f}" for of in (off, bias, alike))


@study.chart
def by_pair(data: Data) -> Chart:
    """Each pair: measured, measured the evening before over another routing protocol, and predicted, in Mbit/s."""
    rows = [
        (f"{a} to {b}", *(measured()[a, b][key] for key in ("hops", "mbps", "mbps_before")), f"{mbps:.1f}")
        for (a, b), mbps in rates(data.pairs).items()
    ]
    return table(["pair", "hops", "measured", "the evening before", "predicted"], rows)


@study.check("Half of the predictions are off by a factor of at most 1.3", paper=OUR_OWN, main=True)
def median_error(data: Data) -> Claim:
    return below(over_pairs(off, both(rates(data.pairs))), 1.3)


@study.check("The order of the pairs is right: rank correlation of at least 0.9", paper=OUR_OWN, main=True)
def order(data: Data) -> Claim:
    return above(over_pairs(alike, both(rates(data.pairs))), 0.9)


@study.check("Two measurements of the same pair differ by a factor of 1.25 in the median", paper=OUR_OWN)
def floor(_: Data) -> Claim:
    rows = measured().values()
    repeated = [(float(row["mbps_before"]), float(row["mbps"])) for row in rows if row["mbps_before"]]
    return about(over_pairs(off, repeated), FLOOR, within=0.1)
