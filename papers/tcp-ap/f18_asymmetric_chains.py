"""Two parallel chains, one of them three hops longer at each end: the share of the longer path.

The paper finds that NewReno leaves almost nothing to the long flow, that TCP-AP is much fairer although its shares are
not equal, that delayed ACKs bring its two flows together, and that NewReno carries slightly more in total.
"""

from collections.abc import Mapping
from typing import Any

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Run,
    Sample,
    Study,
    curves,
    run_by_run,
    shares,
    table,
)
from fourhop.study.claims import above, below, between, every
from fourhop.study.flows import goodputs

from ._common import (
    ASSUMED,
    ASSUMED_DELAYED,
    ASSUMED_SHORTER,
    ECHOES,
    LABELS,
    PAPER,
    PARALLEL_HOPS,
    SHORTER,
    SHOWN,
    STILL,
    TIMERS_2003,
    compared,
    parallel,
    variant,
)
from ._several import ASSUMED_COUNT, DELAYED_COSTS

FLOWS = {"flow-1": "FTP 1 (short)", "flow-2": "FTP 2 (long)"}
LONGER = 6
SHORT = (PARALLEL_HOPS, 5, 6, 8)
SEEDS = 5

NOT_STARVED = (
    "NewReno's long flow is not starved to begin with: fewer frames collide (losses in figure 16) and the longer "
    "path is not taken down repeatedly; over routes that never break the same happens under ns2 (table of causes)"
)
SHORT_IS_SLOWED = (
    "the wait of delayed ACKs is the larger part of the round trip over the short path, so the short flow slows down "
    "the most (table of causes)"
)

CHANGES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "newreno-2003": ("NewReno, timers of 2003", "newreno", TIMERS_2003),
    "newreno-da-2003": ("NewReno + delayed ACK, timers of 2003", "newreno-da", TIMERS_2003),
    "newreno-still": ("NewReno, routes that never break", "newreno", STILL),
    "newreno-da-still": ("NewReno + delayed ACK, routes that never break", "newreno-da", STILL),
    "ap-still": ("TCP-AP, routes that never break", "ap", STILL),
    "ap-code-still": ("TCP-AP, authors' code, routes that never break", "ap-code", STILL),
    "ap-da-still": ("TCP-AP + delayed ACK, routes that never break", "ap-da", STILL),
    **{
        f"{name}-10": (f"{LABELS[name]} of up to 10 ms", name, {"tcp.delayed_ack_timeout": "10ms"})
        for name in ("newreno-da", "ap-da", "ap-code-da")
    },
    "ap-da-200": ("TCP-AP + delayed ACK of 200 ms, newest echo", "ap-da-newest", {"tcp.delayed_ack_timeout": "200ms"}),
}
"""One thing changed in each: what the shares depend on."""

study = Study(
    "Asymmetric parallel chains",
    source=f"{PAPER}, figure 18",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        ASSUMED_COUNT,
        ASSUMED_SHORTER,
        f"The short chain has {PARALLEL_HOPS} hops, the long one {PARALLEL_HOPS + LONGER}, centred on each other; "
        "charts show other lengths.",
        f"{SEEDS} runs of 55,000 packets each instead of one.",
    ],
)


@study.sweep
def chains(profile: Profile) -> Sweep:
    base = parallel(profile, [PARALLEL_HOPS, PARALLEL_HOPS + LONGER], **STEADY)
    return Sweep(variants=compared(base, *ECHOES), runs=SEEDS)


@study.sweep
def causes(profile: Profile) -> Sweep:
    base = parallel(profile, [PARALLEL_HOPS, PARALLEL_HOPS + LONGER], **SHORTER)
    variants = {name: variant(base, of).with_(**keys) for name, (_, of, keys) in CHANGES.items()}
    return Sweep(variants=variants, runs=SEEDS)


