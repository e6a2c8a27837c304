"""Networks drawn by a program: the same class and number always give the same network."""

import random
from collections.abc import Mapping
from typing import Any

from fourhop import Scenario

from ._worlds import FADING, MAC, REACH_M, TCP, N

CLASSES: Mapping[str, str] = {
    "fading": "802.11n, Minstrel-HT, fading",
    "steady": "802.11n, Minstrel-HT, steady",
    "fixed": "802.11n, fixed rate",
    "old": "802.11b, AODV",
}
LAYOUTS = ("chain", "cross", "parallel", "grid", "random", "gateway")
MCS_AND_SPACING = ((1, 60, 75), (3, 50, 60), (4, 38, 45))
"""At a fixed rate: the scheme, and the range of distances between neighbours, so that a link loses little."""


def draw(kind: str, number: int) -> Scenario:
    """Network `number` of a class, with NewReno's flows. Six consecutive numbers have six layouts."""
    made = _network(kind, number)
    if "traffic" in made.resolved:
        return made.with_(**{"traffic.start": "50ms", "traffic.stagger": "20ms"})
    flows = range(len(made.resolved["flows"]))
    return made.with_(**{f"flows[{n}].start": f"{50 + 20 * n}ms" for n in flows})


def _network(kind: str, number: int) -> Scenario:
    of = random.Random(f"{kind} {number}")
    layout = LAYOUTS[number % len(LAYOUTS)]
    keys, metres = (_old(), 200.0) if kind == "old" else _today(kind, of)
    spacing = {"spacing": f"{metres:g}m"}
    match layout:
        case "chain":
            return Scenario.chain(of.randint(2, 8), **spacing, **keys)
        case "cross":
            return Scenario.cross(of.choice((2, 4, 6)), **spacing, **keys)
        case "parallel":
            hops = [of.randint(2, 6) for _ in range(2)]
            return Scenario.parallel_chains(hops, separation=f"{2 * metres:g}m", **spacing, **keys)
        case "grid":
            side = of.randint(3, 5)
            return Scenario.grid(side, side, flows=_flows(*_across(side, of)), **spacing, **keys)
        case "random":
            reach = REACH_M[kind == "old"] * metres / (200.0 if kind == "old" else 60.0)
            nodes = of.randint(20, 40)
            sides = {"width": f"{nodes / 10 * reach:.0f}m", "height": f"{2.5 * reach:.0f}m"}
            return Scenario.random(nodes, pairs=of.randint(2, 5), **sides, **keys)
        case _:
            return _gateway(of, spacing, keys)


def _today(kind: str, of: random.Random) -> tuple[dict[str, Any], float]:
    """Sections of an 802.11n mesh, and the distance between neighbours in metres."""
    routes: dict[str, Any] = {"protocol": "static"}
    keys: dict[str, Any] = {"profile": "standard", "tcp": TCP, "duration": "16s", "warmup": "4s"}
    keys["link"] = {"queue": "fq-codel"}
    if kind == "fixed":
        mcs, nearest, farthest = of.choice(MCS_AND_SPACING)
        keys |= {"radio": {**N, "mcs": mcs}, "mac": MAC}
        if of.random() < 0.5:
            del keys["link"]
    else:
        nearest, farthest = 40, 62
        fading = {**FADING, "doppler": f"{of.uniform(1, 4):.1f}Hz"} if kind == "fading" else {}
        keys |= {"radio": {**N, "mcs": 7, **fading}, "mac": {**MAC, "rate_control": "minstrel"}}
        routes |= {"metric": "airtime"} | ({"metric_over_fades": True} if fading else {})
    if of.random() < 0.5:
        keys["radios"] = [{"channel": 36}, {"channel": 44}]
    return keys | {"routing": routes}, of.uniform(nearest, farthest)


def _old() -> dict[str, Any]:
    tcp = {**TCP, "window": 64}
    return {"profile": "standard", "radio": {"rate": "2Mbps"}, "tcp": tcp, "duration": "50s", "warmup": "10s"}


def _flows(*ends: tuple[int | str, int | str]) -> list[dict[str, Any]]:
    return [{"from": src, "to": dst, "transport": "newreno"} for src, dst in ends]


def _across(side: int, of: random.Random) -> list[tuple[int, int]]:
    """Two or three of the rows and columns of a square, from one edge to the other."""
    rows = [(side * row, side * row + side - 1) for row in range(side)]
    columns = [(column, side * (side - 1) + column) for column in range(side)]
    return of.sample(rows + columns, of.randint(2, 3))


def _gateway(of: random.Random, spacing: Mapping[str, str], keys: Mapping[str, Any]) -> Scenario:
    """A gateway in the middle of a cross, with downloads to some of its nodes."""
    arms = of.randint(1, 3)
    nodes = [node for node in range(4 * arms + 1) if node != arms]
    return Scenario.from_dict(
        {
            "topology": {"kind": "cross", "hops": 2 * arms, **spacing},
            "wired": {
                "gateways": [arms],
                "nodes": ["internet"],
                "rate": "100Mbps",
                "delay": f"{of.randint(2, 25)}ms",
            },
            "flows": _flows(*(("internet", node) for node in of.sample(nodes, of.randint(2, 4)))),
            **keys,
        }
    )
