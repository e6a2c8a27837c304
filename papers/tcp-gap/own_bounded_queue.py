"""Our own study: a pacing queue that stays short. Not from the paper.

The paper's gateway queues as much as the receiver's window allows: on a slow path, seconds of data. With
`gateway.sojourn` the gateway reduces advertised windows to the data that leaves its queue in a wired round trip plus
the longest wait of a packet. FQ-CoDel drops instead, before the radio's own queue.
"""

import math

import polars as pl

from fourhop import Scenario, Sweep
from fourhop.study import OUR_OWN, Cells, Chart, Claim, Data, Estimate, Profile, Sample, Study, table_by
from fourhop.study.claims import above, below, every

from ._common import ASSUMED, PAPER, chain, cross, parallel, variant

RUNS = 10
END_S, FROM_S = 120.0, 20.0
SAMPLED = {"duration": f"{END_S:g}s", "warmup": f"{FROM_S:g}s", "sample_every": "100ms"}
"""The first seconds, in which windows open, are left out."""

TARGETS = ("50ms", "100ms", "200ms")
SHORT = TARGETS[0]
NETWORKS = {
    "chain": "one flow down, 5 hops",
    "autotuned": "one flow down, 5 hops, window of 4 MB",
    "down": "parallel chains, both down",
    "mixed": "parallel chains, one each way",
    "cross": "cross, two each way",
    "slow": "cross at 2 Mbit/s, two each way",
}
LABELS = {
    "newreno": "NewReno, plain gateway",
    "fq-codel": "NewReno, FQ-CoDel",
    "gap-gc": "TCP-GAP, the paper's queue",
    **{target: f"TCP-GAP, sojourn {target}" for target in TARGETS},
}
ALTERNATING = ("up", "down", "up", "down")

study = Study(
    "A pacing queue that stays short",
    source=f"our own study in networks of {PAPER}",
    assumed=[
        *ASSUMED,
        f"{RUNS} runs of {END_S:g} s, measured from {FROM_S:g} s on. Delay is the smoothed round trip of the senders, "
        "sampled each 100 ms: it includes what waits at the gateway. The 99th percentile is that of all samples of all "
        "flows of a run.",
        "Receivers have a buffer of 64 segments; in one network windows are 4 MB, like those of receivers that "
        "adjust them.",
    ],
)


def _network(name: str, profile: Profile) -> Scenario:
    buffer = {"receive_buffer": f"{64 * 1_460}B"}
    match name:
        case "chain":
            return chain(profile, 5, "down", tcp=buffer, **SAMPLED)
        case "autotuned":
            return chain(profile, 5, "down", tcp={"window": 2_800, "receive_buffer": "4MB"}, **SAMPLED)
        case "down":
            return parallel(profile, ("down", "down"), tcp=buffer, **SAMPLED)
        case "mixed":
            return parallel(profile, ("down", "up"), tcp=buffer, **SAMPLED)
        case "cross":
            return cross(profile, ALTERNATING, tcp=buffer, **SAMPLED)
        case _:
            return cross(profile, ALTERNATING, tcp=buffer, radio={"rate": "2Mbps"}, **SAMPLED)


def _of(base: Scenario, name: str) -> Scenario:
    if name in TARGETS:
        return variant(base, "gap-gc").with_(**{"gateway.sojourn": name})
    if name == "fq-codel":
        return variant(base, "newreno").with_(**{"gateway.kind": "fq-codel"})
    return variant(base, name)


@study.sweep
def gateways(profile: Profile) -> Sweep:
    networks = {network: _network(network, profile) for network in NETWORKS}
    return Sweep(
        variants={f"{network}/{name}": _of(base, name) for network, base in networks.items() for name in LABELS},
        runs=RUNS,
    )


def cell(data: Data, network: str, name: str) -> Cells:
    return data.gateways.where(variant=f"{network}/{name}")


def _round_trip(cells: Cells, quantile: float) -> Sample:
    rows = cells.series().filter(pl.col("time_s") > FROM_S)
    found = dict(rows.group_by("seed", maintain_order=True).agg(1e3 * pl.col("srtt_s").quantile(quantile)).iter_rows())
    return cells.measure(lambda run: found.get(run.seed) or math.nan, "ms")


def slowest(cells: Cells) -> Sample:
    """99th percentile of the round trips of all flows, in ms."""
    return _round_trip(cells, 0.99)


def usual(cells: Cells) -> Sample:
    """Median of the round trips of all flows, in ms."""
    return _round_trip(cells, 0.5)


@study.chart_each(
    {network: (network, f"{shown.capitalize()}. Intervals over the runs.") for network, shown in NETWORKS.items()}
)
def rules(data: Data, network: str) -> Chart:
    columns = {"goodput": "goodput", "Jain's index": "fairness", "median round trip": usual, "99th percentile": slowest}
    return table_by(
        data.gateways, "variant", columns, {f"{network}/{n}": label for n, label in LABELS.items()}, heading="gateway"
    )


def beside(data: Data, name: str, of: str) -> dict[str, Estimate]:
    """Goodput with a queue of 50 ms over that of another variant, by network."""
    return {text: cell(data, n, name).goodput() / cell(data, n, of).goodput() for n, text in NETWORKS.items()}


@study.check(
    "A queue of 50 ms costs no goodput",
    main=True,
    paper=OUR_OWN,
    assumed="at most 2 % on each network, beside the paper's queue",
)
def same_goodput(data: Data) -> Claim:
    return every(above(beside(data, SHORT, "gap-gc"), 0.98))


@study.check(
    "A queue of 50 ms is as fair as the paper's queue",
    paper=OUR_OWN,
    assumed="an index at most 0.02 smaller on each network with several flows",
)
def as_fair(data: Data) -> Claim:
    several = {n: text for n, text in NETWORKS.items() if n not in ("chain", "autotuned")}
    change = {t: cell(data, n, SHORT).fairness() - cell(data, n, "gap-gc").fairness() for n, t in several.items()}
    return every(above(change, -0.02))


@study.check(
    "With a queue of 50 ms round trips are shorter than NewReno's",
    main=True,
    paper=OUR_OWN,
    assumed="the 99th percentile on each network",
)
def shorter(data: Data) -> Claim:
    return every(
        below({t: slowest(cell(data, n, SHORT)) / slowest(cell(data, n, "newreno")) for n, t in NETWORKS.items()}, 1.0)
    )


@study.check(
    "With the paper's queue round trips are longer than NewReno's",
    paper=OUR_OWN,
    assumed="the 99th percentile on each network",
)
def paper_longer(data: Data) -> Claim:
    return every(
        above(
            {t: slowest(cell(data, n, "gap-gc")) / slowest(cell(data, n, "newreno")) for n, t in NETWORKS.items()}, 1.0
        )
    )


@study.check(
    "A window of 4 MB changes nothing",
    paper=OUR_OWN,
    assumed="with a queue of 50 ms, round trips within 10 % of those with a window of 64 segments, 99th percentile",
)
def large_windows(data: Data) -> Claim:
    large, usual_ = (slowest(cell(data, network, SHORT)) for network in ("autotuned", "chain"))
    return every({"longer": below(large / usual_, 1.1), "shorter": above(large / usual_, 0.9)})
