"""A gateway in the middle of a cross, four flows to and from its arms: all upwards, all downwards, two each way.

In all three cases TCP-GAP is ahead of NewReno in the paper, in goodput and in fairness; with flows in both directions
this requires goodput control.
"""

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Study, above, every, fair, shares
from fourhop.study.flows import goodputs

from ._common import ASSUMED, CROSS_ARM, LABELS, PAPER, Direction, compared, cross
from ._several import fairer, gain

FLOWS = {f"ftp-{n}": f"FTP {n}" for n in range(1, 5)}
RUNS = 5
LENGTH = {**STEADY, "packets": 22_000}
WAYS = {"up": "upwards", "down": "downwards", "mixed": "both ways"}

LITTLE_LOST = (
    "with correct routing and medium access NewReno loses little on the cross, so pacing has nothing to gain: TCP-GAP "
    "carries 93 to 100 % of what NewReno does"
)

study = Study(
    "Cross with the gateway in the middle",
    source=f"{PAPER}, figures 18 to 20",
    assumed=[
        *ASSUMED,
        f"Arms of {CROSS_ARM} hops.",
        f"{RUNS} runs of 22,000 packets each, of which the first eleventh is not measured, instead of one run of "
        "55,000.",
        "With both directions, FTP 1 and 2 on the horizontal line run upwards and FTP 3 and 4 downwards.",
    ],
)


@study.sweep_each({"up": ("up",) * 4, "down": ("down",) * 4, "mixed": ("up", "up", "down", "down")})
def flows(profile: Profile, directions: tuple[Direction, ...]) -> Sweep:
    return Sweep(variants=compared(cross(profile, directions, **LENGTH)), runs=RUNS)


@study.chart_each(
    {
        "goodput_up": ("up", "Figure 18: all flows out of the mesh. Whiskers: 95 % intervals over the runs."),
        "goodput_down": ("down", "Figure 19: all flows into the mesh."),
        "goodput_mixed": ("mixed", "Figure 20: FTP 1 and 2 out of the mesh, FTP 3 and 4 into it."),
    }
)
def goodput(data: Data, way: str) -> Chart:
    return shares(data[way], FLOWS, LABELS)


@study.check(
    "TCP-GAP carries more than NewReno in all three",
    paper="considerably more",
    assumed="upwards, downwards and both ways; partly: two of the three",
    why={"standard": LITTLE_LOST},
)
def gap_more(data: Data) -> Claim:
    claims = above({text: gain(data[way]) for way, text in WAYS.items()}, 1.0)
    first, second, third = claims.values()
    pairs = [every({"a": a, "b": b}) for a, b in ((first, second), (first, third), (second, third))]
    return every(claims).or_partly(pairs[0]).or_partly(pairs[1]).or_partly(pairs[2])


@study.check(
    "TCP-GAP is fairer than NewReno in all three",
    paper="considerably fairer",
    assumed="its index above NewReno's; partly: upwards and downwards",
    why={
        "ns2": "NewReno's index is 0.95 with flows of one direction, over 22,000 packets; only with both directions "
        "(0.89) is there something to gain",
        "standard": "NewReno is already fair upwards",
    },
)
def gap_fairer(data: Data) -> Claim:
    claims = above({text: fairer(data[way]) for way, text in WAYS.items()}, 0.0)
    return every(claims).or_partly(every({text: claims[text] for text in (WAYS["up"], WAYS["down"])}))


@study.check(
    "TCP-GAP shares evenly among flows of the same direction",
    paper="optimal fairness",
    assumed="an index above 0.99, upwards and downwards; partly: above 0.95",
    why={"ns2": "flows still lose their routes for tens of seconds, which does not average out over 22,000 packets"},
)
def gap_even(data: Data) -> Claim:
    index = {WAYS[way]: data[way].fairness(variant="gap-gc") for way in ("up", "down")}
    return every(fair(index, 0.99)).or_partly(every(fair(index, 0.95)))


@study.check(
    "With both directions the upward flows are behind without goodput control",
    paper="the first two get slightly less",
    assumed="the two downward flows have more than half",
)
def up_behind(data: Data) -> Claim:
    cells = data.mixed.where(variant="gap")
    downwards = cells.measure(lambda run: sum(run.flows[f"ftp-{n}"]["goodput_bps"] for n in (3, 4)))
    everything = cells.measure(lambda run: sum(goodputs(run)))
    return above(downwards / everything, 0.5)


@study.check(
    "Goodput control makes both directions equal",
    paper="optimal fairness",
    assumed="an index above 0.99; partly: above that without goodput control",
)
def control_helps(data: Data) -> Claim:
    return fair(data.mixed.fairness(variant="gap-gc"), 0.99).or_partly(above(fairer(data.mixed, "gap"), 0.0))
