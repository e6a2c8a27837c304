"""Two flows from the Internet into parallel chains; the second stops at 130 s and starts again at 160 s.

According to the paper, TCP-GAP shares the bandwidth while both run, uses all of it while the second pauses, and gives
half back when it returns, while with NewReno the second flow starves throughout.
"""

from functools import partial

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, run_by_run, series, table_by
from fourhop.study.claims import above, below, between, every
from fourhop.study.flows import goodput_between, part_of_both

from ._common import ASSUMED, CHAIN_NODES, PAPER, compared, labels, parallel

FLOWS = {"ftp-1": "FTP 1", "ftp-2": "FTP 2", "ftp-2-again": "FTP 2, again"}

BEFORE, PAUSE, AFTER = (40.0, 130.0), (135.0, 160.0), (170.0, 250.0)
"""Measured intervals in s: both, the first alone, both again; the first seconds after each change are left out."""

RUNS = 80

CONTROLLED = {"gap-gc": "TCP-GAP", "gap": "TCP-GAP without goodput control"}
"""The checks are made for both: goodput control must do no harm here."""

study = Study(
    "Responsiveness",
    source=f"{PAPER}, figures 13 and 14",
    assumed=[
        *ASSUMED,
        f"Runs of 250 s. The paper shows one; the intervals here are over {RUNS}.",
        "FTP 2 starts again with a new connection.",
        "Shares and rates count from 40 s on, from five seconds after FTP 2 stops, and from ten after it starts again.",
    ],
)


@study.sweep
def coming(profile: Profile) -> Sweep:
    both = parallel(profile, ("down", "down"), duration="250s", warmup="5s", sample_every="1s")
    pausing = both.with_(**{"duration": "250s", "flows[1].stop": "130s"})
    base = pausing.from_dict(
        {
            **pausing.resolved,
            "flows": [
                *pausing.resolved["flows"],
                {"name": "ftp-2-again", "from": "B", "to": CHAIN_NODES, "transport": "newreno", "start": "160s"},
            ],
        }
    )
    return Sweep(variants=compared(base), runs=RUNS)


@study.chart_each(
    {
        "controlled": ("gap-gc", "Figure 13: TCP-GAP, one run."),
        "uncontrolled": ("gap", "The same without goodput control, one run."),
        "newreno": ("newreno", "Figure 14: NewReno, one run."),
    }
)
def over_time(data: Data, name: str) -> Chart:
    return series(data.coming.where(variant=name), "goodput_bps", flows=FLOWS)


def rate(data: Data, name: str, flow: str, when: tuple[float, float]) -> Sample:
    return goodput_between(data.coming.where(variant=name), flow, when)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s: both, FTP 1 alone, both again. Intervals over the runs."""
    times = {
        "FTP 1, both": ("ftp-1", BEFORE),
        "FTP 2, both": ("ftp-2", BEFORE),
        "FTP 1, alone": ("ftp-1", PAUSE),
        "FTP 1, both again": ("ftp-1", AFTER),
        "FTP 2, both again": ("ftp-2-again", AFTER),
    }
    columns = {text: partial(goodput_between, flow=flow, when=when) for text, (flow, when) in times.items()}
    return table_by(data.coming, "variant", columns, labels())


def second_share(data: Data, name: str, second: str, when: tuple[float, float]) -> Sample:
    """Share of the second flow in the total goodput, in each run."""
    first, other = rate(data, name, "ftp-1", when), rate(data, name, second, when)
    return part_of_both(other, first)


@study.check_each(
    CONTROLLED,
    "{}: both flows share",
    paper="the bandwidth is shared fairly while both run",
    assumed="the second has 40 to 60 % from 40 to 130 s, the mean over runs; partly: 30 to 70 %",
    because="runs_differ",
)
def shares_of(data: Data, name: str) -> Claim:
    part = second_share(data, name, "ftp-2", BEFORE)
    return between(part, 0.4, 0.6).or_partly(between(part, 0.3, 0.7))


@study.check_each(
    CONTROLLED,
    "{}: the first flow takes all the bandwidth when the second stops",
    paper="quickly",
    assumed="from 135 s at least 90 % of what both had before; partly: 75 %",
    because=["runs_differ", "more_than_one"],
)
def takes(data: Data, name: str) -> Claim:
    alone = rate(data, name, "ftp-1", PAUSE)
    first, second = (rate(data, name, flow, BEFORE) for flow in ("ftp-1", "ftp-2"))
    left = alone / run_by_run(lambda x, y: x + y, first, second)
    return above(left, 0.9).or_partly(above(left, 0.75))


@study.check_each(
    CONTROLLED,
    "{}: the second flow gets its share again when it returns",
    paper="quickly",
    assumed="40 to 60 % from 170 s on; partly: 30 to 70 %",
    because="runs_differ",
)
def gives_back(data: Data, name: str) -> Claim:
    part = second_share(data, name, "ftp-2-again", AFTER)
    return between(part, 0.4, 0.6).or_partly(between(part, 0.3, 0.7))


@study.check(
    "NewReno: the second flow starves throughout",
    paper="completely",
    assumed="below 5 % while both run and after it has returned; partly: below 25 %",
    because=["newreno_starves_in_turn", "neither_shut_out"],
)
def newreno_starves(data: Data) -> Claim:
    parts = {
        "before": second_share(data, "newreno", "ftp-2", BEFORE),
        "after": second_share(data, "newreno", "ftp-2-again", AFTER),
    }
    return every(below(parts, 0.05)).or_partly(every(below(parts, 0.25)))


def _extremes(part: Sample) -> Sample:
    """1 for each run in which one flow has less than a quarter, otherwise 0."""
    return run_by_run(lambda share: float(min(share, 1.0 - share) < 0.25), part)


@study.cause("runs differ: in more than one in ten, one flow or the other has less than a quarter while both send")
def runs_differ(data: Data) -> Claim:
    return above(_extremes(second_share(data, "gap-gc", "ftp-2", BEFORE)), 0.1)


@study.cause(
    "two flows on chains 400 m apart carry more than one alone: what both had is more than one chain can carry"
)
def more_than_one(data: Data) -> Claim:
    alone = rate(data, "gap-gc", "ftp-1", PAUSE)
    first, second = (rate(data, "gap-gc", flow, BEFORE) for flow in ("ftp-1", "ftp-2"))
    return below(alone / run_by_run(lambda x, y: x + y, first, second), 0.95)


@study.cause("one of the two starves, but not always the second: its share lies between 25 and 75 % on average")
def newreno_starves_in_turn(data: Data) -> Claim:
    part = second_share(data, "newreno", "ftp-2", BEFORE)
    return every({"some starve": above(_extremes(part), 0.1), "on average": between(part, 0.25, 0.75)})


@study.cause("neither flow is shut out: the second has 40 to 60 %")
def neither_shut_out(data: Data) -> Claim:
    return between(second_share(data, "newreno", "ftp-2", BEFORE), 0.4, 0.6)
