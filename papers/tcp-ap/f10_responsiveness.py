"""Two flows on a cross: the first runs until 60 s, the second from 30 s on. Shares, and how quickly they adapt.

According to the paper, TCP-AP shares the bandwidth when the second flow starts and uses all of it when the first has
ended, while NewReno, with and without a window limit, leaves the second flow in long time-outs.
"""

from functools import partial

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, above, below, between, series, table_by
from fourhop.study.flows import goodput_between, part_of_both

from ._common import ASSUMED, BOTH, LABELS, PAPER, compared, cross

NAMES = {**LABELS, "limit": "NewReno, window limit 1"}
SHOWN = ("ap", "ap-code", "newreno", "limit")
FLOWS = {"flow-1": "first flow", "flow-2": "second flow"}

ALONE, TOGETHER, AFTER = (10.0, 30.0), (35.0, 60.0), (65.0, 90.0)
"""Measured intervals in s: the first flow alone, both, the second alone; the first five seconds of each phase are left
out."""

OUTLIERS = (
    "in one run of three the second flow hardly starts: a round trip in which a segment waited for its route takes "
    "seconds, and the average of the delay keeps it for many acknowledgements, of which the long interval allows only "
    "few. The flow sends as little as one segment in ten seconds, in seven runs of forty long after the first flow "
    "has ended. The authors' code discards such samples"
)
FROM_RUN_TO_RUN = (
    "which flow holds the middle node differs from run to run: the second flow has anything from nothing to nearly "
    "all. The paper shows one run; in ns-2.35 the flows share this cross evenly over 500 s"
)
BACK_AGAIN = "in nine runs of ten the second flow is back within five seconds: its time-outs had not backed off far"
NOT_SHUT_OUT = "with correct routing and medium access neither flow is shut out"

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
    flows = [
        {"from": 0, "to": 4, "transport": "newreno", "start": "0s", "stop": "60s"},
        {"from": 5, "to": 8, "transport": "newreno", "start": "30s"},
    ]
    base = cross(profile, flows=flows, duration="90s", warmup="5s", sample_every="1s")
    variants = compared(base, "ap", "ap-code", "newreno")
    variants["limit"] = variants["newreno"].with_(**{"tcp.window": 1})
    return Sweep(variants=variants, runs=40)


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


def rate(data: Data, name: str, flow: str, when: tuple[float, float]) -> Sample:
    return goodput_between(data.coming.where(variant=name), flow, when)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s before, during and after the time in which both flows run. Intervals over the runs."""
    times = {"first alone": ("flow-1", ALONE), "first of both": ("flow-1", TOGETHER)}
    times |= {"second of both": ("flow-2", TOGETHER), "second alone": ("flow-2", AFTER)}
    columns = {text: partial(goodput_between, flow=flow, when=when) for text, (flow, when) in times.items()}
    return table_by(data.coming, "variant", columns, {name: NAMES[name] for name in SHOWN}, heading="transport")


def second_share(data: Data, name: str, when: tuple[float, float]) -> Sample:
    """Share of the second flow in the total goodput, in each run."""
    first, second = rate(data, name, "flow-1", when), rate(data, name, "flow-2", when)
    return part_of_both(second, first)


def keeps(data: Data, name: str) -> Claim:
    part = second_share(data, name, TOGETHER)
    return below(part, 0.2).or_partly(below(part, 0.4))


def leaves_unused(data: Data, name: str) -> Claim:
    left = rate(data, name, "flow-2", AFTER) / rate(data, name, "flow-1", ALONE)
    return below(left, 0.5).or_partly(below(left, 0.9))


@study.check_each(
    BOTH,
    "{}: the second flow quickly gets its share",
    paper="bandwidth is shared fairly when several flows compete",
    assumed="40 to 60 % from 35 s to 60 s, the mean over runs; partly: 30 to 70 %",
    why=OUTLIERS,
    why_of={
        "ap-code": "in five runs of forty AODV finds no route for the second flow while the first one sends; in the "
        "other runs the second has 45 %"
    },
)
def shares(data: Data, name: str) -> Claim:
    part = second_share(data, name, TOGETHER)
    return between(part, 0.4, 0.6).or_partly(between(part, 0.3, 0.7))


@study.check_each(
    BOTH,
    "{}: the second flow takes all the bandwidth when the first has ended",
    paper="both flows use the available bandwidth when alone",
    assumed="from 65 s on at least 90 % of what the first had alone; partly: 75 %",
    why=OUTLIERS,
)
def takes_all(data: Data, name: str) -> Claim:
    left = rate(data, name, "flow-2", AFTER) / rate(data, name, "flow-1", ALONE)
    return above(left, 0.9).or_partly(above(left, 0.75))


@study.check(
    "NewReno: the first flow keeps almost everything",
    paper="almost the entire bandwidth",
    assumed="the second has below 20 % from 35 s to 60 s; partly: below 40 %",
    why={"ns2": FROM_RUN_TO_RUN, "standard": NOT_SHUT_OUT},
)
def newreno_keeps(data: Data) -> Claim:
    return keeps(data, "newreno")


@study.check(
    "NewReno: the second flow does not use the bandwidth that the first leaves",
    paper="long time-outs leave the bandwidth unused",
    assumed="from 65 s on below half of what the first had alone; partly: below 90 %",
    why={"ns2": BACK_AGAIN, "standard": NOT_SHUT_OUT},
)
def newreno_leaves_unused(data: Data) -> Claim:
    return leaves_unused(data, "newreno")


@study.check(
    "A window limit of 1: the first flow keeps almost everything",
    paper="it does not share",
    assumed="as above",
    why={"ns2": FROM_RUN_TO_RUN, "standard": NOT_SHUT_OUT},
)
def limit_keeps(data: Data) -> Claim:
    return keeps(data, "limit")


@study.check(
    "A window limit of 1: the second flow does not use the bandwidth that the first leaves",
    paper="as for NewReno",
    assumed="as above",
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
