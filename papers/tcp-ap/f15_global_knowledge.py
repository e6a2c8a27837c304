"""The same chains with knowledge that no sender has: synchronised clocks, the best window limit, the best UDP rate.

TCP-AP measures the four-hop delay here instead of estimating it; NewReno has the window limit that is best for the
length; UDP, paced at the rate that is best for the length, is the upper bound because it has no acknowledgements.
"""

from collections.abc import Callable
from functools import partial

from fourhop import Sweep
from fourhop.study import STEADY, Cells, Chart, Claim, Data, Estimate, Profile, Sample, Study, curves, peak, table
from fourhop.study.claims import above, below, between, every, most

from ._common import ASSUMED, ASSUMED_DELAYED, BOTH, PAPER, SHORTER, chain, variant

HOPS = (4, 6, 8, 10, 12, 14, 16)
FAR = (6, 10, 14)
LIMITS: dict[Profile, tuple[int, ...]] = {"ns2": (1, 2, 3, 4, 5), "standard": (1, 2, 3, 4, 5, 7, 10)}
CLOCKS = {
    "ap": "TCP-AP, clocks",
    "ap-da": "TCP-AP, clocks + delayed ACK",
    "ap-code": "TCP-AP, authors' code, clocks",
    "ap-code-da": "TCP-AP, authors' code, clocks + delayed ACK",
}

# Around the best rates, found with `fourhop best-rate`: from where nothing is lost to where goodput has fallen.
RATES = {
    "ns2": {4: range(320, 421, 20), 16: range(220, 291, 10), 0: range(260, 361, 10)},
    "standard": {4: range(410, 461, 10), 16: range(320, 391, 10), 0: range(340, 411, 10)},
}

study = Study(
    "Goodput over hops with global knowledge",
    source=f"{PAPER}, figure 15",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        "With synchronised clocks the delay is the time until the node four hops away received the segment.",
        "The best window limit is the best of 1 to 5 segments (to 10 under standard), measured for each length.",
        "UDP, whose runs hardly differ, and a distance of five hops are measured over 22,000 packets.",
        "The best rate of UDP is the one with the largest goodput, in steps of 10 kbit/s (20 over 4 hops in ns2).",
    ],
)


@study.sweep
def clocks(profile: Profile) -> Sweep:
    base = chain(profile, **STEADY)
    variants = {name: variant(base, name).with_(**{"tcp_ap.delay": "stamped"}) for name in CLOCKS}
    return Sweep(variants=variants, over={"topology.hops": HOPS})


@study.sweep
def fifth(profile: Profile) -> Sweep:
    base = chain(profile, **SHORTER)
    keys = {"tcp_ap.delay": "stamped", "tcp_ap.factor": 5}
    return Sweep(
        variants={name: variant(base, name).with_(**keys) for name in ("ap", "ap-code")}, over={"topology.hops": FAR}
    )


@study.sweep
def limit(profile: Profile) -> Sweep:
    return Sweep(chain(profile, **STEADY), {"topology.hops": HOPS, "tcp.window": LIMITS[profile]})


@study.sweep
def udp(profile: Profile) -> Sweep:
    base = chain(profile, transport="udp", traffic={"app": "cbr", "rate": "300kbps", "payload": "1460B"}, **SHORTER)
    pairs = [(hops, f"{rate}kbps") for hops in HOPS for rate in _rates(profile, hops)]
    zipped = {"topology.hops": [hops for hops, _ in pairs], "traffic.rate": [rate for _, rate in pairs]}
    return Sweep(base, zipped=zipped)


def measured(data: Data) -> dict[str, dict[int, Sample]]:
    """All curves: the goodput at each length, by label."""
    curves = {CLOCKS[name]: {n: data.clocks.goodput(variant=name, hops=n) for n in HOPS} for name in CLOCKS}
    curves["NewReno, best window limit"] = {n: data.limit.best(hops=n).goodput() for n in HOPS}
    curves["UDP, best rate"] = {n: data.udp.best(hops=n).goodput() for n in HOPS}
    return curves


@study.chart
def goodput(data: Data) -> Chart:
    """Steady state of one flow, 2 Mbit/s, nodes 200 m apart. Whiskers: 95 % intervals over ten batches."""
    return curves(measured(data), "hops", "goodput (kbit/s)")


@study.chart
def best(data: Data) -> Chart:
    """The best window limit and the best UDP rate."""
    rows = []
    for n in HOPS:
        limited, paced = data.limit.best(hops=n), data.udp.best(hops=n)
        rows.append((n, limited.values("window")[0], limited.goodput(), paced.values("rate")[0], paced.goodput()))
    return table(["hops", "limit (segments)", "NewReno (kbit/s)", "offered by UDP", "UDP (kbit/s)"], rows)


@study.chart
def retransmissions(data: Data) -> Chart:
    """Segments retransmitted, in per cent of those delivered: whether the pace is too fast."""
    columns: dict[str, Callable[[int], Sample]] = {
        label: partial(lambda name, n: _again(data.clocks.where(variant=name, hops=n)), name)
        for name, label in CLOCKS.items()
    }
    rows = [(n, *(of(n) for of in columns.values()), _again(data.limit.best(hops=n))) for n in HOPS]
    return table(["hops", *columns, "NewReno, best window limit"], rows)


