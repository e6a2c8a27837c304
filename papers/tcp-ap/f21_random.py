"""Ten flows in random networks of 120 nodes: starvation, and the cost of fairness.

The paper shows one network. With NewReno five of its ten flows get almost nothing and one over two hops nearly all;
with TCP-AP none starves, at a cost of 6 % of the total. This study has several networks with one run each: some as
drawn, and others that match what the paper says about its network.
"""

from collections.abc import Callable

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Run,
    Sample,
    Study,
    above,
    bars,
    below,
    between,
    every,
    percent,
    ratio,
    run_by_run,
    table,
)
from fourhop.study.flows import Of, fairness, goodputs, starving, total

from ._common import ASSUMED, ASSUMED_DELAYED, ASSUMED_STARVING, LABELS, PAPER, SHOWN, compared, random
from ._several import one, over_networks, paths

ANY = tuple(range(1, 11))

# fmt: off
ALIKE = (
    3, 4, 10, 11, 12, 16, 23, 41, 43, 47, 50, 54, 58, 59, 60, 68, 70, 73, 74, 78, 79, 80, 81, 82, 88, 101, 109, 110,
    117, 119,
)
# fmt: on
"""The first thirty seeds whose networks have one pair two hops apart and all other pairs farther apart."""

LENGTH = {**STEADY, "packets": 11_000}

study = Study(
    "Random topology, ten flows",
    source=f"{PAPER}, figure 21",
    quick={"duration": "4s"},
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        "11,000 packets over all flows in each network, of which the first of eleven parts is not measured; networks "
        "differ far more than the parts of a run.",
        ASSUMED_STARVING,
        "The paper says that one of the ten pairs in its network is two hops apart and therefore has most of the "
        "goodput; in the networks that are checked one pair is two hops apart and the others are farther apart. "
        "Networks drawn without that condition, half of which have a pair of neighbours, are shown as well.",
    ],
)


@study.sweep_each({"alike": ALIKE, "drawn": ANY}, draws="topology.seed")
def seeds(profile: Profile, seeds: tuple[int, ...]) -> Sweep:
    return Sweep(variants=compared(random(profile, 10, **LENGTH), *SHOWN), over={"topology.seed": seeds})


@study.chart
def one_network(data: Data) -> Chart:
    """Goodput of each flow in one network like the paper's (seed 3), with the number of hops in brackets.

    Whiskers: 95 % intervals over batches.
    """
    cells = data.alike.where(seed=ALIKE[0])
    hops = {name: flow["hops"] for name, flow in one(cells).flows.items()}
    names = sorted(hops, key=lambda name: (hops[name], name))
    flows = {name: f"{number} ({hops[name]})" for number, name in enumerate(names, 1)}
    return bars(cells, by="variant", labels=LABELS, flows=flows)


@study.chart
def in_total(data: Data) -> Chart:
    """Total goodput of the ten flows: networks like the paper's, and networks as drawn.

    Whiskers: 95 % intervals over the networks.
    """
    return _both(data, total(goodputs), "goodput (kbit/s)")


@study.chart
def what_the_shortest_flow_carries(data: Data) -> Chart:
    """Goodput of the flow over two hops and of the nine others together in kbit/s, mean of the networks."""
    rows = []
    for name in SHOWN:
        short = data.alike.measure(_shortest, "kbit/s", variant=name)
        everything = data.alike.measure(total(goodputs), "kbit/s", variant=name)
        rows.append((LABELS[name], short, everything - short))
    return table(["transport", "over two hops", "the nine others"], rows)


@study.chart
def starving_flows(data: Data) -> Chart:
    """Number of flows out of ten with less than a tenth of an equal share, mean of the networks."""
    return _both(data, starving, "starving flows of ten")


@study.chart
def index(data: Data) -> Chart:
    """Jain's index of the ten goodputs, mean over the networks."""
    return _both(data, fairness(goodputs), "Jain's fairness index")


@study.chart
def networks(data: Data) -> Chart:
    """TCP-AP and NewReno in every network that ran with both, every segment acknowledged; hops of shortest paths."""
    rows = []
    for cells in (data.alike, data.drawn):
        for seed, network in cells.by("seed").items():
            if not {"newreno", "ap"} <= set(network.values("variant")):
                continue
            newreno, ap = one(network.where(variant="newreno")), one(network.where(variant="ap"))
            kept = sum(goodputs(ap)) / sum(goodputs(newreno))
            rows.append((seed, paths(newreno), f"{starving(newreno):.0f}", f"{starving(ap):.0f}", f"{percent(kept)} %"))
    return table(["seed", "hops of the pairs", "starving, NewReno", "starving, TCP-AP", "gain in total"], rows)


@study.cause("networks differ, and the paper shows one: in some of these NewReno starves four to six flows")
def like_the_papers(data: Data) -> Claim:
    return above(_in_some(data, "newreno", lambda count: 4.0 <= count <= 6.0), 0.0)


@study.cause("networks differ, and the paper shows one: in some of these no flow starves with TCP-AP")
def none_in_some(data: Data) -> Claim:
    return above(_in_some(data, "ap", lambda count: count == 0.0), 0.0)


