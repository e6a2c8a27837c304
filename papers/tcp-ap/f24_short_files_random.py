"""Short files in random networks: five flows with pauses of one second on average between the files.

Goodput is measured while a file is being sent. The paper shows one network, in which TCP-AP is 91 % ahead of NewReno,
58 % with delayed ACKs, and fairer; this study has ten.
"""

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    about,
    above,
    below,
    curves,
    every,
    percent,
    table,
)
from fourhop.study.cells import KBPS
from fourhop.study.flows import Of, averaged, fairness, total

from ._common import ASSUMED, ASSUMED_DELAYED, BOTH, LABELS, PAPER, SHOWN, chain, compared, random
from ._several import one, over_networks, paths

NETWORKS = tuple(range(1, 11))

# Ten networks of 5,500 packets each; the first of eleven parts is not measured.
LENGTH = {**STEADY, "packets": 5_500}

FAR = (37, 45, 56, 62, 105)
"""Networks in which all five pairs are at least five hops apart."""

HOPS = (4, 8, 12)

study = Study(
    "Short files, random topology",
    source=f"{PAPER}, figure 24",
    quick={"duration": "4s"},
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        "Ten networks with random pairs, of any length, 5,500 packets each; every value is a mean over the networks.",
        "All files of a flow use one connection; a chart shows one connection per file.",
        "The index is that of the averaged goodputs.",
    ],
)


@study.sweep_each({"networks": "same", "fresh": "fresh"}, draws="topology.seed")
def files(profile: Profile, connection: str) -> Sweep:
    base = random(profile, 5, traffic={"app": "files", "mean_pause": "1s", "connection": connection}, **LENGTH)
    return Sweep(variants=compared(base, *SHOWN), over={"topology.seed": NETWORKS})


@study.sweep_over("topology.seed")
def far(profile: Profile) -> Sweep:
    base = random(profile, 5, traffic={"app": "files", "mean_pause": "1s", "connection": "same"}, **LENGTH)
    return Sweep(variants=compared(base, *SHOWN), over={"topology.seed": FAR})


@study.sweep
def single(profile: Profile) -> Sweep:
    base = chain(profile, traffic={"app": "files", "mean_pause": "1s", "connection": "same"}, **LENGTH)
    return Sweep(variants=compared(base, *SHOWN), over={"topology.hops": HOPS}, runs=20)


@study.chart
def single_chains(data: Data) -> Chart:
    """One flow with the same files on a chain: averaged goodput. Whiskers: 95 % intervals over the runs."""
    points = {LABELS[name]: {n: _on_chain(data, name, n) for n in HOPS} for name in SHOWN}
    return curves(points, "hops", "averaged goodput (kbit/s)")


@study.chart
def far_apart(data: Data) -> Chart:
    """Networks in which all pairs are at least five hops apart: gain over NewReno with the same acknowledgements."""
    rows = [
        (
            LABELS[name],
            _far(data, name) / _far(data, other),
        )
        for name, other in (
            ("ap", "newreno"),
            ("ap-code", "newreno"),
            ("ap-da", "newreno-da"),
            ("ap-code-da", "newreno-da"),
        )
    ]
    return table(["transport", "gain"], rows)


@study.chart
def goodput(data: Data) -> Chart:
    """Total averaged goodput of the five flows, mean of the networks. Whiskers: 95 % intervals over the networks."""
    return _both(data, total(averaged), "averaged goodput (kbit/s)")


@study.chart
def index(data: Data) -> Chart:
    """Jain's index of the averaged goodputs, mean over the networks."""
    return _both(data, fairness(averaged), "Jain's fairness index")


@study.chart
def each_network(data: Data) -> Chart:
    """TCP-AP and NewReno in every network that ran with both, every segment acknowledged; hops of shortest paths."""
    rows = []
    for seed, network in data.networks.by("seed").items():
        if not {"newreno", "ap"} <= set(network.values("variant")):
            continue
        newreno, ap = one(network.where(variant="newreno")), one(network.where(variant="ap"))
        gain = sum(averaged(ap)) / sum(averaged(newreno))
        indices = [fairness(averaged)(run) for run in (newreno, ap)]
        rows.append((seed, paths(newreno), sum(averaged(newreno)) / 1e3, f"{percent(gain)} %", *indices))
    return table(["seed", "hops of the pairs", "NewReno (kbit/s)", "gain", "index, NewReno", "index, TCP-AP"], rows)


@study.check(
    "TCP-AP is 91 % ahead of NewReno", paper="about 91 %", assumed="partly: ahead", because="short_paths_dominate"
)
def ap_ahead(data: Data) -> Claim:
    return _ahead(data, "ap", "newreno", 1.91)


