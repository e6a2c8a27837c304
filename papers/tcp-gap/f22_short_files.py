"""Short files from the Internet into parallel chains, over the mean pause between them.

Goodput is counted while a file is on its way. The paper has that of TCP-GAP grow with the pause, up to 70 % above
NewReno's, which does not change, and a better fairness for every pause.
"""

from collections.abc import Callable

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    about,
    above,
    between,
    combine,
    every,
    lines,
    most,
    peak,
    rises,
)  # fmt: skip

from ._common import ASSUMED, LABELS, PAPER, compared, parallel
from ._measures import ASSUMED_FILES, FILES, aggregate, index

PAUSES = {f"{n * 100}ms": n / 10 for n in (1, 2, 4, 6, 8, 10)}
SHOWN = ("newreno", "gap", "gap-gc")
RUNS = 10
LENGTH = {"packets": 5_500, "batches": 10, "duration": "100000s"}

FEW_SAMPLES = (
    "the gateway learns a flow's pace from its last 50 round trips, and a file of 30 kB has some twenty: after a pause "
    "the pace is still that of the time before, in which both flows sent, and the longer the pauses the more often a "
    "flow is alone"
)
EVEN = "files end and begin all the time, and both flows get their turns under NewReno too: there is little to gain"

study = Study(
    "Short files, parallel chains",
    source=f"{PAPER}, figures 22 and 23",
    assumed=[
        *ASSUMED,
        ASSUMED_FILES,
        f"{RUNS} runs of 5,500 packets each, a part of eleven not measured, instead of ten batches of one run.",
        "The index is that of the averaged goodputs.",
    ],
)


@study.sweep
def chains(profile: Profile) -> Sweep:
    return _files(profile, "same")


@study.sweep
def fresh(profile: Profile) -> Sweep:
    return _files(profile, "fresh")


@study.chart
def goodput(data: Data) -> Chart:
    """Figure 22: averaged goodput of both flows. Bars: 95 % intervals over ten runs."""
    return _over_pauses(data.chains, aggregate)


@study.chart
def jains_index(data: Data) -> Chart:
    """Figure 23: Jain's index of the averaged goodputs."""
    return _over_pauses(data.chains, index)


@study.chart
def goodput_with_connections_of_their_own(data: Data) -> Chart:
    """The same with a connection for each file: a handshake, a new window, and a gateway that has to learn anew."""
    return _over_pauses(data.fresh, aggregate)


@study.check(
    "TCP-GAP gets up to 70 % more",
    paper="up to 70 %",
    assumed="the largest of all pauses; partly: above 20 %",
    why=FEW_SAMPLES,
)
def gains_70(data: Data) -> Claim:
    best = peak([of(data, "gap-gc", pause) / of(data, "newreno", pause) for pause in PAUSES])
    return about(best, 1.70).or_partly(above(best, 1.2))


@study.check("TCP-GAP gets more, the longer the pauses", paper="increases with the mean pause", why=FEW_SAMPLES)
def gap_grows(data: Data) -> Claim:
    return rises([(seconds, of(data, "gap-gc", pause)) for pause, seconds in PAUSES.items()])


@study.check(
    "NewReno does not",
    paper="remains unchanged",
    assumed="at 1 s within 10 % of that at 0.1 s; partly: it grows less than TCP-GAP's does",
    why={"ns2": "it grows by 13 %: a flow that is alone loses no frames to the other"},
)
def newreno_does_not(data: Data) -> Claim:
    first, *_, last = PAUSES
    ends = {name: [of(data, name, pause) for pause in (first, last)] for name in ("newreno", "gap-gc")}
    without, at_most = ends["newreno"]
    more = combine([(1.0, ends["gap-gc"][1]), (-1.0, ends["gap-gc"][0]), (-1.0, at_most), (1.0, without)])
    return between(at_most / without, 0.9, 1.1).or_partly(above(more, 0.0))


@study.check(
    "TCP-GAP is fairer for every pause",
    paper="above NewReno's for all",
    assumed="partly: for three quarters",
    why=EVEN,
)
def fairer(data: Data) -> Claim:
    claims = {
        pause: above(
            index(data.chains.where(variant="gap-gc", mean_pause=pause))
            - index(data.chains.where(variant="newreno", mean_pause=pause)),
            0.0,
        )
        for pause in PAUSES
    }
    return every(claims).or_partly(most(claims))


def of(data: Data, name: str, pause: str) -> Sample:
    return aggregate(data.chains.where(variant=name, mean_pause=pause))


def _files(profile: Profile, connection: str) -> Sweep:
    flow = {**FILES, "mean_pause": "1s", "connection": connection}
    variants = compared(parallel(profile, ("down", "down"), flow=flow, **LENGTH), *SHOWN)
    over = {"flows[*].mean_pause": tuple(PAUSES)}
    return Sweep(variants=variants, over=over, runs=RUNS)


def _over_pauses(cells: Cells, of: Callable[[Cells], Sample]) -> Chart:
    label = "Jain's fairness index" if of is index else "averaged goodput (kbit/s)"
    return lines(cells, x="mean_pause", y=of, by="variant", labels=LABELS, x_label="mean pause (s)", y_label=label)
