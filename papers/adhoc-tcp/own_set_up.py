"""The effect of the set-up on figures 10 to 13: how far apart the ends of the flows are, and the timers of TCP.

The paper puts the ends at the edges of the topology and simulates with ns-2.1b9a, whose timers of TCP are coarser than
those of ns-2.35. Its field is 1500 m long and 300 m wide, so "edges" may mean either distance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Sample,
    Study,
    above,
    below,
    curves,
    every,
    most,
    table,
)
from fourhop.study.flows import part_of_both

from ._causes import OLD_TIMERS, OLD_TIMERS_ARE, goodput_gain, newreno_ahead
from ._common import (
    ADHOC,
    ASSUMED,
    ASSUMED_FIELD,
    KINDS,
    MIXED,
    NEWRENO,
    PAPER,
    at_speed,
    carried,
    field,
    normalized,
)

APART = (300, 600, 900, 1500)
"""How far apart the ends of a flow are, in m."""

TIMERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "2011": ("timers of ns-2.35", {}),
    "2003": ("timers before October 2004", OLD_TIMERS),
}
SPEEDS = (30, 5)
RTO_MAX = ("1s", "4s", "16s", "60s")
"""How far time-outs back off; the last value is the usual one. Ad hoc TCP probes instead."""

PATIENT = {"tcp.persist_min": "5s"}
"""How long 4.4BSD waits before it probes a closed window."""

RUNS, PATIENT_RUNS = 6, 24


study = Study(
    "Distance of the ends, timers, closed windows",
    source=f"{PAPER}, figures 10 to 13; our own study",
    profiles=("ns2",),
    assumed=[
        *ASSUMED,
        *ASSUMED_FIELD,
        "Ends that are nearer are placed symmetrically about the middle of the field.",
        "Nodes move at 30 m/s unless stated otherwise.",
        OLD_TIMERS_ARE,
        f"{RUNS} runs of 300 s at each point; {PATIENT_RUNS} where the wait at a closed window is varied.",
    ],
)


def _points(profile: Profile, transports: Sequence[str], speed: int = 30) -> dict[str, Scenario]:
    """The field with flows of these transports, by timers and distance."""
    return {
        point(timers, apart): at_speed(field(profile, transports, apart), speed).with_(**keys)
        for timers, (_, keys) in TIMERS.items()
        for apart in APART
    }


def point(timers: str, apart: int) -> str:
    """Name of a set-up in checks."""
    return f"{apart} m, {TIMERS[timers][0]}"


POINTS = [point(timers, apart) for timers in TIMERS for apart in APART]


@study.sweep_each({f"mixed_{speed}": speed for speed in SPEEDS})
def mixed(profile: Profile, speed: int) -> Sweep:
    return Sweep(variants=_points(profile, MIXED, speed), runs=RUNS)


@study.sweep_each({kind.replace("-", "_"): kind for kind in ("sack", "adhoc-receiver", "adhoc-tcp")})
def one(profile: Profile, kind: str) -> Sweep:
    return Sweep(variants=_points(profile, [kind]), runs=RUNS)


@study.sweep_each({"four_sack": "sack", "four_adhoc": "adhoc-tcp"})
def four(profile: Profile, kind: str) -> Sweep:
    return Sweep(variants=_points(profile, [kind] * 4), runs=RUNS)


@study.sweep
def backoff(profile: Profile) -> Sweep:
    return Sweep(at_speed(field(profile, MIXED), 30), {"tcp.rto_max": RTO_MAX}, runs=RUNS)


@study.sweep
def closed(profile: Profile) -> Sweep:
    alone = at_speed(field(profile, ["adhoc-receiver"]), 30)
    return Sweep(
        variants={"sack": alone.with_(transport="sack"), "at once": alone, "5 s": alone.with_(**PATIENT)},
        runs=PATIENT_RUNS,
    )


def _ratio(data: Data, over: str, under: str, of: Callable[[Cells], Sample], name: str) -> Estimate:
    return of(data[over].where(variant=name)) / of(data[under].where(variant=name))


SHOWN: Mapping[str, Callable[[Data, str], Estimate]] = {
    "figure 10: ad hoc TCP over SACK": lambda data, name: _ratio(data, "adhoc_tcp", "sack", carried, name),
    "the receiver alone over SACK": lambda data, name: _ratio(data, "adhoc_receiver", "sack", carried, name),
    "normalized goodput": lambda data, name: _ratio(data, "adhoc_tcp", "sack", normalized, name),
    "figure 11: normalized goodput": lambda data, name: _ratio(data, "four_adhoc", "four_sack", normalized, name),
    "figure 12: NewReno over ad hoc TCP, 5 m/s": lambda data, name: newreno_ahead(data.mixed_5.where(variant=name)),
    "30 m/s": lambda data, name: newreno_ahead(data.mixed_30.where(variant=name)),
    "figure 13: normalized goodput": lambda data, name: goodput_gain(data.mixed_30.where(variant=name)),
}
"""The variants that figures 10 to 13 compare."""


@study.chart
def set_ups(data: Data) -> Chart:
    """The comparisons of figures 10 to 13 in each set-up, at 30 m/s unless a speed is given, with 95 % intervals."""
    return table(["set-up", *SHOWN], [(name, *(of(data, name) for of in SHOWN.values())) for name in POINTS])


@study.chart
def over_distance(data: Data) -> Chart:
    """Figure 12's mix at 30 m/s: throughput of NewReno over that of ad hoc TCP. Whiskers: 95 % intervals."""
    points = {
        label: {apart: newreno_ahead(data.mixed_30.where(variant=point(timers, apart))) for apart in APART}
        for timers, (label, _) in TIMERS.items()
    }
    return curves(points, "distance of the ends (m)", "NewReno over ad hoc TCP (%)")


