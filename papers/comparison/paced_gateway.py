"""The reasons why pacing at the gateway costs more than half of the speed on the network of docs/mesh.md.

44 nodes in the form that community networks publish, twelve downloads, 802.11g with AARF and signals that fade. Each
variant changes one thing about the pacing gateway or its network. The remaining loss
shows which part of adaptive pacing causes it.
"""

from pathlib import Path
from typing import Any

from fourhop import Scenario, Sweep, community
from fourhop.study import OUR_OWN, Chart, Claim, Data, Estimate, Profile, Sample, Study, run_by_run, table
from fourhop.study.claims import above, below, every

EXAMPLE = Path(__file__).resolve().parents[2] / "scenarios" / "community" / "meshviewer.json"
RUNS = 16

TODAY: dict[str, Any] = {"gateway.kind": "fq-codel"}
PACED: dict[str, Any] = {"gateway.kind": "gap", "gateway.sojourn": "50ms"}
STEADY: dict[str, Any] = {"tcp_ap.history": 1}
"""The variation of a single round trip is zero: the interval is just the n-hop delay."""
AT_ONCE: dict[str, Any] = {"tcp.ack_policy": "every-segment"}
SLOW: dict[str, Any] = {"mac.rate_control": "fixed", "radio.rate": "6Mbps"}
"""All links have one rate, so the rate that the gateway assumes is the actual one."""

GATEWAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "today": ("FQ-CoDel", TODAY),
    "paced": ("paced", PACED),
    "steady": ("paced without variation", {**PACED, **STEADY}),
    "at-once": ("paced, every segment acknowledged", {**PACED, **AT_ONCE}),
    "low-rate": ("paced, assuming links of 6 Mbit/s", {**PACED, "tcp_ap.link_rate": "6Mbps"}),
    "one-hop": ("paced one hop apart", {**PACED, "tcp_ap.factor": 1}),
    "fq-link": ("paced, FQ-CoDel at each radio", {**PACED, "link.queue": "fq-codel"}),
    "slow-today": ("6 Mbit/s, FQ-CoDel", {**TODAY, **SLOW}),
    "slow-paced": ("6 Mbit/s, paced", {**PACED, **SLOW}),
}
"""Kinds of gateway: label and keys."""

RADIO = ("model", "phy", "rate", "basic_rate", "frequency", "fading", "rician_k", "doppler")
MAC = ("rate_control", "answer_rate", "rts_threshold", "short_retry_limit")
NEAREST = [
    {"from": 0, "to": 1, "delivery": "97.7%", "both_ways": False},
    {"from": 1, "to": 0, "delivery": "94.9%", "both_ways": False},
]
"""The part of that network that a lone download keeps: its radios, and the link from the gateway to the first node."""

ALONE: dict[str, dict[str, Any]] = {
    "today": TODAY,
    "paced": PACED,
    "steady": {**PACED, **STEADY},
    "at-once": {**PACED, **AT_ONCE},
    "both": {**PACED, **STEADY, **AT_ONCE},
}
"""The same for one download over one hop, with no other traffic."""

study = Study(
    "Why pacing at the gateway costs goodput",
    source="our own; the network of docs/mesh.md",
    profiles=("standard",),
    quick={"duration": "3s", "warmup": "2500ms"},
    assumed=[
        "scenarios/community/meshviewer.json as `fourhop import` reads it, CUBIC at all senders, 40 s, of which 10 s "
        f"are not measured, {RUNS} runs.",
        "Without variation the gateway looks at one round trip at a time (`tcp_ap.history = 1`).",
        "The checks were written after a look at three seeds: they identify the cause, and do not test an expectation.",
    ],
)


def mesh(**keys: Any) -> Scenario:
    """The network of docs/mesh.md."""
    made = community.to_scenario(community.read([EXAMPLE]), community.Options(name="mesh"), EXAMPLE.name)
    return made.scenario.with_(transport="cubic", **keys)


@study.sweep
def gateways(_: Profile) -> Sweep:
    base = mesh()
    return Sweep(variants={name: base.with_(**keys) for name, (_, keys) in GATEWAYS.items()}, runs=RUNS)


