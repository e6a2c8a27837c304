"""Hops, signal strength, ETX and ETT in the hallway: which of them avoids links that lose data.

The testbed's problem is a neighbour whose HELLOs arrive and whose data does not. The paper answers it with a threshold
for signal strength. ETX and ETT, the metrics of the same years, answer it with probes that count losses. Probes are
broadcasts, sent at the basic rate and shorter than data, so that they reach farther, as HELLOs do.
"""

from collections.abc import Mapping
from typing import Any

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Estimate, Profile, Study, about, above, below, every, table, table_by

from ._common import ASSUMED, PAPER, PLAIN, SPEEDS, aware, hallway, radio, walking

HOPS = 4

BY_FRAMES: Mapping[str, Any] = {**PLAIN, "link_layer_detection": True}
"""AODV with HELLO messages whose links also break when frames are lost."""

ROUTING: Mapping[str, Mapping[str, Any]] = {
    "hops": BY_FRAMES,
    "ssa": aware(),
    "etx": {**BY_FRAMES, "metric": "etx"},
    "ett": {**BY_FRAMES, "metric": "ett"},
}
FIXED: Mapping[str, Mapping[str, Any]] = {
    "fixed-hops": {"protocol": "static"},
    "fixed-etx": {"protocol": "static", "metric": "etx"},
}
NAMES = {
    "hops": "AODV, hops",
    "ssa": "AODV, signal strength",
    "etx": "AODV, ETX",
    "ett": "AODV, ETT",
    "fixed-hops": "fixed routes, hops",
    "fixed-etx": "fixed routes, ETX by its definition",
}

study = Study(
    "ETX and ETT beside signal strength",
    source="our own; metrics of De Couto, Aguayo, Bicket, Morris, MobiCom 2003, and Draves, Padhye, Zill, MobiCom "
    "2004; "
    f"the hallway of {PAPER}",
    profiles=("standard",),
    assumed=[
        *ASSUMED,
        "AODV by hops, ETX and ETT has the testbed's HELLO messages, and its links also break when frames are lost: "
        "the better of the two variants of plain AODV in `s32_flaps`. Signal strength is as in the paper.",
        "All data has one rate, so that ETT orders paths as ETX does.",
        "Fixed routes follow from the mean strength before fading, by hops and by the definition of ETX: the share "
        "of data frames and acknowledgements that arrive.",
    ],
)


@study.sweep
def standing(profile: Profile) -> Sweep:
    """The client at the last place of the hallway."""
    made = {name: hallway(profile, HOPS, routing=dict(keys)) for name, keys in {**ROUTING, **FIXED}.items()}
    return Sweep(variants=made, runs=10)


@study.sweep
def walks(profile: Profile) -> Sweep:
    """The client walks away from the server."""
    made = {name: walking(profile, HOPS, SPEEDS["slow"], routing=dict(keys)) for name, keys in ROUTING.items()}
    return Sweep(variants=made, runs=20)


@study.sweep
def same_rate(profile: Profile) -> Sweep:
    """A client that stands still, with broadcasts at the rate of data."""
    made = {
        name: hallway(profile, HOPS, routing=dict(ROUTING[name]), radio=radio(basic_rate="11Mbps"))
        for name in ("hops", "etx")
    }
    return Sweep(variants=made, runs=10)


MEASURES: Mapping[str, str] = {
    "throughput (kbit/s)": "goodput",
    "changes of the next hop": "route_changes",
    "searches": "route_discoveries",
    "time-outs": "timeouts",
}


@study.chart
def at_rest(data: Data) -> Chart:
    """The client stays four hops from the server."""
    return table_by(data.standing, "variant", MEASURES, NAMES, heading="routing")


@study.chart
def on_the_way(data: Data) -> Chart:
    """The client walks away from the server at 0.33 m/s."""
    walking_names = {name: NAMES[name] for name in ROUTING}
    return table_by(data.walks, "variant", MEASURES, walking_names, heading="routing")


@study.chart
def by_the_rate_of_broadcasts(data: Data) -> Chart:
    """Throughput of the fixed client in kbit/s with broadcasts at 1 Mbit/s, and at the rate of data."""
    rows = [
        (NAMES[name], data.standing.goodput(variant=name), data.same_rate.goodput(variant=name))
        for name in ("hops", "etx")
    ]
    return table(["routing", "1 Mbit/s", "11 Mbit/s"], rows)


@study.check(
    "Routes by the definition of ETX lose nothing to those with the fewest hops over good links",
    paper="ETX finds paths with a throughput at least that of the fewest hops",
    assumed="fixed routes to a standing client; those by hops use links on which nine tenths of the data arrive, by "
    "ETX also links that lose more",
)
def definition_loses_nothing(data: Data) -> Claim:
    cells = data.standing
    return above(cells.goodput(variant="fixed-etx") / cells.goodput(variant="fixed-hops"), 0.98)


def more(data: Data, one: str, other: str) -> dict[str, Estimate]:
    """Difference between the two; a ratio would fail for variants that deliver nothing."""
    return {
        "standing": data.standing.goodput(variant=one) - data.standing.goodput(variant=other),
        "walking": data.walks.goodput(variant=one) - data.walks.goodput(variant=other),
    }


@study.check(
    "AODV by ETX carries more than AODV by hops",
    paper="ETX finds paths with a higher throughput than the fewest hops do",
    assumed="a standing client and a walking one; partly: one of them",
    because=["probes_reach_too_far", "the_same_neighbour_again"],
)
def probes_are_worth_it(data: Data) -> Claim:
    gains = above(more(data, "etx", "hops"), 0.0)
    return every(gains).or_partly(*gains.values())


@study.check(
    "Signal strength carries more than ETX by probes",
    paper="no paper compares them: probes reach farther than data, a threshold for strength is set for data",
    assumed="our own: a standing client and a walking one; partly: one of them",
)
def strength_carries_more(data: Data) -> Claim:
    gains = above(more(data, "ssa", "etx"), 0.0)
    return every(gains).or_partly(*gains.values())


@study.check(
    "Signal strength changes the route less often than ETX by probes",
    paper="stable routes, no flapping, beside routes by hops",
    assumed="our own: a walk",
    because="the_same_neighbour_again",
)
def strength_is_calmer(data: Data) -> Claim:
    changes = data.walks
    return below(changes.column("route_changes", variant="ssa") / changes.column("route_changes", variant="etx"), 1.0)


@study.check(
    "At a single rate ETT equals ETX",
    paper="ETX times the size of a packet over the rate of the link",
    assumed="the same throughput within 10 % on a walk; standing, nothing comes through with either",
)
def at_one_rate_the_same(data: Data) -> Claim:
    return about(data.walks.goodput(variant="ett") / data.walks.goodput(variant="etx"), 1.0, 0.1)


@study.cause(
    "broadcasts at the basic rate hide the losses of data: sent at the data rate, they let AODV find the laptops"
)
def probes_reach_too_far(data: Data) -> Claim:
    at, slow = data.same_rate, data.standing
    return every(above({NAMES[n]: at.goodput(variant=n) - slow.goodput(variant=n) for n in ("hops", "etx")}, 0.0))


@study.cause("with ETX, search after search ends at the next hop that has just failed")
def the_same_neighbour_again(data: Data) -> Claim:
    changes, searches = (
        {name: data.walks.column(column, variant=name) for name in ("etx", "ssa")}
        for column in ("route_changes", "route_discoveries")
    )
    return every(
        {
            "more searches than with signal strength": above(searches["etx"] - searches["ssa"], 0.0),
            "less than one in ten changes the next hop": below(changes["etx"] / searches["etx"], 0.1),
        }
    )
