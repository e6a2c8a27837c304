"""Positions for nodes without one. They matter only for the map; measurements decide how nodes receive each other."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

from fourhop.community.network import FARTHEST_M, Network, Note, hops_from
from fourhop.text import count

_RING_M = 100.0
"""Distance between two rings."""
_BESIDE_M = 15.0
"""Distance of a node from the middle of its neighbours."""
_DEGREE_M = 111_195.0
"""Length of a degree of latitude."""


def placed(network: Network, roots: list[str]) -> Network:
    """The network with a position for every node."""
    lacking = [id_ for id_, node in network.nodes.items() if node.place is None]
    if not lacking:
        return network
    if len(lacking) == len(network.nodes):
        note = Note("missing", "positions of all nodes; drawn in rings by hops to the nearest gateway")
        return replace(_rings(network, roots), in_metres=True, notes=(*network.notes, note))
    whole = _amid(network, lacking)
    if stray := _stray(network, whole):
        # None of its neighbours has a useful position, but their neighbours have.
        text = f"the position of a node farther than {FARTHEST_M / 1e3:.0f} km from the neighbours of its neighbours"
        note = Note("left out", text, network.named([stray]))
        nodes = {**network.nodes, stray: replace(network.nodes[stray], place=None)}
        return placed(replace(network, nodes=nodes, notes=(*network.notes, note)), roots)
    named = network.named(lacking)
    note = Note("missing", f"positions of {count(len(lacking), 'node')}, drawn between the neighbours", named)
    return replace(whole, notes=(*network.notes, note))


def _stray(network: Network, whole: Network) -> str | None:
    """The node whose position makes a link longer than radio reaches: the one farthest from the middle."""
    known = {id_: node.place for id_, node in network.nodes.items() if node.place is not None}
    if len(known) < 3:
        return None
    neighbours = network.neighbours()
    hands: set[str] = set()
    for link in network.links:
        if (whole.distance_m(link.source, link.target) or 0.0) > FARTHEST_M:
            hands |= {id_ for end in link.ends for id_ in (end, *neighbours[end])}
    middle = tuple(statistics.median(place[axis] for place in known.values()) for axis in (0, 1))
    return max(hands & known.keys(), key=lambda id_: (math.dist(known[id_], middle), id_), default=None)


def _amid(network: Network, lacking: list[str]) -> Network:
    nodes = dict(network.nodes)
    neighbours = network.neighbours()
    known = [node.place for node in nodes.values() if node.place is not None]
    middle = (sum(a for a, _ in known) / len(known), sum(b for _, b in known) / len(known))
    # Neighbours of placed nodes first, then their neighbours.
    found = {id_: node.place for id_, node in nodes.items() if node.place is not None}
    order = hops_from(neighbours, list(found))
    for number, id_ in enumerate(sorted(lacking, key=lambda id_: order.get(id_, len(order)))):
        near = [found[other] for other in neighbours[id_] if other in found] or [middle]
        a, b = (sum(values) / len(near) for values in zip(*near, strict=True))
        scale = 1.0 if network.in_metres else 1.0 / _DEGREE_M
        # Each is rotated by the golden angle, so that no two coincide.
        angle = number * math.pi * (3.0 - math.sqrt(5.0))
        found[id_] = (a + _BESIDE_M * scale * math.cos(angle), b + _BESIDE_M * scale * math.sin(angle))
    return replace(network, nodes={id_: replace(node, place=found[id_]) for id_, node in nodes.items()})


def _rings(network: Network, roots: list[str]) -> Network:
    """A tree of shortest paths: each node on the ring of its hop count, within the sector of its parent."""
    neighbours = network.neighbours()
    hops = hops_from(neighbours, roots)
    # Disconnected components get a separate ring.
    outer = max(hops.values(), default=0) + 1
    below: dict[str | None, list[str]] = {None: list(roots)}
    for id_ in network.nodes:
        if id_ not in hops:
            hops[id_] = outer
            below[None].append(id_)
        elif hops[id_]:
            below.setdefault(next(x for x in neighbours[id_] if hops.get(x) == hops[id_] - 1), []).append(id_)
    leaves: dict[str, int] = {}
    for id_ in sorted(network.nodes, key=lambda id_: -hops[id_]):
        leaves[id_] = max(1, sum(leaves[child] for child in below.get(id_, []) if hops[child] > hops[id_]))
    places: dict[str, tuple[float, float]] = {}

    def spread(parent: str | None, start: float, end: float) -> None:
        children = below.get(parent, [])
        total = sum(leaves[child] for child in children)
        for child in children:
            share = (end - start) * leaves[child] / total
            angle, radius = 2.0 * math.pi * (start + share / 2.0), _RING_M * hops[child]
            radius += _RING_M / 2.0 if parent is None and len(children) > 1 else 0.0
            places[child] = (radius * math.cos(angle), radius * math.sin(angle))
            spread(child, start, start + share)
            start += share

    spread(None, 0.0, 1.0)
    return replace(network, nodes={id_: replace(node, place=places[id_]) for id_, node in network.nodes.items()})