@study.check(
    "The authors' code is also 91 % ahead of NewReno",
    paper="about 91 %",
    assumed="partly: ahead",
    because="short_paths_dominate",
)
def code_ahead(data: Data) -> Claim:
    return _ahead(data, "ap-code", "newreno", 1.91)


@study.check(
    "With delayed ACKs TCP-AP is 58 % ahead of NewReno",
    paper="about 58 %",
    assumed="partly: ahead",
    because=["short_paths_dominate_delayed", "wait_slows"],
)
def ap_delayed_ahead(data: Data) -> Claim:
    return _ahead(data, "ap-da", "newreno-da", 1.58)


@study.check(
    "With delayed ACKs the authors' code is also 58 % ahead of NewReno",
    paper="about 58 %",
    assumed="partly: ahead",
    because=["short_paths_dominate_delayed", "wait_slows"],
)
def code_delayed_ahead(data: Data) -> Claim:
    return _ahead(data, "ap-code-da", "newreno-da", 1.58)


@study.cause("the gain is one of long paths: over single chains of 8 and 12 hops the same files gain at least 30 %")
def short_paths_dominate(data: Data) -> Claim:
    gain = {
        f"{LABELS[name]}, {n} hops": _on_chain(data, name, n) / _on_chain(data, "newreno", n)
        for name in BOTH
        for n in HOPS[1:]
    }
    return every(above(gain, 1.3))


@study.cause(
    "with delayed ACKs, too, the gain comes with the length of the path: over a chain of 12 hops TCP-AP is ahead"
)
def short_paths_dominate_delayed(data: Data) -> Claim:
    return above(_on_chain(data, "ap-da", HOPS[-1]) / _on_chain(data, "newreno-da", HOPS[-1]), 1.0)


@study.cause("the wait of delayed ACKs slows TCP-AP over short paths: over a chain of 4 hops it has less with them")
def wait_slows(data: Data) -> Claim:
    kept = {LABELS[n]: _on_chain(data, f"{n}-da", HOPS[0]) / _on_chain(data, n, HOPS[0]) for n in BOTH}
    return every(below(kept, 1.0))


def _on_chain(data: Data, name: str, n: int) -> Sample:
    return data.single.measure(total(averaged), KBPS, variant=name, hops=n)


@study.check("TCP-AP is fairer, with and without delayed ACKs", paper="better fairness", assumed="partly: without")
def ap_fairer(data: Data) -> Claim:
    return _fairer(data, "ap", "ap-da")


@study.check(
    "The authors' code is also fairer, with and without delayed ACKs",
    paper="better fairness",
    assumed="partly: without delayed ACKs",
    why={"standard": "without delayed ACKs NewReno is nearly as fair, and ten networks do not separate the two"},
)
def code_fairer(data: Data) -> Claim:
    return _fairer(data, "ap-code", "ap-code-da")


@study.check(
    "Delayed ACKs help both, in goodput and in fairness",
    paper="an improvement of both, for NewReno and for TCP-AP",
    assumed="partly: in goodput",
    why="networks differ more than NewReno gains",
    because="wait_slows",
)
def delayed_helps(data: Data) -> Claim:
    both = {name: f"{name}-da" for name in ("newreno", "ap")}
    more = {f"goodput, {LABELS[name]}": _total(data, da) / _total(data, name) for name, da in both.items()}
    fairer = {f"index, {LABELS[name]}": _index(data, da) - _index(data, name) for name, da in both.items()}
    return every({**above(more, 1.0), **above(fairer, 0.0)}).or_partly(every(above(more, 1.0)))


def _both(data: Data, of: Of, label: str) -> Chart:
    return over_networks({"one connection for all files": data.networks, "one for each file": data.fresh}, of, label)


def _far(data: Data, name: str) -> Sample:
    return data.far.measure(total(averaged), KBPS, variant=name)


def _total(data: Data, name: str) -> Sample:
    return data.networks.measure(total(averaged), "kbit/s", variant=name)


def _index(data: Data, name: str) -> Sample:
    return data.networks.measure(fairness(averaged), variant=name)


def _ahead(data: Data, name: str, other: str, by: float) -> Claim:
    gain = _total(data, name) / _total(data, other)
    return about(gain, by).or_partly(above(gain, 1.0))


def _fairer(data: Data, plain: str, delayed: str) -> Claim:
    gains = {
        "every segment acknowledged": _index(data, plain) - _index(data, "newreno"),
        "delayed ACKs": _index(data, delayed) - _index(data, "newreno-da"),
    }
    claims = above(gains, 0.0)
    return every(claims).or_partly(claims["every segment acknowledged"])
