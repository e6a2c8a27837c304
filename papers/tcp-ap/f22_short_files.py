"""Short files instead of endless transfers on two parallel chains, by the pause between the files of a flow.

Sizes are Pareto, pauses exponential; goodput is measured while a file is being sent. The paper finds that TCP-AP uses
the other flow's pauses and NewReno does not, and that both are fair as soon as there are pauses.
"""

from collections.abc import Mapping
from typing import Any

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Measure, Profile, Sample, Study, combine, growth, lines, table
from fourhop.study.claims import about, above, below, between, every, fair, most, rises
from fourhop.study.flows import MOMENT_S, OVER_TIME, averaged_fairness, averaged_goodput, index_of, within

from ._common import (
    ASSUMED,
    ASSUMED_DELAYED,
    ECHOES,
    LABELS,
    PAPER,
    PARALLEL_HOPS,
    SHORTER,
    STILL,
    TIMERS_2003,
    chain,
    compared,
    parallel,
    variant,
)
from ._several import DELAYED_COSTS

PAUSES = {"0s": 0.0, "100ms": 0.1, "200ms": 0.2, "400ms": 0.4, "600ms": 0.6, "800ms": 0.8, "1s": 1.0}
RUNS = 10
SEVERAL = 5
"""Of the longer ones."""

CHANGES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "2003": ("NewReno, timers of 2003", "newreno", TIMERS_2003),
    "still": ("NewReno, routes that never break", "newreno", STILL),
    "ap-da-10": ("TCP-AP + delayed ACK of up to 10 ms", "ap-da", {"tcp.delayed_ack_timeout": "10ms"}),
}
"""Settings that might keep NewReno from using the other flow's pauses, and a wait that is short enough for TCP-AP."""

# Ten runs of 5,500 packets make up the paper's 55,000; the first of eleven parts of each is not measured. They are
# separate runs: the time with a file on its way has no batches.
LENGTH = {**STEADY, "packets": 5_500}

LONGER_PAUSES = {pause: PAUSES[pause] for pause in ("0s", "200ms", "800ms")}
BOTH_AND_NEWRENO = ("newreno", "ap", "ap-code")
AS_IN_16: Mapping[Profile, str] = {"standard": "no flow is shut out, as in figure 16"}

study = Study(
    "Short files on symmetric parallel chains",
    source=f"{PAPER}, figures 22 and 23",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        f"Chains of {PARALLEL_HOPS} hops.",
        "All files of a flow use one connection, whose window survives the pauses, as with ns-2's agents; one chart "
        "shows one connection per file.",
        f"{RUNS} runs of 5,500 packets each, of which the first eleventh is not measured, instead of ten batches of "
        "one run.",
        "The index is that of the averaged goodputs.",
    ],
)


def _files(mean_pause: str = "1s", connection: str = "same") -> dict[str, Any]:
    """Short files, one after another."""
    return {"app": "files", "mean_pause": mean_pause, "connection": connection}


@study.sweep_each({"chains": ("same", ECHOES), "fresh": ("fresh", BOTH_AND_NEWRENO)})
def files(profile: Profile, what: tuple[str, tuple[str, ...]]) -> Sweep:
    connection, names = what
    base = parallel(profile, traffic=_files(connection=connection), **LENGTH)
    return Sweep(variants=compared(base, *names), over={"traffic.mean_pause": tuple(PAUSES)}, runs=RUNS)


@study.sweep
def longer(profile: Profile) -> Sweep:
    base = parallel(profile, traffic=_files(), **SHORTER)
    return Sweep(
        variants=compared(base, *BOTH_AND_NEWRENO), over={"traffic.mean_pause": tuple(LONGER_PAUSES)}, runs=SEVERAL
    )


@study.sweep
def alone(profile: Profile) -> Sweep:
    """One of the flows alone."""
    return Sweep(variant(chain(profile, PARALLEL_HOPS, traffic=_files(), **LENGTH), "newreno"), runs=RUNS)


@study.sweep
def moments(profile: Profile) -> Sweep:
    """Files without pauses over time."""
    return Sweep(variant(parallel(profile, traffic=_files(mean_pause="0s"), **OVER_TIME), "newreno"), runs=RUNS)


@study.sweep
def causes(profile: Profile) -> Sweep:
    base = parallel(profile, traffic=_files(), **LENGTH)
    changed = {name: variant(base, of).with_(**keys) for name, (_, of, keys) in CHANGES.items()}
    return Sweep(variants=changed, over={"traffic.mean_pause": ("0s", "1s")}, runs=RUNS)


@study.chart
def growth_of_newreno(data: Data) -> Chart:
    """How much more averaged goodput there is with pauses of 1 s than without pauses."""
    whole = {LABELS[name]: data.chains.where(variant=name) for name in ECHOES}
    whole |= {f"{LABELS[name]}, one connection per file": data.fresh.where(variant=name) for name in BOTH_AND_NEWRENO}
    whole |= {label: data.causes.where(variant=name) for name, (label, _, _) in CHANGES.items()}
    ends = {
        label: [averaged_goodput(cells.where(mean_pause=pause)) for pause in ("0s", "1s")]
        for label, cells in whole.items()
    }
    return table(["transport", "growth"], [(label, long / none) for label, (none, long) in ends.items()])