@study.chart
def limited_backoff(data: Data) -> Chart:
    """Figures 12 and 13 at 30 m/s, ends 1500 m apart, timers of ns-2.35: how far NewReno's time-outs back off."""
    rows = [
        (limit, newreno_ahead(one), goodput_gain(one))
        for limit in RTO_MAX
        for one in [data.backoff.where(rto_max=limit)]
    ]
    return table(["largest time-out", "NewReno over ad hoc TCP", "normalized goodput, ad hoc TCP over NewReno"], rows)


@study.chart
def closed_windows(data: Data) -> Chart:
    """Figure 10's flow at 30 m/s, the receiver alone: when the sender first probes a closed window."""
    labels = {"sack": KINDS["sack"], "at once": "after one time-out", "5 s": "after 5 s"}
    rows = [(label, carried(data.closed.where(variant=name)), normalized(data.closed.where(variant=name)))
            for name, label in labels.items()]  # fmt: skip
    return table(["closed window probed", "throughput", "normalized goodput"], rows)


@study.check(
    "The distance between the ends decides which one is ahead in the mix",
    paper="NewReno takes a little more at high speed (figure 12); the paper does not say how far apart the ends are",
    assumed="at 30 m/s with either timers: NewReno at 300 m, the shorter side of the field, ad hoc TCP at 1500 m",
)
def distance(data: Data) -> Claim:
    ratio = {name: newreno_ahead(data.mixed_30.where(variant=name)) for name in POINTS}
    near, far = ([point(timers, apart) for timers in TIMERS] for apart in (min(APART), max(APART)))
    return every(
        {**above({name: ratio[name] for name in near}, 1.0), **below({name: ratio[name] for name in far}, 1.0)}
    )


@study.check(
    "With the timers before October 2004 NewReno has a larger share of the mix",
    paper="near fair; the paper's version of ns-2 had these timers",
    assumed="from 600 m on, at 30 m/s; partly: at one of these distances",
)
def timers(data: Data) -> Claim:
    gained = above(
        {
            f"{apart} m": _part(data, "2003", apart) - _part(data, "2011", apart)
            for apart in APART if apart > 300
        },
        0.0,
    )  # fmt: skip
    return every(gained).or_partly(most(gained, 0.1))


def _part(data: Data, timers: str, apart: int) -> Sample:
    """NewReno's share of the mix at 30 m/s in each run, 0 to 1."""
    cells = data.mixed_30.where(variant=point(timers, apart))
    return part_of_both(carried(cells, NEWRENO), carried(cells, ADHOC))


@study.check(
    "Ad hoc TCP's lead in normalized goodput needs long paths",
    paper="up to 15 % over SACK, 22 % with four flows, 19.4 % over NewReno (figures 10, 11, 13)",
    assumed="with either set of timers less than 12 % at 300 m and more at 1500 m, in each of the three figures",
)
def grows(data: Data) -> Claim:
    lead = {f"{what}, {name}": of(data, name) for what, of in SHOWN.items() if "normalized" in what for name in POINTS}
    near, far = ({at: each for at, each in lead.items() if f", {apart} m" in at} for apart in (min(APART), max(APART)))
    return every({**below(near, 1.12), **above(far, 1.12)})


@study.check(
    "NewReno falls behind in the mix because it backs off",
    paper="NewReno takes a little more at high speed (figure 12)",
    assumed="at 30 m/s and 1500 m NewReno takes more if no time-out is above 1 s",
)
def backing_off(data: Data) -> Claim:
    return above(newreno_ahead(data.backoff.where(rto_max=RTO_MAX[0])), 1.0)


@study.check(
    "Distance and timers alone put NewReno ahead in the mix, with ad hoc TCP's normalized goodput as in figure 13",
    paper="both, in one network",
    assumed="at 30 m/s in one of the eight: NewReno's throughput is larger, ad hoc TCP's normalized goodput by 16 %",
    because="either_or",
)
def together(data: Data) -> Claim:
    return most({name: _both(data.mixed_30.where(variant=name)) for name in POINTS}, 1 / len(POINTS))


def _both(cells: Cells) -> Claim:
    return every(
        {"throughput": above(newreno_ahead(cells), 1.0), "normalized goodput": above(goodput_gain(cells), 1.16)}
    )


@study.cause("what is missing is how NewReno backs off: with no time-out above 1 s both hold at 1500 m")
def either_or(data: Data) -> Claim:
    return _both(data.backoff.where(rto_max=RTO_MAX[0]))


@study.check(
    "If the sender probes a closed window late, the receiver alone no longer leads SACK",
    paper="at high speed the receiver alone carries less than SACK (figure 10)",
    assumed="with a wait of 5 s less than without, and not 20 % more than SACK",
)
def patience(data: Data) -> Claim:
    late, soon, sack = (carried(data.closed.where(variant=name)) for name in ("5 s", "at once", "sack"))
    return every({"over none": below(late / soon, 1.0), "over SACK": below(late / sack, 1.2)})
