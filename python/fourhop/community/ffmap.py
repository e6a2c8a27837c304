"""`nodes.json` and `graph.json`, the pair of files used by maps before `meshviewer.json`.

Source: the formats written by ffmap-backend and yanic: nodes.json version 1 (a table by id) and 2 (a list), each node
with `nodeinfo`, `flags` and `statistics`; graph.json version 1 with `batadv.nodes` and `batadv.links`, whose `source`
and `target` are indices in that list and whose `tq` is the inverse of the share of messages that arrive, from 1 to 255,
or the throughput in kbit/s with B.A.T.M.A.N. V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from fourhop.community.meshviewer import (
    BAD_POSITIONS,
    IN_KBPS,
    MOST_KBPS,
    QUALITIES,
    are_rates,
    coordinates,
    model_of,
    nodes_of,
    of_other,
)  # fmt: skip
from fourhop.community.network import Link, Medium, Network, Node
from fourhop.community.place import Faults, Place

T = TypeVar("T")

_TUNNELS = ("vpn", "tunnel", "l2tp", "fastd")
_CABLES = ("cable", "ethernet", "lan")


def nodes_recognised(root: Place) -> bool:
    """Whether it is a nodes.json."""
    return isinstance(root.value, dict) and "nodes" in root.value and "links" not in root.value


def graph_recognised(root: Place) -> bool:
    """Whether it is a graph.json."""
    return isinstance(root.value, dict) and "batadv" in root.value


def read_nodes(root: Place) -> Network:
    """The nodes of a nodes.json."""
    version = root.get("version")
    if version is not None and version.value not in (1, 2, "1", "2"):
        version.refuse("1 or 2")
    listed = root.need("nodes", "the nodes")
    allowed = "a list of nodes (version 2), or a table of them (version 1)"
    places = (
        list(listed.items(allowed)) if isinstance(listed.value, list) else [at for _, at in listed.entries(allowed)]
    )
    faults = Faults()
    nodes = nodes_of(places, _node, faults)
    return Network(nodes, notes=tuple(faults.notes()))


def _node(each: Place, faults: Faults) -> Node:
    info = each.need("nodeinfo", "a table with the node's data")
    id_ = info.need("node_id", "the id of the node").text()
    name = id_

    def of(at: Place | None, key: str, what: str, read: Callable[[Place], T]) -> T | None:
        def found() -> T | None:
            value = None if at is None else at.get(key)
            return None if value is None else read(value)

        return faults.tried(what, name, found)

    def clients(found: Place) -> int | None:
        total = found.get("total") if isinstance(found.value, dict) else found
        return None if total is None else total.whole(0, 100_000)

    name = of(info, "hostname", "names that are not text", Place.text) or id_
    states = "states that are neither true nor false"
    flags = of(each, "flags", states, lambda found: found)
    online = of(flags, "online", states, Place.flag)
    hardware = of(info, "hardware", "models that are not text", lambda found: found)
    return Node(
        id_,
        name,
        of(info, "location", BAD_POSITIONS, coordinates),
        online is None or online,
        bool(of(flags, "gateway", states, Place.flag)) or bool(of(flags, "uplink", states, Place.flag)),
        of(
            of(each, "statistics", "statistics", lambda found: found),
            "clients",
            "numbers of clients out of range",
            clients,
        ),
        model=of(hardware, "model", "models that are not text", model_of),
    )


def read_graph(root: Place) -> Network:
    """The links of a graph.json, and its nodes as far as it knows them."""
    graph = root.need("batadv", "the graph")
    ids: list[str | None] = []
    for each in graph.need("nodes", "a list of nodes").items("a list of nodes"):
        id_ = each.get("node_id")
        ids.append(None if id_ is None else id_.text())
    faults = Faults()
    others: set[frozenset[str]] = set()
    found: dict[frozenset[str], Link] = {}
    listed = list(graph.need("links", "a list of links").items("a list of links"))
    rates = are_rates(each.value.get("tq") for each in listed if isinstance(each.value, dict))
    for each in listed:
        numbers = faults.tried("links without two ends", each.path, partial(_ends, each, len(ids)))
        if numbers is None:
            continue
        source, target = (ids[number] for number in numbers)
        if source is None or target is None:
            faults.note("links of an unknown device", each.path)
        elif source != target:
            link = _link(each, source, target, faults, rates)
            if _word(each) == "other" and link.medium == "radio":
                others.add(link.ends)
            # If each direction has a separate entry, the second is the opposite direction.
            first = found.get(link.ends)
            if first is not None and first.source == link.target and first.back is None:
                link = replace(first, back=link.there)
            found[link.ends] = link
    directed = graph.get("directed")
    links = list(found.values())
    if directed is None or not directed.flag():
        links = [replace(x, back=x.there if x.back is None else x.back) for x in links]
    # `other` is not Wi-Fi as far as the router knows: it is a cable if either direction is as good as one.
    links = [replace(x, medium=of_other(x.there, x.back, rates)) if x.ends in others else x for x in links]
    nodes = {id_: Node(id_, id_) for id_ in ids if id_ is not None}
    return Network(nodes, tuple(links), notes=(*faults.notes(), *([IN_KBPS] if rates else [])))


def _ends(each: Place, nodes: int) -> tuple[int, int]:
    source, target = (each.need(key, "a position in batadv.nodes").whole(0, nodes - 1) for key in ("source", "target"))
    return source, target


def _word(each: Place) -> str:
    kind = each.get("type")
    return "" if kind is None else str(kind.value).strip().lower()


def _link(each: Place, source: str, target: str, faults: Faults, rates: bool) -> Link:
    vpn, quality = each.get("vpn"), each.get("tq")
    name, word = f"{source}-{target}", _word(each)
    behind = vpn is not None and faults.tried("marks of tunnels that are neither true nor false", name, vpn.flag)
    medium: Medium = "tunnel" if word in _TUNNELS or behind else "cable" if word in _CABLES else "radio"
    most = MOST_KBPS if rates else 1000.0
    value = None if quality is None else faults.tried(QUALITIES[rates], name, partial(quality.number, 0, most))
    if rates:
        return Link(source, target, medium, "rate", value / 1e3 if value else None)
    return Link(source, target, medium, "tq", 1.0 / value if value is not None and value >= 1.0 else value or None)
