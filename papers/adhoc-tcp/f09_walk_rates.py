"""The same walk along the route: throughput and normalized goodput of each scheme.

SACK, SACK with an ad hoc receiver, and ad hoc TCP at both ends.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, above, every, groups

from ._common import ASSUMED, KINDS, PAPER, SCHEMES, normalized, walk

study = Study(
    "A walk along the route: throughput and goodput",
    source=f"{PAPER}, figure 9",
    assumed=[
        *ASSUMED,
        "The walk of figure 8; replications until the half-width is 5 % of the mean, at most 40.",
    ],
)


@study.sweep
def way(profile: Profile) -> Sweep:
    return Sweep(walk(profile), {"transport": SCHEMES}, precision="5%", max_runs=40)


@study.chart
def throughput(data: Data) -> Chart:
    """Throughput of the three schemes. Whiskers: 95 % intervals over the runs."""
    return groups({KINDS[name]: {"": data.way.goodput(transport=name)} for name in SCHEMES}, "throughput (kbit/s)")


@study.chart
def goodput(data: Data) -> Chart:
    """Normalized goodput: the share of sent segments that were not retransmissions."""
    return groups({KINDS[name]: {"": normalized(data.way, transport=name)} for name in SCHEMES}, "normalized goodput")


@study.check(
    "Both ends together have the best throughput",
    paper="best of the three",
    assumed="ahead of both others; partly: of SACK",
    why={
        "ns2": "the receiver alone carries the same to within 1 %, with 16 time-outs instead of 12",
        "standard": "two segments are fewer than the path could carry (figure 1)",
    },
)
def best_throughput(data: Data) -> Claim:
    full = data.way.goodput(transport="adhoc-tcp")
    over = above({KINDS[name]: full / data.way.goodput(transport=name) for name in SCHEMES[:2]}, 1.0)
    return every(over).or_partly(over[KINDS["sack"]])


@study.check(
    "Both ends together have the best goodput",
    paper="best of the three",
    assumed="ahead of both; partly: of SACK",
    why="the receiver alone and both ends together lose next to nothing, so neither is ahead of the other",
)
def best_goodput(data: Data) -> Claim:
    full = normalized(data.way, transport="adhoc-tcp")
    over = above({KINDS[name]: full / normalized(data.way, transport=name) for name in SCHEMES[:2]}, 1.0)
    return every(over).or_partly(over[KINDS["sack"]])
