"""The time to find a route: forty searches each over 2, 3 and 4 hops.

The paper's medians are some 10 ms for 2 and 3 hops and 331 ms for 4, and it suspects lost requests. The expanding ring
of RFC 3561 is a sufficient explanation: a first request with a time to live of 2 cannot be answered over four hops, and
the next one goes out after 2 x 40 ms x (2 + 2) = 320 ms.
"""

from __future__ import annotations

import math
import statistics

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, above, below, every, table

from ._common import ASSUMED, PAPER, aware, hallway

HOPS = (2, 3, 4)
PAPER_MS = {
    2: (3.0, 7.0, 965.0, 50.8, 173.6),
    3: (6.0, 10.0, 3212.0, 292.8, 633.9),
    4: (9.0, 331.0, 5183.0, 613.3, 999.6),
}
"""Table 2: minimum, median, maximum, mean and standard deviation."""

SEARCHES = {
    "ring": "expanding ring, first request of TTL 2",
    "wait": "whole network at once, repeated after 320 ms",
}

study = Study(
    "Time to find a route",
    source=f"{PAPER}, table 2",
    profiles=("standard",),
    assumed=[
        *ASSUMED,
        "No other node sends: the paper says that these were separate experiments.",
        "The paper suspects collisions during RTS/CTS handshakes. Requests are broadcasts, which no RTS "
        "precedes, and the "
        "hallway has no RTS (`f00_fit`).",
        "A node that has just heard the destination's HELLO may answer for it (RFC 3561 section 6.6).",
    ],
)


@study.sweep
def searches(profile: Profile) -> Sweep:
    routing = {
        "ring": aware(ttl_start=2),
        "wait": aware(ttl_start=35, request_wait="320ms", rreq_retries=10),
    }
    made = {
        f"{name}, {hops} hops": hallway(profile, hops, "ping", routing=keys, duration="30s", warmup="1s")
        for name, keys in routing.items()
        for hops in HOPS
    }
    return Sweep(variants=made, runs=40)


def times(data: Data, name: str, hops: int) -> list[float]:
    """Time of the search in ms, one value per run; infinite if the run ended first."""
    sample = data.searches.measure(
        lambda run: next(iter(run.flows.values()))["discovery_first_s"] or math.inf, variant=f"{name}, {hops} hops"
    )
    return sorted(1e3 * x for x in sample.values)


def _in_words(ms: float) -> float | str:
    return ms if math.isfinite(ms) else "not found"


@study.chart
def table_2(data: Data) -> Chart:
    """Time from the first request to the reply in ms. A search that never ended counts only in median and maximum."""
    rows: list[tuple[object, ...]] = []
    for hops in HOPS:
        rows.append((f"{hops} hops, the paper", *PAPER_MS[hops], "40 of 40"))
        for name, label in SEARCHES.items():
            every_one = times(data, name, hops)
            ended = [ms for ms in every_one if math.isfinite(ms)]
            spread = statistics.stdev(ended) if len(ended) > 1 else math.nan
            ends = [_in_words(ms) for ms in (every_one[0], statistics.median(every_one), every_one[-1])]
            mean = statistics.fmean(ended or [math.nan])
            rows.append((f"{hops} hops, {label}", *ends, mean, spread, f"{len(ended)} of {len(every_one)}"))
    return table(["", "least", "median", "largest", "mean", "standard deviation", "ended"], rows)


def share_below(data: Data, name: str, hops: int, ms: float) -> Sample:
    """1 for each search that took less than this time, otherwise 0, whether or not it ended."""
    found = times(data, name, hops)
    return Sample(tuple(float(x < ms) for x in found), tuple(range(len(found))), "", "replications")


@study.check(
    "Over 2 and 3 hops half of the searches take about 10 ms",
    paper="medians of 7 and 10 ms",
    assumed="more than half of them below 30 ms, at both lengths",
)
def short_is_quick(data: Data) -> Claim:
    return every(above({f"{n} hops": share_below(data, "ring", n, 30.0) for n in (2, 3)}, 0.5))


@study.check(
    "Over 4 hops the median is longer by one wait of 320 ms",
    paper="331 ms",
    assumed="more than half of the searches take 320 ms or more, and more than half take less than 360 ms",
)
def one_wait_more(data: Data) -> Claim:
    return every(
        {
            "320 ms and more": below(share_below(data, "ring", 4, 320.0), 0.5),
            "below 360 ms": above(share_below(data, "ring", 4, 360.0), 0.5),
        }
    )


@study.check(
    "Without the expanding ring, four hops would not need that wait",
    paper="suspects that requests are lost to interference",
    assumed="our own: more than half of the searches that begin with the whole network take less than 320 ms",
)
def the_ring_does_it(data: Data) -> Claim:
    return above(share_below(data, "wait", 4, 320.0), 0.5)


@study.cause("requests are received so reliably that hardly any search of the whole network needs a second one")
def few_are_lost(data: Data) -> Claim:
    return above(share_below(data, "wait", 4, 320.0), 0.9)


@study.check(
    "Some searches take seconds",
    paper="up to 0.97, 3.2 and 5.2 s",
    assumed="the longest of forty over 4 hops takes at least a second",
    because="few_are_lost",
    why="no other node sends here; a search of seconds must have lost several consecutive messages",
)
def some_take_long(data: Data) -> Claim:
    longest = times(data, "ring", 4)[-1]
    return Claim("the longest above 1000 ms", longest > 1000.0, f"{longest:.0f} ms")