@study.sweep
def alone(_: Profile) -> Sweep:
    resolved = mesh().resolved
    taken = {"radio": RADIO, "mac": MAC}
    sections = {name: {key: resolved[name][key] for key in keys} for name, keys in taken.items()}
    chain = Scenario.chain(1, losses=NEAREST, profile="standard", duration="40s", warmup="10s", **sections)
    base = chain.wired(["first"], ["internet"], rate="50Mbps", delay="15ms").flow("internet", 1, transport="cubic")
    return Sweep(variants={name: base.with_(**keys) for name, keys in ALONE.items()}, runs=RUNS)


def beside(data: Data, name: str, other: str = "today") -> Estimate:
    return data.gateways.goodput(variant=name) / data.gateways.goodput(variant=other)


def third(data: Data, name: str, place: int) -> Sample:
    """Goodput of a third of the nodes in order of their hops, in kbit/s."""
    cells = data.gateways.where(variant=name)
    hops = {flow: row["hops"] for flow, row in cells.runs[0].flows.items()}
    size = len(hops) // 3
    chosen = sorted(hops, key=lambda flow: hops[flow])[place * size : (place + 1) * size]
    return run_by_run(lambda *each: sum(each), *(cells.goodput(flow) for flow in chosen), unit="kbit/s")


@study.chart
def speeds(data: Data) -> Chart:
    """All downloads together, and the thirds of the nodes by their hops to the gateway."""
    rows = [
        (label, data.gateways.goodput(variant=name), *(third(data, name, place) for place in range(3)))
        for name, (label, _) in GATEWAYS.items()
    ]
    return table(["gateway", "all", "nearest third", "middle third", "farthest third"], rows)


@study.chart
def one_download(data: Data) -> Chart:
    """One download over the link from the gateway to the first node, with no other traffic."""
    labels = {**{name: label for name, (label, _) in GATEWAYS.items()}, "both": "paced with neither"}
    return table(["gateway", "goodput"], [(labels[name], data.alone.goodput(variant=name)) for name in ALONE])


@study.check("Pacing at the gateway costs all downloads together at least a third", paper=OUR_OWN, main=True)
def costs(data: Data) -> Claim:
    return below(beside(data, "paced"), 0.67)


@study.check("Without the variation of round trips, pacing costs nothing", paper=OUR_OWN, main=True)
def variation(data: Data) -> Claim:
    return above(beside(data, "steady"), 1.0)


@study.check("Without the variation, near nodes keep what they had, and the others get less", paper=OUR_OWN)
def who_gains(data: Data) -> Claim:
    near, middle, far = (third(data, "steady", place) / third(data, "today", place) for place in range(3))
    return every({"near": above(near, 1.0), "middle": below(middle, 1.0), "far": below(far, 1.0)})


@study.check(
    "Different link rates are not the cause: if all links have the same rate, pacing costs as much", paper=OUR_OWN
)
def one_rate(data: Data) -> Claim:
    return below(beside(data, "slow-paced", "slow-today"), 0.67)


@study.check(
    "Links slower than the gateway assumes are not the cause: if it assumes slow ones, pacing costs more", paper=OUR_OWN
)
def lower_rate(data: Data) -> Claim:
    return below(beside(data, "low-rate", "paced"), 1.0)


@study.check(
    "The distance of four hops is not the cause: one hop apart, pacing costs more than without variation", paper=OUR_OWN
)
def distance(data: Data) -> Claim:
    return below(beside(data, "one-hop", "steady"), 0.67)


@study.check("Delayed acknowledgements are part of the cause", paper=OUR_OWN)
def waiting(data: Data) -> Claim:
    return above(beside(data, "at-once", "paced"), 1.1)


@study.check("The position of FQ-CoDel is not the cause: with one at each radio, pacing costs as much", paper=OUR_OWN)
def radio_queue(data: Data) -> Claim:
    return below(beside(data, "fq-link"), 0.67)


def lone(data: Data, name: str) -> Estimate:
    return data.alone.goodput(variant=name) / data.alone.goodput(variant="today")


@study.check("No other flow is needed: a lone download over one hop loses at least half", paper=OUR_OWN)
def by_itself(data: Data) -> Claim:
    return below(lone(data, "paced"), 0.5)


@study.check("The lone download, too, loses little without variation", paper=OUR_OWN)
def by_itself_steady(data: Data) -> Claim:
    return above(lone(data, "steady"), 0.8)


@study.check("The lone download loses less if every segment is acknowledged at once", paper=OUR_OWN)
def by_itself_at_once(data: Data) -> Claim:
    return above(data.alone.goodput(variant="at-once") / data.alone.goodput(variant="paced"), 1.2)
