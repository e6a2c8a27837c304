"""Two flows on a cross: the first runs until 60 s, the second from 30 s on. Shares, and how quickly they adapt.

According to the paper, TCP-AP shares the bandwidth when the second flow starts and uses all of it when the first has
ended, while NewReno, with and without a window limit, leaves the second flow in long time-outs.
"""

from dataclasses import replace
from functools import partial

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
    between,
    every,
    ratio,
    run_by_run,
    series,
    table,
    table_by,
)
from fourhop.study.flows import goodput_between, part_of_both

from ._common import ASSUMED, BOTH, LABELS, PAPER, STILL, TIMERS_2003, compared, cross

NAMES = {**LABELS, "limit": "NewReno, window limit 1"}
SHOWN = ("ap", "ap-code", "newreno", "limit")
FLOWS = {"flow-1": "first flow", "flow-2": "second flow"}

ALONE, TOGETHER, AFTER = (10.0, 30.0), (35.0, 60.0), (65.0, 90.0)
"""Measured intervals in s: the first flow alone, both, the second alone; the first five seconds of each phase are left
out."""

CAUSES = {
    "ap-still": "TCP-AP, routes that never break",
    "ap-code-still": "TCP-AP, authors' code, routes that never break",
    "newreno-still": "NewReno, routes that never break",
    "newreno-2003": "NewReno, timers of 2003",
    "newreno-still-2003": "NewReno, routes that never break, timers of 2003",
    "limit-2003": "NewReno, window limit 1, timers of 2003",
    "limit-still-2003": "NewReno, window limit 1, routes that never break, timers of 2003",
}
"""Causes of the second flow's loss, each switched off or on."""

NOT_SHUT_OUT = "fewer frames collide and the routes last, so neither flow is shut out"

study = Study(
    "Responsiveness",
    source=f"{PAPER}, figures 10 to 12",
    assumed=[
        *ASSUMED,
        "Runs of 90 s. The paper shows one; the intervals here are over 40.",
        "Shares and rates count from five seconds after a flow starts or ends.",
    ],
)


@study.sweep
def coming(profile: Profile) -> Sweep:
    return Sweep(variants=arriving(profile), runs=40)


@study.sweep
def causes(profile: Profile) -> Sweep:
    changes = {"still": STILL, "2003": TIMERS_2003, "still-2003": {**STILL, **TIMERS_2003}}
    each = {
        f"{name}-{change}": scenario.with_(**keys)
        for name, scenario in arriving(profile).items()
        for change, keys in changes.items()
    }
    return Sweep(variants={name: each[name] for name in CAUSES}, runs=40)


def arriving(profile: Profile) -> dict[str, Scenario]:
    """Each transport on the cross; the second flow starts 30 s after the first."""
    flows = [
        {"from": 0, "to": 4, "transport": "newreno", "start": "0s", "stop": "60s"},
        {"from": 5, "to": 8, "transport": "newreno", "start": "30s"},
    ]
    base = cross(profile, flows=flows, duration="90s", warmup="5s", sample_every="1s")
    variants = compared(base, "ap", "ap-code", "newreno")
    variants["limit"] = variants["newreno"].with_(**{"tcp.window": 1})
    return variants


@study.chart_each(
    {
        "adaptive": ("ap", "Figure 10: TCP-AP, one run."),
        "code": ("ap-code", "Figure 10 with the authors' code, one run."),
        "newreno": ("newreno", "Figure 11: NewReno, one run."),
        "limited": ("limit", "Figure 12: NewReno with a window of one segment, one run."),
    }
)
def over_time(data: Data, name: str) -> Chart:
    return series(data.coming.where(variant=name), "goodput_bps", flows=FLOWS)


def cells(data: Data, name: str) -> Cells:
    return (data.causes if name in CAUSES else data.coming).where(variant=name)


