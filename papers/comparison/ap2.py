"""AP2 beside the transports of today, over networks that a program draws.

Each network is drawn by its class and number, and each runs once with every transport and the same seed. An interval is
over networks: what to expect of another one of the class. The networks on which AP2 was tuned have other numbers.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import OUR_OWN, Cells, Chart, Claim, Data, Estimate, Profile, Sample, Study, table
from fourhop.study.claims import above, below, between, every

from ._drawn import CLASSES, LAYOUTS, draw
from ._measures import geometric, goodput, one, over, round_trip
from ._worlds import KERNEL, MAC, TCP, N

FIRST, NETWORKS, SOME = 1_000, 30, 12
"""The networks of a class: first number, count, and how many of them also run with fixed windows and without parts.
Numbers below 100 were for tuning."""

RIVALS = {"cubic": "CUBIC", "bbr": "BBR", "vegas": "Vegas", "newreno": "NewReno", "tcp-ap": "TCP-AP"}
LABELS = {"ap2": "AP2", **RIVALS}
WINDOWS = (2, 4, 8, 16, 32, 64)
"""Fixed windows, in segments: those of a sender that knows the best one beforehand."""

HELP: Mapping[str, Any] = {"tcp.ack_policy": "dynamic-delayed", "tcp.delayed_ack_timeout": "5ms"}
"""A receiver that acknowledges every fourth segment, after 5 ms at the latest."""

PARTS = {
    "hops": "the target counts no hops",
    "gaps": "the target ignores the gaps between acknowledgements",
    "bursts": "segments leave one by one",
    "pacing": "nothing is spaced",
    "quick-fall": "the window falls halfway",
    "patience": "any loss takes an eighth of the window",
    "radios": "radios are not distinguished",
}
"""Label by the part that `tcp.ap2_without` removes."""

RADIOS_OF_TODAY = ("fading", "steady", "fixed")
LONGER = {kind: {"duration": "30s"} for kind in RADIOS_OF_TODAY}
"""Keys of a class: its runs last longer than `draw` says."""

WHERE = {"radios": ("old",)}
"""The classes on which a part is taken out; elsewhere those of 802.11n."""

BESIDE = {"old": "tcp-ap"}
"""Whose round trip counts as 1; elsewhere CUBIC's."""

study = Study(
    "AP2 beside the transports of today",
    source="our own",
    profiles=("standard",),
    quick={"duration": "250ms", "warmup": "200ms"},
    assumed=[
        f"{NETWORKS} networks of each class: chains, crosses, parallel chains, grids, random ones and gateways with "
        "downloads, five of each. Hops, flows, distance, channels (one or two), fades and wires are drawn.",
        "30 s, of which 4 s are not measured; 802.11b with AODV 50 s and 10 s. One run of each network.",
        f"Fixed windows, and AP2 without one of its parts: {SOME} of these networks.",
        "Short queues: ten runs of 30 s, of which 10 s are not measured.",
        "CUBIC uses RACK-TLP and HyStart++, as in kernels. The others use their defaults.",
        "Goodput is that of all flows of a network. Round trip is the smoothed one, read every 20 ms: the mean over "
        "the flows of each flow's 95th percentile. Ratios are per network, and means over networks are geometric.",
        "The statements are the aims that we had set before the runs.",
    ],
)


def numbers() -> range:
    """`--quick` draws one network of each layout."""
    return range(FIRST, FIRST + (len(LAYOUTS) if study.quickly else NETWORKS))


def drawn(kind: str, numbers: Iterable[int], each: Mapping[str, Mapping[str, Any]]) -> Sweep:
    """Each of several ways to send, on networks of these numbers."""
    made = {
        f"{n}/{name}": draw(kind, n).with_(sample_every="20ms", **LONGER.get(kind, {}), **keys)
        for n in numbers
        for name, keys in each.items()
    }
    return Sweep(variants=made, runs=1, seed=FIRST)


