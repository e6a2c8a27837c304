"""Writes scenarios/community/meshviewer.json: a fictitious network in the format of real ones.

Positions, names and measurements are drawn with a seed: a quarter of a town with one Internet access, and other
features of real files: offline nodes, nodes that only have a tunnel, a server, two devices joined by a cable, links
without a quality. `python scripts/synthetic_mesh.py` writes it again; a test compares the file with it.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "scenarios" / "community" / "meshviewer.json"
SEED = 6
NODES = 44
ORIGIN = (50.7354, 7.0998)
"""Latitude and longitude of the middle."""
SIZE_M = (1250.0, 520.0)
APART_M = 62.0
"""Minimum distance between two nodes."""

_STREETS = ("harbour", "mill", "market", "station", "garden", "church", "school", "river", "castle", "orchard")
_KINDS = ("roof", "window", "shop", "cafe", "barn", "tower", "office", "balcony")
_DEGREE_M = 111_195.0
_MESSAGES = 256
"""Routing messages behind a quality, which is the share that arrived."""


def main() -> None:
    """Write the file."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text(), encoding="utf-8")


def text() -> str:
    """The content of the file: one line per node and per link."""
    made = network()
    nodes, links = (",\n".join(f"  {json.dumps(each)}" for each in made[key]) for key in ("nodes", "links"))
    head = json.dumps({key: made[key] for key in ("timestamp", "synthetic")})[:-1]
    return f'{head},\n "nodes": [\n{nodes}\n ],\n "links": [\n{links}\n ]\n}}\n'


def network() -> dict[str, Any]:
    """Its content."""
    draw = random.Random(SEED)
    places = _places(draw)
    names = draw.sample([f"{street}-{kind}" for street in _STREETS for kind in _KINDS], NODES + 5)
    nodes = [_node(i, names[i], place, draw) for i, place in enumerate(places)]
    links = [link for a in range(NODES) for b in range(a) if (link := _link(b, a, places, draw)) is not None]
    # The access is near the western end; it has a tunnel to the community's server.
    access = min(range(NODES), key=lambda n: math.dist(places[n], (200.0, 260.0)))
    server = {"node_id": _id(900), "hostname": "gw01", "is_online": True, "is_gateway": True, "clients": 0}
    lonely = [_node(NODES + i, names[NODES + i], (SIZE_M[0] + 2500.0 + 900.0 * i, -1500.0), draw) for i in range(3)]
    for node in lonely[2:]:
        node["is_online"] = False
    tunnels = [_id(access), *(node["node_id"] for node in lonely[:2])]
    links += [
        {"type": "vpn", "source": id_, "target": server["node_id"], "source_tq": 1.0, "target_tq": 1.0}
        for id_ in tunnels
    ]
    # Two devices on one roof, joined by a cable.
    twin = _node(NODES + 3, names[NODES + 3], (places[access][0] + 4.0, places[access][1]), draw)
    links.append(
        {"type": "other", "source": _id(access), "target": twin["node_id"], "source_tq": 1.0, "target_tq": 1.0}
    )
    off = _node(NODES + 4, names[NODES + 4], (470.0, 260.0), draw) | {"is_online": False, "clients": 0}
    return {
        "timestamp": "2026-11-22T20:00:00+0000",
        "synthetic": f"made by scripts/synthetic_mesh.py with seed {SEED}; no such network exists",
        "nodes": [*nodes, server, *lonely, twin, off],
        "links": links,
    }


def _places(draw: random.Random) -> list[tuple[float, float]]:
    """Nodes at random, not too close to each other, each within reach of an earlier one."""
    places = [(SIZE_M[0] / 2.0, SIZE_M[1] / 2.0)]
    while len(places) < NODES:
        at = (draw.uniform(0.0, SIZE_M[0]), draw.uniform(0.0, SIZE_M[1]))
        if APART_M < min(math.dist(at, other) for other in places) < 2.0 * APART_M:
            places.append(at)
    return places


def _node(number: int, name: str, place: tuple[float, float], draw: random.Random) -> dict[str, Any]:
    latitude = ORIGIN[0] + (place[1] - SIZE_M[1] / 2.0) / _DEGREE_M
    longitude = ORIGIN[1] + (place[0] - SIZE_M[0] / 2.0) / (_DEGREE_M * math.cos(math.radians(ORIGIN[0])))
    return {
        "node_id": _id(number),
        "hostname": name,
        "is_online": True,
        "is_gateway": False,
        "clients": draw.choice((0, 0, 1, 2, 3, 5, 8)),
        "location": {"latitude": round(latitude, 6), "longitude": round(longitude, 6)},
    }


def _link(a: int, b: int, places: list[tuple[float, float]], draw: random.Random) -> dict[str, Any] | None:
    """A routing protocol's measurement of a pair: free space over a metre, exponent 3, 5 dB of shadowing, fading."""
    metres = math.dist(places[a], places[b])
    shadow_db = draw.gauss(0.0, 5.0)
    shares = []
    for _ in range(2):
        over_least_db = 108.0 - 40.2 - 30.0 * math.log10(metres) + shadow_db + draw.gauss(0.0, 1.0)
        # With fading, the share of frames rises from few to most over a dozen decibels.
        good = 1.0 / (1.0 + math.exp(-over_least_db / 2.2))
        shares.append(sum(draw.random() < good for _ in range(_MESSAGES)) / _MESSAGES)
    if min(shares) < 0.3:
        return None
    unknown = draw.random() < 0.03
    tq = [0.0 if unknown else round(share, 3) for share in shares]
    return {"type": "wifi", "source": _id(a), "target": _id(b), "source_tq": tq[0], "target_tq": tq[1]}


def _id(number: int) -> str:
    return f"02ca11{number:06x}"


if __name__ == "__main__":
    main()
