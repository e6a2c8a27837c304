"""Round trips of ping with one outstanding request, 64 and 1024 bytes, over 2, 3 and 4 hops."""

from fourhop import Sweep
from fourhop.study import (
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    about,
    above,
    below,
    every,
    most,
    run_by_run,
    table,
)

from ._common import ASSUMED, PAPER, hallway

HOPS = (2, 3, 4)
SIZES = {64: "56B", 1024: "1016B"}
"""Bytes as ping counts them, with its header of eight, and payloads."""

MEDIAN_MS = {(2, 64): 3.99, (3, 64): 5.91, (4, 64): 7.70, (2, 1024): 10.85, (3, 1024): 17.50, (4, 1024): 22.30}

study = Study(
    "Round trips by ping",
    source=f"{PAPER}, table 4",
    profiles=("standard",),
    assumed=[
        *ASSUMED,
        "The minimum pause between two requests is 20 ms: the paper says only that one was outstanding at a time.",
        "Hosts take only 25 us for a packet in each direction.",
    ],
)


@study.sweep
def pings(profile: Profile) -> Sweep:
    made = {
        f"{size} bytes, {hops} hops": hallway(
            profile,
            hops,
            "ping",
            flow={"payload": payload, "interval": "20ms", "outstanding": 1},
            duration="70s",
        )
        for size, payload in SIZES.items()
        for hops in HOPS
    }
    return Sweep(variants=made, runs=5)


def round_trip(data: Data, what: str, size: int, hops: int) -> Sample:
    """The round trip in ms, one value per run."""
    seconds = data.pings.column(f"rtt_{what}_s", "test", variant=f"{size} bytes, {hops} hops")
    return run_by_run(lambda each: 1e3 * each, seconds, unit="ms")


@study.chart
def table_4(data: Data) -> Chart:
    """Round trips in ms. Intervals over the runs."""
    rows = [
        (
            f"{hops} hops, {size} bytes",
            MEDIAN_MS[hops, size],
            *(round_trip(data, what, size, hops) for what in ("min", "median", "max", "mean", "std")),
        )
        for hops in HOPS
        for size in SIZES
    ]
    return table(["", "median, paper", "least", "median", "largest", "mean", "standard deviation"], rows)


@study.cause(
    "what is missing grows with the size: from the small to the large ping the paper's round trips grow faster"
)
def per_byte(data: Data) -> Claim:
    grown = {n: round_trip(data, "median", 1024, n) - round_trip(data, "median", 64, n) for n in HOPS}
    there = {n: MEDIAN_MS[n, 1024] - MEDIAN_MS[n, 64] for n in HOPS}
    return every({f"{n} hops": below(grown[n], 0.75 * there[n]) for n in HOPS})


@study.check(
    "Round trips equal those of the paper",
    paper="medians 3.99, 5.91 and 7.70 ms; 10.85, 17.50 and 22.30 ms",
    assumed="predicted: each within 20 %; partly: half of them",
    because="per_byte",
    why="we think that these frames went at lower rates, which the cards chose, or that the laptops copied "
    "them slowly over their bus; neither is part of the radio that is fitted to TCP's throughput",
)
def as_in_the_paper(data: Data) -> Claim:
    claims = {
        f"{size} bytes, {hops} hops": about(round_trip(data, "median", size, hops), value, 0.2)
        for (hops, size), value in MEDIAN_MS.items()
    }
    return every(claims).or_partly(most(claims, 0.5))


@study.check(
    "Round trips grow with the hops and with the size",
    paper="with both",
    assumed="medians, between neighbouring lengths and between the sizes",
)
def grow(data: Data) -> Claim:
    median = {(size, n): round_trip(data, "median", size, n) for size in SIZES for n in HOPS}
    more = {f"{size} bytes, {n} hops": median[size, n] - median[size, n - 1] for size in SIZES for n in HOPS[1:]}
    more |= {f"{n} hops": median[1024, n] - median[64, n] for n in HOPS}
    return every(above(more, 0.0))
