"""Two parallel chains into one gateway with a flow along each: both upwards, both downwards, one each way.

The chains interfere with each other without hearing each other's reservations. The paper finds that NewReno gives one
flow everything; that TCP-GAP shares evenly and carries more in total where both flows have the same direction; and that
with opposite directions the downward flow is ahead unless the gateway controls the goodputs, which costs almost
nothing.
"""

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    above,
    below,
    between,
    every,
    fair,
    most,
    shares,
)  # fmt: skip
from fourhop.study.flows import MOMENT_S, OVER_TIME, goodputs, smaller_share, smallest_of, within

from ._common import (
    ASSUMED,
    ASSUMED_SHORTER,
    ASSUMED_STARVING,
    LABELS,
    PAPER,
    SHORTER,
    STILL,
    USUAL,
    Direction,
    compared,
    parallel,
)
from ._several import causes_of_routes, fairer, gain

VARIANTS = (*USUAL, "gap-all")
FLOWS = {"ftp-1": "FTP 1", "ftp-2": "FTP 2"}
SEEDS = 5
WAYS = {"up": "both upwards", "down": "both downwards"}

study = Study(
    "Parallel chains into one gateway",
    source=f"{PAPER}, figures 10 to 12",
    assumed=[
        *ASSUMED,
        ASSUMED_STARVING,
        ASSUMED_SHORTER,
        f"{SEEDS} runs of 55,000 packets each instead of one: which flow is ahead may depend on the seed.",
        "With one flow each way, FTP 1 runs downwards on the upper chain and FTP 2 upwards on the lower one.",
    ],
)


@study.sweep_each({"up": ("up", "up"), "down": ("down", "down"), "mixed": ("down", "up")})
def chains(profile: Profile, directions: tuple[Direction, Direction]) -> Sweep:
    return Sweep(variants=compared(parallel(profile, directions, **STEADY), *VARIANTS), runs=SEEDS)


@study.sweep_each({"still_up": ("up", "up"), "still_down": ("down", "down"), "still_mixed": ("down", "up")})
def still(profile: Profile, directions: tuple[Direction, Direction]) -> Sweep:
    """The same over routes that never break, for the causes."""
    base = parallel(profile, directions, **SHORTER).with_(**STILL)
    return Sweep(variants=compared(base, "newreno", "gap", "gap-gc", "gap-all"), runs=SEEDS)


@study.sweep_each({f"moments_{way}": (way, way) for way in ("up", "down")})
def moments(profile: Profile, directions: tuple[Direction, Direction]) -> Sweep:
    """NewReno over time."""
    return Sweep(variants=compared(parallel(profile, directions, **OVER_TIME), "newreno"), runs=10)


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
    "With NewReno one flow gets nearly everything where both have the same direction",
    paper="one flow occupies the bandwidth, the other starves",
    assumed="the weaker flow has less than a twentieth, upwards and downwards; partly: less than a quarter",
    because=["shut_out_in_turn", "change_places"],
)
def newreno_starves(data: Data) -> Claim:
    share = {text: data[way].measure(smaller_share, variant="newreno") for way, text in WAYS.items()}
    return every(below(share, 0.05)).or_partly(every(below(share, 0.25)))


@study.check(
    "TCP-GAP shares evenly where both have the same direction",
    paper="equally",
    assumed="an index above 0.99, upwards and downwards; partly: above 0.95",
    because=["even_with_code", "even_when_still"],
)
def gap_fair(data: Data) -> Claim:
    index = {text: data[way].fairness(variant="gap-gc") for way, text in WAYS.items()}
    return every(fair(index, 0.99)).or_partly(every(fair(index, 0.95)))


@study.check(
    "TCP-GAP carries more than NewReno where both have the same direction",
    paper="more in total",
    assumed="upwards and downwards; partly: in one of the two",
    because={"ns2": ["more_with_code", "gain_is_routes"], "standard": "routes_hold"},
)
def gap_more(data: Data) -> Claim:
    claims = above({text: gain(data[way]) for way, text in WAYS.items()}, 1.0)
    return every(claims).or_partly(most(claims, 0.5))


@study.check(
    "With one flow each way TCP-GAP without goodput control is fairer than NewReno, but not fair",
    paper="much better than NewReno, not optimal",
    assumed="an index above NewReno's and below 0.99; partly: above NewReno's",
    because="newreno_shares",
)
def mixed_without(data: Data) -> Claim:
    index = data.mixed.fairness(variant="gap")
    more = above(fairer(data.mixed, name="gap"), 0.0)
    return every({"above NewReno's": more, "not even": below(index, 0.99)}).or_partly(more)


