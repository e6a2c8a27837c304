"""The five papers' ideas on a mesh of today: a test of each.

The papers' radios sent one packet per frame, on one channel, out of one drop-tail queue. Here they are 802.11n with
aggregates and block acknowledgements, two per node, with FQ-CoDel before each, and the TCP to beat is the CUBIC of
kernels, with RACK-TLP and HyStart++. `modern_steps` goes from the papers' mesh to this one, one change at a time, and
shows which changes matter.
"""

from collections.abc import Callable
from typing import Any

from fourhop import Sweep
from fourhop.study import (
    OUR_OWN,
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Sample,
    Study,
    groups,
    run_by_run,
    table_by,
)
from fourhop.study.claims import above, below, between, every, most
from fourhop.study.flows import starving

from ._measures import quantile
from ._worlds import BASE, NETWORKS, STRONG_DBM, TRANSPORTS, per_frame, together, variant

LABELS = {name: label for name, label in TRANSPORTS.labels.items() if name != "c3"}
AT_GATEWAYS = ("gap", "gap-short")
SENDERS = ("ap", "adhoc", "rbp")
RUNS = 10
SINCE_S = 2.0
"""From when on round trips count."""

HOPS = {"metric": "hops", "metric_over_fades": False}
SSA = {"protocol": "ssa-aodv", "signal_threshold": f"{STRONG_DBM}dBm", "ttl_start": 1, "link_layer_detection": True}
ROUTING: dict[str, tuple[str, dict[str, Any]]] = {
    "airtime": ("fixed routes by airtime", {}),
    "hops": ("fixed routes by hops", HOPS),
    "aodv": ("AODV", {**HOPS, "protocol": "aodv", "hello": True}),
    "ssa": ("AODV, strong neighbours", {**HOPS, **SSA}),
    "aodv-airtime": ("AODV by airtime", {"protocol": "aodv", "metric_over_fades": False}),
}
"""With CUBIC. As in `side_by_side`, AODV over strong neighbours differs from AODV with HELLO messages only in these."""
ROUTED = ("chain", "grid")
FOUND = {"duration": "14s", "warmup": "9s"}
"""Probes and HELLO messages need some seconds: a SYN that is lost then is sent again 1, 3 and 7 s later."""

study = Study(
    "Today's mesh",
    source="a comparison of our own, with the networks of `side_by_side` on radios of today",
    profiles=("standard",),
    quick={"duration": "1800ms", "warmup": "1600ms", "routing.metric_over_fades": False},
    assumed=[
        "802.11n at 5 GHz in 20 MHz with one stream, A-MPDU of up to 64 packets, RTS before each frame, MCS chosen by "
        "Minstrel-HT, error rates by modulation, 20 dBm and 30 dB a decade, Rician fading with 6 dB and 2 Hz. 60 m "
        "between neighbours: the next but one is sensed, the one after it is not, as in the papers. Two radios at each "
        "node, on two channels; FQ-CoDel with fair air time.",
        "Fixed routes by airtime, which take the channels in turn. Every segment is acknowledged; the only "
        "limit of windows is 1 MiB.",
        f"{RUNS} runs of 8 s, of which the first 2 s are not measured. Round trips are those that senders smooth, "
        "sampled ten times a second.",
        "A gain over all networks is the ratio of geometric means, so that each network counts the same.",
        "The gateway stands in the middle of a cross with arms of four hops, 15 ms from the Internet; CUBIC "
        "downloads go to the ends of the arms and to all nodes of one of them, and the gateway paces (TCP-GAP) or not.",
        "C3TCP measures single frames, and the engine refuses it with aggregates and with several radios.",
        "The checks were written after a look at two seeds, and some of them were rewritten after a full run with "
        "one MCS and without fading.",
    ],
)


def on(name: str) -> list[str]:
    """The transports of a network. Senders on the Internet do not know the mesh; there the gateway paces for them."""
    return [each for each in LABELS if (each != "ap" if name == "gateway" else each not in AT_GATEWAYS)]