@study.sweep_each({kind: kind for kind in CLASSES})
def networks(_: Profile, kind: str) -> Sweep:
    return drawn(kind, numbers(), {name: {"transport": name, **(KERNEL if name == "cubic" else {})} for name in LABELS})


@study.sweep_each({f"{kind}_windows": kind for kind in CLASSES})
def windows(_: Profile, kind: str) -> Sweep:
    """CUBIC with a fixed window, on some of the networks."""
    return drawn(kind, some(), {str(n): {"transport": "cubic", **KERNEL, "tcp.window": n} for n in WINDOWS})


@study.sweep_each({f"{kind}_helped": kind for kind in CLASSES})
def helped(_: Profile, kind: str) -> Sweep:
    """Receivers that acknowledge less often."""
    ways = {"ap2": {"transport": "ap2"}, "cubic": {"transport": "cubic", **KERNEL}}
    return drawn(kind, numbers(), {name: {**keys, **HELP} for name, keys in ways.items()})


@study.sweep_each({f"{kind}_parts": kind for kind in CLASSES})
def parts(_: Profile, kind: str) -> Sweep:
    taken = [part for part in PARTS if kind in WHERE.get(part, RADIOS_OF_TODAY)]
    return drawn(kind, some(), {part: {"transport": "ap2", "tcp.ap2_without": part} for part in taken})


def wire(delay: str) -> Mapping[str, Any]:
    """Two hosts on a wire with this delay in each direction."""
    return {
        "topology": {"kind": "chain", "hops": 1},
        "wired": {"gateways": [0], "nodes": ["a", "b"], "rate": "10Mbps", "delay": delay, "queue": 200},
        "wires": [{"ends": ["a", "b"]}, {"ends": ["a", "gateway-1"]}],
    }


def hop(link: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"radio": N, "mac": MAC, "link": link, "topology": {"kind": "chain", "hops": 1, "spacing": "55m"}}


SHARED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "hop": ("over an 802.11n hop with FQ-CoDel", hop({"queue": "fq-codel"})),
    "queue": ("over an 802.11n hop with one queue of 200 packets", hop({"queue_limit": 200})),
    "wire": ("on a wire of 10 Mbit/s and 40 ms with one queue of 200 packets", wire("20ms")),
    "far": ("on a wire of 10 Mbit/s and 100 ms with one queue of 200 packets", wire("50ms")),
}
"""Where AP2 meets another transport: a label, and sections."""

ORDER = {"": (5_000, 50), "_first": (50, 5_000)}
"""Starts of AP2 and of the other, in ms."""

MEETINGS = {
    f"{place}_{name}{order}": (
        f"{'another AP2' if name == 'ap2' else LABELS[name]} that starts {'later' if order else 'first'}, {label}"
    )
    for place, (label, _) in SHARED.items()
    for name in ("cubic", "bbr", "ap2")
    for order in ORDER
    if (name, order) != ("ap2", "_first")
}
"""Two AP2 flows meet only once: whichever starts first, the other one starts later."""


def meeting(each: str, keys: Mapping[str, Any]) -> Scenario:
    place, name, *first = each.split("_")
    unit = "us" if study.quickly else "ms"
    ends = ("a", "b") if place in ("wire", "far") else ("first", "last")
    flows = [
        {"from": ends[0], "to": ends[1], "transport": transport, "start": f"{start}{unit}"}
        for transport, start in zip(("ap2", name), ORDER["_first" if first else ""], strict=True)
    ]
    document = {"profile": "standard", "tcp": {**TCP, **keys}, "duration": "60s", "warmup": "20s", "flows": flows}
    return Scenario.from_dict({**document, **SHARED[place][1]})


@study.sweep
def meetings(_: Profile) -> Sweep:
    return Sweep(variants={each: meeting(each, {}) for each in MEETINGS}, runs=3)


SHORT = {"25": "25 packets", "50": "50 packets"}
"""Queues that overflow before they are as long as AP2's target: number of packets, and a label."""

SHORT_WAYS: Mapping[str, Mapping[str, Any]] = {
    "ap2": {"transport": "ap2"},
    "room": {"transport": "ap2", "tcp.ap2_without": "room"},
    "cubic": {"transport": "cubic", **KERNEL},
}


