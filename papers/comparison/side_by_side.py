"""The five systems and the common transports on the same networks, for readers who have to choose a transport.

All flows of a network use the same transport. Where there is a gateway, TCP-AP runs with the gateway of TCP-GAP and the
others with a plain one. The papers do not contain this comparison; each compares itself with one or two of these
transports.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import (
    OUR_OWN,
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Run,
    Sample,
    Study,
    Variants,
    groups,
    table_by,
)
from fourhop.study.claims import above, below, every, most

STRONG_DBM = -62.4
"""Half-way in decibels between the power received over 200 m, the spacing of the regular networks, and over 250 m, the
farthest that data reaches: the rule by which the testbed's hallway has its threshold. Neighbours beyond 224 m, at the
periphery, are ignored. Nothing was tuned."""

STRONG = {"routing.protocol": "ssa-aodv", "routing.signal_threshold": f"{STRONG_DBM}dBm"}
"""AODV over strong neighbours. It needs HELLO messages; what else it would change is as with the others (`_of`)."""

TRANSPORTS = Variants(
    {
        "newreno": ("NewReno", "newreno", {}),
        "cubic": ("CUBIC", "cubic", {}),
        "bbr": ("BBR", "bbr", {}),
        "vegas": ("Vegas", "vegas", {}),
        "westwood": ("Westwood+", "westwood", {}),
        "ap": ("TCP-AP / TCP-GAP", "tcp-ap", {}),
        "ap-short": ("TCP-GAP, bounded queue", "tcp-ap", {"gateway.sojourn": "50ms"}),
        "adhoc": ("ad hoc TCP", "adhoc-tcp", {}),
        "rbp": ("RBP", "rbp", {}),
        "newreno-ssa": ("NewReno, strong neighbours", "newreno", STRONG),
        "rbp-ssa": ("RBP, strong neighbours", "rbp", STRONG),
        "c3": ("C3TCP", "newreno", {"c3tcp.enabled": True, "tcp.receive_buffer": "93440B"}),
    }
)
"""By short name: label, transport, keys. With 93,440 B, or 64 segments, C3TCP's receivers limit no sender more than the
window of the others does; its own default is 65,535 B."""

LABELS = TRANSPORTS.labels
GATEWAYS = ("ap", "ap-short")
"""Those that run with a pacing gateway where there is one."""


def on(network: str) -> list[str]:
    """The transports of a network; the bounded queue concerns only gateways."""
    return [name for name in TRANSPORTS if name != "ap-short" or network == "gateway"]


SYSTEMS = ("ap", "adhoc", "rbp", "rbp-ssa", "c3")
RUNS = 10
DURATION = {"duration": "100s", "warmup": "0s"}

NETWORKS = {
    "chain": "chain, 7 hops",
    "cross": "cross, 2 flows",
    "parallel": "parallel, 2 flows",
    "grid": "grid, 6 flows",
    "random": "random, 10 flows",
    "gateway": "gateway, 4 flows",
    "moving": "moving, 4 flows",
}

study = Study(
    "All systems side by side",
    source="a comparison of our own, with the networks of the five papers",
    assumed=[
        "2 Mbit/s, 250 m and 550 m, RTS before every unicast frame, AODV, 1460 B, window 64, no delayed ACKs.",
        f"{RUNS} runs of 100 s each, counted from the first packet, so routing is included.",
        "Two delays: the mean round trip that senders sample, of what has left; and the age of a byte at its "
        "delivery, counted from when it became the next to be sent, which includes waits for a full window, pacing, "
        "a frozen sender or a lost segment before it. Ages are means over the flows of their means and 95th "
        "percentiles.",
        "Losses are the share of retransmitted segments. "
        "Transmissions are frames of every kind, sent by all nodes, per kilobyte delivered: the cost on the air.",
        f"AODV over strong neighbours ignores those that it hears with less than {STRONG_DBM} dBm, half-way in "
        f"decibels "
        "between the spacing of the regular networks and the range. It differs from AODV only in this and in its "
        "HELLO messages: links break by lost frames and searches begin as with the others.",
        "With a bounded queue the gateway limits advertised windows to what its pacing queue sends in 50 ms; the "
        "paper has no such rule.",
        "The gateway stands in the middle of a cross with arms of four hops; two flows go each way, wires of 10 Mbit/s "
        "and 40 ms. In the field 50 nodes move at 10 m/s between the ends of the flows.",
    ],
)


def _settings(profile: Profile) -> dict[str, Any]:
    tcp = {"window": 64, "mss": "1460B", "ack_policy": "every-segment", "delivery_ages": True}
    return {"profile": profile, "radio": {"rate": "2Mbps"}, "tcp": tcp, **DURATION}


def _flows(*ends: tuple[int | str, int | str]) -> list[dict[str, Any]]:
    return [{"from": src, "to": dst, "transport": "newreno"} for src, dst in ends]


def _grid(profile: Profile) -> Scenario:
    side, middle = 5, (1, 2, 3)
    across = [(side * row, side * row + side - 1) for row in middle]
    down = [(column, side * (side - 1) + column) for column in middle]
    return Scenario.grid(side, side, flows=_flows(*across, *down), **_settings(profile))


def _gateway(profile: Profile) -> Scenario:
    ends = [(0, "B1"), ("B2", 8), (9, "B3"), ("B4", 16)]
    wires = [("gateway-1", "R1"), *(("R1", f"B{n}") for n in range(1, 5))]
    return Scenario.from_dict(
        {
            "topology": {"kind": "cross", "hops": 8},
            "wired": {"gateways": [4], "nodes": ["R1", "B1", "B2", "B3", "B4"], "rate": "10Mbps", "delay": "40ms"},
            "wires": [{"ends": list(pair)} for pair in wires],
            "flows": _flows(*ends),
            **_settings(profile),
        }
    )


def _moving(profile: Profile) -> Scenario:
    heights = (37.5, 112.5, 187.5, 262.5)
    ends = [(f"{x}m", f"{y}m") for y in heights for x in (0, 1500)]
    mobility = {
        "model": "random-waypoint", "speed_min": "10m/s", "speed_max": "10m/s", "pause": "0s",
        "width": "1500m", "height": "300m", "still": 8,
    }  # fmt: skip
    flows = _flows(*((2 * n, 2 * n + 1) for n in range(4)))
    places = [*ends, *[("750m", "150m")] * 50]
    return Scenario.positions(places, mobility=mobility, flows=flows, **_settings(profile))


def _network(name: str, profile: Profile) -> Scenario:
    keys = _settings(profile)
    match name:
        case "chain":
            return Scenario.chain(7, **keys)
        case "cross":
            return Scenario.cross(4, **keys)
        case "parallel":
            return Scenario.parallel_chains(4, separation="400m", **keys)
        case "grid":
            return _grid(profile)
        case "random":
            return Scenario.random(120, width="2500m", height="1000m", pairs=10, **keys)
        case "gateway":
            return _gateway(profile)
        case _:
            return _moving(profile)


def _of(scenario: Scenario, name: str) -> Scenario:
    if name in GATEWAYS and "wired" in scenario.resolved:
        scenario = scenario.with_(**{"gateway.kind": "gap"})
    made = TRANSPORTS.of(scenario, name)
    if name.endswith("-ssa"):
        plain = scenario.resolved["routing"]
        kept = ("ttl_start", "link_layer_detection")
        return made.with_(**{f"routing.{key}": plain[key] for key in kept})
    return made


@study.sweep
def all_of_them(profile: Profile) -> Sweep:
    networks = {network: _network(network, profile) for network in NETWORKS}
    variants = {f"{network}/{name}": _of(base, name) for network, base in networks.items() for name in on(network)}
    return Sweep(variants=variants, runs=RUNS)


def cell(data: Data, network: str, name: str) -> Cells:
    return data.all_of_them.where(variant=f"{network}/{name}")


def _over_flows(run: Run, column: str) -> float:
    """Mean of a time over the flows that have it, in ms."""
    known = [flow[column] for flow in run.flows.values() if flow[column] is not None]
    return 1e3 * sum(known) / len(known) if known else float("nan")


def delay(run: Run) -> float:
    """Round trip of segments that have left the sender."""
    return _over_flows(run, "rtt_mean_s")


def age(run: Run) -> float:
    """Age of a byte when it is delivered."""
    return _over_flows(run, "age_mean_s")


def oldest(run: Run) -> float:
    """Age that 95 % of the bytes do not exceed."""
    return _over_flows(run, "age_p95_s")


def lost(run: Run) -> float:
    """Retransmitted segments in per cent of all segments sent."""
    sent = sum(flow["sent_packets"] for flow in run.flows.values())
    again = sum(flow["retransmitted_packets"] for flow in run.flows.values())
    return 100.0 * again / sent if sent else float("nan")


def cost(run: Run) -> float:
    """Frames transmitted per kilobyte delivered."""
    delivered = sum(flow["delivered_bytes"] for flow in run.flows.values())
    return 1e3 * float(run.columns["frames"]) / delivered if delivered else float("nan")


@study.chart
def goodput(data: Data) -> Chart:
    """How much more goodput all flows together have than with NewReno. Whiskers: 95 % intervals."""
    shown = [name for name in TRANSPORTS if name not in ("newreno", "cubic", "westwood", "ap-short")]
    points = {
        LABELS[name]: {n: cell(data, n, name).goodput() / cell(data, n, "newreno").goodput() for n in NETWORKS}
        for name in shown
    }
    return groups(points, "gain over NewReno (%)")


@study.chart
def fairness(data: Data) -> Chart:
    """Jain's index over 100 s, on the networks with several flows."""
    shown = [name for name in TRANSPORTS if name not in ("cubic", "westwood", "ap-short")]
    several = [network for network in NETWORKS if network != "chain"]
    points = {LABELS[name]: {n: cell(data, n, name).fairness() for n in several} for name in shown}
    return groups(points, "Jain's fairness index", y_max=1.0)


