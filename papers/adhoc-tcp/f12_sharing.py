"""Four flows of one kind, and two of each kind: throughput per flow as a function of the speed of the nodes.

Flows 1 and 3 are ad hoc TCP in the mix, 2 and 4 NewReno.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, above, between, curves, every, table

from ._common import (
    ADHOC,
    FLOWS,
    KIND,
    MIXED,
    NEWRENO,
    SPEED,
    among_moving,
    at,
    carried,
    field,
    over_speeds,
    show_precision,
    speeds,
)

LABELS = {"newreno": "four NewReno", "adhoc": "four ad hoc TCP", "mixed": "two of each"}

study = among_moving("Sharing with other transports and among themselves", figure=12)


@study.sweep
def shared(profile: Profile) -> Sweep:
    kinds = {"newreno": ["newreno"] * 4, "adhoc": ["adhoc-tcp"] * 4, "mixed": MIXED}
    return over_speeds(profile, {name: field(profile, transports) for name, transports in kinds.items()})


@study.chart_each(
    {
        "newreno": ("newreno", "Four NewReno flows. Whiskers: 95 % intervals over the runs."),
        "adhoc": ("adhoc", "Four flows of ad hoc TCP."),
        "mixed": ("mixed", "Two flows of each kind."),
    }
)
def each_flow(data: Data, variant: str) -> Chart:
    cells = {speed: at(data.shared, variant, speed) for speed in speeds(data.shared)}
    labels = {flow: f"{flow} ({KIND[flow]})" if variant == "mixed" else flow for flow in FLOWS}
    points = {label: {speed: one.goodput(flow) for speed, one in cells.items()} for flow, label in labels.items()}
    return curves(points, SPEED, "throughput (kbit/s)")


@study.chart
def fairness(data: Data) -> Chart:
    """Jain's index, the mean over the runs: how a single run shares."""
    rows = [
        (label, *(at(data.shared, name, speed).fairness() for speed in speeds(data.shared)))
        for name, label in LABELS.items()
    ]
    return table(["flows", *(f"{speed} m/s" for speed in speeds(data.shared))], rows)


show_precision(study, "shared", LABELS)


@study.check(
    "Flows of ad hoc TCP share evenly",
    main=True,
    paper="a fair share of the medium",
    assumed="each flow has 20 to 30 % of the goodput at every speed; partly: 15 to 35 %",
    why="shares vary from run to run; the outer pairs are nearer to the edge and may have fewer relays",
)
def among_themselves(data: Data) -> Claim:
    part = {
        f"{flow}, {speed} m/s": at(data.shared, "adhoc", speed).share(flow)
        for flow in FLOWS
        for speed in speeds(data.shared)
    }
    return every(between(part, 0.2, 0.3)).or_partly(every(between(part, 0.15, 0.35)))


@study.check(
    "At the lowest speed ad hoc TCP and NewReno share evenly",
    paper="a fair share also in the mix, except at high speed",
    assumed="NewReno has 20 % less to 25 % more than ad hoc TCP; partly: 50 % less to 100 % more",
    why={
        "ns2": "ad hoc TCP has a third more even at 5 m/s: NewReno's time-outs back off while routes are searched for",
        "standard": "NewReno has 1.5 times as much at 10 m/s, the lowest speed in this profile: two segments are "
        "fewer than the path could carry (figure 1)",
    },
)
def near_fair(data: Data) -> Claim:
    cells = at(data.shared, "mixed", speeds(data.shared)[0])
    ratio = carried(cells, NEWRENO) / carried(cells, ADHOC)
    return between(ratio, 0.8, 1.25).or_partly(between(ratio, 0.5, 2.0))


@study.check(
    "At 30 m/s NewReno takes a little more",
    paper="NewReno slightly steals bandwidth at high speed",
    assumed="up to 50 % more than ad hoc TCP; partly: more by any amount",
    why={
        "ns2": "the opposite: NewReno has a third of what ad hoc TCP has, because probes find a new route sooner than "
        "time-outs that have backed off",
        "standard": "both have about the same, with an interval that leaves open who is ahead",
    },
)
def steals(data: Data) -> Claim:
    cells = at(data.shared, "mixed", 30)
    ratio = carried(cells, NEWRENO) / carried(cells, ADHOC)
    return between(ratio, 1.0, 1.5).or_partly(above(ratio, 1.0))
