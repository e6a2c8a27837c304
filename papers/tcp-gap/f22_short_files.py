"""Short files from the Internet into parallel chains, by the mean pause between them.

Goodput is measured while a file is being sent. In the paper that of TCP-GAP grows with the pause, up to 70 % above
NewReno's, which does not change, and TCP-GAP is fairer for every pause.
"""

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Estimate, Measure, Profile, Sample, Study, growth, lines, peak
from fourhop.study.claims import about, above, below, between, every, fair, most, rises
from fourhop.study.flows import averaged_fairness, averaged_goodput

from ._common import ASSUMED, CHAIN_NODES, LABELS, PAPER, STILL, chain, compared, labels, parallel
from ._measures import ASSUMED_FILES, FILES, TWO_MEANS, file_fairness, file_goodput, sent_again

PAUSES = {f"{n * 100}ms": n / 10 for n in (1, 2, 4, 6, 8, 10)}
SHOWN = ("newreno", "gap", "gap-gc", "gap-code")
RUNS = 20
LENGTH = {**STEADY, "packets": 5_500}

CONTROLLED = labels("gap-gc", "gap")
"""The checks are made for both: goodput control must do no harm here."""

study = Study(
    "Short files, parallel chains",
    source=f"{PAPER}, figures 22 and 23",
    assumed=[
        *ASSUMED,
        ASSUMED_FILES,
        TWO_MEANS,
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


@study.sweep
def still(profile: Profile) -> Sweep:
    """Over routes that never break, for the causes."""
    base = parallel(profile, ("down", "down"), flow={**FILES, "mean_pause": "1s"}, **LENGTH).with_(**STILL)
    return Sweep(variants=compared(base, "newreno", "gap-gc"), over={"flows[*].mean_pause": tuple(PAUSES)}, runs=RUNS)


@study.sweep
def alone(profile: Profile) -> Sweep:
    """One of the flows alone."""
    flow = {f"flows[0].{key}": value for key, value in {**FILES, "mean_pause": "1s"}.items()}
    base = chain(profile, CHAIN_NODES, "down", **LENGTH).with_(**flow)
    return Sweep(variants=compared(base, "newreno"), runs=RUNS)


@study.chart_each(
    {
        "goodput": (
            ("chains", file_goodput),
            "Figure 22: total averaged goodput of both flows, the mean over files. Whiskers: 95 % intervals over the "
            "runs.",
        ),
        "jains_index": (("chains", file_fairness), "Figure 23: Jain's index of the averaged goodputs."),
        "goodput_by_time": (
            ("chains", averaged_goodput),
            "What all files carried over the time in which there was one, where large files count for more.",
        ),
        "index_by_time": (("chains", averaged_fairness), "Jain's index of that."),
        "goodput_with_connections_of_their_own": (
            ("fresh", file_goodput),
            "The mean over files with one connection per file: a handshake, a new window, and a gateway that has to "
            "learn anew.",
        ),
    }
)
def over_pauses(data: Data, what: tuple[str, Measure]) -> Chart:
    sweep, y = what
    return lines(data[sweep], x="mean_pause", y=y, by="variant", labels=LABELS, x_label="mean pause (s)")


def of(data: Data, name: str, pause: str, sweep: str = "chains") -> Sample:
    return file_goodput(data[sweep].where(variant=name, mean_pause=pause))


def ratios(data: Data, name: str, over: str = "newreno") -> dict[str, Estimate]:
    """Ratio of goodput to that of another variant, by pause."""
    return {pause: of(data, name, pause) / of(data, over, pause) for pause in PAUSES}


@study.check_each(
    CONTROLLED,
    "{} gets up to 70 % more",
    paper="up to 70 %",
    assumed="the largest over all pauses; partly: above 20 %",
    because={"ns2": ["authors_arithmetic", "gain_is_routes"], "standard": "routes_hold"},
)
def gains_70(data: Data, name: str) -> Claim:
    best = peak(list(ratios(data, name).values()))
    return about(best, 1.70).or_partly(above(best, 1.2))


@study.check_each(
    CONTROLLED,
    "The goodput of {} grows with the pauses",
    paper="increases with the mean pause",
    because="grows_by_the_ends",
)
def gap_grows(data: Data, name: str) -> Claim:
    return rises([(seconds, of(data, name, pause)) for pause, seconds in PAUSES.items()])


@study.check(
    "The goodput of NewReno does not grow with the pauses",
    paper="remains unchanged",
    assumed="at 1 s within 10 % of that at 0.1 s; partly: it grows less than TCP-GAP's does",
    because="faster_alone",
)
def newreno_does_not(data: Data) -> Claim:
    first, *_, last = PAUSES
    ours, theirs = ([of(data, name, pause) for pause in (first, last)] for name in ("gap-gc", "newreno"))
    return between(theirs[1] / theirs[0], 0.9, 1.1).or_partly(above(growth(ours, theirs), 0.0))


@study.check_each(
    CONTROLLED,
    "{} is fairer for every pause",
    paper="above NewReno's for all",
    assumed="partly: for three quarters",
    because="newreno_even",
)
def fairer(data: Data, name: str) -> Claim:
    claims = above({pause: index(data, name, pause) - index(data, "newreno", pause) for pause in PAUSES}, 0.0)
    return every(claims).or_partly(most(claims))


@study.check(
    "Goodput control costs nothing",
    paper="nothing: goodput control is for oncoming flows",
    assumed="our own: at most 3 % of the total for every pause",
)
def control_costs_nothing(data: Data) -> Claim:
    return every(above(ratios(data, "gap-gc", "gap"), 0.97))


def index(data: Data, name: str, pause: str) -> Sample:
    return file_fairness(data.chains.where(variant=name, mean_pause=pause))


@study.cause(
    "over routes that never break TCP-GAP gains less than half as much: what it gains, NewReno loses with its routes"
)
def gain_is_routes(data: Data) -> Claim:
    still = {pause: of(data, "gap-gc", pause, "still") / of(data, "newreno", pause, "still") for pause in PAUSES}
    best, usual = (peak(list(each.values())) for each in (still, ratios(data, "gap-gc")))
    return below(best, 1.0 + (usual.value - 1.0) / 2)


@study.cause(
    "links are seldom taken for broken: NewReno carries at least nine tenths of what it does over static routes"
)
def routes_hold(data: Data) -> Claim:
    return every(above({p: of(data, "newreno", p) / of(data, "newreno", p, "still") for p in PAUSES}, 0.9))


@study.cause("with the arithmetic of the authors' code the gain is larger for every pause")
def authors_arithmetic(data: Data) -> Claim:
    return every(above(ratios(data, "gap-code", "gap-gc"), 1.0))


@study.cause("NewReno retransmits less than one segment in a hundred, so there is little to gain")
def little_lost(data: Data) -> Claim:
    return every(below({p: data.chains.measure(sent_again, variant="newreno", mean_pause=p) for p in PAUSES}, 0.01))


@study.cause("it is larger at the longest pause than at the shortest, but does not grow from each to the next")
def grows_by_the_ends(data: Data) -> Claim:
    first, *_, last = PAUSES
    return above(of(data, "gap", last) / of(data, "gap", first), 1.0)


@study.cause(
    "the longer the pauses, the more often a flow is alone, and NewReno is faster then: one flow alone carries at "
    "least three fifths of what two carry with pauses of 0.1 s"
)
def faster_alone(data: Data) -> Claim:
    return above(file_goodput(data.alone) / of(data, "newreno", "100ms"), 0.6)


@study.cause("with NewReno, too, both flows get their turns: its index is above 0.95 for every pause")
def newreno_even(data: Data) -> Claim:
    return every(fair({pause: index(data, "newreno", pause) for pause in PAUSES}, 0.95))
