"""Hops, signal strength, ETX and ETT in the hallway: which of them avoids links that lose data.

The testbed's problem is a neighbour whose HELLOs arrive and whose data does not. The paper answers it with a threshold
for signal strength. ETX and ETT, the metrics of the same years, answer it with probes that count losses. Probes are
broadcasts, sent at the basic rate and shorter than data, so that they reach farther, as HELLOs do.
"""

from collections.abc import Mapping
from typing import Any

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, about, above, below, every, table, table_by

from ._common import ASSUMED, PAPER, PLAIN, SPEEDS, aware, hallway, radio, walking

HOPS = 4

BY_FRAMES: Mapping[str, Any] = {**PLAIN, "link_layer_detection": True}
"""AODV with HELLO messages whose links also break by lost frames."""

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
        "AODV by hops, ETX and ETT has the testbed's HELLO messages, and its links break by lost frames, too: of the "
        "two variants of plain AODV in `s32_flaps` the better one. Signal strength is as in the paper.",
        "All data has one rate, so that ETT orders paths as ETX does.",
        "Fixed routes are of the mean strength before fading, by hops and by the definition of ETX: the share of data "
        "frames and acknowledgements that arrive.",
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
    """Standing, with broadcasts at the rate of data."""
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
    """The client stands four hops from the server."""
    return table_by(data.standing, "variant", MEASURES, NAMES, heading="routing")


@study.chart
def on_the_way(data: Data) -> Chart:
    """The client walks away from the server at 0.33 m/s."""
    walking_names = {name: NAMES[name] for name in ROUTING}
    return table_by(data.walks, "variant", MEASURES, walking_names, heading="routing")


@study.chart
def by_the_rate_of_broadcasts(data: Data) -> Chart:
    """Throughput of the standing client in kbit/s with broadcasts at 1 Mbit/s, and at the rate of data."""
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


@study.check(
    "AODV by ETX carries more than AODV by hops",
    paper="ETX finds paths with a higher throughput than the fewest hops do",
    assumed="a standing client and a walking one; partly: one of them",
)
def probes_are_worth_it(data: Data) -> Claim:
    gains = {
        "standing": data.standing.goodput(variant="etx") / data.standing.goodput(variant="hops"),
        "walking": data.walks.goodput(variant="etx") / data.walks.goodput(variant="hops"),
    }
    return every(above(gains, 1.0)).or_partly(*(above(gain, 1.0) for gain in gains.values()))


@study.check(
    "Signal strength carries more than ETX by probes",
    paper="no paper compares them: probes reach farther than data, a threshold for strength is set for data",
    assumed="our own: a standing client and a walking one; partly: one of them",
)
def strength_carries_more(data: Data) -> Claim:
    gains = {
        "standing": data.standing.goodput(variant="ssa") / data.standing.goodput(variant="etx"),
        "walking": data.walks.goodput(variant="ssa") / data.walks.goodput(variant="etx"),
    }
    return every(above(gains, 1.0)).or_partly(*(above(gain, 1.0) for gain in gains.values()))


@study.check(
    "Signal strength changes the route less often than ETX by probes",
    paper="stable routes, no flapping, beside routes by hops",
    assumed="our own: a walk",
)
def strength_is_calmer(data: Data) -> Claim:
    changes = data.walks
    return below(changes.column("route_changes", variant="ssa") / changes.column("route_changes", variant="etx"), 1.0)


@study.check(
    "At one rate ETT is ETX",
    paper="ETX times the size of a packet over the rate of the link",
    assumed="the same throughput within 10 %, standing and walking",
)
def at_one_rate_the_same(data: Data) -> Claim:
    ratios = {
        "standing": data.standing.goodput(variant="ett") / data.standing.goodput(variant="etx"),
        "walking": data.walks.goodput(variant="ett") / data.walks.goodput(variant="etx"),
    }
    return every({name: about(ratio, 1.0, 0.1) for name, ratio in ratios.items()})


@study.cause("Probes at the basic rate hide the losses of data: at the rate of data ETX carries more")
def probes_reach_too_far(data: Data) -> Claim:
    return above(data.same_rate.goodput(variant="etx") / data.standing.goodput(variant="etx"), 1.0)
