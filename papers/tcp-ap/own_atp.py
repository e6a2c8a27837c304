"""ATP beside adaptive pacing: a transport that is not TCP, whose rate the nodes of the path report.

TCP-AP's paper names ATP (Sundaresan et al., MobiHoc 2003) as a protocol of another kind: it needs the help of every
node on the path, which TCP-AP does not. Neither paper measures it beside the other. This study does.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Run,
    Sample,
    Study,
    above,
    below,
    curves,
    every,
    fair,
    most,
    ratio,
    table,
)

from ._common import LABELS, PAPER, SHORTER, chain, compared, cross, parallel

ATP = "atp"
SLOWER = "atp-slower"
ATPS = {ATP: "ATP", SLOWER: "ATP, slower rise"}
NAMES = {"newreno": LABELS["newreno"], "ap": LABELS["ap"], **ATPS}
CODE = "ap-code"
HOPS = (1, 2, 3, 4, 7, 10)
LONG = (4, 7, 10)
FLOWS = {"cross": "cross", "parallel": "parallel chains"}
SLOWER_RISE: Mapping[str, Any] = {"atp.increase_by": "5%"}
AGES = {"tcp.delivery_ages": True}
REPEATED: Mapping[str, Any] = {"duration": "200s", "warmup": "20s"}

OURS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "rises by 5 % of the difference": SLOWER_RISE,
    "rises by half the difference": {"atp.increase_by": "50%"},
    "rises only if twice is offered": {"atp.increase_over": "100%"},
    "averages of the newest delay alone": {"atp.smoothing": "0%"},
    "averages with 95 % of the old": {"atp.smoothing": "95%"},
    "an idle node tells its own transmission": {"atp.idle_factor": 1},
    "epochs of 0.5 s": {"atp.epoch": "500ms"},
}
"""The values that descriptions of ATP leave open, each changed alone; the epoch is theirs."""

study = Study(
    "ATP",
    source=f"{PAPER}, section 2, of Sundaresan, Anantharaman, Hsieh and Sivakumar, MobiHoc 2003",
    assumed=[
        "ATP's paper was not at hand: mechanisms follow descriptions by others, and several values are ours "
        "(docs/atp.md). One chart shows others. The most important one, the share of the difference by which the "
        "rate rises, is a fifth; ATP with slower rise has a twentieth.",
        "The age of a byte counts from when it became the next to be sent until it is delivered in order.",
        "22,000 packets on each network, and five runs where there are two flows; ages over chains and other values of "
        "ATP in five runs of 200 s each.",
    ],
)


def with_atp(base: Scenario) -> dict[str, Scenario]:
    """NewReno, TCP-AP and ATP with both kinds of increase on the same network."""
    aged = base.with_(**AGES)
    atp = aged.with_(**{"traffic.transport": ATP})
    return {**compared(aged, "newreno", "ap"), ATP: atp, SLOWER: atp.with_(**SLOWER_RISE)}


@study.sweep
def chains(profile: Profile) -> Sweep:
    base = chain(profile, **SHORTER)
    return Sweep(variants={**with_atp(base), **compared(base, CODE)}, over={"topology.hops": HOPS})


@study.sweep
def flows(profile: Profile) -> Sweep:
    networks = {"cross": cross(profile, **SHORTER), "parallel": parallel(profile, **SHORTER)}
    made = {
        f"{name}, {network}": scenario
        for network, base in networks.items()
        for name, scenario in with_atp(base).items()
    }
    return Sweep(variants=made, runs=5)


@study.sweep
def aged(profile: Profile) -> Sweep:
    return Sweep(variants=with_atp(chain(profile, **REPEATED)), over={"topology.hops": HOPS}, runs=5)


@study.sweep
def ours(profile: Profile) -> Sweep:
    base = with_atp(chain(profile, **REPEATED))[ATP]
    made = {name: base.with_(**keys) for name, keys in OURS.items()}
    return Sweep(variants=made, over={"topology.hops": LONG[:2]}, runs=5)


def age(run: Run) -> float:
    """Mean age of a byte at delivery over the flows, in ms."""
    ages = [flow["age_mean_s"] for flow in run.flows.values() if flow["age_mean_s"] is not None]
    return 1e3 * sum(ages) / len(ages) if ages else float("nan")


def again(run: Run) -> float:
    """Share of packets that were retransmissions, in per cent."""
    sent = sum(flow["sent_packets"] for flow in run.flows.values())
    return 100 * sum(flow["retransmitted_packets"] for flow in run.flows.values()) / max(sent, 1)


def in_ms(cells: Cells) -> Sample:
    return cells.measure(age, "ms")


@study.chart
def goodput(data: Data) -> Chart:
    """One flow over chains. Whiskers: 95 % intervals over ten batches."""
    shown = {**NAMES, CODE: LABELS[CODE]}
    points = {label: {n: data.chains.goodput(variant=name, hops=n) for n in HOPS} for name, label in shown.items()}
    return curves(points, "hops", "goodput (kbit/s)")


@study.chart
def ages(data: Data) -> Chart:
    """Mean age of a byte at its delivery. Whiskers: 95 % intervals over the runs."""
    points = {label: {n: in_ms(data.aged.where(variant=name, hops=n)) for n in HOPS} for name, label in NAMES.items()}
    return curves(points, "hops", "age at delivery (ms)")


@study.chart
def two_flows(data: Data) -> Chart:
    """Two flows: goodput of both together, Jain's index, mean age at delivery, retransmissions; intervals over runs."""
    rows = []
    for key, network in FLOWS.items():
        for name, label in NAMES.items():
            cells = data.flows.where(variant=f"{name}, {key}")
            rows.append((network, label, cells.goodput(), cells.fairness(), in_ms(cells), cells.measure(again, "%")))
    return table(["network", "transport", "goodput (kbit/s)", "Jain's index", "age (ms)", "retransmitted (%)"], rows)