@study.cause("networks differ, and the paper shows one: in some of these no flow starves with the authors' code")
def none_in_some_of_code(data: Data) -> Claim:
    return above(_in_some(data, "ap-code", lambda count: count == 0.0), 0.0)


@study.cause(
    "networks differ, and the paper shows one: in some of these the index of the code is higher by at least 0.1"
)
def higher_in_some(data: Data) -> Claim:
    index = [data.alike.measure(fairness(goodputs), variant=name) for name in ("ap-code", "newreno")]
    return above(run_by_run(lambda x, y: float(x - y >= 0.1), *index), 0.0)


def _given_up(data: Data, name: str) -> Estimate:
    """The loss of the flow with the shortest path against NewReno, as a share of the loss of all flows together."""

    def less(of: Callable[[Run], float]) -> Sample:
        theirs, ours = (data.alike.measure(of, "kbit/s", variant=each) for each in ("newreno", name))
        return run_by_run(lambda x, y: x - y, theirs, ours)

    return ratio(less(_shortest), less(total(goodputs)))


@study.cause("more than half of the cost falls on the one flow over two hops")
def shortest_gives_most(data: Data) -> Claim:
    return above(_given_up(data, "ap"), 0.5)


@study.cause("with the authors' code, too, more than half of the cost falls on the one flow over two hops")
def shortest_gives_most_of_code(data: Data) -> Claim:
    return above(_given_up(data, "ap-code"), 0.5)


@study.check(
    "NewReno starves five of ten flows",
    paper="five almost completely",
    assumed="4 to 6, mean; partly: three or more",
    why={"standard": "collisions seldom take a route down here (losses in figure 16)"},
    because="like_the_papers",
)
def newreno_starves(data: Data) -> Claim:
    count = data.alike.measure(starving, variant="newreno")
    return between(count, 4.0, 6.0).or_partly(above(count, 3.0))


@study.check(
    "TCP-AP starves no flow",
    paper="none of the ten",
    assumed="fewer than one flow in two networks; partly: fewer than half as many as NewReno starves",
    because="none_in_some",
)
def ap_starves_none(data: Data) -> Claim:
    return _starves_none(data, "ap")


@study.check(
    "The authors' code starves no flow",
    paper="none of the ten",
    assumed="as above",
    because="none_in_some_of_code",
)
def code_starves_none(data: Data) -> Claim:
    return _starves_none(data, "ap-code")


@study.check(
    "TCP-AP is much fairer",
    paper="significantly better fairness, better still with delayed ACKs",
    assumed="an index higher by 0.1 or more than NewReno's, and higher still with delayed ACKs; "
    "partly: higher than NewReno's",
)
def ap_fairer(data: Data) -> Claim:
    return _fairer(data, "ap", "ap-da")


@study.check(
    "The authors' code is also much fairer",
    paper="significantly better fairness, better still with delayed ACKs",
    assumed="as above",
    because="higher_in_some",
)
def code_fairer(data: Data) -> Claim:
    return _fairer(data, "ap-code", "ap-code-da")


@study.check(
    "Fairness costs TCP-AP about 6 % of the total",
    paper="6 % less in aggregate",
    assumed="about: 0 to 12 % less than NewReno; partly: 0 to 25 %",
    because="shortest_gives_most",
)
def ap_costs(data: Data) -> Claim:
    return _costs(data, "ap")


@study.check(
    "Fairness costs the authors' code as much",
    paper="6 % less in aggregate",
    assumed="as above",
    because="shortest_gives_most_of_code",
)
def code_costs(data: Data) -> Claim:
    return _costs(data, "ap-code")


def _in_some(data: Data, name: str, asked: Callable[[float], bool]) -> Sample:
    """1 for each network whose number of starving flows passes `asked`, otherwise 0."""
    return run_by_run(lambda count: float(asked(count)), data.alike.measure(starving, variant=name))


def _shortest(run: Run) -> float:
    """Goodput of the flow with the shortest path, in kbit/s."""
    return 1e-3 * min((flow["hops"], flow["goodput_bps"]) for flow in run.flows.values())[1]


def _both(data: Data, of: Of, label: str) -> Chart:
    return over_networks({"like the paper's": data.alike, "as drawn": data.drawn}, of, label)


def _starves_none(data: Data, name: str) -> Claim:
    mine, newreno = (data.alike.measure(starving, variant=each) for each in (name, "newreno"))
    return below(mine, 0.5).or_partly(below(mine / newreno, 0.5))


def _fairer(data: Data, plain: str, delayed: str) -> Claim:
    index = {name: data.alike.measure(fairness(goodputs), variant=name) for name in ("newreno", plain, delayed)}
    gain, more = index[plain] - index["newreno"], index[delayed] - index[plain]
    strict = every({"above NewReno by": above(gain, 0.1), "delayed ACKs add": above(more, 0.0)})
    return strict.or_partly(above(gain, 0.0))


def _costs(data: Data, name: str) -> Claim:
    kept = data.alike.measure(total(goodputs), variant=name) / data.alike.measure(total(goodputs), variant="newreno")
    return between(kept, 0.88, 1.0).or_partly(between(kept, 0.75, 1.0))
