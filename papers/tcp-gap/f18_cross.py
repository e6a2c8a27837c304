"""A gateway in the middle of a cross, four flows to and from its arms: all upwards, all downwards, and alternating.

In all three cases TCP-GAP is ahead of NewReno in the paper, in goodput and in fairness; with flows in both directions
this requires goodput control.
"""

from fourhop import Sweep
from fourhop.study import (
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
from fourhop.study.flows import goodputs

from ._common import ASSUMED, CROSS_ARM, LABELS, PAPER, SHORTER, STILL, Direction, compared, cross
from ._several import causes_of_routes, fairer, gain

FLOWS = {f"ftp-{n}": f"FTP {n}" for n in range(1, 5)}
RUNS = 5
UPWARD, FIRST = (1, 3), (1, 2)
WAYS = {"up": "upwards", "down": "downwards", "mixed": "both ways"}

study = Study(
    "Cross with the gateway in the middle",
    source=f"{PAPER}, figures 18 to 20",
    assumed=[
        *ASSUMED,
        f"Arms of {CROSS_ARM} hops.",
        f"{RUNS} runs of 22,000 packets each, of which the first eleventh is not measured, instead of one run of "
        "55,000.",
        "With both directions, FTP 1 and 3 run upwards and FTP 2 and 4 downwards, one of each on either line. The "
        "paper says that the first two of the flows get slightly less; in this order they are one of each direction, "
        "so we check the upward ones, which its explanation is about, and the first two.",
    ],
)


@study.sweep_each({"up": ("up",) * 4, "down": ("down",) * 4, "mixed": ("up", "down", "up", "down")})
def flows(profile: Profile, directions: tuple[Direction, ...]) -> Sweep:
    return Sweep(variants=compared(cross(profile, directions, **SHORTER)), runs=RUNS)


@study.sweep_each({"still_up": ("up",) * 4, "still_down": ("down",) * 4, "still_mixed": ("up", "down", "up", "down")})
def still(profile: Profile, directions: tuple[Direction, ...]) -> Sweep:
    """The same over routes that never break, for the causes."""
    base = cross(profile, directions, **SHORTER).with_(**STILL)
    return Sweep(variants=compared(base, "newreno", "gap", "gap-gc"), runs=RUNS)


@study.chart_each(
    {
        "goodput_up": ("up", "Figure 18: all flows out of the mesh. Whiskers: 95 % intervals over the runs."),
        "goodput_down": ("down", "Figure 19: all flows into the mesh."),
        "goodput_mixed": ("mixed", "Figure 20: FTP 1 and 3 out of the mesh, FTP 2 and 4 into it."),
    }
)
def goodput(data: Data, way: str) -> Chart:
    return shares(data[way], FLOWS, LABELS)


@study.check(
    "TCP-GAP carries more than NewReno in all three cases",
    paper="considerably more",
    assumed="upwards, downwards and both ways; partly: two of the three",
    because={"ns2": ["more_with_code", "gain_is_routes"], "standard": "routes_hold"},
)
def gap_more(data: Data) -> Claim:
    claims = above({text: gain(data[way]) for way, text in WAYS.items()}, 1.0)
    return every(claims).or_partly(most(claims, 0.6))


@study.check(
    "TCP-GAP is fairer than NewReno in all three cases",
    paper="considerably fairer",
    assumed="its index above NewReno's; partly: upwards and downwards",
    because=["newreno_fair", "even_when_still"],
)
def gap_fairer(data: Data) -> Claim:
    claims = above({text: fairer(data[way]) for way, text in WAYS.items()}, 0.0)
    return every(claims).or_partly(every({text: claims[text] for text in (WAYS["up"], WAYS["down"])}))


@study.check(
    "TCP-GAP shares evenly among flows of the same direction",
    paper="optimal fairness",
    assumed="an index above 0.99, upwards and downwards; partly: above 0.95",
    because=["even_with_code", "even_when_still"],
)
def gap_even(data: Data) -> Claim:
    index = {WAYS[way]: data[way].fairness(variant="gap-gc") for way in ("up", "down")}
    return every(fair(index, 0.99)).or_partly(every(fair(index, 0.95)))


def share_of(cells: Cells, name: str, numbers: tuple[int, int]) -> Sample:
    """Share of two flows in the goodput of all four, 0 to 1, in each run."""
    return cells.measure(
        lambda run: sum(run.flows[f"ftp-{n}"]["goodput_bps"] for n in numbers) / sum(goodputs(run)), variant=name
    )


def part(data: Data, name: str, numbers: tuple[int, int]) -> Sample:
    """The same share with flows in both directions."""
    return share_of(data.mixed, name, numbers)


@study.check(
    "With both directions the upward flows are slightly behind without goodput control",
    paper="slightly less",
    assumed="35 to 50 % of the total for the two upward flows; partly: less than half",
    because=["far_behind", "slightly_with_code"],
)
def up_behind(data: Data) -> Claim:
    share = part(data, "gap", UPWARD)
    return between(share, 0.35, 0.5).or_partly(below(share, 0.5))


@study.check(
    "With both directions the first two flows are slightly behind without goodput control",
    paper="the first two get slightly less",
    assumed="35 to 50 % of the total for FTP 1 and 2; partly: less than half",
    because=["lines_alike", "lines_alike_when_still"],
)
def first_behind(data: Data) -> Claim:
    share = part(data, "gap", FIRST)
    return between(share, 0.35, 0.5).or_partly(below(share, 0.5))


@study.check(
    "Goodput control makes both directions equal",
    paper="optimal fairness",
    assumed="an index above 0.99; partly: above that without goodput control, or above 0.97",
    because=["better_with_code", "within_a_direction", "equal_when_still"],
)
def control_helps(data: Data) -> Claim:
    index = data.mixed.fairness(variant="gap-gc")
    return fair(index, 0.99).or_partly(fair(index, 0.97), above(fairer(data.mixed, "gap"), 0.0))


@study.cause("the upward flows are far behind, not slightly: they have less than 35 %")
def far_behind(data: Data) -> Claim:
    return below(part(data, "gap", UPWARD), 0.35)


@study.cause("with the arithmetic of the authors' code they have 35 to 50 %")
def slightly_with_code(data: Data) -> Claim:
    return between(part(data, "gap-code", UPWARD), 0.35, 0.5)


@study.cause("both lines of the cross carry the same, 45 to 55 % each: it is the direction that counts")
def lines_alike(data: Data) -> Claim:
    return between(part(data, "gap", FIRST), 0.45, 0.55)


@study.cause("over routes that never break both lines of the cross carry the same, 45 to 55 % each")
def lines_alike_when_still(data: Data) -> Claim:
    return between(share_of(data.still_mixed, "gap", FIRST), 0.45, 0.55)


@study.cause("with the arithmetic of the authors' code and control they are more even")
def better_with_code(data: Data) -> Claim:
    return above(fairer(data.mixed, "gap-gc", "gap-code"), 0.0)


@study.cause(
    "with control both directions carry the same, 45 to 55 %: the remaining difference is between flows of "
    "one direction"
)
def within_a_direction(data: Data) -> Claim:
    return between(part(data, "gap-gc", UPWARD), 0.45, 0.55)


@study.cause("NewReno is already fair among flows of one direction: its index is above 0.9")
def newreno_fair(data: Data) -> Claim:
    return every(fair({WAYS[way]: data[way].fairness(variant="newreno") for way in ("up", "down")}, 0.9))


@study.cause("with the arithmetic of the authors' code TCP-GAP shares evenly")
def even_with_code(data: Data) -> Claim:
    return every(fair({WAYS[way]: data[way].fairness(variant="gap-code") for way in ("up", "down")}, 0.99))


@study.cause("with the arithmetic of the authors' code TCP-GAP carries more than NewReno in all three cases")
def more_with_code(data: Data) -> Claim:
    return every(above({text: gain(data[way], name="gap-code") for way, text in WAYS.items()}, 1.0))


causes_of_routes(study)