@study.chart
def values(data: Data) -> Chart:
    """ATP over chains with one of its values changed at a time: goodput, mean age at delivery, retransmissions."""
    rows = []
    for name in OURS:
        for n in LONG[:2]:
            cells = data.ours.where(variant=name, hops=n)
            rows.append((name, n, cells.goodput(), in_ms(cells), cells.measure(again, "%")))
    return table(["ATP", "hops", "goodput (kbit/s)", "age (ms)", "retransmitted (%)"], rows)


@study.check(
    "ATP carries more than TCP",
    paper="ATP's abstract (2005): outperforms default TCP",
    assumed="NewReno as default TCP; every chain and both networks with two flows; partly: three quarters of them",
    because="overshoots",
)
def more_than_tcp(data: Data) -> Claim:
    gains = {
        f"{n} hops": data.chains.goodput(variant=ATP, hops=n) / data.chains.goodput(variant="newreno", hops=n)
        for n in HOPS
    }
    for key, network in FLOWS.items():
        gains[network] = data.flows.goodput(variant=f"{ATP}, {key}") / data.flows.goodput(variant=f"newreno, {key}")
    return every(above(gains, 1.0)).or_partly(most(above(gains, 1.0), 0.75))


@study.check(
    "Flows of ATP that meet share evenly",
    paper="ATP: nodes report the same delay to all flows through them, so that these send at the same rate",
    assumed="an index of 0.95 on both networks; on parallel chains no node carries both flows; partly: one of them",
)
def shares(data: Data) -> Claim:
    claims = {network: fair(data.flows.fairness(variant=f"{ATP}, {key}"), 0.95) for key, network in FLOWS.items()}
    return every(claims).or_partly(most(claims, 0.5))


@study.check(
    "ATP shares more evenly than NewReno",
    paper="ATP: rates from the network in place of losses that hit one flow more than the other",
    assumed="our own: both networks; partly: one of them",
    because="newreno_shares_too",
)
def fairer_than_tcp(data: Data) -> Claim:
    gains = {
        network: data.flows.fairness(variant=f"{ATP}, {key}") - data.flows.fairness(variant=f"newreno, {key}")
        for key, network in FLOWS.items()
    }
    return every(above(gains, 0.0)).or_partly(most(above(gains, 0.0), 0.5))


@study.cause(
    "the rate overshoots: where it rises by a twentieth of the difference instead of a fifth, a flow over "
    "several hops carries more and retransmits less"
)
def overshoots(data: Data) -> Claim:
    cells = {(name, n): data.aged.where(variant=name, hops=n) for name in ATPS for n in HOPS[1:]}
    carried = {f"{n} hops": cells[SLOWER, n].goodput() / cells[ATP, n].goodput() for n in HOPS[1:]}
    repeated = {
        f"{n} hops, sent again": cells[SLOWER, n].measure(again, "%") - cells[ATP, n].measure(again, "%") for n in LONG
    }
    return every({"carried": every(above(carried, 1.0)), "sent again": every(below(repeated, 0.0))})


@study.cause("over a run as long as this NewReno's flows share evenly, too: there is next to nothing to gain")
def newreno_shares_too(data: Data) -> Claim:
    return every(
        {network: fair(data.flows.fairness(variant=f"newreno, {key}"), 0.95) for key, network in FLOWS.items()}
    )


@study.cause("over four hops, where few packets are lost, TCP-AP carries less than NewReno does, too")
def less_than_newreno(data: Data) -> Claim:
    cells = data.chains
    return below(cells.goodput(variant="ap", hops=4) / cells.goodput(variant="newreno", hops=4), 1.0)


@study.cause("the paper's arithmetic leaves room: that of the authors' code carries more over every long chain")
def leaves_room(data: Data) -> Claim:
    cells = data.chains
    return every(
        above(
            {f"{n} hops": cells.goodput(variant=CODE, hops=n) / cells.goodput(variant="ap", hops=n) for n in LONG}, 1.0
        )
    )


def ap_beside(atp: str, cells: Cells, measured: Callable[[Cells], Sample]) -> dict[str, Estimate]:
    """Ratio of TCP-AP to ATP over long chains."""
    at = {(name, n): measured(cells.where(variant=name, hops=n)) for name in ("ap", atp) for n in LONG}
    return {f"{n} hops": ratio(at["ap", n], at[atp, n]) for n in LONG}


@study.check_each(
    ATPS,
    "TCP-AP, which needs no help from nodes, carries no less over long chains than {}",
    paper="TCP-AP retains end-to-end semantics and uses nothing from nodes on the path",
    assumed="our own: 4, 7 and 10 hops; partly: two of them",
    because=["less_than_newreno", "leaves_room"],
)
def no_help_needed(data: Data, atp: str) -> Claim:
    beside = ap_beside(atp, data.chains, lambda cells: cells.goodput())
    return every(above(beside, 1.0)).or_partly(most(above(beside, 1.0), 0.6))


@study.check_each(
    ATPS,
    "TCP-AP delivers younger data over long chains than {}",
    paper="pacing by the four-hop delay avoids collisions; ATP repairs losses once in an epoch",
    assumed="our own: mean age at delivery, 4, 7 and 10 hops; partly: two of them",
    why_of={SLOWER: {"standard": "a flow that stalls in one of a few runs makes the interval of its age wide"}},
)
def younger(data: Data, atp: str) -> Claim:
    beside = ap_beside(atp, data.aged, in_ms)
    return every(below(beside, 1.0)).or_partly(most(below(beside, 1.0), 0.6))
