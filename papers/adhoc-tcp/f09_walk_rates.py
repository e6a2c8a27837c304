"""The same walk along the route: throughput and normalized goodput of each scheme.

SACK, SACK with an ad hoc receiver, and ad hoc TCP at both ends.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, above, between, every, groups

from ._common import ASSUMED, KINDS, PAPER, SCHEMES, carried, normalized, walk

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


@study.sweep
def limited(profile: Profile) -> Sweep:
    return Sweep(
        variants={
            "sack-2": walk(profile).with_(**{"tcp.window": 2}),
            "adhoc": walk(profile).with_(transport="adhoc-tcp"),
            "w-max": walk(profile).with_(transport="adhoc-tcp", **{"adhoc_tcp.rater": False}),
        },
        runs=20,
    )


@study.cause("on this walk the whole gain comes from the small window: SACK with a window of two carries as much")
def small_window(data: Data) -> Claim:
    two, adhoc = (carried(data.limited.where(variant=name)) for name in ("sack-2", "adhoc"))
    return between(two / adhoc, 0.97, 1.03)


@study.cause("the window is too small on the longest paths: with W_max in place of equation 4 ad hoc TCP carries more")
def equation_4(data: Data) -> Claim:
    free, adhoc = (carried(data.limited.where(variant=name)) for name in ("w-max", "adhoc"))
    return above(free / adhoc, 1.0)


@study.cause("the receiver alone already loses next to nothing")
def nothing_lost(data: Data) -> Claim:
    return above(normalized(data.way, transport="adhoc-receiver"), 0.99)


@study.chart
def throughput(data: Data) -> Chart:
    """Throughput of the three schemes. Whiskers: 95 % intervals over the runs."""
    return groups({KINDS[name]: {"": data.way.goodput(transport=name)} for name in SCHEMES}, "throughput (kbit/s)")


@study.chart
def goodput(data: Data) -> Chart:
    """Normalized goodput: the share of sent segments that were not retransmissions."""
    return groups({KINDS[name]: {"": normalized(data.way, transport=name)} for name in SCHEMES}, "normalized goodput")


@study.check(
    "Ad hoc TCP at both ends has the best throughput",
    paper="best of the three",
    assumed="ahead of both others; partly: of SACK",
    because={"ns2": "small_window", "standard": "equation_4"},
)
def best_throughput(data: Data) -> Claim:
    full = data.way.goodput(transport="adhoc-tcp")
    over = above({KINDS[name]: full / data.way.goodput(transport=name) for name in SCHEMES[:2]}, 1.0)
    return every(over).or_partly(over[KINDS["sack"]])


@study.check(
    "Ad hoc TCP at both ends has the best goodput",
    paper="best of the three",
    assumed="ahead of both; partly: of SACK",
    because="nothing_lost",
)
def best_goodput(data: Data) -> Claim:
    full = normalized(data.way, transport="adhoc-tcp")
    over = above({KINDS[name]: full / normalized(data.way, transport=name) for name in SCHEMES[:2]}, 1.0)
    return every(over).or_partly(over[KINDS["sack"]])
