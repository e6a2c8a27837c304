"""Four flows of one kind, and two of each kind: throughput per flow as a function of the speed of the nodes.

Flows 1 and 3 are ad hoc TCP in the mix, 2 and 4 NewReno.
"""

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Sample,
    above,
    below,
    between,
    curves,
    every,
    fair,
    table,
)
from fourhop.study.flows import part_of_both

from ._causes import FEW, OLD_TIMERS_ARE, mixes, newreno_ahead
from ._common import (
    ADHOC,
    FLOWS,
    KIND,
    MIXED,
    NEWRENO,
    SPEED,
    SPEEDS,
    among_moving,
    at,
    at_speed,
    carried,
    field,
    over_speeds,
    show_precision,
    speeds,
)

LABELS = {"newreno": "four NewReno", "adhoc": "four ad hoc TCP", "mixed": "two of each"}

study = among_moving(
    "Sharing with other transports and among themselves",
    12,
    "Causes: the mix at 30 m/s under ns2 with ends 300 m apart, with older timers, and with no time-out above 1 s; the "
    f"mix at the lowest speed with a window of two for NewReno; {FEW} runs.",
    OLD_TIMERS_ARE,
)


@study.sweep
def shared(profile: Profile) -> Sweep:
    kinds = {"newreno": ["newreno"] * 4, "adhoc": ["adhoc-tcp"] * 4, "mixed": MIXED}
    return over_speeds(profile, {name: field(profile, transports) for name, transports in kinds.items()})


@study.sweep
def causes(_: Profile) -> Sweep:
    return Sweep(variants=mixes(), runs=FEW)


@study.sweep
def narrow(profile: Profile) -> Sweep:
    base = at_speed(field(profile, MIXED), SPEEDS[profile][0])
    limited = base.with_(**{f"flows[{place}].window": 2 for place, kind in enumerate(MIXED) if kind == "newreno"})
    return Sweep(variants={"64": base, "2": limited}, runs=FEW)


def part_of_newreno(cells: Cells) -> Sample:
    """NewReno's share of the mix in each run, 0 to 1."""
    return part_of_both(carried(cells, NEWRENO), carried(cells, ADHOC))


@study.cause(
    "which one is ahead depends on how far apart the ends are: at 30 m/s it is NewReno if they are 300 m apart"
)
def distance(data: Data) -> Claim:
    return above(newreno_ahead(data.causes.where(variant="near")), 1.0)


@study.cause(
    "with the timers before October 2004, those of the paper's ns-2, NewReno has a larger share of the mix at 30 m/s"
)
def timers(data: Data) -> Claim:
    return above(_gained(data, "timers"), 0.0)


@study.cause(
    "NewReno backs off where ad hoc TCP probes: if no time-out is above 1 s it has a larger share of the mix at 30 m/s"
)
def backoff(data: Data) -> Claim:
    return above(_gained(data, "no-backoff"), 0.0)


def _gained(data: Data, name: str) -> Estimate:
    """Increase of NewReno's share by a change."""
    changed, whole = (part_of_newreno(data.causes.where(variant=variant)) for variant in (name, "whole"))
    return changed - whole


@study.cause(
    "NewReno owes its share to a large window: with two segments, like ad hoc TCP, it has a smaller share of the mix"
)
def window(data: Data) -> Claim:
    narrow, wide = (part_of_newreno(data.narrow.where(variant=variant)) for variant in ("2", "64"))
    return below(narrow - wide, 0.0)


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
    """Jain's index, mean over the runs: how evenly the flows of a run share."""
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
    assumed="Jain's index of a run, on average above 0.9 at every speed; partly: nowhere 0.05 below that of NewReno",
    because="moving",
)
def among_themselves(data: Data) -> Claim:
    index, other = (
        {f"{speed} m/s": at(data.shared, name, speed).fairness() for speed in speeds(data.shared)}
        for name in ("adhoc", "newreno")
    )
    no_less = {speed: above(index[speed] - other[speed], -0.05) for speed in index}
    return every(fair(index, 0.9)).or_partly(every(no_less))


@study.cause("broken routes make the flows of a run of 300 s unequal: at 30 m/s those of NewReno are unequal, too")
def moving(data: Data) -> Claim:
    return below(at(data.shared, "newreno", 30).fairness(), 0.9)


@study.check(
    "At the lowest speed ad hoc TCP and NewReno share evenly",
    paper="a fair share also in the mix, except at high speed",
    assumed="NewReno has 20 % less to 25 % more than ad hoc TCP; partly: 50 % less to 100 % more",
    because={"ns2": ("timers", "backoff"), "standard": "window"},
)
def near_fair(data: Data) -> Claim:
    ratio = newreno_ahead(at(data.shared, "mixed", speeds(data.shared)[0]))
    return between(ratio, 0.8, 1.25).or_partly(between(ratio, 0.5, 2.0))


@study.check(
    "At 30 m/s NewReno takes a little more",
    paper="NewReno slightly steals bandwidth at high speed",
    assumed="up to 50 % more than ad hoc TCP; partly: more by any amount",
    because={"ns2": ("distance", "timers", "backoff")},
    why={"standard": "the interval leaves open which one is ahead"},
)
def steals(data: Data) -> Claim:
    ratio = newreno_ahead(at(data.shared, "mixed", 30))
    return between(ratio, 1.0, 1.5).or_partly(above(ratio, 1.0))