def rate(data: Data, name: str, flow: str, when: tuple[float, float]) -> Sample:
    return goodput_between(cells(data, name), flow, when)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s before, during and after the time in which both flows run. Intervals over the runs."""
    times = {"first alone": ("flow-1", ALONE), "first of both": ("flow-1", TOGETHER)}
    times |= {"second of both": ("flow-2", TOGETHER), "second alone": ("flow-2", AFTER)}
    columns = {text: partial(goodput_between, flow=flow, when=when) for text, (flow, when) in times.items()}
    return table_by(data.coming, "variant", columns, {name: NAMES[name] for name in SHOWN}, heading="transport")


@study.chart
def table_of_causes(data: Data) -> Chart:
    """Goodput of the second flow from 35 s to 60 s and after 65 s, as a share of the first flow's alone.

    Intervals over the runs.

    "Like the paper's" are the runs in which the second flow has less than a fifth of both.
    """
    rows = [
        (label, second_share(data, name, TOGETHER), used(data, name), like_the_papers(data, name))
        for name, label in {**{name: NAMES[name] for name in SHOWN}, **CAUSES}.items()
    ]
    return table(["transport", "share of the second", "used after the first", "share of runs like the paper's"], rows)


def used(data: Data, name: str) -> Estimate:
    """Ratio of the goodput of the second flow when alone to that of the first when alone."""
    return ratio(rate(data, name, "flow-2", AFTER), rate(data, name, "flow-1", ALONE))


def like_the_papers(data: Data, name: str) -> Sample:
    """1 for each run in which the second flow has less than a fifth, otherwise 0."""
    return run_by_run(lambda share: float(share < 0.2), second_share(data, name, TOGETHER))


def second_share(data: Data, name: str, when: tuple[float, float]) -> Sample:
    """Share of the second flow in the total goodput, in each run."""
    first, second = rate(data, name, "flow-1", when), rate(data, name, "flow-2", when)
    return part_of_both(second, first)


def keeps(data: Data, name: str) -> Claim:
    part = second_share(data, name, TOGETHER)
    return below(part, 0.2).or_partly(below(part, 0.4))


def has_its_share(data: Data, name: str) -> Claim:
    part = second_share(data, name, TOGETHER)
    return between(part, 0.4, 0.6).or_partly(between(part, 0.3, 0.7))


def leaves_unused(data: Data, name: str) -> Claim:
    left = used(data, name)
    return below(left, 0.5).or_partly(below(left, 0.9))


@study.check_each(
    BOTH,
    "{}: the second flow quickly gets its share",
    paper="bandwidth is shared fairly when several flows compete",
    assumed="40 to 60 % from 35 s to 60 s, the mean over runs; partly: 30 to 70 %",
    because=["no_route_no_share", "some_never_start"],
)
def shares(data: Data, name: str) -> Claim:
    return has_its_share(data, name)


@study.check_each(
    BOTH,
    "{}: the second flow takes all the bandwidth when the first has ended",
    paper="both flows use the available bandwidth when alone",
    assumed="from 65 s on at least 90 % of what the first had alone; partly: 75 %",
    because="slow_after_a_search",
)
def takes_all(data: Data, name: str) -> Claim:
    left = rate(data, name, "flow-2", AFTER) / rate(data, name, "flow-1", ALONE)
    return above(left, 0.9).or_partly(above(left, 0.75))


@study.cause("while AODV searches, a flow carries nothing: over routes that never break the second one gets its share")
def no_route_no_share(data: Data) -> Claim:
    return between(second_share(data, "ap-still", TOGETHER), 0.4, 0.6)


@study.cause(
    "in some runs the second flow finds no route at all; in the others it gets 40 to 60 % with either arithmetic"
)
def some_never_start(data: Data) -> Claim:
    return every(between({name: _started(second_share(data, name, TOGETHER)) for name in BOTH}, 0.4, 0.6))


@study.cause(
    "a segment that waited for a route slows the pace for a long time: over routes that never break it takes all "
    "the bandwidth"
)
def slow_after_a_search(data: Data) -> Claim:
    return above(used(data, "ap-still"), 0.9)


@study.cause("the paper shows one run: in more than a fifth of the runs the first flow does keep four fifths")
def differs_from_run_to_run(data: Data) -> Claim:
    return every(above({NAMES[name]: like_the_papers(data, name) for name in ("newreno", "limit")}, 0.2))


@study.cause(
    "few flows are shut out for long enough: with a window of one segment, over routes that never break and with "
    "ns-2's timers of 2003, bandwidth stays unused"
)
def needs_long_time_outs(data: Data) -> Claim:
    return below(used(data, "limit-still-2003"), 0.9)


def _started(shares: Sample) -> Sample:
    """The runs in which the flow carried more than next to nothing."""
    kept = [(share, unit) for share, unit in zip(shares.values, shares.units, strict=True) if share > 0.02]
    return replace(shares, values=tuple(share for share, _ in kept), units=tuple(unit for _, unit in kept))


@study.check(
    "NewReno: the first flow keeps almost everything",
    paper="almost the entire bandwidth",
    assumed="the second has below 20 % from 35 s to 60 s; partly: below 40 %",
    why={"standard": NOT_SHUT_OUT},
    because="differs_from_run_to_run",
)
def newreno_keeps(data: Data) -> Claim:
    return keeps(data, "newreno")


@study.check(
    "NewReno: the second flow does not use the bandwidth that the first leaves",
    paper="long time-outs leave the bandwidth unused",
    assumed="from 65 s on below half of what the first had alone; partly: below 90 %",
    why={"standard": NOT_SHUT_OUT},
    because="needs_long_time_outs",
)
def newreno_leaves_unused(data: Data) -> Claim:
    return leaves_unused(data, "newreno")


@study.check(
    "A window limit of 1: the first flow keeps almost everything",
    paper="it does not share",
    assumed="as above",
    why={"standard": NOT_SHUT_OUT},
    because="differs_from_run_to_run",
)
def limit_keeps(data: Data) -> Claim:
    return keeps(data, "limit")


@study.check(
    "A window limit of 1: the second flow does not use the bandwidth that the first leaves",
    paper="as for NewReno",
    assumed="as above",
    why={"standard": NOT_SHUT_OUT},
    because="needs_long_time_outs",
)
def limit_leaves_unused(data: Data) -> Claim:
    return leaves_unused(data, "limit")


@study.check(
    "NewReno fluctuates more over time than TCP-AP",
    paper="NewReno's goodput fluctuates strongly",
    assumed="coefficient of variation of the first flow's goodput over seconds 10 to 30",
)
def fluctuates(data: Data) -> Claim:
    return above(fluctuation(data, "newreno") - fluctuation(data, "ap"), 0.0)


def fluctuation(data: Data, name: str) -> Sample:
    """Standard deviation over mean of the goodputs of single seconds, in each run."""
    return data.coming.over_time(
        "goodput_bps", "flow-1", *ALONE, of=lambda goodput: goodput.std() / goodput.mean(), variant=name
    )