@study.chart_each(
    {
        network: (network, f"{shown.capitalize()}: means with 95 % intervals over the runs.")
        for network, shown in NETWORKS.items()
    }
)
def everything(data: Data, network: str) -> Chart:
    of_runs = {
        "round trip (ms)": delay,
        "age (ms)": age,
        "age, 95 % (ms)": oldest,
        "retransmitted (%)": lost,
        "frames / kB": cost,
    }
    columns = {"goodput": "goodput", "fairness": "fairness"}
    columns |= {text: partial(Cells.measure, of=of) for text, of in of_runs.items()}
    labels = {f"{network}/{name}": LABELS[name] for name in on(network)}
    return table_by(data.all_of_them, "variant", columns, labels, heading="transport")


EVERYWHERE = "everywhere; partly: on most networks"


def beside(data: Data, name: str, of: Callable[[Cells], Sample]) -> dict[str, Estimate]:
    """On each network, the ratio of measure `of` for a transport to the same measure for NewReno."""
    return {shown: of(cell(data, n, name)) / of(cell(data, n, "newreno")) for n, shown in NETWORKS.items()}


def measured(of: Callable[[Run], float]) -> Callable[[Cells], Sample]:
    """A measure of single runs as one of cells."""
    return lambda cells: cells.measure(of)