@study.sweep
def today(_: Profile) -> Sweep:
    made = {f"{name}/{each}": variant(name, each) for name in NETWORKS for each in on(name)}
    measured = {"sample_every": "100ms", "duration": "8s"}
    return Sweep(variants={name: each.with_(**measured) for name, each in made.items()}, runs=RUNS)


@study.sweep
def routed(_: Profile) -> Sweep:
    made = {
        f"{name}/{each}": variant(name, BASE).with_(routing=keys, **FOUND)
        for name in ROUTED
        for each, (_, keys) in ROUTING.items()
    }
    return Sweep(variants=made, runs=RUNS)


STILL = "minstrel"
"""The step before signals fade."""
IN_STILL_AIR = dict.fromkeys(("cross", "parallel", "grid", "random"), (BASE, "ap", "adhoc")) | {
    "gateway": (BASE, "gap-short")
}


@study.sweep
def still(_: Profile) -> Sweep:
    """Without fading, for causes."""
    measured = {"sample_every": "100ms", "duration": "8s"}
    made = {
        f"{name}/{each}": variant(name, each, STILL).with_(**measured)
        for name, transports in IN_STILL_AIR.items()
        for each in transports
    }
    return Sweep(variants=made, runs=RUNS)


def cell(data: Data, name: str, transport: str) -> Cells:
    return data.today.where(variant=f"{name}/{transport}")


def median(cells: Cells) -> Sample:
    return quantile(cells, 0.5, SINCE_S)


def longest(cells: Cells) -> Sample:
    return quantile(cells, 0.95, SINCE_S)


def in_a_frame(cells: Cells) -> Sample:
    return cells.measure(per_frame)


def dead(cells: Cells) -> Sample:
    return cells.measure(starving)


def beside(data: Data, name: str, of: Callable[[Cells], Sample] = Cells.goodput) -> dict[str, Estimate]:
    """On each of its networks, the ratio of a measure to that of the kernel's CUBIC."""
    return {shown: of(cell(data, n, name)) / of(cell(data, n, BASE)) for n, shown in NETWORKS.items() if name in on(n)}


def overall(data: Data, name: str, of: Callable[[Cells], Sample] = Cells.goodput) -> Estimate:
    """This ratio over all of its networks together."""
    there = [n for n in NETWORKS if name in on(n)]
    return together([of(cell(data, n, name)) for n in there], [of(cell(data, n, BASE)) for n in there])


@study.chart
def goodput(data: Data) -> Chart:
    """How much more goodput all flows together have than with kernel CUBIC. Whiskers: 95 % intervals."""
    return groups({LABELS[name]: beside(data, name) for name in LABELS if name != BASE}, "gain over kernel CUBIC (%)")


@study.chart
def fairness(data: Data) -> Chart:
    """Jain's index, on the networks with several flows."""
    several = [n for n in NETWORKS if n != "chain"]
    points = {
        label: {NETWORKS[n]: cell(data, n, name).fairness() for n in several if name in on(n)}
        for name, label in LABELS.items()
    }
    return groups(points, "Jain's fairness index", y_max=1.0)


@study.chart_each(
    {n: (n, f"{shown.capitalize()}: means with 95 % intervals over the runs.") for n, shown in NETWORKS.items()}
)
def everything(data: Data, name: str) -> Chart:
    columns: dict[str, Any] = {
        "goodput": "goodput",
        "fairness": "fairness",
        "starving flows": dead,
        "round trip, median (ms)": median,
        "95 % (ms)": longest,
        "packets / frame": in_a_frame,
    }
    labels = {f"{name}/{each}": LABELS[each] for each in on(name)}
    return table_by(data.today, "variant", columns, labels, heading="transport")


@study.chart
def routes(data: Data) -> Chart:
    """Goodput of all flows together with kernel CUBIC over other routes."""
    points = {
        label: {NETWORKS[n]: data.routed.goodput(variant=f"{n}/{name}") for n in ROUTED}
        for name, (label, _) in ROUTING.items()
    }
    return groups(points, "goodput (kbit/s)")


EVERYWHERE = "on every network; partly: on most"


