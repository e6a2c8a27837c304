"""Two parallel chains, one of them three hops longer at each end: the share of the longer path.

The paper finds that NewReno leaves almost nothing to the long flow, that TCP-AP is much fairer although its shares are
not equal, that delayed ACKs bring its two flows together, and that NewReno carries slightly more in total.
"""

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Run, Sample, Study, curves, shares
from fourhop.study.claims import above, below, between, every
from fourhop.study.flows import goodputs

from ._common import ASSUMED, ASSUMED_DELAYED, LABELS, PAPER, PARALLEL_HOPS, SHOWN, compared, parallel
from ._several import ASSUMED_COUNT, DELAYED_COSTS

FLOWS = {"flow-1": "FTP 1 (short)", "flow-2": "FTP 2 (long)"}
LONGER = 6
SHORT = (PARALLEL_HOPS, 5, 6, 8)
SEEDS = 5

NOT_STARVED = (
    "NewReno's long flow has 39 % already: a stronger frame that arrives later is still received, which leaves a "
    "quarter of the collisions and a seventh of the broken links, so the longer path is not taken down repeatedly"
)
SHORT_IS_SLOWED = (
    "the long flow has more than the short one: the wait of delayed ACKs counts in the round trip; over the short "
    "path it is the larger part of it, so the short flow slows down the most"
)

study = Study(
    "Asymmetric parallel chains",
    source=f"{PAPER}, figure 18",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        ASSUMED_COUNT,
        f"The short chain has {PARALLEL_HOPS} hops, the long one {PARALLEL_HOPS + LONGER}, centred on each other; "
        "charts show other lengths.",
        f"{SEEDS} runs of 55,000 packets each instead of one.",
    ],
)


@study.sweep
def chains(profile: Profile) -> Sweep:
    base = parallel(profile, [PARALLEL_HOPS, PARALLEL_HOPS + LONGER], **STEADY)
    return Sweep(variants=compared(base, *SHOWN), runs=SEEDS)


@study.sweep
def lengths(profile: Profile) -> Sweep:
    base = parallel(profile, [PARALLEL_HOPS, PARALLEL_HOPS + LONGER], **STEADY)
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


@study.check(
    "NewReno starves the long flow almost wholly, with and without delayed ACKs",
    paper="the long flow nearly completely starves",
    assumed="it gets less than 5 %; partly: less than 15 %",
    why={
        "ns2": "without delayed ACKs the long flow has 5 %, exactly the bound, and with them 1 %; in ns-2.35 it has 4 "
        "%",
        "standard": NOT_STARVED,
    },
)
def newreno_starves(data: Data) -> Claim:
    share = {LABELS[name]: _long(data, name) for name in ("newreno", "newreno-da")}
    return every(below(share, 0.05)).or_partly(every(below(share, 0.15)))


@study.check(
    "TCP-AP is much fairer than NewReno, though the short flow has more",
    paper="significantly better fairness, not equal shares",
    assumed="an index higher by 0.1 or more, and less than half for the long flow; partly: a higher index",
    why={"standard": NOT_STARVED},
)
def ap_fairer(data: Data) -> Claim:
    return _fairer(data, "ap")


@study.check(
    "The same holds for the authors' code",
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
)
def ap_delayed(data: Data) -> Claim:
    return _closer(data, "ap", "ap-da")


@study.check(
    "The same holds with delayed ACKs for the authors' code",
    paper="similar goodput of both",
    assumed="as above",
    why=SHORT_IS_SLOWED,
)
def code_delayed(data: Data) -> Claim:
    return _closer(data, "ap-code", "ap-code-da")


@study.check(
    "NewReno carries slightly more in total than TCP-AP",
    paper="slightly more",
    assumed="by up to 20 %, each compared with TCP-AP with the same ACKs; partly: more, without delayed ACKs",
    why={
        "ns2": f"8 % without delayed ACKs, but 41 % with them: {DELAYED_COSTS}",
        "standard": f"26 % without delayed ACKs and 77 % with them: NewReno seldom loses anything, and {DELAYED_COSTS}",
    },
)
def newreno_more(data: Data) -> Claim:
    return _slightly_more(data, "ap", "ap-da")


@study.check(
    "NewReno carries slightly more in total than the authors' code",
    paper="slightly more",
    assumed="as above",
    why={
        "ns2": "without delayed ACKs it carries the same, as in ns-2.35, where the code is 3 % ahead; with them "
        f"{DELAYED_COSTS}",
        "standard": f"18 % without delayed ACKs; with them {DELAYED_COSTS}",
    },
)
def newreno_more_than_code(data: Data) -> Claim:
    return _slightly_more(data, "ap-code", "ap-code-da")


def _hops(short: int) -> list[int]:
    return [short, short + LONGER]


def _long(data: Data, name: str) -> Sample:
    """Share of the long flow in the total, in each run."""

    def part(run: Run) -> float:
        return goodputs(run)[1] / sum(goodputs(run))

    return data.chains.measure(part, variant=name)


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