@study.check("TCP-AP and TCP-GAP are fairer than NewReno", paper=OUR_OWN, assumed=EVERYWHERE, because="newreno_is_fair")
def ap_fair(data: Data) -> Claim:
    gains = {
        shown: cell(data, n, "ap").fairness() - cell(data, n, "newreno").fairness()
        for n, shown in NETWORKS.items()
        if n != "chain"
    }
    return every(above(gains, 0.0)).or_partly(most(above(gains, 0.0)))


@study.cause("NewReno is already fair on crossing and parallel paths")
def newreno_is_fair(data: Data) -> Claim:
    return every(above({NETWORKS[n]: cell(data, n, "newreno").fairness() for n in ("cross", "parallel")}, 0.9))


@study.cause("where TCP-AP carries less, NewReno retransmits little that pacing could save")
def little_to_save(data: Data) -> Claim:
    gains = beside(data, "ap", Cells.goodput)
    behind = {n: NETWORKS[n] for n in NETWORKS if gains[NETWORKS[n]].value < 1.0}
    retransmitted = {shown: cell(data, n, "newreno").measure(lost) for n, shown in behind.items()}
    return every(below(retransmitted, 5.0)) if behind else Claim("TCP-AP is behind somewhere", False, "nowhere")


def _fills(name: str) -> None:
    def fills(data: Data) -> Claim:
        return most(above(beside(data, name, measured(delay)), 0.9))

    fills.__name__ = f"fills_{name}"
    study.cause(f"{LABELS[name]} fills the path as NewReno does: its round trips are as long on most networks")(fills)


