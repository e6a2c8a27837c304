"""Choose the part of a network to simulate: connected nodes on the air, or the requested part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourhop.community.network import FARTHEST_M, Link, Network, Node, Note, components, hops_from
from fourhop.errors import FourhopError
from fourhop.text import count


@dataclass(frozen=True)
class Part:
    """The requested part of a network."""

    component: int | None = 1
    """Number of the connected component, the largest first; `None` for all of them."""
    near: str | None = None
    """Only nodes within `hops` of this one."""
    hops: int = 3
    box: tuple[float, float, float, float] | None = None
    """Only nodes within south, west, north, east: degrees, or metres if places are in metres."""


def choose(network: Network, part: Part, gateways: Sequence[str] = ()) -> Network:
    """The network to simulate, with notes on omissions. Raises `FourhopError` if nothing is left."""
    # Even tunnels show that links are known, so that a node without a radio link really has none.
    known = bool(network.links)
    network = _without_far_places(_on_the_air(_with_uplinks(network), known))
    network = _cables_merged(network)
    for name in gateways:
        id_ = _find(network, name, "--gateway")
        network = replace(network, nodes={**network.nodes, id_: replace(network.nodes[id_], uplink=True)})
    if part.box is not None:
        network = _in_box(network, part.box)
    if part.near is not None:
        near = hops_from(network.neighbours(), [_find(network, part.near, "--near")])
        network = network.only([id_ for id_, hops in near.items() if hops <= part.hops])
    if part.component is not None and network.links and network.nodes:
        network = _component(network, part.component)
    if len(network.nodes) < 2:
        raise FourhopError(
            f"selection: found {count(len(network.nodes), 'node')}, allowed: at least two; choose a larger part"
        )
    return network


def _find(network: Network, name: str, option: str) -> str:
    found = [id_ for id_, node in network.nodes.items() if name in (id_, node.name)]
    if len(found) != 1:
        what = f"{len(found)} nodes called {name!r}" if found else repr(name)
        some = ", ".join(sorted(node.name for node in network.nodes.values())[:8])
        raise FourhopError(
            f"{option}: found {what}, allowed: the name or id of one node that is on the air, such as {some}"
        )
    return found[0]


def _with_uplinks(network: Network) -> Network:
    """Mark nodes with a tunnel as having their own Internet access."""
    tunnelled = {id_ for link in network.links if link.medium == "tunnel" for id_ in link.ends}
    new = [id_ for id_ in network.nodes if id_ in tunnelled and not network.nodes[id_].uplink]
    nodes = {id_: replace(node, uplink=node.uplink or id_ in tunnelled) for id_, node in network.nodes.items()}
    links = tuple(link for link in network.links if link.medium != "tunnel")
    many = count(len(new), "node with a tunnel has", "nodes with a tunnel have")
    said = (Note("assumed", f"{many} a way to the Internet besides the mesh"),) if new else ()
    return replace(network, nodes=nodes, links=links, notes=(*network.notes, *said))


def _without_far_places(network: Network) -> Network:
    """Remove the positions of nodes that are farther from their neighbours than radio reaches.

    The link was measured, but the position was typed in. Of the two ends, the one with more such links
    is assumed to be in error.
    """
    links = [link for link in network.links if link.medium != "tunnel"]
    many = Counter(id_ for link in links for id_ in link.ends)
    dropped: dict[str, float] = {}
    while True:
        far = [(m, link) for link in links if (m := network.distance_m(link.source, link.target) or 0.0) > FARTHEST_M]
        if not far:
            break
        suspects = Counter(id_ for _, link in far for id_ in link.ends)
        worst = max(suspects, key=lambda id_: (suspects[id_] / many[id_], suspects[id_], id_))
        dropped[worst] = max(m for m, link in far if worst in link.ends)
        network = replace(network, nodes={**network.nodes, worst: replace(network.nodes[worst], place=None)})
    if not dropped:
        return network
    text = (
        f"positions of {count(len(dropped), 'node')}, up to {max(dropped.values()) / 1e3:.0f} km from a neighbour; "
        f"radio reaches {FARTHEST_M / 1e3:.0f} km"
    )
    return replace(network, notes=(*network.notes, Note("left out", text, network.named(dropped))))


def _on_the_air(network: Network, links_known: bool) -> Network:
    """Remove nodes that are offline and, if links are known, those without links."""
    off = [id_ for id_, node in network.nodes.items() if not node.online]
    if off:
        note = Note("left out", count(len(off), "node that is offline", "nodes that are offline"), network.named(off))
        network = network.only(network.nodes.keys() - off, note)
    if links_known:
        linked = {id_ for link in network.links for id_ in link.ends}
        alone = [id_ for id_ in network.nodes if id_ not in linked]
        if alone:
            text = f"{count(len(alone), 'node')} without a link to another node of the mesh"
            network = network.only(linked, Note("left out", text, network.named(alone)))
    return network


def _cables_merged(network: Network) -> Network:
    """Merge nodes joined by cable, since a cable is fast compared with any radio of the mesh."""
    joined = [part for part in components(network.neighbours(("cable",))) if len(part) > 1]
    if not joined:
        return network
    to = {id_: part[0] for part in joined for id_ in part}
    nodes: dict[str, Node] = {}
    for id_, node in network.nodes.items():
        first = to.get(id_, id_)
        nodes[first] = _one(nodes[first], node) if first in nodes else node
    found: dict[frozenset[str], Link] = {}
    for link in network.links:
        moved = replace(link, source=to.get(link.source, link.source), target=to.get(link.target, link.target))
        if moved.medium == "radio" and moved.source != moved.target:
            other = found.get(moved.ends)
            found[moved.ends] = moved if other is None or (moved.there or 0) > (other.there or 0) else other
    text = f"{len(to)} nodes joined by cable count as {count(len(joined), 'node')}"
    note = Note("assumed", text, tuple(network.nodes[part[0]].name for part in joined))
    return replace(network, nodes=nodes, links=tuple(found.values()), notes=(*network.notes, note))


def _one(first: Node, other: Node) -> Node:
    clients = [node.clients for node in (first, other) if node.clients is not None]
    return replace(
        first,
        place=first.place or other.place,
        uplink=first.uplink or other.uplink,
        clients=sum(clients) if clients else None,
        channels=tuple(dict.fromkeys((*first.channels, *other.channels))),
    )


def _in_box(network: Network, box: tuple[float, float, float, float]) -> Network:
    south, west, north, east = box

    def inside(node: Node) -> bool:
        if node.place is None:
            return False
        # Metres are east, then north; degrees are the other way round.
        up, right = reversed(node.place) if network.in_metres else node.place
        return south <= up <= north and west <= right <= east

    return network.only([id_ for id_, node in network.nodes.items() if inside(node)])


def _component(network: Network, number: int) -> Network:
    parts = components(network.neighbours())
    # People do not use a component without Internet access, unless all are like that.
    parts = [part for part in parts if any(network.nodes[id_].uplink for id_ in part)] or parts
    if number > len(parts):
        raise FourhopError(f"--component: found {number}, allowed: a whole number from 1 to {len(parts)}")
    others = len(network.nodes) - len(parts[number - 1])
    if not others:
        return network
    text = f"{count(others, 'node')} in other components, without a radio link to this one"
    return network.only(parts[number - 1], Note("left out", text))
