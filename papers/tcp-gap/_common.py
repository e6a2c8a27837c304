"""Shared by the studies of TCP-GAP: the set-up of section 5.1, the variants compared, the topologies.

Files are named `f<figure>_<what>.py`, two digits, so that the report lists them in the order of the paper; `s45` is
section 4.5, `t02` table 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fourhop import Scenario
from fourhop.study import STEADY, Profile
from fourhop.study.flows import STARVING

PAPER = "ElRakabawy, Lindemann, Computer Networks 52 (2008)"

CODE: Mapping[str, Any] = {"tcp_ap.profile": "authors-code", "tcp.max_timeouts": "none"}
"""The arithmetic of the ns-2 agent that the authors published, for the senders and for the gateway."""

_GAP: Mapping[str, Any] = {"gateway.kind": "gap", "gateway.goodput_control": True}

VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "newreno": ("NewReno", {"gateway.kind": "plain"}),
    "gap": ("TCP-GAP without goodput control", {**_GAP, "gateway.goodput_control": False}),
    "gap-gc": ("TCP-GAP", _GAP),
    "gap-code": ("TCP-GAP, authors' arithmetic", {**_GAP, **CODE}),
    "gap-all": ("TCP-GAP, control among all flows", {**_GAP, "gateway.among": "all"}),
    "gap-da": ("TCP-GAP, delayed ACK", {**_GAP, "tcp.ack_policy": "delayed"}),
    "gap-code-da": ("TCP-GAP, authors' arithmetic, delayed ACK", {**_GAP, **CODE, "tcp.ack_policy": "delayed"}),
}
"""The variants compared: short name, then label and keys. With TCP-GAP wireless senders pace themselves (`tcp-ap`, with
the wired part of the round trip reported by the gateway); wired senders always use NewReno."""

USUAL = ("newreno", "gap", "gap-gc", "gap-code")
"""The variants that most studies compare."""


def labels(*names: str) -> dict[str, str]:
    """The labels of the named variants, or of the usual ones."""
    return {name: VARIANTS[name][0] for name in names or USUAL}


LABELS = labels(*VARIANTS)

WIRED = ("R1", "R2", "B")
"""Figure 5: two routers and a host."""

ASSUMED = (
    "Receivers acknowledge every segment and have a window of 64: section 4.3 calculates with 64 packets.",
    "Each wired link takes 40 ms, with three of them between gateway and host as in figure 5, and also in figure 3, "
    "for which the text does not give the number of routers.",
    "The 55,000 packets are counted over all flows: a starving flow would never deliver that many.",
    "The rate of TCP-GAP is computed by the formulas of the text, like that of TCP-AP: N = 50, alpha = 0.7. A variant "
    "has the arithmetic of the ns-2 agent of TCP-AP that the authors published.",
)
"""Assumptions of every study of this paper."""

SHORTER: Mapping[str, Any] = {**STEADY, "packets": 22_000}
"""For measurements that are not in a figure: causes."""

STILL: Mapping[str, Any] = {"routing.protocol": "static"}
"""Routes that never break, to exclude links that AODV mistakes for broken."""

ASSUMED_SHORTER = "Routes that never break, which explain what is not reproduced, are measured over 22,000 packets."

ASSUMED_STARVING = f"A flow starves if it has less than {STARVING:g} of an equal share; the paper gives no bound."
Direction = Literal["up", "down"]
"""From the mesh to the wired network, or the reverse."""


def _settings(keys: dict[str, Any]) -> dict[str, Any]:
    """Section 5.1: 11 Mbit/s, 1460 B, RTS before every unicast frame; window 64, the rest are defaults."""
    radio = {"rate": "11Mbps", **keys.pop("radio", {})}
    tcp = {"window": 64, "mss": "1460B", "ack_policy": "every-segment", **keys.pop("tcp", {})}
    return {**keys, "radio": radio, "tcp": tcp}


def _flow(name: str, radio: int | str, host: str, direction: Direction, **keys: Any) -> dict[str, Any]:
    ends = {"from": radio, "to": host} if direction == "up" else {"from": host, "to": radio}
    return {"name": name, **ends, "transport": "newreno", **keys}


def _made(
    topology: Mapping[str, Any],
    wired: Mapping[str, Any],
    flows: Sequence[Mapping[str, Any]],
    keys: dict[str, Any],
    profile: Profile,
    name: str,
    wires: Sequence[tuple[str, str]] = (),
) -> Scenario:
    document: dict[str, Any] = {
        "name": name,
        "profile": profile,
        "duration": "100s",
        "topology": dict(topology),
        "wired": {"rate": "10Mbps", "delay": "40ms", **wired, **keys.pop("wired", {})},
        "flows": [dict(flow) for flow in flows],
        **_settings(keys),
    }
    if wires:
        document["wires"] = [{"ends": list(ends)} for ends in wires]
    return Scenario.from_dict(document)


def chain(profile: Profile, hops: int = 4, direction: Direction = "up", **keys: Any) -> Scenario:
    """Figure 3: a chain from node 0, which is A, to the gateway, two routers, host B; `ftp` between A and B."""
    topology = {"kind": "chain", "hops": hops}
    wired = {"gateways": ["last"], "nodes": list(WIRED)}
    return _made(topology, wired, [_flow("ftp", 0, "B", direction)], keys, profile, "gap-chain")


CHAIN_NODES = 5
"""Figure 5: A and four relays on each chain; nodes 0 to 4 on the upper one, 5 to 9 on the lower one."""

GATEWAY = 2 * CHAIN_NODES
"""The gateway of the parallel chains: between their ends, 200 m from each."""


def parallel(
    profile: Profile, directions: tuple[Direction, Direction], flow: Mapping[str, Any] | None = None, **keys: Any
) -> Scenario:
    """Figure 5: two chains 400 m apart that meet at one gateway, five hops each.

    `ftp-1` is between A1 (node 0) and B, `ftp-2` between A2 (node 5) and B. `flow` has keys for both flows.
    """
    places = [[f"{200 * n}m", y] for y in ("400m", "0m") for n in range(CHAIN_NODES)]
    places.append([f"{200 * (CHAIN_NODES - 1)}m", "200m"])
    flows = [_flow(f"ftp-{n + 1}", CHAIN_NODES * n, "B", directions[n], **(flow or {})) for n in range(2)]
    wired = {"gateways": [GATEWAY], "nodes": list(WIRED)}
    return _made({"kind": "positions", "positions": places}, wired, flows, keys, profile, "gap-parallel")


CROSS_ARM = 4
"""Hops from the gateway to the end of each arm of the cross, not stated in the text."""


def cross(
    profile: Profile, directions: Sequence[Direction], flow: Mapping[str, Any] | None = None, **keys: Any
) -> Scenario:
    """Figure 17: the gateway in the middle of a cross, seven wired nodes in a tree behind it.

    `ftp-n` is between An and Bn. A1 and A2 are the ends of the horizontal line, A3 and A4 those of the vertical one.
    """
    line = 2 * CROSS_ARM
    ends = (0, line, line + 1, 2 * line)
    flows = [_flow(f"ftp-{n + 1}", ends[n], f"B{n + 1}", directions[n], **(flow or {})) for n in range(4)]
    wired = {"gateways": [CROSS_ARM], "nodes": ["R1", "R2", "R3", "B1", "B2", "B3", "B4"]}
    wires = (("gateway-1", "R1"), ("R1", "R2"), ("R1", "R3"), ("R2", "B1"), ("R2", "B2"), ("R3", "B3"), ("R3", "B4"))
    return _made({"kind": "cross", "hops": line}, wired, flows, keys, profile, "gap-cross", wires)


def random(
    profile: Profile, directions: Sequence[Direction], flow: Mapping[str, Any] | None = None, **keys: Any
) -> Scenario:
    """Section 5.2.4: 120 nodes in 2500 m x 1000 m; a random one is the gateway.

    Flows are between random nodes and host B; each seed draws its own network.
    """
    topology = {"kind": "random", "nodes": 120, "width": "2500m", "height": "1000m"}
    flows = [_flow(f"ftp-{n + 1}", "random", "B", each, **(flow or {})) for n, each in enumerate(directions)]
    wired = {"gateways": ["random"], "nodes": list(WIRED)}
    return _made(topology, wired, flows, keys, profile, "gap-random")


MOBILE = 5
"""The host that walks from one gateway to the other."""

LEAVES_S, ARRIVES_S = 30.0, 110.0
"""Departure and arrival of its walk: 1000 m at 12.5 m/s."""


def two_gateways(profile: Profile, direction: Direction, **keys: Any) -> Scenario:
    """Section 4.5: a chain of five with a gateway at either end, both connected to one router with host B behind it.

    A mobile host walks at a distance of 150 m from the chain, from 100 m before its first node to 100 m beyond its
    last, where it hears only the gateway; `ftp` is between it and B.
    """
    places = [[f"{200 * n}m", "0m"] for n in range(5)] + [["-100m", "150m"]]
    mobility = {
        "model": "waypoints",
        "waypoints": [[MOBILE, f"{LEAVES_S:g}s", "-100m", "150m"], [MOBILE, f"{ARRIVES_S:g}s", "900m", "150m"]],
    }
    wired = {"gateways": [0, 4], "nodes": ["R1", "B"]}
    flows = [_flow("ftp", MOBILE, "B", direction)]
    topology = {"kind": "positions", "positions": places}
    return _made(topology, wired, flows, {"mobility": mobility, **keys}, profile, "gap-two-gateways")


def variant(scenario: Scenario, name: str) -> Scenario:
    """The scenario with one of the variants."""
    _, keys = VARIANTS[name]
    flows = scenario.resolved["flows"]
    upward = [i for i, flow in enumerate(flows) if isinstance(flow["from"], int) or flow["from"] == "random"]
    paced = "newreno" if name == "newreno" else "tcp-ap"
    return scenario.with_(**{f"flows[{i}].transport": paced for i in upward}, **keys)


def compared(scenario: Scenario, *names: str) -> dict[str, Scenario]:
    """The scenario with each of the named variants, or with the usual ones, for `Sweep(variants=...)`."""
    return {name: variant(scenario, name) for name in names or USUAL}
