"""Two parallel chains into one gateway with a flow along each: both upwards, both downwards, one each way.

The chains interfere with each other without hearing each other's reservations. The paper finds that NewReno gives one
flow everything; that TCP-GAP shares evenly and carries more in total where both flows have the same direction; and that
with opposite directions the downward flow is ahead unless the gateway controls the goodputs, which costs almost
nothing.
"""

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Study, above, below, every, fair, shares
from fourhop.study.flows import smaller_share

from ._common import ASSUMED, ASSUMED_STARVING, FEW_LOSSES, LABELS, PAPER, Direction, compared, parallel
from ._several import fairer, gain

FLOWS = {"ftp-1": "FTP 1", "ftp-2": "FTP 2"}
SEEDS = 5
WAYS = {"up": "both upwards", "down": "both downwards"}

CHANGE_PLACES = (
    "one flow or the other falls behind for a while and then they change places, so over 55,000 packets both have "
    "about half; two chains without a gateway do the same here and in ns-2.35 (figure 16 of the TCP-AP paper)"
)

study = Study(
    "Parallel chains into one gateway",
    source=f"{PAPER}, figures 10 to 12",
    assumed=[
        *ASSUMED,
        ASSUMED_STARVING,
        f"{SEEDS} runs of 55,000 packets each instead of one: which flow is ahead may depend on the seed.",
        "With one flow each way, FTP 1 runs downwards on the upper chain and FTP 2 upwards on the lower one.",
    ],
)


@study.sweep_each({"up": ("up", "up"), "down": ("down", "down"), "mixed": ("down", "up")})
def chains(profile: Profile, directions: tuple[Direction, Direction]) -> Sweep:
    return Sweep(variants=compared(parallel(profile, directions, **STEADY)), runs=SEEDS)


@study.chart_each(
    {
        "goodput_up": (
            "up",
            "Both flows from the mesh to the host: goodput of each and the total. Whiskers: 95 % intervals over runs.",
        ),
        "goodput_down": ("down", "Both flows from the host to the mesh."),
        "goodput_mixed": ("mixed", "FTP 1 from the host to the mesh, FTP 2 from the mesh to the host."),
    }
)
def goodput(data: Data, way: str) -> Chart:
    return shares(data[way], FLOWS, LABELS)


@study.check(
    "With NewReno one flow gets nearly all where both have the same direction",
    paper="one flow occupies the bandwidth, the other starves",
    assumed="the weaker flow has less than a twentieth, upwards and downwards; partly: less than a quarter",
    why={"ns2": CHANGE_PLACES, "standard": FEW_LOSSES},
)
def newreno_starves(data: Data) -> Claim:
    share = {text: data[way].measure(smaller_share, variant="newreno") for way, text in WAYS.items()}
    return every(below(share, 0.05)).or_partly(every(below(share, 0.25)))


@study.check(
    "TCP-GAP shares evenly where both have the same direction",
    paper="equally",
    assumed="an index above 0.99, upwards and downwards; partly: above 0.95",
    why={
        "ns2": "how even the shares are changes from run to run: with both flows upwards, one run has 104 and 397 "
        "kbit/s, another 251 and 252. A flow whose round trips have once varied stays slow for a long time"
    },
)
def gap_fair(data: Data) -> Claim:
    index = {text: data[way].fairness(variant="gap-gc") for way, text in WAYS.items()}
    return every(fair(index, 0.99)).or_partly(every(fair(index, 0.95)))


@study.check(
    "TCP-GAP carries more than NewReno where both have the same direction",
    paper="more in total",
    assumed="upwards and downwards; partly: in one of the two",
    why={"standard": f"{FEW_LOSSES}; the variation of the round trips still slows TCP-GAP down"},
)
def gap_more(data: Data) -> Claim:
    claims = above({text: gain(data[way]) for way, text in WAYS.items()}, 1.0)
    up_more, down_more = claims.values()
    return every(claims).or_partly(up_more).or_partly(down_more)


@study.check(
    "With one flow each way TCP-GAP without goodput control is fairer than NewReno, but not fair",
    paper="much better than NewReno, not optimal",
    assumed="an index above NewReno's and below 0.99; partly: above NewReno's",
    why={
        "ns2": "without control it is as unfair as in the paper; but NewReno shares better here than in the paper",
        "standard": "both share nearly evenly",
    },
)
def mixed_without(data: Data) -> Claim:
    index = data.mixed.fairness(variant="gap")
    more = above(fairer(data.mixed, name="gap"), 0.0)
    return every({"above NewReno's": more, "not even": below(index, 0.99)}).or_partly(more)


@study.check(
    "Goodput control makes flows of opposite directions equal",
    main=True,
    paper="optimal fairness",
    assumed="an index above 0.99; partly: above that without goodput control",
)
def mixed_fair(data: Data) -> Claim:
    return fair(data.mixed.fairness(variant="gap-gc"), 0.99).or_partly(above(fairer(data.mixed, "gap"), 0.0))


@study.check(
    "Goodput control costs almost nothing",
    paper="almost no sacrifice of the aggregate goodput",
    assumed="at most 5 % of the total; partly: at most 15 %",
)
def control_is_cheap(data: Data) -> Claim:
    kept = gain(data.mixed, over="gap")
    return above(kept, 0.95).or_partly(above(kept, 0.85))
