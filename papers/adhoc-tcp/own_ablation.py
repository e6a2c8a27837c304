"""Effects of the parts of ad hoc TCP: rater, delimiter, freezer, sender, each off in turn, and SACK with window 2.

The paper evaluates the whole, and the receiver alone. Equation 4 does not say what to do with fractions of a segment.
If they are cut off and W_max is 3, the window is 3 only while a packet is as fast as the fastest, so two variants round
instead.
"""

from collections.abc import Callable
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import (
    OUR_OWN,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Study,
    Variants,
    above,
    below,
    between,
    every,
    groups,
    table_by,
)

from ._common import ASSUMED, ASSUMED_FIELD, PAPER, at_speed, carried, field, normalized, string, walk

VARIANTS = Variants(
    {
        "sack": ("SACK", "sack", {}),
        "sack-2": ("SACK, window 2", "sack", {"tcp.window": 2}),
        "adhoc": ("ad hoc TCP", "adhoc-tcp", {}),
        "rater": ("without the rater", "adhoc-tcp", {"adhoc_tcp.rater": False}),
        "delimiter": ("without the delimiter", "adhoc-tcp", {"adhoc_tcp.delimiter": False}),
        "freezer": ("without the freezer", "adhoc-tcp", {"adhoc_tcp.freezer": False}),
        "sender": ("without the sender", "adhoc-receiver", {}),
        "nearest": ("fractions rounded", "adhoc-tcp", {"adhoc_tcp.rounding": "nearest"}),
        "ceiling": ("fractions rounded up", "adhoc-tcp", {"adhoc_tcp.rounding": "ceiling"}),
    }
)
PARTS = ("rater", "delimiter", "freezer", "sender")
LONG = 16
"""Hops of a chain on which W_max is 4."""

RUNS = {"walk": 12, "long": 12, "moving": 20}
NETWORKS = {"way": "walk", "long": f"{LONG} hops", "moving": "30 m/s"}

study = Study(
    "Which part does what",
    source=f"{PAPER}; our own study",
    profiles=("ns2",),
    assumed=[
        *ASSUMED,
        *ASSUMED_FIELD,
        f"The walk of figure 8, {LONG} fixed hops for 100 s, and the one flow of figure 10 at 30 m/s.",
        "Without the rater, the delimiter offers W_max; without the sender's part, the sender is SACK.",
    ],
)


def _moving(profile: Profile) -> Scenario:
    return at_speed(field(profile, ["sack"]), 30)


def _long(profile: Profile) -> Scenario:
    return string(profile, LONG, payload=500)


@study.sweep_each({"way": walk, "long": _long, "moving": _moving})
def on(profile: Profile, network: Callable[[Profile], Scenario]) -> Sweep:
    return Sweep(variants=VARIANTS.compared(network(profile)), runs=RUNS[network.__name__.strip("_")])


@study.chart_each(
    {
        "throughput": (carried, "Throughput in each network. Whiskers: 95 % intervals over the runs."),
        "goodput": (normalized, "Normalized goodput: the share of sent segments that were not retransmissions."),
    }
)
def bars(data: Data, of: Any) -> Chart:
    label = "throughput (kbit/s)" if of is carried else "normalized goodput"
    return groups(
        {
            label_of: {shown: of(data[name].where(variant=variant)) for name, shown in NETWORKS.items()}
            for variant, label_of in VARIANTS.labels.items()
        },
        label,
    )


@study.chart_each(
    {
        name: (name, f"{shown}: throughput, normalized goodput and time-outs of a run.")
        for name, shown in NETWORKS.items()
    }
)
def numbers(data: Data, name: str) -> Chart:
    columns = {
        "throughput": carried,
        "over ad hoc TCP": lambda one: carried(one) / carried(data[name].where(variant="adhoc")),
        "normalized goodput": normalized,
        "time-outs": lambda one: one.column("timeouts"),
    }
    return table_by(data[name], "variant", columns, VARIANTS.labels, heading="kind")


def _against(data: Data, network: str, *names: str, under: str = "adhoc") -> dict[str, Estimate]:
    """Ratio of the throughput of each of these variants to that of another one, by label."""
    cells = data[network]
    base = carried(cells.where(variant=under))
    return {VARIANTS.labels[name]: carried(cells.where(variant=name)) / base for name in names}


@study.check(
    "Without the delimiter ad hoc TCP carries less",
    paper="a window of what the path holds carries most (section III-C, figure 1)",
    assumed="in each of the three networks; partly: on the walk",
)
def delimiter(data: Data) -> Claim:
    less = {
        shown: below(_against(data, name, "delimiter")["without the delimiter"], 1.0)
        for name, shown in NETWORKS.items()
    }
    return every(less).or_partly(less[NETWORKS["way"]])


@study.check(
    "The rater makes the window a little smaller than the best, which costs a little",
    paper="W_practical is slightly smaller than the best window and reduces throughput slightly (section III-C)",
    assumed=f"over {LONG} hops, where W_max is 4, without it up to 25 % more; partly: at least 95 %",
    why="the interval leaves open by how much",
)
def rater(data: Data) -> Claim:
    (free,) = _against(data, "long", "rater").values()
    return between(free, 1.0, 1.25).or_partly(above(free, 0.95))


@study.check(
    "Delimiter and freezer each prevent time-outs",
    paper="both reduce unnecessary expirations of the timer (section V)",
    assumed="on the walk more of them without either part; partly: without the delimiter",
    because="breaks",
)
def timeouts(data: Data) -> Claim:
    whole = data.way.column("timeouts", variant="adhoc")
    more = above({name: data.way.column("timeouts", variant=name) - whole for name in ("delimiter", "freezer")}, 0.0)
    return every(more).or_partly(more["delimiter"])


@study.cause(
    "the remaining time-outs come from broken routes: where nothing moves there are none, with or without the freezer"
)
def breaks(data: Data) -> Claim:
    left = {VARIANTS.labels[name]: data.long.column("timeouts", variant=name) for name in ("adhoc", "freezer")}
    return every(below(left, 1.0))


@study.check(
    "With the sender's part ad hoc TCP carries more among nodes that move",
    paper="probes instead of back-off; the receiver alone carries less at high speed (figure 10)",
    assumed="one flow at 30 m/s: without the sender less",
)
def sender(data: Data) -> Claim:
    return below(_against(data, "moving", "sender")["without the sender"], 1.0)


@study.check(
    "SACK with a window of two carries as much as ad hoc TCP where one node walks",
    paper=OUR_OWN,
    assumed="within 5 % on the walk",
)
def two(data: Data) -> Claim:
    return between(_against(data, "way", "sack-2")["SACK, window 2"], 0.95, 1.05)


@study.check(
    "Among nodes that move, ad hoc TCP carries more than SACK with a window of two",
    paper=OUR_OWN,
    assumed="one flow at 30 m/s",
)
def more_than_two(data: Data) -> Claim:
    return below(_against(data, "moving", "sack-2")["SACK, window 2"], 1.0)


@study.check(
    "Over up to ten hops it does not matter what happens to a fraction of a segment",
    paper="nothing: equation 4 does not say",
    assumed="rounded or rounded up, within 5 % of cut off on the walk",
)
def rounding(data: Data) -> Claim:
    return every(between(_against(data, "way", "nearest", "ceiling"), 0.95, 1.05))
