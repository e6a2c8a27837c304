"""Short files from the Internet into parallel chains, by the mean pause between them.

Goodput is measured while a file is being sent. In the paper that of TCP-GAP grows with the pause, up to 70 % above
NewReno's, which does not change, and TCP-GAP is fairer for every pause.
"""

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Measure, Profile, Sample, Study, growth, lines, peak
from fourhop.study.claims import about, above, between, every, most, rises
from fourhop.study.flows import averaged_fairness, averaged_goodput

from ._common import ASSUMED, LABELS, PAPER, compared, parallel
from ._measures import ASSUMED_FILES, FILES

PAUSES = {f"{n * 100}ms": n / 10 for n in (1, 2, 4, 6, 8, 10)}
SHOWN = ("newreno", "gap", "gap-gc")
RUNS = 10
LENGTH = {**STEADY, "packets": 5_500}

FEW_SAMPLES = (
    "the gateway learns a flow's pace from its last 50 round trips, and a file of 30 kB has about twenty: after a "
    "pause the pace is still that of the time when both flows sent, and the longer the pauses, the more often a flow "
    "is alone"
)
EVEN = "files end and begin all the time, and both flows get their turns with NewReno too: there is little to gain"

study = Study(
    "Short files, parallel chains",
    source=f"{PAPER}, figures 22 and 23",
    assumed=[
        *ASSUMED,
        ASSUMED_FILES,
        f"{RUNS} runs of 5,500 packets each, of which the first eleventh is not measured, instead of ten batches of "
        "one run.",
        "The index is that of the averaged goodputs.",
    ],
)


@study.sweep_each({"chains": "same", "fresh": "fresh"})
def files(profile: Profile, connection: str) -> Sweep:
    flow = {**FILES, "mean_pause": "1s", "connection": connection}
    variants = compared(parallel(profile, ("down", "down"), flow=flow, **LENGTH), *SHOWN)
    return Sweep(variants=variants, over={"flows[*].mean_pause": tuple(PAUSES)}, runs=RUNS)


@study.chart_each(
    {
        "goodput": (
            ("chains", averaged_goodput),
            "Figure 22: total averaged goodput of both flows. Whiskers: 95 % intervals over the runs.",
        ),
        "jains_index": (("chains", averaged_fairness), "Figure 23: Jain's index of the averaged goodputs."),
        "goodput_with_connections_of_their_own": (
            ("fresh", averaged_goodput),
            "The same with one connection per file: a handshake, a new window, and a gateway that has to learn anew.",
        ),
    }
)
def over_pauses(data: Data, what: tuple[str, Measure]) -> Chart:
    sweep, y = what
    return lines(data[sweep], x="mean_pause", y=y, by="variant", labels=LABELS, x_label="mean pause (s)")


def of(data: Data, name: str, pause: str) -> Sample:
    return averaged_goodput(data.chains.where(variant=name, mean_pause=pause))


@study.check(
    "TCP-GAP gets up to 70 % more",
    paper="up to 70 %",
    assumed="the largest over all pauses; partly: above 20 %",
    why=FEW_SAMPLES,
)
def gains_70(data: Data) -> Claim:
    best = peak([of(data, "gap-gc", pause) / of(data, "newreno", pause) for pause in PAUSES])
    return about(best, 1.70).or_partly(above(best, 1.2))


@study.check("The goodput of TCP-GAP grows with the pauses", paper="increases with the mean pause", why=FEW_SAMPLES)
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
    ours, theirs = ([of(data, name, pause) for pause in (first, last)] for name in ("gap-gc", "newreno"))
    return between(theirs[1] / theirs[0], 0.9, 1.1).or_partly(above(growth(ours, theirs), 0.0))


@study.check(
    "TCP-GAP is fairer for every pause",
    paper="above NewReno's for all",
    assumed="partly: for three quarters",
    why=EVEN,
)
def fairer(data: Data) -> Claim:
    each = {pause: data.chains.where(mean_pause=pause) for pause in PAUSES}
    ours, theirs = (
        {pause: averaged_fairness(cells.where(variant=name)) for pause, cells in each.items()}
        for name in ("gap-gc", "newreno")
    )
    claims = above({pause: ours[pause] - theirs[pause] for pause in PAUSES}, 0.0)
    return every(claims).or_partly(most(claims))