@study.cause("a paced packet is alone in its frame: fewer than two packets per frame, where CUBIC has at least four")
def alone(data: Data) -> Claim:
    paced = below({NETWORKS[n]: in_a_frame(cell(data, n, "ap")) for n in NETWORKS if "ap" in on(n)}, 2.0)
    full = above({f"CUBIC, {NETWORKS[n]}": in_a_frame(cell(data, n, BASE)) for n in NETWORKS}, 4.0)
    return every(paced | full)


@study.cause("packets that the gateway paces are alone in their frames: fewer than two packets per frame")
def alone_at_gateways(data: Data) -> Claim:
    return every(below({LABELS[name]: in_a_frame(cell(data, "gateway", name)) for name in AT_GATEWAYS}, 2.0))


@study.cause("a window of a quarter of the hops allows no more than two packets per frame")
def small_windows(data: Data) -> Claim:
    return every(below({NETWORKS[n]: in_a_frame(cell(data, n, "adhoc")) for n in NETWORKS}, 2.5))


@study.cause("RBP, too, spreads out what would fill frames: fewer packets per frame than CUBIC")
def spread_out(data: Data) -> Claim:
    return every(below(beside(data, "rbp", in_a_frame), 1.0))


@study.cause(
    "each download has the interval of its own path, so that the near node is farther ahead than with FQ-CoDel"
)
def near_ahead(data: Data) -> Claim:
    def ahead(name: str) -> Sample:
        near, far = (cell(data, "gateway", name).goodput(flow) for flow in ("flow-5", "flow-1"))
        return run_by_run(lambda x, y: x / y if y else float("nan"), near, far)

    return every({LABELS[name]: above(ahead(name) / ahead(BASE), 1.0) for name in AT_GATEWAYS})


@study.cause(
    "the paper's queue grows as far as windows allow: round trips are more than twice those of the bounded one"
)
def long_queue(data: Data) -> Claim:
    paper, bounded = (longest(cell(data, "gateway", name)) for name in AT_GATEWAYS)
    return above(paper / bounded, 2.0)


@study.cause(
    "RBP spaces a window over a round trip and does not shorten it: its round trips are at least twice TCP-AP's"
)
def spaces(data: Data) -> Claim:
    there = [n for n in NETWORKS if "ap" in on(n)]
    return above(together(*([longest(cell(data, n, name)) for n in there] for name in ("rbp", "ap"))), 2.0)


@study.cause("RBP shares like NewReno, whose window it has: Jain's index differs by less than a tenth on average")
def shares_as_newreno(data: Data) -> Claim:
    return between(indices(data, "rbp") - indices(data, "newreno"), -0.1, 0.1)


def fairer_in_still_air(data: Data, name: str) -> Claim:
    def index(transport: str) -> Sample:
        there = [n for n, transports in IN_STILL_AIR.items() if name in transports]
        return run_by_run(
            lambda *each: sum(each) / len(each), *(data.still.fairness(variant=f"{n}/{transport}") for n in there)
        )

    return above(index(name) - index(BASE), 0.0)


@study.cause(
    "fading removes it: where signals do not fade Jain's index is higher with TCP-AP on average over the networks"
)
def fading_takes_fairness(data: Data) -> Claim:
    return fairer_in_still_air(data, "ap")


@study.cause("fading removes it: where signals do not fade Jain's index is higher with ad hoc TCP on average")
def fading_takes_fairness_of_windows(data: Data) -> Claim:
    return fairer_in_still_air(data, "adhoc")


@study.cause(
    "fading removes it: where signals do not fade round trips through the gateway that paces are shorter than CUBIC's"
)
def fading_fills_queues(data: Data) -> Claim:
    return below(
        longest(data.still.where(variant="gateway/gap-short")) / longest(data.still.where(variant="gateway/cubic")), 1.0
    )


MORE = {"ap": "alone", "adhoc": "small_windows", "rbp": "spread_out"} | dict.fromkeys(AT_GATEWAYS, "alone_at_gateways")
QUICKER = {"rbp": "spaces", "gap": "long_queue", "gap-short": "fading_fills_queues"}
FAIRER = {
    "ap": "fading_takes_fairness",
    "adhoc": "fading_takes_fairness_of_windows",
    "rbp": "shares_as_newreno",
} | dict.fromkeys(AT_GATEWAYS, "near_ahead")
"""For each system, the cause that may explain why the statement does not hold."""