@study.sweep
def short_queues(_: Profile) -> Sweep:
    """One flow over a hop of 39 Mbit/s."""
    sections = {"profile": "standard", "tcp": TCP, "duration": "30s", "warmup": "10s", "mac": MAC}
    flow = Scenario.chain(1, spacing="30m", radio={**N, "mcs": 4}, routing={"protocol": "static"}, **sections)
    flow = flow.with_(**{"traffic.start": "50ms"})
    made = {
        f"{packets}/{name}": flow.with_(**{"link.queue_limit": int(packets), **keys})
        for packets in SHORT
        for name, keys in SHORT_WAYS.items()
    }
    return Sweep(variants=made, runs=10)


BESIDE_CUBIC = {each: label for each, label in MEETINGS.items() if "_cubic" in each and "hop" not in each}
"""Where CUBIC fills the queue."""


@study.sweep
def ways_given(_: Profile) -> Sweep:
    made = {each: meeting(each, {"ap2_without": "rivalry"}) for each in BESIDE_CUBIC}
    return Sweep(variants=made, runs=3)


def some() -> range:
    return numbers()[:SOME]


def at(data: Data, kind: str, n: int, name: str, more: str = "") -> Cells:
    sweep: Cells = getattr(data, f"{kind}{more}")
    return sweep.where(variant=f"{n}/{name}")


def share_sent_again(cells: Cells, run: int = 0) -> float:
    sent = [(flow["retransmitted_packets"], flow["sent_packets"]) for flow in cells.runs[run].flows.values()]
    return sum(again for again, _ in sent) / max(1, sum(all_ for _, all_ in sent))


def of_best(data: Data, kind: str, name: str) -> list[float]:
    """Goodput as a share of the rival that carries most, network by network."""
    best = {n: max(goodput(at(data, kind, n, rival)) for rival in RIVALS) for n in numbers()}
    return [over(goodput(at(data, kind, n, name)), best[n]) for n in numbers()]


def trips(data: Data, kind: str, name: str) -> list[float]:
    """Round trip relative to CUBIC's or TCP-AP's, network by network."""
    other = BESIDE.get(kind, "cubic")
    return [over(round_trip(at(data, kind, n, name)), round_trip(at(data, kind, n, other))) for n in numbers()]


@study.chart_each(
    {f"of_{kind}": (kind, f"{label}: the means, and the worst network.") for kind, label in CLASSES.items()}
)
def results(data: Data, kind: str) -> Chart:
    rows = []
    for name, label in LABELS.items():
        carried, waited = of_best(data, kind, name), trips(data, kind, name)
        again = [share_sent_again(at(data, kind, n, name)) for n in numbers()]
        fair = [at(data, kind, n, name).fairness().mean for n in numbers()]
        jain = math.fsum(fair) / len(fair)
        rows.append(
            (label, geometric(carried), f"{min(carried):.2f}", geometric(waited), f"{max(waited):.2f}", f"{jain:.3f}",
             f"{100 * math.fsum(again) / len(again):.2f} %")
        )  # fmt: skip
    beside = LABELS[BESIDE.get(kind, "cubic")]
    columns = ["transport", "goodput / best of five", "lowest", f"p95 round trip / {beside}'s", "highest"]
    return table([*columns, "Jain's index", "retransmitted"], rows)


AIMS: Mapping[str, tuple[float, float, float, float]] = {
    "fading": (0.95, 0.60, 0.88, 1.0),
    "steady": (0.95, 0.45, 0.90, 1.0),
    "fixed": (0.97, 0.40, 0.92, 1.0),
    "old": (1.04, 1.25, 0.98, 1.6),
}
"""By class: minimum goodput / best of five, maximum round trip / CUBIC's or TCP-AP's; both for the worst network."""


@study.check_each(CLASSES, "AP2's goodput meets the aim: {}", paper=OUR_OWN, main=True)
def carries(data: Data, kind: str) -> Claim:
    found = geometric(of_best(data, kind, "ap2"))
    return above(found, AIMS[kind][0]).or_partly(above(found, AIMS[kind][0] - 0.05))