@study.chart
def a_fifth_hop(data: Data) -> Chart:
    """TCP-AP with synchronised clocks that waits until the segment is five hops away, not four: the pace is slower."""
    names = ("ap", "ap-code")
    rows = [
        (n, *(data[sweep].goodput(variant=name, hops=n) for name in names for sweep in ("clocks", "fifth")))
        for n in FAR
    ]
    return table(["hops", *(f"{CLOCKS[name]}, {hops} hops" for name in names for hops in (4, 5))], rows)


@study.chart
def udp_over_rates(data: Data) -> Chart:
    """Goodput of UDP over the rate at which it is offered, one curve for each length."""
    points = {
        f"{n} hops": {rate: data.udp.goodput(hops=n, rate=f"{rate}kbps") for rate in _rates(data.profile, n)}
        for n in HOPS
    }
    return curves(points, "offered (kbit/s)", "goodput (kbit/s)")


def _rates(profile: Profile, hops: int) -> range:
    return RATES[profile].get(hops, RATES[profile][0])


def _again(cells: Cells) -> Sample:
    """Retransmitted segments in per cent of those delivered."""
    return cells.measure(lambda run: 100.0 * run.flows["flow-1"]["retransmitted_packets"] / STEADY["packets"], "%")


@study.chart
def limits(data: Data) -> Chart:
    """NewReno as a function of its window limit, one curve for each length."""
    windows = LIMITS[data.profile]
    points = {f"{n} hops": {w: data.limit.goodput(hops=n, window=w) for w in windows} for n in HOPS}
    return curves(points, "window limit (segments)", "goodput (kbit/s)")


def ratios(data: Data, over: str, under: str) -> dict[str, Estimate]:
    curves = measured(data)
    return {f"{n} hops": curves[over][n] / curves[under][n] for n in HOPS}


@study.cause(
    "the delay that clocks measure is that of data alone, and leaves no time for acknowledgements: with delayed "
    "ones, which take less time, TCP-AP is ahead of the best window limit"
)
def acknowledgements_take_time(data: Data) -> Claim:
    return above(peak(list(ratios(data, CLOCKS["ap-da"], "NewReno, best window limit").values())), 1.0)


@study.cause("without the time of acknowledgements the pace is too fast: over 14 hops at least 1 % is retransmitted")
def too_fast(data: Data) -> Claim:
    return above(_again(data.clocks.where(variant="ap", hops=14)), 1.0)


@study.cause("NewReno with the best limit retransmits less than one segment in a thousand, so there is little to gain")
def limit_loses_nothing(data: Data) -> Claim:
    return every(below({f"{n} hops": _again(data.limit.best(hops=n)) for n in HOPS}, 0.1))


@study.cause(
    "over 4 hops the wait of acknowledgements makes the round trips vary, and with them the pace: the authors' code, "
    "which takes the variation of delays, gains there"
)
def wait_varies(data: Data) -> Claim:
    return above(ratios(data, CLOCKS["ap-code-da"], CLOCKS["ap-code"])["4 hops"], 1.0)


@study.cause(
    "the best rate of UDP hardly falls with the length: over 16 hops it carries four fifths of that over 6 hops"
)
def udp_hardly_falls(data: Data) -> Claim:
    far, near = (data.udp.best(hops=n).goodput() for n in (16, 6))
    return above(far / near, 0.8)


@study.check_each(
    BOTH,
    "{} with synchronised clocks is up to 27 % above NewReno with the best window limit",
    paper="up to 27 %",
    assumed="17 to 37 %; partly: ahead at one length or more",
    because=["acknowledgements_take_time", "too_fast", "limit_loses_nothing"],
)
def ahead_of_limit(data: Data, name: str) -> Claim:
    best = peak(list(ratios(data, CLOCKS[name], "NewReno, best window limit").values()))
    return between(best, 1.17, 1.37).or_partly(above(best, 1.0))


@study.check_each(
    BOTH,
    "Delayed acknowledgements add 9 to 36 % to {} with synchronised clocks",
    paper="9 to 36 %",
    assumed="at every length; partly: any gain at three quarters of them",
    because=["too_fast", "wait_varies"],
)
def delaying_adds(data: Data, name: str) -> Claim:
    gains = ratios(data, CLOCKS[f"{name}-da"], CLOCKS[name])
    return every(between(gains, 1.09, 1.36)).or_partly(most(above(gains, 1.0)))


@study.check_each(
    BOTH,
    "{} with synchronised clocks and delayed acknowledgements comes within 5 to 16 % of the best UDP",
    paper="5 to 16 % less",
    assumed="at every length; partly: within 25 % at three quarters of them",
    why="a sender that leaves room for variation stays well below a rate that is known",
    because="udp_hardly_falls",
)
def near_bound(data: Data, name: str) -> Claim:
    left = ratios(data, CLOCKS[f"{name}-da"], "UDP, best rate")
    return every(between(left, 0.84, 0.95)).or_partly(most(above(left, 0.75)))


@study.check(
    "Nothing exceeds paced UDP",
    paper="UDP is the upper bound",
    assumed="1 % of tolerance for the choice of the best rate",
)
def bounded(data: Data) -> Claim:
    found = measured(data)
    bound = found.pop("UDP, best rate")
    part = {f"{label}, {n} hops": curve[n] / bound[n] for label, curve in found.items() for n in HOPS}
    return every(between(part, 0.0, 1.01))