def indices(data: Data, name: str) -> Sample:
    """Jain's index: mean over the system's networks with several flows."""
    several = [n for n in NETWORKS if n != "chain" and name in on(n)]
    return run_by_run(lambda *each: sum(each) / len(each), *(cell(data, n, name).fairness() for n in several))


def _register(name: str) -> None:
    tag, beaten = name.replace("-", "_"), f"than {LABELS[BASE]}"

    def more(data: Data) -> Claim:
        return above(overall(data, name), 1.0)

    def quicker(data: Data) -> Claim:
        return below(overall(data, name, longest), 0.5)

    def quicker_everywhere(data: Data) -> Claim:
        claims = below(beside(data, name, longest), 1.0)
        return every(claims).or_partly(most(claims))

    def fairer(data: Data) -> Claim:
        gains = {
            shown: cell(data, n, name).fairness() - cell(data, n, BASE).fairness()
            for n, shown in NETWORKS.items()
            if n != "chain" and name in on(n)
        }
        return every(above(gains, 0.0)).or_partly(most(above(gains, 0.0)))

    for check in (more, quicker, quicker_everywhere, fairer):
        check.__name__ += f"_{tag}"
    label = LABELS[name]
    together_, everywhere = (
        {"paper": OUR_OWN, "assumed": "over all networks"},
        {"paper": OUR_OWN, "assumed": EVERYWHERE},
    )
    study.check(f"{label} carries more {beaten}", main=True, because=MORE[name], **together_)(more)
    study.check(
        f"The 95th percentile of {label}'s round trips is less than half that of CUBIC",
        because=QUICKER.get(name, ()),
        **together_,
    )(quicker)
    study.check(
        f"{label} has shorter round trips {beaten}, by the 95th percentile",
        because=QUICKER.get(name, ()),
        **everywhere,
    )(quicker_everywhere)
    study.check(f"{label} is fairer {beaten}", because=FAIRER.get(name, ()), **everywhere)(fairer)


for _name in (*SENDERS, *AT_GATEWAYS):
    _register(_name)


@study.check(
    "With TCP-AP Jain's index is higher by at least 0.1, on average over the networks",
    paper=OUR_OWN,
    because="fading_takes_fairness",
)
def even(data: Data) -> Claim:
    there = [n for n in NETWORKS if n != "chain" and "ap" in on(n)]
    theirs = run_by_run(lambda *each: sum(each) / len(each), *(cell(data, n, BASE).fairness() for n in there))
    return above(indices(data, "ap") - theirs, 0.1)


@study.check(
    "AODV over strong neighbours carries more than AODV",
    paper=OUR_OWN,
    assumed=EVERYWHERE,
    why="we think that fading takes neighbours below the threshold again and again, so that paths of many hops break",
    main=True,
)
def strong_neighbours(data: Data) -> Claim:
    gains = {
        NETWORKS[n]: data.routed.goodput(variant=f"{n}/ssa") - data.routed.goodput(variant=f"{n}/aodv") for n in ROUTED
    }
    return every(above(gains, 0.0))


@study.check(
    "AODV by airtime carries more than AODV over strong neighbours",
    paper=OUR_OWN,
    assumed=EVERYWHERE,
    why="we think that probes, which are broadcasts, say little about the rates that Minstrel-HT uses",
)
def measured_links(data: Data) -> Claim:
    gains = {
        NETWORKS[n]: data.routed.goodput(variant=f"{n}/aodv-airtime") - data.routed.goodput(variant=f"{n}/ssa")
        for n in ROUTED
    }
    return every(above(gains, 0.0))


@study.check("Fixed routes by airtime carry more than those by hops", paper=OUR_OWN, assumed=EVERYWHERE)
def airtime(data: Data) -> Claim:
    gains = {
        NETWORKS[n]: data.routed.goodput(variant=f"{n}/airtime") - data.routed.goodput(variant=f"{n}/hops")
        for n in ROUTED
    }
    return every(above(gains, 0.0))