@study.check_each(CLASSES, "AP2's round trip meets the aim: {}", paper=OUR_OWN, main=True)
def waits(data: Data, kind: str) -> Claim:
    found = geometric(trips(data, kind, "ap2"))
    return below(found, AIMS[kind][1]).or_partly(below(found, AIMS[kind][1] + 0.15))


@study.check_each(CLASSES, "Even the worst networks meet the aim: {}", paper=OUR_OWN)
def worst(data: Data, kind: str) -> Claim:
    _, _, least, most = AIMS[kind]
    names = [f"network {n - FIRST + 1}" for n in numbers()]
    carried = dict(zip(names, of_best(data, kind, "ap2"), strict=True))
    waited = dict(zip(names, trips(data, kind, "ap2"), strict=True))
    low, high = min(carried, key=carried.__getitem__), max(waited, key=waited.__getitem__)
    return every({f"goodput, {low}": above(one(carried[low]), least), f"p95, {high}": below(one(waited[high]), most)})


def beside_hull(data: Data, kind: str) -> list[float]:
    """Goodput relative to that of the best fixed window with no longer round trip, network by network."""
    found = []
    for n in some():
        ours = at(data, kind, n, "ap2")
        fixed = [at(data, kind, n, f"{size}", "_windows") for size in WINDOWS]
        points = [(0.0, 0.0), *sorted((round_trip(each), goodput(each)) for each in fixed)]
        found.append(over(goodput(ours), hull_at(round_trip(ours), points)))
    return found


def hull_at(trip: float, points: Sequence[tuple[float, float]]) -> float:
    """Height at `trip` of the upper concave hull of `points`, which begin at the origin."""
    best = max(height for _, height in points)
    between = [
        low[1] + (high[1] - low[1]) * (trip - low[0]) / (high[0] - low[0])
        for low in points
        for high in points
        if low[0] <= trip < high[0]
    ]
    return max([*between, *(height for at_, height in points if at_ <= trip)]) if between else best


@study.check_each(
    CLASSES, "AP2 carries at most 3 % less than a mix of fixed windows with its round trip: {}", paper=OUR_OWN
)
def hull(data: Data, kind: str) -> Claim:
    found = geometric(beside_hull(data, kind))
    return above(found, 0.97).or_partly(above(found, 0.90))


@study.check_each(CLASSES, "AP2 retransmits at most half as much as CUBIC: {}", paper=OUR_OWN)
def sends_again(data: Data, kind: str) -> Claim:
    return below(again(data, kind, "ap2") / again(data, kind, "cubic"), 0.5)


def again(data: Data, kind: str, name: str) -> Sample:
    return Sample(tuple(share_sent_again(at(data, kind, n, name)) for n in numbers()), tuple(numbers()))


@study.check_each(CLASSES, "AP2's Jain index exceeds CUBIC's by at least 0.03: {}", paper=OUR_OWN)
def shares(data: Data, kind: str) -> Claim:
    several = [n for n in numbers() if len(at(data, kind, n, "ap2").flows) > 1]
    ours, theirs = (
        Sample(tuple(at(data, kind, n, name).fairness().mean for n in several), tuple(several))
        for name in ("ap2", "cubic")
    )
    return above(ours - theirs, 0.03).or_partly(above(ours - theirs, 0.0))


def with_help(data: Data, kind: str, name: str, of: Callable[[Cells], float]) -> Estimate:
    """With fewer acknowledgements, relative to an acknowledgement for each segment."""
    pairs = [(at(data, kind, n, name, "_helped"), at(data, kind, n, name)) for n in numbers()]
    return geometric([over(of(fewer), of(every_one)) for fewer, every_one in pairs])


@study.check_each(CLASSES, "AP2 carries more if receivers acknowledge every fourth segment: {}", paper=OUR_OWN)
def helps_carry(data: Data, kind: str) -> Claim:
    return above(with_help(data, kind, "ap2", goodput), 1.0)


