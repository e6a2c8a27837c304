"""The five systems and the common transports on the same networks, for readers who have to choose a transport.

All flows of a network use the same transport. Where there is a gateway, TCP-AP runs with the gateway of TCP-GAP and the
others with a plain one. The papers do not contain this comparison; each compares itself with one or two of these
transports.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import Cells, Chart, Claim, Data, Estimate, Profile, Run, Sample, Study, Variants, groups, table_by
from fourhop.study.claims import above, below, every, most

TRANSPORTS = Variants(
    {
        "newreno": ("NewReno", "newreno", {}),
        "cubic": ("CUBIC", "cubic", {}),
        "vegas": ("Vegas", "vegas", {}),
        "westwood": ("Westwood+", "westwood", {}),
        "ap": ("TCP-AP / TCP-GAP", "tcp-ap", {}),
        "adhoc": ("ad hoc TCP", "adhoc-tcp", {}),
        "rbp": ("RBP", "rbp", {}),
        "rbp-ssa": (
            "RBP, signal-strength AODV",
            "rbp",
            {"routing.protocol": "ssa-aodv", "routing.signal_threshold": "-64dBm"},
        ),
        "c3": ("C3TCP", "newreno", {"c3tcp.enabled": True}),
    }
)
"""By short name: label, transport, keys. The threshold is the signal strength at 250 m, so that no node is ignored that
can be decoded: the comparison is not one of thresholds."""

LABELS = TRANSPORTS.labels
SYSTEMS = ("ap", "adhoc", "rbp", "c3")
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
        "Delay is the mean round trip that senders sample. Losses are the share of retransmitted segments. "
        "Transmissions are frames of every kind, sent by all nodes, per kilobyte delivered: the cost on the air.",
        "The gateway stands in the middle of a cross with arms of four hops; two flows go each way, wires of 10 Mbit/s "
        "and 40 ms. In the field 50 nodes move at 10 m/s between the ends of the flows.",
    ],
)


def _settings(profile: Profile) -> dict[str, Any]:
    tcp = {"window": 64, "mss": "1460B", "ack_policy": "every-segment"}
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
    made = TRANSPORTS.of(scenario, name)
    return made.with_(**{"gateway.kind": "gap"}) if name == "ap" and "wired" in scenario.resolved else made


@study.sweep
def all_of_them(profile: Profile) -> Sweep:
    networks = {network: _network(network, profile) for network in NETWORKS}
    variants = {f"{network}/{name}": _of(base, name) for network, base in networks.items() for name in TRANSPORTS}
    return Sweep(variants=variants, runs=RUNS)


def cell(data: Data, network: str, name: str) -> Cells:
    return data.all_of_them.where(variant=f"{network}/{name}")


def delay(run: Run) -> float:
    """Mean over the flows of their mean round trips, in ms; flows without a sample do not count."""
    known = [flow["rtt_mean_s"] for flow in run.flows.values() if flow["rtt_mean_s"] is not None]
    return 1e3 * sum(known) / len(known) if known else float("nan")


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
    shown = [name for name in TRANSPORTS if name not in ("newreno", "cubic", "westwood")]
    points = {
        LABELS[name]: {n: cell(data, n, name).goodput() / cell(data, n, "newreno").goodput() for n in NETWORKS}
        for name in shown
    }
    return groups(points, "gain over NewReno (%)")


@study.chart
def fairness(data: Data) -> Chart:
    """Jain's index over 100 s, on the networks with several flows."""
    shown = [name for name in TRANSPORTS if name not in ("cubic", "westwood")]
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
    of_runs = {"round trip (ms)": delay, "retransmitted (%)": lost, "frames / kB": cost}
    columns = {"goodput": "goodput", "fairness": "fairness"}
    columns |= {text: partial(Cells.measure, of=of) for text, of in of_runs.items()}
    labels = {f"{network}/{name}": label for name, label in LABELS.items()}
    return table_by(data.all_of_them, "variant", columns, labels, heading="transport")


OWN = "nothing: this is our own question"
MORE: Mapping[str, Mapping[Profile, str]] = {
    "ap": {
        "ns2": "over long paths and through the gateway it does, by up to three quarters; on short paths it waits "
        "longer than necessary, and when routes break it adapts slowly to the new round trip",
        "standard": "where radio and routing follow the standards NewReno loses little, and pacing by the variation "
        "of round trips costs a quarter of the goodput on crossing paths. In return it gains fairness and has a tenth "
        "of the delay",
    },
    "adhoc": {
        "ns2": "on random pairs most flows have a few hops, where two segments fill the path for both",
        "standard": "a window of a quarter of the hops is too small where frames are seldom lost",
    },
    "rbp": {
        "ns2": "segments at a distance of RTT / (cwnd + 1) still fill the path: the window grows as before",
        "standard": "as under ns2",
    },
    "c3": {
        "ns2": "the window that the links allow is that of a pipe, which is larger than what a chain of radios can "
        "hold; hosts behind the gateway do not take part, and its flows behave as NewReno",
        "standard": "as under ns2",
    },
}
"""Our explanations for the transports that do not carry more everywhere."""


def beside(data: Data, name: str, of: Callable[[Cells], Sample]) -> dict[str, Estimate]:
    """On each network, the ratio of measure `of` for a transport to the same measure for NewReno."""
    return {shown: of(cell(data, n, name)) / of(cell(data, n, "newreno")) for n, shown in NETWORKS.items()}


@study.check(
    "TCP-AP and TCP-GAP are fairer than NewReno",
    paper=OWN,
    assumed="everywhere; partly: on most networks",
    why={
        "ns2": "within 100 s the flow that is ahead depends on the seed for both, and ten runs do not tell them apart "
        "except on random pairs, where TCP-AP is much fairer",
        "standard": "on crossing and parallel paths NewReno is fair already; on the grid, random pairs and through the "
        "gateway TCP-AP is fairer",
    },
)
def ap_fair(data: Data) -> Claim:
    gains = {
        shown: cell(data, n, "ap").fairness() - cell(data, n, "newreno").fairness()
        for n, shown in NETWORKS.items()
        if n != "chain"
    }
    return every(above(gains, 0.0)).or_partly(most(above(gains, 0.0)))


def _register(name: str) -> None:
    def more(data: Data) -> Claim:
        claims = above(beside(data, name, Cells.goodput), 1.0)
        return every(claims).or_partly(most(claims))

    def cheaper(data: Data) -> Claim:
        claims = below(beside(data, name, lambda cells: cells.measure(cost)), 1.0)
        return every(claims).or_partly(most(claims))

    where = "everywhere; partly: on most networks"
    more.__name__, cheaper.__name__ = f"more_{name}", f"cheaper_{name}"
    study.check(f"{LABELS[name]} carries more than NewReno", main=True, paper=OWN, assumed=where, why=MORE[name])(more)
    study.check(
        f"{LABELS[name]} transmits fewer frames per kilobyte than NewReno",
        paper=OWN,
        assumed=where,
        why="each frame lost to a collision costs another one; on random pairs the shares of long and short paths, "
        "which change with fairness, have a larger effect, and so do route searches where nodes move",
    )(cheaper)


for _name in SYSTEMS:
    _register(_name)