@study.sweep
def lengths(profile: Profile) -> Sweep:
    base = parallel(profile, [PARALLEL_HOPS, PARALLEL_HOPS + LONGER], **SHORTER)
    hops = [_hops(short) for short in SHORT]
    return Sweep(variants=compared(base, *SHOWN), over={"topology.hops": hops})


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of each flow and in total. Whiskers: 95 % intervals over the runs."""
    return shares(data.chains, FLOWS, LABELS)


@study.chart
def long_flow_over_lengths(data: Data) -> Chart:
    """Share of the long flow in the total goodput for chains of other lengths. Whiskers: over the batches of a run."""
    cells = data.lengths.by("variant")
    points = {
        LABELS[name]: {short: cells[name].share("flow-2", hops=_hops(short)) for short in SHORT} for name in SHOWN
    }
    return curves(points, f"hops of the short chain, the other is {LONGER} hops longer", "share of the long flow")


@study.chart
def table_of_causes(data: Data) -> Chart:
    """Share of the long flow, and the total: as above, and with one thing changed. Intervals over the runs."""
    rows = [(LABELS[name], _long(data, name), data.chains.goodput(variant=name)) for name in ECHOES]
    rows += [(label, _long(data, name), data.causes.goodput(variant=name)) for name, (label, _, _) in CHANGES.items()]
    return table(["transport", "share of the long flow", "goodput"], rows)


@study.check(
    "NewReno starves the long flow almost completely, with and without delayed ACKs",
    paper="the long flow nearly completely starves",
    assumed="it gets less than 5 %; partly: less than 15 %",
    why={"standard": NOT_STARVED},
    because=["timers_of_2003", "at_the_bound"],
)
def newreno_starves(data: Data) -> Claim:
    share = {LABELS[name]: _long(data, name) for name in ("newreno", "newreno-da")}
    return every(below(share, 0.05)).or_partly(every(below(share, 0.15)))


@study.cause("with ns-2's timers of 2003 the long flow of NewReno has less than 5 %, with and without delayed ACKs")
def timers_of_2003(data: Data) -> Claim:
    share = {name: _long(data, name) for name in ("newreno-2003", "newreno-da-2003")}
    return every(below(share, 0.05))


@study.cause("the share lies at the bound: the mean differs from 5 % by less than the interval")
def at_the_bound(data: Data) -> Claim:
    return between(_long(data, "newreno"), 0.03, 0.07)


@study.cause(
    "the wait of delayed ACKs slows the short flow the most: if receivers wait at most 10 ms, the long flow's share "
    "is smaller"
)
def wait_slows_the_short(data: Data) -> Claim:
    names = ("ap-da", "ap-code-da")
    return every(below({LABELS[name]: _long(data, f"{name}-10") - _long(data, name) for name in names}, 0.0))


@study.cause(
    "with delayed ACKs part of NewReno's lead is the receiver's wait: if it is at most 10 ms, the lead is smaller"
)
def wait_widens_the_lead(data: Data) -> Claim:
    def lead(cells: Cells, name: str, end: str = "") -> Sample:
        each = (cells.goodput(variant=f"{of}{end}") for of in ("newreno-da", name))
        return run_by_run(lambda newreno, paced: newreno / paced, *each)

    names = ("ap-da", "ap-code-da")
    return every(below({LABELS[name]: lead(data.causes, name, "-10") / lead(data.chains, name) for name in names}, 1.0))


@study.cause(
    "four segments at the pace of TCP-AP take longer than a receiver waits: with 200 ms and the newest echo it carries "
    "more"
)
def wait_is_too_short(data: Data) -> Claim:
    return above(data.causes.goodput(variant="ap-da-200") / data.chains.goodput(variant="ap-da"), 1.0)


@study.cause("without delayed ACKs NewReno and the authors' code carry the same, within 5 %")
def carry_the_same(data: Data) -> Claim:
    return between(data.chains.goodput(variant="newreno") / data.chains.goodput(variant="ap-code"), 0.95, 1.05)


@study.check(
    "TCP-AP is much fairer than NewReno, though the short flow has more",
    paper="significantly better fairness, not equal shares",
    assumed="an index higher by 0.1 or more, and less than half for the long flow; partly: a higher index",
    why={"standard": NOT_STARVED},
)
def ap_fairer(data: Data) -> Claim:
    return _fairer(data, "ap")


@study.check(
    "The authors' code is also much fairer than NewReno, though the short flow has more",
    paper="significantly better fairness, not equal shares",
    assumed="as above",
    why={"standard": NOT_STARVED},
)
def code_fairer(data: Data) -> Claim:
    return _fairer(data, "ap-code")


@study.check(
    "With delayed ACKs both flows of TCP-AP get about the same",
    paper="similar goodput of both",
    assumed="the long flow has 0.4 to 0.6 of the total; partly: more than without delayed ACKs",
    why=SHORT_IS_SLOWED,
    because="wait_slows_the_short",
)
def ap_delayed(data: Data) -> Claim:
    return _closer(data, "ap", "ap-da")


@study.check(
    "With delayed ACKs both flows of the authors' code also get about the same",
    paper="similar goodput of both",
    assumed="as above",
    why=SHORT_IS_SLOWED,
    because="wait_slows_the_short",
)
def code_delayed(data: Data) -> Claim:
    return _closer(data, "ap-code", "ap-code-da")


@study.check(
    "NewReno carries slightly more in total than TCP-AP",
    paper="slightly more",
    assumed="by up to 20 %, each compared with TCP-AP with the same ACKs; partly: more, without delayed ACKs",
    why={"standard": "NewReno seldom loses anything (losses in figure 16)"},
    because=["wait_is_too_short", "wait_widens_the_lead"],
)
def newreno_more(data: Data) -> Claim:
    return _slightly_more(data, "ap", "ap-da")


@study.check(
    "NewReno carries slightly more in total than the authors' code",
    paper="slightly more",
    assumed="as above",
    why={"standard": f"with delayed ACKs {DELAYED_COSTS}"},
    because=["carry_the_same", "wait_is_too_short", "wait_widens_the_lead"],
)
def newreno_more_than_code(data: Data) -> Claim:
    return _slightly_more(data, "ap-code", "ap-code-da")


def _hops(short: int) -> list[int]:
    return [short, short + LONGER]


def _long(data: Data, name: str) -> Sample:
    """Share of the long flow in the total, in each run."""

    def part(run: Run) -> float:
        return goodputs(run)[1] / sum(goodputs(run))

    return (data.causes if name in CHANGES else data.chains).measure(part, variant=name)


def _fairer(data: Data, name: str) -> Claim:
    gain = data.chains.fairness(variant=name) - data.chains.fairness(variant="newreno")
    both = every({"index gains": above(gain, 0.1), "the long flow": below(_long(data, name), 0.5)})
    return both.or_partly(above(gain, 0.0))


def _closer(data: Data, plain: str, delayed: str) -> Claim:
    long = _long(data, delayed)
    return between(long, 0.4, 0.6).or_partly(above(long - _long(data, plain), 0.0))


def _slightly_more(data: Data, plain: str, delayed: str) -> Claim:
    gain = {
        "every segment acknowledged": data.chains.goodput(variant="newreno") / data.chains.goodput(variant=plain),
        "delayed ACKs": data.chains.goodput(variant="newreno-da") / data.chains.goodput(variant=delayed),
    }
    each = between(gain, 1.0, 1.2)
    return every(each).or_partly(above(gain["every segment acknowledged"], 1.0))