@study.chart_each(
    {
        "goodput": (
            ("chains", averaged_goodput),
            "Total averaged goodput of both flows. Whiskers: 95 % intervals over the runs.",
        ),
        "jains_index": (("chains", averaged_fairness), "Jain's index of the averaged goodputs."),
        "jains_index_of_longer_runs": (("longer", averaged_fairness), "The same for runs four times as long."),
        "goodput_with_connections_of_their_own": (
            ("fresh", averaged_goodput),
            "The same with one connection per file: a handshake, and a window that starts anew.",
        ),
    }
)
def over_pauses(data: Data, what: tuple[str, Measure]) -> Chart:
    sweep, y = what
    return lines(data[sweep], x="mean_pause", y=y, by="variant", labels=LABELS, x_label="mean pause (s)")


def goodput(data: Data, name: str, pause: str) -> Sample:
    return averaged_goodput(data.chains.where(variant=name, mean_pause=pause))


def index(data: Data, name: str, pause: str) -> Sample:
    return averaged_fairness(data.chains.where(variant=name, mean_pause=pause))


@study.check("The goodput of TCP-AP grows with the pauses", paper="increases with the mean pause")
def ap_grows(data: Data) -> Claim:
    return every({LABELS[name]: rises(_points(data, name)) for name in ("ap", "ap-code")})


@study.check(
    "The goodput of NewReno does not grow with the pauses",
    paper="does not change",
    assumed="at 1 s within 10 % of that without pauses; partly: it grows less than TCP-AP's does",
    because="faster_alone",
)
def newreno_does_not(data: Data) -> Claim:
    ours, theirs = ([goodput(data, name, pause) for pause in ("0s", "1s")] for name in ("ap", "newreno"))
    return between(theirs[1] / theirs[0], 0.9, 1.1).or_partly(above(growth(ours, theirs), 0.0))


@study.check(
    "TCP-AP and NewReno are fair with pauses",
    paper="near-optimal for all pauses above 0",
    assumed="index above 0.95",
    because="runs_are_short",
)
def fair_with_pauses(data: Data) -> Claim:
    found = {
        f"{LABELS[name]}, {pause}": index(data, name, pause)
        for name in ("newreno", "ap", "ap-code")
        for pause in PAUSES
        if pause != "0s"
    }
    return every(fair(found, 0.95))


@study.cause(
    "the flows take turns, so that short runs are unfair: in runs four times as long the index is higher on average"
)
def runs_are_short(data: Data) -> Claim:
    terms = []
    for name in BOTH_AND_NEWRENO:
        for pause in LONGER_PAUSES:
            long = averaged_fairness(data.longer.where(variant=name, mean_pause=pause))
            terms += [(1.0, long), (-1.0, index(data, name, pause))]
    return above(combine(terms), 0.0)


@study.cause(
    "the receiver's wait for a fourth segment slows TCP-AP down: with waits of at most 10 ms it carries at least a "
    "tenth more, without pauses and with pauses of 1 s"
)
def wait_costs(data: Data) -> Claim:
    shorter = {
        pause: averaged_goodput(data.causes.where(variant="ap-da-10", mean_pause=pause)) / goodput(data, "ap-da", pause)
        for pause in ("0s", "1s")
    }
    return every(above(shorter, 1.1))


@study.cause(
    "the longer the pauses, the more often a flow is alone, and NewReno is faster then: one flow alone carries at "
    "least three fifths of what two carry without pauses"
)
def faster_alone(data: Data) -> Claim:
    return above(averaged_goodput(data.alone) / goodput(data, "newreno", "0s"), 0.6)


@study.cause(f"the flows are shut out in turn: within {MOMENT_S:g} s the index is about 0.64, as in the paper")
def shut_out_in_turn(data: Data) -> Claim:
    return about(within(data.moments, MOMENT_S, index_of), 0.64)


@study.check(
    "Without pauses NewReno is not fair",
    paper="about 0.64",
    assumed="partly: below 0.9",
    why=AS_IN_16,
    because="shut_out_in_turn",
)
def newreno_without_pauses(data: Data) -> Claim:
    found = index(data, "newreno", "0s")
    return about(found, 0.64).or_partly(below(found, 0.9))


@study.check(
    "Without pauses TCP-AP is fair",
    paper="optimal",
    assumed="index above 0.99; partly: above 0.95",
    because="runs_are_short",
)
def ap_without_pauses(data: Data) -> Claim:
    found = {LABELS[name]: index(data, name, "0s") for name in ("ap", "ap-code")}
    return every(fair(found, 0.99)).or_partly(every(fair(found, 0.95)))


@study.check(
    "Delayed ACKs increase the goodput of both, with the same pattern",
    paper="more averaged goodput, the same qualitative results",
    assumed="at every pause, and the goodput of TCP-AP grows with the pause; partly: at three quarters of the pauses",
    why=DELAYED_COSTS,
    because="wait_costs",
)
def delayed(data: Data) -> Claim:
    ratio = {
        f"{LABELS[name]}, {pause}": goodput(data, f"{name}-da", pause) / goodput(data, name, pause)
        for name in ("newreno", "ap")
        for pause in PAUSES
    }
    gains = above(ratio, 1.0)
    return every({**gains, "slope": rises(_points(data, "ap-da"))}).or_partly(most(gains))


def _points(data: Data, name: str) -> list[tuple[float, Sample]]:
    return [(seconds, goodput(data, name, pause)) for pause, seconds in PAUSES.items()]