@study.check_each(
    CLASSES, "AP2's round trip is shorter if receivers acknowledge every fourth segment: {}", paper=OUR_OWN
)
def helps_wait(data: Data, kind: str) -> Claim:
    return below(with_help(data, kind, "ap2", round_trip), 1.0)


@study.check_each(CLASSES, "CUBIC carries more if receivers acknowledge every fourth segment: {}", paper=OUR_OWN)
def helps_cubic(data: Data, kind: str) -> Claim:
    return above(with_help(data, kind, "cubic", goodput), 1.0)


def less(data: Data, part: str, of: Callable[[Cells], float]) -> Estimate:
    """AP2 without one of its parts, relative to complete AP2."""
    pairs = [
        (at(data, kind, n, part, "_parts"), at(data, kind, n, "ap2"))
        for kind in WHERE.get(part, RADIOS_OF_TODAY)
        for n in some()
    ]
    return geometric([over(of(without), of(whole)) for without, whole in pairs])


@study.chart
def taken_out(data: Data) -> Chart:
    """AP2 without one of its parts, relative to complete AP2: means over the networks."""
    rows = [(label, less(data, part, goodput), less(data, part, round_trip)) for part, label in PARTS.items()]
    return table(["what is different", "goodput", "p95 round trip"], rows)


@study.check_each(PARTS, "AP2 carries less if {}", paper=OUR_OWN)
def part_carries(data: Data, part: str) -> Claim:
    return below(less(data, part, goodput), 1.0)


@study.check_each(PARTS, "Packets wait longer if {}", paper=OUR_OWN)
def part_waits(data: Data, part: str) -> Claim:
    return above(less(data, part, round_trip), 1.0)


@study.check_each(MEETINGS, "Both get at least a third of an even share: AP2 and {}", paper=OUR_OWN)
def meets(data: Data, each: str) -> Claim:
    return between(data.meetings.share("flow-1", variant=each), 1 / 6, 5 / 6)


@study.check_each(
    BESIDE_CUBIC, "If AP2 yielded to every flow that fills a queue, it would get less beside {}", paper=OUR_OWN
)
def gives_way(data: Data, each: str) -> Claim:
    return below(data.ways_given.share("flow-1", variant=each), 1 / 6)


def more_again(data: Data, packets: str, one: str, other: str) -> Estimate:
    """Percentage points by which the share of retransmitted segments of `one` exceeds that of `other`."""
    each = []
    for name in (one, other):
        cells = data.short_queues.where(variant=f"{packets}/{name}")
        runs = range(len(cells.runs))
        each.append(Sample(tuple(100 * share_sent_again(cells, run) for run in runs), tuple(runs)))
    return each[0] - each[1]


@study.check_each(
    SHORT, "AP2 retransmits at most half a percentage point more than CUBIC over a queue of {}", paper=OUR_OWN
)
def fits(data: Data, packets: str) -> Claim:
    return below(more_again(data, packets, "ap2", "cubic"), 0.5)


@study.check_each(SHORT, "AP2 retransmits more over a queue of {} if its target does not fit the queue", paper=OUR_OWN)
def needs_room(data: Data, packets: str) -> Claim:
    return above(more_again(data, packets, "room", "ap2"), 0.0)


def beside_bbr(data: Data, kind: str, of: Callable[[Cells], float]) -> Estimate:
    return geometric([over(of(at(data, kind, n, "ap2")), of(at(data, kind, n, "bbr"))) for n in numbers()])


@study.check_each(CLASSES, "AP2 carries at least 95 % of what BBR carries: {}", paper=OUR_OWN)
def bbr_carries(data: Data, kind: str) -> Claim:
    return above(beside_bbr(data, kind, goodput), 0.95)


@study.check_each(CLASSES, "AP2 has a shorter round trip than BBR: {}", paper=OUR_OWN)
def bbr_waits(data: Data, kind: str) -> Claim:
    return below(beside_bbr(data, kind, round_trip), 1.0)