for _name in ("rbp", "c3"):
    _fills(_name)


@study.cause("strong neighbours make the difference, not pacing: with them NewReno carries as much as RBP")
def neighbours_not_pacing(data: Data) -> Claim:
    ratios = {
        shown: cell(data, n, "rbp-ssa").goodput() / cell(data, n, "newreno-ssa").goodput()
        for n, shown in NETWORKS.items()
    }
    return most(below(ratios, 1.05))


@study.cause("no neighbour of the chain is too weak, so all that strong neighbours add there is HELLO messages")
def chain_has_no_periphery(data: Data) -> Claim:
    return below(cell(data, "chain", "newreno-ssa").counter("route", ["weak_ignored"]), 0.5)


@study.check(
    "Among random pairs and moving nodes, neighbours at the periphery are ignored",
    paper=OUR_OWN,
    assumed="NewReno over strong neighbours: at least some HELLO messages are too weak",
)
def periphery_is_ignored(data: Data) -> Claim:
    ignored = {
        NETWORKS[n]: cell(data, n, "newreno-ssa").counter("route", ["weak_ignored"]) for n in ("random", "moving")
    }
    return every(above(ignored, 0.0))


@study.check(
    "With a bounded queue TCP-GAP delivers younger bytes through the gateway",
    paper=OUR_OWN,
    assumed="younger than those of TCP-GAP and of NewReno; partly: than those of TCP-GAP",
)
def bounded_is_younger(data: Data) -> Claim:
    short = cell(data, "gateway", "ap-short").measure(age)
    beside_gap = below(short / cell(data, "gateway", "ap").measure(age), 1.0)
    beside_newreno = below(short / cell(data, "gateway", "newreno").measure(age), 1.0)
    return every({"TCP-GAP": beside_gap, "NewReno": beside_newreno}).or_partly(beside_gap)


MORE: Mapping[str, tuple[tuple[str, ...], str]] = {
    "ap": (("little_to_save",), "we think that where routes break it adapts slowly to the new round trip"),
    "adhoc": (
        (),
        "we think that two segments fill the paths of most random pairs, and that a window of a quarter of the "
        "hops is too "
        "small where frames are seldom lost",
    ),
    "rbp": (("fills_rbp",), ""),
    "rbp-ssa": (("neighbours_not_pacing", "chain_has_no_periphery"), ""),
    "c3": (
        ("fills_c3",),
        "we think that hosts behind the gateway, which do not take part, make its flows there behave as NewReno",
    ),
}
"""For the transports that do not carry more everywhere, the causes and what we think."""


def _register(name: str) -> None:
    def more(data: Data) -> Claim:
        claims = above(beside(data, name, Cells.goodput), 1.0)
        return every(claims).or_partly(most(claims))

    def cheaper(data: Data) -> Claim:
        claims = below(beside(data, name, measured(cost)), 1.0)
        return every(claims).or_partly(most(claims))

    def younger(data: Data) -> Claim:
        claims = below(beside(data, name, measured(age)), 1.0)
        return every(claims).or_partly(most(claims))

    because, why = MORE[name]
    said: dict[str, Any] = {"paper": OUR_OWN, "assumed": EVERYWHERE}
    for check in (more, cheaper, younger):
        check.__name__ += f"_{name.replace('-', '_')}"
    study.check(f"{LABELS[name]} carries more than NewReno", main=True, because=because, why=why, **said)(more)
    study.check(
        f"{LABELS[name]} transmits fewer frames per kilobyte than NewReno",
        why="we think that each frame lost to a collision costs another one; that on random pairs the shares "
        "of long and "
        "short paths, which change with fairness, have a larger effect; and so do route searches where nodes move",
        **said,
    )(cheaper)
    study.check(
        f"{LABELS[name]} delivers younger bytes than NewReno",
        why="the age of a byte is its wait at the sender, which is the time between two segments, and its way; "
        "we think that "
        "on networks where a transport carries less the first outweighs what shorter queues save on the second",
        **said,
    )(younger)


for _name in SYSTEMS:
    _register(_name)