@study.check(
    "Goodput control makes flows of opposite directions equal",
    main=True,
    paper="optimal fairness",
    assumed="an index above 0.99; partly: above that without goodput control, or above 0.97",
    because=["better_with_code", "equal_when_still"],
)
def mixed_fair(data: Data) -> Claim:
    index = data.mixed.fairness(variant="gap-gc")
    return fair(index, 0.99).or_partly(fair(index, 0.97), above(fairer(data.mixed, "gap"), 0.0))


@study.check(
    "Goodput control costs almost nothing",
    paper="almost no sacrifice of the aggregate goodput",
    assumed="at most 5 % of the total; partly: at most 15 %",
    because="cheap_when_still",
)
def control_is_cheap(data: Data) -> Claim:
    kept = gain(data.mixed, over="gap")
    return above(kept, 0.95).or_partly(above(kept, 0.85))


@study.check(
    "Goodput control costs nothing where both flows have the same direction",
    paper="goodput control is for oncoming flows",
    assumed="our own: at most 3 % of the total, upwards and downwards",
)
def control_costs_nothing_alike(data: Data) -> Claim:
    return every(above({text: gain(data[way], over="gap") for way, text in WAYS.items()}, 0.97))


@study.check(
    "Between flows of the same direction goodput control gains nothing",
    paper="nothing: the text compares all flows, its title names oncoming ones",
    assumed="our own: downwards, with control among all flows, the total is smaller, and the index gains less than "
    "0.05",
    because={"ns2": "no_gain_when_still"},
)
def control_among_all(data: Data) -> Claim:
    less = below(gain(data.down, over="gap", name="gap-all"), 1.0)
    return every({"total": less, "index": no_gain(data.down)})


@study.cause("with the arithmetic of the authors' code TCP-GAP shares evenly")
def even_with_code(data: Data) -> Claim:
    return every(fair({text: data[way].fairness(variant="gap-code") for way, text in WAYS.items()}, 0.99))


@study.cause(
    "the flows are shut out in turn: with NewReno the weaker one has less than a twentieth in more than a fifth of the "
    f"windows of {MOMENT_S:g} s, upwards and downwards"
)
def shut_out_in_turn(data: Data) -> Claim:
    def starved(each: list[float]) -> float:
        return float(smallest_of(each) < 0.05)

    found = {text: within(data[f"moments_{way}"], MOMENT_S, starved) for way, text in WAYS.items()}
    return every(above(found, 0.2))


@study.cause("broken routes hide it: over routes that never break the index gains less than 0.05")
def no_gain_when_still(data: Data) -> Claim:
    return no_gain(data.still_down)


@study.cause("flows change places: with NewReno over the whole run each has between two fifths and three fifths")
def change_places(data: Data) -> Claim:
    return every(between({text: first_share(data[way], "newreno") for way, text in WAYS.items()}, 0.4, 0.6))


causes_of_routes(study)


@study.cause("with the arithmetic of the authors' code TCP-GAP carries more than NewReno")
def more_with_code(data: Data) -> Claim:
    return every(above({text: gain(data[way], name="gap-code") for way, text in WAYS.items()}, 1.0))


@study.cause("NewReno shares better here than in the paper, where one flow has nearly nothing: its index is above 0.7")
def newreno_shares(data: Data) -> Claim:
    return fair(data.mixed.fairness(variant="newreno"), 0.7)


@study.cause(
    "with the arithmetic of the authors' code it is fairer, because a sender that has slowed down recovers sooner"
)
def better_with_code(data: Data) -> Claim:
    return above(fairer(data.mixed, "gap-gc", "gap-code"), 0.0)


@study.cause("over routes that never break it costs at most 5 %")
def cheap_when_still(data: Data) -> Claim:
    return above(gain(data.still_mixed, over="gap"), 0.95)


def no_gain(cells: Cells) -> Claim:
    """Whether control among all flows fails to raise the index by 0.05."""
    return below(fairer(cells, "gap", "gap-all"), 0.05)


def first_share(cells: Cells, name: str) -> Sample:
    """Share of FTP 1 in the goodput of both, 0 to 1."""
    return cells.measure(lambda run: run.flows["ftp-1"]["goodput_bps"] / sum(goodputs(run)), variant=name)
